//! Stores whose requests fail once an operation is to end.

use pyo3::prelude::*;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::future::poll_fn;
use std::io;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use zarr::store::{
    AsyncStore, BoxFuture, ByteRange, Bytes, Copied, CopySource, Durability, Error, Fetched, GetInto, GetOptions, Key,
    Listing, Operation, Prefix, Result, SetOptions, SetStream, SizeVisitor, Store, Version, delegate, delegate_async,
};

thread_local! {
    /// By which the operations of this thread are to end, instead of by signals.
    static OF_THREAD: RefCell<Option<Interrupt>> = const { RefCell::new(None) };
}

/// Whether an operation is to end.
#[pyclass(frozen, module = "zarr_rust._core")]
#[derive(Clone, Debug, Default)]
pub(crate) struct Interrupt(Arc<State>);

#[pymethods]
impl Interrupt {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Calls a function, whose operations end by this and not by signals, and gives its result.
    fn run<'py>(&self, function: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let before = OF_THREAD.replace(Some(self.clone()));
        let result = function.call0();
        OF_THREAD.replace(before);
        result
    }

    #[pyo3(name = "set")]
    fn set_from_python(&self) {
        self.set();
    }
}

#[derive(Debug, Default)]
struct State {
    is_set: AtomicBool,
    /// The tasks that wait for requests, by numbers of their own.
    waiting: Mutex<(u64, BTreeMap<u64, Waker>)>,
}

impl Interrupt {
    /// By which the operations of this thread are to end, if not by signals.
    pub(crate) fn of_thread() -> Option<Self> {
        OF_THREAD.with_borrow(Clone::clone)
    }

    /// From now on it is: requests that read are given up.
    pub(crate) fn set(&self) {
        self.0.is_set.store(true, Ordering::SeqCst);
        let waiting = std::mem::take(&mut self.waiting().1);
        waiting.into_values().for_each(Waker::wake);
    }

    /// Whether it is.
    pub(crate) fn is_set(&self) -> bool {
        self.0.is_set.load(Ordering::SeqCst)
    }

    /// A store whose requests fail once the operation is to end.
    pub(crate) fn over(&self, store: &Arc<dyn Store>) -> Arc<dyn Store> {
        Arc::new(Interruptible { store: Arc::clone(store), interrupt: self.clone() })
    }

    fn waiting(&self) -> MutexGuard<'_, (u64, BTreeMap<u64, Waker>)> {
        self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn error(store: &dyn fmt::Display, operation: Operation, key: &dyn fmt::Display) -> Error {
        Error::io(store, operation, key.to_string(), io::ErrorKind::Interrupted.into())
    }

    fn check(&self, store: &dyn fmt::Display, operation: Operation, key: &dyn fmt::Display) -> Result<()> {
        if self.is_set() { Err(Self::error(store, operation, key)) } else { Ok(()) }
    }

    /// The result of a request that changes nothing, which is given up once the operation is to end.
    async fn or_end<T>(
        &self,
        store: &(dyn fmt::Display + Sync),
        operation: Operation,
        key: &(dyn fmt::Display + Sync),
        request: impl Future<Output = Result<T>> + Send,
    ) -> Result<T> {
        let number = {
            let mut waiting = self.waiting();
            waiting.0 += 1;
            waiting.0
        };
        let _removed = Waiting(self, number);
        let mut request = pin!(request);
        poll_fn(|context| {
            if let Poll::Ready(done) = request.as_mut().poll(context) {
                return Poll::Ready(done);
            }
            self.waiting().1.insert(number, context.waker().clone());
            if self.is_set() { Poll::Ready(Err(Self::error(store, operation, key))) } else { Poll::Pending }
        })
        .await
    }
}

/// A task that waits for a request.
struct Waiting<'a>(&'a Interrupt, u64);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.waiting().1.remove(&self.1);
    }
}

/// Another store, for one operation that may be interrupted. Of requests that are under way, those that read a store that does not block
/// are given up, and others end first.
#[derive(Debug)]
struct Interruptible<S> {
    store: S,
    interrupt: Interrupt,
}

impl<S: fmt::Display> fmt::Display for Interruptible<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.store.fmt(f)
    }
}

#[deny(clippy::missing_trait_methods)]
impl Store for Interruptible<Arc<dyn Store>> {
    fn get(&self, key: &Key, ranges: &[ByteRange], options: &GetOptions) -> Result<Option<Fetched>> {
        self.interrupt.check(self, Operation::Get, key)?;
        self.store.get(key, ranges, options)
    }

    fn leftovers(&self, prefix: &Prefix, remove: bool) -> Result<Vec<zarr::store::Leftover>> {
        self.store.leftovers(prefix, remove)
    }

    fn get_into(&self, key: &Key, into: &mut [u8]) -> Result<GetInto> {
        self.interrupt.check(self, Operation::Get, key)?;
        self.store.get_into(key, into)
    }

    fn set(&self, key: &Key, value: &[u8], options: &SetOptions) -> Result<Option<Version>> {
        self.interrupt.check(self, Operation::Set, key)?;
        self.store.set(key, value, options)
    }

    fn set_pieces(&self, key: &Key, pieces: &[&[u8]], options: &SetOptions) -> Result<Option<Version>> {
        self.interrupt.check(self, Operation::Set, key)?;
        self.store.set_pieces(key, pieces, options)
    }

    fn begin_set(&self, key: &Key, head: u64, options: &SetOptions) -> Result<SetStream> {
        self.interrupt.check(self, Operation::Set, key)?;
        self.store.begin_set(key, head, options)
    }

    fn append_to_set(&self, key: &Key, stream: &SetStream, pieces: Vec<Bytes>) -> Result<()> {
        self.interrupt.check(self, Operation::Set, key)?;
        self.store.append_to_set(key, stream, pieces)
    }

    fn finish_set(&self, key: &Key, stream: &SetStream, head: Bytes) -> Result<Option<Version>> {
        self.interrupt.check(self, Operation::Set, key)?;
        self.store.finish_set(key, stream, head)
    }

    fn set_many(&self, values: &[(&Key, &[u8])]) -> Result<()> {
        if let Some((key, _)) = values.first() {
            self.interrupt.check(self, Operation::Set, key)?;
        }
        self.store.set_many(values)
    }

    fn create_many(&self, values: &[(&Key, &[u8])], durability: Durability) -> Result<()> {
        if let Some((key, _)) = values.first() {
            self.interrupt.check(self, Operation::Set, key)?;
        }
        self.store.create_many(values, durability)
    }

    fn set_partial(&self, key: &Key, parts: &[(u64, &[u8])]) -> Result<()> {
        self.interrupt.check(self, Operation::Set, key)?;
        self.store.set_partial(key, parts)
    }

    fn copy(&self, from: &CopySource, to: &Key) -> Result<Copied> {
        self.interrupt.check(self, Operation::Set, to)?;
        self.store.copy(from, to)
    }

    fn list_dir(&self, prefix: &Prefix) -> Result<Listing> {
        self.interrupt.check(self, Operation::List, prefix)?;
        self.store.list_dir(prefix)
    }

    fn list_prefix(&self, prefix: &Prefix) -> Result<Vec<Key>> {
        self.interrupt.check(self, Operation::List, prefix)?;
        self.store.list_prefix(prefix)
    }

    fn list_sizes(&self, prefix: &Prefix, visit: &SizeVisitor) -> Result<()> {
        self.interrupt.check(self, Operation::List, prefix)?;
        self.store.list_sizes(prefix, visit)
    }

    fn as_async(&self) -> Option<Arc<dyn AsyncStore>> {
        Some(Arc::new(Interruptible { store: self.store.as_async()?, interrupt: self.interrupt.clone() }))
    }

    fn pin(&self, prefix: &Prefix) -> Result<Option<Arc<dyn Store>>> {
        let Some(store) = self.store.pin(prefix)? else { return Ok(None) };
        Ok(Some(Arc::new(Interruptible { store, interrupt: self.interrupt.clone() })))
    }

    delegate! { |this| this.store;
        copy_source, erase, erase_prefix, rename_prefix, exchange_prefixes, find_link, parent, is_in_place,
        try_lock, take_warnings, flush, barrier, capabilities, access_profile
    }
}

#[deny(clippy::missing_trait_methods)]
impl AsyncStore for Interruptible<Arc<dyn AsyncStore>> {
    fn get<'a>(
        &'a self,
        key: &'a Key,
        ranges: &'a [ByteRange],
        options: &'a GetOptions,
    ) -> BoxFuture<'a, Result<Option<Fetched>>> {
        Box::pin(async move {
            self.interrupt.check(self, Operation::Get, key)?;
            let request = self.store.get(key, ranges, options);
            self.interrupt.or_end(self, Operation::Get, key, request).await
        })
    }

    fn set<'a>(
        &'a self,
        key: &'a Key,
        value: Bytes,
        options: &'a SetOptions,
    ) -> BoxFuture<'a, Result<Option<Version>>> {
        Box::pin(async move {
            self.interrupt.check(self, Operation::Set, key)?;
            self.store.set(key, value, options).await
        })
    }

    fn set_pieces<'a>(
        &'a self,
        key: &'a Key,
        pieces: Vec<Bytes>,
        options: &'a SetOptions,
    ) -> BoxFuture<'a, Result<Option<Version>>> {
        Box::pin(async move {
            self.interrupt.check(self, Operation::Set, key)?;
            self.store.set_pieces(key, pieces, options).await
        })
    }

    fn begin_set<'a>(&'a self, key: &'a Key, head: u64, options: &'a SetOptions) -> BoxFuture<'a, Result<SetStream>> {
        Box::pin(async move {
            self.interrupt.check(self, Operation::Set, key)?;
            self.store.begin_set(key, head, options).await
        })
    }

    fn append_to_set<'a>(
        &'a self,
        key: &'a Key,
        stream: &'a SetStream,
        pieces: Vec<Bytes>,
    ) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            self.interrupt.check(self, Operation::Set, key)?;
            self.store.append_to_set(key, stream, pieces).await
        })
    }

    fn finish_set<'a>(
        &'a self,
        key: &'a Key,
        stream: &'a SetStream,
        head: Bytes,
    ) -> BoxFuture<'a, Result<Option<Version>>> {
        Box::pin(async move {
            self.interrupt.check(self, Operation::Set, key)?;
            self.store.finish_set(key, stream, head).await
        })
    }

    fn copy<'a>(&'a self, from: &'a CopySource, to: &'a Key) -> BoxFuture<'a, Result<Copied>> {
        Box::pin(async move {
            self.interrupt.check(self, Operation::Set, to)?;
            self.store.copy(from, to).await
        })
    }

    fn list_dir<'a>(&'a self, prefix: &'a Prefix) -> BoxFuture<'a, Result<Listing>> {
        Box::pin(async move {
            self.interrupt.check(self, Operation::List, prefix)?;
            self.interrupt.or_end(self, Operation::List, prefix, self.store.list_dir(prefix)).await
        })
    }

    fn list_prefix<'a>(&'a self, prefix: &'a Prefix) -> BoxFuture<'a, Result<Vec<Key>>> {
        Box::pin(async move {
            self.interrupt.check(self, Operation::List, prefix)?;
            self.interrupt.or_end(self, Operation::List, prefix, self.store.list_prefix(prefix)).await
        })
    }

    fn list_sizes<'a>(&'a self, prefix: &'a Prefix, visit: &'a SizeVisitor) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            self.interrupt.check(self, Operation::List, prefix)?;
            self.interrupt.or_end(self, Operation::List, prefix, self.store.list_sizes(prefix, visit)).await
        })
    }

    fn pin<'a>(&'a self, prefix: &'a Prefix) -> BoxFuture<'a, Result<Option<Arc<dyn AsyncStore>>>> {
        Box::pin(async move {
            let Some(store) = self.store.pin(prefix).await? else { return Ok(None) };
            let interrupt = self.interrupt.clone();
            Ok(Some(Arc::new(Interruptible { store, interrupt }) as Arc<dyn AsyncStore>))
        })
    }

    delegate_async! { |this| this.store;
        copy_source, erase, erase_prefix, rename_prefix, exchange_prefixes, is_in_place, try_lock, pause,
        take_warnings, flush, barrier, capabilities, access_profile
    }
}
