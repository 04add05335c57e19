//! Form of the store of a snapshot that does not block.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use zarr_store::{
    AccessProfile, AsyncStore, BoxFuture, ByteRange, Capabilities, Fetched, GetOptions, Key, Listing, Prefix, Result,
    SizeVisitor, sleep,
};

use super::Inner;
use zarr_store_virtual::lookup::Way;

#[derive(Debug)]
pub(super) struct NotBlocking(pub(super) Arc<Inner>);

impl fmt::Display for NotBlocking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.name)
    }
}

impl AsyncStore for NotBlocking {
    fn get<'a>(
        &'a self,
        key: &'a Key,
        ranges: &'a [ByteRange],
        options: &'a GetOptions,
    ) -> BoxFuture<'a, Result<Option<Fetched>>> {
        Box::pin(self.0.get(Way::NotBlocking, key, ranges, options))
    }

    fn list_dir<'a>(&'a self, prefix: &'a Prefix) -> BoxFuture<'a, Result<Listing>> {
        Box::pin(self.0.list_dir(Way::NotBlocking, prefix))
    }

    fn list_prefix<'a>(&'a self, prefix: &'a Prefix) -> BoxFuture<'a, Result<Vec<Key>>> {
        Box::pin(self.0.list_prefix(Way::NotBlocking, prefix))
    }

    fn list_sizes<'a>(&'a self, prefix: &'a Prefix, visit: &'a SizeVisitor) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move { self.0.visit(Way::NotBlocking, prefix, &mut |key, size| visit(key, size)).await })
    }

    fn capabilities(&self) -> Capabilities {
        Inner::CAPABILITIES
    }

    fn access_profile(&self) -> AccessProfile {
        self.0
            .below
            .not_blocking()
            .map_or_else(|| self.0.below.store().access_profile(), |store| store.access_profile())
    }

    fn pause(&self, duration: Duration) -> BoxFuture<'_, ()> {
        match self.0.below.not_blocking() {
            Some(store) => store.pause(duration),
            None => Box::pin(sleep(duration)),
        }
    }

    fn take_warnings(&self) -> Vec<String> {
        self.0.below.store().take_warnings()
    }
}
