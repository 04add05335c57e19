//! Whether an array is still the one that was opened: the one place that decides it, for reads, writes and copies.

use super::reread;
use crate::{Error, ErrorKind, Result, jobs};
use std::sync::Arc;
use zarr_grid::ChunkGrid;
use zarr_meta::{ArrayMetadata, Node, StoredNode};
use zarr_store::{Job, Key, Next, Prefix, Reply, Store};

/// Gets the document of an array and compares it with the one that it was opened from.
///
/// The same bytes are the same array. With other bytes it is the same as long as its chunks are read and written in the same way: but for the
/// attributes, names of dimensions, and a shape that has grown, which others change while an array is open, the metadata are equal.
#[derive(Debug)]
pub struct StillThere<'a> {
    found: &'a StoredNode,
    key: Key,
    is_asked: bool,
}

impl<'a> StillThere<'a> {
    /// `None` if there is nothing to look at: the array was found in a copy of its document, or has none of its own.
    ///
    /// # Errors
    /// [`ErrorKind::Path`] if its document has no key that a store takes.
    pub fn new(found: &'a StoredNode) -> Result<Option<Self>> {
        let key = if found.documents.are_copies() { None } else { found.own_documents().next() };
        Ok(key.map(Key::new).transpose()?.map(|key| Self { found, key, is_asked: false }))
    }

    /// The key of the document that it gets.
    #[must_use]
    pub fn key(&self) -> &Key {
        &self.key
    }
}

impl Job for StillThere<'_> {
    type Output = ();
    type Error = Error;

    fn step(&mut self, replies: &[Reply]) -> Result<Next<Self>> {
        if !self.is_asked {
            self.is_asked = true;
            return Ok(Next::Ask(vec![jobs::get_document(self.key.clone())]));
        }
        match replies.first() {
            Some(Reply::Got(Some(fetched))) if still_reads(self.found, &self.key, fetched.part(0)) => {
                Ok(Next::Done(()))
            }
            Some(Reply::Got(Some(_))) => Err(gone(self.found, "another array is there now")),
            Some(Reply::Got(None)) => Err(gone(self.found, "the array is not there any more")),
            _ => Err(jobs::unfit()),
        }
    }
}

/// The prefix of a node that [`Store::pin`] takes: its documents and its chunks lie under it, and no other node that is not below it. `None`
/// where documents and chunks lie apart, and of the root.
///
/// # Errors
/// [`ErrorKind::Path`] if it is none that a store takes.
pub fn pin_prefix(found: &StoredNode) -> Result<Option<Prefix>> {
    let chunks = found.chunk_prefix();
    let has_all = |own: &String| {
        let is_below = |key: &str| key.starts_with(own.as_str());
        !own.is_empty() && is_below(&chunks) && found.own_documents().all(is_below)
    };
    Ok(found.own_prefixes().iter().find(|own| has_all(own)).map(|own| Prefix::new(own)).transpose()?)
}

/// The same store, in which the keys of a node are those that it has now: see [`Store::pin`]. `None` where that cannot be.
///
/// # Errors
/// [`ErrorKind::Store`].
pub fn pin(store: &dyn Store, found: &StoredNode) -> Result<Option<Arc<dyn Store>>> {
    Ok(pin_prefix(found)?.map_or(Ok(None), |prefix| store.pin(&prefix))?)
}

/// The error that an array is not the one any more that was opened.
#[must_use]
pub fn gone(found: &StoredNode, what: &str) -> Error {
    let message = format!("{what}: it was erased, moved or replaced after it was opened");
    let error = Error::new(ErrorKind::NotFound, message).at_path(&found.path);
    error.at(|location| location.key = found.own_documents().next().map(str::to_owned))
}

/// Whether chunks are read by a newer document as by the one that was found: the same but for attributes and a shape that has grown.
fn still_reads(found: &StoredNode, key: &Key, bytes: &[u8]) -> bool {
    if found.documents.get(key.as_str()) == Some(bytes) {
        return true;
    }
    let mut documents = found.documents.clone();
    documents.insert(key.as_str(), bytes);
    let read = |documents| reread(found.dialect, &found.path, documents).ok().map(|found| found.node);
    // As it is stored: who opened it may read it as another type.
    let (Some(Node::Array(old)), Some(Node::Array(new))) = (read(&found.documents), read(&documents)) else {
        return false;
    };
    let covers = old.shape.len() == new.shape.len() && old.shape.iter().zip(&new.shape).all(|(old, new)| old <= new);
    covers && same_chunks(&old, &new)
}

/// Whether the chunks of two arrays are read and written in the same way, as far as both have them: all is equal but for shape, attributes
/// and names of dimensions.
pub(super) fn same_chunks(old: &ArrayMetadata, new: &ArrayMetadata) -> bool {
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
    // NaN differs from itself as a number, not as the text that fill values are.
    layout_of_old == layout_of_new
}

/// Checks that an array that is stored now has its chunks as the one that was found before.
///
/// # Errors
/// [`gone`], if another array is there.
pub fn check_same_chunks(found: &StoredNode, newest: &StoredNode) -> Result<()> {
    let stored = |found: &StoredNode| reread(found.dialect, &found.path, &found.documents).ok().map(|found| found.node);
    match (stored(found), stored(newest)) {
        (Some(Node::Array(old)), Some(Node::Array(new))) if same_chunks(&old, &new) => Ok(()),
        _ => Err(gone(found, "another array is there now")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zarr_meta::{Dialect, Documents, NodePath};

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
