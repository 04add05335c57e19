//! A store that does not block as one that does.

use std::fmt;

use zarr_store::{
    AccessProfile, AsyncStore, ByteRange, Bytes, Capabilities, Fetched, GetOptions, Key, Listing, Prefix, Result,
    SetOptions, Store, Version, block_on,
};

/// A store whose operations are waited for on the calling thread, which needs no runtime.
#[derive(Debug)]
pub(crate) struct Blocking<'s, S>(pub(crate) &'s S);

impl<S: AsyncStore> fmt::Display for Blocking<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self.0, f)
    }
}

impl<S: AsyncStore> Store for Blocking<'_, S> {
    fn get(&self, key: &Key, ranges: &[ByteRange], options: &GetOptions) -> Result<Option<Fetched>> {
        block_on(self.0.get(key, ranges, options))
    }

    fn capabilities(&self) -> Capabilities {
        self.0.capabilities()
    }

    fn access_profile(&self) -> AccessProfile {
        self.0.access_profile()
    }

    fn set(&self, key: &Key, value: &[u8], options: &SetOptions) -> Result<Option<Version>> {
        block_on(self.0.set(key, Bytes::copy_from_slice(value), options))
    }

    fn erase(&self, key: &Key) -> Result<()> {
        block_on(self.0.erase(key))
    }

    fn list_dir(&self, prefix: &Prefix) -> Result<Listing> {
        block_on(self.0.list_dir(prefix))
    }

    fn list_prefix(&self, prefix: &Prefix) -> Result<Vec<Key>> {
        block_on(self.0.list_prefix(prefix))
    }

    fn erase_prefix(&self, prefix: &Prefix) -> Result<()> {
        block_on(self.0.erase_prefix(prefix))
    }
}
