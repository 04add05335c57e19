//! Form of the virtual store that does not block, for files in stores that do not block.

use std::time::Duration;

use zarr_store::{
    AccessProfile, AsyncStore, BoxFuture, ByteRange, Capabilities, Fetched, GetOptions, GotMany, Key, Listing,
    Location, Prefix, Result, SizeVisitor, ValueGet, sleep,
};

use crate::VirtualStore;
use crate::contents::Contents;
use crate::get::{Begin, Get};
use crate::together::Together;

impl VirtualStore {
    /// Runs `list`: at once if all tables of chunks are in memory, on another thread if chunks are looked up, since `list` then waits for
    /// files.
    async fn listed<T: Send + 'static>(&self, list: impl FnOnce(&Contents) -> Result<T> + Send + 'static) -> Result<T> {
        if !self.finds_chunks() {
            return list(self.contents());
        }
        let this = self.clone();
        self.contents().making.run(move || list(this.contents())).await?
    }
}

impl AsyncStore for VirtualStore {
    /// Gets a value. A file in a store that blocks is read during the poll of the future, which then blocks; a chunk that has to be made is
    /// made on another thread.
    fn get<'a>(
        &'a self,
        key: &'a Key,
        ranges: &'a [ByteRange],
        options: &'a GetOptions,
    ) -> BoxFuture<'a, Result<Option<Fetched>>> {
        Box::pin(async move {
            let contents = self.contents();
            let got = match contents.begin(key, ranges, options)? {
                Begin::Get(got) => got,
                Begin::Find(index, chunks) => {
                    let found = chunks.find_without_blocking(key, index).await?;
                    contents.found(found, key, ranges, options)?
                }
            };
            let asked = match got {
                Get::Done(reply) => return Ok(reply),
                Get::Ask(asked) => asked,
                Get::Make(chunk) => {
                    let bytes = self.contents().making.run(move || chunk.make()).await??;
                    return self.contents().made(key, bytes, ranges, options);
                }
            };
            let source = &asked.source;
            let got = match &source.not_blocking {
                Some(store) => store.get(&source.key, &asked.ranges, &asked.options).await,
                None => source.store.get(&source.key, &asked.ranges, &asked.options),
            };
            asked.end(got)
        })
    }

    fn get_many<'a>(&'a self, gets: Vec<ValueGet<'a>>) -> BoxFuture<'a, Result<GotMany>> {
        Box::pin(async move {
            let mut together = Together::new(self.contents(), &gets);
            for part in together.parts() {
                let Some(source) = part.source() else { continue };
                let (ranges, options) = ([part.range()], part.options());
                let got = match &source.not_blocking {
                    Some(store) => store.get(&source.key, &ranges, &options).await,
                    None => source.store.get(&source.key, &ranges, &options),
                };
                together.answered(part, got);
            }
            for (number, get) in together.rest() {
                let got = AsyncStore::get(self, &get.key, &get.ranges, &get.options).await;
                together.put(number, got);
            }
            together.end()
        })
    }

    fn location(&self, key: &Key) -> Option<Location> {
        self.contents().location(key)
    }

    fn list_dir<'a>(&'a self, prefix: &'a Prefix) -> BoxFuture<'a, Result<Listing>> {
        let prefix = prefix.clone();
        Box::pin(self.listed(move |contents| contents.list_dir(&prefix)))
    }

    fn list_prefix<'a>(&'a self, prefix: &'a Prefix) -> BoxFuture<'a, Result<Vec<Key>>> {
        let prefix = prefix.clone();
        Box::pin(self.listed(move |contents| contents.list_prefix(&prefix)))
    }

    fn list_sizes<'a>(&'a self, prefix: &'a Prefix, visit: &'a SizeVisitor) -> BoxFuture<'a, Result<()>> {
        let (prefix, visit) = (prefix.clone(), visit.clone());
        Box::pin(self.listed(move |contents| contents.visit_sizes(&prefix, &visit)))
    }

    fn capabilities(&self) -> Capabilities {
        Contents::CAPABILITIES
    }

    fn access_profile(&self) -> AccessProfile {
        self.contents().profile
    }

    fn pause(&self, duration: Duration) -> BoxFuture<'_, ()> {
        match self.contents().not_blocking() {
            Some(store) => Box::pin(async move { store.pause(duration).await }),
            None => Box::pin(sleep(duration)),
        }
    }

    fn take_warnings(&self) -> Vec<String> {
        self.contents().take_warnings()
    }
}
