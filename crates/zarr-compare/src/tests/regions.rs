//! Tests of regions of arrays, which are hashed and compared as if they were arrays.

use super::{memory, registry};
use crate::{CompareOptions, Comparison, Digest, DigestOptions, NotCompared, Side, Values};
use proptest::prelude::*;
use std::collections::BTreeMap;
use zarr_array::{Array, NewArray, NodePath};
use zarr_grid::{AxisRange, Region};

fn root(region: &Region) -> BTreeMap<NodePath, Region> {
    BTreeMap::from([(NodePath::root(), region.clone())])
}

fn side(array: &Array, region: Option<&Region>) -> Side {
    let mut side = Side::new(array.store(), NodePath::root());
    side.regions = region.map(root).unwrap_or_default();
    side
}

fn values(a: &Side, b: &Side, options: &CompareOptions) -> Values {
    Comparison::of(a, b, &registry(), options, |_| {}).unwrap().nodes.remove(0).values
}

/// Creates an array of `shape` in which only the chunks of the given elements are stored.
fn stored(shape: &[u64], chunks: &[u64], elements: &[(Vec<u64>, u16)]) -> Array {
    let new = NewArray::new(shape, "uint16").chunks(chunks).codecs("bytes").unwrap().fill(7);
    let array = Array::create(&memory(), "/", new, &registry()).unwrap();
    for (at, element) in elements {
        let region = Region::new(at.iter().map(|&at| AxisRange::new(at, 1))).unwrap();
        array.write(region, &[*element]).unwrap();
    }
    array
}

/// Generates the length of an axis, two chunk lengths, and a range of the axis.
fn axis() -> impl Strategy<Value = (u64, u64, u64, AxisRange)> {
    (1_u64..20, 1_u64..6, 1_u64..6, 0_u64..20, 1_u64..4, 1_u64..20).prop_map(|(len, a, b, start, step, count)| {
        let start = start % len;
        let most = (len - start).div_ceil(step);
        (len, a, b, AxisRange { start, len: count.min(most), step })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn a_region_is_an_array_of_its_own(
        axes in proptest::collection::vec(axis(), 1..4),
        written in proptest::collection::vec((any::<prop::sample::Index>(), 1_u16..300), 0..30),
        changed in proptest::collection::vec((any::<prop::sample::Index>(), 1_u16..300), 0..4),
        memory in prop_oneof![Just(3000_u64), Just(1 << 20)],
    ) {
        let shape: Vec<u64> = axes.iter().map(|axis| axis.0).collect();
        let region = Region::new(axes.iter().map(|axis| axis.3)).unwrap();
        let lengths = region.shape().to_vec();
        let chunks = |axis: &(u64, u64, u64, AxisRange)| axis.1;
        let others = |axis: &(u64, u64, u64, AxisRange)| axis.2;
        let at = |index: &prop::sample::Index, shape: &[u64]| {
            let mut rest = index.index(shape.iter().product::<u64>() as usize) as u64;
            let mut at: Vec<u64> = shape.iter().rev().map(|&len| { let at = rest % len; rest /= len; at }).collect();
            at.reverse();
            at
        };
        let elements: Vec<(Vec<u64>, u16)> =
            written.iter().map(|(index, element)| (at(index, &shape), *element)).collect();
        let whole = stored(&shape, &axes.iter().map(chunks).collect::<Vec<_>>(), &elements);
        // A copy of the region.
        let copy = stored(&lengths, &axes.iter().map(others).collect::<Vec<_>>(), &[]);
        let taken = whole.read::<u16>(&region).unwrap();
        copy.write(.., &taken).unwrap();

        let options = DigestOptions::default().memory(memory);
        let digest = |array: &Array, options: &DigestOptions| {
            Digest::of(array.store(), "/", &registry(), options, |_| {})
        };
        let of_region = options.clone().regions(root(&region));
        match (digest(&whole, &of_region), digest(&copy, &options)) {
            (Ok(a), Ok(b)) => prop_assert_eq!(a, b),
            (a, b) => prop_assert!(memory < 1 << 20, "{:?} {:?}", a, b),
        }

        let options = CompareOptions::default().memory(memory);
        let equal = values(&side(&whole, Some(&region)), &side(&copy, None), &options);
        prop_assert!(matches!(&equal, Values::Compared(values) if values.different == 0), "{:?}", equal);
        let mut expected = BTreeMap::new();
        for (index, element) in changed {
            let index = at(&index, &lengths);
            let range = Region::new(index.iter().map(|&at| AxisRange::new(at, 1))).unwrap();
            let before = copy.read::<u16>(&range).unwrap()[0];
            copy.write(range, &[element]).unwrap();
            let position: Vec<u64> =
                index.iter().zip(region.axes()).map(|(at, axis)| axis.start + at * axis.step).collect();
            let first = expected.get(&position).map_or(before, |(first, _)| *first);
            expected.insert(position, (first, element));
        }
        expected.retain(|_, (before, now)| before != now);
        let found = values(&side(&whole, Some(&region)), &side(&copy, None), &options);
        let Values::Compared(found) = found else { panic!("both have the same shape") };
        prop_assert_eq!(found.different, expected.len() as u128);
        // Indices are those of the whole array.
        let indices: Vec<&Vec<u64>> = found.first.iter().map(|element| &element.index).collect();
        prop_assert_eq!(indices, expected.keys().take(10).collect::<Vec<_>>());
        // The smallest box that has them all.
        let bound = |axis: usize| {
            let positions = || expected.keys().map(|position| position[axis]);
            Some(positions().min()?..positions().max()? + 1)
        };
        prop_assert_eq!(found.bounds, (0..shape.len()).map(bound).collect::<Option<Vec<_>>>());
    }
}

#[test]
fn regions_that_do_not_fit_are_said() {
    let (a, b) = (stored(&[4, 3], &[2, 2], &[]), stored(&[9, 3], &[3, 3], &[]));
    let region = |range: std::ops::Range<u64>| Region::from_ranges(&[range, 0..3]);
    let options = CompareOptions::default();
    let found = values(&side(&a, Some(&region(0..2))), &side(&b, Some(&region(0..3))), &options);
    assert_eq!(found, Values::NotCompared(NotCompared::Shapes));
    // Shapes of whole arrays are no difference where as many elements of each are compared.
    let (first, second) = (side(&a, Some(&region(1..3))), side(&b, Some(&region(7..9))));
    let comparison = Comparison::of(&first, &second, &registry(), &options, |_| {}).unwrap();
    assert!(comparison.is_equal(), "{comparison:?}");
    let error = |region: BTreeMap<NodePath, Region>| {
        let options = DigestOptions::default().regions(region);
        Digest::of(a.store(), "/", &registry(), &options, |_| {}).unwrap_err()
    };
    assert_eq!(error(root(&region(0..5))).kind(), zarr_hierarchy::ErrorKind::Argument);
    let missing = error(BTreeMap::from([(NodePath::parse("/b").unwrap(), region(0..1))]));
    assert_eq!(missing.kind(), zarr_hierarchy::ErrorKind::NotFound);
}
