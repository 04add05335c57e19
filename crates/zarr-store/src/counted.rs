//! Store that counts requests.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::{Answer, Below, Call, Copied, GetInto, Key, Result, Store, StoreBase, Wrapper};

/// Store that counts the requests to another store, for tests of plans.
#[derive(Debug, Default)]
pub struct Counted<S> {
    store: S,
    /// Counters, which are shared with the async form of the store.
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

/// Numbers of requests to a store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counts {
    /// Gets, including gets without ranges, and each of those that are made together.
    pub gets: u64,
    /// Number of ranges in these gets.
    pub ranges: u64,
    /// Number of sets, including partial sets and copies. A streamed set counts when it is finished.
    pub sets: u64,
    /// Number of erases, including erases of prefixes.
    pub erases: u64,
    /// Number of listings.
    pub lists: u64,
    /// Number of flushes and barriers.
    pub flushes: u64,
    /// Number of bytes that gets returned.
    pub bytes_read: u64,
    /// Number of bytes that were set.
    pub bytes_written: u64,
}

impl<S> Counted<S> {
    /// Wraps `store`, and counts the requests to it.
    #[must_use]
    pub fn new(store: S) -> Self {
        Self { store, tally: Arc::default() }
    }

    /// Returns the requests since the start or the last call of this method, and resets the counters.
    pub fn take(&self) -> Counts {
        self.gather(|count| count.swap(0, Ordering::Relaxed))
    }

    /// Returns the requests since the start or the last call of [`take`](Self::take).
    pub fn counts(&self) -> Counts {
        self.gather(|count| count.load(Ordering::Relaxed))
    }

    /// Returns the wrapped store.
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
    fn asked(&self, call: &Call<'_>) {
        match call {
            Call::Get { ranges, .. } => {
                add(&self.gets, 1);
                add(&self.ranges, ranges.len());
            }
            Call::GetMany { gets } => {
                add(&self.gets, gets.len());
                add(&self.ranges, gets.iter().map(|get| get.ranges.len()).sum());
            }
            Call::Set { value, .. } => self.set(1, value.len()),
            Call::SetPieces { pieces, .. } => self.set(1, pieces.slices().iter().map(|piece| piece.len()).sum()),
            // A set that is streamed counts when it is finished.
            Call::AppendToSet { pieces, .. } => self.set(0, pieces.iter().map(|piece| piece.len()).sum()),
            Call::FinishSet { head, .. } => self.set(1, head.len()),
            Call::SetMany { values } | Call::CreateMany { values, .. } => {
                self.set(values.len(), values.iter().map(|(_, value)| value.len()).sum());
            }
            Call::SetPartial { parts, .. } => self.set(1, parts.iter().map(|(_, part)| part.len()).sum()),
            Call::RenamePrefix { .. } | Call::ExchangePrefixes { .. } => self.set(1, 0),
            Call::Erase { .. } | Call::ErasePrefix { .. } => add(&self.erases, 1),
            Call::ListDir { .. } | Call::ListPrefix { .. } | Call::ListSizes { .. } => add(&self.lists, 1),
            Call::Flush | Call::Barrier => add(&self.flushes, 1),
            // These calls are counted by their answers.
            Call::GetInto { .. } | Call::Copy { .. } => {}
            Call::BeginSet { .. }
            | Call::FindLink { .. }
            | Call::Leftovers { .. }
            | Call::Pin { .. }
            | Call::IsInPlace
            | Call::Lock { .. } => {}
        }
    }

    /// Counts by the answer to a call. `room` is the number of bytes of the caller's memory for a get into memory, and 0 for other calls.
    fn answered(&self, answer: &Answer, room: usize) {
        match answer {
            Answer::Got(Some(fetched)) => add(&self.bytes_read, fetched.parts().map(<[u8]>::len).sum()),
            Answer::GotMany(got) => {
                let sizes = got.iter().flatten().flatten().flat_map(|fetched| fetched.parts().map(<[u8]>::len));
                add(&self.bytes_read, sizes.sum());
            }
            Answer::GotInto(outcome @ (GetInto::Found(_) | GetInto::Missing)) => {
                add(&self.gets, 1);
                add(&self.ranges, 1);
                let size =
                    if let GetInto::Found(size) = outcome { usize::try_from(*size).unwrap_or(usize::MAX) } else { 0 };
                add(&self.bytes_read, room.min(size));
            }
            Answer::Copied(Copied::Done) => add(&self.sets, 1),
            _ => {}
        }
    }

    fn set(&self, values: usize, size: usize) {
        add(&self.sets, values);
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

impl<S: StoreBase> Wrapper for Counted<S> {
    type Below = S;
    type Over<T: StoreBase + 'static> = Counted<T>;

    fn below(&self) -> &S {
        &self.store
    }

    fn over<T: StoreBase + 'static>(&self, below: T) -> Counted<T> {
        Counted { store: below, tally: Arc::clone(&self.tally) }
    }

    async fn answer<'a, B: Below + 'a>(&'a self, below: B, call: Call<'a>) -> Result<Answer> {
        self.tally.asked(&call);
        let room = if let Call::GetInto { into, .. } = &call { into.len() } else { 0 };
        let answer = below.call(call).await?;
        self.tally.answered(&answer, room);
        Ok(answer)
    }

    fn copied<'k>(&self, key: &'k Key) -> Option<Cow<'k, Key>> {
        Some(Cow::Borrowed(key))
    }

    fn parent_over(&self, parent: Arc<dyn Store>) -> Option<Arc<dyn Store>> {
        Some(parent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ByteRange, MemoryStore, StoreExt, testing};

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
