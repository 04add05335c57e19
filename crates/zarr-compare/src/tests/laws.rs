//! Tests of digests and comparisons of random arrays against simple models.

use super::{array, registry};
use crate::boxes::number;
use crate::fold::Fold;
use crate::leaves::leaves;
use crate::{CompareOptions, Comparison, Hash, Side, Values};
use proptest::prelude::*;
use zarr_array::{Array, ArrayData, NewArray, NodePath};
use zarr_dtype::DataType;
use zarr_grid::{ChunkGrid, Region};
use zarr_scan::Selected;

/// Returns the hashes of boxes, computed one after another from elements in memory.
fn model(elements: &[u16], shape: &[u64], boxes: &ChunkGrid) -> Vec<Hash> {
    let all = boxes.intersect(&Region::whole(shape));
    let of_box = |index: &[u64]| {
        let region = boxes.chunk_region(index);
        let mut bytes = Vec::new();
        for (position, element) in elements.iter().enumerate() {
            let mut rest = position as u64;
            let mut inside = true;
            for (&len, axis) in shape.iter().zip(region.axes()).rev() {
                inside &= (axis.start..axis.start + axis.len).contains(&(rest % len));
                rest /= len;
            }
            if inside {
                bytes.extend_from_slice(&element.to_le_bytes());
            }
        }
        Hash::new(blake3::hash(&bytes).into())
    };
    all.iter().map(|overlap| of_box(&overlap.index)).collect()
}

fn axis() -> impl Strategy<Value = (u64, u64, u64)> {
    (1_u64..10, 1_u64..6, 1_u64..6)
}

fn elements(count: u64) -> Vec<u16> {
    (0..count).map(|at| (at * 40503 % 65536) as u16).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn boxes_are_hashed_whatever_the_chunks(
        axes in proptest::collection::vec(axis(), 0..4),
        memory in prop_oneof![64_u64..4000, Just(1 << 20)],
        written in proptest::collection::vec(any::<prop::sample::Index>(), 0..4),
        whole in any::<bool>(),
    ) {
        let [shape, chunks, lengths] = [0, 1, 2].map(|part| axes.iter().map(|axis| [axis.0, axis.1, axis.2][part]).collect::<Vec<u64>>());
        let new = NewArray::new(&shape, "uint16").chunks(&chunks).codecs("bytes").unwrap().fill(7);
        let boxes = ChunkGrid::regular(&shape, &lengths).unwrap();
        let count = zarr_grid::element_count(&shape).unwrap();
        let stored = Array::create(&super::memory(), "/", new, &registry()).unwrap();
        let expected = if whole {
            let elements = elements(count);
            stored.write(.., &elements).unwrap();
            elements
        } else {
            // A few elements: most chunks are missing.
            let mut expected = vec![7; count as usize];
            for index in written {
                let position = index.index(count as usize);
                expected[position] = 9;
                let mut rest = position as u64;
                let mut at = Vec::new();
                for &len in shape.iter().rev() {
                    at.push(rest % len..rest % len + 1);
                    rest /= len;
                }
                at.reverse();
                stored.write(Region::from_ranges(&at), &[9_u16]).unwrap();
            }
            expected
        };
        let stored = Selected::new(stored, None).unwrap();
        match leaves(&stored, &boxes, Fold::default(), memory, &|_| Ok(())) {
            Ok(found) => prop_assert_eq!(found, model(&expected, &shape, &boxes)),
            Err(error) => prop_assert!(memory < 1 << 20 && error.to_string().contains("memory"), "{}", error),
        }
    }

    #[test]
    fn differences_are_found_whatever_the_chunks(
        axes in proptest::collection::vec(axis(), 0..4),
        memory in prop_oneof![Just(3000_u64), Just(1 << 20)],
        changed in proptest::collection::vec((any::<prop::sample::Index>(), 1_u16..300), 0..6),
        first in 0_usize..4,
        is_wide in any::<bool>(),
    ) {
        let [shape, chunks, others] = [0, 1, 2].map(|part| axes.iter().map(|axis| [axis.0, axis.1, axis.2][part]).collect::<Vec<u64>>());
        let count = zarr_grid::element_count(&shape).unwrap();
        let elements: Vec<u16> = elements(count).iter().map(|element| element % 1000).collect();
        let mut other = elements.clone();
        for (index, by) in &changed {
            other[index.index(count as usize)] = elements[index.index(count as usize)] + by;
        }
        let new = |data_type: &str, chunks: &[u64]| NewArray::new(&shape, data_type).chunks(chunks).codecs("bytes").unwrap();
        let a = array(new("uint16", &chunks), &ArrayData::from_elements(&DataType::UInt16, &shape, &elements).unwrap());
        let b = if is_wide {
            let other: Vec<f64> = other.iter().map(|&element| element.into()).collect();
            array(new("float64", &others), &ArrayData::from_elements(&DataType::Float64, &shape, &other).unwrap())
        } else {
            array(new("uint16", &others), &ArrayData::from_elements(&DataType::UInt16, &shape, &other).unwrap())
        };
        let side = |array: &Array| Side::new(array.store(), NodePath::root());
        let options = CompareOptions::default().metadata(false).first(first).memory(memory);
        let compared = Comparison::of(&side(&a), &side(&b), &registry(), &options, |_| {});
        let comparison = match compared {
            Ok(comparison) => comparison,
            Err(error) => {
                prop_assert!(memory < 1 << 20 && error.to_string().contains("memory"), "{}", error);
                return Ok(());
            }
        };
        let Values::Compared(found) = &comparison.nodes[0].values else { panic!("they are compared") };
        let differ: Vec<usize> = (0..elements.len()).filter(|&at| elements[at] != other[at]).collect();
        prop_assert_eq!(found.different, differ.len() as u128);
        prop_assert_eq!(found.compared, u128::from(count));
        let most = differ.iter().map(|&at| other[at] - elements[at]).max();
        prop_assert_eq!(found.max_abs, most.map(f64::from));
        let strides: Vec<u64> = (0..shape.len()).map(|axis| shape[axis + 1..].iter().product()).collect();
        let index = |at: usize| -> Vec<u64> { shape.iter().zip(&strides).map(|(len, stride)| at as u64 / stride % len).collect() };
        let indexes: Vec<Vec<u64>> = differ.iter().map(|&at| index(at)).collect();
        let firsts: Vec<Vec<u64>> = found.first.iter().map(|element| element.index.clone()).collect();
        prop_assert_eq!(firsts, indexes.iter().take(first).cloned().collect::<Vec<_>>());
        for element in &found.first {
            let at = number(&shape, &element.index) as usize;
            prop_assert_eq!(element.first.as_f64(), Some(elements[at].into()));
            prop_assert_eq!(element.second.as_f64(), Some(other[at].into()));
        }
        let bounds = (!indexes.is_empty()).then(|| {
            let range = |axis: usize| {
                let along = || indexes.iter().map(|index| index[axis]);
                along().min().unwrap()..along().max().unwrap() + 1
            };
            (0..shape.len()).map(range).collect::<Vec<_>>()
        });
        prop_assert_eq!(&found.bounds, &bounds);
    }
}
