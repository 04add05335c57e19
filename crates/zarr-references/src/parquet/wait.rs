//! One way of waiting for stores that block and for those that do not.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

use zarr_store::{AsyncStore, ByteRange, Bytes, Fetched, GetOptions, Key, Result, Store};

/// How the caller waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Blocking,
    NotBlocking,
}

/// A store that is asked in either way.
#[derive(Debug)]
pub(super) struct Below {
    pub(super) store: Arc<dyn Store>,
    pub(super) not_blocking: Option<Arc<dyn AsyncStore>>,
}

impl Below {
    pub(super) fn new(store: Arc<dyn Store>) -> Self {
        Self { not_blocking: store.as_async(), store }
    }

    /// The first bytes of a value, at most one more than `most`; `None` if there is none.
    pub(super) async fn first(&self, way: Way, key: &Key, most: u64) -> Result<Option<Bytes>> {
        let (ranges, options) = ([ByteRange::First(most.saturating_add(1))], GetOptions::default());
        let fetched = match (way, &self.not_blocking) {
            (Way::NotBlocking, Some(store)) => store.get(key, &ranges, &options).await?,
            _ => self.store.get(key, &ranges, &options)?,
        };
        let fetched = Fetched::checked(&self.store, key, fetched, ranges.len(), &options)?;
        Ok(fetched.map(Fetched::into_bytes))
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Waits on this thread: a blocking store answers at once, unless another thread reads the same file.
pub(super) fn wait<T>(future: impl Future<Output = T>) -> T {
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
