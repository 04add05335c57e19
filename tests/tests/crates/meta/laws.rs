//! Laws of every document.

use super::arbitrary::{attributes, node_v3, value, zarray};
use super::store::Store;
use proptest::prelude::*;
use zarr_json::{Map, Value, json};
use zarr_meta::{
    Dialect, Documents, Node, NodePath, Probe, ProbeStep, documents, for_dialect, for_dialect_from,
    without_filter_orders,
};

pub(crate) fn parse(dialect: Dialect, path: &NodePath, documents: &Documents) -> Node {
    let store = Store(documents.iter().map(|(key, bytes)| (key.to_owned(), bytes.to_vec())).collect());
    match store.run(Probe::new(path.clone(), Some(dialect)).can_list(false)).unwrap() {
        ProbeStep::Found(found) => found.node,
        other => unreachable!("{other:?}"),
    }
}

pub(crate) fn stored(dialect: Dialect, path: &NodePath, node: &Node) -> Documents {
    let mut stored = Documents::new();
    stored.apply(&documents(dialect, path, node, None).unwrap());
    stored
}

pub(crate) fn json_of(documents: &Documents, key: &str) -> Value {
    Value::from_json(std::str::from_utf8(documents.get(key).unwrap()).unwrap()).unwrap()
}

#[test]
fn an_attribute_keeps_the_order_of_its_members() {
    let path = NodePath::root();
    let text = |attribute: &str| {
        format!(
            r#"{{"node_type": "group", "zarr_format": 3, "attributes": {{"c": {attribute}, "d": {{"z": 1.0, "y": 2}}}}}}"#
        )
    };
    let mut first = Documents::new();
    first.insert("zarr.json", text(r#"{"b": 0}"#));
    let mut changed = parse(Dialect::V3, &path, &first);
    for given in [json!({"a": 1, "b": 0}), json!({"b": 0, "a": 1})] {
        changed.attributes_mut().insert("c", given.clone());
        let mut second = first.clone();
        second.apply(&documents(Dialect::V3, &path, &changed, Some(&first)).unwrap());
        let expected = Value::from_json(&text(&given.to_string())).unwrap();
        // The order of the document's own members stays, in which version 3 does not write them.
        assert_eq!(json_of(&second, "zarr.json"), expected);
        first = second;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn v3_written_and_read_is_the_node(node in node_v3()) {
        let path = NodePath::parse("/a/b").unwrap();
        let first = stored(Dialect::V3, &path, &node);
        prop_assert_eq!(&parse(Dialect::V3, &path, &first), &node);
        // Changing nothing changes nothing.
        let again = documents(Dialect::V3, &path, &node, Some(&first)).unwrap();
        prop_assert_eq!(again, first.iter().map(|(key, bytes)| (key.to_owned(), Some(bytes.to_vec()))).collect::<Vec<_>>());
    }

    #[test]
    fn v2_read_and_written_is_the_document(zarray in zarray(), attributes in attributes()) {
        let path = NodePath::parse("/a").unwrap();
        let mut given = Documents::new();
        given.insert("a/.zarray", zarray.to_string());
        if !attributes.is_empty() {
            given.insert("a/.zattrs", attributes.to_string());
        }
        let node = parse(Dialect::V2, &path, &given);
        let written = stored(Dialect::V2, &path, &node);
        prop_assert_eq!(json_of(&written, "a/.zarray"), Value::Object(zarray));
        prop_assert_eq!(written.get("a/.zattrs").is_some(), !attributes.is_empty());
        if !attributes.is_empty() {
            prop_assert_eq!(json_of(&written, "a/.zattrs"), Value::Object(attributes));
        }
        prop_assert_eq!(parse(Dialect::V2, &path, &written), node);
    }

    #[test]
    fn converted_nodes_can_be_written_in_their_dialect(zarray in zarray(), v3 in node_v3()) {
        let path = NodePath::root();
        let mut given = Documents::new();
        given.insert(".zarray", zarray.to_string());
        for node in [parse(Dialect::V2, &path, &given), v3] {
            for dialect in Dialect::ALL.into_iter().filter(|dialect| *dialect != Dialect::V3Provisional2023) {
                let Ok((node, _)) = for_dialect(&node, dialect) else { continue };
                prop_assert_eq!(&parse(dialect, &path, &stored(dialect, &path, &node)), &node);
                let (again, notes) = for_dialect(&node, dialect).unwrap();
                prop_assert_eq!(again, node);
                prop_assert!(notes.is_empty(), "{:?}", notes);
            }
        }
    }

    #[test]
    fn v2_survives_v3(zarray in zarray()) {
        let path = NodePath::root();
        let mut given = Documents::new();
        given.insert(".zarray", zarray.to_string());
        let node = parse(Dialect::V2, &path, &given);
        // Sub-arrays in structs exist in version 2 only.
        prop_assume!(!zarray.to_string().contains("[2]"));
        let (v3, _) = for_dialect(&node, Dialect::V3).unwrap();
        let (mut back, _) = for_dialect_from(&v3, Dialect::V3, Dialect::V2).unwrap();
        prop_assert_eq!(for_dialect(&back, Dialect::V3).unwrap().0, v3);
        let mut node = node;
        if let (Node::Array(back), Node::Array(node)) = (&mut back, &mut node) {
            // The orders of types that filters name, which only say in which order elements are in memory.
            for array in [&mut *back, &mut *node] {
                array.codecs = array.codecs.iter().map(without_filter_orders).collect();
            }
            // These two cannot survive.
            back.extra = node.extra.clone();
            if node.fill_value.is_none() {
                back.fill_value = None;
            }
            if node.codecs.iter().any(|codec| codec.configuration.contains_key("field_endian")) {
                back.codecs.clone_from(&node.codecs);
            }
        }
        prop_assert_eq!(back, node);
    }

    #[test]
    fn one_attribute_is_one_change(node in node_v3(), name in "[a-z]{1,3}", new in value()) {
        let path = NodePath::root();
        let first = stored(Dialect::V3, &path, &node);
        let mut changed = node;
        changed.attributes_mut().insert(name.as_str(), new.clone());
        let mut second = first.clone();
        second.apply(&documents(Dialect::V3, &path, &changed, Some(&first)).unwrap());
        let mut expected = json_of(&first, "zarr.json");
        if let Value::Object(members) = &mut expected
            && let Some(Value::Object(attributes)) = members.get_mut("attributes")
        {
            attributes.insert(name, new);
        }
        prop_assert_eq!(json_of(&second, "zarr.json"), expected);
    }

    #[test]
    fn no_document_makes_it_panic(members in proptest::collection::vec((0..20_usize, value()), 0..14)) {
        const NAMES: [&str; 20] = [
            "zarr_format", "node_type", "shape", "data_type", "chunk_grid", "chunk_key_encoding", "fill_value", "codecs",
            "attributes", "dimension_names", "storage_transformers", "consolidated_metadata", "chunks", "dtype",
            "compressor", "filters", "order", "dimension_separator", "must_understand", "x",
        ];
        let mut map: Map = members.into_iter().map(|(name, value)| (NAMES[name].to_owned(), value)).collect();
        for (format, key) in [(2, ".zarray"), (2, ".zgroup"), (3, "zarr.json")] {
            map.insert("zarr_format", format);
            let mut probe = Probe::new(NodePath::root(), None).can_list(false);
            let _ = probe.step(&[]);
            let _ = probe.step(&[(key.to_owned(), Some(map.to_string().into_bytes()))]);
        }
    }
}
