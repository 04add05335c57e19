//! Tools for tables of chunks whose files are read when a chunk is looked up. The code is the same for callers that block and for callers
//! that do not.
//!
//! The reads are async functions with a parameter of type [`Way`]. A store that blocks answers during the poll, so that the function ends
//! at its first poll, and a blocking caller only needs [`wait`].

mod load_cache;

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

use zarr_store::{
    AsyncStore, AsyncStoreExt, ByteRange, Bytes, Error, Fetched, GetOptions, Key, Result, Store, StoreExt,
};

pub use load_cache::LoadCache;

/// Whether requests to a store may block the thread of the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Requests block the thread.
    Blocking,
    /// Requests are awaited, if the store has a form that does not block.
    NotBlocking,
}

/// Store together with its form that does not block, if the store has this form.
#[derive(Clone, Debug)]
pub struct EitherStore {
    store: Arc<dyn Store>,
    not_blocking: Option<Arc<dyn AsyncStore>>,
}

impl EitherStore {
    /// Creates an `EitherStore` from `store` and its [form that does not block](Store::as_async), if `store` has this form.
    #[must_use]
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self { not_blocking: store.as_async(), store }
    }

    /// Returns the form of the store that blocks.
    #[must_use]
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// Returns the form of the store that does not block; `None` if the store has only the form that blocks.
    #[must_use]
    pub fn not_blocking(&self) -> Option<&Arc<dyn AsyncStore>> {
        self.not_blocking.as_ref()
    }

    /// Gets ranges of the value at `key`, or only its size if `ranges` is empty. `None` if the key has no value. The reply is checked.
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

    /// Gets at most the first `most` bytes of a value and one further byte, which shows that the value is longer. `None` if the key has no
    /// value.
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

/// Waits on this thread until `future` ends, and returns its output. If `future` asks only stores that block, it ends at its first poll,
/// unless it waits for a value that another blocking thread loads.
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
