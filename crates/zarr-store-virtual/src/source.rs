//! Sources of chunks: files, and code that makes chunks.

use std::fmt;
use std::sync::Arc;

use zarr_store::{AsyncStore, GetOptions, Key, Result, Snapshot, Store, Version};

/// Number of a file in its [`VirtualStore`](crate::VirtualStore), as its builder returns it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceId(pub(crate) u32);

/// Maker of chunks that no file contains in a form that a codec can decode.
pub trait MakeChunk: Send + Sync + fmt::Debug {
    /// Makes the bytes of the chunk that the maker knows by `number`: the same bytes at each call.
    ///
    /// # Errors
    /// The errors of the store that contains the file; [`zarr_store::Error::Format`] if the file is invalid.
    fn make(&self, number: u32) -> Result<zarr_store::Bytes>;

    /// Returns the size in bytes of the chunk that the maker knows by `number`. By default this makes the chunk.
    ///
    /// # Errors
    /// The errors of [`make`](Self::make).
    fn size(&self, number: u32) -> Result<u64> {
        self.make(number).map(|bytes| bytes.len() as u64)
    }
}

/// File that contains chunks: a value of another store.
#[derive(Clone)]
pub(crate) struct Source {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) not_blocking: Option<Arc<dyn AsyncStore>>,
    pub(crate) key: Key,
    /// State to which the file is pinned; `None` if each get reads the newest state.
    pub(crate) state: Option<State>,
}

#[derive(Clone)]
pub(crate) struct State {
    pub(crate) snapshot: Snapshot,
    /// Options of gets that fail if the file has another state.
    pub(crate) options: GetOptions,
}

impl State {
    pub(crate) fn version(&self) -> Option<&Version> {
        self.snapshot.version()
    }
}

impl Source {
    pub(crate) fn new(store: Arc<dyn Store>, key: Key, snapshot: Option<Snapshot>) -> Self {
        let state = snapshot.map(|snapshot| State { options: GetOptions::if_match(Some(snapshot.clone())), snapshot });
        Self { not_blocking: store.as_async(), store, key, state }
    }
}

/// File that contains a chunk: a source of the store, or a file that a look-up has found.
pub(crate) enum SourceRef<'a> {
    Held(&'a Source),
    Found(Box<Source>),
}

impl std::ops::Deref for SourceRef<'_> {
    type Target = Source;

    fn deref(&self) -> &Source {
        match self {
            Self::Held(source) => source,
            Self::Found(source) => source,
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let store = self.store.to_string();
        let between = if store.ends_with(['/', ':']) { "" } else { "/" };
        write!(f, "{store}{between}{}", self.key)
    }
}
