//! Requests to Python objects, which a Python event loop answers.
//!
//! A thread that needs bytes adds a request to a queue and continues with other work. The first request in an empty queue wakes the event
//! loop, which takes all waiting requests and starts a coroutine for each (`zarr_rust/_pipeline_stores.py`). No thread of Rust waits for
//! the interpreter's lock while it holds another lock.

use crate::python_store::{check_len, of_kept, of_whole};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyList};
use std::collections::HashMap;
use std::fmt;
use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use zarr::store::{
    self, AccessProfile, AsyncStore, Asynchronous, BoxFuture, ByteRange, Bytes, Call, Capabilities, Error, ErrorKind,
    Fetched, GetOptions, Key, Operation, Result, SetOptions, Version, fallback,
};

/// Request to the Python object of a chunk.
enum Ask {
    Get(ByteRange),
    Set(Bytes),
    Erase,
}

/// Reply to a request: bytes, `None` for a missing value, or the reason why there is no reply.
type Reply = std::result::Result<Option<Bytes>, NoReply>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NoReply {
    /// The object raised an exception, which the queue stores, or the batch has ended.
    Failed,
    /// The object does not support ranges of bytes.
    NoRanges,
}

/// Place for the reply to a request.
#[derive(Default)]
struct Answer {
    reply: Option<Reply>,
    waker: Option<Waker>,
}

#[derive(Default)]
struct Queue {
    next: u64,
    waiting: Vec<(u64, usize, Ask)>,
    answers: HashMap<u64, Arc<Mutex<Answer>>>,
    /// Whether the event loop was woken for the waiting requests.
    woken: bool,
    /// Whether the batch has ended.
    is_closed: bool,
}

/// Queue of requests, and the first exception.
#[pyclass(frozen, name = "Requests", module = "zarr_rust._core")]
pub(crate) struct Requests {
    name: String,
    concurrency: usize,
    /// Function that wakes the event loop; `None` after the end of the batch.
    wake: Mutex<Option<Py<PyAny>>>,
    queue: Mutex<Queue>,
    failed: Mutex<Option<PyErr>>,
    /// Whether the objects do not support ranges of bytes, so that all bytes are requested.
    without_ranges: AtomicBool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[pymethods]
impl Requests {
    #[new]
    fn new(name: String, concurrency: usize, wake: Py<PyAny>, without_ranges: bool) -> Self {
        Self {
            name,
            concurrency,
            wake: Mutex::new(Some(wake)),
            queue: Mutex::default(),
            failed: Mutex::default(),
            without_ranges: without_ranges.into(),
        }
    }

    /// Returns whether an object refused a range of its bytes and was asked for all bytes instead.
    #[getter]
    fn without_ranges(&self) -> bool {
        self.without_ranges.load(Ordering::Relaxed)
    }

    /// Ends the batch: fails waiting and later requests, and drops the function that wakes the event loop, which may refer to this queue.
    fn close(&self) {
        let answers = {
            let mut queue = lock(&self.queue);
            queue.is_closed = true;
            queue.waiting.clear();
            std::mem::take(&mut queue.answers)
        };
        answers.into_values().for_each(|answer| give(&answer, Err(NoReply::Failed)));
        // Dropped after the locks are released, since the drop may run any Python code.
        let (wake, failed) = (lock(&self.wake).take(), lock(&self.failed).take());
        drop((wake, failed));
    }

    /// Takes the waiting requests: for each its number, the number of the chunk, the kind of the request, and its arguments.
    fn take<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let waiting = {
            let mut queue = lock(&self.queue);
            queue.woken = false;
            std::mem::take(&mut queue.waiting)
        };
        let list = PyList::empty(py);
        for (number, chunk, ask) in waiting {
            match ask {
                Ask::Get(ByteRange::Full) => list.append((number, chunk, "get"))?,
                Ask::Get(ByteRange::Range(range)) => list.append((number, chunk, "range", range.start, range.end))?,
                Ask::Get(ByteRange::First(len)) => list.append((number, chunk, "range", 0, len))?,
                Ask::Get(ByteRange::From(start)) => list.append((number, chunk, "from", start))?,
                Ask::Get(ByteRange::Suffix(len)) => list.append((number, chunk, "suffix", len))?,
                Ask::Set(value) => list.append((number, chunk, "set", PyBytes::new(py, &value)))?,
                Ask::Erase => list.append((number, chunk, "delete"))?,
            }
        }
        Ok(list)
    }

    /// Answers a request with bytes, or with `None` for a missing value.
    fn answer(&self, number: u64, value: Option<PyBackedBytes>) {
        self.reply(number, Ok(value.map(Bytes::from_owner)));
    }

    /// Answers a request for a range if the object does not support ranges: all bytes are requested instead.
    fn refuse_range(&self, number: u64) {
        self.reply(number, Err(NoReply::NoRanges));
    }

    /// Answers a request with an exception. The operation raises the first one.
    fn fail(&self, py: Python<'_>, number: u64, error: Py<PyAny>) {
        // An exception for a request that nobody waits for is dropped.
        if lock(&self.queue).answers.contains_key(&number) {
            lock(&self.failed).get_or_insert_with(|| PyErr::from_value(error.into_bound(py)));
            self.reply(number, Err(NoReply::Failed));
        }
    }
}

impl fmt::Debug for Requests {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Requests({})", self.name)
    }
}

impl Requests {
    /// Takes the first exception; `None` if there was none.
    pub(crate) fn take_failure(&self) -> Option<PyErr> {
        lock(&self.failed).take()
    }

    fn reply(&self, number: u64, reply: Reply) {
        let answer = lock(&self.queue).answers.remove(&number);
        if let Some(answer) = answer {
            give(&answer, reply);
        }
    }

    /// Fails the waiting requests, if the event loop cannot be woken.
    fn refuse(&self) {
        let waiting = {
            let mut queue = lock(&self.queue);
            queue.woken = false;
            std::mem::take(&mut queue.waiting)
        };
        waiting.iter().for_each(|(number, ..)| self.reply(*number, Err(NoReply::Failed)));
    }

    /// Adds a request to the queue, and wakes the event loop if necessary.
    fn put(&self, chunk: usize, ask: Ask) -> Arc<Mutex<Answer>> {
        let answer = Arc::new(Mutex::new(Answer::default()));
        let wakes = {
            let mut queue = lock(&self.queue);
            if queue.is_closed {
                give(&answer, Err(NoReply::Failed));
                return answer;
            }
            let number = queue.next;
            queue.next += 1;
            queue.waiting.push((number, chunk, ask));
            queue.answers.insert(number, Arc::clone(&answer));
            !std::mem::replace(&mut queue.woken, true)
        };
        if wakes {
            Python::attach(|py| {
                let wake = lock(&self.wake).as_ref().map(|wake| wake.clone_ref(py));
                // This fails if the event loop was closed.
                match wake.map(|wake| wake.call0(py)) {
                    Some(Ok(_)) => {}
                    Some(Err(error)) => {
                        lock(&self.failed).get_or_insert(error);
                        self.refuse();
                    }
                    None => self.refuse(),
                }
            });
        }
        answer
    }
}

/// Stores a reply, and wakes the task that waits for it.
fn give(answer: &Mutex<Answer>, reply: Reply) {
    let waker = {
        let mut answer = lock(answer);
        answer.reply = Some(reply);
        answer.waker.take()
    };
    waker.into_iter().for_each(Waker::wake);
}

async fn wait(answer: Arc<Mutex<Answer>>) -> Reply {
    poll_fn(|context| {
        let mut answer = lock(&answer);
        match answer.reply.take() {
            Some(reply) => Poll::Ready(reply),
            None => {
                answer.waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    })
    .await
}

/// Store of the chunks of a batch, by the keys of their Python objects.
#[derive(Debug)]
pub(crate) struct PythonStore {
    requests: Arc<Py<Requests>>,
    name: String,
    concurrency: usize,
    numbers: HashMap<Key, usize>,
}

impl PythonStore {
    /// Returns the store of the objects with these keys.
    pub(crate) fn new(py: Python<'_>, requests: &Py<Requests>, keys: &[Key]) -> Self {
        let of = requests.get();
        let numbers = keys.iter().enumerate().map(|(number, key)| (key.clone(), number)).collect();
        Self { name: of.name.clone(), concurrency: of.concurrency, requests: Arc::new(requests.clone_ref(py)), numbers }
    }

    fn ask(&self, key: &Key, operation: Operation, ask: Ask) -> Result<Arc<Mutex<Answer>>> {
        match self.numbers.get(key) {
            Some(&number) => Ok(self.requests.get().put(number, ask)),
            None => Err(Error::Unsupported { store: self.to_string(), operation }),
        }
    }

    /// Waits for the reply; `None` if the object does not support ranges.
    async fn answered(
        &self,
        key: &Key,
        operation: Operation,
        answer: Arc<Mutex<Answer>>,
    ) -> Result<Option<Option<Bytes>>> {
        match wait(answer).await {
            Ok(found) => Ok(Some(found)),
            Err(NoReply::NoRanges) => Ok(None),
            Err(NoReply::Failed) => {
                let message = "the store of Python raised an exception";
                Err(Error::failed(self, operation, key.as_str(), ErrorKind::Io, message))
            }
        }
    }

    /// Requests each range; `None` if the object does not support ranges.
    async fn get_ranges(
        &self,
        key: &Key,
        ranges: &[ByteRange],
        options: &GetOptions,
    ) -> Result<Option<Option<Fetched>>> {
        let whole = [ByteRange::Full];
        let asked = if ranges.is_empty() { &whole } else { ranges };
        let ask = |range: &ByteRange| self.ask(key, Operation::Get, Ask::Get(range.clone()));
        let answers = asked.iter().map(ask).collect::<Result<Vec<_>>>()?;
        let mut fetched = Fetched::new();
        for (range, answer) in asked.iter().zip(answers) {
            let Some(found) = self.answered(key, Operation::Get, answer).await? else { return Ok(None) };
            let Some(bytes) = found else { return Ok(Some(None)) };
            check_len(self, key, range, bytes.len() as u64)?;
            fetched.size = fetched.size.or_else(|| range.whole_size(&bytes));
            if !ranges.is_empty() {
                fetched.push(bytes);
            }
        }
        options.check(self, key, &mut fetched)?;
        Ok(Some(Some(fetched)))
    }

    /// Requests all bytes once, and takes the ranges from them.
    async fn get_whole(&self, key: &Key, ranges: &[ByteRange], options: &GetOptions) -> Result<Option<Fetched>> {
        let answer = self.ask(key, Operation::Get, Ask::Get(ByteRange::Full))?;
        let Some(bytes) = self.answered(key, Operation::Get, answer).await?.flatten() else { return Ok(None) };
        let fetched = of_whole(self, key, bytes, ranges, options)?;
        self.requests.get().without_ranges.store(true, Ordering::Relaxed);
        Ok(Some(fetched))
    }
}

impl fmt::Display for PythonStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl PythonStore {
    async fn get(&self, key: &Key, ranges: &[ByteRange], options: &GetOptions) -> Result<Option<Fetched>> {
        if let Some(kept) = of_kept(self, key, ranges, options) {
            return kept.map(Some);
        }
        if !self.requests.get().without_ranges()
            && let Some(found) = self.get_ranges(key, ranges, options).await?
        {
            return Ok(found);
        }
        self.get_whole(key, ranges, options).await
    }

    async fn set(&self, key: &Key, value: Bytes, _: &SetOptions) -> Result<Option<Version>> {
        let answer = self.ask(key, Operation::Set, Ask::Set(value))?;
        self.answered(key, Operation::Set, answer).await.map(|_| None)
    }

    async fn erase(&self, key: &Key) -> Result<()> {
        let answer = self.ask(key, Operation::Erase, Ask::Erase)?;
        self.answered(key, Operation::Erase, answer).await.map(|_| ())
    }
}

impl AsyncStore for PythonStore {
    fn call<'a>(&'a self, call: Call<'a>) -> BoxFuture<'a, Result<store::Answer>> {
        Box::pin(async move {
            Ok(match call {
                Call::Get { key, ranges, options } => store::Answer::Got(self.get(&key, &ranges, &options).await?),
                Call::Set { key, value, options } => {
                    store::Answer::Set(self.set(&key, value.into_bytes(), &options).await?)
                }
                Call::Erase { key } => self.erase(&key).await?.into(),
                call => return fallback(Asynchronous(self), call).await,
            })
        })
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::none().write(true).suffix_ranges(true)
    }

    fn access_profile(&self) -> AccessProfile {
        AccessProfile::REMOTE.concurrency(self.concurrency).part_size(None)
    }
}
