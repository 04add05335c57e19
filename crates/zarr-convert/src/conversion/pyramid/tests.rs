//! Pyramids beside a model that computes each element of a level from the list of the elements of its block.

mod existing;
mod images;
mod missing;
mod parts;
mod parts_disturbed;
mod place;
mod reads;

use super::super::Shards;
use crate::{Method, Part, Pyramid, PyramidOptions};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use zarr_array::{Array, NewArray, Registry, Store};
use zarr_grid::Region;
use zarr_hierarchy::{Error, ErrorKind};
use zarr_json::{NamedConfig, Value};
use zarr_meta::{Dialect, NodePath};
use zarr_store::testing::Intercepted;
use zarr_store::{Call, Key, MemoryStore, Prefix, StoreExt};

fn registry() -> Arc<Registry> {
    let mut registry = Registry::default();
    registry.codecs.add(zarr_codec_bytes::BYTES);
    registry.codecs.add(zarr_codec_sharding::SHARDING_INDEXED);
    registry.codecs.add(zarr_codec_checksum::CRC32C);
    registry.defaults.shard = Some(|chunks, codecs| {
        let mut bytes = NamedConfig::new("bytes");
        bytes.configuration.insert("endian", "little");
        let list = |codecs: &[NamedConfig]| Value::from(codecs.iter().map(NamedConfig::to_value).collect::<Vec<_>>());
        let index = [bytes, NamedConfig::new("crc32c")];
        let mut shard = NamedConfig::new("sharding_indexed");
        shard.configuration.insert("chunk_shape", chunks.to_vec());
        shard.configuration.insert("codecs", list(codecs));
        shard.configuration.insert("index_codecs", list(&index));
        shard
    });
    Arc::new(registry)
}

fn memory() -> Arc<dyn Store> {
    Arc::new(MemoryStore::new())
}

/// Array of the model: elements as numbers, in C order.
#[derive(Clone, Debug, PartialEq)]
struct Model {
    shape: Vec<usize>,
    elements: Vec<f64>,
}

impl Model {
    /// Returns the level of this one, in floats that hold all the elements of the tests.
    fn level(&self, factors: &[usize], one: &dyn Fn(Vec<f64>, &Block) -> f64) -> Self {
        let shape: Vec<usize> = self.shape.iter().zip(factors).map(|(len, factor)| len.div_ceil(*factor)).collect();
        let indices = |shape: &[usize]| {
            shape.iter().fold(vec![Vec::new()], |all: Vec<Vec<usize>>, &len| {
                all.iter().flat_map(|index| (0..len).map(move |next| [&index[..], &[next]].concat())).collect()
            })
        };
        let place = |index: &[usize]| index.iter().zip(&self.shape).fold(0, |place, (index, len)| place * len + index);
        let mut blocks: BTreeMap<Vec<usize>, Vec<Vec<usize>>> = BTreeMap::new();
        for index in indices(&self.shape) {
            let block = index.iter().zip(factors).map(|(index, factor)| index / factor).collect();
            blocks.entry(block).or_default().push(index);
        }
        let elements = blocks.values().map(|members| {
            let first = &members[0];
            let lengths: Vec<usize> = (0..first.len())
                .map(|axis| members.iter().map(|member| member[axis]).max().unwrap() - first[axis] + 1)
                .collect();
            let centre: Vec<usize> = first.iter().zip(&lengths).map(|(first, len)| first + (len - 1) / 2).collect();
            let block = Block { centre: self.elements[place(&centre)] };
            one(members.iter().map(|member| self.elements[place(member)]).collect(), &block)
        });
        Self { elements: elements.collect(), shape }
    }
}

/// Facts about a block that its elements do not show.
struct Block {
    centre: f64,
}

/// Returns the element of a block by a method. `missing` are elements that are left out, of which the first stands for a block without
/// others; `round` rounds as the data type does.
fn one(method: Method, values: Vec<f64>, block: &Block, missing: Option<f64>, round: &dyn Fn(f64) -> f64) -> f64 {
    if method == Method::Nearest {
        return block.centre;
    }
    let is_nan = values.iter().all(|value| value.is_nan());
    let is_there = |value: &f64| missing.is_none_or(|missing| !value.is_nan() && *value != missing);
    let mut values: Vec<f64> = values.into_iter().filter(is_there).collect();
    if values.is_empty() {
        return if is_nan { f64::NAN } else { missing.unwrap() };
    }
    if values.iter().any(|value| value.is_nan()) {
        return f64::NAN;
    }
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match method {
        Method::Mean => round(values.iter().sum::<f64>() / values.len() as f64),
        Method::Median if values.len() % 2 == 1 => values[middle],
        Method::Median => round((values[middle - 1] + values[middle]) / 2.0),
        Method::Min => values[0],
        Method::Max => values[values.len() - 1],
        _ => {
            let count = |value: f64| values.iter().filter(|other| **other == value).count();
            let most = values.iter().map(|value| count(*value)).max().unwrap();
            *values.iter().find(|value| count(**value) == most).unwrap()
        }
    }
}

/// Case of a pyramid of few elements.
#[derive(Clone, Debug)]
struct Case {
    shape: Vec<u64>,
    chunks: Vec<u64>,
    factors: Vec<u64>,
    level_chunks: Option<Vec<u64>>,
    shards: bool,
    levels: usize,
    memory: u64,
    seed: u64,
    skip_missing: bool,
}

fn case() -> impl Strategy<Value = Case> {
    let axis = (1_u64..14, 1_u64..6, 1_u64..4, 1_u64..6);
    let axes = proptest::collection::vec(axis, 1..=5);
    (axes, any::<(bool, bool, bool)>(), 1_usize..4, 20_000_u64..200_000, any::<u64>()).prop_map(
        |(axes, (given, shards, skip_missing), levels, memory, seed)| {
            let of = |number: fn(&(u64, u64, u64, u64)) -> u64| axes.iter().map(number).collect::<Vec<_>>();
            // An array of five dimensions stays small.
            let shape = axes.iter().map(|axis| if axes.len() > 3 { axis.0.min(6) } else { axis.0 }).collect();
            let mut factors = of(|axis| axis.2);
            if factors.iter().all(|&factor| factor == 1) {
                factors[0] = 2;
            }
            let level_chunks = given.then(|| of(|axis| axis.3));
            Case { shape, chunks: of(|axis| axis.1), factors, level_chunks, shards, levels, memory, seed, skip_missing }
        },
    )
}

impl Case {
    fn options(&self, method: Method) -> PyramidOptions {
        let mut options = PyramidOptions::default().method(method).memory(self.memory).skip_missing(self.skip_missing);
        for (axis, &factor) in self.factors.iter().enumerate() {
            options = options.factor(axis.to_string(), factor);
        }
        let shards = self.shards.then(|| Shards::Of(self.chunks.iter().map(|len| len * 2).collect()));
        let options = options.chunks(self.level_chunks.clone()).levels(self.most_levels());
        match self.level_chunks {
            Some(_) => options,
            None => options.shards(shards),
        }
    }

    /// Number of levels, as far as they become smaller.
    fn most_levels(&self) -> usize {
        let mut shape = self.shape.clone();
        for number in 0..self.levels {
            let next: Vec<u64> = shape.iter().zip(&self.factors).map(|(len, factor)| len.div_ceil(*factor)).collect();
            if next == shape {
                return number;
            }
            shape = next;
        }
        self.levels
    }

    /// Small numbers, of which some repeat.
    fn numbers(&self, low: i64, high: i64) -> Vec<f64> {
        let count: u64 = self.shape.iter().product();
        let next = |state: u64| state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let numbers = std::iter::successors(Some(next(self.seed)), |state| Some(next(*state)));
        let span = (high - low + 1) as u64;
        numbers.take(count as usize).map(|state| (low + ((state >> 33) % span) as i64) as f64).collect()
    }
}

/// Checks all levels of a case by all methods that take a data type.
fn check<T: zarr_dtype::WriteElement + zarr_dtype::Element + Copy>(
    case: &Case,
    name: &str,
    numbers: Vec<f64>,
    to: &dyn Fn(f64) -> T,
    from: &dyn Fn(T) -> f64,
    round: &dyn Fn(f64) -> f64,
) -> Result<(), TestCaseError> {
    for method in Method::ALL {
        let registry = registry();
        let plain = memory();
        let new = NewArray::new(&case.shape, name).chunks(&case.chunks).codecs("bytes").unwrap();
        let new = new.dialect(Dialect::V3);
        let source = Array::create(&plain, "/g/0", new, &registry).unwrap();
        let numbers: Vec<f64> = numbers.iter().map(|&number| from(to(number))).collect();
        source.write(.., &numbers.iter().map(|&number| to(number)).collect::<Vec<T>>()).unwrap();
        let source = Array::open(&plain, "/g/0", &registry).unwrap();
        if case.most_levels() == 0 {
            return Ok(());
        }
        let (elsewhere, group) = (memory(), NodePath::parse("/g").unwrap());
        let is_elsewhere = case.seed.is_multiple_of(2);
        let target = is_elsewhere.then_some((&elsewhere, group));
        let pyramid = match Pyramid::plan(&source, target, case.options(method)) {
            Ok(pyramid) => pyramid,
            Err(error) => {
                let is_method = error.message().contains("expected one that");
                prop_assert!(is_method || error.message().contains("memory allowed"), "{}", error);
                continue;
            }
        };
        let done = AtomicU64::new(0);
        pyramid.run(|bytes| _ = done.fetch_add(bytes as u64, Ordering::Relaxed)).unwrap();
        prop_assert_eq!(u128::from(done.into_inner()), pyramid.size());
        let missing = case.skip_missing.then_some(0.0);
        let largest = numbers.iter().fold(0.0, |most: f64, number| most.max(number.abs()));
        let mut model = Model { shape: case.shape.iter().map(|&len| len as usize).collect(), elements: numbers };
        for level in pyramid.levels() {
            let factors: Vec<usize> = level.step.iter().map(|&factor| factor as usize).collect();
            model = model.level(&factors, &|values, block| one(method, values, block, missing, round));
            let store = if is_elsewhere { &elsewhere } else { &plain };
            let array = Array::open(store, &level.path.to_string(), &registry).unwrap();
            let shape: Vec<u64> = model.shape.iter().map(|&len| len as u64).collect();
            prop_assert_eq!(array.shape(), &shape[..]);
            let found: Vec<f64> = array.read::<T>(..).unwrap().into_iter().map(from).collect();
            // Sums of binary64 depend on the order: they differ by a part of the largest element.
            let near = if name == "float64" { 1e-13 * largest } else { 0.0 };
            let same = |a: &f64, b: &f64| (a - b).abs() <= near || (a.is_nan() && b.is_nan());
            prop_assert!(
                found.iter().zip(&model.elements).all(|(a, b)| same(a, b)),
                "{} of {}: {:?}, expected {:?}",
                method,
                name,
                found,
                model.elements
            );
        }
        // Nothing is left but the levels.
        let left = plain.list_prefix(&Prefix::root()).unwrap();
        prop_assert!(left.iter().all(|key| !key.as_str().contains("zconversion")), "{:?}", left);
    }
    Ok(())
}

/// Rounds to the nearest integer, halves to the even one.
fn even(value: f64) -> f64 {
    value.round_ties_even()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn levels_of_unsigned_integers(case in case(), which in 0..4) {
        match which {
            0 => check(&case, "uint8", case.numbers(0, 255), &|n| n as u8, &|e| f64::from(e), &even)?,
            1 => check(&case, "uint16", case.numbers(0, 5), &|n| n as u16, &|e| f64::from(e), &even)?,
            2 => check(&case, "uint32", case.numbers(0, u32::MAX.into()), &|n| n as u32, &|e| f64::from(e), &even)?,
            _ => check(&case, "uint64", case.numbers(0, 1 << 40), &|n| n as u64, &|e| e as f64, &even)?,
        }
    }

    #[test]
    fn levels_of_signed_integers(case in case(), which in 0..4) {
        match which {
            0 => check(&case, "int8", case.numbers(-128, 127), &|n| n as i8, &|e| f64::from(e), &even)?,
            1 => check(&case, "int16", case.numbers(-3, 3), &|n| n as i16, &|e| f64::from(e), &even)?,
            2 => check(&case, "int32", case.numbers(i32::MIN.into(), i32::MAX.into()), &|n| n as i32, &|e| f64::from(e), &even)?,
            _ => check(&case, "int64", case.numbers(-(1 << 40), 1 << 40), &|n| n as i64, &|e| e as f64, &even)?,
        }
    }

    #[test]
    fn levels_of_floats(case in case(), which in 0..3, nan in 0_usize..40) {
        let mut numbers = case.numbers(-900, 900);
        if let Some(number) = numbers.get_mut(nan) {
            *number = f64::NAN;
        }
        let f16 = |n: f64| half::f16::from_f64(n);
        match which {
            0 => check(&case, "float16", numbers, &f16, &|e: half::f16| e.to_f64(), &|n| f16(n).to_f64())?,
            1 => check(&case, "float32", numbers, &|n| n as f32, &|e| f64::from(e), &|n| f64::from(n as f32))?,
            _ => check(&case, "float64", numbers, &|n| n, &|e| e, &|n| n)?,
        }
    }

    #[test]
    fn levels_of_bools(case in case()) {
        check(&case, "bool", case.numbers(0, 1), &|n| n != 0.0, &|e| f64::from(u8::from(e)), &even)?;
    }
}

fn ramp(shape: &[u64]) -> Vec<u16> {
    (0..shape.iter().product::<u64>()).map(|number| (number * 7 % 1013) as u16).collect()
}

fn source(store: &Arc<dyn Store>, path: &str, shape: &[u64], chunks: &[u64]) -> Array {
    let new = NewArray::new(shape, "uint16").chunks(chunks).codecs("bytes").unwrap();
    let array = Array::create(store, path, new, &registry()).unwrap();
    array.write(.., &ramp(shape)).unwrap();
    array
}

/// All keys of a store with their values.
fn contents(store: &Arc<dyn Store>) -> BTreeMap<String, Vec<u8>> {
    let keys = store.list_prefix(&Prefix::root()).unwrap();
    keys.into_iter().map(|key| (key.to_string(), store.get_all(&key).unwrap().unwrap().to_vec())).collect()
}

fn plan(source: &Array, options: PyramidOptions) -> Pyramid {
    Pyramid::plan(source, None, options).unwrap()
}

fn error(source: &Array, options: PyramidOptions) -> Error {
    Pyramid::plan(source, None, options).unwrap_err()
}

#[test]
fn an_interrupted_run_goes_on() {
    let whole = memory();
    let array = source(&whole, "/0", &[64, 64], &[4, 4]);
    let options = || PyramidOptions::default().memory(60_000);
    plan(&array, options()).run(|_| {}).unwrap();
    let expected = contents(&whole);
    for stop in 0..24 {
        let store = memory();
        let array = source(&store, "/0", &[64, 64], &[4, 4]);
        let left = AtomicU64::new(stop);
        let cancel = |_| match left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)) {
            Ok(_) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        };
        match plan(&array, options()).run(cancel) {
            Ok(()) => {}
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Cancelled);
                assert!(Array::open(&store, "/1", &registry()).is_err());
                let again = plan(&array, options()).run(|_| {}).unwrap_err();
                assert_eq!(again.kind(), ErrorKind::Exists);
                let other = plan(&array, options().method(Method::Max).resume(true)).run(|_| {}).unwrap_err();
                assert!(other.message().contains("another one"), "{other}");
                let done = AtomicU64::new(0);
                let count = |bytes: u128| _ = done.fetch_add(bytes as u64, Ordering::Relaxed);
                plan(&array, options().resume(true)).run(count).unwrap();
                assert_eq!(done.into_inner(), 64 * 64 * 2);
            }
        }
        assert_eq!(contents(&store), expected);
    }
}

#[test]
fn a_run_does_not_go_on_with_chunks_that_are_gone() {
    let store = memory();
    let array = source(&store, "/0", &[64, 64], &[4, 4]);
    let options = || PyramidOptions::default().memory(60_000);
    let left = AtomicU64::new(1);
    let cancel = |_| match left.fetch_sub(1, Ordering::Relaxed) {
        0 => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    };
    plan(&array, options()).run(cancel).unwrap_err();
    store.erase_prefix(&Prefix::new("1/").unwrap()).unwrap();
    let gone = plan(&array, options().resume(true)).run(|_| {}).unwrap_err();
    assert_eq!(gone.kind(), ErrorKind::Conflict, "{gone}");
    plan(&array, options().overwrite(true)).run(|_| {}).unwrap();
    assert_eq!(Array::open(&store, "/1", &registry()).unwrap().shape(), [32, 32]);
}

#[test]
fn a_region_changes_the_chunks_above_it_alone() {
    let plain = memory();
    let array = source(&plain, "/0", &[64, 60], &[8, 8]);
    plan(&array, PyramidOptions::default()).run(|_| {}).unwrap();
    array.write((20..23, 30..33), &[9_999_u16; 9]).unwrap();
    let before = contents(&plain);
    let region = Region::from_ranges(&[20..23, 30..33]);
    plan(&array, PyramidOptions::default().region(region)).run(|_| {}).unwrap();
    let after = contents(&plain);
    let changed: Vec<&String> =
        after.iter().filter(|(key, value)| before.get(*key) != Some(value)).map(|it| it.0).collect();
    // Rows 20 to 22 and columns 30 to 32 lie in one chunk of the first level, in two of it along the columns, in one of others.
    assert_eq!(
        changed,
        ["1/c/1/1", "1/c/1/2", "2/c/0/0", "2/c/0/1", "3/c/0/0"].map(String::from).iter().collect::<Vec<_>>()
    );
    plan(&array, PyramidOptions::default().overwrite(true)).run(|_| {}).unwrap();
    assert_eq!(contents(&plain), after);
    let other = PyramidOptions::default().region(Region::from_ranges(&[0..1, 0..1])).factor("0", 4).levels(1);
    let error = error(&array, other);
    assert!(error.message().contains("expected level 1"), "{error}");
}

#[test]
fn one_level_is_computed_of_the_one_before() {
    let store = memory();
    let array = source(&store, "/0", &[64, 60], &[8, 8]);
    plan(&array, PyramidOptions::default()).run(|_| {}).unwrap();
    let expected = contents(&store);
    let level = Array::open(&store, "/2", &registry()).unwrap();
    level.write(.., &vec![0_u16; 16 * 15]).unwrap();
    plan(&array, PyramidOptions::default().level(2)).run(|_| {}).unwrap();
    assert_eq!(contents(&store), expected);
    assert!(error(&array, PyramidOptions::default().level(9)).message().contains("expected 1 to 3"));
}

#[test]
fn a_pyramid_elsewhere_begins_with_a_copy() {
    let (store, target) = (memory(), memory());
    let array = source(&store, "/temperature", &[20, 30], &[8, 8]);
    let group = NodePath::parse("/levels").unwrap();
    let pyramid = Pyramid::plan(&array, Some((&target, group)), PyramidOptions::default()).unwrap();
    pyramid.run(|_| {}).unwrap();
    let paths: Vec<String> = pyramid.levels().iter().map(|level| level.path.to_string()).collect();
    assert_eq!(paths, ["/levels/0", "/levels/1", "/levels/2"]);
    assert_eq!(pyramid.levels()[2].factors, [4, 4]);
    let copy = Array::open(&target, "/levels/0", &registry()).unwrap();
    assert_eq!(copy.read::<u16>(..).unwrap(), ramp(&[20, 30]));
    assert!(error(&array, PyramidOptions::default()).message().contains("need a number"));
}

#[test]
fn options_that_do_not_fit_are_refused() {
    let store = memory();
    let array = source(&store, "/0", &[64, 60], &[8, 8]);
    let of = |options: PyramidOptions| error(&array, options).message().to_owned();
    let default = PyramidOptions::default;
    assert!(of(default().factor("z", 2)).contains("found dimension z"), "{}", of(default().factor("z", 2)));
    assert!(of(default().factor("0", 0)).contains("found 0"));
    assert!(of(default().factor("0", 1)).contains("along all axes"));
    assert!(of(default().factor("0", 1 << 17)).contains("at most 65536"));
    assert!(of(default().levels(40)).contains("at most"));
    assert!(of(default().chunks(vec![8])).contains("expected 2"));
    assert!(of(default().memory(300)).contains("memory allowed"));
    assert!(Pyramid::plan(&array, None, default().region(Region::from_ranges(&[0..65, 0..1]))).is_err());
    let existing = NewArray::new(&[1], "uint8").codecs("bytes").unwrap();
    Array::create(&store, "/1", existing, &registry()).unwrap();
    assert_eq!(plan(&array, default()).run(|_| {}).unwrap_err().kind(), ErrorKind::Exists);
    let journal = zarr_hierarchy::node::journal_key(&NodePath::parse("/1").unwrap(), None).unwrap();
    assert!(!store.exists(&journal).unwrap());
    let text = NewArray::new(&[4, 4], "float64").chunks(&[2, 2]).codecs("bytes").unwrap();
    let floats = Array::create(&store, "/f0", text, &registry()).unwrap();
    assert!(error(&floats, default().method(Method::Mode)).message().contains("integers and bool"));
}
