//! Types of columns.

use crate::decoded::texts;
use crate::{add, group, new, table};
use std::collections::BTreeSet;
use zarr_array::{ErrorKind, Group, NewArray};
use zarr_arrow::{Batches, Coordinates, TableOptions};
use zarr_dataset::Dataset;

/// Returns the format of the last column and its elements.
fn column(group: &Group) -> (String, Vec<Option<String>>) {
    let dataset = Dataset::open(group).unwrap();
    let mut batches = table(&dataset, &TableOptions::default());
    let batch = batches.next().unwrap().unwrap();
    #[cfg(feature = "arrow")]
    crate::arrow_rs::converted(&batch);
    // The columns that begin within a byte, and those behind others, too.
    #[cfg(feature = "parquet")]
    for rows in [1, 3] {
        let batches: Vec<_> = table(&dataset, &TableOptions::default().batch_rows(rows)).map(Result::unwrap).collect();
        crate::ipc::check_read_back(batch.schema(), &batches);
    }
    let field = batch.schema().fields().last().unwrap().clone();
    (field.format().to_owned(), texts(&field, batch.columns().last().unwrap()))
}

fn some(texts: &[&str]) -> Vec<Option<String>> {
    texts.iter().map(|text| (*text != "null").then(|| (*text).to_owned())).collect()
}

/// Returns the format and elements of a stored array, with attributes.
fn stored<T: zarr_dtype::WriteElement>(
    data_type: &str,
    attributes: &[(&str, &str)],
    values: &[T],
) -> (String, Vec<Option<String>>) {
    let group = group();
    let mut array = new(&[values.len() as u64], data_type, &["x"]);
    for (name, value) in attributes {
        array = array.attribute(name, *value);
    }
    add(&group, "v", array, values);
    column(&group)
}

#[test]
fn numbers() {
    assert_eq!(stored("int8", &[], &[-1_i8, 2]), ("c".into(), some(&["-1", "2"])));
    assert_eq!(stored("uint64", &[], &[u64::MAX]), ("L".into(), some(&["18446744073709551615"])));
    assert_eq!(stored("float32", &[], &[0.5_f32, f32::NAN]), ("f".into(), some(&["0.5", "null"])));
    assert_eq!(stored("float64", &[], &[0.5, f64::INFINITY]), ("g".into(), some(&["0.5", "inf"])));
    assert_eq!(stored("bool", &[], &[true, false, true]), ("b".into(), some(&["true", "false", "true"])));
}

#[test]
fn nan_stays_if_asked_for() {
    let group = group();
    add(&group, "v", new(&[1], "float64", &["x"]), &[f64::NAN]);
    let options = TableOptions::default().nan_is_null(false);
    let batch = table(&Dataset::open(&group).unwrap(), &options).next().unwrap().unwrap();
    assert!(batch.column(1).values::<f64>().unwrap()[0].is_nan());
    assert_eq!((batch.column(1).null_count(), batch.schema().fields()[1].is_nullable()), (0, true));
}

#[test]
fn times_in_their_unit() {
    let (format, found) = stored("int32", &[("units", "hours since 1970-01-01")], &[0, 1]);
    assert_eq!((format.as_str(), found), ("tsn:", some(&["0", "3600000000000"])));
    let datetime = |unit: &str| {
        format!("{{\"name\":\"numpy.datetime64\",\"configuration\":{{\"unit\":\"{unit}\",\"scale_factor\":1}}}}")
    };
    assert_eq!(stored(&datetime("us"), &[], &[5_i64, i64::MIN]), ("tsu:".into(), some(&["5", "null"])));
    assert_eq!(stored(&datetime("D"), &[], &[2_i64, i64::MIN]), ("tss:".into(), some(&["172800", "null"])));
    let (format, found) = stored("int32", &[("units", "days since 2000-02-28"), ("calendar", "360_day")], &[0, 2]);
    assert_eq!(format, "U");
    assert!(found[1].as_ref().unwrap().starts_with("2000-02-30"), "{found:?}");
    let group = group();
    add(&group, "v", new(&[1], &datetime("M"), &["x"]), &[1_i64]);
    let error = Batches::new(&Dataset::open(&group).unwrap(), &TableOptions::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotExpressible);
    let expected = "variable v: found values of data type datetime64[M], which have no type of Arrow here";
    assert_eq!(error.message(), expected);
    let large = stored_error(&datetime("D"), i64::MAX);
    assert!(large.contains("variable v: element [0]: found the time 9223372036854775807 * 86400, expected"), "{large}");
}

fn stored_error(data_type: &str, value: i64) -> String {
    let group = group();
    add(&group, "v", new(&[1], data_type, &["x"]), &[value]);
    let mut batches = table(&Dataset::open(&group).unwrap(), &TableOptions::default());
    let error = batches.next().unwrap().unwrap_err().to_string();
    assert!(batches.next().is_none());
    error
}

#[test]
fn strings_of_any_length_are_views_without_a_copy() {
    let group = group();
    let texts = ["", "twelve bytes", "more than twelve bytes", "héllo"].map(str::to_owned);
    let array = NewArray::new(&[4], "string").dimension_names(&["x"]).codecs("vlen-utf8").unwrap();
    add(&group, "v", array, &texts);
    assert_eq!(column(&group), ("vu".into(), texts.iter().cloned().map(Some).collect()));
    // The blocks of all batches are those that the chunk was decoded to.
    let batches = table(&Dataset::open(&group).unwrap(), &TableOptions::default().batch_rows(1)).map(Result::unwrap);
    let blocks: BTreeSet<_> =
        batches.map(|batch| batch.column(1).buffers()[2].as_ref().unwrap().bytes().as_ptr() as usize).collect();
    assert_eq!(blocks.len(), 1);
}

#[test]
fn bytes_of_any_length_are_views() {
    let group = group();
    let array = NewArray::new(&[3], "variable_length_bytes").dimension_names(&["x"]).codecs("vlen-bytes").unwrap();
    add(&group, "v", array, &[b"".to_vec(), b"short".to_vec(), b"more than twelve bytes".to_vec()]);
    assert_eq!(column(&group), ("vz".into(), some(&["", "short", "more than twelve bytes"])));
}

#[test]
fn floats_below_32_bits() {
    let group = |data_type: &str, items: &[u8]| {
        let group = group();
        add_items(&group, new(&[2], data_type, &["x"]), items);
        column(&group)
    };
    let expected = some(&["1.5", "null"]);
    let pair = |one: u16, nan: u16| [one.to_ne_bytes(), nan.to_ne_bytes()].concat();
    assert_eq!(group("float16", &pair(0x3e00, 0x7e00)), ("e".into(), expected.clone()));
    assert_eq!(group("bfloat16", &pair(0x3fc0, 0x7fc0)), ("f".into(), expected.clone()));
    assert_eq!(group("float8_e4m3fn", &[0x3c, 0x7f]), ("f".into(), expected));
}

#[test]
fn time_spans_in_their_unit() {
    let span = |unit: &str| {
        format!("{{\"name\":\"numpy.timedelta64\",\"configuration\":{{\"unit\":\"{unit}\",\"scale_factor\":1}}}}")
    };
    assert_eq!(stored(&span("s"), &[], &[5_i64, i64::MIN]), ("tDs".into(), some(&["5", "null"])));
    assert_eq!(stored(&span("h"), &[], &[2_i64, i64::MIN]), ("tDs".into(), some(&["7200", "null"])));
    assert_eq!(stored(&span("ns"), &[], &[2_i64, -1]), ("tDn".into(), some(&["2", "-1"])));
}

#[test]
fn missing_strings_bools_and_raw_bytes_are_null() {
    let group = group();
    let array = NewArray::new(&[2], "string").dimension_names(&["x"]).codecs("vlen-utf8").unwrap();
    add(&group, "v", array.attribute("_FillValue", "-"), &["-".to_owned(), "a".to_owned()]);
    assert_eq!(column(&group), ("vu".into(), some(&["null", "a"])));
    let group = crate::group();
    add(&group, "v", new(&[2], "bool", &["x"]).attribute("_FillValue", true), &[true, false]);
    assert_eq!(column(&group), ("b".into(), some(&["null", "false"])));
    let group = crate::group();
    add_items(&group, new(&[2], "r16", &["x"]).attribute("missing_value", "ab"), b"abcd");
    assert_eq!(column(&group), ("w:2".into(), some(&["null", "[99, 100]"])));
}

#[test]
fn strings_of_a_fixed_length() {
    let utf32 = r#"{"name":"fixed_length_utf32","configuration":{"length_bytes":16}}"#;
    assert_eq!(stored(utf32, &[], &["né".to_owned(), String::new()]), ("U".into(), some(&["né", ""])));
    let bytes = r#"{"name":"null_terminated_bytes","configuration":{"length_bytes":3}}"#;
    let (format, found) = stored(bytes, &[], &[b"ab".to_vec(), b"abc".to_vec()]);
    assert_eq!((format.as_str(), found), ("Z", some(&["ab", "abc"])));
}

#[test]
fn complex_numbers_and_structs() {
    let group = group();
    let complex = new(&[2], "complex64", &["x"]);
    let array = group.create_array("v", complex).unwrap();
    let items: Vec<u8> = [1.0_f32, 2.0, f32::NAN, f32::NAN].iter().flat_map(|part| part.to_ne_bytes()).collect();
    let data = zarr_array::ArrayData::from_items(array.data_type(), &[2], &items, None).unwrap();
    array.write(.., &data).unwrap();
    assert_eq!(column(&group), ("+s".into(), some(&["1;2", "null"])));

    let group = crate::group();
    let record = r#"{"name":"struct","configuration":{"fields":[{"name":"id","data_type":"int16"},
        {"name":"place","data_type":"float32"}]}}"#;
    let array = group.create_array("v", new(&[3], record, &["x"])).unwrap();
    let items: Vec<u8> = (1..4_i16).flat_map(|id| [&id.to_ne_bytes()[..], &0.5_f32.to_ne_bytes()].concat()).collect();
    let data = zarr_array::ArrayData::from_items(array.data_type(), &[3], &items, None).unwrap();
    array.write(.., &data).unwrap();
    assert_eq!(column(&group), ("+s".into(), some(&["1;0.5", "2;0.5", "3;0.5"])));
    // Batches that begin in the middle of what was read.
    let dataset = Dataset::open(&group).unwrap();
    let (columns, _) = crate::decoded::read(table(&dataset, &TableOptions::default().batch_rows(2)));
    assert_eq!(columns[1].1, some(&["1;0.5", "2;0.5", "3;0.5"]));
}

#[test]
fn encodings_of_coordinates() {
    let group = group();
    add(&group, "x", new(&[2], "float64", &["x"]), &[1.0, 2.0]);
    add(&group, "y", new(&[3], "float64", &["y"]), &[1.0, 2.0, 3.0]);
    add(&group, "v", new(&[2, 3], "int32", &["x", "y"]), &[0; 6]);
    // Their values may repeat and be null.
    add(&group, "wx", new(&[2], "float32", &["x"]), &[f32::NAN; 2]);
    add(&group, "wy", new(&[3], "float32", &["y"]), &[f32::NAN; 3]);
    let formats = |coordinates| {
        let dataset = Dataset::open(&group).unwrap();
        let batches = table(&dataset, &TableOptions::default().coordinates(coordinates));
        let fields = batches.schema().fields().iter();
        fields
            .map(|field| format!("{}{}", field.format(), if field.dictionary().is_some() { "d" } else { "" }))
            .collect::<Vec<_>>()
    };
    assert_eq!(formats(Coordinates::Plain), ["g", "g", "i", "f", "f"]);
    assert_eq!(formats(Coordinates::Dictionary), ["id", "id", "i", "f", "f"]);
    assert_eq!(formats(Coordinates::RunEnd), ["+r", "id", "i", "+r", "f"]);
}

#[test]
fn arguments_that_are_no_table() {
    let group = group();
    add(&group, "cov", new(&[2, 2], "int32", &["x", "x"]), &[0; 4]);
    let dataset = Dataset::open(&group).unwrap();
    let message = |options: &TableOptions| Batches::new(&dataset, options).unwrap_err().message().to_owned();
    let twice = "variable cov: found dimension x twice, expected dimensions that differ in a table";
    assert_eq!(message(&TableOptions::default()), twice);
    assert_eq!(message(&TableOptions::default().batch_rows(0)), "found batches of 0 rows, expected at least 1");
    assert!(message(&TableOptions::default().variables(["nope"])).contains("nope"));
    let none = "found no variables and no dimensions, expected at least one column";
    assert_eq!(message(&TableOptions::default().variables(Vec::<String>::new())), none);
    add(&group, "v", new(&[2], "int32", &["x"]), &[0; 2]);
    let dataset = Dataset::open(&group).unwrap();
    let error = Batches::new(&dataset, &TableOptions::default().variables(["v", "v"])).unwrap_err();
    assert_eq!(error.message(), "found two columns v, expected names that differ");
    let none = TableOptions::default().variables(Vec::<String>::new());
    assert_eq!(message(&none.clone().dimensions(["y"])), "found dimension \"y\", which the data set lacks");
    assert_eq!(message(&none.dimensions(["x", "x"])), "found dimension \"x\" twice");
}

#[test]
fn dimensions_in_another_order() {
    let group = group();
    add(&group, "v", new(&[2, 3], "int32", &["x", "y"]), &[1, 2, 3, 4, 5, 6]);
    let dataset = Dataset::open(&group).unwrap();
    let options = TableOptions::default().dimensions(["y", "x"]);
    let (columns, _) = crate::decoded::read(table(&dataset, &options));
    assert_eq!(columns[2], ("v".to_owned(), some(&["1", "4", "2", "5", "3", "6"])));
    // Labels alone.
    let (columns, _) = crate::decoded::read(table(&dataset, &options.clone().variables(Vec::<String>::new())));
    assert_eq!(columns.len(), 2);
    assert_eq!(columns[0].1, some(&["0", "0", "1", "1", "2", "2"]));
    let error = Batches::new(&dataset, &options.dimensions(["y"])).unwrap_err();
    assert_eq!(error.message(), "found dimensions [\"y\"], expected \"x\" among them");
}

#[test]
fn values_of_another_size_are_none() {
    let group = group();
    add(&group, "a", new(&[4], "int32", &["x"]), &[1, 2, 3, 4]);
    add(&group, "b", new(&[4], "bool", &["x"]), &[true; 4]);
    add(&group, "c", new(&[4], "float64", &["x"]), &[0.5; 4]);
    let batch = table(&Dataset::open(&group).unwrap(), &TableOptions::default()).next().unwrap().unwrap();
    let [_, ints, bools, floats] = batch.columns() else { unreachable!() };
    assert_eq!(ints.values::<i32>(), Some(&[1, 2, 3, 4][..]));
    assert_eq!((ints.values::<i16>(), ints.values::<i64>()), (None, None));
    assert_eq!((bools.values::<u8>(), floats.values::<f32>()), (None, None));
}

#[test]
fn a_coordinate_with_the_name_of_a_dimension_it_does_not_label() {
    let group = group();
    add(&group, "lat", new(&[2, 3], "float64", &["lat", "lon"]), &[0.5; 6]);
    add(&group, "v", new(&[2, 3], "int32", &["lat", "lon"]).attribute("coordinates", "lat"), &[0; 6]);
    let error = Batches::new(&Dataset::open(&group).unwrap(), &TableOptions::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Argument);
    assert_eq!(error.message(), "found two columns lat, expected names that differ");
}

/// Adds a variable `v` along `x` with elements of these bytes.
fn add_items(group: &Group, new: NewArray, items: &[u8]) {
    let array = group.create_array("v", new).unwrap();
    let len = items.len() / array.data_type().item_size();
    let data = zarr_array::ArrayData::from_items(array.data_type(), &[len as u64], items, None).unwrap();
    array.write(.., &data).unwrap();
}

#[test]
fn missing_elements_of_optional_are_null() {
    let float = r#"{"name":"optional","configuration":{"name":"float32"}}"#;
    let group = group();
    let item = |present: u8, value: f32| [&[present][..], &value.to_ne_bytes()].concat();
    let items = [item(1, 0.5), item(0, 0.0), item(1, f32::NAN), item(1, 0.0)].concat();
    add_items(&group, new(&[4], float, &["x"]), &items);
    assert_eq!(column(&group), ("f".into(), some(&["0.5", "null", "null", "0"])));
    // Repeated along another dimension, in parts.
    add(&group, "wide", new(&[4, 2], "int8", &["x", "y"]), &[0_i8; 8]);
    let options = TableOptions::default().variables(["v", "wide"]).batch_rows(3);
    let (columns, _) = crate::decoded::read(table(&Dataset::open(&group).unwrap(), &options));
    assert_eq!(columns[2].1, some(&["0.5", "0.5", "null", "null", "null", "null", "0", "0"]));
    let options = TableOptions::default().variables(["v"]).nan_is_null(false);
    let (columns, _) = crate::decoded::read(table(&Dataset::open(&group).unwrap(), &options));
    assert_eq!(columns[1].1, some(&["0.5", "null", "NaN", "0"]));

    let record = r#"{"name":"struct","configuration":{"fields":[{"name":"id","data_type":"int8"},
        {"name":"place","data_type":{"name":"optional","configuration":{"name":"uint8"}}}]}}"#;
    let group = crate::group();
    add_items(&group, new(&[2], record, &["x"]), &[1, 1, 7, 2, 0, 0]);
    assert_eq!(column(&group), ("+s".into(), some(&["1;7", "2;null"])));
}

#[test]
fn a_value_that_arrow_cannot_hold_has_its_index_and_chunk() {
    let group = group();
    let utf32 = r#"{"name":"fixed_length_utf32","configuration":{"length_bytes":4}}"#;
    let array = group.create_array("v", new(&[4, 2], utf32, &["x", "y"]).chunks(&[2, 2])).unwrap();
    let items: Vec<u8> = (0..8_u32).flat_map(|at| if at == 5 { 0x11_0000 } else { 97 + at }.to_ne_bytes()).collect();
    array.write(.., &zarr_array::ArrayData::from_items(array.data_type(), &[4, 2], &items, None).unwrap()).unwrap();
    add(&group, "wide", new(&[2, 4, 2], "int8", &["z", "x", "y"]), &[0_i8; 16]);
    let dataset = Dataset::open(&group).unwrap().isel("x", 1..4).unwrap();
    for (name, coordinates) in [("v", Coordinates::Plain), ("wide", Coordinates::Plain), ("wide", Coordinates::RunEnd)]
    {
        let options = TableOptions::default().variables(BTreeSet::from(["v", name])).coordinates(coordinates);
        let mut batches = table(&dataset, &options);
        let error = batches.find_map(Result::err).unwrap();
        assert_eq!(error.kind(), ErrorKind::CorruptChunk);
        let expected = "variable v: element [2, 1]: found the code point 0x110000, expected a character of Unicode";
        assert_eq!(error.message(), expected);
        assert_eq!(error.location().chunk.as_deref(), Some(&[1, 0][..]));
    }

    let record = format!(r#"{{"name":"struct","configuration":{{"fields":[{{"name":"id","data_type":{utf32}}}]}}}}"#);
    let group = crate::group();
    add_items(&group, new(&[2], &record, &["x"]), &[97_u32.to_ne_bytes(), 0xd800_u32.to_ne_bytes()].concat());
    let error = table(&Dataset::open(&group).unwrap(), &TableOptions::default()).next().unwrap().unwrap_err();
    assert!(error.message().starts_with("variable v: element [1]: field id: found the code point 0xd800"), "{error}");
}

#[test]
fn names_that_c_cannot_have() {
    let message = |group: &Group| {
        let dataset = Dataset::open(group).unwrap();
        Batches::new(&dataset, &TableOptions::default()).unwrap_err().message().to_owned()
    };
    let group = group();
    add(&group, "v", new(&[2], "int8", &["x\0y"]), &[0_i8; 2]);
    assert_eq!(message(&group), "found the name \"x\\0y\", expected one without NULs");
    let record = r#"{"name":"struct","configuration":{"fields":[{"name":"a\u0000","data_type":"int8"}]}}"#;
    let group = crate::group();
    add_items(&group, new(&[2], record, &["x"]), &[0; 2]);
    assert_eq!(message(&group), "variable v: found the name \"a\\0\", expected one without NULs");
}

#[test]
fn dimensions_are_those_of_the_variable_with_the_most() {
    let group = group();
    add(&group, "a", new(&[3], "int8", &["x"]), &[1_i8, 2, 3]);
    add(&group, "b", new(&[2, 3], "int8", &["y", "x"]), &[0_i8; 6]);
    let dataset = Dataset::open(&group).unwrap();
    let first: Vec<_> = dataset.dimensions().iter().map(|dimension| dimension.name.as_str()).collect();
    assert_eq!(first, ["x", "y"]);
    let batches = table(&dataset, &TableOptions::default());
    assert_eq!(batches.dimensions(), [("y".to_owned(), 2), ("x".to_owned(), 3)]);
    let (columns, _) = crate::decoded::read(batches);
    assert_eq!(columns[2].1, some(&["1", "2", "3", "1", "2", "3"]));
}
