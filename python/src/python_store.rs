//! Stores of Python: objects with the store interface of zarr-python, which answer requests on its event loop.
//!
//! Each request goes to `zarr_rust/_asked.py` with an [`Answer`], which the event loop sets. No thread waits for the interpreter's lock
//! while it holds another lock.

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use std::fmt;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use zarr::store::{
    self, AccessProfile, AsyncStore, Asynchronous, BoxFuture, ByteRange, ByteRangeExt, Bytes, Call, Capabilities,
    Error, ErrorKind, Fetched, GetOptions, Key, Listing, Operation, Prefix, Result, SetOptions, Snapshot, Version,
    fallback,
};

/// Reply of a store of Python.
enum Reply {
    Bytes(Option<Bytes>),
    /// Keys, and prefixes of further keys.
    Names(Vec<String>, Vec<String>),
    /// The store does not support ranges of bytes, or not this range.
    NoRanges,
    /// Message of an exception.
    Failed(String),
}

#[derive(Default)]
struct Waiting {
    reply: Option<Reply>,
    waker: Option<Waker>,
}

/// Place for the reply to a request, which can be set once.
#[pyclass(frozen, name = "Answer", module = "zarr_rust._core")]
pub(crate) struct Answer(Arc<Mutex<Waiting>>);

fn lock(waiting: &Mutex<Waiting>) -> MutexGuard<'_, Waiting> {
    waiting.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Answer {
    fn put(&self, reply: Reply) {
        let waker = {
            let mut waiting = lock(&self.0);
            waiting.reply.get_or_insert(reply);
            waiting.waker.take()
        };
        waker.into_iter().for_each(Waker::wake);
    }
}

#[pymethods]
impl Answer {
    /// Replies with bytes, or with `None` for a missing value.
    fn bytes(&self, value: Option<PyBackedBytes>) {
        self.put(Reply::Bytes(value.map(Bytes::from_owner)));
    }

    /// Replies with keys, and with prefixes of further keys.
    fn names(&self, keys: Vec<String>, prefixes: Vec<String>) {
        self.put(Reply::Names(keys, prefixes));
    }

    /// Replies that the store does not support ranges: all bytes are requested instead.
    fn refuse_range(&self) {
        self.put(Reply::NoRanges);
    }

    /// Replies with the message of an exception.
    fn fail(&self, message: String) {
        self.put(Reply::Failed(message));
    }
}

impl Drop for Answer {
    /// Fails the request if nobody can reply any more, for example after the end of the event loop. An earlier reply is unchanged.
    fn drop(&mut self) {
        if let Ok(true) = self.0.lock().map(|waiting| Arc::strong_count(&self.0) > 1 && waiting.reply.is_none()) {
            self.put(Reply::Failed("the event loop of the store has ended".to_owned()));
        }
    }
}

/// Store of Python, by the object that forwards requests to it.
#[derive(Debug)]
pub(crate) struct PythonStore {
    asked: Py<PyAny>,
    name: String,
    capabilities: Capabilities,
    concurrency: usize,
}

impl PythonStore {
    /// Returns the store to which an object of `zarr_rust/_asked.py` forwards requests.
    ///
    /// # Errors
    /// The exceptions of reading the attributes of the object.
    pub(crate) fn new(asked: &Bound<'_, PyAny>) -> PyResult<Self> {
        let is = |name: &str| asked.getattr(name)?.extract::<bool>();
        let capabilities = Capabilities::none().write(is("writes")?).list(is("lists")?).suffix_ranges(true);
        let concurrency = asked.getattr("concurrency")?.extract()?;
        Ok(Self { name: asked.getattr("name")?.extract()?, asked: asked.clone().unbind(), capabilities, concurrency })
    }

    /// Starts a request.
    fn begin(&self, ask: Ask<'_>) -> Arc<Mutex<Waiting>> {
        let waiting = Arc::new(Mutex::new(Waiting::default()));
        let answer = Answer(Arc::clone(&waiting));
        let begun = Python::attach(|py| {
            let asked = self.asked.bind(py);
            match ask {
                Ask::Get(key, range) => {
                    let (how, one, other) = match range {
                        ByteRange::Full => ("get", 0, 0),
                        ByteRange::Range(range) => ("range", range.start, range.end),
                        ByteRange::First(len) => ("range", 0, *len),
                        ByteRange::From(start) => ("from", *start, 0),
                        ByteRange::Suffix(len) => ("suffix", *len, 0),
                    };
                    asked.call_method1("begin_get", (answer, key.as_str(), how, one, other))
                }
                Ask::Set(key, value) => {
                    asked.call_method1("begin_set", (answer, key.as_str(), PyBytes::new(py, &value)))
                }
                Ask::Erase(key) => asked.call_method1("begin_erase", (answer, key.as_str())),
                Ask::List(prefix, deep) => asked.call_method1("begin_list", (answer, prefix.as_str(), deep)),
            }
            .map(drop)
        });
        if let Err(error) = begun {
            lock(&waiting).reply = Some(Reply::Failed(error.to_string()));
        }
        waiting
    }

    async fn reply(&self, operation: Operation, at: &str, ask: Ask<'_>) -> Result<Reply> {
        let waiting = self.begin(ask);
        let reply = poll_fn(|context| {
            let mut waiting = lock(&waiting);
            match waiting.reply.take() {
                Some(reply) => Poll::Ready(reply),
                None => {
                    waiting.waker = Some(context.waker().clone());
                    Poll::Pending
                }
            }
        });
        match reply.await {
            Reply::Failed(message) => Err(Error::failed(self, operation, at, ErrorKind::Io, message)),
            reply => Ok(reply),
        }
    }

    async fn bytes(&self, operation: Operation, key: &Key, ask: Ask<'_>) -> Result<Option<Bytes>> {
        match self.reply(operation, key.as_str(), ask).await? {
            Reply::Bytes(bytes) => Ok(bytes),
            Reply::Names(..) | Reply::NoRanges | Reply::Failed(_) => {
                let message = "the store of Python answered another request";
                Err(Error::failed(self, operation, key.as_str(), ErrorKind::Internal, message))
            }
        }
    }

    /// Requests each range; `None` if the store does not support ranges.
    async fn get_ranges(
        &self,
        key: &Key,
        ranges: &[ByteRange],
        options: &GetOptions,
    ) -> Result<Option<Option<Fetched>>> {
        let mut fetched = Fetched::new();
        for range in ranges {
            let bytes = match self.reply(Operation::Get, key.as_str(), Ask::Get(key, range)).await? {
                Reply::Bytes(Some(bytes)) => bytes,
                Reply::NoRanges => return Ok(None),
                Reply::Bytes(None) | Reply::Names(..) | Reply::Failed(_) => return Ok(Some(None)),
            };
            check_len(self, key, range, bytes.len() as u64)?;
            fetched.size = fetched.size.or_else(|| range.whole_size(&bytes));
            fetched.push(bytes);
        }
        options.check(self, key, &mut fetched)?;
        Ok(Some(Some(fetched)))
    }

    /// Lists keys and prefixes. Names that are no valid keys or prefixes here are left out.
    async fn names(&self, prefix: &Prefix, deep: bool) -> Result<(Vec<Key>, Vec<Prefix>)> {
        match self.reply(Operation::List, prefix.as_str(), Ask::List(prefix, deep)).await? {
            Reply::Names(keys, prefixes) => Ok((
                keys.iter().filter_map(|key| Key::new(key).ok()).collect(),
                prefixes.iter().filter_map(|prefix| Prefix::new(prefix).ok()).collect(),
            )),
            Reply::Bytes(_) | Reply::NoRanges | Reply::Failed(_) => Ok((Vec::new(), Vec::new())),
        }
    }
}

/// Request to a store of Python.
enum Ask<'k> {
    Get(&'k Key, &'k ByteRange),
    Set(&'k Key, Bytes),
    Erase(&'k Key),
    /// List of a prefix, and whether all keys below it are requested, at any depth.
    List(&'k Prefix, bool),
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
        let is_whole = ranges.is_empty() || *ranges == [ByteRange::Full];
        if !is_whole && let Some(found) = self.get_ranges(key, ranges, options).await? {
            return Ok(found);
        }
        let found = self.bytes(Operation::Get, key, Ask::Get(key, &ByteRange::Full)).await?;
        found.map(|bytes| of_whole(self, key, bytes, ranges, options)).transpose()
    }

    async fn set(&self, key: &Key, value: Bytes, _: &SetOptions) -> Result<Option<Version>> {
        self.bytes(Operation::Set, key, Ask::Set(key, value)).await.map(|_| None)
    }

    async fn erase(&self, key: &Key) -> Result<()> {
        self.bytes(Operation::Erase, key, Ask::Erase(key)).await.map(|_| ())
    }

    async fn list_dir(&self, prefix: &Prefix) -> Result<Listing> {
        self.names(prefix, false).await.map(|(keys, prefixes)| Listing::new(keys, prefixes))
    }

    async fn list_prefix(&self, prefix: &Prefix) -> Result<Vec<Key>> {
        let (mut keys, _) = self.names(prefix, true).await?;
        keys.sort_unstable();
        Ok(keys)
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
                Call::ListDir { prefix } => store::Answer::Listing(self.list_dir(&prefix).await?),
                Call::ListPrefix { prefix } => store::Answer::Keys(self.list_prefix(&prefix).await?),
                call => return fallback(Asynchronous(self), call).await,
            })
        })
    }

    fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    fn access_profile(&self) -> AccessProfile {
        AccessProfile::REMOTE.concurrency(self.concurrency).part_size(None)
    }
}

/// Returns the ranges of a value that was requested as a whole. If a snapshot is requested, it stores the value, so that further ranges
/// need no request: a store without ranges would send the whole value again.
///
/// # Errors
/// The errors of [`Fetched::of_value`].
pub(crate) fn of_whole(
    store: &dyn fmt::Display,
    key: &Key,
    value: Bytes,
    ranges: &[ByteRange],
    options: &GetOptions,
) -> Result<Fetched> {
    let mut fetched = Fetched::of_value(store, key, value.clone(), None, ranges, options)?;
    fetched.snapshot = options.snapshot.then(|| Snapshot::of_handle(None, Arc::new(value)));
    Ok(fetched)
}

/// Returns the ranges of the value that the snapshot in the options stores; `None` if there is none.
pub(crate) fn of_kept(
    store: &dyn fmt::Display,
    key: &Key,
    ranges: &[ByteRange],
    options: &GetOptions,
) -> Option<Result<Fetched>> {
    let kept = options.if_match.as_ref()?.handle::<Bytes>()?;
    Some(of_whole(store, key, kept.clone(), ranges, options))
}

/// Checks the length of the bytes that a store of Python returned for a range of a value.
///
/// # Errors
/// [`ErrorKind::Range`](zarr::store::ErrorKind::Range) if `found` is not the length of the range.
pub(crate) fn check_len(store: &dyn fmt::Display, key: &Key, range: &ByteRange, found: u64) -> Result<()> {
    match range {
        ByteRange::Range(due) if found != due.end.saturating_sub(due.start) => {
            range.check(store, key, due.start.saturating_add(found)).map(drop)
        }
        ByteRange::Suffix(due) if found != *due => range.check(store, key, found).map(drop),
        _ => Ok(()),
    }
}
