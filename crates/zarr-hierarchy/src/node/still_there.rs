//! Checks whether an array is still the array that was opened; used by reads, writes and copies.

use super::reread;
use crate::{Error, ErrorKind, Result, jobs};
use std::sync::Arc;
use zarr_drive::{Job, Next};
use zarr_grid::ChunkGrid;
use zarr_meta::{ArrayMetadata, Dialect, Node, StoredNode};
use zarr_store::{Key, Prefix, Reply, Store, StoreExt};

/// Job that reads the document of an array and compares it with the document that the array was opened from.
///
/// Equal bytes are the same array. With other bytes it is the same array if its chunks are read and written in the same way: the metadata
/// [means the same](Node::to_canonical_value) except for attributes, dimension names and a shape that has grown, which others may change
/// while an array is open.
#[derive(Debug)]
pub struct StillThere<'a> {
    found: &'a StoredNode,
    key: Key,
    has_asked: bool,
}

impl<'a> StillThere<'a> {
    /// Prepares the check of the array `found`. `None` if there is nothing to check: the array was found in consolidated metadata, or has
    /// no document of its own.
    ///
    /// # Errors
    /// [`ErrorKind::Path`] if the key of its document is not valid in stores.
    pub fn new(found: &'a StoredNode) -> Result<Option<Self>> {
        let key = if found.documents.are_consolidated() { None } else { found.own_documents().next() };
        Ok(key.map(Key::new).transpose()?.map(|key| Self { found, key, has_asked: false }))
    }

    /// Returns the key of the document that is read.
    #[must_use]
    pub fn key(&self) -> &Key {
        &self.key
    }
}

/// Not a [`Script`](zarr_drive::Script): each small read makes this check, and would pay for the memory of a future.
impl Job for StillThere<'_> {
    type Output = ();
    type Error = Error;

    fn step(&mut self, replies: &mut Vec<Reply>) -> Result<Next<Self>> {
        if !std::mem::replace(&mut self.has_asked, true) {
            return Ok(Next::Ask(vec![jobs::get_whole_document(self.key.clone())]));
        }
        match &replies[..] {
            [Reply::Got(Some(fetched))] if still_reads(self.found, &self.key, fetched.part(0)) => Ok(Next::Done(())),
            [Reply::Got(Some(_))] => Err(gone(self.found, "another array is there now")),
            [Reply::Got(None)] => Err(gone(self.found, "the array is not there any more")),
            _ => Err(jobs::unfit()),
        }
    }
}

/// Returns the prefix of a node for [`pin`](zarr_store::StoreExt::pin): its documents and chunks are under the prefix, and no other nodes but those below it.
/// `None` for the root, and if documents and chunks are stored apart.
///
/// # Errors
/// [`ErrorKind::Path`] if the prefix is not valid in stores.
pub fn pin_prefix(found: &StoredNode) -> Result<Option<Prefix>> {
    let chunks = found.chunk_prefix();
    let has_all = |own: &String| {
        let is_below = |key: &str| key.starts_with(own.as_str());
        !own.is_empty() && is_below(&chunks) && found.own_documents().all(is_below)
    };
    Ok(found.own_prefixes().iter().find(|own| has_all(own)).map(|own| Prefix::new(own)).transpose()?)
}

/// Returns a store in which the keys of the node `found` stay those of this node even if others move, replace or erase it: see
/// [`pin`](zarr_store::StoreExt::pin). `None` if the store cannot do that.
///
/// # Errors
/// [`ErrorKind::Store`].
pub fn pin(store: &dyn Store, found: &StoredNode) -> Result<Option<Arc<dyn Store>>> {
    Ok(pin_prefix(found)?.map_or(Ok(None), |prefix| store.pin(&prefix))?)
}

/// Returns the error that an array is no longer the array that was opened. `what` says what is at its path.
#[must_use]
pub fn gone(found: &StoredNode, what: &str) -> Error {
    let message = format!("{what}: it was erased, moved or replaced after it was opened");
    let error = Error::new(ErrorKind::NotFound, message).at_path(&found.path);
    error.at(|location| location.key = found.own_documents().next().map(str::to_owned))
}

/// Whether chunks are read in the same way by the newer document `bytes` at `key` as by the documents of `found`: only attributes and
/// dimension names may differ, and the shape may have grown.
fn still_reads(found: &StoredNode, key: &Key, bytes: &[u8]) -> bool {
    if found.documents.get(key.as_str()) == Some(bytes) {
        return true;
    }
    let mut documents = found.documents.clone();
    documents.insert(key.as_str(), bytes);
    let read = |documents| reread(found.dialect, &found.path, documents).ok().map(|found| found.node);
    // The stored metadata is compared: the caller may have opened the array with another data type.
    let (Some(Node::Array(old)), Some(Node::Array(new))) = (read(&found.documents), read(&documents)) else {
        return false;
    };
    covers(&old, &new) && same_chunks(found.dialect, &old, &new)
}

/// Whether no dimension of `new` is shorter than in `old`.
pub(super) fn covers(old: &ArrayMetadata, new: &ArrayMetadata) -> bool {
    old.shape.len() == new.shape.len() && old.shape.iter().zip(&new.shape).all(|(old, new)| old <= new)
}

/// Whether the chunks of two arrays are read and written in the same way, where both arrays have them: the metadata means the same except
/// for shape, attributes and dimension names. Other software may spell numbers and fill values in another way, order members differently,
/// and write defaults of codecs and chunk keys.
pub(super) fn same_chunks(dialect: Dialect, old: &ArrayMetadata, new: &ArrayMetadata) -> bool {
    let layout = |array: &ArrayMetadata| {
        let mut array = array.clone();
        (array.shape, array.dimension_names) = (Vec::new(), None);
        (array.attributes, array.extra) = Default::default();
        array
    };
    let (mut layout_of_old, layout_of_new) = (layout(old), layout(new));
    // A grid that lists the lengths of chunks lists more of them when the array has grown.
    if layout_of_old.chunk_grid != layout_of_new.chunk_grid {
        let grid = |array: &ArrayMetadata| ChunkGrid::from_config(&array.chunk_grid, &array.shape).ok();
        let grown = grid(old).and_then(|grid| grid.resized(&new.shape).ok());
        if grown.is_some() && grown == grid(new) {
            layout_of_old.chunk_grid.clone_from(&layout_of_new.chunk_grid);
        }
    }
    let canonical = |layout: ArrayMetadata| Node::Array(layout).to_canonical_value(dialect);
    layout_of_old == layout_of_new || canonical(layout_of_old).semantically_eq(&canonical(layout_of_new))
}

/// Checks that the array `newest`, which is stored at present, has the same chunks as the array `found`.
///
/// # Errors
/// The error [`gone`] if another array is there.
pub fn check_same_chunks(found: &StoredNode, newest: &StoredNode) -> Result<()> {
    let stored = |found: &StoredNode| reread(found.dialect, &found.path, &found.documents).ok().map(|found| found.node);
    match (stored(found), stored(newest)) {
        (Some(Node::Array(old)), Some(Node::Array(new))) if same_chunks(found.dialect, &old, &new) => Ok(()),
        _ => Err(gone(found, "another array is there now")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zarr_meta::{Documents, NodePath};

    fn found(document: &str) -> StoredNode {
        let mut documents = Documents::default();
        documents.insert("a/zarr.json", document.as_bytes());
        let path = NodePath::parse("/a").expect("a path");
        StoredNode::read(Dialect::V3, path, &documents).expect("valid").expect("an array")
    }

    fn document(change: impl Fn(String) -> String) -> String {
        change(
            r#"{"zarr_format": 3, "node_type": "array", "shape": [4], "data_type": "int32", "fill_value": 0,
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2]}},
            "chunk_key_encoding": {"name": "default"}, "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
            "attributes": {"a": 1}}"#
                .to_owned(),
        )
    }

    #[test]
    fn what_decodes_chunks_is_compared_and_nothing_else() {
        let old = found(&document(|text| text));
        let key = Key::new("a/zarr.json").expect("a key");
        let reads = |from: &str, to: &str| still_reads(&old, &key, document(|text| text.replace(from, to)).as_bytes());
        assert!(reads("", ""));
        for (from, to) in
            [("\"a\": 1", "\"b\": 2"), ("[4]", "[5]"), ("\"shape\"", "\"dimension_names\": [\"x\"], \"shape\"")]
        {
            assert!(reads(from, to), "{to}");
        }
        for (from, to) in [
            ("int32", "float32"),
            ("int32", "int16"),
            ("little", "big"),
            ("[2]", "[1]"),
            ("[4]", "[3]"),
            ("[4]", "[4, 4]"),
            ("\"fill_value\": 0", "\"fill_value\": 1"),
            ("{\"name\": \"default\"}", "{\"name\": \"v2\"}"),
            ("\"array\"", "\"group\""),
            ("{", ""),
        ] {
            assert!(!reads(from, to), "{to}");
        }
    }

    /// Documents as zarr-python rewrites them when it changes an attribute.
    #[test]
    fn other_spellings_of_a_document_are_the_same_array() {
        let zstd = r#"{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "zstd", "configuration": {"level": 0}}"#;
        let shard = format!(
            r#"{{"name": "sharding_indexed", "configuration": {{"chunk_shape": [1], "codecs": [{zstd}], "index_codecs": [{{"name": "bytes"}}]}}}}"#
        );
        let bytes = r#"{"name": "bytes", "configuration": {"endian": "little"}}"#;
        let key = Key::new("a/zarr.json").expect("a key");
        let float = |fill: &str, codecs: &str| {
            let fill = format!("\"fill_value\": {fill}");
            document(|text| text.replace("int32", "float32").replace("\"fill_value\": 0", &fill).replace(bytes, codecs))
        };
        let reads = |fill: &str, codecs: &str, (from, to): (&str, &str)| {
            let (old, new) = (float(fill, codecs), float(fill, codecs).replace(from, to));
            assert!(from == to || old != new, "{from} is not there");
            still_reads(&found(&old), &key, new.as_bytes())
        };
        let default = r#"{"name": "default", "configuration": {"separator": "/"}}"#;
        for (fill, codecs, change) in [
            ("0", zstd, ("\"fill_value\": 0", "\"fill_value\": 0.0")),
            ("1e2", zstd, ("1e2", "100.0")),
            ("\"NaN\"", zstd, ("\"NaN\"", "\"0x7fc00000\"")),
            ("0", zstd, (r#"{"name": "default"}"#, default)),
            ("0", zstd, (r#"{"name": "default"}"#, "\"default\"")),
            (
                "0",
                zstd,
                (
                    r#""name": "zstd", "configuration": {"level": 0}"#,
                    r#""configuration": {"level": 0}, "name": "zstd""#,
                ),
            ),
            ("0", zstd, ("\"level\": 0", "\"checksum\": false, \"level\": 0")),
            ("0", &shard, ("\"chunk_shape\": [1], ", "\"chunk_shape\": [1], \"index_location\": \"end\", ")),
            ("0", &shard, ("{\"level\": 0}", "{\"level\": 0, \"checksum\": false}")),
            ("0", &shard, ("[{\"name\": \"bytes\"}]", &format!("[{bytes}]"))),
            ("0", zstd, ("[2]", "[2.0]")),
        ] {
            assert!(reads(fill, codecs, change), "{change:?}");
        }
        for (fill, codecs, change) in [
            ("0.0", zstd, ("\"fill_value\": 0.0", "\"fill_value\": -0.0")),
            ("0", zstd, ("\"fill_value\": 0", "\"fill_value\": \"NaN\"")),
            ("0", zstd, (r#"{"name": "default"}"#, r#"{"name": "default", "configuration": {"separator": "."}}"#)),
            ("0", zstd, ("\"level\": 0", "\"checksum\": true, \"level\": 0")),
            ("0", zstd, ("little", "big")),
            ("0", &shard, ("\"chunk_shape\": [1], ", "\"chunk_shape\": [1], \"index_location\": \"start\", ")),
            ("0", &shard, ("\"chunk_shape\": [1], ", "\"chunk_shape\": [2], ")),
        ] {
            assert!(!reads(fill, codecs, change), "{change:?}");
        }
    }

    /// Documents of version 2 as zarr-python writes them.
    #[test]
    fn other_spellings_of_version_2_are_the_same_array() {
        let of = |more: &str, fill: &str| {
            format!(
                r#"{{"zarr_format": 2, "shape": [4], "chunks": [2], "dtype": "<f4", "fill_value": {fill}, "order": "C",
                "compressor": {{"id": "zlib"{more}}}, "filters": null}}"#
            )
        };
        let mut documents = Documents::default();
        documents.insert("a/.zarray", of("", "0").as_bytes());
        let path = NodePath::parse("/a").expect("a path");
        let old = StoredNode::read(Dialect::V2, path, &documents).expect("valid").expect("an array");
        let key = Key::new("a/.zarray").expect("a key");
        let reads = |text: String| still_reads(&old, &key, text.as_bytes());
        assert!(reads(of(", \"level\": 1", "0.0").replace("null", "[]")) && reads(of("", "0.0")));
        assert!(!reads(of("", "1.0")) && !reads(of("", "null")) && !reads(of("", "0").replace("[2]", "[1]")));
    }

    #[test]
    fn a_grid_that_lists_chunks_grows_with_the_array() {
        let regular = r#"{"name": "regular", "configuration": {"chunk_shape": [2]}}"#;
        let listed = |lengths: &str, len: &str| {
            let grid = format!(
                r#"{{"name": "rectilinear", "configuration": {{"kind": "inline", "chunk_shapes": [{lengths}]}}}}"#
            );
            document(|text| text.replace(regular, &grid).replace("[4]", len))
        };
        let old = found(&listed("[1, 3]", "[4]"));
        let key = Key::new("a/zarr.json").expect("a key");
        assert!(still_reads(&old, &key, listed("[1, 3, 3]", "[6]").as_bytes()));
        for (lengths, len) in [("[3, 1, 3]", "[6]"), ("[1, 3, 2]", "[6]"), ("[2, 2]", "[4]")] {
            assert!(!still_reads(&old, &key, listed(lengths, len).as_bytes()), "{lengths}");
        }
    }
}
