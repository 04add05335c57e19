//! Faults that a server has on purpose.

use crate::counts::{Logged, Operation};
use crate::values::Objects;
use bytes::Bytes;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Kind of a fault of an operation or of its answer.
///
/// The first group of faults answers without doing the operation; the second does the operation and changes the answer; the third is only
/// for listings of S3 and Google Cloud Storage.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum FaultKind {
    /// The operation is replaced by an answer with this status, these headers and this body.
    Status {
        /// Status, for example 503.
        status: u16,
        /// Headers, for example `("Retry-After", "1")`.
        headers: Vec<(String, String)>,
        /// Body of the answer.
        body: Bytes,
    },
    /// The operation is replaced by 409 `ConditionalRequestConflict`, as S3 answers when requests race.
    Conflict,
    /// The connection is closed without an answer, and the operation is not done.
    DropBefore,
    /// The operation is replaced by an HTML page with status 200, as by a network that wants its users to log in.
    Html,
    /// The operation is replaced by an answer with this status, from 300 to 399, and this address in `Location`.
    Redirect {
        /// Status: 301, 302, 303, 307 or 308.
        status: u16,
        /// Address in `Location`, which may be relative.
        location: String,
    },
    /// The value at the path of the request is replaced by this one, with another ETag, before the operation.
    Change(Bytes),
    /// The value is read as it was when [`crate::TestServer::snapshot`] was called, like an answer of a cache.
    Cached(Snapshot),
    /// The answer is delayed by this time, in addition to the latency of the server.
    Delay(Duration),

    /// The operation is done, and the connection is closed without an answer.
    DropAfter,
    /// The operation is done, and the answer is sent after this time.
    DelayAfter(Duration),
    /// The first `count` objects of a request of S3 that removes several objects are not removed, and the answer has `code` for each of
    /// them.
    Leave {
        /// Number of objects that are not removed.
        count: usize,
        /// Error code, for example `SlowDown`.
        code: String,
    },
    /// The connection is closed after this number of bytes of the body, although the headers promise all bytes.
    Truncate(usize),
    /// The header `Content-Length` is this number, and the body is cut to it. If the body is shorter, the connection is closed after it.
    ContentLength(usize),
    /// The body has other bytes, and is longer by this number of bytes; the headers do not give its length.
    Excess(usize),
    /// The header `Range` is ignored: the answer is the whole value, with status 200.
    IgnoreRange,
    /// The header `Content-Range` has this value.
    ContentRange(String),
    /// The body is compressed and has the header `Content-Encoding: gzip`.
    Gzip,
    /// The body is sent with this number of bytes per second.
    Slow(u64),

    /// The page of a listing is sent, and its new token for the next page leads to the same page again.
    DuplicatePage,
    /// The page of a listing has, as token for the next page, the token of the request.
    RepeatToken,
    /// The entries of a page of a listing are in reverse order.
    Unsorted,
    /// The listing shows the keys that existed when [`crate::TestServer::snapshot`] was called.
    Stale(Snapshot),
}

impl FaultKind {
    /// Returns the fault of an answer with only a status.
    pub fn status(status: u16) -> Self {
        Self::Status { status, headers: Vec::new(), body: Bytes::new() }
    }

    /// Returns the fault of an answer with a status and the header `Retry-After`, in seconds.
    pub fn retry_after(status: u16, seconds: u64) -> Self {
        Self::Status { status, headers: vec![("Retry-After".to_owned(), seconds.to_string())], body: Bytes::new() }
    }
}

/// Keys and values of a bucket at some time, for [`FaultKind::Stale`] and [`FaultKind::Cached`].
#[derive(Clone, Debug)]
pub struct Snapshot(pub(crate) Arc<Objects>);

/// Rule in the script of faults: the kind of the fault, and the requests that have it.
///
/// ```
/// use zarr_testserver::{Fault, FaultKind, Operation, TestServer};
///
/// let server = TestServer::start()?;
/// // The third and fourth read of a chunk are to be repeated after a second.
/// server.fault(Fault::new(FaultKind::retry_after(503, 1)).on(Operation::Get).path("/c/").skip(2).times(2));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone)]
pub struct Fault {
    kind: FaultKind,
    operation: Option<Operation>,
    method: Option<String>,
    path: Option<String>,
    condition: Option<Condition>,
    chance: Option<Chance>,
    skip: u64,
    times: u64,
}

type Condition = Arc<dyn Fn(&Logged) -> bool + Send + Sync>;

/// Pseudo-random choice of `percent` of a hundred requests, with the same numbers in each run.
#[derive(Clone, Copy, Debug)]
struct Chance {
    percent: u64,
    state: u64,
}

impl Chance {
    fn comes_up(&mut self) -> bool {
        // SplitMix64.
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut number = self.state;
        number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (number ^ (number >> 31)) % 100 < self.percent
    }
}

impl Fault {
    /// Returns a rule for the next request, of any kind.
    pub fn new(kind: FaultKind) -> Self {
        Self { kind, operation: None, method: None, path: None, condition: None, chance: None, skip: 0, times: 1 }
    }

    /// Applies the fault only to requests of this operation.
    pub fn on(self, operation: Operation) -> Self {
        Self { operation: Some(operation), ..self }
    }

    /// Applies the fault only to requests with this method, in capital letters.
    pub fn method(self, method: impl Into<String>) -> Self {
        Self { method: Some(method.into()), ..self }
    }

    /// Applies the fault only to requests whose path, `/bucket/key` without escapes, contains this string.
    pub fn path(self, part: impl Into<String>) -> Self {
        Self { path: Some(part.into()), ..self }
    }

    /// Applies the fault only to requests for which `condition` is true. The status of the request is not known yet.
    pub fn when(self, condition: impl Fn(&Logged) -> bool + Send + Sync + 'static) -> Self {
        Self { condition: Some(Arc::new(condition)), ..self }
    }

    /// Applies the fault only to `percent` of a hundred requests, chosen pseudo-randomly, but the same in each run.
    pub fn percent(self, percent: u64) -> Self {
        Self { chance: Some(Chance { percent, state: percent }), ..self }
    }

    /// Skips the first `count` requests to which the rule applies: they do not have the fault.
    pub fn skip(self, count: u64) -> Self {
        Self { skip: count, ..self }
    }

    /// Applies the fault to `count` requests, after those that are skipped. The default is 1.
    pub fn times(self, count: u64) -> Self {
        Self { times: count, ..self }
    }

    /// Applies the fault to all requests for which the rule is made, after those that are skipped.
    pub fn always(self) -> Self {
        self.times(u64::MAX)
    }

    fn matches(&self, request: &Logged) -> bool {
        self.operation.is_none_or(|operation| operation == request.operation)
            && self.method.as_ref().is_none_or(|method| *method == request.method)
            && self.path.as_ref().is_none_or(|part| request.path.contains(part))
            && self.condition.as_ref().is_none_or(|condition| condition(request))
    }
}

impl fmt::Debug for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Fault")
            .field("kind", &self.kind)
            .field("operation", &self.operation)
            .field("method", &self.method)
            .field("path", &self.path)
            .field("has_condition", &self.condition.is_some())
            .field("percent", &self.chance.map(|chance| chance.percent))
            .field("skip", &self.skip)
            .field("times", &self.times)
            .finish()
    }
}

/// Rules that are not used up, in the order in which they were added.
#[derive(Debug, Default)]
pub(crate) struct Script(Mutex<Vec<Fault>>);

impl Script {
    fn lock(&self) -> MutexGuard<'_, Vec<Fault>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn push(&self, mut fault: Fault) {
        let mut rules = self.lock();
        if let Some(chance) = &mut fault.chance {
            // Rules with the same percentage apply to different requests.
            chance.state ^= (rules.len() as u64) << 32;
        }
        rules.push(fault);
    }

    pub(crate) fn clear(&self) {
        self.lock().clear();
    }

    pub(crate) fn len(&self) -> usize {
        self.lock().len()
    }

    /// Returns the fault of a request: that of the first rule that applies to the request and does not skip it.
    pub(crate) fn take(&self, request: &Logged) -> Option<FaultKind> {
        let mut rules = self.lock();
        let mut index = 0;
        while let Some(rule) = rules.get_mut(index) {
            if rule.times == 0 {
                rules.remove(index);
                continue;
            }
            if rule.matches(request) && rule.chance.as_mut().is_none_or(Chance::comes_up) {
                if rule.skip == 0 {
                    if rule.times != u64::MAX {
                        rule.times -= 1;
                    }
                    let kind = rule.kind.clone();
                    if rule.times == 0 {
                        rules.remove(index);
                    }
                    return Some(kind);
                }
                rule.skip -= 1;
            }
            index += 1;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    fn get(path: &str) -> Logged {
        Logged {
            method: "GET".to_owned(),
            path: path.to_owned(),
            query: String::new(),
            operation: Operation::Get,
            range: None,
            if_match: None,
            if_none_match: None,
            copy_source: None,
            signed: None,
            status: None,
            came: Instant::now(),
            ended: None,
        }
    }

    #[test]
    fn rules_in_order() {
        let script = Script::default();
        script.push(Fault::new(FaultKind::status(500)).path("/c/").skip(1).times(2));
        script.push(Fault::new(FaultKind::status(503)).method("PUT"));
        script.push(Fault::new(FaultKind::Html).when(|request| request.path.ends_with("/1")));
        let found: Vec<_> = ["/b/c/0", "/b/x", "/b/c/1", "/b/c/1", "/b/c/1", "/b/c/1"]
            .map(|path| match script.take(&get(path)) {
                None => 0,
                Some(FaultKind::Status { status, .. }) => status,
                Some(_) => 200,
            })
            .into();
        assert_eq!(found, [0, 0, 500, 500, 200, 0]);
        assert_eq!(script.len(), 1);
        script.clear();
        assert_eq!(script.len(), 0);
    }

    #[test]
    fn some_of_a_hundred() {
        for percent in [0, 1, 10, 50, 100] {
            let script = Script::default();
            script.push(Fault::new(FaultKind::Html).percent(percent).always());
            let found = (0..2000).filter(|_| script.take(&get("/b/c")).is_some()).count() as u64;
            let slack = if percent % 100 == 0 { 0 } else { 90.min(percent * 15) };
            assert!(found.abs_diff(percent * 20) <= slack, "{found} of {percent}");
        }
    }
}
