//! Nodes inside documents of others.

use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use zarr_json::{from_value, json, to_value};
use zarr_meta::{ArrayMetadata, Dialect, GroupMetadata, Node, NodePath, as_v2, documents, for_dialect};

use super::arbitrary;

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct V2<N: Clone + Into<Node> + TryFrom<Node, Error: std::fmt::Display>>(#[serde(with = "as_v2")] N);

proptest! {
    #[test]
    fn nodes_come_back_in_both_forms(node in arbitrary::node_v3()) {
        for dialect in [Dialect::V3, Dialect::V2] {
            let Ok((node, _)) = for_dialect(&node, dialect) else { continue };
            let value = match dialect {
                Dialect::V3 => to_value(&node),
                _ => to_value(&V2(node.clone())),
            };
            match value {
                Ok(value) => {
                    let back = match dialect {
                        Dialect::V3 => from_value::<Node>(&value),
                        _ => from_value::<V2<Node>>(&value).map(|node| node.0),
                    };
                    prop_assert_eq!(back.unwrap(), node);
                }
                Err(error) => {
                    let refused = documents(dialect, &NodePath::root(), &node, None).unwrap_err();
                    prop_assert_eq!(error.to_string(), refused.to_string());
                }
            }
        }
    }
}

const V3: &str = r#"{"zarr_format":3,"node_type":"array","shape":[4],"data_type":"float32",
    "chunk_grid":{"name":"regular","configuration":{"chunk_shape":[2]}},
    "chunk_key_encoding":{"name":"default","configuration":{"separator":"/"}},"fill_value":"NaN",
    "codecs":[{"name":"bytes","configuration":{"endian":"little"}}],"attributes":{"exact":1e2}}"#;

#[test]
fn a_document_of_v3_is_a_member_of_another() {
    #[derive(Serialize, Deserialize)]
    struct Catalog {
        href: String,
        array: ArrayMetadata,
    }
    let catalog: Catalog = serde_json::from_str(&format!(r#"{{"href":"a","array":{V3}}}"#)).unwrap();
    assert_eq!((catalog.array.shape.as_slice(), catalog.href.as_str()), (&[4][..], "a"));
    let text = serde_json::to_string(&catalog).unwrap();
    let again: Catalog = serde_json::from_str(&text).unwrap();
    assert_eq!(again.array, catalog.array);
}

#[test]
fn errors_name_the_member() {
    let error = serde_json::from_str::<Node>(&V3.replace("[4]", "[-4]")).unwrap_err().to_string();
    assert!(error.contains("/shape/0") && error.contains("-4"), "{error}");
    let error = serde_json::from_str::<GroupMetadata>(V3).unwrap_err().to_string();
    assert!(error.contains("found an array, expected a group"), "{error}");
    let broken = json!({ ".zarray": { "zarr_format": 2, "shape": "x" } });
    let error = from_value::<V2<Node>>(&broken).unwrap_err().to_string();
    assert!(error.contains(".zarray") && error.contains("/shape"), "{error}");
    let attributes = json!({ ".zgroup": { "zarr_format": 2 }, ".zattrs": [1] });
    let error = from_value::<V2<GroupMetadata>>(&attributes).unwrap_err().to_string();
    assert!(error.contains(".zattrs"), "{error}");
    let only_attributes = from_value::<V2<Node>>(&json!({ ".zattrs": {} })).unwrap_err().to_string();
    assert!(only_attributes.contains("expected"), "{only_attributes}");
}
