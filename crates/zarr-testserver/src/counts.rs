//! Counts and log of requests.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Operation of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// Read of a value or a part of it.
    Get,
    /// Read of the headers of a value or a bucket.
    Head,
    /// Write of a value or of a part of an upload, also as a copy.
    Put,
    /// Listing of the keys of a bucket or directory.
    List,
    /// Removal of one key or several keys, or abort of an upload.
    Delete,
    /// Any other operation: begin or completion of an upload, creation of a bucket.
    Other,
}

/// Counts of requests to a server since its start or the last [`crate::TestServer::reset_counts`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counts {
    /// Number of requests of [`Operation::Get`].
    pub gets: u64,
    /// Number of requests of [`Operation::Head`].
    pub heads: u64,
    /// Number of requests of [`Operation::Put`].
    pub puts: u64,
    /// Number of requests of [`Operation::List`].
    pub lists: u64,
    /// Number of requests of [`Operation::Delete`].
    pub deletes: u64,
    /// Number of requests of [`Operation::Other`].
    pub others: u64,
    /// Number of bytes of bodies that were sent, without headers.
    pub bytes_sent: u64,
    /// Number of bytes of bodies that were received, without headers.
    pub bytes_received: u64,
    /// Greatest number of requests that were being answered at the same time.
    pub most_in_flight: u64,
    /// Number of requests whose connection the client closed before the answer was completely written.
    pub aborted: u64,
    /// Number of connections that were opened.
    pub connections: u64,
    /// Number of requests that were refused because too many were being answered.
    pub refused: u64,
}

impl Counts {
    /// Returns the number of requests of all operations.
    pub fn requests(&self) -> u64 {
        self.gets + self.heads + self.puts + self.lists + self.deletes + self.others
    }
}

/// Request as it was received, and the status of its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Logged {
    /// HTTP method of the request, such as `GET`.
    pub method: String,
    /// Path of the URL without escapes: `/bucket/key`.
    pub path: String,
    /// Query of the URL with its escapes, without `?`; empty if there is none.
    pub query: String,
    /// Operation of the request.
    pub operation: Operation,
    /// Header `Range`; `None` if the request lacks it.
    pub range: Option<String>,
    /// Header `If-Match`; `None` if the request lacks it.
    pub if_match: Option<String>,
    /// Header `If-None-Match`; `None` if the request lacks it.
    pub if_none_match: Option<String>,
    /// Object that the request copies: the header `x-amz-copy-source` or `x-goog-copy-source`; `None` if the request lacks it.
    pub copy_source: Option<String>,
    /// Time at which the request was signed: the header `x-amz-date`; `None` if the request lacks it.
    pub signed: Option<String>,
    /// Status of the answer. `None` before the answer, and if the connection was closed without one.
    pub status: Option<u16>,
    /// Time at which the request arrived.
    pub came: Instant,
    /// Time at which the answer was complete, or the client closed the connection; `None` before.
    pub ended: Option<Instant>,
}

/// Greatest number of requests in the log; the oldest are dropped.
const LOG: usize = 100_000;

/// Counts and log of a server.
#[derive(Debug, Default)]
pub(crate) struct Tally(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    counts: Counts,
    in_flight: u64,
    log: VecDeque<Logged>,
    /// Number of the first request in the log, counted from the start of the server.
    first: u64,
}

impl State {
    /// Returns the request `number`; `None` if it is no longer in the log.
    fn logged(&mut self, number: u64) -> Option<&mut Logged> {
        let index = usize::try_from(number.checked_sub(self.first)?).ok()?;
        self.log.get_mut(index)
    }
}

impl Tally {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn counts(&self) -> Counts {
        self.lock().counts
    }

    pub(crate) fn log(&self) -> Vec<Logged> {
        self.lock().log.iter().cloned().collect()
    }

    /// Resets the counts and the log. Requests that are being answered still count as being in flight.
    pub(crate) fn reset(&self) {
        let mut state = self.lock();
        state.counts = Counts { most_in_flight: state.in_flight, ..Counts::default() };
        state.first += state.log.len() as u64;
        state.log.clear();
    }

    /// Counts a request. Returns its number, for [`Tally::answered`], and the number of requests in flight, including this one.
    pub(crate) fn begin(&self, logged: Logged) -> (u64, u64) {
        let mut state = self.lock();
        let State { counts, in_flight, log, first } = &mut *state;
        *match logged.operation {
            Operation::Get => &mut counts.gets,
            Operation::Head => &mut counts.heads,
            Operation::Put => &mut counts.puts,
            Operation::List => &mut counts.lists,
            Operation::Delete => &mut counts.deletes,
            Operation::Other => &mut counts.others,
        } += 1;
        *in_flight += 1;
        counts.most_in_flight = counts.most_in_flight.max(*in_flight);
        if log.len() == LOG {
            log.pop_front();
            *first += 1;
        }
        log.push_back(logged);
        (*first + log.len() as u64 - 1, *in_flight)
    }

    pub(crate) fn refused(&self) {
        self.lock().counts.refused += 1;
    }

    pub(crate) fn answered(&self, number: u64, status: u16) {
        if let Some(logged) = self.lock().logged(number) {
            logged.status = Some(status);
        }
    }

    /// Notes that request `number` is no longer in flight.
    pub(crate) fn end(&self, number: u64) {
        let mut state = self.lock();
        state.in_flight -= 1;
        if let Some(logged) = state.logged(number) {
            logged.ended = Some(Instant::now());
        }
    }

    pub(crate) fn aborted(&self) {
        self.lock().counts.aborted += 1;
    }

    pub(crate) fn connected(&self) {
        self.lock().counts.connections += 1;
    }

    pub(crate) fn sent(&self, bytes: usize) {
        self.lock().counts.bytes_sent += bytes as u64;
    }

    pub(crate) fn received(&self, bytes: usize) {
        self.lock().counts.bytes_received += bytes as u64;
    }
}
