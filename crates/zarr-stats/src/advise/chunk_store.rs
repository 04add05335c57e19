//! Store of one chunk that has a size and no content, for plans of reads.

use std::fmt;
use std::sync::Arc;
use zarr_store::{
    AccessProfile, Answer, AsyncStore, BoxFuture, ByteRange, Bytes, Call, Capabilities, Error, Fetched, GetOptions,
    Key, MemoryStore, Result, Store, StoreKind, Version,
};

/// Store of an array with one chunk of `size` bytes, of which only the last are known: the index of a shard. Its document is in memory.
#[derive(Clone, Debug)]
pub(super) struct ChunkStore {
    pub(super) documents: Arc<MemoryStore>,
    /// Number of bytes of the value of every key without a document.
    pub(super) size: u64,
    /// Last bytes of the value.
    pub(super) end: Bytes,
    pub(super) profile: AccessProfile,
}

impl ChunkStore {
    fn get(&self, key: &Key, ranges: &[ByteRange], options: &GetOptions) -> Result<Answer> {
        let mut fetched = Fetched::new();
        fetched.size = Some(self.size);
        fetched.version = Some(Version::new("1"));
        options.check(self, key, &mut fetched)?;
        for range in ranges {
            let unknown =
                || Error::Range { store: self.to_string(), key: key.clone(), range: range.clone(), size: self.size };
            let wanted = range.resolve(self.size).ok_or_else(unknown)?;
            let known = self.size.saturating_sub(self.end.len() as u64);
            let at = |position: u64| usize::try_from(position.checked_sub(known)?).ok();
            let (start, end) = at(wanted.start).zip(at(wanted.end)).ok_or_else(unknown)?;
            fetched.push(self.end.slice(start..end));
        }
        Ok(Answer::Got(Some(fetched)))
    }
}

impl fmt::Display for ChunkStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("planned:")
    }
}

impl Store for ChunkStore {
    fn call(&self, call: Call<'_>) -> Result<Answer> {
        match &call {
            Call::Get { key, ranges, options } if !key.as_str().ends_with("zarr.json") => {
                self.get(key, ranges, options)
            }
            _ => self.documents.call(call),
        }
    }

    fn capabilities(&self) -> Capabilities {
        Store::capabilities(&*self.documents)
    }

    fn access_profile(&self) -> AccessProfile {
        self.profile
    }

    fn as_async(&self) -> Option<Arc<dyn AsyncStore>> {
        (self.profile.kind == StoreKind::Remote).then(|| Arc::new(self.clone()) as Arc<dyn AsyncStore>)
    }
}

impl AsyncStore for ChunkStore {
    fn call<'a>(&'a self, call: Call<'a>) -> BoxFuture<'a, Result<Answer>> {
        Box::pin(std::future::ready(Store::call(self, call)))
    }

    fn capabilities(&self) -> Capabilities {
        Store::capabilities(self)
    }

    fn access_profile(&self) -> AccessProfile {
        self.profile
    }
}
