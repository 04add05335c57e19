//! Execution of work: without the interpreter's lock, on threads of this process, and interrupted by signals.
//!
//! A forked process has none of the threads of its parent. A child therefore gets a pool of its own, which does the work of one caller at a
//! time, while the process that used the library first has the global pool of rayon.

use crate::errors::{OrException, exception};
use crate::interrupt::Interrupt;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;
use zarr::store::StoreExt;
use zarr::{Error, ErrorKind, Result, Store};

/// Interval at which a long operation checks for signals.
pub(crate) const PAUSE: Duration = Duration::from_millis(50);

/// Id of the process that has the threads of rayon's global pool.
static FIRST: OnceLock<u32> = OnceLock::new();

/// Id of a forked child process, and its pool. Pools of its parent processes are leaked, since their threads do not exist in the child.
static FORKED: Mutex<Option<(u32, &'static Pool)>> = Mutex::new(None);

/// Threads of a forked child.
struct Pool {
    threads: ThreadPool,
    /// Lock that the caller holds while its work is on the threads. Otherwise a thread that waits for a part of the work could begin the
    /// work of another caller, which may wait for a lock that the first work holds, such as that of a change.
    turn: Mutex<()>,
}

/// Runs work without the interpreter's lock.
///
/// # Errors
/// The exception of an error of the work, or of a panic.
pub(crate) fn run<T: Send>(py: Python<'_>, work: impl FnOnce() -> Result<T> + Send) -> PyResult<T> {
    let pool = pool(py)?;
    py.detach(|| guarded(pool, work)).or_exception(py)
}

/// Runs work that waits for Python objects, without the interpreter's lock. These objects may run such work themselves, so that a forked
/// child starts new threads for each call.
///
/// # Errors
/// The errors of [`run`].
pub(crate) fn run_asking<T: Send>(py: Python<'_>, work: impl FnOnce() -> Result<T> + Send) -> PyResult<T> {
    let own = pool(py)?.is_some().then(|| new_threads(threads(py)?)).transpose()?;
    let run = || match &own {
        Some(own) => own.install(work),
        None => work(),
    };
    py.detach(|| caught(run)).or_exception(py)
}

/// Runs work like [`run`] for callers that pass errors on to other programs.
///
/// # Errors
/// The errors of the work, [`ErrorKind::Internal`] for a panic, and [`ErrorKind::Limit`] if the system refuses threads.
pub(crate) fn run_unraised<T: Send>(py: Python<'_>, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    let pool = pool(py).map_err(|error| refused(&error))?;
    py.detach(|| guarded(pool, work))
}

/// Runs work like [`run_long`] for callers that pass errors on to other programs. Returns the result of the work, with the errors of
/// [`run_unraised`], and the exception that the handler of a signal has raised meanwhile, which the work may have ended before.
pub(crate) fn run_long_unraised<T: Send>(
    py: Python<'_>,
    interrupt: &Interrupt,
    work: impl FnOnce() -> Result<T> + Send,
) -> (Result<T>, Option<PyErr>) {
    match pool(py) {
        Ok(pool) => watched(py, pool, interrupt, |_| Ok(()), work),
        Err(error) => (Err(refused(&error)), None),
    }
}

fn refused(error: &PyErr) -> Error {
    Error::new(ErrorKind::Limit, error.to_string())
}

/// Runs work on a store without the interpreter's lock. Checks for signals if `is_long` or the store waits for a network: see [`run_long`].
///
/// # Errors
/// The errors of [`run_long`].
pub(crate) fn run_in<T: Send>(
    py: Python<'_>,
    store: &Arc<dyn Store>,
    is_long: bool,
    work: impl FnOnce(&Arc<dyn Store>) -> Result<T> + Send,
) -> PyResult<T> {
    run_in_if(py, store, is_long, work, |_| true)
}

/// Runs work on a store like [`run_in`]. Flushes the store only if `is_done` returns that the work did what was requested.
///
/// # Errors
/// The errors of [`run_long`].
pub(crate) fn run_in_if<T: Send>(
    py: Python<'_>,
    store: &Arc<dyn Store>,
    is_long: bool,
    work: impl FnOnce(&Arc<dyn Store>) -> Result<T> + Send,
    is_done: impl FnOnce(&T) -> bool + Send,
) -> PyResult<T> {
    let work = |store: &Arc<dyn Store>| {
        let done = work(store)?;
        // The writes of a call to a zip file are in the file when the call returns. Calls that only read, or that failed, flush nothing.
        if store.capabilities().appears_at_flush && is_done(&done) {
            store.flush()?;
        }
        Ok(done)
    };
    if let Some(interrupt) = Interrupt::of_thread() {
        let through = interrupt.over(store);
        return run(py, move || work(&through));
    }
    if !is_long && store.as_async().is_none() {
        return run(py, || work(store));
    }
    let interrupt = Interrupt::default();
    let through = interrupt.over(store);
    run_long(py, &interrupt, move || work(&through))
}

/// Runs work that may take long, and checks for signals meanwhile. If the handler of a signal raises an exception, the `interrupt` ends the
/// work at its next request; then the exception is raised.
///
/// # Errors
/// The errors of [`run`], and the exceptions of the handlers of signals.
pub(crate) fn run_long<T: Send>(
    py: Python<'_>,
    interrupt: &Interrupt,
    work: impl FnOnce() -> Result<T> + Send,
) -> PyResult<T> {
    run_watched(py, interrupt, |_| Ok(()), work)
}

/// Runs work like [`run_long`], and calls `watch` every 50 ms on this thread; an exception of `watch` ends the work too.
///
/// # Errors
/// The errors of [`run_long`], and the exceptions of `watch`.
pub(crate) fn run_watched<T: Send>(
    py: Python<'_>,
    interrupt: &Interrupt,
    watch: impl FnMut(Python<'_>) -> PyResult<()> + Send,
    work: impl FnOnce() -> Result<T> + Send,
) -> PyResult<T> {
    match watched(py, pool(py)?, interrupt, watch, work) {
        (_, Some(error)) => Err(error),
        (done, None) => done.map_err(|error| exception(py, &error)),
    }
}

/// Runs work on a new thread, and checks for signals and calls `watch` meanwhile. Returns the result of the work, and the exception that ended
/// it, if there was one.
fn watched<T: Send>(
    py: Python<'_>,
    pool: Option<&Pool>,
    interrupt: &Interrupt,
    mut watch: impl FnMut(Python<'_>) -> PyResult<()> + Send,
    work: impl FnOnce() -> Result<T> + Send,
) -> (Result<T>, Option<PyErr>) {
    py.detach(|| {
        thread::scope(|scope| {
            let (send, receive) = channel();
            let worker = thread::Builder::new().spawn_scoped(scope, move || send.send(guarded(pool, work)));
            if let Err(error) = worker {
                let message = format!("the system refuses a thread: {error}");
                return (Err(Error::new(ErrorKind::Limit, message)), None);
            }
            let mut raised = None;
            loop {
                match receive.recv_timeout(PAUSE) {
                    Ok(done) => return (done, raised),
                    Err(RecvTimeoutError::Disconnected) => {
                        return (Err(Error::internal("a thread ended without a result")), raised);
                    }
                    Err(RecvTimeoutError::Timeout) if raised.is_none() => {
                        if let Err(error) = Python::attach(|py| py.check_signals().and_then(|()| watch(py))) {
                            interrupt.set();
                            raised = Some(error);
                        }
                    }
                    Err(RecvTimeoutError::Timeout) => {}
                }
            }
        })
    })
}

/// Runs work whose requests cannot be interrupted, on a new thread. Checks for signals meanwhile. If the handler of a signal raises, or the
/// operation is interrupted, the thread is abandoned, and its result is dropped.
///
/// # Errors
/// The errors of [`run`], and the exceptions of the handlers of signals.
pub(crate) fn run_apart<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> PyResult<T> {
    let interrupt = Interrupt::of_thread();
    let (send, receive) = channel();
    // The work does not run on the threads of a forked child, since other work would wait for them.
    let worker = thread::Builder::new().spawn(move || drop(send.send(guarded(None, work))));
    if let Err(error) = worker {
        return Err(exception(py, &Error::new(ErrorKind::Limit, format!("the system refuses a thread: {error}"))));
    }
    let done = py.detach(move || {
        loop {
            match receive.recv_timeout(PAUSE) {
                Ok(done) => return Ok(done),
                Err(RecvTimeoutError::Disconnected) => {
                    return Ok(Err(Error::internal("a thread ended without a result")));
                }
                Err(RecvTimeoutError::Timeout) => match &interrupt {
                    Some(interrupt) if interrupt.is_set() => {
                        return Ok(Err(Error::new(ErrorKind::Cancelled, "the store was not opened in time")));
                    }
                    Some(_) => {}
                    None => Python::attach(|py| py.check_signals())?,
                },
            }
        }
    });
    done.and_then(|done: Result<T>| done.or_exception(py))
}

/// Runs work on the threads of this process; a panic becomes an error.
fn guarded<T: Send>(pool: Option<&Pool>, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    let run = || match pool {
        Some(pool) => {
            let _turn = pool.turn.lock().unwrap_or_else(PoisonError::into_inner);
            pool.threads.install(work)
        }
        None => work(),
    };
    caught(run)
}

/// Id of a forked child, and its threads for work that other threads begin than those of Python. The lock is only held together with the
/// lock of the interpreter, so that no fork leaves it locked in the child.
static LENT: Mutex<(u32, Vec<Arc<ThreadPool>>)> = Mutex::new((0, Vec::new()));

/// Threads of this process, for work that other threads begin than those of Python.
#[derive(Clone)]
pub(crate) struct OnThreads(Option<Arc<ThreadPool>>);

impl OnThreads {
    /// Returns the threads of this process. In a forked child those that no other value has, at least `least`, which are new if there are
    /// none: each runs one work at a time, also while the work waits for a store, which may be one of Python that runs other work. The
    /// child keeps them for the next value.
    ///
    /// # Errors
    /// If the system refuses threads.
    pub(crate) fn of_process(py: Python<'_>, least: usize) -> PyResult<Self> {
        if pool(py)?.is_none() {
            return Ok(Self(None));
        }
        let count = threads(py)?.or_else(|| thread::available_parallelism().ok());
        let count = count.max(NonZeroUsize::new(least));
        let mut lent = LENT.lock().unwrap_or_else(PoisonError::into_inner);
        let process = std::process::id();
        if lent.0 != process {
            // Threads of the parent, which the child does not have.
            std::mem::forget(std::mem::replace(&mut *lent, (process, Vec::new())));
        }
        let enough = |own: &ThreadPool| own.current_num_threads() >= count.map_or(1, NonZeroUsize::get);
        let unused = lent.1.iter().find(|own| Arc::strong_count(own) == 1 && enough(own)).cloned();
        // Others that nobody has end.
        lent.1.retain(|own| Arc::strong_count(own) > 1);
        if unused.is_some() {
            return Ok(Self(unused));
        }
        let own = Arc::new(new_threads(count)?);
        lent.1.push(Arc::clone(&own));
        Ok(Self(Some(own)))
    }

    /// Runs work on the threads; a panic becomes an error.
    pub(crate) fn run<T: Send>(&self, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
        caught(|| match &self.0 {
            Some(own) => own.install(work),
            None => work(),
        })
    }

    /// Forgets the threads in a process that does not have them.
    pub(crate) fn forget(&mut self) {
        std::mem::forget(self.0.take());
    }
}

/// Returns the result of work; a panic becomes an error.
fn caught<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let message = panic.downcast_ref::<String>().map(String::as_str);
        let message = message.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic");
        Err(Error::internal(message))
    })
}

/// Returns the pool to work on; `None` for the global one. Must be called with the interpreter's lock, so that no fork happens meanwhile.
fn pool(py: Python<'_>) -> PyResult<Option<&'static Pool>> {
    let process = std::process::id();
    let first = match FIRST.get() {
        Some(first) => *first,
        None => {
            if let Some(threads) = threads(py)? {
                // This fails if the global pool exists, which only this function builds.
                let _ = ThreadPoolBuilder::new().num_threads(threads.get()).build_global();
            }
            *FIRST.get_or_init(|| process)
        }
    };
    if first == process {
        return Ok(None);
    }
    if let Some((owner, pool)) = *FORKED.lock().unwrap_or_else(PoisonError::into_inner)
        && owner == process
    {
        return Ok(Some(pool));
    }
    // This runs Python code, which may give the interpreter's lock to another thread that calls this function.
    let count = threads(py)?;
    let mut forked = FORKED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((owner, pool)) = *forked
        && owner == process
    {
        return Ok(Some(pool));
    }
    let threads = new_threads(count)?;
    let pool: &'static Pool = Box::leak(Box::new(Pool { threads, turn: Mutex::new(()) }));
    *forked = Some((process, pool));
    Ok(Some(pool))
}

/// Creates a pool of `count` threads, or of one thread for each core for `None`.
fn new_threads(count: Option<NonZeroUsize>) -> PyResult<ThreadPool> {
    let threads = ThreadPoolBuilder::new().num_threads(count.map_or(0, NonZeroUsize::get)).build();
    threads.map_err(|error| PyValueError::new_err(format!("the system refuses threads: {error}")))
}

/// Returns the number of threads in the environment variable `ZARR_THREADS`, else that of the Dask worker in this process; `None` without
/// either.
fn threads(py: Python<'_>) -> PyResult<Option<NonZeroUsize>> {
    match std::env::var("ZARR_THREADS") {
        Err(_) => py.import("zarr_rust._threads")?.call_method0("of_worker")?.extract(),
        Ok(text) => match text.trim().parse() {
            Ok(threads) => Ok(Some(threads)),
            Err(_) => Err(PyValueError::new_err(format!("ZARR_THREADS: found {text:?}, expected a number from 1"))),
        },
    }
}
