//! Tests of labels: dates of any resolution, lists of labels, and the number of chunks of a coordinate that a search reads.

use crate::{add, counted_chunks, group, group_in, new, size_of};
use proptest::prelude::*;
use std::sync::Arc;
use zarr_array::Store;
use zarr_dataset::{Dataset, ErrorKind, Labels};
use zarr_meta::Dialect;
use zarr_store::{Counted, MemoryStore};

/// Creates a data set with ten times that begin at 2020-01-01, `step` units apart, in chunks of `chunk` times.
fn times(units: &str, step: i64, chunk: u64) -> Dataset {
    let group = group();
    let values: Vec<i64> = (0..10).map(|index| index * step).collect();
    let array = new(&[10], "int64", &["t"]).chunks(&[chunk]).attribute("units", format!("{units} since 2020-01-01"));
    add(&group, "t", array, &values);
    Dataset::open(&group).unwrap()
}

#[test]
fn dates_are_one_time_or_a_period() {
    // Expected number of times that xarray selects: 0 if the label is not found, 1 for a single time, larger for a period.
    let labels = [
        "2020-01-01T00:00:00.5",
        "2020-01-01T00:00:00.500",
        "2020-01-01T00:00:00",
        "2020-01-01T00:00:00.0",
        "2020-01-01T00:00:00.0005",
        "2020-01-01T00:00:00.000500",
        "2020-01-01T00:00:00.000000",
        "2020-01-01T00:00:00.000000000",
        "2020-01-01T00:00:00.000000005",
        "2020-01-01T00:00",
    ];
    let expected = [
        ("milliseconds", 500, [1, 1, 2, 1, 0, 0, 1, 1, 0, 10]),
        ("microseconds", 250, [0, 0, 10, 4, 1, 1, 1, 1, 0, 10]),
        ("hours", 1, [0, 0, 1, 1, 0, 0, 1, 1, 0, 1]),
        ("seconds", 1, [0, 0, 1, 1, 0, 0, 1, 1, 0, 10]),
        ("days", 1, [0, 0, 1, 1, 0, 0, 1, 1, 0, 1]),
        ("nanoseconds", 1, [0, 0, 10, 10, 0, 0, 10, 1, 1, 10]),
    ];
    for (units, step, counts) in expected {
        for (label, count) in labels.into_iter().zip(counts) {
            // A search of the whole coordinate and a binary search of its chunks find the same times.
            for labels in [Labels::from(label), Labels::from(label).assume_sorted()] {
                let found = times(units, step, 4).sel("t", labels);
                match count {
                    0 => assert_eq!(found.unwrap_err().kind(), ErrorKind::Argument, "{units} {label}"),
                    1 => assert_eq!(size_of(&found.unwrap(), "t"), None, "{units} {label}"),
                    count => assert_eq!(size_of(&found.unwrap(), "t"), Some(count), "{units} {label}"),
                }
            }
        }
    }
    let slices =
        [("milliseconds", 500, 3), ("microseconds", 250, 0), ("hours", 1, 0), ("seconds", 1, 1), ("days", 1, 0)];
    for (units, step, count) in slices {
        let slice = Labels::between("2020-01-01T00:00:00.5", "2020-01-01T00:00:01");
        let found = times(units, step, 10).sel("t", slice).unwrap();
        assert_eq!(size_of(&found, "t"), Some(count), "{units}");
    }
}

#[test]
fn days_of_a_daily_coordinate_are_times_however_little_is_read() {
    // One value in a chunk shows no order and no resolution; the units do.
    let days = times("days", 1, 1);
    assert_eq!(size_of(&days.sel("t", Labels::from("2020-01-04").assume_sorted()).unwrap(), "t"), None);
    assert_eq!(size_of(&days.sel("t", Labels::from("2020-01").assume_sorted()).unwrap(), "t"), Some(10));
    let hours = times("hours", 1, 1);
    assert_eq!(size_of(&hours.sel("t", Labels::from("2020-01-01").assume_sorted()).unwrap(), "t"), Some(10));
    assert_eq!(size_of(&hours.sel("t", Labels::from("2020-01-01T04").assume_sorted()).unwrap(), "t"), None);
}

#[test]
fn lists_have_one_index_for_each_label() {
    let hours = times("hours", 6, 3);
    let read = |labels: Labels| {
        let found = hours.sel("t", labels)?.variable("t")?.read()?;
        Ok::<_, zarr_dataset::Error>(
            (0..found.len()).map(|index| found.text(index)[..13].to_owned()).collect::<Vec<_>>(),
        )
    };
    // A date in a list is its first time, as in xarray.
    assert_eq!(read(["2020-01", "2020-01-02"].into()).unwrap(), ["2020-01-01T00", "2020-01-02T00"]);
    assert_eq!(read(Labels::nearest(["2020-01-02T05:20", "1999"])).unwrap(), ["2020-01-02T06", "2020-01-01T00"]);
    assert_eq!(read(Labels::pad(vec!["2020-01-02T05:20"])).unwrap(), ["2020-01-02T00"]);
    assert!(read(["2020-01-02T05:20"].into()).is_err());
    assert!(read(Labels::nearest(Labels::between("2020", "2021"))).unwrap_err().message().contains("slice"));

    let group = group();
    add(&group, "x", new(&[5], "float64", &["x"]), &[5.0, 1.0, f64::NAN, 1.0, 9.0]);
    let dataset = Dataset::open(&group).unwrap();
    let read = |labels: Labels| dataset.sel("x", labels)?.variable("x")?.read()?.to_vec::<f64>();
    assert_eq!(read([9, 5, 9].into()).unwrap(), [9.0, 5.0, 9.0]);
    assert_eq!(read(1.into()).unwrap(), [1.0, 1.0]);
    assert_eq!(read([9, 1].into()).unwrap_err().message(), "coordinate x has label 1 more than once");
    assert!(read([2].into()).is_err());
}

/// Creates a data set with the coordinate `x` of `values` in chunks of `chunk` values, and returns the store, which counts requests, as
/// well.
fn counted(values: &[i32], chunk: u64) -> (Arc<Counted<MemoryStore>>, Dataset) {
    let store = Arc::new(Counted::new(MemoryStore::new()));
    let group = group_in(Arc::clone(&store) as Arc<dyn Store>, Dialect::V3);
    add(&group, "x", new(&[values.len() as u64], "int32", &["x"]).chunks(&[chunk]), values);
    let dataset = counted_chunks(&group);
    dataset.variable("x").unwrap().data_type().unwrap();
    (store, dataset)
}

#[test]
fn few_chunks_of_ten_million_values_are_read() {
    const LEN: i32 = 10_000_000;
    const CHUNK: u64 = 4_000;
    let values: Vec<i32> = (0..LEN).map(|value| value * 2).collect();
    let (store, dataset) = counted(&values, CHUNK);
    let chunks = LEN as u64 / CHUNK;
    let most = u64::from(chunks.ilog2()) + 2;
    let reads = |labels: Labels| {
        let before = store.counts().gets;
        let found = dataset.sel("x", labels);
        (found, store.counts().gets - before)
    };
    for label in [0, 2 * 3_999, 2 * 4_000, 2 * 4_999_999, 2 * 5_000_000, 2 * 7_777_777, 2 * (LEN - 1)] {
        for labels in [Labels::from(label), Labels::nearest(label + 1), Labels::pad(label + 1)] {
            let (found, reads) = reads(labels);
            assert!(found.is_ok() && reads <= most, "{label}: {reads} chunks, expected at most {most}");
        }
        let (found, reads) = reads(Labels::between(label, label + 20_000));
        assert!(size_of(&found.unwrap(), "x").is_some());
        assert!(reads <= 2 * most, "slice from {label}: {reads} chunks, expected at most {}", 2 * most);
    }
}

#[test]
fn small_coordinates_are_searched_if_they_are_said_to_be_sorted() {
    let values: Vec<i32> = (0..1000).rev().collect();
    let (store, dataset) = counted(&values, 10);
    let before = store.counts().gets;
    let found = dataset.sel("x", Labels::from(123).assume_sorted()).unwrap();
    assert!(store.counts().gets - before <= 8);
    assert_eq!(found.variable("x").unwrap().read().unwrap().to_vec::<i32>().unwrap(), [123]);
    let before = store.counts().gets;
    assert!(dataset.sel("x", 123).is_ok());
    assert_eq!(store.counts().gets - before, 100);

    let mut unsorted = values;
    unsorted[505] = 7;
    let (_, dataset) = counted(&unsorted, 10);
    let error = dataset.sel("x", Labels::from(123).assume_sorted()).unwrap_err();
    assert_eq!(
        (error.kind(), error.message()),
        (ErrorKind::InvalidMetadata, "coordinate x is not sorted at indices 500..510")
    );
    assert!(dataset.sel("x", 123).is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]
    /// A binary search finds the same labels as a comparison with every value.
    #[test]
    fn halves_find_the_same_as_the_whole(
        steps in prop::collection::vec(0_i32..3, 1..60),
        chunk in 1_u64..9,
        descends in any::<bool>(),
        labels in prop::collection::vec(-2_i32..70, 1..8),
    ) {
        let mut value = 0;
        let mut values: Vec<i32> = steps.iter().map(|step| { value += step; value }).collect();
        // Equal values neither ascend nor descend.
        let descends = descends && values.first() != values.last();
        if descends {
            values.reverse();
        }
        let (_, dataset) = counted(&values, chunk);
        let read = |labels: Labels| {
            let found = dataset.sel("x", labels).ok()?.variable("x").unwrap().read().unwrap();
            Some((found.shape().to_vec(), found.to_vec::<i32>().unwrap()))
        };
        for &label in &labels {
            let expected: Vec<i32> = values.iter().copied().filter(|&value| value == label).collect();
            let found = read(Labels::from(label).assume_sorted());
            prop_assert_eq!(&found, &read(label.into()));
            prop_assert_eq!(found.map(|(_, values)| values).unwrap_or_default(), expected);
            for other in labels.iter().copied() {
                let (low, high) = if descends { (other, label) } else { (label, other) };
                let expected: Vec<i32> = values.iter().copied().filter(|value| (low..=high).contains(value)).collect();
                let found = read(Labels::between(label, other).assume_sorted());
                prop_assert_eq!(found.map(|(_, values)| values), Some(expected));
            }
            for of in [Labels::nearest, Labels::pad, Labels::backfill] {
                prop_assert_eq!(read(of(label).assume_sorted()), read(of(label)));
            }
        }
    }

    /// A search of distinct values in chunks of at least two values reads at most log2(chunks) + 2 chunks.
    #[test]
    fn chunks_read_are_bounded(len in 2_i32..500, chunk in 2_u64..20, label in -3_i32..1003) {
        let values: Vec<i32> = (0..len).map(|value| 2 * value).collect();
        let (store, dataset) = counted(&values, chunk);
        let most = u64::from((len as u64).div_ceil(chunk).ilog2()) + 2;
        for (labels, most) in [
            (Labels::from(label / 2 * 2), most),
            (Labels::nearest(label), most),
            (Labels::between(label, label + 40), 2 * most),
        ] {
            let before = store.counts().gets;
            let found = dataset.sel("x", labels.assume_sorted());
            // An error reads up to two neighbours for its hint.
            let reads = store.counts().gets - before - if found.is_err() { 2.min(store.counts().gets - before) } else { 0 };
            prop_assert!(reads <= most, "{} chunks, expected at most {}", reads, most);
        }
    }
}

#[test]
fn a_day_of_a_large_coordinate_is_all_its_times() {
    // The coordinate has days, and then hours: the search of a day reads few values.
    let group = group();
    let days = (0..190_000_i64).map(|day| 24 * day);
    let values: Vec<i64> = days.chain((1..=80_000).map(|hour| 24 * 189_999 + hour)).collect();
    let array = new(&[270_000], "int64", &["t"]).chunks(&[10_000]).attribute("units", "hours since 1700-01-01");
    add(&group, "t", array, &values);
    let dataset = Dataset::open(&group).unwrap();
    for labels in [Labels::from("2221-06-01"), Labels::between("2221-06-01", "2221-06-01")] {
        assert_eq!(size_of(&dataset.sel("t", labels).unwrap(), "t"), Some(24));
    }
}

#[test]
fn nat_is_no_neighbour() {
    let group = group();
    let array = new(&[3], "int64", &["t"]).attribute("units", "days since 2000-01-01").attribute("_FillValue", -1);
    add(&group, "t", array, &[-1_i64, 0, 366]);
    let dataset = Dataset::open(&group).unwrap();
    let error = dataset.sel("t", Labels::nearest("1680-01-01")).unwrap_err();
    assert!(error.message().contains("not sorted"), "{error}");
    assert_eq!(dataset.sel("t", "2001-01-01").unwrap().variable("t").unwrap().shape(), [0_u64; 0]);
}
