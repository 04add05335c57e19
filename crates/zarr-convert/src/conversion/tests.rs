//! Tests that conversions preserve the values of arrays.

use super::{Action, Conversion, ConvertOptions, Transfer};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use zarr_array::{Array, Group, NewArray, NewGroup, Registry, Store};
use zarr_grid::{AxisChunks, AxisRange, ChunkGrid, Region, Run};
use zarr_hierarchy::ErrorKind;
use zarr_meta::{Dialect, NodePath};
use zarr_store::{
    Answer, Call, Capabilities, Durability, Key, MemoryStore, Precondition, SetOptions, StoreExt, Version,
    fallback_blocking,
};

fn registry() -> Arc<Registry> {
    let mut registry = Registry::default();
    registry.codecs.add(zarr_codec_bytes::BYTES);
    Arc::new(registry)
}

fn memory() -> Arc<dyn Store> {
    Arc::new(MemoryStore::new())
}

/// Returns a region of an array with one dimension.
fn one(range: std::ops::Range<u64>) -> Region {
    Region::from_ranges(std::slice::from_ref(&range))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn elements_stay(
        axes in proptest::collection::vec((0_u64..20, 1_u64..8, 1_u64..8), 0..4),
        written in proptest::collection::vec((0_u64..20, 1_u64..8), 3),
        memory_size in 2_000_u64..40_000,
        v2 in any::<bool>(),
    ) {
        let registry = registry();
        let shape: Vec<u64> = axes.iter().map(|axis| axis.0).collect();
        let (chunks, other): (Vec<u64>, Vec<u64>) = axes.iter().map(|axis| (axis.1, axis.2)).unzip();
        let source = memory();
        let new = NewArray::new(&shape, "int16").chunks(&chunks).codecs("bytes").unwrap().fill(-3);
        let array = Array::create(&source, "/g/a", new, &registry).unwrap();
        // A part is written, so that some chunks are missing.
        let ranges: Vec<_> = shape.iter().zip(&written).map(|(&len, &(start, count))| start.min(len)..(start + count).min(len)).collect();
        let region = Region::from_ranges(&ranges);
        let count = region.len_checked().unwrap();
        array.write(&region, &(0..count as i16).collect::<Vec<_>>()).unwrap();
        let expected = array.read::<i16>(..).unwrap();

        let options = ConvertOptions::default().chunks(other.clone()).dialect(v2.then_some(Dialect::V2)).memory(memory_size);
        let Ok(conversion) = Conversion::plan(&source, &registry, options) else {
            let size = |shape: &[u64]| 2 * shape.iter().product::<u64>();
            prop_assert!(size(&chunks).max(size(&other)) * 3 > memory_size * 3 / 4);
            return Ok(());
        };
        let target = memory();
        let done = AtomicU64::new(0);
        conversion.run(&target, |progress| {
            if let super::Progress::Done(bytes) = progress {
                done.fetch_add(bytes as u64, Ordering::Relaxed);
            }
        }).unwrap();
        prop_assert_eq!(u128::from(done.into_inner()), conversion.size());
        let converted = Array::open(&target, "/g/a", &registry).unwrap();
        prop_assert_eq!(converted.read::<i16>(..).unwrap(), expected);
        let grid = converted.chunk_grid().regular_chunk_shape().unwrap();
        prop_assert_eq!(grid, other.as_slice());
        prop_assert_eq!(converted.dialect(), if v2 { Dialect::V2 } else { Dialect::V3 });
        let node = conversion.nodes().last().unwrap();
        let copied = chunks == other;
        prop_assert_eq!(node.how, if copied { Action::CopyChunks } else { Action::Reencode });
    }
}

/// A store cannot be converted onto itself, which would lose both the old and the new data.
#[test]
fn a_store_is_not_converted_onto_itself() {
    let (registry, store) = (registry(), memory());
    let new = NewArray::new(&[4], "int8").codecs("bytes").unwrap();
    Array::create(&store, "/a", new, &registry).unwrap().write(.., &[1_i8, 2, 3, 4]).unwrap();
    let options = ConvertOptions::default().overwrite(true);
    let conversion = Conversion::plan(&store, &registry, options).unwrap();
    assert!(conversion.run(&store, |_| {}).is_err());
    assert_eq!(Array::open(&store, "/a", &registry).unwrap().read::<i8>(..).unwrap(), [1, 2, 3, 4]);
}

/// Extension data type that is stored as another type.
#[derive(Debug)]
struct Level;

impl zarr_dtype::ExtensionType for Level {
    fn storage(&self) -> zarr_dtype::DataType {
        zarr_dtype::DataType::Int16
    }
}

#[test]
fn data_types_of_ones_own_are_converted_by_name() {
    let mut known = Registry::clone(&registry());
    known.data_types.add(zarr_dtype::DataTypeEntry::new(&["level"], |_, _| Ok(Arc::new(Level))));
    let (known, unknown, source) = (Arc::new(known), registry(), memory());
    let level = r#"{"name":"level","configuration":{"of":["sea",1.50]}}"#;
    let new = NewArray::new(&[5], level).chunks(&[2]).codecs("bytes").unwrap().fill(-3);
    Array::create(&source, "/a", new, &known).unwrap().write(0..3, &[1_i16, 2, 3]).unwrap();
    let convert = |options: ConvertOptions, registry: &Arc<Registry>| {
        let target = memory();
        Conversion::plan(&source, registry, options)?.run(&target, |_| {})?;
        Array::open(&target, "/a", &known)
    };

    // Chunks that stay as they are need nobody who knows the type; others do.
    let chunks = || ConvertOptions::default().chunks(vec![3]);
    for (options, registry) in [(ConvertOptions::default(), &unknown), (chunks(), &known)] {
        let array = convert(options, registry).unwrap();
        assert_eq!(array.read::<i16>(..).unwrap(), [1, 2, 3, -3, -3]);
        assert_eq!(array.data_type().to_string(), level, "as it was spelled");
    }
    let error = convert(chunks(), &unknown).unwrap_err();
    assert!(error.to_string().ends_with("/data_type: unknown data type level"), "{error}");

    let v2 = ConvertOptions::default().dialect(Dialect::V2);
    let error = convert(v2, &known).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotExpressible);
    assert!(error.to_string().contains("/data_type"), "{error}");
}

/// Generates an axis: its length, its chunk length, and a range of it.
fn axis_of_region() -> impl Strategy<Value = (u64, u64, AxisRange)> {
    (0_u64..24, 1_u64..9, any::<(u8, u8)>(), 1_u64..4).prop_map(|(len, chunk, (start, count), step)| {
        // Often at the bounds of chunks.
        let start = u64::from(start) % (len + 1);
        let start = if count % 2 == 0 { start / chunk * chunk } else { start };
        let most = (len - start).div_ceil(step);
        let len_of_range = if count % 3 == 0 { most } else { u64::from(count) % (most + 1) };
        (len, chunk, AxisRange { start, len: len_of_range, step: if count % 5 == 0 { step } else { 1 } })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(160))]

    /// A converted region equals a read of the region, for any chunks, in one run or two.
    #[test]
    fn regions_are_arrays_of_their_own(
        axes in proptest::collection::vec(axis_of_region(), 0..4),
        other in proptest::option::of(1_u64..8),
        listed in proptest::collection::vec(any::<bool>(), 3),
        written in proptest::collection::vec((0_u64..20, 1_u64..20), 3),
        kind in 0..3_u8,
        (v2, is_aligned, stops) in any::<(bool, bool, Option<u8>)>(),
    ) {
        let registry = registry();
        let shape: Vec<u64> = axes.iter().map(|axis| axis.0).collect();
        let chunks: Vec<u64> = axes.iter().map(|axis| axis.1).collect();
        // Whole chunks, which are copied as they are.
        let whole = |len: u64, chunk: u64, range: AxisRange| {
            let start = range.start / chunk * chunk;
            AxisRange::new(start, (start + range.len.max(1)).next_multiple_of(chunk).min(len).saturating_sub(start))
        };
        let taken = |&(len, chunk, range): &(u64, u64, AxisRange)| match is_aligned {
            true => whole(len, chunk, range),
            false => AxisRange { step: if range.len > 0 { range.step } else { 1 }, ..range },
        };
        let region = Region::new(axes.iter().map(taken)).unwrap();
        let region = Region::new(region.axes().iter().zip(&shape).map(|(range, len)| range.before(*len))).unwrap();
        let source = memory();
        let mut new = NewArray::new(&shape, "int16").chunks(&chunks).codecs("bytes").unwrap().fill(-3).dialect(Dialect::V3);
        if kind == 0 && shape.iter().all(|&len| len > 0) {
            let runs = |(&len, &chunk): (&u64, &u64)| {
                let first = Run { len: 1, count: 1 };
                let rest = Run { len: chunk, count: len.div_ceil(chunk) };
                AxisChunks::listed([first, rest])
            };
            let axis = |((axis, is_listed), all): ((&u64, &bool), (&u64, &u64))| match is_listed {
                true => runs(all).unwrap(),
                false => AxisChunks::repeated(*axis).unwrap(),
            };
            let all = chunks.iter().zip(&listed).zip(shape.iter().zip(&chunks)).map(axis);
            new = new.chunk_grid(ChunkGrid::rectilinear(&shape, all).unwrap().to_config());
        }
        let array = Array::create(&source, "/g/a", new, &registry).unwrap();
        let ranges: Vec<_> = shape.iter().zip(&written).map(|(&len, &(start, count))| start.min(len)..(start + count).min(len)).collect();
        let part = Region::from_ranges(&ranges);
        array.write(&part, &(0..part.len_checked().unwrap() as i16).collect::<Vec<_>>()).unwrap();
        let expected = array.read::<i16>(&region).unwrap();

        let regions = BTreeMap::from([(NodePath::parse("/g/a").unwrap(), region.clone())]);
        let options = ConvertOptions::default().regions(regions);
        let options = options.dialect(if v2 && kind != 0 { Dialect::V2 } else { Dialect::V3 });
        let options = options.chunks(other.map(|len| vec![len; shape.len()]));
        let target = memory();
        let conversion = Conversion::plan(&source, &registry, options.clone()).unwrap();
        let planned = conversion.nodes().last().unwrap();
        prop_assert_eq!(planned.region.as_ref(), Some(&region).filter(|region| !region.is_whole(&shape)));
        prop_assert_eq!(planned.size, 2 * expected.len() as u128);
        if let Some(stops) = stops {
            let events = AtomicU64::new(0);
            let _ = conversion.run(&target, |_| match events.fetch_add(1, Ordering::Relaxed) < u64::from(stops % 16) {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break(()),
            });
        }
        let done = AtomicU64::new(0);
        let conversion = Conversion::plan(&source, &registry, options.resume(true)).unwrap();
        let is_there = Array::open(&target, "/g/a", &registry).is_ok();
        match is_there {
            true => {}
            false => {
                conversion.run(&target, |progress| {
                    if let super::Progress::Done(bytes) = progress {
                        done.fetch_add(bytes as u64, Ordering::Relaxed);
                    }
                }).unwrap();
                prop_assert_eq!(u128::from(done.into_inner()), conversion.size());
            }
        }
        let converted = Array::open(&target, "/g/a", &registry).unwrap();
        prop_assert_eq!(converted.shape(), &region.shape()[..]);
        prop_assert_eq!(converted.read::<i16>(..).unwrap(), expected);
        if let (None, Some(found)) = (other, converted.chunk_grid().regular_chunk_shape()) {
            for ((found, chunk), axis) in found.iter().zip(&chunks).zip(region.axes()) {
                prop_assert!(found == chunk || *found == axis.len.max(1).min(*chunk), "{found} of {chunk}");
            }
        }
    }
}

#[test]
fn chunks_that_lie_in_a_region_are_copied() {
    let registry = registry();
    let source = memory();
    let new = NewArray::new(&[25, 12], "int16").chunks(&[10, 4]).codecs("bytes").unwrap();
    Array::create(&source, "/a", new, &registry).unwrap().write(.., &(0..300).collect::<Vec<i16>>()).unwrap();
    let expected = Array::open(&source, "/a", &registry).unwrap();
    let how = |rows: std::ops::Range<u64>, columns: std::ops::Range<u64>| {
        let region = Region::from_ranges(&[rows, columns]);
        let regions = BTreeMap::from([(NodePath::parse("/a").unwrap(), region.clone())]);
        let conversion = Conversion::plan(&source, &registry, ConvertOptions::default().regions(regions)).unwrap();
        let target = memory();
        conversion.run(&target, |_| {}).unwrap();
        let converted = Array::open(&target, "/a", &registry).unwrap();
        assert_eq!(converted.read::<i16>(..).unwrap(), expected.read::<i16>(&region).unwrap());
        let planned = conversion.nodes().last().unwrap();
        (planned.how, conversion.stored(planned).unwrap().chunks)
    };
    assert_eq!(how(10..25, 4..8), (Action::CopyChunks, 2));
    assert_eq!(how(20..25, 0..12), (Action::CopyChunks, 3));
    assert_eq!(how(10..24, 4..8), (Action::Reencode, 2));
    assert_eq!(how(5..6, 0..12), (Action::Reencode, 3));
}

#[test]
fn regions_that_cannot_be_taken_are_refused() {
    let registry = registry();
    let source = memory();
    let new = NewArray::new(&[5], "int16").codecs("bytes").unwrap();
    Array::create(&source, "/g/a", new, &registry).unwrap();
    let plan = |path: &str, region: Region| {
        let regions = BTreeMap::from([(NodePath::parse(path).unwrap(), region)]);
        Conversion::plan(&source, &registry, ConvertOptions::default().regions(regions)).unwrap_err()
    };
    let error = plan("/g/a", one(0..6));
    assert_eq!(error.kind(), ErrorKind::Argument);
    assert_eq!(error.location().path.as_deref(), Some("/g/a"));
    assert_eq!(plan("/g", one(0..1)).message(), "found a region of a group, expected one of an array");
    assert_eq!(plan("/b", one(0..1)).kind(), ErrorKind::NotFound);
    let transfer = Conversion::plan(
        &source,
        &registry,
        ConvertOptions::default().regions(BTreeMap::from([(NodePath::parse("/g/a").unwrap(), one(0..1))])),
    );
    assert!(transfer.unwrap().run_move(&memory(), |_| {}).is_err());
}

/// Store in memory that claims to be durable, and counts the calls that wait for a disk.
#[derive(Debug)]
struct Waits {
    store: MemoryStore,
    waits: AtomicU64,
}

impl Waits {
    fn wait(&self, does: bool) {
        self.waits.fetch_add(does.into(), Ordering::Relaxed);
    }
}

impl std::fmt::Display for Waits {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.store.fmt(f)
    }
}

impl Waits {
    fn set(&self, key: &Key, value: &[u8], options: &SetOptions) -> zarr_store::Result<Option<Version>> {
        self.wait(options.durability != Durability::None);
        self.store.set(key, value, options)
    }

    fn create_many(&self, values: &[(&Key, &[u8])], durability: Durability) -> zarr_store::Result<()> {
        self.wait(durability != Durability::None);
        self.store.create_many(values, durability)
    }

    fn flush(&self) -> zarr_store::Result<()> {
        self.wait(true);
        Ok(())
    }
}

impl Store for Waits {
    fn call(&self, call: Call<'_>) -> zarr_store::Result<Answer> {
        Ok(match call {
            Call::Set { key, value, options } => Answer::Set(self.set(&key, &value, &options)?),
            Call::CreateMany { values, durability } => {
                self.create_many(&zarr_store::lend_values(&values), durability)?.into()
            }
            Call::Flush => self.flush()?.into(),
            call @ (Call::Get { .. }
            | Call::SetMany { .. }
            | Call::Erase { .. }
            | Call::ErasePrefix { .. }
            | Call::RenamePrefix { .. }
            | Call::ExchangePrefixes { .. }
            | Call::ListDir { .. }
            | Call::ListPrefix { .. }
            | Call::Lock { .. }) => return self.store.call(call),
            call => return fallback_blocking(self, call),
        })
    }

    fn capabilities(&self) -> Capabilities {
        self.store.capabilities().durable(true)
    }

    fn access_profile(&self) -> zarr_store::AccessProfile {
        self.store.access_profile()
    }
}

/// A copy of many arrays waits for the disk only a few times (regression: a copy of 2,000 small arrays waited 2,018 times).
#[test]
fn a_copy_of_many_arrays_waits_for_few_of_them() {
    let dialects =
        [(Dialect::V3, false), (Dialect::V2, true), (Dialect::V3Draft2022, true), (Dialect::V3Protocol2020, false)];
    for (dialect, attributes) in dialects {
        let (registry, source) = (registry(), memory());
        Group::create(&source, "/", NewGroup::default().dialect(dialect), &registry).unwrap();
        for number in 0..300 {
            let mut new = NewArray::new(&[2], "int16").chunks(&[2]).codecs("bytes").unwrap().dialect(dialect);
            if attributes {
                new = new.attribute("number", number);
            }
            Array::create(&source, &format!("/a{number}"), new, &registry)
                .unwrap()
                .write(.., &[1_i16, number])
                .unwrap();
        }
        let waits = Arc::new(Waits { store: MemoryStore::new(), waits: AtomicU64::new(0) });
        let target: Arc<dyn Store> = waits.clone();
        let begun = std::time::Instant::now();
        Transfer::of(&source, "/").in_store(&target).copy(&registry).unwrap();
        // Each batch, of a second or more, and each entry of the journal, of 64 chunks or more, waits a few times.
        let found = waits.waits.load(Ordering::Relaxed);
        let most = 20 + 4 * (300 / 64) + 4 * begun.elapsed().as_secs();
        assert!(found <= most, "{dialect}: {found} waits, at most {most} are due");
        for number in [0, 150, 299] {
            let copy = Array::open(&target, &format!("/a{number}"), &registry).unwrap();
            assert_eq!(copy.read::<i16>(..).unwrap(), [1, number]);
            assert_eq!(copy.attributes().unwrap().len(), usize::from(attributes));
        }
    }
}

/// A node that another writer creates while documents wait in a batch is an error, and is not replaced.
#[test]
fn a_node_that_is_created_meanwhile_is_not_replaced_by_one_of_many() {
    let (registry, source) = (registry(), memory());
    Group::create(&source, "/", NewGroup::default(), &registry).unwrap();
    for number in 0..20 {
        let new = NewArray::new(&[2], "int16").chunks(&[2]).codecs("bytes").unwrap();
        Array::create(&source, &format!("/a{number}"), new, &registry).unwrap().write(.., &[1_i16, number]).unwrap();
    }
    let target: Arc<dyn Store> = Arc::new(Waits { store: MemoryStore::new(), waits: AtomicU64::new(0) });
    let conversion = Conversion::plan_copy(&source, "/", &target, "/", &registry, ConvertOptions::default()).unwrap();
    let key = Key::new("a3/zarr.json").unwrap();
    let error = conversion.run(&target, |progress| {
        // The node before waits for the others.
        if let super::Progress::Begin(node) = progress
            && node.path.to_string() == "/a4"
        {
            target.set_if(&key, b"of another", &Precondition::NotExists).unwrap();
        }
    });
    let error = error.expect_err("a node of another writer");
    assert_eq!(error.kind(), ErrorKind::Exists, "{error}");
    assert!(error.to_string().contains("/a3: another writer created this node meanwhile"), "{error}");
    assert_eq!(target.get_all(&key).unwrap().as_deref(), Some(&b"of another"[..]));
}
