//! A store that counts requests.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;

use crate::{
    AsyncStore, BoxFuture, ByteRange, Copied, CopySource, Durability, Fetched, GetInto, GetOptions, Key, Listing,
    Prefix, Result, SetOptions, SetStream, SizeVisitor, Store, Version,
};

/// Another store that counts the requests to it: for tests of plans.
#[derive(Debug, Default)]
pub struct Counted<S> {
    store: S,
    /// Shared with the form that does not block.
    tally: Arc<Tally>,
}

#[derive(Debug, Default)]
struct Tally {
    gets: AtomicU64,
    ranges: AtomicU64,
    sets: AtomicU64,
    erases: AtomicU64,
    lists: AtomicU64,
    flushes: AtomicU64,
    bytes_read: AtomicU64,
    bytes_written: AtomicU64,
}

/// The requests to a store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counts {
    /// Gets, including gets without ranges.
    pub gets: u64,
    /// Ranges in those gets.
    pub ranges: u64,
    /// Sets, partial ones and copies included. One that is streamed counts when it is finished.
    pub sets: u64,
    /// Erases, of prefixes included.
    pub erases: u64,
    /// Listings.
    pub lists: u64,
    /// Flushes and barriers.
    pub flushes: u64,
    /// Bytes that gets returned.
    pub bytes_read: u64,
    /// Bytes that sets took.
    pub bytes_written: u64,
}

impl<S> Counted<S> {
    /// Counts the requests to `store` from now on.
    #[must_use]
    pub fn new(store: S) -> Self {
        Self { store, tally: Arc::default() }
    }

    /// The requests since the start, or since this was called last; counts from zero again.
    pub fn take(&self) -> Counts {
        self.gather(|count| count.swap(0, Ordering::Relaxed))
    }

    /// The requests since the start, or since [`take`](Self::take) was called last.
    pub fn counts(&self) -> Counts {
        self.gather(|count| count.load(Ordering::Relaxed))
    }

    /// The store counted.
    pub fn inner(&self) -> &S {
        &self.store
    }

    fn gather(&self, read: impl Fn(&AtomicU64) -> u64) -> Counts {
        Counts {
            gets: read(&self.tally.gets),
            ranges: read(&self.tally.ranges),
            sets: read(&self.tally.sets),
            erases: read(&self.tally.erases),
            lists: read(&self.tally.lists),
            flushes: read(&self.tally.flushes),
            bytes_read: read(&self.tally.bytes_read),
            bytes_written: read(&self.tally.bytes_written),
        }
    }
}

impl Tally {
    fn asked(&self, ranges: &[ByteRange]) {
        add(&self.gets, 1);
        add(&self.ranges, ranges.len());
    }

    fn got(&self, fetched: Option<Fetched>) -> Option<Fetched> {
        add(&self.bytes_read, fetched.iter().flat_map(Fetched::parts).map(<[u8]>::len).sum());
        fetched
    }

    fn copied(&self, copied: Copied) -> Copied {
        add(&self.sets, usize::from(copied == Copied::Done));
        copied
    }

    /// A set that is streamed counts when it is finished.
    fn appended(&self, pieces: &[Bytes]) {
        add(&self.bytes_written, pieces.iter().map(Bytes::len).sum());
    }

    fn set(&self, size: usize) {
        add(&self.sets, 1);
        add(&self.bytes_written, size);
    }
}

fn add(count: &AtomicU64, n: usize) {
    count.fetch_add(n as u64, Ordering::Relaxed);
}

impl<S: fmt::Display> fmt::Display for Counted<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.store.fmt(f)
    }
}

#[deny(clippy::missing_trait_methods)]
impl<S: Store> Store for Counted<S> {
    fn get(&self, key: &Key, ranges: &[ByteRange], options: &GetOptions) -> Result<Option<Fetched>> {
        self.tally.asked(ranges);
        let fetched = self.store.get(key, ranges, options)?;
        Ok(self.tally.got(fetched))
    }

    fn get_into(&self, key: &Key, into: &mut [u8]) -> Result<GetInto> {
        let outcome = self.store.get_into(key, into)?;
        if outcome != GetInto::Declined {
            add(&self.tally.gets, 1);
            add(&self.tally.ranges, 1);
        }
        if let GetInto::Found(size) = outcome {
            add(&self.tally.bytes_read, into.len().min(usize::try_from(size).unwrap_or(usize::MAX)));
        }
        Ok(outcome)
    }

    fn set(&self, key: &Key, value: &[u8], options: &SetOptions) -> Result<Option<Version>> {
        self.tally.set(value.len());
        self.store.set(key, value, options)
    }

    fn set_pieces(&self, key: &Key, pieces: &[&[u8]], options: &SetOptions) -> Result<Option<Version>> {
        self.tally.set(pieces.iter().map(|piece| piece.len()).sum());
        self.store.set_pieces(key, pieces, options)
    }

    fn append_to_set(&self, key: &Key, stream: &SetStream, pieces: Vec<Bytes>) -> Result<()> {
        self.tally.appended(&pieces);
        self.store.append_to_set(key, stream, pieces)
    }

    fn finish_set(&self, key: &Key, stream: &SetStream, head: Bytes) -> Result<Option<Version>> {
        self.tally.set(head.len());
        self.store.finish_set(key, stream, head)
    }

    fn set_many(&self, values: &[(&Key, &[u8])]) -> Result<()> {
        add(&self.tally.sets, values.len());
        add(&self.tally.bytes_written, values.iter().map(|(_, value)| value.len()).sum());
        self.store.set_many(values)
    }

    fn create_many(&self, values: &[(&Key, &[u8])], durability: Durability) -> Result<()> {
        add(&self.tally.sets, values.len());
        add(&self.tally.bytes_written, values.iter().map(|(_, value)| value.len()).sum());
        self.store.create_many(values, durability)
    }

    fn copy(&self, from: &CopySource, to: &Key) -> Result<Copied> {
        Ok(self.tally.copied(self.store.copy(from, to)?))
    }

    fn erase(&self, key: &Key) -> Result<()> {
        add(&self.tally.erases, 1);
        self.store.erase(key)
    }

    fn list_dir(&self, prefix: &Prefix) -> Result<Listing> {
        add(&self.tally.lists, 1);
        self.store.list_dir(prefix)
    }

    fn list_prefix(&self, prefix: &Prefix) -> Result<Vec<Key>> {
        add(&self.tally.lists, 1);
        self.store.list_prefix(prefix)
    }

    fn list_sizes(&self, prefix: &Prefix, visit: &SizeVisitor) -> Result<()> {
        add(&self.tally.lists, 1);
        self.store.list_sizes(prefix, visit)
    }

    fn erase_prefix(&self, prefix: &Prefix) -> Result<()> {
        add(&self.tally.erases, 1);
        self.store.erase_prefix(prefix)
    }

    fn set_partial(&self, key: &Key, parts: &[(u64, &[u8])]) -> Result<()> {
        self.tally.set(parts.iter().map(|(_, part)| part.len()).sum());
        self.store.set_partial(key, parts)
    }

    fn rename_prefix(&self, from: &Prefix, to: &Prefix) -> Result<bool> {
        add(&self.tally.sets, 1);
        self.store.rename_prefix(from, to)
    }

    fn exchange_prefixes(&self, a: &Prefix, b: &Prefix) -> Result<bool> {
        add(&self.tally.sets, 1);
        self.store.exchange_prefixes(a, b)
    }

    fn flush(&self) -> Result<()> {
        add(&self.tally.flushes, 1);
        self.store.flush()
    }

    fn barrier(&self) -> Result<()> {
        add(&self.tally.flushes, 1);
        self.store.barrier()
    }

    fn as_async(&self) -> Option<Arc<dyn AsyncStore>> {
        let store = self.store.as_async()?;
        Some(Arc::new(Counted { store, tally: Arc::clone(&self.tally) }))
    }

    fn pin(&self, prefix: &Prefix) -> Result<Option<Arc<dyn Store>>> {
        let Some(store) = self.store.pin(prefix)? else { return Ok(None) };
        Ok(Some(Arc::new(Counted { store, tally: Arc::clone(&self.tally) })))
    }

    crate::delegate! { |this| this.store;
        begin_set, copy_source, find_link, leftovers, parent, is_in_place, try_lock, take_warnings, capabilities, access_profile
    }
}

#[deny(clippy::missing_trait_methods)]
impl<S: AsyncStore> AsyncStore for Counted<S> {
    fn get<'a>(
        &'a self,
        key: &'a Key,
        ranges: &'a [ByteRange],
        options: &'a GetOptions,
    ) -> BoxFuture<'a, Result<Option<Fetched>>> {
        self.tally.asked(ranges);
        Box::pin(async move {
            let fetched = self.store.get(key, ranges, options).await?;
            Ok(self.tally.got(fetched))
        })
    }

    fn set<'a>(
        &'a self,
        key: &'a Key,
        value: Bytes,
        options: &'a SetOptions,
    ) -> BoxFuture<'a, Result<Option<Version>>> {
        self.tally.set(value.len());
        self.store.set(key, value, options)
    }

    fn set_pieces<'a>(
        &'a self,
        key: &'a Key,
        pieces: Vec<Bytes>,
        options: &'a SetOptions,
    ) -> BoxFuture<'a, Result<Option<Version>>> {
        self.tally.set(pieces.iter().map(Bytes::len).sum());
        self.store.set_pieces(key, pieces, options)
    }

    fn copy<'a>(&'a self, from: &'a CopySource, to: &'a Key) -> BoxFuture<'a, Result<Copied>> {
        Box::pin(async move { Ok(self.tally.copied(self.store.copy(from, to).await?)) })
    }

    fn append_to_set<'a>(
        &'a self,
        key: &'a Key,
        stream: &'a SetStream,
        pieces: Vec<Bytes>,
    ) -> BoxFuture<'a, Result<()>> {
        self.tally.appended(&pieces);
        self.store.append_to_set(key, stream, pieces)
    }

    fn finish_set<'a>(
        &'a self,
        key: &'a Key,
        stream: &'a SetStream,
        head: Bytes,
    ) -> BoxFuture<'a, Result<Option<Version>>> {
        self.tally.set(head.len());
        self.store.finish_set(key, stream, head)
    }

    fn erase<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, Result<()>> {
        add(&self.tally.erases, 1);
        self.store.erase(key)
    }

    fn list_dir<'a>(&'a self, prefix: &'a Prefix) -> BoxFuture<'a, Result<Listing>> {
        add(&self.tally.lists, 1);
        self.store.list_dir(prefix)
    }

    fn list_prefix<'a>(&'a self, prefix: &'a Prefix) -> BoxFuture<'a, Result<Vec<Key>>> {
        add(&self.tally.lists, 1);
        self.store.list_prefix(prefix)
    }

    fn list_sizes<'a>(&'a self, prefix: &'a Prefix, visit: &'a SizeVisitor) -> BoxFuture<'a, Result<()>> {
        add(&self.tally.lists, 1);
        self.store.list_sizes(prefix, visit)
    }

    fn erase_prefix<'a>(&'a self, prefix: &'a Prefix) -> BoxFuture<'a, Result<()>> {
        add(&self.tally.erases, 1);
        self.store.erase_prefix(prefix)
    }

    fn rename_prefix<'a>(&'a self, from: &'a Prefix, to: &'a Prefix) -> BoxFuture<'a, Result<bool>> {
        add(&self.tally.sets, 1);
        self.store.rename_prefix(from, to)
    }

    fn exchange_prefixes<'a>(&'a self, a: &'a Prefix, b: &'a Prefix) -> BoxFuture<'a, Result<bool>> {
        add(&self.tally.sets, 1);
        self.store.exchange_prefixes(a, b)
    }

    fn flush(&self) -> BoxFuture<'_, Result<()>> {
        add(&self.tally.flushes, 1);
        self.store.flush()
    }

    fn barrier(&self) -> BoxFuture<'_, Result<()>> {
        add(&self.tally.flushes, 1);
        self.store.barrier()
    }

    fn pin<'a>(&'a self, prefix: &'a Prefix) -> BoxFuture<'a, Result<Option<Arc<dyn AsyncStore>>>> {
        Box::pin(async move {
            let Some(store) = self.store.pin(prefix).await? else { return Ok(None) };
            Ok(Some(Arc::new(Counted { store, tally: Arc::clone(&self.tally) }) as Arc<dyn AsyncStore>))
        })
    }

    crate::delegate_async! { |this| this.store;
        begin_set, copy_source, is_in_place, try_lock, pause, take_warnings, capabilities, access_profile
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MemoryStore, StoreExt, testing};

    #[test]
    fn keeps_the_contract_and_counts() {
        let store = Counted::new(MemoryStore::new());
        testing::contract(&store);
        assert!(store.take().sets > 0);
        let key = Key::new("a").expect("a key");
        store.set_all(&key, b"12345").expect("set");
        store.get_ranges(&key, &[ByteRange::Suffix(2), ByteRange::Range(0..1)]).expect("get");
        store.list().expect("list");
        let expected =
            Counts { gets: 1, ranges: 2, sets: 1, lists: 1, bytes_read: 3, bytes_written: 5, ..Counts::default() };
        assert_eq!(store.counts(), expected);
        assert_eq!(store.take(), expected);
        assert_eq!(store.counts(), Counts::default());
    }
}
