//! Sources that chunks are made of: files, and code.

use std::fmt;
use std::sync::Arc;

use zarr_store::{AsyncStore, GetOptions, Key, Result, Snapshot, Store, Version};

/// A file that chunks lie in, by its number in the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceId(pub(crate) u32);

/// Makes the bytes of chunks that lie in no file as a codec could read them.
pub trait MakeChunk: Send + Sync + fmt::Debug {
    /// The bytes of the chunk with this number: the same at each call.
    ///
    /// # Errors
    /// The errors of the store below; [`zarr_store::Error::Format`] where the file is at fault.
    fn make(&self, number: u32) -> Result<zarr_store::Bytes>;

    /// The number of these bytes. By default the chunk is made.
    ///
    /// # Errors
    /// As [`make`](Self::make).
    fn size(&self, number: u32) -> Result<u64> {
        self.make(number).map(|bytes| bytes.len() as u64)
    }
}

/// A file: a value of another store.
#[derive(Clone)]
pub(crate) struct Source {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) not_blocking: Option<Arc<dyn AsyncStore>>,
    pub(crate) key: Key,
    /// The state that was opened, if the file is read in that alone.
    pub(crate) state: Option<State>,
}

#[derive(Clone)]
pub(crate) struct State {
    pub(crate) snapshot: Snapshot,
    /// The options of gets of this state.
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

/// A file of the store, or one that a chunk was found in.
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
