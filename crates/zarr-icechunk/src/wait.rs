//! One way of waiting for stores that block and for those that do not.
//!
//! The order of reads is written once, as async functions. A blocking store answers them at once, so that they end at their first
//! poll, unless another thread reads the same manifest.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

use zarr_store::{AsyncStore, ByteRange, Error, Fetched, GetOptions, Key, Result, Store};

/// How the caller waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Blocking,
    NotBlocking,
}

/// A store that is asked in either way.
#[derive(Clone, Debug)]
pub(crate) struct Below {
    pub(crate) store: Arc<dyn Store>,
    not_blocking: Option<Arc<dyn AsyncStore>>,
}

impl Below {
    pub(crate) fn new(store: Arc<dyn Store>) -> Self {
        let not_blocking = store.as_async();
        Self { store, not_blocking }
    }

    pub(crate) fn not_blocking(&self) -> Option<&Arc<dyn AsyncStore>> {
        self.not_blocking.as_ref()
    }

    pub(crate) async fn get(
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
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Waits on this thread.
pub(crate) fn wait<T>(future: impl Future<Output = T>) -> T {
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
