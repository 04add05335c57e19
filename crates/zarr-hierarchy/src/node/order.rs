//! Order in which the documents of a node are written and erased.
//!
//! # Why
//! Documents are written after the chunks of the node and erased before them. Of several documents, the document without which there
//! is no node is written last and erased first. So an array that opens is complete, whatever operation was interrupted.
//!
//! - A new document is set on the condition that it does not exist: if two writers create the same node, one of them gets an error.
//!   Values under the keys of a new array's chunks are erased before (`leftovers.rs`).
//! - If a store exchanges prefixes, the new node is written beside the node that it replaces, and exchanged with it when it is complete
//!   (`exchange.rs`). Conversions do so with the chunks.
//! - If a store erases or renames all keys under a prefix at once, erasing and moving are one such request.
//!   Otherwise a move is a copy, after which the source is erased, its own document first: a repeated move never takes the
//!   rest of a source for the whole.
//! - The durability of documents and barriers keep the order through a loss of power: see `document_options` in `jobs.rs`.

use crate::{Result, jobs};
use zarr_meta::{Dialect, Documents, NodePath, StoredNode};
use zarr_store::{Key, Precondition, Prefix, Request};

/// Groups the changes of the documents of a node into steps. The document without which there is no node is written last, so that nobody
/// sees a node without its attributes. `after` are all documents after the change.
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

/// Returns the requests that change the documents of a node, in steps, the deciding document last. `when` returns the condition for setting
/// a document, from its key and from whether it is in the last step.
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

/// Role of a document in its node.
enum Role {
    /// The node also opens without the document, or the document belongs to several nodes.
    Optional,
    /// The node fails to open without the document.
    Required,
    /// There is no node without the document.
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

/// Returns the keys of the documents of a node in the order in which they are erased: first the document without which there is no node.
pub fn to_erase(found: &StoredNode) -> Vec<String> {
    let keys = found.own_documents().map(|key| (key.to_owned(), ())).collect();
    let steps = in_steps(found.dialect, &found.path, &found.documents, keys);
    steps.into_iter().rev().flatten().map(|(key, ())| key).collect()
}

/// Returns the prefix whose lock writers take to change the shape of an array: the prefix of its chunks if documents are there, too, so
/// that the prefix exists before the first chunk; otherwise the prefix of the document.
pub fn lock_prefix(found: &StoredNode) -> Result<Prefix> {
    let chunks = found.chunk_prefix();
    let document = found.own_documents().next();
    match document.filter(|key| !key.starts_with(&chunks)) {
        Some(key) => Ok(Key::new(key)?.parent()),
        None => Ok(Prefix::new(&chunks)?),
    }
}

/// Returns the prefix whose lock writers take to create a node, if no single document decides: a prefix that exists before the node.
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
