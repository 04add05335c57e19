//! Conversions that keep the meaning that nodes have to xarray and netCDF-C.

use super::store::{Store, changed};
use zarr_json::{Value, json};
use zarr_meta::conventions::missing_data_difference;
use zarr_meta::{ArrayMetadata, Dialect, ForDialect, Node, Note, StoredNode, documents, documents_with_nan_literals};

const ZARRAY: &str = r#"{"zarr_format":2,"shape":[4],"chunks":[2],"dtype":"<f4","compressor":null,"fill_value":null,
    "order":"C","filters":null}"#;
const NAMED: &str = r#"{"_ARRAY_DIMENSIONS":["x"]}"#;
const V3: &str = r#"{"zarr_format":3,"node_type":"array","shape":[4],"data_type":"float32",
    "chunk_grid":{"name":"regular","configuration":{"chunk_shape":[2]}},
    "chunk_key_encoding":{"name":"default","configuration":{"separator":"/"}},"fill_value":0,
    "codecs":[{"name":"bytes","configuration":{"endian":"little"}}],"attributes":{},"dimension_names":["x"]}"#;

fn v2(zarray: &str, attributes: &str) -> StoredNode {
    Store::with(&[(".zarray", &changed(ZARRAY, zarray)), (".zattrs", &changed(NAMED, attributes))]).found("/")
}

fn v3(changes: &str) -> StoredNode {
    Store::with(&[("zarr.json", &changed(V3, changes))]).found("/")
}

fn by_meaning(node: &Node, from: Dialect, to: Dialect) -> (ArrayMetadata, Vec<Note>) {
    let (node, notes) = ForDialect::new(from, to).meaning(true).convert(node).unwrap();
    documents_with_nan_literals(to, &zarr_meta::NodePath::root(), &node, None).unwrap();
    let Node::Array(array) = node else { unreachable!("an array stays one") };
    (array, notes)
}

fn to_v3(found: &StoredNode) -> ArrayMetadata {
    by_meaning(&found.node, Dialect::V2, Dialect::V3).0
}

fn to_v2(found: &StoredNode) -> ArrayMetadata {
    by_meaning(&found.node, Dialect::V3, Dialect::V2).0
}

/// A fill value of version 2 was no mark of missing data in version 3, unless an option was given.
#[test]
fn masks_of_version_2_become_the_attribute_and_come_back() {
    let cases = [
        ("<f4", "-999.0", json!("AAAAAAA4j8A=")),
        ("<f4", "\"NaN\"", json!("AAAAAAAA+H8=")),
        (">f8", "\"Infinity\"", json!("AAAAAAAA8H8=")),
        ("<c8", "[3.0, 0.0]", json!(["AAAAAAAACEA=", "AAAAAAAAAAA="])),
        ("<i2", "-99", json!(-99)),
        ("|b1", "false", json!(false)),
    ];
    for (dtype, fill, attribute) in cases {
        let found = v2(&format!(r#"{{"dtype":"{dtype}","fill_value":{fill}}}"#), "{}");
        let array = to_v3(&found);
        assert_eq!(array.attributes.get("_FillValue"), Some(&attribute), "{dtype}");
        let before = found.node.as_array().unwrap();
        assert_eq!(array.fill_value, before.fill_value, "{dtype}");
        assert_eq!(missing_data_difference((before, Dialect::V2), (&array, Dialect::V3)), None, "{dtype}");
        let (back, _) = by_meaning(&Node::Array(array), Dialect::V3, Dialect::V2);
        assert_eq!((&back.fill_value, back.attributes.get("_FillValue")), (&before.fill_value, None), "{dtype}");
    }
}

/// Null became 0 on the way back, so that the first time of a data set was missing.
#[test]
fn null_becomes_zero_and_null_again() {
    for (dtype, zero) in [("<f4", json!(0.0)), ("<i8", json!(0)), ("|b1", json!(false)), ("<U2", json!(""))] {
        let array = to_v3(&v2(&format!(r#"{{"dtype":"{dtype}"}}"#), "{}"));
        assert!(array.fill_value.as_ref().unwrap().semantically_eq(&zero), "{dtype}: {:?}", array.fill_value);
        assert!(array.attributes.is_empty(), "{dtype}");
        let (back, _) = by_meaning(&Node::Array(array), Dialect::V3, Dialect::V2);
        assert_eq!(back.fill_value, None, "{dtype}");
    }
}

/// The fill value of version 3, which means nothing, marked missing data in version 2.
#[test]
fn fill_values_of_version_3_mark_nothing_in_version_2() {
    for (data_type, fill) in [("int64", "0"), ("bool", "false"), ("string", "\"\""), ("float32", "0.0")] {
        let serializer = if data_type == "string" { "vlen-utf8" } else { "bytes" };
        let changes = format!(r#"{{"data_type":"{data_type}","fill_value":{fill},"codecs":["{serializer}"]}}"#);
        assert_eq!(to_v2(&v3(&changes)).fill_value, None, "{data_type}");
    }
    let marked = to_v2(&v3(r#"{"attributes":{"_FillValue":"AAAAAAA4j8A=","units":"K"}}"#));
    assert_eq!(marked.fill_value.as_ref().and_then(Value::as_f64), Some(-999.0));
    assert_eq!(marked.attributes.keys().collect::<Vec<_>>(), ["units", "_ARRAY_DIMENSIONS"]);
    // NaN is missing in any case; chunks of it that are not stored stay so.
    assert_eq!(to_v2(&v3(r#"{"fill_value":"NaN"}"#)).fill_value, Some(json!("NaN")));
}

/// A value that is none of the type stays in the attribute, by which xarray goes where the fill value is null.
#[test]
fn an_attribute_beyond_the_type_stays() {
    let (array, _) =
        by_meaning(&v3(r#"{"data_type":"int8","attributes":{"_FillValue":300}}"#).node, Dialect::V3, Dialect::V2);
    assert_eq!((&array.fill_value, array.attributes.get("_FillValue")), (&None, Some(&json!(300))));
    let (back, _) = by_meaning(&Node::Array(array), Dialect::V2, Dialect::V3);
    assert_eq!(back.attributes.get("_FillValue"), Some(&json!(300)));
}

/// netCDF-C writes `_FillValue` as a number beside the fill value; of a float xarray refused to open that in version 3.
#[test]
fn numbers_of_netcdf_become_base64_and_its_own_members_are_left_out() {
    let attributes = r#"{"_FillValue":-9.5,"_NCZARR_ATTR":{"types":{"_FillValue":"<f4"}},"units":"m"}"#;
    let zarray = r#"{"fill_value":-9.5,"_NCZARR_ARRAY":{"dimrefs":["/x"],"storage":"chunked"}}"#;
    let found = v2(zarray, attributes);
    let (array, notes) = by_meaning(&found.node, Dialect::V2, Dialect::V3);
    assert_eq!(array.attributes.to_string(), r#"{"_FillValue":"AAAAAAAAI8A=","units":"m"}"#);
    assert!(array.extra.is_empty() && notes.iter().all(|note| !note.is_loss), "{notes:?}");
    // The attribute alone, as a list of one.
    let alone = to_v3(&v2("{}", r#"{"_FillValue":[-9.5],"_nczarr_array":{"storage":"chunked"}}"#));
    assert_eq!(alone.attributes.to_string(), r#"{"_FillValue":"AAAAAAAAI8A="}"#);
    // Several values are what `missing_value` may have.
    let several = to_v3(&v2(r#"{"dtype":"<i4"}"#, r#"{"_FillValue":[1,2]}"#));
    assert_eq!(several.attributes.to_string(), r#"{"missing_value":[1,2]}"#);
    let text = r#"{"zarr_format":2,"_NCZARR_GROUP":{"vars":["a"]},"_NCZARR_SUPERBLOCK":{"version":"2.0.0"}}"#;
    let group = Store::with(&[(".zgroup", text), (".zattrs", r#"{"_nczarr_attr":{},"title":"t"}"#)]).found("/").node;
    let (group, _) = ForDialect::new(Dialect::V2, Dialect::V3).meaning(true).convert(&group).unwrap();
    assert_eq!(group.attributes().to_string(), r#"{"title":"t"}"#);
    // Carried, they come back.
    let carry = |node: &Node, from, to| ForDialect::new(from, to).meaning(true).carry(true).convert(node).unwrap().0;
    let back = carry(&carry(&found.node, Dialect::V2, Dialect::V3), Dialect::V3, Dialect::V2);
    assert!(back.attributes().contains_key("_NCZARR_ATTR"), "{}", back.attributes());
    assert!(back.as_array().unwrap().extra.contains_key("_NCZARR_ARRAY"));
}

/// xarray decodes no `_FillValue` of strings, and raised an error where one was written.
// clause: xarray-27
#[test]
fn strings_are_marked_by_missing_value() {
    for (dtype, filters) in [("<U2", "null"), ("|O", r#"[{"id":"vlen-utf8"}]"#)] {
        let zarray = format!(r#"{{"dtype":"{dtype}","filters":{filters},"fill_value":"c"}}"#);
        for (attributes, expected) in [
            ("{}", r#"{"missing_value":"c"}"#),
            (r#"{"missing_value":"d"}"#, r#"{"missing_value":["d","c"]}"#),
            (r#"{"_FillValue":"e"}"#, r#"{"missing_value":"c"}"#),
        ] {
            let found = v2(&zarray, attributes);
            let array = to_v3(&found);
            assert_eq!(array.attributes.to_string(), expected, "{dtype}");
            let before = found.node.as_array().unwrap();
            assert_eq!(missing_data_difference((before, Dialect::V2), (&array, Dialect::V3)), None, "{dtype}");
            let (back, _) = by_meaning(&Node::Array(array), Dialect::V3, Dialect::V2);
            assert_eq!(back.fill_value, Some(json!("c")), "{dtype}");
            assert_eq!(back.attributes.get("missing_value"), before.attributes.get("missing_value"), "{dtype}");
        }
        // One that was there alone is no fill value.
        let array = to_v3(&v2(&zarray.replace("\"c\"", "null"), r#"{"missing_value":"c"}"#));
        let (back, _) = by_meaning(&Node::Array(array), Dialect::V3, Dialect::V2);
        assert_eq!((back.fill_value, back.attributes.get("missing_value")), (None, Some(&json!("c"))), "{dtype}");
    }
    // Of bytes nothing says it.
    let found = v2(r#"{"dtype":"|S2","fill_value":"Yw=="}"#, "{}");
    let array = to_v3(&found);
    assert!(array.attributes.is_empty());
    let before = found.node.as_array().unwrap();
    let difference = missing_data_difference((before, Dialect::V2), (&array, Dialect::V3)).unwrap();
    assert!(difference.contains("\"Yw==\" no longer marks missing data"), "{difference}");
}

#[test]
fn where_chunks_are_missing_the_fill_value_stays() {
    let found = v3(r#"{"fill_value":7,"attributes":{"_FillValue":"AAAAAAA4j8A="}}"#);
    let fit = ForDialect::new(Dialect::V3, Dialect::V2).meaning(true).keep_fill_value(true);
    let (node, _) = fit.convert(&found.node).unwrap();
    let array = node.as_array().unwrap();
    assert_eq!(array.fill_value.as_ref().and_then(Value::as_f64), Some(7.0));
    let difference =
        missing_data_difference((found.node.as_array().unwrap(), Dialect::V3), (array, Dialect::V2)).unwrap();
    assert!(difference.contains("-999.0 no longer") && difference.contains("7.0 now marks"), "{difference}");
}

/// The fill value of version 3, which means nothing there, has no place in version 2.
#[test]
fn a_fill_value_without_meaning_is_carried() {
    for attributes in ["{}", r#"{"_FillValue":"AAAAAAA4j8A="}"#] {
        let found = v3(&format!(r#"{{"fill_value":7,"attributes":{attributes}}}"#));
        let carry =
            |node: &Node, from, to| ForDialect::new(from, to).meaning(true).carry(true).convert(node).unwrap().0;
        let v2 = carry(&found.node, Dialect::V3, Dialect::V2);
        let carried = v2.attributes().get("_zarr_carried").unwrap();
        assert_eq!(carried.to_string(), r#"{"dialect":"v3","members":{"fill_value":7}}"#);
        let back = carry(&v2, Dialect::V2, Dialect::V3);
        let fill = |node: &Node| node.as_array().unwrap().fill_value.clone();
        assert_eq!((fill(&back), back.attributes()), (fill(&found.node), found.node.attributes()));
    }
}

/// To the letter, and a warning of what xarray makes of that.
#[test]
fn the_letter_of_documents() {
    let literal = |node: &Node, from, to| ForDialect::new(from, to).convert(node).unwrap().0;
    let found = v2(r#"{"fill_value":-9.5}"#, r#"{"_FillValue":-9.5}"#);
    let node = literal(&found.node, Dialect::V2, Dialect::V3);
    assert_eq!(node.attributes().get("_FillValue"), Some(&json!(-9.5)));
    let of = |found: &StoredNode, node: &Node, from, to| {
        missing_data_difference((found.node.as_array().unwrap(), from), (node.as_array().unwrap(), to))
    };
    let warning = of(&found, &node, Dialect::V2, Dialect::V3).unwrap();
    assert!(warning.starts_with("/attributes/_FillValue: xarray cannot decode -9.5 for \"float32\""), "{warning}");
    let found = v3("{}");
    let warning = of(&found, &literal(&found.node, Dialect::V3, Dialect::V2), Dialect::V3, Dialect::V2).unwrap();
    assert_eq!(warning, "/fill_value: 0.0 now marks missing data to xarray; before it did not");
}

/// xarray writes `NaN` and `Infinity` as they are, in both versions; as strings they meant something else, also behind a draft.
#[test]
fn numbers_that_json_does_not_have_stay_numbers() {
    let attributes = r#"{"_ARRAY_DIMENSIONS":["x"],"valid_max":Infinity,"odd":[NaN,1.5]}"#;
    let found = Store::with(&[(".zarray", ZARRAY), (".zattrs", attributes)]).found("/");
    let (node, notes) = ForDialect::new(Dialect::V2, Dialect::V3).meaning(true).convert(&found.node).unwrap();
    assert_eq!(node.attributes().to_string(), r#"{"valid_max":Infinity,"odd":[NaN,1.5]}"#);
    assert!(!notes.iter().any(|note| note.what.contains("string")), "{notes:?}");
    let written = documents_with_nan_literals(Dialect::V3, &found.path, &node, None).unwrap();
    let text = String::from_utf8(written[0].1.clone().unwrap()).unwrap();
    assert!(text.contains("\"valid_max\": Infinity"), "{text}");
    assert!(documents(Dialect::V3, &found.path, &node, None).is_err());
    let again = Store::with(&[("zarr.json", &text)]).found("/");
    let (back, _) = ForDialect::new(Dialect::V3, Dialect::V2).meaning(true).convert(&again.node).unwrap();
    assert!(Value::from(back.attributes().clone()).semantically_eq(&Value::from(found.node.attributes().clone())));
    for draft in [Dialect::V3Protocol2019, Dialect::V3Protocol2020, Dialect::V3Draft2022] {
        let (between, _) = ForDialect::new(Dialect::V2, draft).meaning(true).convert(&found.node).unwrap();
        documents_with_nan_literals(draft, &zarr_meta::NodePath::root(), &between, None).unwrap();
        let (back, _) = ForDialect::new(draft, Dialect::V2).meaning(true).convert(&between).unwrap();
        assert!(Value::from(back.attributes().clone()).semantically_eq(&Value::from(found.node.attributes().clone())));
    }
}

/// Names that xarray cannot take were ignored without a word.
#[test]
fn names_of_dimensions_that_are_none_are_reported() {
    let found = |attributes: &str| Store::with(&[(".zarray", ZARRAY), (".zattrs", attributes)]).found("/");
    for (attributes, what) in [
        (r#"{"_ARRAY_DIMENSIONS":["x","y"]}"#, "2 names, expected a name for each of 1 dimensions; it names none"),
        (r#"{"_ARRAY_DIMENSIONS":"x"}"#, "\"x\", expected a name for each of 1 dimensions; it names none"),
        (r#"{"_ARRAY_DIMENSIONS":[null]}"#, "[null], expected a name for each of 1 dimensions; it names none"),
    ] {
        let found = found(attributes);
        assert_eq!(found.node.as_array().unwrap().dimension_names, None, "{attributes}");
        let [warning] = found.warnings.as_slice() else { panic!("{:?}", found.warnings) };
        assert_eq!((warning.key.as_str(), warning.pointer.as_str()), (".zattrs", "/_ARRAY_DIMENSIONS"));
        assert_eq!(warning.what, what);
    }
    assert!(found(NAMED).warnings.is_empty() && found("{}").warnings.is_empty());
}
