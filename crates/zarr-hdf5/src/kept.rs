//! Store of a remote file that answers reads of the first blocks from memory.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use zarr_store::{
    Answer, Below, ByteRange, Call, Fetched, GetOptions, Key, Result, Snapshot, Store, StoreBase, Wrapper,
};
use zarr_store_virtual::KeptBlocks;

/// Store that contains the file, and the first blocks of the file, which were read when it was opened: coordinates often lie next to the
/// metadata.
#[derive(Debug)]
pub(crate) struct Kept<S> {
    store: S,
    blocks: Arc<KeptFile>,
}

/// First blocks of the file `key` in the version `state`.
#[derive(Debug)]
struct KeptFile {
    key: Key,
    state: Snapshot,
    blocks: KeptBlocks,
}

impl<S> Kept<S> {
    pub(crate) fn new(store: S, key: Key, state: Snapshot, blocks: KeptBlocks) -> Self {
        Self { store, blocks: Arc::new(KeptFile { key, state, blocks }) }
    }
}

impl KeptFile {
    /// Returns the reply to a get request from memory; `None` unless the request is for `self.key` in the version `self.state` and all
    /// ranges are in the blocks.
    fn get(&self, key: &Key, ranges: &[ByteRange], options: &GetOptions) -> Option<Fetched> {
        if *key != self.key || ranges.is_empty() || options.if_match.as_ref() != Some(&self.state) {
            return None;
        }
        let mut fetched = Fetched::new();
        for range in ranges {
            fetched.push(self.blocks.bytes(range.bounded()?.clone())?);
        }
        fetched.size = Some(self.blocks.size());
        fetched.version = self.state.version().cloned();
        fetched.snapshot = options.snapshot.then(|| self.state.clone());
        Some(fetched)
    }
}

impl<S: fmt::Display> fmt::Display for Kept<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.store.fmt(f)
    }
}

impl<S: StoreBase> Wrapper for Kept<S> {
    type Below = S;
    type Over<T: StoreBase + 'static> = Kept<T>;

    fn below(&self) -> &S {
        &self.store
    }

    fn over<T: StoreBase + 'static>(&self, below: T) -> Kept<T> {
        Kept { store: below, blocks: Arc::clone(&self.blocks) }
    }

    async fn answer<'a, B: Below + 'a>(&'a self, below: B, call: Call<'a>) -> Result<Answer> {
        if let Call::Get { key, ranges, options } = &call
            && let Some(fetched) = self.blocks.get(key, ranges, options)
        {
            return Ok(Answer::Got(Some(fetched)));
        }
        below.call(call).await
    }

    fn copied<'k>(&self, key: &'k Key) -> Option<Cow<'k, Key>> {
        Some(Cow::Borrowed(key))
    }

    fn parent_over(&self, parent: Arc<dyn Store>) -> Option<Arc<dyn Store>> {
        Some(parent)
    }
}
