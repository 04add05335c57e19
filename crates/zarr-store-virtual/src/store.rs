//! Read-only store of documents in memory and of chunks in files.

use std::fmt;
use std::sync::Arc;

use zarr_store::{
    AccessProfile, Answer, AsyncStore, ByteRange, Call, Capabilities, Fetched, GetOptions, GotMany, Key, Location,
    Result, Store, StoreExt, ValueGet, fallback_blocking,
};

use crate::contents::Contents;
use crate::get::{Begin, Get};
use crate::together::Together;

/// Read-only store of documents in memory, and of chunks that are ranges of files, bytes in memory, or made when they are read.
///
/// A chunk has the version of the file that contains it. A file that was added with a state is read in this state only: a get fails if the
/// file has another state. Clones share their contents.
#[derive(Clone)]
pub struct VirtualStore(Arc<Contents>);

impl VirtualStore {
    pub(crate) fn new(contents: Contents) -> Self {
        Self(Arc::new(contents))
    }

    pub(crate) fn contents(&self) -> &Contents {
        &self.0
    }
}

impl fmt::Display for VirtualStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for VirtualStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VirtualStore")
            .field("name", &self.0.name)
            .field("documents", &self.0.documents.len())
            .field("arrays", &self.0.arrays.len())
            .field("sources", &self.0.sources.len())
            .finish_non_exhaustive()
    }
}

impl VirtualStore {
    /// Returns ranges of a value; `None` if the key does not exist.
    fn read(&self, key: &Key, ranges: &[ByteRange], options: &GetOptions) -> Result<Option<Fetched>> {
        let got = match self.0.begin(key, ranges, options)? {
            Begin::Get(got) => got,
            Begin::Find(index, chunks) => self.0.found(chunks.find(key, index)?, key, ranges, options)?,
        };
        match got {
            Get::Done(reply) => Ok(reply),
            Get::Ask(asked) => {
                let got = asked.source.store.get(&asked.source.key, &asked.ranges, &asked.options);
                asked.end(got)
            }
            Get::Make(chunk) => self.0.made(key, chunk.make()?, ranges, options),
        }
    }

    /// Gets several values, those that lie beside each other by one request.
    fn read_many(&self, gets: Vec<ValueGet<'_>>) -> Result<GotMany> {
        let mut together = Together::new(&self.0, &gets);
        for part in together.parts() {
            let Some(source) = part.source() else { continue };
            let got = source.store.get(&source.key, &[part.range()], &part.options());
            together.answered(part, got);
        }
        for (number, get) in together.rest() {
            together.put(number, self.read(&get.key, &get.ranges, &get.options));
        }
        together.end()
    }
}

impl Store for VirtualStore {
    fn call(&self, call: Call<'_>) -> Result<Answer> {
        Ok(match call {
            Call::Get { key, ranges, options } => Answer::Got(self.read(&key, &ranges, &options)?),
            Call::GetMany { gets } => Answer::GotMany(self.read_many(gets)?),
            Call::ListDir { prefix } => Answer::Listing(self.0.list_dir(&prefix)?),
            Call::ListPrefix { prefix } => Answer::Keys(self.0.list_prefix(&prefix)?),
            Call::ListSizes { prefix, visit } => self.0.visit_sizes(&prefix, &visit)?.into(),
            call => return fallback_blocking(self, call),
        })
    }

    fn location(&self, key: &Key) -> Option<Location> {
        self.0.location(key)
    }

    fn capabilities(&self) -> Capabilities {
        Contents::CAPABILITIES
    }

    fn access_profile(&self) -> AccessProfile {
        self.0.profile
    }

    fn as_async(&self) -> Option<Arc<dyn AsyncStore>> {
        self.0.not_blocking().map(|_| Arc::new(self.clone()) as Arc<dyn AsyncStore>)
    }

    fn take_warnings(&self) -> Vec<String> {
        self.0.take_warnings()
    }
}
