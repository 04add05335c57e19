//! Threads for the I/O of stores, shared by all stores of a process.

use std::any::Any;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::runtime::{Builder, Handle, Runtime};
use tokio::task::JoinHandle;
use zarr_store::{Error, ErrorKind, Operation};

/// Number of threads for I/O. They wait for sockets, encrypt and copy: two keep a fast network busy.
const THREADS: usize = 2;

/// Greatest number of threads for host name lookups, which block.
const LOOKUPS: usize = 8;

/// Runtime of this process, with the process id for which it was created.
static SHARED: Mutex<Option<(u32, &'static Runtime)>> = Mutex::new(None);

/// Runtime for the I/O of a store: threads named `zarr-io` that all stores share, or a runtime of the program.
///
/// The shared threads start with the first task. Each store has one such value; its first task binds it to the process.
///
/// # Forks
/// A forked process does not have the threads of its parent, and its connections belong to the parent. So a store that has made a
/// request before `fork` refuses requests in the child with [`TaskError::Forked`], rather than wait forever. A store that is opened
/// in the child works. A fork during the very first request of the parent may leave the child waiting.
#[derive(Debug, Default)]
pub struct IoRuntime {
    given: Option<Handle>,
    bound: OnceLock<(u32, Handle)>,
}

impl IoRuntime {
    /// Creates a runtime that uses the shared threads.
    #[must_use]
    pub const fn new() -> Self {
        Self { given: None, bound: OnceLock::new() }
    }

    /// Creates a runtime that uses a runtime of the program, which must have I/O and timers enabled and outlive the store.
    #[must_use]
    pub const fn of_handle(handle: Handle) -> Self {
        Self { given: Some(handle), bound: OnceLock::new() }
    }

    /// Runs a future on the runtime. The returned [`Task`] awaits its result; dropping the task ends the future.
    pub fn spawn<T: Send + 'static>(&self, future: impl Future<Output = T> + Send + 'static) -> Task<T> {
        Task(match self.handle() {
            Ok(handle) => Ok(handle.spawn(future)),
            Err(error) => Err(Some(error)),
        })
    }

    /// Runs the future of an operation of a store, as [`IoRuntime::spawn`] does.
    ///
    /// # Errors
    /// The error of the future; [`Error::Failed`] if the future ended without a result.
    pub async fn run<T: Send + 'static>(
        &self,
        store: &(dyn std::fmt::Display + Send + Sync),
        operation: Operation,
        key: &str,
        future: impl Future<Output = zarr_store::Result<T>> + Send + 'static,
    ) -> zarr_store::Result<T> {
        match self.spawn(future).await {
            Ok(result) => result,
            Err(error) => Err(Error::failed(&store, operation, key, ErrorKind::Internal, error)),
        }
    }

    /// Waits for a time, by the timer of the runtime.
    pub async fn sleep(&self, duration: Duration) {
        // The timer is made there as well: the caller may be on no runtime. Without one there is no pause.
        drop(self.spawn(async move { tokio::time::sleep(duration).await }).await);
    }

    fn handle(&self) -> Result<&Handle, TaskError> {
        let process = std::process::id();
        if self.bound.get().is_none() {
            let handle = match &self.given {
                Some(handle) => handle.clone(),
                None => shared(process).map_err(TaskError::NoThreads)?,
            };
            // If another thread was faster, it has set an equal handle.
            let _ = self.bound.set((process, handle));
        }
        match self.bound.get() {
            Some((bound, handle)) if *bound == process => Ok(handle),
            _ => Err(TaskError::Forked),
        }
    }
}

/// Returns the shared runtime of this process. It is never dropped: its threads end with the process.
fn shared(process: u32) -> io::Result<Handle> {
    let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((id, runtime)) = *shared
        && id == process
    {
        return Ok(runtime.handle().clone());
    }
    let runtime = Builder::new_multi_thread()
        .worker_threads(THREADS)
        .max_blocking_threads(LOOKUPS)
        .thread_name("zarr-io")
        .enable_all()
        .build()?;
    let runtime: &'static Runtime = Box::leak(Box::new(runtime));
    *shared = Some((process, runtime));
    Ok(runtime.handle().clone())
}

/// Result of a future that runs on an [`IoRuntime`]. It can be awaited in any executor; dropping it ends the future.
#[derive(Debug)]
#[must_use = "dropping it ends the future"]
pub struct Task<T>(Result<JoinHandle<T>, Option<TaskError>>);

impl<T> Future for Task<T> {
    type Output = Result<T, TaskError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut self.0 {
            Ok(task) => Pin::new(task).poll(context).map_err(|error| match error.try_into_panic() {
                Ok(payload) => TaskError::Panicked(text(payload.as_ref())),
                Err(_) => TaskError::Stopped,
            }),
            Err(error) => Poll::Ready(Err(error.take().unwrap_or(TaskError::Stopped))),
        }
    }
}

impl<T> Drop for Task<T> {
    fn drop(&mut self) {
        if let Ok(task) = &self.0 {
            task.abort();
        }
    }
}

/// Returns the message of a panic.
fn text(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_else(|| "a panic without a text".to_owned())
}

/// Reason why a task has no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TaskError {
    /// The future panicked, with this message.
    #[error("a fault of the program: {0}")]
    Panicked(String),
    /// The runtime was shut down.
    #[error("the runtime that the request ran on was shut down")]
    Stopped,
    /// The threads could not be started.
    #[error("the threads for requests cannot be started")]
    NoThreads(#[source] io::Error),
    /// The store was used before a fork of the process.
    #[error("the store was used before this process was forked from another; open it again in this process")]
    Forked,
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Instant;
    use zarr_drive::block_on;

    #[test]
    fn tasks_run_on_their_own_threads_without_a_runtime() {
        let runtime = IoRuntime::new();
        let name = block_on(runtime.spawn(async {
            tokio::time::sleep(Duration::from_millis(1)).await;
            std::thread::current().name().map(str::to_owned)
        }));
        assert_eq!(name.expect("a result").as_deref(), Some("zarr-io"));
        // Another has the same threads.
        assert_eq!(block_on(IoRuntime::new().spawn(async { 7 })).expect("a result"), 7);
    }

    #[test]
    fn a_pause_needs_no_runtime_of_the_caller() {
        let start = Instant::now();
        block_on(IoRuntime::new().sleep(Duration::from_millis(30)));
        assert!(start.elapsed() >= Duration::from_millis(30));
    }

    #[test]
    fn a_panic_is_an_error_and_the_threads_live_on() {
        let runtime = IoRuntime::new();
        for _ in 0..4 {
            let error = block_on(runtime.spawn(async { panic!("here {}", 1) })).expect_err("a panic");
            assert!(matches!(&error, TaskError::Panicked(text) if text == "here 1"), "{error}");
        }
        let run = runtime.run::<()>(&"store:", Operation::Get, "a", async { panic!("there") });
        let error = block_on(run).expect_err("a panic");
        assert_eq!((error.to_string().as_str(), error.kind()), ("store:: get a", ErrorKind::Internal));
        assert_eq!(block_on(runtime.spawn(async { 7 })).expect("a result"), 7);
    }

    #[test]
    fn dropping_a_task_ends_the_future() {
        struct Ended(Arc<AtomicBool>);
        impl Drop for Ended {
            fn drop(&mut self) {
                self.0.store(true, Ordering::Release);
            }
        }
        let ended = Arc::new(AtomicBool::new(false));
        let guard = Ended(Arc::clone(&ended));
        let task = IoRuntime::new().spawn(async move {
            let _guard = guard;
            std::future::pending::<()>().await;
        });
        std::thread::sleep(Duration::from_millis(20));
        assert!(!ended.load(Ordering::Acquire));
        drop(task);
        let start = Instant::now();
        while !ended.load(Ordering::Acquire) {
            assert!(start.elapsed() < Duration::from_secs(5), "the future goes on");
            std::thread::yield_now();
        }
    }

    #[test]
    fn a_runtime_of_the_program() {
        let own =
            Builder::new_multi_thread().worker_threads(1).thread_name("own").enable_all().build().expect("a runtime");
        let runtime = IoRuntime::of_handle(own.handle().clone());
        let name = block_on(runtime.spawn(async { std::thread::current().name().map(str::to_owned) }));
        assert_eq!(name.expect("a result").as_deref(), Some("own"));
        drop(own);
        let error = block_on(runtime.spawn(async { 1 })).expect_err("no runtime");
        assert!(matches!(error, TaskError::Stopped), "{error}");
    }

    #[test]
    fn another_process_is_refused() {
        let runtime = IoRuntime { given: None, bound: OnceLock::new() };
        let handle = shared(std::process::id()).expect("threads");
        runtime.bound.set((std::process::id().wrapping_add(1), handle)).expect("not bound");
        let error = block_on(runtime.spawn(async { 1 })).expect_err("forked");
        assert!(matches!(error, TaskError::Forked), "{error}");
    }
}
