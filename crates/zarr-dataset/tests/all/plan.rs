//! Tests of plans: the chunks that a plan lists are compared with the requests of the read and with the chunks of each selected element.

use crate::{add, counted_chunks, group, group_in, new};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::sync::Arc;
use zarr_array::{NewArray, Store};
use zarr_dataset::{Dataset, Labels};
use zarr_grid::AxisSelection;
use zarr_meta::Dialect;
use zarr_store::{Counted, MemoryStore};

#[test]
fn a_plan_of_a_selection() {
    let store = Arc::new(Counted::new(MemoryStore::new()));
    let group = group_in(Arc::clone(&store) as Arc<dyn Store>, Dialect::V3);
    let packed = new(&[10, 6], "int16", &["t", "x"]).chunks(&[4, 2]).attribute("scale_factor", 0.5);
    add(&group, "v", packed, &(1..=60).collect::<Vec<i16>>());
    add(&group, "t", new(&[10], "int32", &["t"]), &(0..10).collect::<Vec<i32>>());
    let dataset = counted_chunks(&group).sel("t", Labels::between(3, 5)).unwrap().isel("x", -1).unwrap();
    let v = dataset.variable("v").unwrap();
    let before = store.counts();
    let plan = v.plan().unwrap();
    assert_eq!(store.counts(), before);
    let chunks: Vec<Vec<u64>> = plan.indices().map(|index| index.to_vec()).collect();
    assert_eq!(chunks, [[0, 2], [1, 2]]);
    assert_eq!((plan.chunks, plan.parts, plan.requests()), (2, 2, 2));
    assert_eq!((plan.selected_bytes, plan.decoded_bytes), (Some(6), Some(32)));
    v.read().unwrap();
    assert_eq!(u128::from(store.counts().gets - before.gets), plan.requests());
    let nothing = dataset.isel("t", 2..2).unwrap().variable("v").unwrap().plan().unwrap();
    assert_eq!((nothing.requests(), nothing.indices().count(), nothing.decoded_bytes), (0, 0, Some(0)));
}

#[test]
fn a_plan_of_more_chunks_than_memory_holds() {
    let group = group();
    let huge = NewArray::new(&[1 << 40, 1 << 40], "float64").dimension_names(&["y", "x"]).chunks(&[1, 1 << 10]);
    group.create_array("v", huge.codecs("bytes").unwrap()).unwrap();
    let strings = NewArray::new(&[4], "string").dimension_names(&["n"]).chunks(&[2]).codecs("vlen-utf8").unwrap();
    group.create_array("s", strings).unwrap();
    let dataset = Dataset::open(&group).unwrap();
    let plan = dataset.variable("v").unwrap().plan().unwrap();
    assert_eq!((plan.chunks, plan.decoded_bytes), (1 << 70, Some(1 << 83)));
    assert_eq!(plan.indices().nth(1 << 20).unwrap().to_vec(), [0, 1 << 20]);
    let sparse = AxisSelection::Range { start: None, stop: None, step: 1 << 20 };
    let plan = dataset.isel("x", sparse).unwrap().variable("v").unwrap().plan().unwrap();
    assert_eq!((plan.chunks, plan.selected_bytes), (1 << 60, Some(1 << 63)));
    let plan = dataset.variable("s").unwrap().plan().unwrap();
    assert_eq!((plan.chunks, plan.selected_bytes, plan.decoded_bytes), (2, None, None));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    /// The chunks of a plan are the chunks of the selected elements, and a read requests no other chunks.
    #[test]
    fn plans_have_the_chunks_of_the_elements(
        shape in prop::collection::vec(1_u64..7, 3),
        chunks in prop::collection::vec(1_u64..4, 3),
        is_sharded in any::<bool>(),
        ways in prop::collection::vec(0_u8..6, 3),
        points in prop::collection::vec(prop::collection::vec(0_u64..1000, 3), 1..5),
    ) {
        let store = Arc::new(Counted::new(MemoryStore::new()));
        let group = group_in(Arc::clone(&store) as Arc<dyn Store>, Dialect::V3);
        let names = ["a", "b", "c"];
        let values: Vec<i16> = (1..=shape.iter().product::<u64>() as i16).collect();
        let mut array = NewArray::new(&shape, "int16").dimension_names(&names).codecs("bytes").unwrap();
        let whole: Vec<u64> = chunks.iter().map(|len| if is_sharded { 2 * len } else { *len }).collect();
        if is_sharded {
            let codecs = format!(
                r#"[{{"name": "sharding_indexed", "configuration": {{"chunk_shape": {chunks:?}, "codecs": ["bytes"],
                "index_codecs": ["bytes"]}}}}]"#
            );
            array = array.codecs(codecs.as_str()).unwrap();
        }
        add(&group, "v", array.chunks(&whole), &values);
        let mut dataset = counted_chunks(&group);
        let mut along = Vec::new();
        // Selected indices along each axis; `None` for an axis along which points are selected.
        let mut selected: Vec<Option<Vec<u64>>> = Vec::new();
        for (axis, name) in names.into_iter().enumerate() {
            let len = shape[axis];
            let (axis_selection, indices): (AxisSelection, Vec<u64>) = match ways[axis] {
                0 => ((0..len).into(), (0..len).collect()),
                1 => (AxisSelection::Range { start: None, stop: None, step: -2 }, (0..len).rev().step_by(2).collect()),
                2 => (vec![len - 1, 0, len / 2].into(), vec![len - 1, 0, len / 2]),
                3 => (AxisSelection::Index(-1), vec![len - 1]),
                _ => {
                    along.push((name, points.iter().map(|point| (point[axis] % len) as i64).collect::<Vec<_>>()));
                    selected.push(None);
                    continue;
                }
            };
            dataset = dataset.isel(name, axis_selection).unwrap();
            selected.push(Some(indices));
        }
        if !along.is_empty() {
            dataset = dataset.isel_points("p", along).unwrap();
        }
        let (mut met, mut parts) = (BTreeSet::new(), BTreeSet::new());
        for point in &points {
            let at = |axis: usize| selected[axis].clone().unwrap_or_else(|| vec![point[axis] % shape[axis]]);
            for (a, b, c) in at(0).into_iter().flat_map(|a| at(1).into_iter().flat_map(move |b| at(2).into_iter().map(move |c| (a, b, c)))) {
                met.insert(vec![a / whole[0], b / whole[1], c / whole[2]]);
                parts.insert([a / chunks[0], b / chunks[1], c / chunks[2]]);
            }
        }
        let v = dataset.variable("v").unwrap();
        let plan = v.plan().unwrap();
        let found: Vec<Vec<u64>> = plan.indices().map(|index| index.to_vec()).collect();
        prop_assert_eq!((found.len(), found.into_iter().collect::<BTreeSet<_>>()), (met.len(), met));
        prop_assert_eq!(plan.parts, parts.len() as u128);
        prop_assert_eq!(plan.decoded_bytes, Some(plan.parts * 2 * u128::from(chunks.iter().product::<u64>())));
        prop_assert_eq!(plan.selected_bytes, Some(2 * u128::from(v.shape().iter().product::<u64>())));
        let before = store.counts().gets;
        v.read().unwrap();
        let gets = u128::from(store.counts().gets - before);
        prop_assert!(gets <= plan.requests(), "{} requests, expected at most {}", gets, plan.requests());
    }
}
