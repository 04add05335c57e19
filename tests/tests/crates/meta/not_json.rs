//! Attributes of Python that are no JSON, or no Unicode text: `NaN` and `Infinity` literals, and surrogates that are no pair.

use super::store::Store;
use zarr_json::{Map, Number, Value, json};
use zarr_meta::{
    Consolidated, Dialect, ErrorKind, Node, NodePath, StoredNode, documents, for_dialect, for_dialect_carrying,
    for_dialect_from,
};

const ZARRAY: &str = r#"{"zarr_format":2,"shape":[4],"chunks":[2],"dtype":"<f4","fill_value":NaN,"order":"C","filters":null,"compressor":null}"#;

/// As `json.dump` of Python writes it.
const ATTRIBUTES: &str =
    r#"{"_FillValue":NaN,"range":[-Infinity,{"most":Infinity}],"text":"NaN","\ud800":"a\udcffb","number":1.50E+2}"#;

fn v2() -> Store {
    Store::with(&[(".zarray", ZARRAY), (".zattrs", ATTRIBUTES)])
}

fn v3() -> Store {
    let text = format!(
        r#"{{"zarr_format":3,"node_type":"array","shape":[4],"data_type":"float32","fill_value":"NaN",
            "chunk_grid":{{"name":"regular","configuration":{{"chunk_shape":[2]}}}},"codecs":["bytes"],
            "chunk_key_encoding":{{"name":"default"}},"attributes":{ATTRIBUTES}}}"#
    );
    Store::with(&[("zarr.json", &text)])
}

/// The attributes of a node as compact JSON.
fn shown(node: &Node) -> String {
    Value::Object(node.attributes().clone()).to_string()
}

/// The attributes with one more.
fn with_one_more() -> String {
    format!("{},\"b\":1}}", ATTRIBUTES.strip_suffix('}').unwrap())
}

/// The document at `key` as it is to be when the attribute `b` is set.
fn set(store: &Store, key: &str) -> String {
    let found = store.found("/");
    let mut node = found.node.clone();
    node.attributes_mut().insert("b", 1);
    let changes = documents(found.dialect, &found.path, &node, Some(&found.documents)).unwrap();
    let (_, bytes) = changes.into_iter().find(|(changed, _)| changed == key).unwrap();
    let text = String::from_utf8(bytes.unwrap()).unwrap();
    let mut after = Store(store.0.clone());
    after.apply(vec![(key.to_owned(), Some(text.clone().into_bytes()))]);
    assert_eq!(after.found("/").node, node);
    text
}

/// JSON without line ends and the spaces that come with them.
fn compact(text: &str) -> String {
    text.lines().map(str::trim).collect::<String>().replace("\": ", "\":").replace(", ", ",")
}

#[test]
fn they_are_read_with_warnings() {
    let found = v2().found("/");
    assert_eq!(shown(&found.node), ATTRIBUTES);
    assert_eq!(found.node.attributes().get("_FillValue"), Some(&Value::Number(Number::NAN)));
    let mut reported: Vec<_> = found.warnings.iter().map(|warning| (warning.key.as_str(), &*warning.pointer)).collect();
    reported.retain(|(key, _)| *key == ".zattrs");
    let pointers = ["/_FillValue", "/range/0", "/range/1/most", "/\\ud800", "/\\ud800"];
    assert_eq!(reported, pointers.map(|pointer| (".zattrs", pointer)));
    let found = v3().found("/");
    assert_eq!(shown(&found.node), ATTRIBUTES);
    assert_eq!(found.warnings.len(), 5, "{:?}", found.warnings);
    // Elsewhere than in attributes they are an error in version 3.
    for (is, odd) in [("\"float32\"", r#""float\ud832""#), ("\"NaN\"", "NaN"), ("\"NaN\"", r#""\ud800""#)] {
        let text = String::from_utf8(v3().0["zarr.json"].clone()).unwrap().replacen(is, odd, 1);
        let error = Store::with(&[("zarr.json", &text)]).probe("/", None).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidJson, "{odd}");
    }
}

#[test]
fn they_stay_when_another_attribute_is_set() {
    assert_eq!(compact(&set(&v2(), ".zattrs")), with_one_more());
    let v3 = compact(&set(&v3(), "zarr.json"));
    assert!(v3.contains(&with_one_more()), "{v3}");
}

#[test]
fn conversions_keep_them_where_the_dialect_has_them() {
    let node = v2().found("/").node;
    for dialect in [Dialect::V0, Dialect::V1, Dialect::V2, Dialect::V3Protocol2020] {
        assert!(dialect.allows_nan_literals());
        let mut node = node.clone();
        if dialect == Dialect::V0 {
            let Node::Array(array) = &mut node else { unreachable!() };
            array.codecs.push(zarr_json::NamedConfig::new("blosc"));
            array.codecs[1].configuration =
                json!({"cname": "lz4", "clevel": 1, "shuffle": "noshuffle", "typesize": 4, "blocksize": 0})
                    .as_object()
                    .cloned()
                    .unwrap();
        }
        let (node, notes) = for_dialect(&node, dialect).unwrap();
        assert_eq!(shown(&node), ATTRIBUTES, "{dialect}");
        assert!(!notes.iter().any(|note| note.pointer.starts_with("/attributes")), "{notes:?}");
        let written = documents(dialect, &NodePath::root(), &node, None).unwrap();
        let stored = written.into_iter().map(|(key, bytes)| (key, bytes.unwrap())).collect();
        let again = StoredNode::read(dialect, NodePath::root(), &stored).unwrap().unwrap();
        assert_eq!(shown(&again.node), ATTRIBUTES, "{dialect}");
    }
}

#[test]
fn conversions_make_texts_of_numbers_where_the_dialect_is_json() {
    let node = v2().found("/").node;
    let texts = ATTRIBUTES
        .replace("[-Infinity", "[\"-Infinity\"")
        .replace(":Infinity", ":\"Infinity\"")
        .replace(":NaN", ":\"NaN\"");
    for dialect in [Dialect::V3Protocol2019, Dialect::V3Draft2022, Dialect::V3Provisional2023, Dialect::V3] {
        assert!(!dialect.allows_nan_literals());
        let (fitted, notes) = for_dialect_from(&node, Dialect::V2, dialect).unwrap();
        assert_eq!(shown(&fitted), texts, "{dialect}");
        let reported: Vec<_> = notes.iter().map(|note| note.pointer.as_str()).collect();
        assert!(
            reported.contains(&"/attributes/_FillValue") && reported.contains(&"/attributes/range"),
            "{reported:?}"
        );
        assert!(!reported.contains(&"/attributes/text"), "{reported:?}");
        documents(dialect, &NodePath::root(), &fitted, None).unwrap();
        // Carried, they are there again on the way back, and the text is still a text.
        let (carried, _) = for_dialect_carrying(&node, Dialect::V2, dialect).unwrap();
        documents(dialect, &NodePath::root(), &carried, None).unwrap();
        let (back, _) = for_dialect_from(&carried, dialect, Dialect::V2).unwrap();
        assert_eq!(shown(&back), ATTRIBUTES, "{dialect}");
    }
}

#[test]
fn a_new_document_of_version_3_has_no_nan_literals_but_one_that_replaces_an_older_has() {
    let found = v3().found("/");
    let error = documents(Dialect::V3, &found.path, &found.node, None).unwrap_err();
    assert_eq!((error.kind(), error.pointer()), (ErrorKind::NotExpressible, "/attributes/_FillValue"));
    let (same, notes) = for_dialect_from(&found.node, Dialect::V3, Dialect::V3).unwrap();
    assert_eq!((shown(&same).as_str(), notes.len()), (ATTRIBUTES, 0));
    let written = documents(Dialect::V3, &found.path, &same, Some(&found.documents)).unwrap();
    assert_eq!(written[0].1.as_deref(), found.documents.get("zarr.json"));
}

#[test]
fn consolidated_metadata_keeps_them() {
    let group = Store::with(&[(".zgroup", r#"{"zarr_format":2}"#), ("a/.zarray", ZARRAY), ("a/.zattrs", ATTRIBUTES)]);
    let nodes = [group.found("/"), group.found("/a")];
    let copy = Consolidated::collect(Dialect::V2, &NodePath::root(), &nodes).unwrap();
    let text = copy.to_v2();
    let again = Consolidated::parse_v2(".zmetadata", &text).unwrap().unwrap();
    assert_eq!(again, copy);
    let path = NodePath::parse("/a").unwrap();
    let node = StoredNode::read(Dialect::V2, path.clone(), &again.nodes(&NodePath::root())[&path]).unwrap().unwrap();
    assert_eq!((shown(&node.node).as_str(), &node.node), (ATTRIBUTES, &nodes[1].node));
    // In the document of a group of version 3.
    let array = String::from_utf8(v3().0["zarr.json"].clone()).unwrap();
    let group = Store::with(&[("zarr.json", r#"{"zarr_format":3,"node_type":"group"}"#), ("a/zarr.json", &array)]);
    let copy = Consolidated::collect(Dialect::V3, &NodePath::root(), &[group.found("/a")]).unwrap();
    let mut found = group.found("/");
    let Node::Group(root) = &mut found.node else { unreachable!() };
    root.consolidated = Some(copy.clone());
    root.attributes = Map::new();
    let written = documents(Dialect::V3, &found.path, &found.node, Some(&found.documents)).unwrap();
    let text = String::from_utf8(written[0].1.clone().unwrap()).unwrap();
    assert!(compact(&text).contains(ATTRIBUTES), "{text}");
    let again = Store::with(&[("zarr.json", &text)]).found("/");
    assert_eq!(again.node.as_group().unwrap().consolidated, Some(copy));
}

/// Editors on Windows put one there, and Python reads it.
#[test]
fn a_byte_order_mark_is_read_in_each_document_of_each_dialect() {
    let blosc = r#"{"id":"blosc","cname":"lz4","clevel":5,"shuffle":1,"blocksize":0}"#;
    let zarray = ZARRAY.replace("\"compressor\":null", &format!("\"compressor\":{blosc}"));
    let node = Store::with(&[(".zarray", &zarray), (".zattrs", r#"{"a":1}"#)]).found("/").node;
    for dialect in Dialect::ALL.into_iter().filter(|dialect| *dialect != Dialect::V3Provisional2023) {
        let (node, _) = for_dialect(&node, dialect).unwrap();
        let path = NodePath::parse(if dialect == Dialect::V2 || dialect == Dialect::V3 { "/a" } else { "/" }).unwrap();
        let written = documents(dialect, &path, &node, None).unwrap();
        let mut plain = Store::default();
        plain.apply(written.clone());
        let before = plain.probe(&path.to_string(), None).unwrap().unwrap();
        for (key, bytes) in &written {
            let mut store = Store(plain.0.clone());
            let marked = ["\u{feff}".as_bytes(), bytes.as_deref().unwrap()].concat();
            store.apply(vec![(key.clone(), Some(marked))]);
            let found = store.probe(&path.to_string(), None).unwrap_or_else(|error| panic!("{dialect}: {error}"));
            let found = found.unwrap_or_else(|| panic!("{dialect}: none for {key}"));
            assert_eq!((found.dialect, &found.node), (dialect, &before.node), "{key}");
            let marks: Vec<_> =
                found.warnings.iter().filter(|warning| warning.what.contains("byte order mark")).collect();
            // The document of the whole hierarchy is read for each node.
            let is_entry = zarr_meta::entry_point_key(dialect) == Some(key.as_str());
            assert!(
                is_entry || marks.iter().any(|warning| warning.key == *key),
                "{dialect} {key}: {:?}",
                found.warnings
            );
            let documents = zarr_meta::corrected(dialect, &path, &found.documents);
            assert_eq!(documents, before.documents, "{dialect} {key}");
        }
    }
}
