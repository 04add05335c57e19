//! The order in which the documents of a node are written and erased.
//!
//! # Why
//! Documents are written after the chunks that they show, and erased before them, and of several documents the one without which there
//! is no node is the last to be written and the first to be erased. So whatever is interrupted, an array that opens is complete.
//!
//! - A new document is set on the condition that there is none: of two who create the same node, one gets the error that it exists.
//!   Values under the keys of a new array's chunks are erased before (`leftovers.rs`).
//! - Where a store exchanges two prefixes, a node that is replaced stays whole until the new one takes its place, which is written
//!   beside it (`exchange.rs`). Conversions do so with the chunks.
//! - Where a store makes all keys under a prefix vanish, or gives them another name, at once, erasing and moving are that one request.
//!   Elsewhere a move is a copy, after which the source is erased, its own document first: a move that is run again never takes the
//!   rest of a source for the whole.
//! - Through a loss of power the order is kept by the durability of documents and by barriers: see `document_options` in `jobs.rs`.

use crate::{Result, jobs};
use zarr_meta::{Dialect, Documents, NodePath, StoredNode};
use zarr_store::{Key, Precondition, Prefix, Request};

/// The changes of the documents of a node, in steps. The document without which there is no node is the last to be written, so
/// that nobody sees a node without its attributes. `after` are all documents as they will be.
fn in_steps<T>(
    dialect: Dialect,
    path: &NodePath,
    after: &Documents,
    changes: Vec<(String, T)>,
) -> Vec<Vec<(String, T)>> {
    if changes.len() < 2 {
        return vec![changes];
    }
    let [mut optional, mut required, mut deciding] = [const { Vec::new() }; 3];
    for (key, change) in changes {
        let step = match role(dialect, path, after, &key) {
            Role::Optional => &mut optional,
            Role::Required => &mut required,
            Role::Deciding => &mut deciding,
        };
        step.push((key, change));
    }
    [optional, required, deciding].into_iter().filter(|step| !step.is_empty()).collect()
}

/// The requests that change the documents of a node, in these steps. `when` gives the condition on which a document is
/// set, from whether that is in the last step.
pub fn requests(
    dialect: Dialect,
    path: &NodePath,
    after: &Documents,
    changes: Vec<(String, Option<Vec<u8>>)>,
    when: impl Fn(&Key, bool) -> Precondition,
) -> Result<Vec<Vec<Request>>> {
    let steps = in_steps(dialect, path, after, changes);
    let last = steps.len().saturating_sub(1);
    let request = |is_last: bool, (key, value): (String, Option<Vec<u8>>)| {
        let key = Key::new(&key)?;
        Ok(match value {
            Some(value) => {
                let when = when(&key, is_last);
                jobs::set_document(key, value, when, is_last)
            }
            None => Request::Erase { key },
        })
    };
    let step =
        |(number, step): (usize, Vec<_>)| step.into_iter().map(|change| request(number == last, change)).collect();
    steps.into_iter().enumerate().map(step).collect()
}

/// The part of a document in its node.
enum Role {
    /// Without it the node still opens, or it is a document of several nodes.
    Optional,
    /// Without it the node fails to open.
    Required,
    /// Without it there is no node.
    Deciding,
}

fn role(dialect: Dialect, path: &NodePath, documents: &Documents, key: &str) -> Role {
    if zarr_meta::entry_point_key(dialect) == Some(key) && !path.is_root() {
        return Role::Optional;
    }
    let mut without = documents.clone();
    without.apply(&[(key.to_owned(), None)]);
    match StoredNode::read(dialect, path.clone(), &without) {
        Ok(Some(found)) if !found.implicit => Role::Optional,
        Ok(_) => Role::Deciding,
        Err(_) => Role::Required,
    }
}

/// The keys of the documents of a node in the order in which they are erased: the one without which there is no node first.
pub fn to_erase(found: &StoredNode) -> Vec<String> {
    let keys = found.own_documents().map(|key| (key.to_owned(), ())).collect();
    let steps = in_steps(found.dialect, &found.path, &found.documents, keys);
    steps.into_iter().rev().flatten().map(|(key, ())| key).collect()
}

/// The prefix whose lock writers take to change the shape of an array: the prefix of its chunks, if documents lie there
/// as well, so that the prefix is there before the first chunk.
pub fn lock_prefix(found: &StoredNode) -> Result<Prefix> {
    let chunks = found.chunk_prefix();
    let document = found.own_documents().next();
    match document.filter(|key| !key.starts_with(&chunks)) {
        Some(key) => Ok(Key::new(key)?.parent()),
        None => Ok(Prefix::new(&chunks)?),
    }
}

/// The prefix whose lock writers take to create a node, where no document decides: one that is there before the node.
pub(crate) fn creation_lock_prefix(found: &StoredNode) -> Result<Prefix> {
    let below = found.path.key_prefix();
    let document = found.own_documents().next();
    match document.filter(|key| !key.starts_with(&below)) {
        Some(key) => Ok(Key::new(key)?.parent()),
        None => Ok(Prefix::new(&found.path.parent().map_or_else(String::new, |path| path.key_prefix()))?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document_that_decides_is_the_last_to_be_written() {
        let path = NodePath::parse("/a").expect("a path");
        let array = r#"{"zarr_format": 2, "shape": [1], "chunks": [1], "dtype": "|i1", "compressor": null, "fill_value": 0,
            "order": "C", "filters": null}"#;
        let documents: Documents = [("a/.zarray", array), ("a/.zattrs", r#"{"a": 1}"#)]
            .map(|(key, text)| (key.to_owned(), text.into()))
            .into_iter()
            .collect();
        let changes = vec![("a/.zarray".to_owned(), ()), ("a/.zattrs".to_owned(), ())];
        let steps = in_steps(Dialect::V2, &path, &documents, changes);
        let keys: Vec<Vec<&str>> =
            steps.iter().map(|step| step.iter().map(|(key, ())| key.as_str()).collect()).collect();
        assert_eq!(keys, [["a/.zattrs"], ["a/.zarray"]]);
        let found = StoredNode::read(Dialect::V2, path, &documents).expect("sound").expect("there");
        assert_eq!(to_erase(&found), ["a/.zarray", "a/.zattrs"]);
    }
}
