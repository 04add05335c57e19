//! The store without blocking, where files are in stores that do not block.

use std::time::Duration;

use zarr_store::{
    AccessProfile, AsyncStore, BoxFuture, ByteRange, Capabilities, Fetched, GetOptions, Key, Listing, Prefix, Result,
    SizeVisitor, sleep,
};

use crate::VirtualStore;
use crate::contents::Contents;
use crate::get::Get;

impl AsyncStore for VirtualStore {
    /// Files in stores that block are read where the future is polled.
    fn get<'a>(
        &'a self,
        key: &'a Key,
        ranges: &'a [ByteRange],
        options: &'a GetOptions,
    ) -> BoxFuture<'a, Result<Option<Fetched>>> {
        Box::pin(async move {
            let asked = match self.contents().get(key, ranges, options)? {
                Get::Done(reply) => return Ok(reply),
                Get::Ask(asked) => asked,
            };
            let source = asked.source;
            let got = match &source.not_blocking {
                Some(store) => store.get(&source.key, &asked.ranges, &asked.options).await,
                None => source.store.get(&source.key, &asked.ranges, &asked.options),
            };
            asked.end(got)
        })
    }

    fn list_dir<'a>(&'a self, prefix: &'a Prefix) -> BoxFuture<'a, Result<Listing>> {
        Box::pin(async move { self.contents().list_dir(prefix) })
    }

    fn list_prefix<'a>(&'a self, prefix: &'a Prefix) -> BoxFuture<'a, Result<Vec<Key>>> {
        Box::pin(async move { self.contents().list_prefix(prefix) })
    }

    fn list_sizes<'a>(&'a self, prefix: &'a Prefix, visit: &'a SizeVisitor) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move { self.contents().visit_sizes(prefix, visit) })
    }

    fn capabilities(&self) -> Capabilities {
        Contents::CAPABILITIES
    }

    fn access_profile(&self) -> AccessProfile {
        self.contents().profile
    }

    fn pause(&self, duration: Duration) -> BoxFuture<'_, ()> {
        match self.contents().sources.iter().find_map(|source| source.not_blocking.as_ref()) {
            Some(store) => store.pause(duration),
            None => Box::pin(sleep(duration)),
        }
    }

    fn take_warnings(&self) -> Vec<String> {
        self.contents().take_warnings()
    }
}
