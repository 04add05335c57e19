//! Gets of several ranges of one state of a value, by requests for one range each.

mod plan;

use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use tokio::task::{JoinError, JoinSet};
use zarr_store::{
    BoxFuture, ByteRange, ByteRangeExt, Error, ErrorKind, Fetched, GetOptions, Key, Operation, Precondition, Result,
    Snapshot, Version,
};

use crate::Sizes;
use plan::{hull, plan, within};

/// Greatest number of rounds of a get while the value is replaced again and again. The last rounds read the whole value by one request.
const ROUNDS: u32 = 8;

/// Number of rounds that read only the ranges.
const RANGED_ROUNDS: u32 = 5;

/// Greatest size in bytes of a value that is read as a whole because it is replaced again and again.
const MAX_WHOLE: u64 = 256 << 20;

/// Range of bytes that a request asks for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum RangeRequest {
    /// All bytes of the value.
    All,
    /// Bytes from the start to before the end of the range, as far as the value has them; not empty.
    Bounds(Range<u64>),
    /// Bytes from this offset to the end of the value.
    From(u64),
    /// Given number of bytes at the end of the value; not 0.
    Last(u64),
}

impl RangeRequest {
    /// Returns the value of the header `Range`; `None` for all bytes.
    #[must_use]
    pub fn header(&self) -> Option<String> {
        match self {
            Self::All => None,
            Self::Bounds(at) => Some(format!("bytes={}-{}", at.start, at.end.saturating_sub(1))),
            Self::From(start) => Some(format!("bytes={start}-")),
            Self::Last(len) => Some(format!("bytes=-{len}")),
        }
    }

    /// Returns the offsets in a value of `size` bytes that a server conforming to RFC 9110 sends; `None` if it refuses with status 416.
    #[must_use]
    pub fn resolve(&self, size: u64) -> Option<Range<u64>> {
        let at = match self {
            Self::All => return Some(0..size),
            Self::Bounds(at) => at.start..at.end.min(size),
            Self::From(start) => *start..size,
            Self::Last(len) => size.saturating_sub(*len)..size,
        };
        (at.start < at.end).then_some(at)
    }
}

/// State of a value that a request asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Condition {
    /// The current state.
    #[default]
    Any,
    /// The state with this version.
    Is(Version),
    /// The current state, unless it has this version.
    IsNot(Version),
}

impl Condition {
    /// Returns the required version; `None` if the request requires none.
    #[must_use]
    pub fn required(&self) -> Option<&Version> {
        if let Self::Is(version) = self { Some(version) } else { None }
    }
}

/// Response to a request for a range.
pub enum Answer {
    /// The value has the version that the request excludes.
    Same,
    /// The key does not exist.
    Missing,
    /// The value has another version than the required one, with that version if the response names it.
    Changed(Option<Version>),
    /// The range begins after the end of the value, with the size of the value if the response names it.
    Outside(Option<u64>),
    /// Bytes of the value.
    Opened(Opened),
}

/// Response whose headers were received.
pub struct Opened {
    /// Range of the value that `body` contains. It may be larger than requested.
    pub at: Range<u64>,
    /// Size of the value in bytes.
    pub size: u64,
    /// Version of the value, if the server names one that a later request can require.
    pub version: Option<Version>,
    /// Time of the last change of the value, if the server names it.
    pub modified: Option<SystemTime>,
    /// ETag of the value as the server writes it, if it names one.
    pub etag: Option<Arc<str>>,
    /// Reads the bytes; `None` if the value was replaced before all bytes were received.
    pub body: BoxFuture<'static, Result<Option<Bytes>>>,
}

/// Source of requests for single ranges of values.
pub trait Source: fmt::Display + Send + Sync {
    /// Requests a range of a value in a state. A source that cannot exclude a version treats [`Condition::IsNot`] as [`Condition::Any`].
    fn open(&self, key: &Key, range: RangeRequest, condition: Condition) -> BoxFuture<'static, Result<Answer>>;

    /// Returns the record of sizes of values, if [`RangeRequest::Last`] is not supported; otherwise `None`.
    fn sizes(&self) -> Option<&Sizes> {
        None
    }

    /// Returns whether every response contains the whole value.
    fn whole_only(&self) -> bool {
        false
    }

    /// Returns the greatest number of concurrent requests of one get.
    fn concurrency(&self) -> usize;
}

/// Implements [`zarr_store::AsyncStoreExt::get`] by requests to `source`: as few as the ranges need, concurrently. Runs on tokio.
///
/// All ranges are of one state of the value. Responses name its version; if versions differ, the get begins again and requires one
/// version. Without versions, a single request reads all ranges with the bytes between them. Ranges are checked against the size of
/// the value before a body is read.
///
/// # Errors
/// The errors of [`zarr_store::AsyncStoreExt::get`].
pub async fn get(
    source: &dyn Source,
    key: &Key,
    ranges: &[ByteRange],
    options: &GetOptions,
) -> Result<Option<Fetched>> {
    let required = options.if_match.as_ref().and_then(Snapshot::version);
    for round in 0..ROUNDS {
        let mut state = State {
            source,
            key,
            ranges,
            options,
            required: required.cloned(),
            size: None,
            version: None,
            modified: None,
            etag: None,
            places: Vec::new(),
            parts: Vec::new(),
        };
        let flow = if round < RANGED_ROUNDS { state.open_ranges().await? } else { state.open_whole().await? };
        match flow {
            Flow::Missing => return Ok(None),
            Flow::Same(version) => return Ok(Some(Fetched::unchanged(version))),
            Flow::Done(size) => return state.fetched(size).map(Some),
            Flow::Changed(found) => {
                if let Some(required) = required {
                    let expected = Precondition::Version(required.clone());
                    return Err(Error::Precondition { store: source.to_string(), key: key.clone(), expected, found });
                }
            }
            Flow::NoVersion(_) => {}
        }
        tokio::time::sleep(Duration::from_millis(5 << round.min(5))).await;
    }
    let text = format!("the value was replaced {ROUNDS} times while it was read");
    Err(Error::failed(&source, Operation::Get, key.as_str(), ErrorKind::Transient, text))
}

enum Flow {
    Missing,
    /// The value has the version that the caller excludes.
    Same(Version),
    /// The value has another version than the required one, or than another response.
    Changed(Option<Version>),
    /// There are several responses without versions for a value of this size, so that they may be of different states.
    NoVersion(u64),
    /// All bytes of a value of this size were received.
    Done(u64),
}

/// One round of a get.
struct State<'s> {
    source: &'s dyn Source,
    key: &'s Key,
    ranges: &'s [ByteRange],
    options: &'s GetOptions,
    /// Version that further requests require; `None` if they require none.
    required: Option<Version>,
    size: Option<u64>,
    version: Option<Version>,
    /// Time of the last change, the latest of those that the responses name; `None` if one of them names none.
    modified: Option<SystemTime>,
    etag: Option<Arc<str>>,
    /// Position of each range in the value; empty until the size is known.
    places: Vec<Range<u64>>,
    parts: Vec<(Range<u64>, Bytes)>,
}

impl State<'_> {
    async fn open_ranges(&mut self) -> Result<Flow> {
        let mut requests = if self.source.whole_only() { vec![RangeRequest::All] } else { plan(self.ranges) };
        let mut last = Vec::new();
        if let Some(sizes) = self.source.sizes() {
            (last, requests) = requests.into_iter().partition(|request| matches!(request, RangeRequest::Last(_)));
            if !last.is_empty()
                && let Some((version, size)) = sizes.get(self.key)
                && self.required.as_ref().is_none_or(|required| *required == version)
            {
                self.required = Some(version);
                requests.extend(last.drain(..).map(|request| within(&request, size)));
            }
        }
        if requests.is_empty() {
            requests.push(RangeRequest::Bounds(0..1));
        }
        let mut flow = self.request(requests, u64::MAX).await?;
        if let (Flow::Done(size), false) = (&flow, last.is_empty()) {
            let requests = last.iter().map(|request| within(request, *size)).collect();
            flow = self.request(requests, u64::MAX).await?;
        }
        if let Some(sizes) = self.source.sizes() {
            match (&flow, &self.version) {
                (Flow::Done(size), Some(version)) => sizes.insert(self.key, version.clone(), *size),
                _ => sizes.remove(self.key),
            }
        }
        if let Flow::NoVersion(size) = flow {
            (self.size, self.version) = (None, None);
            self.parts.clear();
            self.places.clear();
            return self.request(vec![hull(self.ranges, size)], u64::MAX).await;
        }
        Ok(flow)
    }

    async fn open_whole(&mut self) -> Result<Flow> {
        self.request(vec![RangeRequest::All], MAX_WHOLE).await
    }

    /// Makes requests, with the concurrency of the source, and reads the bodies that the ranges need, for a value of at most `most` bytes.
    async fn request(&mut self, requests: Vec<RangeRequest>, most: u64) -> Result<Flow> {
        let concurrency = self.source.concurrency().max(1);
        for window in requests.chunks(concurrency) {
            let required = self.required.clone().or_else(|| self.version.clone());
            let excluded = self.options.if_none_match.clone().filter(|_| requests.len() == 1 && self.parts.is_empty());
            let condition = match (required, excluded) {
                (Some(required), _) => Condition::Is(required),
                (None, Some(excluded)) => Condition::IsNot(excluded),
                (None, None) => Condition::Any,
            };
            let wanted = Arc::new(Wanted {
                ranges: self.ranges.to_vec(),
                most,
                is_alone: requests.len() == 1 && self.parts.is_empty(),
                has_whole: AtomicBool::new(false),
            });
            let answers = window.iter().map(|range| {
                let answer = self.source.open(self.key, range.clone(), condition.clone());
                Box::pin(read_wanted(answer, Arc::clone(&wanted))) as BoxFuture<'static, Result<Read>>
            });
            let mut opened = Vec::with_capacity(window.len());
            for answer in all(answers).await {
                match self.joined(answer)?? {
                    Read::Answer(Answer::Missing) => return Ok(Flow::Missing),
                    Read::Answer(Answer::Same) => return Ok(self.same()),
                    Read::Answer(Answer::Changed(found)) => return Ok(Flow::Changed(found)),
                    Read::Answer(_) => {}
                    Read::Outside(size) => {
                        if *self.size.get_or_insert(size) != size {
                            return Ok(Flow::Changed(None));
                        }
                    }
                    Read::Opened(answer) => {
                        let first = opened.is_empty() && self.parts.is_empty();
                        if *self.size.get_or_insert(answer.size) != answer.size
                            || (!first && self.version != answer.version)
                        {
                            return Ok(Flow::Changed(answer.version));
                        }
                        self.version.clone_from(&answer.version);
                        // Responses of one version may name several times, of which no earlier one may hide a later one.
                        let latest = self.modified.zip(answer.modified).map(|(one, other)| one.max(other));
                        self.modified = if first { answer.modified } else { latest };
                        self.etag = answer.etag.clone().filter(|etag| first || self.etag.as_ref() == Some(etag));
                        opened.push(answer);
                    }
                }
            }
            // A server that does not know ranges has sent it all.
            let is_whole = opened.iter().any(|answer| Some(answer.at.end - answer.at.start) == self.size);
            if !is_whole
                && self.version.is_none()
                && let (Some(size), true) = (self.size, requests.len() > 1 || !self.parts.is_empty())
            {
                return Ok(Flow::NoVersion(size));
            }
            if self.size.is_some_and(|size| size > most) {
                return Ok(Flow::Changed(self.version.take()));
            }
            if !self.keep(opened)? {
                return Ok(Flow::Changed(None));
            }
            if is_whole {
                break;
            }
        }
        if self.size.is_none() {
            let condition = self.required.clone().map_or(Condition::Any, Condition::Is);
            let first = self.source.open(self.key, RangeRequest::Bounds(0..1), condition).await?;
            self.size = Some(match first {
                Answer::Missing => return Ok(Flow::Missing),
                Answer::Same => return Ok(self.same()),
                Answer::Changed(found) => return Ok(Flow::Changed(found)),
                // A value whose first byte is outside of it is empty.
                Answer::Outside(size) => size.unwrap_or(0),
                Answer::Opened(answer) => {
                    (self.version, self.modified, self.etag) = (answer.version, answer.modified, answer.etag);
                    answer.size
                }
            });
        }
        self.place()?;
        let unsaid = || self.failed("the answers do not say how large the value is".to_owned());
        self.size.map(Flow::Done).ok_or_else(unsaid)
    }

    /// Returns the outcome for a value whose version the caller excludes.
    fn same(&self) -> Flow {
        self.options.if_none_match.clone().map_or(Flow::Changed(None), Flow::Same)
    }

    /// Checks the version and the ranges once the size of the value is known.
    fn place(&mut self) -> Result<()> {
        let (Some(size), true) = (self.size, self.places.is_empty()) else { return Ok(()) };
        self.options.check_version(&self.source, self.key, self.version.as_ref())?;
        for range in self.ranges {
            let at = range.check(&self.source, self.key, size)?;
            self.places.push(at.start as u64..at.end as u64);
        }
        Ok(())
    }

    /// Stores the bytes that were read. Returns false if the value was replaced meanwhile.
    fn keep(&mut self, opened: Vec<Head>) -> Result<bool> {
        self.place()?;
        for Head { at, bytes, .. } in opened {
            let Some(bytes) = bytes else { continue };
            let Some(bytes) = bytes? else { return Ok(false) };
            if bytes.len() as u64 != at.end - at.start {
                let text = format!("found {} bytes, expected bytes {}..{}", bytes.len(), at.start, at.end);
                return Err(self.failed(text));
            }
            self.parts.push((at, bytes));
        }
        Ok(true)
    }

    /// Returns the bytes of the ranges.
    fn fetched(mut self, size: u64) -> Result<Fetched> {
        let mut fetched = Fetched::new();
        fetched.size = Some(size);
        for at in &self.places {
            if at.is_empty() {
                fetched.push(Bytes::new());
                continue;
            }
            let cut = self.parts.iter().find(|(part, _)| covers(part, at)).and_then(|(part, bytes)| {
                let start = usize::try_from(at.start - part.start).ok()?;
                Some(bytes.slice(start..start + usize::try_from(at.end - at.start).ok()?))
            });
            let missing = || self.failed(format!("no answer has bytes {}..{}", at.start, at.end));
            fetched.push(cut.ok_or_else(missing)?);
        }
        (fetched.version, fetched.modified, fetched.etag) = (self.version.take(), self.modified, self.etag.take());
        self.options.check(&self.source, self.key, &mut fetched)?;
        Ok(fetched)
    }

    fn joined<T>(&self, result: Result<T, JoinError>) -> Result<T> {
        result
            .map_err(|error| Error::failed(&self.source, Operation::Get, self.key.as_str(), ErrorKind::Internal, error))
    }

    fn failed(&self, text: String) -> Error {
        Error::failed(&self.source, Operation::Get, self.key.as_str(), ErrorKind::Io, text)
    }
}

/// Rules for which bodies are read. A body is read, or dropped, as soon as its headers are received: if it waited for other headers, it
/// would occupy a connection that they may need.
struct Wanted {
    ranges: Vec<ByteRange>,
    /// Greatest size in bytes of a value whose bodies are read.
    most: u64,
    /// Whether there is only one response, so that no version is needed for one state.
    is_alone: bool,
    /// Whether a response contains the whole value.
    has_whole: AtomicBool,
}

impl Wanted {
    fn has(&self, answer: &Opened) -> bool {
        let len = answer.at.end - answer.at.start;
        // A body of one byte is read, so that its connection can serve the next request.
        if len <= 1 {
            return true;
        }
        let is_whole = len == answer.size;
        if answer.size > self.most || (answer.version.is_none() && !is_whole && !self.is_alone) {
            return false;
        }
        // If any range lies outside of the value, the get fails and needs no bytes.
        let places: Option<Vec<_>> = self.ranges.iter().map(|range| range.resolve(answer.size)).collect();
        let is_needed = places.is_some_and(|places| places.iter().any(|at| !at.is_empty() && covers(&answer.at, at)));
        // A server that does not know ranges sends all of it each time.
        is_needed && !(is_whole && self.has_whole.swap(true, Ordering::Relaxed))
    }
}

/// Response with the bytes that were read of it.
enum Read {
    /// Response without bytes.
    Answer(Answer),
    /// The range begins after the end of a value of this size.
    Outside(u64),
    Opened(Head),
}

struct Head {
    at: Range<u64>,
    size: u64,
    version: Option<Version>,
    modified: Option<SystemTime>,
    etag: Option<Arc<str>>,
    /// Result of reading the body; `None` if the body was not needed.
    bytes: Option<Result<Option<Bytes>>>,
}

async fn read_wanted(answer: BoxFuture<'static, Result<Answer>>, wanted: Arc<Wanted>) -> Result<Read> {
    Ok(match answer.await? {
        Answer::Opened(opened) => {
            let is_wanted = wanted.has(&opened);
            let Opened { at, size, version, modified, etag, body } = opened;
            let bytes = if is_wanted { Some(body.await) } else { None };
            Read::Opened(Head { at, size, version, modified, etag, bytes })
        }
        Answer::Outside(Some(size)) => Read::Outside(size),
        answer => Read::Answer(answer),
    })
}

fn covers(part: &Range<u64>, at: &Range<u64>) -> bool {
    part.start <= at.start && at.end <= part.end
}

/// Runs all futures concurrently, and returns their results in order. Dropping the returned future ends all of them.
async fn all<T: Send + 'static>(
    futures: impl ExactSizeIterator<Item = BoxFuture<'static, T>>,
) -> Vec<Result<T, JoinError>> {
    // A single future needs no task of its own.
    if futures.len() == 1 {
        let mut results = Vec::new();
        for future in futures {
            results.push(Ok(future.await));
        }
        return results;
    }
    let mut tasks = JoinSet::new();
    let ids: Vec<_> = futures.map(|future| tasks.spawn(future).id()).collect();
    let mut results: Vec<Option<Result<T, JoinError>>> = ids.iter().map(|_| None).collect();
    while let Some(joined) = tasks.join_next_with_id().await {
        let (id, result) = match joined {
            Ok((id, value)) => (id, Ok(value)),
            Err(error) => (error.id(), Err(error)),
        };
        if let Some(i) = ids.iter().position(|other| *other == id) {
            results[i] = Some(result);
        }
    }
    results.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests;
