//! Requests counted and logged.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// The operation that a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// A value or a part of it.
    Get,
    /// The headers of a value or a bucket.
    Head,
    /// A value, a part of an upload, or a copy.
    Put,
    /// The keys of a bucket or directory.
    List,
    /// Keys to be removed, one or several, or an upload to be given up.
    Delete,
    /// Anything else: uploads begun and completed, buckets made.
    Other,
}

/// Requests that a server got since it began or since [`crate::TestServer::reset_counts`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counts {
    /// Requests of [`Operation::Get`].
    pub gets: u64,
    /// Requests of [`Operation::Head`].
    pub heads: u64,
    /// Requests of [`Operation::Put`].
    pub puts: u64,
    /// Requests of [`Operation::List`].
    pub lists: u64,
    /// Requests of [`Operation::Delete`].
    pub deletes: u64,
    /// Requests of [`Operation::Other`].
    pub others: u64,
    /// Bytes of bodies that were sent, without headers.
    pub bytes_sent: u64,
    /// Bytes of bodies that were received, without headers.
    pub bytes_received: u64,
    /// How many requests were being answered at the same time, at most.
    pub most_in_flight: u64,
    /// Requests whose connection the client closed before the answer was written completely.
    pub aborted: u64,
    /// Connections that were made.
    pub connections: u64,
    /// Requests that were refused because too many were being answered.
    pub refused: u64,
}

impl Counts {
    /// Requests of all kinds.
    pub fn requests(&self) -> u64 {
        self.gets + self.heads + self.puts + self.lists + self.deletes + self.others
    }
}

/// A request as it was received, and the status that it got.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Logged {
    /// `GET` and so on.
    pub method: String,
    /// The path of the URL without escapes: `/bucket/key`.
    pub path: String,
    /// The query of the URL with its escapes, without `?`; empty where there is none.
    pub query: String,
    /// The operation that the request asks for.
    pub operation: Operation,
    /// The header `Range`.
    pub range: Option<String>,
    /// The header `If-Match`.
    pub if_match: Option<String>,
    /// The header `If-None-Match`.
    pub if_none_match: Option<String>,
    /// The object that the request copies: the header `x-amz-copy-source` or `x-goog-copy-source`.
    pub copy_source: Option<String>,
    /// The time when the request was signed: the header `x-amz-date`.
    pub signed: Option<String>,
    /// The status of the answer. `None` while there is none, and where the connection was closed without one.
    pub status: Option<u16>,
    /// Time at which the request came.
    pub came: Instant,
    /// Time at which the last byte of the answer was made, or the client went away.
    pub ended: Option<Instant>,
}

/// How many requests the log keeps; earlier ones are forgotten.
const LOG: usize = 100_000;

/// The counts and the log of a server.
#[derive(Debug, Default)]
pub(crate) struct Tally(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    counts: Counts,
    in_flight: u64,
    log: VecDeque<Logged>,
    /// The number of the first request in the log, counted from the start of the server.
    first: u64,
}

impl State {
    /// The request with this number, if the log still has it.
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

    /// Begins again. Requests that are being answered stay counted as being in flight.
    pub(crate) fn reset(&self) {
        let mut state = self.lock();
        state.counts = Counts { most_in_flight: state.in_flight, ..Counts::default() };
        state.first += state.log.len() as u64;
        state.log.clear();
    }

    /// Counts a request, and returns its number for [`Tally::answered`], and how many are in flight with it.
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

    /// A request is not in flight any more.
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
