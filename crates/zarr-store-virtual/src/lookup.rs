//! Tools for tables whose files are read when a chunk of them is asked for: written once for callers that block and for those that do not.
//!
//! The order of reads is written as async functions that know their [`Way`]. A store that blocks answers them at once, so that they end at
//! their first poll, and [`wait`] is all that a blocking caller needs.

mod load_cache;

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

use zarr_store::{AsyncStore, ByteRange, Bytes, Error, Fetched, GetOptions, Key, Result, Store};

pub use load_cache::LoadCache;

/// Whether the caller may be blocked by requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Requests block the thread.
    Blocking,
    /// Requests are awaited, if the store does not block.
    NotBlocking,
}

/// A store that is asked in either way.
#[derive(Clone, Debug)]
pub struct EitherStore {
    store: Arc<dyn Store>,
    not_blocking: Option<Arc<dyn AsyncStore>>,
}

impl EitherStore {
    /// Creates one of a store, and of its [form that does not block](Store::as_async), if there is one.
    #[must_use]
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self { not_blocking: store.as_async(), store }
    }

    /// Returns the store that blocks.
    #[must_use]
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// Returns the store that does not block; `None` if there is only the one that does.
    #[must_use]
    pub fn not_blocking(&self) -> Option<&Arc<dyn AsyncStore>> {
        self.not_blocking.as_ref()
    }

    /// Gets ranges of a value; of no ranges, its size. `None` if there is no such key. The reply is checked.
    ///
    /// # Errors
    /// The errors of the store; [`Error::contract`] for a reply that does not answer the request.
    pub async fn get(
        &self,
        way: Way,
        key: &Key,
        ranges: &[ByteRange],
        options: &GetOptions,
    ) -> Result<Option<Fetched>> {
        let fetched = match (way, &self.not_blocking) {
            (Way::NotBlocking, Some(store)) => store.get(key, ranges, options).await?,
            _ => self.store.get(key, ranges, options)?,
        };
        let fetched = Fetched::checked(&self.store, key, fetched, ranges.len(), options)?;
        if ranges.is_empty()
            && fetched.as_ref().is_some_and(|fetched| fetched.size.is_none() && !fetched.is_unchanged())
        {
            return Err(Error::contract(&self.store, key, "no size", "the size of the value"));
        }
        Ok(fetched)
    }

    /// Gets a value, but at most `most` bytes of it and one more, which shows that there are more. `None` if there is no such key.
    ///
    /// # Errors
    /// The errors of [`get`](Self::get).
    pub async fn first(&self, way: Way, key: &Key, most: u64) -> Result<Option<Bytes>> {
        let ranges = [ByteRange::First(most.saturating_add(1))];
        Ok(self.get(way, key, &ranges, &GetOptions::default()).await?.map(Fetched::into_bytes))
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Waits for a future on this thread. It ends at its first poll if it asks stores that block, unless another thread that blocks loads what
/// it waits for.
pub fn wait<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    if let Poll::Ready(result) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        return result;
    }
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    loop {
        if let Poll::Ready(result) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return result;
        }
        thread::park();
    }
}
