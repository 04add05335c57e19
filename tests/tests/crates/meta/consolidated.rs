//! Consolidated metadata.

use super::arbitrary::{attributes, node_v3, value, zarray};
use super::store::Store;
use proptest::prelude::*;
use zarr_json::{Map, Value, json};
use zarr_meta::consolidated::without_consolidated;
use zarr_meta::{Consolidated, Dialect, Error, ErrorKind, Node, NodePath, StoredNode, documents};

const ARRAY2: &str = r#"{"zarr_format":2,"shape":[4],"chunks":[2],"dtype":"<i4","fill_value":0.0,"order":"C","compressor":null,"filters":null}"#;
const ARRAY3: &str = r#"{"zarr_format":3,"node_type":"array","shape":[4],"data_type":"uint8","fill_value":0,
    "chunk_grid":{"name":"regular","configuration":{"chunk_shape":[2]}},
    "chunk_key_encoding":{"name":"default","configuration":{"separator":"/"}},"codecs":[{"name":"bytes"}],"attributes":{"n":1.0}}"#;

fn paths(consolidated: &Consolidated, group: &NodePath) -> Vec<String> {
    consolidated.nodes(group).keys().map(ToString::to_string).collect()
}

fn all(store: &Store, paths: &[&str]) -> Vec<StoredNode> {
    paths.iter().map(|path| store.found(path)).collect()
}

#[test]
fn version_2_there_and_back() {
    let store = Store::with(&[
        ("g/.zgroup", r#"{"zarr_format":2}"#),
        ("g/a/.zarray", ARRAY2),
        ("g/a/.zattrs", r#"{"x":1}"#),
        ("g/h/b/.zarray", ARRAY2),
        ("other/.zgroup", r#"{"zarr_format":2}"#),
    ]);
    let group = NodePath::parse("/g").unwrap();
    let nodes = all(&store, &["/g", "/g/a", "/g/h", "/g/h/b", "/other"]);
    let consolidated = Consolidated::collect(Dialect::V2, &group, &nodes).unwrap();
    assert_eq!(consolidated.documents.keys().collect::<Vec<_>>(), [".zgroup", "a/.zarray", "a/.zattrs", "h/b/.zarray"]);
    assert_eq!(consolidated.documents.get("a/.zarray").unwrap().to_string(), ARRAY2);
    let read = Consolidated::parse_v2("g/.zmetadata", &consolidated.to_v2()).unwrap().unwrap();
    assert_eq!(read, consolidated);
    assert_eq!(paths(&read, &group), ["/g", "/g/a", "/g/h/b"]);
    let a = NodePath::parse("/g/a").unwrap();
    let nodes_read = read.nodes(&group);
    assert_eq!(nodes_read[&a].iter().map(|(key, _)| key).collect::<Vec<_>>(), ["g/a/.zarray", "g/a/.zattrs"]);
    assert_eq!(nodes_read[&group].get("g/.zgroup"), Some(&br#"{"zarr_format":2}"#[..]));
    assert_eq!(without_consolidated(&nodes[0]).unwrap(), [("g/.zmetadata".to_owned(), None)]);
}

#[test]
fn version_3_there_and_back() {
    let store = Store::with(&[
        ("zarr.json", r#"{"zarr_format":3,"node_type":"group"}"#),
        ("a/zarr.json", ARRAY3),
        ("g/zarr.json", r#"{"zarr_format":3,"node_type":"group","consolidated_metadata":null}"#),
        ("g/b/zarr.json", ARRAY3),
    ]);
    let root = NodePath::root();
    let nodes = all(&store, &["/", "/a", "/g", "/g/b"]);
    let consolidated = Consolidated::collect(Dialect::V3, &root, &nodes).unwrap();
    assert_eq!(paths(&consolidated, &root), ["/a", "/g", "/g/b"]);
    let mut node = nodes[0].node.clone();
    if let Node::Group(group) = &mut node {
        group.consolidated = Some(consolidated.clone());
    }
    let mut written = Store(store.0.clone());
    written.apply(documents(Dialect::V3, &root, &node, Some(&nodes[0].documents)).unwrap());
    let found = written.found("/");
    assert_eq!(found.node, node);
    assert!(found.warnings.is_empty());
    assert!(consolidated.nodes(&root)[&NodePath::parse("/g/b").unwrap()].get("g/b/zarr.json").is_some());
    // Without it the member is gone.
    let plain = without_consolidated(&found).unwrap();
    assert!(!String::from_utf8(plain[0].1.clone().unwrap()).unwrap().contains("consolidated"));
    assert!(without_consolidated(&nodes[0]).unwrap().is_empty());
}

#[test]
fn names_that_lead_out_are_left_out() {
    let document = r#"{"zarr_consolidated_format":1,"metadata":{".zgroup":{"zarr_format":2},"../e/.zarray":{},
        "a/../../e/.zgroup":{},"/abs/.zgroup":{},"ok/.zgroup":{"zarr_format":2},"ok/0.0":{}}}"#;
    let read = Consolidated::parse_v2(".zmetadata", document.as_bytes()).unwrap().unwrap();
    assert_eq!(read.documents.keys().collect::<Vec<_>>(), [".zgroup", "ok/.zgroup"]);
    assert_eq!(read.refused.len(), 3);
    assert_eq!(read.check().unwrap_err().kind(), ErrorKind::Path);
    let inline = r#"{"zarr_format":3,"node_type":"group","consolidated_metadata":
        {"kind":"inline","must_understand":false,"metadata":{"../e":{},"ok":{"consolidated_metadata":{}},"":{}}}}"#;
    let found = Store::with(&[("zarr.json", inline)]).found("/");
    let read = found.node.as_group().unwrap().consolidated.clone().unwrap();
    assert_eq!((read.refused.len(), found.warnings.len()), (2, 2));
    assert_eq!(read.documents.iter().collect::<Vec<_>>(), [("ok/zarr.json", json!({}))]);
}

#[test]
fn other_forms() {
    let other = r#"{"zarr_consolidated_format":2,"metadata":{}}"#;
    assert_eq!(Consolidated::parse_v2("k", other.as_bytes()).unwrap(), None);
    assert_eq!(Consolidated::parse_v2("k", b"[]").unwrap_err().kind(), ErrorKind::InvalidMetadata);
    assert_eq!(Consolidated::parse_v2("k", b"{").unwrap_err().kind(), ErrorKind::InvalidJson);
    let kind = |must: &str| {
        format!(r#"{{"zarr_format":3,"node_type":"group","consolidated_metadata":{{"kind":"far"{must}}}}}"#)
    };
    let found = Store::with(&[("zarr.json", &kind(r#","must_understand":false"#))]).found("/");
    assert!(found.node.as_group().unwrap().extra.contains_key("consolidated_metadata"));
    let error = Store::with(&[("zarr.json", &kind(""))]).probe("/", None).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UnknownExtension);
}

/// The result, in all its parts that can be compared.
fn described(found: Result<Option<StoredNode>, Error>) -> Result<String, String> {
    let found = found.map_err(|error| error.to_string())?.ok_or("nothing")?;
    let StoredNode { dialect, path, node, warnings, attributes_error, documents, .. } = &found;
    let documents: Vec<_> = documents.iter().map(|(key, bytes)| (key, String::from_utf8_lossy(bytes))).collect();
    let rest = (found.implicit, found.separator_unmarked, &found.fallback_keys, &found.fallback);
    Ok(format!("{dialect} {path} {} {warnings:?} {attributes_error:?} {documents:?} {rest:?}", node.to_value()))
}

/// One member has another value, if there is a member at that index.
fn spoilt(document: &Map, change: &Option<(usize, Value)>) -> Map {
    let mut spoilt = document.clone();
    if let Some((index, value)) = change
        && let Some(name) = document.keys().nth(*index)
    {
        spoilt.insert(name, value.clone());
    }
    spoilt
}

proptest! {
    /// The nodes of consolidated metadata, which are made of parsed values, are the nodes of the text of their documents: also where the
    /// text is invalid, and where documents are much alike.
    #[test]
    fn copies_are_read_as_their_texts_are(
        arrays in proptest::collection::vec(zarray(), 1..3),
        nodes in proptest::collection::vec(node_v3(), 1..3),
        attributes in proptest::collection::vec(attributes(), 3),
        changes in proptest::collection::vec(proptest::option::of((0_usize..12, value())), 6),
        indented in any::<bool>(),
    ) {
        let text = |value: &Value| if indented { format!("{value:#}") } else { value.to_string() };
        let root = NodePath::root();

        let mut copies = Map::new();
        for (index, change) in changes.iter().enumerate() {
            copies.insert(format!("a{index}/.zarray"), spoilt(&arrays[index % arrays.len()], change));
            copies.insert(format!("a{index}/.zattrs"), attributes[index % 3].clone());
        }
        let document = text(&json!({"zarr_consolidated_format": 1, "metadata": (copies.clone())}));
        let store = Store(copies.iter().map(|(key, value)| (key.to_owned(), value.to_string().into_bytes())).collect());
        let read = Consolidated::parse_v2(".zmetadata", document.as_bytes()).unwrap().unwrap();
        for (path, documents) in read.nodes(&root) {
            let alone = store.probe(&path.to_string(), Some(Dialect::V2));
            prop_assert_eq!(described(StoredNode::read(Dialect::V2, path, &documents)), described(alone));
        }

        let mut copies = Map::new();
        let mut store = Store::default();
        for (index, change) in changes.iter().enumerate() {
            let path = NodePath::parse(&format!("/n{index}")).unwrap();
            let Ok(written) = documents(Dialect::V3, &path, &nodes[index % nodes.len()], None) else { continue };
            let value = Value::from_json(std::str::from_utf8(written[0].1.as_ref().unwrap()).unwrap()).unwrap();
            let document = spoilt(value.as_object().unwrap(), change);
            copies.insert(path.as_relative(), document.clone());
            let mut alone = document;
            alone.remove("consolidated_metadata");
            store.0.insert(written[0].0.clone(), alone.to_string().into_bytes());
        }
        let copies = json!({"kind": "inline", "must_understand": false, "metadata": (copies)});
        let group = text(&json!({"zarr_format": 3, "node_type": "group", "consolidated_metadata": (copies)}));
        let Ok(group) = Store::with(&[("zarr.json", &group)]).probe("/", Some(Dialect::V3)) else { return Ok(()) };
        let group = group.unwrap();
        let copies = group.node.as_group().unwrap().consolidated.as_ref().unwrap();
        for (path, documents) in copies.nodes(&root) {
            let alone = store.probe(&path.to_string(), Some(Dialect::V3));
            prop_assert_eq!(described(StoredNode::read(Dialect::V3, path, &documents)), described(alone));
        }
    }
}
