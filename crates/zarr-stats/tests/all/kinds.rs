//! Tests of statistics of values that are not plain numbers, and of decoded values.

use crate::{create, memory, registry};
use zarr_array::{Dialect, ErrorKind, Group, NewArray, NewGroup};
use zarr_dataset::Dataset;
use zarr_stats::{Kind, Statistics, StatsOptions};

fn statistics(data_type: &str, write: impl FnOnce(&zarr_array::Array)) -> Statistics {
    let array = create(&memory(), "/a", NewArray::new(&[6], data_type).chunks(&[4]).codecs("none").unwrap());
    write(&array);
    Statistics::of(&array, .., &StatsOptions::default().quantiles(&[0.5])).unwrap()
}

#[test]
fn bools_have_a_share_of_true() {
    let found = statistics("bool", |array| array.write(0..4, &[true, false, true, true]).unwrap());
    assert_eq!((found.kind, found.numbers.count, found.numbers.integer_sum), (Kind::Truth, 6, Some(3)));
    assert_eq!(found.numbers.mean.unwrap().float, 0.5);
}

#[test]
fn times_are_shown_as_times() {
    let found = statistics("<M8[D]", |array| array.write(.., &[0_i64, i64::MIN, 31, 366, 1, 2]).unwrap());
    let numbers = &found.numbers;
    assert_eq!((found.kind, found.nan, numbers.count), (Kind::Time, 1, 5));
    assert_eq!(numbers.min.as_ref().unwrap().value.text, "1970-01-01");
    let max = numbers.max.as_ref().unwrap();
    assert_eq!((max.value.text.as_str(), max.index.clone()), ("1971-01-02", Some(vec![3])));
    assert_eq!(numbers.mean.as_ref().unwrap().text, "1970-03-22");
    assert_eq!(numbers.quantiles[0].value.text, "1970-01-03");
    assert!(numbers.std.as_ref().unwrap().text.ends_with(" D"), "{:?}", numbers.std);
    assert_eq!(numbers.integer_sum, None);
    let found = statistics("<m8[ms]", |array| array.write(.., &[5_i64, 7, 9, 5, 7, 9]).unwrap());
    assert_eq!(found.numbers.max.unwrap().value.text, "9 ms");
}

#[test]
fn complex_numbers_are_ordered_by_magnitude() {
    let found = statistics("complex64", |array| {
        let complex = |(real, imaginary): (f32, f32)| num_complex::Complex32::new(real, imaginary);
        let values = [(3.0, 4.0), (-1.0, 0.0), (f32::NAN, 1.0), (0.0, -6.0)].map(complex);
        array.write(0..4, &values).unwrap();
    });
    let numbers = &found.numbers;
    assert_eq!((found.nan, found.fill), (1, Some(2)));
    assert_eq!(numbers.max.as_ref().unwrap().value.float, 6.0);
    assert_eq!(numbers.mean.as_ref().unwrap().float, 0.4);
    assert_eq!(numbers.imaginary_mean.as_ref().unwrap().float, -0.4);
    // numpy: std([3+4j, -1, -6j, 0, 0]) = 3.4756294393965534
    assert!((numbers.std.as_ref().unwrap().float - 3.475_629_439_396_553_4).abs() < 1e-14);
}

#[test]
fn texts_have_lengths_and_common_ones() {
    let found = statistics("string", |array| {
        let texts = ["b", "ä", "longer", "ä", "b"].map(str::to_owned);
        array.write(0..5, &texts).unwrap();
    });
    let texts = found.texts.unwrap();
    assert_eq!((found.kind, texts.distinct, texts.missed), (Kind::Text, Some(4), 0));
    assert_eq!(texts.common[..2], [(b"b".to_vec(), 2), ("ä".as_bytes().to_vec(), 2)]);
    // Characters, not bytes; one is empty.
    assert_eq!((found.numbers.max.unwrap().value.float, found.numbers.integer_sum), (6.0, Some(10)));
    assert_eq!(found.fill, Some(1));
    let found = statistics("<U3", |array| {
        let texts = ["abc", "x", "x", "", "", "y"].map(str::to_owned);
        array.write(.., &texts).unwrap();
    });
    assert_eq!((found.texts.unwrap().distinct, found.numbers.integer_sum), (Some(4), Some(6)));
}

#[test]
fn structs_have_statistics_of_their_fields() {
    let new = NewArray::new(&[3], r#"[["x", "<f4"], ["y", "<i2", [2]]]"#).dialect(Dialect::V2).codecs("none").unwrap();
    let array = create(&memory(), "/a", new);
    let error = Statistics::of(&array, .., &StatsOptions::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Argument);
    assert!(error.hint().unwrap().contains("x, y"), "{error}");
    let items: Vec<u8> = [(1.5_f32, 1_i16, 2_i16), (2.5, 3, 4), (0.0, 5, -6)]
        .iter()
        .flat_map(|(x, a, b)| [x.to_ne_bytes().to_vec(), a.to_ne_bytes().to_vec(), b.to_ne_bytes().to_vec()].concat())
        .collect();
    let data = zarr_array::ArrayData::from_items(array.data_type(), &[3], &items, None).unwrap();
    array.write(.., &data).unwrap();
    let of = |field: &str| Statistics::of(&array, .., &StatsOptions::default().field(field.to_owned())).unwrap();
    assert_eq!(of("x").numbers.sum, 4.0);
    let y = of("y");
    assert_eq!((y.elements, y.values, y.numbers.integer_sum), (3, 6, Some(9)));
    let min = y.numbers.min.unwrap();
    assert_eq!((min.value.float, min.index), (-6.0, Some(vec![2])));
}

#[test]
fn values_are_decoded_by_the_conventions() {
    let store = memory();
    let group = Group::create(&store, "/", NewGroup::new(), &registry()).unwrap();
    let new = NewArray::new(&[2, 3], "int16").dimension_names(&["y", "x"]).chunks(&[1, 3]).codecs("none").unwrap();
    let new = new.attribute("scale_factor", 0.5).attribute("add_offset", 10.0).attribute("_FillValue", -1).fill(-1);
    let array = group.create_array("t", new).unwrap();
    array.write((0, ..), &[0_i16, 2, -1]).unwrap();
    let dataset = Dataset::open(&group).unwrap();
    let found = Statistics::of_variable(&dataset, "t", &StatsOptions::default().along(0), |_| {}).unwrap();
    assert!(found.is_decoded && found.fill.is_none());
    assert_eq!((found.elements, found.nan, found.unstored), (6, 4, Some(3)));
    assert_eq!((found.numbers.count, found.numbers.sum), (2, 21.0));
    let rows: Vec<(u128, u128)> = found.rows.unwrap().iter().map(|row| (row.count, row.nan)).collect();
    assert_eq!(rows, [(2, 1), (0, 3)]);
    let part = dataset.isel("x", 0..2).unwrap();
    assert_eq!(Statistics::of_variable(&part, "t", &StatsOptions::default(), |_| {}).unwrap().nan, 2);
    let stored = Statistics::of(&array, .., &StatsOptions::default()).unwrap();
    assert_eq!((stored.fill, stored.nan, stored.numbers.integer_sum), (Some(4), 0, Some(-2)));
}

#[test]
fn strings_of_characters_are_put_together() {
    let store = memory();
    let group = Group::create(&store, "/", NewGroup::new(), &registry()).unwrap();
    let new = NewArray::new(&[3, 4], "|S1").dimension_names(&["n", "string4"]).chunks(&[2, 4]).codecs("none").unwrap();
    let array = group.create_array("names", new.attribute("_Encoding", "utf-8")).unwrap();
    let characters: Vec<Vec<u8>> = b"ab\0\0abcdab\0\0".iter().map(|&byte| vec![byte]).collect();
    let data = zarr_array::ArrayData::from_items(array.data_type(), &[3, 4], &characters.concat(), None).unwrap();
    array.write(.., &data).unwrap();
    let dataset = Dataset::open(&group).unwrap();
    let found = Statistics::of_variable(&dataset, "names", &StatsOptions::default(), |_| {}).unwrap();
    assert_eq!((found.kind, found.elements), (Kind::Text, 3));
    assert_eq!(found.texts.unwrap().common, [(b"ab".to_vec(), 2), (b"abcd".to_vec(), 1)]);
}
