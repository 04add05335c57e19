//! Stores whose requests fail once an operation is interrupted.

use pyo3::prelude::*;
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::future::poll_fn;
use std::io;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use zarr::store::{Answer, Below, Call, Error, Key, Operation, Result, Store, StoreBase, Wrapper};

thread_local! {
    /// Interrupt of the operations of this thread; `None` if signals interrupt them.
    static OF_THREAD: RefCell<Option<Interrupt>> = const { RefCell::new(None) };
}

/// Request to end an operation early.
#[pyclass(frozen, module = "zarr_rust._core")]
#[derive(Clone, Debug, Default)]
pub(crate) struct Interrupt(Arc<State>);

#[pymethods]
impl Interrupt {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Calls a function and returns its result. This interrupt, and not signals, ends the operations of the function.
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
    /// Wakers of the tasks that wait for requests, by their numbers, and the number of the last task.
    waiting: Mutex<(u64, BTreeMap<u64, Waker>)>,
}

impl Interrupt {
    /// Returns the interrupt of the operations of this thread; `None` if signals interrupt them.
    pub(crate) fn of_thread() -> Option<Self> {
        OF_THREAD.with_borrow(Clone::clone)
    }

    /// Sets the interrupt: running and later requests that read fail.
    pub(crate) fn set(&self) {
        self.0.is_set.store(true, Ordering::SeqCst);
        let waiting = std::mem::take(&mut self.waiting().1);
        waiting.into_values().for_each(Waker::wake);
    }

    /// Returns whether the interrupt is set.
    pub(crate) fn is_set(&self) -> bool {
        self.0.is_set.load(Ordering::SeqCst)
    }

    /// Returns a store whose requests fail once the interrupt is set.
    pub(crate) fn over(&self, store: &Arc<dyn Store>) -> Arc<dyn Store> {
        Arc::new(Interruptible { store: Arc::clone(store), interrupt: self.clone() })
    }

    fn waiting(&self) -> MutexGuard<'_, (u64, BTreeMap<u64, Waker>)> {
        self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn error(store: &dyn fmt::Display, operation: Operation, name: &str) -> Error {
        Error::io(store, operation, name, io::ErrorKind::Interrupted.into())
    }

    fn check(&self, store: &dyn fmt::Display, operation: Operation, name: &str) -> Result<()> {
        if self.is_set() { Err(Self::error(store, operation, name)) } else { Ok(()) }
    }

    /// Returns the result of a request that changes nothing, or an error once the interrupt is set.
    async fn or_end<T>(
        &self,
        store: &(dyn fmt::Display + Sync),
        operation: Operation,
        name: &str,
        request: impl Future<Output = Result<T>> + Send,
    ) -> Result<T> {
        let mut request = pin!(request);
        let mut waiting = None;
        poll_fn(|context| {
            if let Poll::Ready(done) = request.as_mut().poll(context) {
                return Poll::Ready(done);
            }
            waiting.get_or_insert_with(|| self.wait()).wake_by(context.waker());
            if self.is_set() { Poll::Ready(Err(Self::error(store, operation, name))) } else { Poll::Pending }
        })
        .await
    }

    /// Returns a number for a task that waits for a request.
    fn wait(&self) -> Waiting<'_> {
        let mut waiting = self.waiting();
        waiting.0 += 1;
        Waiting(self, waiting.0)
    }
}

/// Task that waits for a request.
struct Waiting<'a>(&'a Interrupt, u64);

impl Waiting<'_> {
    fn wake_by(&self, waker: &Waker) {
        self.0.waiting().1.insert(self.1, waker.clone());
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.waiting().1.remove(&self.1);
    }
}

/// Store for one operation that may be interrupted. An interrupt abandons running requests that read from a store that does not block; all
/// other requests end first.
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

impl<S: StoreBase> Wrapper for Interruptible<S> {
    type Below = S;
    type Over<T: StoreBase + 'static> = Interruptible<T>;

    fn below(&self) -> &S {
        &self.store
    }

    fn over<T: StoreBase + 'static>(&self, below: T) -> Interruptible<T> {
        Interruptible { store: below, interrupt: self.interrupt.clone() }
    }

    async fn answer<'a, B: Below + 'a>(&'a self, below: B, call: Call<'a>) -> Result<Answer> {
        match call {
            Call::Get { .. }
            | Call::GetMany { .. }
            | Call::GetInto { .. }
            | Call::ListDir { .. }
            | Call::ListPrefix { .. }
            | Call::ListSizes { .. } => {
                let operation = call.operation();
                self.interrupt.check(self, operation, call.name())?;
                let name = call.name().to_owned();
                self.interrupt.or_end(self, operation, &name, below.call(call)).await
            }
            Call::Set { .. }
            | Call::SetPieces { .. }
            | Call::BeginSet { .. }
            | Call::AppendToSet { .. }
            | Call::FinishSet { .. }
            | Call::SetMany { .. }
            | Call::CreateMany { .. }
            | Call::SetPartial { .. }
            | Call::Copy { .. } => {
                self.interrupt.check(self, Operation::Set, call.name())?;
                below.call(call).await
            }
            Call::Erase { .. }
            | Call::ErasePrefix { .. }
            | Call::RenamePrefix { .. }
            | Call::ExchangePrefixes { .. }
            | Call::FindLink { .. }
            | Call::Leftovers { .. }
            | Call::Pin { .. }
            | Call::IsInPlace
            | Call::Lock { .. }
            | Call::Flush
            | Call::Barrier => below.call(call).await,
        }
    }

    fn copied<'k>(&self, key: &'k Key) -> Option<Cow<'k, Key>> {
        Some(Cow::Borrowed(key))
    }

    fn parent_over(&self, parent: Arc<dyn Store>) -> Option<Arc<dyn Store>> {
        Some(parent)
    }
}
