//! Hierarchies of the drafts against a list of keys.

use super::store::Store;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use zarr_meta::{
    Children, Dialect, Documents, GroupMetadata, Node, NodePath, children, document_path, documents, listing_prefix,
};

/// Names that look like the parts of keys.
fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-c]",
        Just("a.array".to_owned()),
        Just("b.group".to_owned()),
        Just("c0".to_owned()),
        Just("root".to_owned()),
        Just("meta".to_owned()),
        Just("x.g".to_owned()),
        Just("y.a".to_owned()),
        Just("array.json".to_owned()),
    ]
}

/// Paths with whether they are arrays; none lies below an array.
fn nodes() -> impl Strategy<Value = BTreeMap<String, bool>> {
    let path = proptest::collection::vec(name(), 0..4).prop_map(|names| format!("/{}", names.join("/")));
    proptest::collection::btree_map(path, any::<bool>(), 0..8).prop_map(|mut nodes| {
        let arrays: Vec<String> = nodes.iter().filter(|(_, array)| **array).map(|(path, _)| path.clone()).collect();
        for array in arrays {
            let above = NodePath::parse(&array).unwrap();
            nodes.retain(|path, _| *path == array || !NodePath::parse(path).unwrap().is_within(&above));
        }
        nodes
    })
}

/// Some array.
fn an_array() -> Node {
    let text = r#"{"zarr_format":3,"node_type":"array","shape":[2],"data_type":"int8","fill_value":0,
        "chunk_grid":{"name":"regular","configuration":{"chunk_shape":[2]}},"chunk_key_encoding":{"name":"default"},
        "codecs":["bytes"]}"#;
    Store::with(&[("zarr.json", text)]).found("/").node
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    // clause: p2019-48, p2019-51, p2019-53, d2022-194
    #[test]
    fn nodes_are_found_as_they_were_written(
        nodes in nodes(),
        dialect in prop_oneof![Just(Dialect::V3Draft2022), Just(Dialect::V3Protocol2019), Just(Dialect::V3Protocol2020)],
        erased in name(),
    ) {
        let mut store = Store::default();
        let mut entry = Documents::new();
        for (path, is_array) in &nodes {
            let path = NodePath::parse(path).unwrap();
            let node = if *is_array { zarr_meta::for_dialect(&an_array(), dialect).unwrap().0 }
                else { Node::Group(GroupMetadata::default()) };
            let previous = (!entry.is_empty()).then_some(&entry);
            let written = documents(dialect, &path, &node, previous).unwrap();
            store.apply(written);
            if let Some(key) = zarr_meta::entry_point_key(dialect) {
                entry.insert(key, store.0[key].clone());
            }
        }
        check(&store, &nodes, dialect, &entry)?;
        // `owned` has all keys of the node and no others.
        let path = NodePath::root().join(&erased).unwrap();
        if let Some(found) = store.probe(&path.to_string(), Some(dialect)).unwrap() {
            let owned = found.owned();
            store.0.retain(|key, _| {
                !owned.prefixes.iter().any(|prefix| key.starts_with(prefix.as_str())) && !owned.keys.contains(key)
            });
            let mut left = nodes;
            left.retain(|other, _| !NodePath::parse(other).unwrap().is_within(&path));
            check(&store, &left, dialect, &entry)?;
        }
    }
}

/// Compares the nodes found with the existing nodes: the written ones, and all groups above them.
fn check(
    store: &Store,
    nodes: &BTreeMap<String, bool>,
    dialect: Dialect,
    entry: &Documents,
) -> Result<(), TestCaseError> {
    let mut expected: BTreeMap<NodePath, (bool, bool)> = BTreeMap::new();
    for (path, is_array) in nodes {
        let path = NodePath::parse(path).unwrap();
        for above in path.ancestors() {
            expected.entry(above).or_insert((false, true));
        }
        expected.insert(path, (*is_array, false));
    }
    if !entry.is_empty() {
        expected.entry(NodePath::root()).or_insert((false, true));
    }
    for (path, (is_array, implicit)) in &expected {
        // Without an entry point document, in the first draft, its documents show it.
        for given in [None, Some(dialect)] {
            let found = store.probe(&path.to_string(), given).unwrap();
            prop_assert!(found.is_some(), "{} in {}", path, dialect);
            let found = found.unwrap();
            prop_assert_eq!(
                (found.dialect, found.node.as_array().is_some(), found.implicit),
                (dialect, *is_array, *implicit)
            );
        }
    }
    for name in
        ["a", "b", "c", "c0", "x", "y", "x.g", "y.a", "a.array", "root", "meta", "a/b", "root/a", "array", "group"]
    {
        let path = NodePath::root().join(name).unwrap();
        let found = store.probe(name, Some(dialect)).unwrap();
        prop_assert_eq!(found.is_some(), expected.contains_key(&path), "{} in {}", name, dialect);
    }
    // Level by level.
    let mut seen = BTreeSet::new();
    let mut next = if expected.is_empty() { Vec::new() } else { vec![NodePath::root()] };
    while let Some(path) = next.pop() {
        seen.insert(path.clone());
        if expected.get(&path).is_some_and(|(is_array, _)| *is_array) {
            continue;
        }
        let listed = store.list(&listing_prefix(dialect, &path));
        let (prefixes, keys): (Vec<&str>, Vec<&str>) =
            listed.iter().map(String::as_str).partition(|key| key.ends_with('/'));
        let Children { candidates, maybe_implicit, refused, .. } = children(dialect, &path, &keys, &prefixes, entry);
        prop_assert!(refused.is_empty(), "{:?}", refused);
        next.extend(candidates.into_iter().chain(maybe_implicit));
    }
    prop_assert_eq!(&seen, &expected.keys().cloned().collect());
    // All at once.
    let mut at_once: BTreeSet<NodePath> = BTreeSet::new();
    for key in store.0.keys() {
        if let Some(path) = document_path(dialect, key, entry) {
            at_once.extend(path.ancestors());
            at_once.insert(path);
        }
    }
    if !entry.is_empty() {
        at_once.insert(NodePath::root());
    }
    prop_assert_eq!(at_once, seen);
    Ok(())
}
