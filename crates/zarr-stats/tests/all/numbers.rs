//! Tests of statistics of numbers.

use crate::numpy_vectors::{VECTORS, Vector};
use crate::{create, memory, registry};
use proptest::prelude::*;
use std::sync::Arc;
use zarr_array::{Array, ErrorKind, NewArray, Store};
use zarr_stats::{Statistics, StatsOptions};
use zarr_store::{Counted, MemoryStore};

/// Pseudo-random numbers, the same as in `numpy_vectors.py`.
fn raw() -> Vec<u64> {
    let mut state = 42_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 33
    };
    (0..20_000).map(|_| next()).collect()
}

fn floats() -> Vec<f64> {
    let value = |(at, raw): (usize, u64)| if at % 97 == 0 { f64::NAN } else { 250.0 + (raw % 10_007) as f64 / 64.0 };
    raw().into_iter().enumerate().map(value).collect()
}

fn written(data_type: &str, new: NewArray) -> Array {
    let array = create(&memory(), "/a", new);
    let raw = raw();
    let floats = floats();
    match data_type {
        "int8" => array.write(.., &raw.iter().map(|raw| ((raw % 201) as i64 - 100) as i8).collect::<Vec<i8>>()),
        "uint16" => array.write(.., &raw.iter().map(|raw| (raw % 65_521) as u16).collect::<Vec<u16>>()),
        "int32" => array.write(.., &raw.iter().map(|&raw| (raw as i64 - (1 << 30)) as i32).collect::<Vec<i32>>()),
        "int64" => array.write(.., &raw.iter().map(|&raw| raw as i64 * 1_000_003 - (1 << 50)).collect::<Vec<i64>>()),
        "float16" => array.write(.., &floats.iter().map(|&value| half::f16::from_f64(value)).collect::<Vec<_>>()),
        "float32" => array.write(.., &floats.iter().map(|&value| value as f32).collect::<Vec<f32>>()),
        _ => array.write(.., &floats),
    }
    .unwrap();
    array
}

fn near(found: f64, expected: f64, digits: f64) -> bool {
    (found - expected).abs() <= expected.abs() * digits
}

#[test]
fn numpy_has_the_same() {
    for Vector { data_type, nan, min_at, max_at, mean, std, quantiles, histogram } in VECTORS {
        let new = || NewArray::new(&[20_000], data_type);
        for new in [new().chunks(&[777]), new().chunks(&[20_000]), new().shards(&[4_000]).chunks(&[100])] {
            let array = written(data_type, new.codecs("zstd(1)").unwrap());
            let found = Statistics::of(&array, .., &StatsOptions::default().bins(8)).unwrap();
            let numbers = &found.numbers;
            assert_eq!((found.elements, found.nan), (20_000, nan), "{data_type}");
            let at = |extreme: &Option<zarr_stats::Extreme>| extreme.as_ref().unwrap().index.clone().unwrap();
            assert_eq!((at(&numbers.min), at(&numbers.max)), (vec![min_at], vec![max_at]), "{data_type}");
            let found_mean = numbers.mean.as_ref().unwrap().float;
            assert!(
                near(found_mean, mean, 1e-14) || (found_mean - mean).abs() < 1e-13,
                "{data_type}: {found_mean} {mean}"
            );
            let found_std = numbers.std.as_ref().unwrap().float;
            assert!(near(found_std, std, 1e-14), "{data_type}: {found_std} {std}");
            assert_eq!(numbers.rank_error, 0.0);
            for (found, expected) in numbers.quantiles.iter().zip(quantiles) {
                assert!(near(found.value.float, expected, 1e-15), "{data_type}: {found:?} {expected}");
            }
            assert_eq!(numbers.histogram.as_ref().unwrap().counts, histogram, "{data_type}");
        }
    }
}

/// Values in a box with steps, each with its index.
fn selected(values: &[f32], shape: [u64; 2], ranges: [(u64, u64, u64); 2]) -> Vec<([u64; 2], f32)> {
    let axis = |(start, stop, step): (u64, u64, u64), len: u64| {
        (start..stop.min(len)).step_by(step as usize).collect::<Vec<u64>>()
    };
    let columns = axis(ranges[1], shape[1]);
    let rows = axis(ranges[0], shape[0]).into_iter();
    rows.flat_map(|row| columns.iter().map(move |&column| ([row, column], values[(row * shape[1] + column) as usize])))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn a_plain_loop_has_the_same(
        shape in [1_u64..30, 1_u64..30],
        chunk in [1_u64..12, 1_u64..12],
        is_sharded: bool,
        ranges in [(0_u64..20, 1_u64..31, 1_u64..4), (0_u64..20, 1_u64..31, 1_u64..4)],
        holes in [0_u64..30, 0_u64..30],
        seed in prop::collection::vec(prop_oneof![Just(f32::NAN), Just(0.0_f32), Just(-7.0), -50_f32..50.0], 900),
        memory_of in prop_oneof![Just(1_u64 << 20), Just(6_000)],
    ) {
        let new = NewArray::new(&shape, "float32").fill(-7.0).chunks(&chunk);
        let shard: Vec<u64> = chunk.iter().map(|len| len * 2).collect();
        let new = if is_sharded { new.shards(&shard) } else { new };
        let array = create(&memory(), "/a", new.codecs("none").unwrap());
        // What is not written is the fill value.
        let (rows, columns) = (shape[0].min(holes[0]), shape[1].min(holes[1]));
        let mut values = vec![-7.0_f32; (shape[0] * shape[1]) as usize];
        let mut part = Vec::new();
        for row in 0..rows {
            for column in 0..columns {
                let value = seed[(row * 30 + column) as usize];
                values[(row * shape[1] + column) as usize] = value;
                part.push(value);
            }
        }
        array.write((0..rows, 0..columns), &part).unwrap();
        let ranges = ranges.map(|(start, stop, step)| (start, stop.max(start), step));
        let text = ranges.map(|(start, stop, step)| format!("{start}:{stop}:{step}")).join(", ");
        // Rows take memory of their own.
        let along = (memory_of > 10_000).then_some(1);
        let options = StatsOptions::default().along(along).memory(memory_of).bins(5);
        let found = Statistics::of(&array, text.as_str(), &options).unwrap();
        let all = selected(&values, shape, ranges);
        let numbers: Vec<([u64; 2], f64)> =
            all.iter().filter(|(_, value)| !value.is_nan()).map(|(at, value)| (*at, f64::from(*value))).collect();
        prop_assert_eq!(found.elements, all.len() as u128);
        prop_assert_eq!(found.numbers.count, numbers.len() as u128);
        prop_assert_eq!(found.nan, (all.len() - numbers.len()) as u128);
        prop_assert_eq!(found.fill, Some(all.iter().filter(|(_, value)| *value == -7.0).count() as u128));
        let least = numbers.iter().min_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
        let greatest = numbers.iter().min_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        for (found, expected) in [(&found.numbers.min, least), (&found.numbers.max, greatest)] {
            prop_assert_eq!(found.is_some(), expected.is_some());
            if let (Some(found), Some((at, value))) = (found, expected) {
                prop_assert_eq!(found.value.float, *value);
                prop_assert_eq!(found.index.as_deref(), Some(&at[..]));
            }
        }
        let mean = numbers.iter().map(|(_, value)| value).sum::<f64>() / numbers.len() as f64;
        let variance = numbers.iter().map(|(_, value)| (value - mean).powi(2)).sum::<f64>() / numbers.len() as f64;
        if let (Some(found_mean), Some(std)) = (&found.numbers.mean, &found.numbers.std) {
            prop_assert!((found_mean.float - mean).abs() <= 1e-12 * 50.0);
            prop_assert!((std.float - variance.sqrt()).abs() <= 1e-11 * 50.0);
        }
        let mut sorted: Vec<f64> = numbers.iter().map(|(_, value)| *value).collect();
        sorted.sort_by(f64::total_cmp);
        for quantile in &found.numbers.quantiles {
            let rank = quantile.share * (sorted.len() - 1) as f64;
            let slack = found.numbers.rank_error * sorted.len() as f64 + if found.numbers.rank_error > 0.0 { 1.0 } else { 0.0 };
            let low = sorted[(rank - slack).floor().max(0.0) as usize];
            let high = sorted[((rank + slack).ceil() as usize).min(sorted.len() - 1)];
            prop_assert!((low..=high).contains(&quantile.value.float), "{:?} {low} {high}", quantile);
        }
        let Some(rows) = found.rows.as_ref() else {
            prop_assert!(along.is_none());
            return Ok(());
        };
        let (start, stop, step) = ranges[1];
        let columns: Vec<u64> = (start..stop.min(shape[1])).step_by(step as usize).collect();
        prop_assert_eq!(rows.len(), columns.len());
        for (row, column) in rows.iter().zip(columns) {
            prop_assert_eq!(row.index, column);
            let of_row = || numbers.iter().filter(|(at, _)| at[1] == column).map(|(_, value)| *value);
            prop_assert_eq!(row.count, of_row().count() as u128);
            prop_assert_eq!(row.count + row.nan, all.iter().filter(|(at, _)| at[1] == column).count() as u128);
            prop_assert_eq!(row.min.map(|min| min.float), of_row().min_by(f64::total_cmp));
            let mean = of_row().sum::<f64>() / row.count as f64;
            prop_assert!(row.mean.is_none_or(|found| (found.float - mean).abs() < 1e-11));
        }
    }
}

/// Quantiles of more values than are stored one by one are within the bound of their error.
#[test]
fn quantiles_of_samples_are_within_their_bound() {
    let values: Vec<f32> = (0..300_000_u64).map(|at| ((at * 7_919 % 300_007) as f32).sqrt()).collect();
    let array = create(&memory(), "/a", NewArray::new(&[300_000], "float32").chunks(&[10_000]).codecs("none").unwrap());
    array.write(.., &values).unwrap();
    let found =
        Statistics::of(&array, .., &StatsOptions::default().memory(1 << 20).quantiles(&[0.0, 0.1, 0.5, 0.99, 1.0]))
            .unwrap();
    let error = found.numbers.rank_error;
    assert!(error > 0.0 && error < 0.002, "{error}");
    let mut sorted = values.clone();
    sorted.sort_by(f32::total_cmp);
    let slack = error * 300_000.0 + 1.0;
    for quantile in &found.numbers.quantiles {
        let rank = quantile.share * 299_999.0;
        let low = sorted[(rank - slack).max(0.0) as usize];
        let high = sorted[((rank + slack) as usize).min(299_999)];
        assert!((f64::from(low)..=f64::from(high)).contains(&quantile.value.float), "{quantile:?} {low} {high}");
    }
    // The extremes are exact.
    assert_eq!(found.numbers.quantiles[0].value.float, f64::from(sorted[0]));
    assert_eq!(found.numbers.quantiles[4].value.float, f64::from(sorted[299_999]));
    let counts = &found.numbers.histogram.as_ref().unwrap().counts;
    assert_eq!(counts.iter().sum::<u128>(), 300_000);
}

#[test]
fn each_chunk_is_read_once_and_missing_ones_never() {
    let counted = Arc::new(Counted::new(MemoryStore::new()));
    let store: Arc<dyn Store> = counted.clone();
    let new = NewArray::new(&[1 << 40, 100], "int16").fill(3).chunks(&[10, 100]).codecs("none").unwrap();
    let array = create(&store, "/a", new);
    array.write((50..70, ..), &[5_i16; 2_000]).unwrap();
    array.write((1_u64 << 39.., 0..1).0.start..(1_u64 << 39) + 1, &[9_i16; 100]).unwrap();
    let before = counted.counts();
    let found = Statistics::of(&array, .., &StatsOptions::default()).unwrap();
    let after = counted.counts();
    let elements = 100_u128 << 40;
    assert_eq!((found.elements, found.unstored), (elements, Some(elements - 3_000)));
    assert_eq!(found.numbers.integer_sum, Some(3 * (elements as i128 - 2_100) + 5 * 2_000 + 9 * 100));
    assert_eq!(found.fill, Some(elements - 2_100));
    assert_eq!(found.numbers.min.unwrap().index, Some(vec![0, 0]));
    assert_eq!(found.numbers.max.unwrap().index, Some(vec![1 << 39, 0]));
    assert_eq!(after.lists - before.lists, 1);
    // Three chunks, one that is missing for its value, and the document, whether the array is still there: with the list, and with each of
    // four reads.
    assert!(after.gets - before.gets <= 3 + 1 + 5, "{}", after.gets - before.gets);
}

#[test]
fn memory_is_bounded_and_said() {
    let array =
        create(&memory(), "/a", NewArray::new(&[1_000_000], "float64").chunks(&[1_000_000]).codecs("zstd(1)").unwrap());
    array.write(0..1, &[1.0]).unwrap();
    let error = Statistics::of(&array, .., &StatsOptions::default().memory(1 << 20)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
    let text = error.to_string();
    assert!(text.contains("/a") && text.contains("8000000 bytes"), "{text}");
    assert!(error.hint().unwrap().contains("at least 31 MiB"), "{error:?}");
    // Without compression any part of a chunk can be read.
    let array =
        create(&memory(), "/a", NewArray::new(&[1_000_000], "float64").chunks(&[1_000_000]).codecs("none").unwrap());
    array.write(999_999..1_000_000, &[1.0]).unwrap();
    let found = Statistics::of(&array, .., &StatsOptions::default().memory(1 << 20)).unwrap();
    assert_eq!((found.numbers.count, found.numbers.sum), (1_000_000, 1.0));
}

#[test]
fn rows_take_no_more_than_the_memory() {
    let array = create(&memory(), "/a", NewArray::new(&[20_000, 2], "int8").chunks(&[100, 2]).codecs("none").unwrap());
    let options = StatsOptions::default().along(0);
    let error = Statistics::of(&array, .., &options.clone().memory(1 << 20)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
    assert!(error.to_string().contains("axis 0 has 20000 indices"), "{error}");
    assert_eq!(Statistics::of(&array, .., &options).unwrap().rows.unwrap().len(), 20_000);
}

#[test]
fn impossible_arguments_are_refused() {
    let array = create(&memory(), "/a", NewArray::new(&[4, 5], "int8").codecs("none").unwrap());
    for options in [
        StatsOptions::default().along(2),
        StatsOptions::default().quantiles(&[1.5]),
        StatsOptions::default().quantiles(&[f64::NAN]),
        StatsOptions::default().bins(10_001),
        StatsOptions::default().field("x".to_owned()),
    ] {
        assert_eq!(Statistics::of(&array, .., &options).unwrap_err().kind(), ErrorKind::Argument, "{options:?}");
    }
    assert_eq!(Statistics::of(&array, 9, &StatsOptions::default()).unwrap_err().kind(), ErrorKind::Argument);
    let none = Statistics::of(&array, 0..0, &StatsOptions::default()).unwrap();
    assert!(none.elements == 0 && none.numbers.mean.is_none() && none.numbers.histogram.is_none());
    assert!(none.numbers.quantiles.is_empty());
    // Lists are read as a whole.
    array.write((1, ..), &[1_i8, 2, 3, 4, 5]).unwrap();
    let listed = Statistics::of(&array, "[1, 1, 3], ::2", &StatsOptions::default()).unwrap();
    assert_eq!((listed.elements, listed.numbers.integer_sum), (9, Some(18)));
    assert!(listed.numbers.max.unwrap().index.is_none());
    drop(registry());
}
