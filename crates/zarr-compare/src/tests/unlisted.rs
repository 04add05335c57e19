//! Tests with stores that fail to list although they can get values.

use super::registry;
use crate::{ArrayDigest, CompareOptions, Comparison, DigestOptions, Hash, Side};
use std::fmt;
use std::sync::Arc;
use zarr_array::{Array, NewArray, Result};
use zarr_store::{
    Answer, Call, Capabilities, Error, ErrorKind, Key, MemoryStore, Operation, Prefix, Store, fallback_blocking,
};

/// Store that fails to list all keys below a prefix.
#[derive(Debug)]
struct Unlisted(MemoryStore, ErrorKind);

impl fmt::Display for Unlisted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Unlisted {
    fn list_prefix(&self, prefix: &Prefix) -> zarr_store::Result<Vec<Key>> {
        Err(Error::failed(self, Operation::List, prefix.to_string(), self.1, "no lists here"))
    }
}

impl Store for Unlisted {
    fn call(&self, call: Call<'_>) -> zarr_store::Result<Answer> {
        Ok(match call {
            Call::ListPrefix { prefix } => Answer::Keys(self.list_prefix(&prefix)?),
            call @ (Call::Get { .. }
            | Call::Set { .. }
            | Call::Erase { .. }
            | Call::ListDir { .. }
            | Call::ListSizes { .. }) => return self.0.call(call),
            call => return fallback_blocking(self, call),
        })
    }

    fn access_profile(&self) -> zarr_store::AccessProfile {
        self.0.access_profile()
    }

    fn capabilities(&self) -> Capabilities {
        self.0.capabilities()
    }
}

/// Creates an array with two of ten chunks stored.
fn sparse(store: Arc<dyn Store>) -> Array {
    let new = NewArray::new(&[20], "int32").chunks(&[2]).codecs("bytes").unwrap().fill(7);
    let array = Array::create(&store, "/", new, &registry()).unwrap();
    array.write(4..8, &[1, 2, 3, 4]).unwrap();
    array
}

fn hash(array: &Array) -> Result<Hash> {
    Ok(ArrayDigest::of(array, &DigestOptions::default(), |_| {})?.hash)
}

#[test]
fn chunks_are_asked_for_where_lists_are_refused() {
    let listed = sparse(Arc::new(MemoryStore::new()));
    for kind in [ErrorKind::Denied, ErrorKind::Unsupported, ErrorKind::Path] {
        let unlisted = sparse(Arc::new(Unlisted(MemoryStore::new(), kind)));
        assert_eq!(hash(&unlisted).unwrap(), hash(&listed).unwrap(), "{kind:?}");
        let side = |array: &Array| Side::new(array.store(), array.path().clone());
        let options = CompareOptions::default();
        let comparison = Comparison::of(&side(&listed), &side(&unlisted), &registry(), &options, |_| {});
        assert!(comparison.unwrap().is_equal(), "{kind:?}");
    }
}

#[test]
fn other_failures_of_lists_are_errors() {
    for kind in [ErrorKind::Io, ErrorKind::Throttled, ErrorKind::TimedOut] {
        let error = hash(&sparse(Arc::new(Unlisted(MemoryStore::new(), kind)))).unwrap_err();
        assert_eq!(error.kind(), zarr_array::ErrorKind::Store, "{kind:?}: {error}");
        assert!(error.with_causes().contains("no lists here"), "{kind:?}: {error}");
    }
}
