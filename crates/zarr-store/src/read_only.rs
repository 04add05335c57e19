//! A store that takes no writes.

use std::fmt;

use crate::{
    ByteRange, Capabilities, Coalesce, Error, Fetched, GetOptions, Key, Listing, Lock, Operation, Placed, Precondition,
    Prefix, Result, SetOptions, Store, Version,
};

/// Another store with every write refused as [`Error::ReadOnly`].
#[derive(Clone, Debug)]
pub struct ReadOnly<S>(pub S);

impl<S: Store> ReadOnly<S> {
    fn refuse<T>(&self, operation: Operation) -> Result<T> {
        Err(Error::ReadOnly { store: self.to_string(), operation })
    }
}

impl<S: fmt::Display> fmt::Display for ReadOnly<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[deny(clippy::missing_trait_methods)]
impl<S: Store> Store for ReadOnly<S> {
    fn get(&self, key: &Key, ranges: &[ByteRange], into: &mut Fetched) -> Result<bool> {
        self.0.get(key, ranges, into)
    }

    fn get_with(&self, key: &Key, ranges: &[ByteRange], options: &GetOptions, into: &mut Fetched) -> Result<bool> {
        self.0.get_with(key, ranges, options, into)
    }

    fn get_into(&self, key: &Key, into: &mut [u8]) -> Result<Placed> {
        self.0.get_into(key, into)
    }

    fn set(&self, _key: &Key, _value: &[u8], _when: &Precondition) -> Result<Version> {
        self.refuse(Operation::Set)
    }

    fn set_with(&self, _key: &Key, _value: &[u8], _options: &SetOptions) -> Result<Version> {
        self.refuse(Operation::Set)
    }

    fn set_many(&self, _values: &[(&Key, &[u8])]) -> Result<()> {
        self.refuse(Operation::Set)
    }

    fn erase(&self, _key: &Key) -> Result<()> {
        self.refuse(Operation::Erase)
    }

    fn list_dir(&self, prefix: &Prefix) -> Result<Listing> {
        self.0.list_dir(prefix)
    }

    fn size(&self, key: &Key) -> Result<Option<u64>> {
        self.0.size(key)
    }

    fn list_prefix(&self, prefix: &Prefix) -> Result<Vec<Key>> {
        self.0.list_prefix(prefix)
    }

    fn erase_prefix(&self, _prefix: &Prefix) -> Result<()> {
        self.refuse(Operation::Erase)
    }

    fn set_partial(&self, _key: &Key, _parts: &[(u64, &[u8])]) -> Result<()> {
        self.refuse(Operation::Set)
    }

    fn rename_prefix(&self, _from: &Prefix, _to: &Prefix) -> Result<bool> {
        self.refuse(Operation::Set)
    }

    fn find_link(&self, prefix: &Prefix) -> Result<Option<String>> {
        self.0.find_link(prefix)
    }

    fn try_lock(&self, _prefix: &Prefix) -> Result<Option<Lock>> {
        self.refuse(Operation::Set)
    }

    fn take_warnings(&self) -> Vec<String> {
        self.0.take_warnings()
    }

    fn flush(&self) -> Result<()> {
        self.0.flush()
    }

    fn barrier(&self) -> Result<()> {
        self.0.barrier()
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { write: false, conditional: false, durable: false, ..self.0.capabilities() }
    }

    fn coalesce(&self) -> Coalesce {
        self.0.coalesce()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MemoryStore, StoreExt, testing};

    #[test]
    fn reads_and_refuses_writes() {
        let inner = MemoryStore::new();
        let key = Key::new("a/b").expect("a key");
        inner.set_all(&key, b"value").expect("set");
        let store = ReadOnly(&inner);
        testing::contract_read(&store, &[("a/b", b"value")]);
        testing::contract_read_only(&store);
        assert_eq!(inner.get_all(&key).expect("get").as_deref(), Some(&b"value"[..]));
    }
}
