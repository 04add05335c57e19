//! Form of the virtual store that does not block, for files in stores that do not block.

use std::time::Duration;

use zarr_store::{
    AccessProfile, Answer, AsyncStore, AsyncStoreExt, Asynchronous, BoxFuture, ByteRange, Call, Capabilities, Fetched,
    GetOptions, GotMany, Key, Location, Result, StoreExt, ValueGet, fallback, sleep,
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

impl VirtualStore {
    /// Gets ranges of a value. A file in a store that blocks is read during the poll of the future, which then blocks; a chunk that has to
    /// be made is made on another thread.
    async fn read_not_blocking(
        &self,
        key: &Key,
        ranges: &[ByteRange],
        options: &GetOptions,
    ) -> Result<Option<Fetched>> {
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
    }

    /// Gets several values. Ranges that lie near each other in one file are one request.
    async fn read_many_not_blocking(&self, gets: Vec<ValueGet<'_>>) -> Result<GotMany> {
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
            let got = self.read_not_blocking(&get.key, &get.ranges, &get.options).await;
            together.put(number, got);
        }
        together.end()
    }
}

impl AsyncStore for VirtualStore {
    fn call<'a>(&'a self, call: Call<'a>) -> BoxFuture<'a, Result<Answer>> {
        Box::pin(async move {
            Ok(match call {
                Call::Get { key, ranges, options } => {
                    Answer::Got(self.read_not_blocking(&key, &ranges, &options).await?)
                }
                Call::GetMany { gets } => Answer::GotMany(self.read_many_not_blocking(gets).await?),
                Call::ListDir { prefix } => {
                    let prefix = prefix.into_owned();
                    Answer::Listing(self.listed(move |contents| contents.list_dir(&prefix)).await?)
                }
                Call::ListPrefix { prefix } => {
                    let prefix = prefix.into_owned();
                    Answer::Keys(self.listed(move |contents| contents.list_prefix(&prefix)).await?)
                }
                Call::ListSizes { prefix, visit } => {
                    let (prefix, visit) = (prefix.into_owned(), visit.into_owned());
                    self.listed(move |contents| contents.visit_sizes(&prefix, &visit)).await?.into()
                }
                call => return fallback(Asynchronous(self), call).await,
            })
        })
    }

    fn location(&self, key: &Key) -> Option<Location> {
        self.contents().location(key)
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
