//! Inputs of several files: the keys and values of a store, and the path of the node in it.
//!
//! An input is a line with the path; then, for each value, a line with its key and the number of its bytes, followed by the bytes.

use std::sync::Arc;
use zarr_store::{Key, MemoryStore, Store, StoreExt};

/// Values of a store by their keys, and the path of a node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Files {
    pub(super) path: String,
    pub(super) values: Vec<(String, Vec<u8>)>,
}

impl Files {
    pub(super) fn parse(input: &[u8]) -> Self {
        let (path, mut rest) = line(input);
        let mut files = Self { path, values: Vec::new() };
        while !rest.is_empty() {
            let (head, after) = line(rest);
            let (key, len) = head.rsplit_once(' ').unwrap_or((&head, ""));
            // A fuzzer that does not know the form may leave the last value without its length.
            let len = len.parse::<usize>().unwrap_or(after.len()).min(after.len());
            let (value, after) = after.split_at(len);
            files.values.push((key.to_owned(), value.to_vec()));
            rest = after;
        }
        files
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = format!("{}\n", self.path.replace('\n', "")).into_bytes();
        for (key, value) in &self.values {
            bytes.extend_from_slice(format!("{} {}\n", key.replace('\n', ""), value.len()).as_bytes());
            bytes.extend_from_slice(value);
        }
        bytes
    }

    /// Returns a store with the values whose keys are valid.
    pub(super) fn store(&self) -> Arc<dyn Store> {
        let store = MemoryStore::new();
        for (key, value) in &self.values {
            if let Ok(key) = Key::new(key) {
                // A store in memory refuses no value.
                let _ = store.set_all(&key, value);
            }
        }
        Arc::new(store)
    }
}

/// Returns the first line, and the bytes after it.
pub(super) fn line(bytes: &[u8]) -> (String, &[u8]) {
    let end = bytes.iter().position(|&byte| byte == b'\n').unwrap_or(bytes.len());
    let (line, rest) = bytes.split_at(end);
    (String::from_utf8_lossy(line).into_owned(), rest.get(1..).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_files_are_read() {
        let values = vec![("a b".to_owned(), b"x\ny".to_vec()), ("c".to_owned(), Vec::new())];
        let files = Files { path: "/a".to_owned(), values };
        assert_eq!(Files::parse(&files.to_bytes()), files);
        let cut = Files::parse(b"/\nzarr.json\n{}");
        assert_eq!(cut.values, [("zarr.json".to_owned(), b"{}".to_vec())]);
        assert!(Files::parse(b"").values.is_empty());
    }
}
