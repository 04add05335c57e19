//! Attributes of any kind come back: from setting another one, and from every dialect.
//!
//! `ZARR_ATTRIBUTE_CASES=5000 cargo test -p zarr-meta attribute_laws` looks at more of them.

use super::store::Store;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use zarr_json::pointer::escaped;
use zarr_json::{Map, Value, json};
use zarr_meta::{Dialect, Documents, Node, NodePath, StoredNode, for_dialect_from};

/// How many cases each law is tried with.
fn cases() -> u32 {
    std::env::var("ZARR_ATTRIBUTE_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(200)
}

/// A number in any spelling, or a NaN or Infinity literal.
fn number() -> impl Strategy<Value = String> {
    let spelled = "-?(0|[1-9][0-9]{0,40})(\\.[0-9]{1,25})?([eE][+-]?[0-9]{1,4})?";
    let token = prop_oneof![Just("NaN"), Just("Infinity"), Just("-Infinity")].prop_map(str::to_owned);
    prop_oneof![4 => spelled, 1 => any::<f64>().prop_filter("finite", |it| it.is_finite()).prop_map(|it| format!("{it:?}")), 1 => token]
}

/// The characters between the quotes of a text: Unicode, escapes, surrogates with and without the other half, and the
/// characters that stand for them in memory.
fn inside() -> impl Strategy<Value = String> {
    let escape = prop_oneof![
        Just("\\ud800"),
        Just("\\udfff"),
        Just("\\ud83d\\ude00"),
        Just("\\udc00\\ud800"),
        Just("\\u0000"),
        Just("\\n"),
        Just("\\/"),
        Just("\\\\"),
        Just("\\\""),
        Just("\u{fdd8}\u{fdd0}\u{fdd0}"),
        Just("\u{fde0}"),
        Just("\\ufdd9"),
        Just("NaN"),
        Just("Infinity"),
        Just("~1/"),
        Just("\u{202e}"),
        Just("\u{7f}"),
    ]
    .prop_map(str::to_owned);
    let part = prop_oneof![3 => "[a-c]{0,3}", 1 => "[^\\x00-\\x1f\"\\\\]{0,4}", 2 => escape];
    proptest::collection::vec(part, 0..4).prop_map(|parts| parts.concat())
}

/// The text of a JSON value as Python may have written it.
fn value() -> impl Strategy<Value = String> {
    let word = prop_oneof![Just("null"), Just("true"), Just("false")].prop_map(str::to_owned);
    let leaf = prop_oneof![number(), inside().prop_map(|text| format!("\"{text}\"")), word];
    leaf.prop_recursive(8, 24, 4, |inner| {
        let list = proptest::collection::vec(inner.clone(), 0..4).prop_map(|items| format!("[{}]", items.join(", ")));
        // Each as deep as may be.
        let deep = (1_usize..60, inner.clone())
            .prop_map(|(depth, it)| format!("{}{it}{}", "[".repeat(depth), "]".repeat(depth)));
        prop_oneof![4 => list, 4 => object(inner), 1 => deep]
    })
}

/// The text of an object, without two members of one name.
fn object(value: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    proptest::collection::vec((inside(), value), 0..4).prop_map(|members| {
        let members = members.iter().enumerate();
        let members: Vec<_> = members.map(|(index, (name, value))| format!("\"{name}{index}\": {value}")).collect();
        format!("{{{}}}", members.join(", "))
    })
}

/// The attributes of an array in a dialect that Python wrote them in.
fn attributes() -> impl Strategy<Value = String> {
    object(value())
}

const ZARRAY: &str = r#"{"zarr_format":2,"shape":[4],"chunks":[2],"dtype":"<f4","fill_value":0.0,"order":"C","filters":null,
    "compressor":{"id":"blosc","cname":"lz4","clevel":1,"shuffle":1,"blocksize":0}}"#;

fn v2(attributes: &str) -> StoredNode {
    Store::with(&[(".zarray", ZARRAY), (".zattrs", attributes)]).found("/")
}

fn v3(attributes: &str) -> StoredNode {
    let text = format!(
        r#"{{"zarr_format":3,"node_type":"array","shape":[4],"data_type":"float32","fill_value":0.0,"codecs":["bytes"],
            "chunk_grid":{{"name":"regular","configuration":{{"chunk_shape":[2]}}}},
            "chunk_key_encoding":{{"name":"default"}},"attributes":{attributes}}}"#
    );
    Store::with(&[("zarr.json", &text)]).found("/")
}

fn consolidated(found: &StoredNode) -> StoredNode {
    let copy = zarr_meta::Consolidated::collect(Dialect::V2, &NodePath::root(), [found]).unwrap();
    let copy = zarr_meta::Consolidated::parse_v2(".zmetadata", &copy.to_v2()).unwrap().unwrap();
    let nodes = copy.nodes(&NodePath::root());
    StoredNode::read(Dialect::V2, NodePath::root(), &nodes[&NodePath::root()]).unwrap().unwrap()
}

/// The node that comes out when the documents for this one are written over others and read.
fn stored(dialect: Dialect, node: &Node, previous: Option<&Documents>) -> StoredNode {
    let mut documents = previous.cloned().unwrap_or_default();
    documents.apply(&zarr_meta::documents(dialect, &NodePath::root(), node, previous).unwrap());
    StoredNode::read(dialect, NodePath::root(), &documents).unwrap().unwrap()
}

/// The attributes as text: where the text is equal, they are equal to the last digit.
fn shown(node: &Node) -> String {
    Value::Object(node.attributes().clone()).to_string()
}

fn with(node: &Node, name: &str, value: Value) -> Node {
    let mut node = node.clone();
    node.attributes_mut().insert(name, value);
    node
}

fn without(node: &Node, name: &str) -> Map {
    let mut attributes = node.attributes().clone();
    attributes.remove(name);
    attributes
}

#[test]
fn setting_one_attribute_changes_no_other() {
    let mut runner = TestRunner::new(Config { cases: cases(), failure_persistence: None, ..Config::default() });
    let law = runner.run(&attributes(), |text| {
        for found in [v2(&text), v3(&text)] {
            let again = stored(found.dialect, &with(&found.node, "set", json!(1)), Some(&found.documents));
            prop_assert_eq!(without(&again.node, "set"), found.node.attributes().clone());
            prop_assert_eq!(again.node.attributes().get("set"), Some(&json!(1)));
            // And taken away again, there is the document that there was, but for white space.
            let mut node = again.node.clone();
            *node.attributes_mut() = without(&again.node, "set");
            let back = stored(found.dialect, &node, Some(&again.documents));
            prop_assert_eq!(shown(&back.node), shown(&found.node));
            prop_assert_eq!(shown(&consolidated(&v2(&text)).node), shown(&found.node));
        }
        Ok(())
    });
    law.unwrap_or_else(|error| panic!("{error}"));
}

/// The names of attributes that differ.
fn different(a: &Node, b: &Node) -> Vec<String> {
    let is_other = |(name, value): &(&str, &Value)| b.attributes().get(name) != Some(*value);
    a.attributes().iter().filter(is_other).map(|(name, _)| name.to_owned()).collect()
}

// clause: d2022-136
#[test]
fn every_dialect_keeps_attributes_or_tells() {
    let mut runner = TestRunner::new(Config { cases: cases(), failure_persistence: None, ..Config::default() });
    let law = runner.run(&attributes(), |text| {
        let source = v2(&text);
        for dialect in Dialect::ALL {
            let (node, mut notes) = for_dialect_from(&source.node, Dialect::V2, dialect).unwrap();
            let there = stored(dialect, &node, None);
            prop_assert_eq!(shown(&there.node), shown(&node), "{}", dialect);
            for name in different(&source.node, &there.node) {
                let pointer = format!("/attributes/{}", escaped(&name));
                prop_assert!(
                    notes.iter().any(|note| note.pointer == pointer),
                    "{dialect}: {name} of {text}: {notes:?}"
                );
            }
            let (back, more) = for_dialect_from(&there.node, dialect, Dialect::V2).unwrap();
            notes.extend(more);
            let back = stored(Dialect::V2, &back, None);
            prop_assert_eq!(shown(&back.node), shown(&there.node), "{}", dialect);
            // Carried, all of it comes back.
            let (carried, _) = zarr_meta::for_dialect_carrying(&source.node, Dialect::V2, dialect).unwrap();
            let carried = stored(dialect, &carried, None);
            let (back, _) = for_dialect_from(&carried.node, dialect, Dialect::V2).unwrap();
            prop_assert_eq!(shown(&back), shown(&source.node), "{} carrying", dialect);
        }
        Ok(())
    });
    law.unwrap_or_else(|error| panic!("{error}"));
}
