//! Tests of values with more digits than floats have, and of positions of selections.

use crate::{create, memory, registry};
use std::sync::Arc;
use zarr_array::{Array, Dialect, ErrorKind, Group, NewArray, NewGroup, Store};
use zarr_dataset::Dataset;
use zarr_grid::Selection;
use zarr_hierarchy::walk;
use zarr_stats::{ChunkMap, Statistics, StatsOptions, Usage};
use zarr_store::{Key, MemoryStore, StoreExt};

fn array(data_type: &str, values: &[i64]) -> Array {
    let new = NewArray::new(&[values.len() as u64], data_type).chunks(&[300]).codecs("none").unwrap();
    let array = create(&memory(), "/a", new);
    array.write(.., values).unwrap();
    array
}

#[test]
fn the_deviation_of_large_integers_is_exact() {
    let values: Vec<i64> = (0..1_000).map(|at| (1 << 62) + at).collect();
    for data_type in ["int64", "<M8[ns]", "<m8[ns]"] {
        let array = array(data_type, &values);
        for along in [None, Some(0)] {
            let found = Statistics::of(&array, .., &StatsOptions::default().along(along)).unwrap();
            let std = found.numbers.std.unwrap().float;
            assert!((std - 288.674_990_257_209_84).abs() < 1e-9, "{data_type}: {std}");
            let rows: Vec<f64> =
                found.rows.iter().flat_map(|rows| rows.iter()).map(|row| row.std.unwrap().float).collect();
            assert!(rows.iter().all(|std| *std == 0.0) && rows.len() == along.map_or(0, |_| 1_000));
        }
    }
    let pair = Statistics::of(&array("int64", &[(1 << 62) + 1, (1 << 62) + 3]), .., &StatsOptions::default()).unwrap();
    assert_eq!(
        (pair.numbers.std.unwrap().float, pair.numbers.mean.unwrap().text),
        (1.0, ((1_i64 << 62) + 2).to_string())
    );
}

/// Computed times and large integers lie between the values, even at the ends of their range, where rounding would leave the range or give
/// NaT.
#[test]
fn what_is_computed_of_times_and_large_integers_lies_among_them() {
    let shares = [0.0, 0.01, 0.3, 0.5, 0.7, 0.99, 1.0];
    let options = StatsOptions::default().quantiles(&shares).bins(3);
    for values in [
        vec![i64::MAX - 2, i64::MAX - 1],
        vec![i64::MAX; 3],
        vec![i64::MIN + 1, i64::MIN + 2, i64::MIN + 4],
        vec![i64::MIN + 1, i64::MAX],
        vec![1_700_000_000_000_000_001, 1_700_000_000_000_000_003],
    ] {
        let (min, max) = (*values.iter().min().unwrap(), *values.iter().max().unwrap());
        for data_type in ["int64", "<m8"] {
            let found = Statistics::of(&array(data_type, &values), .., &options).unwrap().numbers;
            let shown = |text: &str| {
                let count = text.split_whitespace().next().unwrap();
                count.parse::<i64>().unwrap_or_else(|_| unreachable!("{data_type} {values:?}: {text}"))
            };
            let histogram = found.histogram.as_ref().unwrap();
            let quantiles = found.quantiles.iter().map(|quantile| &quantile.value);
            for value in quantiles.chain(&histogram.edges).chain(&found.mean) {
                // A mean near zero is a float.
                if value.float.abs() > 1.0 {
                    assert!((min..=max).contains(&shown(&value.text)), "{data_type} {values:?}: {value:?}");
                }
            }
            assert_eq!((shown(&histogram.edges[0].text), shown(&histogram.edges[3].text)), (min, max), "{data_type}");
            assert_eq!(histogram.counts.iter().sum::<u128>(), values.len() as u128);
        }
    }
    let found = Statistics::of(&array("int64", &[(1 << 62) + 1, (1 << 62) + 101]), .., &options).unwrap().numbers;
    let at = |number: usize| found.quantiles[number].value.text.clone();
    assert_eq!((at(2), at(5)), (((1_i64 << 62) + 31).to_string(), ((1_i64 << 62) + 100).to_string()));
}

#[test]
fn rows_of_lists_have_the_indices_of_the_array() {
    let new = NewArray::new(&[9, 2], "int8").chunks(&[2, 2]).codecs("none").unwrap();
    let array = create(&memory(), "/a", new);
    array.write(.., &(0..18).collect::<Vec<i8>>()).unwrap();
    let rows = |selection: &str| {
        let found = Statistics::of(&array, selection, &StatsOptions::default().along(0)).unwrap();
        found.rows.unwrap().iter().map(|row| (row.index, row.min.unwrap().float)).collect::<Vec<_>>()
    };
    assert_eq!(rows("[7, 0, 4], :"), [(7, 14.0), (0, 0.0), (4, 8.0)]);
    assert_eq!(rows("[7, 5], 1"), [(5, 11.0), (7, 15.0)]);
    let points = Selection::Coordinates(vec![vec![7, 0], vec![0, 1]]);
    let error = Statistics::of(&array, points, &StatsOptions::default().along(0)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Argument);
}

#[test]
fn selected_strings_of_characters_have_the_indices_of_the_array() {
    let store = memory();
    let group = Group::create(&store, "/", NewGroup::new(), &registry()).unwrap();
    let new = NewArray::new(&[5, 2, 4], "|S1").dimension_names(&["n", "m", "string4"]).chunks(&[2, 1, 4]);
    let array = group.create_array("names", new.codecs("none").unwrap().attribute("_Encoding", "utf-8")).unwrap();
    let mut characters = vec![0; 40];
    characters[(3 * 2 + 1) * 4..(3 * 2 + 1) * 4 + 3].copy_from_slice(b"abc");
    array
        .write(.., &zarr_array::ArrayData::from_items(array.data_type(), &[5, 2, 4], &characters, None).unwrap())
        .unwrap();
    let dataset = Dataset::open(&group).unwrap().isel("n", 1..5).unwrap();
    for dataset in [dataset.isel("m", 1).unwrap(), dataset] {
        let found = Statistics::of_variable(&dataset, "names", &StatsOptions::default().along(0), |_| {}).unwrap();
        assert_eq!(found.numbers.max.unwrap().index, Some(vec![3, 1]));
        let rows: Vec<(u64, f64)> = found.rows.unwrap().iter().map(|row| (row.index, row.max.unwrap().float)).collect();
        assert_eq!(rows, [(1, 0.0), (2, 0.0), (3, 3.0), (4, 0.0)]);
    }
}

#[test]
fn arrays_without_a_fill_value_count_none() {
    let store = memory();
    create(&store, "/a", NewArray::new(&[4], "int8").dialect(Dialect::V2).codecs("none").unwrap());
    let key = Key::new("a/.zarray").unwrap();
    let document = String::from_utf8(store.get_all(&key).unwrap().unwrap().to_vec()).unwrap();
    let mut document = zarr_json::Value::from_json(&document).unwrap();
    if let zarr_json::Value::Object(members) = &mut document {
        members.insert("fill_value", zarr_json::Value::Null);
    }
    store.set_all(&key, document.to_string().as_bytes()).unwrap();
    let array = Array::open(&store, "/a", &registry()).unwrap();
    assert_eq!(Statistics::of(&array, .., &StatsOptions::default()).unwrap().fill, None);
    // Integers have a sum, without values too.
    assert_eq!(Statistics::of(&array, 0..0, &StatsOptions::default()).unwrap().numbers.integer_sum, Some(0));
}

#[test]
fn chunks_under_two_keys_count_once() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let new = NewArray::new(&[4, 2], "int8").chunks(&[2, 2]).dialect(Dialect::V2).codecs("none").unwrap();
    create(&store, "/a", new);
    let document = Key::new("a/.zarray").unwrap();
    let text = String::from_utf8(store.get_all(&document).unwrap().unwrap().to_vec()).unwrap();
    let mut value = zarr_json::Value::from_json(&text).unwrap();
    if let zarr_json::Value::Object(members) = &mut value {
        members.remove("dimension_separator");
    }
    store.set_all(&document, value.to_string().as_bytes()).unwrap();
    let found = || {
        let nodes = walk(&*store, "/a", None).unwrap().nodes;
        let usage = Usage::of(&*store, &nodes, &registry()).unwrap().nodes.remove(0);
        let map = ChunkMap::of(&Array::open(&store, "/a", &registry()).unwrap(), [9, 9], None).unwrap();
        let chunks = usage.array.unwrap();
        assert_eq!(
            (chunks.chunks, chunks.stored, chunks.written),
            (map.chunks, map.bytes, Some(4 * u128::from(map.chunks)))
        );
        (map.chunks, map.bytes, usage.other_keys, usage.other)
    };
    for (key, size, expected) in [
        ("a/0/0", 5, (1, 5, 0, 0)),
        ("a/1/0", 6, (2, 11, 0, 0)),
        // Reads get this one.
        ("a/0.0", 4, (2, 10, 1, 5)),
        ("a/1.0", 4, (2, 8, 2, 11)),
    ] {
        store.set_all(&Key::new(key).unwrap(), &vec![0; size]).unwrap();
        assert_eq!(found(), expected, "{key}");
    }
}

/// Long strings are scanned in batches that fit into memory, and strings that do not fit are dropped from the counts.
#[test]
fn texts_are_kept_within_the_memory() {
    let new = NewArray::new(&[64], "string").chunks(&[2]).codecs("none").unwrap();
    let array = create(&memory(), "/a", new);
    let texts: Vec<String> = (0..64_u8).map(|at| char::from(b'0' + at).to_string().repeat(20_000)).collect();
    array.write(.., &texts).unwrap();
    let small = Statistics::of(&array, .., &StatsOptions::default().memory(1 << 20)).unwrap();
    assert_eq!((small.numbers.count, small.numbers.integer_sum), (64, Some(64 * 20_000)));
    let texts = small.texts.unwrap();
    assert!(texts.distinct.is_none() && texts.missed > 0);
    let large = Statistics::of(&array, .., &StatsOptions::default()).unwrap();
    assert_eq!(large.texts.unwrap().distinct, Some(64));
}
