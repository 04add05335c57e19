//! Metadata documents under the keys of their dialect: the node is opened, walked, written back and converted, and an element is read.

mod made;

use super::files::Files;
use super::laws;
use crate::fixtures::{ARCHIVES, cases};
use crate::random::Random;
use crate::{Fault, mutate};
use std::collections::{BTreeMap, BTreeSet};
use zarr_array::Array;
use zarr_grid::{Region, Selection};
use zarr_json::{ParseOptions, parse};
use zarr_meta::{Dialect, Documents, NodePath, document_path, documents, for_dialect, for_dialect_carrying};
use zarr_store::{Store, StoreExt};

/// Greatest total size in bytes of the documents of a case that are one input; larger cases are split by node.
const WHOLE_CASE: usize = 24 << 10;

/// Returns the dialect of the stores in an archive.
fn dialect_of(archive: &str) -> Dialect {
    match archive.trim_start_matches("bad-") {
        "v0" => Dialect::V0,
        "v1" => Dialect::V1,
        "v2" | "nczarr" | "xarray-v2" => Dialect::V2,
        "v3-protocol-2019" => Dialect::V3Protocol2019,
        "v3-zarrita" | "v3-zarr-python-2" | "v3-gdal" => Dialect::V3Protocol2020,
        "v3-draft-2022" => Dialect::V3Draft2022,
        "v3-2023" => Dialect::V3Provisional2023,
        _ => Dialect::V3,
    }
}

/// Returns whether a key is that of a document, not of a chunk.
fn is_document(key: &str) -> bool {
    const NAMES: [&str; 11] = [
        "zarr.json",
        ".zarray",
        ".zgroup",
        ".zattrs",
        ".zmetadata",
        "meta",
        "attrs",
        "__zmeta__",
        "__zattr__",
        "array.json",
        "group.json",
    ];
    let name = key.rsplit('/').next().unwrap_or(key);
    NAMES.contains(&name) || [".array.json", ".group.json", ".array", ".group"].iter().any(|end| name.ends_with(end))
}

/// Returns the documents of each node of the fixtures, and all documents of each case that is not large.
pub(super) fn seeds(dialect: Dialect) -> Result<Vec<Vec<u8>>, Fault> {
    let mut seeds: BTreeSet<_> = made::inputs(dialect).into_iter().collect();
    for archive in ARCHIVES.into_iter().filter(|archive| dialect_of(archive) == dialect) {
        for case in cases(archive)? {
            // Some of the zip files are refused.
            let Ok(store) = zarr::store::open(&case.url()) else { continue };
            let mut all = Vec::new();
            for key in store.list().map_err(|error| error.to_string())? {
                if is_document(key.as_str())
                    && let Ok(Some(value)) = store.get_all(&key)
                {
                    all.push((key.as_str().to_owned(), value.to_vec()));
                }
            }
            if all.iter().map(|(_, value)| value.len()).sum::<usize>() <= WHOLE_CASE {
                seeds.insert(Files { path: "/".to_owned(), values: all.clone() }.to_bytes());
            }
            for (path, values) in nodes(dialect, &all) {
                seeds.insert(Files { path, values }.to_bytes());
            }
        }
    }
    Ok(seeds.into_iter().collect())
}

/// Returns documents by the paths of their nodes, each with the document of the whole hierarchy if there is one.
fn nodes(dialect: Dialect, all: &[(String, Vec<u8>)]) -> BTreeMap<String, Vec<(String, Vec<u8>)>> {
    let of_hierarchy = |key: &str| zarr_meta::entry_point_key(dialect) == Some(key);
    let entry: Vec<_> = all.iter().filter(|(key, _)| of_hierarchy(key)).cloned().collect();
    let known: Documents = entry.iter().cloned().collect();
    let mut nodes = BTreeMap::new();
    for (key, value) in all.iter().filter(|(key, _)| !of_hierarchy(key)) {
        let folder = key.rsplit_once('/').map_or("", |(folder, _)| folder);
        let path = match document_path(dialect, key, &known) {
            Some(path) => path.to_string(),
            None => format!("/{folder}"),
        };
        nodes.entry(path).or_insert_with(|| entry.clone()).push((key.clone(), value.clone()));
    }
    nodes
}

/// Changes one of the values, or occasionally its key or the path.
pub(super) fn mutate(random: &mut Random, input: &[u8]) -> Vec<u8> {
    let mut files = Files::parse(input);
    let at = random.below(files.values.len());
    let change = random.below(24);
    if let Some((key, value)) = files.values.get_mut(at) {
        match change {
            0 => *key = text(random, key),
            1 => *value = mutate::bytes(random, value),
            _ => {
                let options = ParseOptions::ALL;
                let parsed = parse(value, options).map(|parsed| parsed.value).unwrap_or_default();
                *value = mutate::document(random, value, &parsed);
            }
        }
    }
    if change == 2 {
        files.path = text(random, &files.path);
    }
    files.to_bytes()
}

fn text(random: &mut Random, text: &str) -> String {
    String::from_utf8_lossy(&mutate::bytes(random, text.as_bytes())).into_owned()
}

pub(super) fn run(input: &[u8]) -> bool {
    let files = Files::parse(input);
    let store = files.store();
    for (key, value) in &files.values {
        if key.ends_with(".zmetadata") {
            consolidated(key, value);
        }
    }
    let fault = |error: zarr_array::Error| error.to_string();
    open(&*store, &files.path).map_err(fault).is_ok_and(|found| {
        let Some(found) = found else { return true };
        match Array::from_found(&store, found, &super::chunks::registry(), super::chunks::limited()) {
            Ok(array) => {
                laws::array::check(&array);
                last_element(&array)
            }
            Err(_) => false,
        }
    })
}

/// Does all operations on a node that need no chunks. Returns the node if it is an array.
fn open(store: &dyn Store, path: &str) -> Result<Option<zarr_meta::StoredNode>, zarr_array::Error> {
    let found = zarr::hierarchy::open_node(store, path, None)?;
    let _ = found.attributes();
    if found.dialect.is_v3() {
        let free = ParseOptions::ALL.trailing_comma(false);
        for (_, text) in found.documents.iter().filter(|(key, _)| key.ends_with("zarr.json")) {
            laws::array::document_v3(&parse(text, free).map(|parsed| parsed.value).unwrap_or_default());
        }
    }
    // Not all nodes that are read can be written, but a node that is written over its documents changes nothing in
    // them.
    if documents(found.dialect, &found.path, &found.node, Some(&found.documents)).is_ok() {
        assert_eq!(crate::rewrite::documents(&found), Ok(()));
    }
    for dialect in Dialect::ALL {
        if let Ok((node, _)) = for_dialect_carrying(&found.node, found.dialect, dialect) {
            let _ = documents(dialect, &found.path, &node, None);
            let _ = for_dialect(&node, found.dialect);
        }
    }
    for (key, _) in found.documents.iter() {
        let _ = zarr_meta::dialects_by_key(&found.path)(key);
    }
    let owned = found.owned();
    assert!(
        owned.prefixes.iter().all(|prefix| found.path.is_root() || !prefix.is_empty()),
        "{owned:?} of {}",
        found.path
    );
    let _ = found.with_attributes(found.node.attributes().clone());
    if let Some(array) = found.node.as_array() {
        let _ = zarr_meta::conventions::missing_data(array);
    }
    if found.node.as_array().is_some() {
        return Ok(Some(found));
    }
    let _ = zarr_meta::consolidated::without_consolidated(&found);
    let walk = zarr::hierarchy::walk(store, path, None)?;
    let _ = zarr_meta::Consolidated::collect(found.dialect, &found.path, &walk.nodes);
    zarr::hierarchy::walk_consolidated(store, path, None)?;
    Ok(None)
}

fn consolidated(key: &str, value: &[u8]) {
    let Ok(Some(consolidated)) = zarr_meta::Consolidated::parse_v2(key, value) else { return };
    let _ = consolidated.check();
    for (path, documents) in consolidated.nodes(&NodePath::root()) {
        let _ = crate::rewrite::parse(Dialect::V2, &path, &documents);
    }
}

/// Reads the last element. Returns whether it can be read, or there is none.
fn last_element(array: &Array) -> bool {
    let last = |len: &u64| len.checked_sub(1).map(|last| last..last + 1);
    let Some(last) = array.shape().iter().map(last).collect::<Option<Vec<_>>>() else { return true };
    let Ok(element) = array.read_data(Selection::Region(Region::from_ranges(&last))) else { return false };
    element.json(0);
    element.text(0);
    true
}
