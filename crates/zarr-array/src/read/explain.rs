//! Plan of a read: its jobs run, but fetch only the bytes on which further requests depend, and decode nothing.

use super::ReadJob;
use super::chunk_batch::ChunkBatch;
use super::chunk_read::ChunkRead;
use crate::plan::{Plan, PlannedRequest};
use crate::{Error, Result, jobs};
use std::sync::{Mutex, PoisonError};
use zarr_codec::Step;
use zarr_drive::{DriverGet, Job, Next};
use zarr_store::{AccessProfile, ByteRange, Reply, Request};

/// Continuation of a job without replies.
enum WithoutReplies<N> {
    /// Next step, which does not depend on replies.
    Next(N),
    /// Requests of the job on whose replies the next step depends.
    Depends(Vec<Request>),
}

/// Job that runs a read job without decoding, and logs its requests.
#[derive(Debug)]
pub(crate) struct PlanJob<'a> {
    job: ReadJob<'a>,
    log: &'a RequestLog,
    /// Number of rounds of requests before the next request of this job.
    round: u32,
}

impl<'a> PlanJob<'a> {
    /// Makes the plan of `job`, whose requests follow all requests in `log`.
    pub(crate) fn new(job: ReadJob<'a>, log: &'a RequestLog) -> Self {
        Self { job, log, round: log.rounds() }
    }
}

impl Job for PlanJob<'_> {
    type Output = ();
    type Error = Error;

    fn step(&mut self, replies: &mut Vec<Reply>) -> Result<Next<Self>> {
        let mut next = self.job.step(replies)?;
        loop {
            let requests = match next {
                Next::Done(()) => return Ok(Next::Done(())),
                Next::Fork(jobs) => {
                    let (log, round) = (self.log, self.round);
                    return Ok(Next::Fork(jobs.into_iter().map(|job| PlanJob { job, log, round }).collect()));
                }
                Next::Ask(requests) | Next::FetchInto(requests) => requests,
            };
            self.round = self.log.note(&requests, self.round);
            let mut decoded = 0;
            let ahead = self.job.skip(requests, &mut decoded)?;
            self.log.note_decoded(decoded);
            match ahead {
                WithoutReplies::Next(after) => next = after,
                WithoutReplies::Depends(needed) => return Ok(Next::Ask(needed)),
            }
        }
    }
}

impl ReadJob<'_> {
    /// Continues without the replies to `asked`, if the next requests do not depend on them, and adds to `decoded` the number of bytes that
    /// would be decoded.
    fn skip(&mut self, asked: Vec<Request>, decoded: &mut u64) -> Result<WithoutReplies<Next<Self>>> {
        match std::mem::replace(self, Self::Many(Vec::new())) {
            Self::Chunks(mut batch) => match batch.skip(asked, decoded)? {
                WithoutReplies::Next(requests) => Ok(WithoutReplies::Next(self.wait(batch, requests))),
                WithoutReplies::Depends(needed) => {
                    *self = Self::Chunks(batch);
                    Ok(WithoutReplies::Depends(needed))
                }
            },
            Self::InnerChunks(batch) => {
                *decoded = decoded.saturating_add(batch.decoded_size());
                Ok(WithoutReplies::Next(Next::Done(())))
            }
            other => {
                *self = other;
                Ok(WithoutReplies::Depends(asked))
            }
        }
    }
}

impl ChunkBatch<'_> {
    /// Continues the chunks of the group without the replies to `asked`, and adds to `decoded` the number of bytes that would be decoded;
    /// see [`ReadJob::skip`].
    fn skip(&mut self, asked: Vec<Request>, decoded: &mut u64) -> Result<WithoutReplies<Vec<Request>>> {
        let mut requests = Vec::new();
        let mut asked: Vec<Option<Request>> = asked.into_iter().map(Some).collect();
        let mut numbers: Vec<Option<usize>> = vec![None; asked.len()];
        let mut needed = Vec::new();
        for mut chunk in std::mem::take(&mut self.chunks) {
            let before = chunk.pending.clone();
            match chunk.skip(&mut requests)? {
                SkippedChunk::Done(size) => *decoded = decoded.saturating_add(size),
                SkippedChunk::Asked => self.chunks.push(chunk),
                SkippedChunk::Depends => {
                    let (reply, parts) = before.ok_or_else(|| chunk.locate(jobs::unfit()))?;
                    let number = numbers.get_mut(reply).ok_or_else(|| chunk.locate(jobs::unfit()))?;
                    // Inner shards share a request.
                    let number = *number.get_or_insert(needed.len());
                    needed.extend(asked.get_mut(reply).and_then(Option::take));
                    chunk.pending = Some((number, parts));
                    self.chunks.push(chunk);
                }
            }
        }
        match (needed.is_empty(), requests.is_empty()) {
            (true, _) => Ok(WithoutReplies::Next(requests)),
            (false, true) => Ok(WithoutReplies::Depends(needed)),
            // The codecs of all chunks are the same.
            (false, false) => Err(Error::internal("of the chunks of a plan some depend on replies, and some do not")),
        }
    }
}

/// State of a chunk of a plan that continued without the bytes that it requested.
enum SkippedChunk {
    /// The chunk makes no further request. The number counts the bytes that would be decoded.
    Done(u64),
    /// The chunk made a further request.
    Asked,
    /// The next requests of the chunk depend on the requested bytes.
    Depends,
}

impl ChunkRead<'_> {
    /// Continues without the bytes for which the chunk waits, and without decoding.
    fn skip(&mut self, requests: &mut Vec<Request>) -> Result<SkippedChunk> {
        match self.decode.as_mut().map(|decode| decode.skip()) {
            None => Ok(SkippedChunk::Done(self.codecs.decoded_size(&self.shape))),
            Some(None) => Ok(SkippedChunk::Depends),
            Some(Some(Step::Done)) => Ok(SkippedChunk::Done(self.codecs.decoded_size(&self.region.shape()))),
            Some(Some(Step::Need(ranges))) => self.ask(&ranges, requests).map(|()| SkippedChunk::Asked),
            Some(Some(Step::Split(_))) => Err(self.locate(Error::internal("a shard is split without its index"))),
        }
    }
}

/// Maximum number of requests in the list of a plan.
const MAX_LISTED: usize = 1 << 17;

/// Log of the requests of a planned read.
#[derive(Debug)]
pub(crate) struct RequestLog {
    profile: AccessProfile,
    /// Whether several requests of a job run at the same time.
    overlapped: bool,
    noted: Mutex<NotedRequests>,
}

/// Requests that were noted, and their totals.
#[derive(Debug, Default)]
struct NotedRequests {
    requests: Vec<PlannedRequest>,
    /// Number of all certain requests, including those that are not listed.
    count: u64,
    rounds: u32,
    /// Number of bytes of all requested ranges.
    range_bytes: u64,
    /// Number of requests whose number of bytes is not known.
    unsized_requests: u64,
    decoded_bytes: u64,
}

impl RequestLog {
    /// Makes an empty log for a store with this profile. `overlapped` says that several requests run at the same time.
    pub(crate) fn new(profile: AccessProfile, overlapped: bool) -> Self {
        Self { profile, overlapped, noted: Mutex::default() }
    }

    /// Makes the plan of the logged requests.
    pub(crate) fn into_plan(self) -> Plan {
        let noted = self.noted.into_inner().unwrap_or_else(PoisonError::into_inner);
        let NotedRequests { mut requests, count, rounds, range_bytes, unsized_requests, decoded_bytes } = noted;
        let first = |request: &PlannedRequest| request.ranges.first().map(start);
        requests.sort_by(|a, b| (a.round, &a.key, first(a)).cmp(&(b.round, &b.key, first(b))));
        Plan {
            requests,
            request_count: count,
            rounds,
            range_bytes,
            unsized_requests,
            decoded_bytes: Some(decoded_bytes),
            ..Plan::default()
        }
    }

    fn with<T>(&self, change: impl FnOnce(&mut NotedRequests) -> T) -> T {
        change(&mut self.noted.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Number of rounds of the logged requests.
    fn rounds(&self) -> u32 {
        self.with(|noted| noted.rounds)
    }

    fn note_decoded(&self, size: u64) {
        self.with(|noted| noted.decoded_bytes = noted.decoded_bytes.saturating_add(size));
    }

    /// Logs requests of a round, divided as the driver makes them. Returns the number of the round after them.
    fn note(&self, requests: &[Request], round: u32) -> u32 {
        let mut after = round + 1;
        let mut gets = Vec::new();
        for request in requests {
            let Request::Get { key, ranges, options } = request else { continue };
            for get in DriverGet::of(ranges, options, &self.profile, self.overlapped) {
                if get.is_certain {
                    after = after.max(round + get.round + 1);
                }
                gets.push(PlannedRequest::new(key, get, round));
            }
        }
        self.with(|noted| {
            noted.rounds = noted.rounds.max(after);
            for get in gets {
                if get.is_certain {
                    noted.count += 1;
                    match size(&get.ranges) {
                        Some(size) => noted.range_bytes = noted.range_bytes.saturating_add(size),
                        None => noted.unsized_requests += 1,
                    }
                }
                if noted.requests.len() < MAX_LISTED {
                    noted.requests.push(get);
                }
            }
        });
        after
    }
}

/// Number of bytes of ranges; `None` if it depends on the size of the value.
fn size(ranges: &[ByteRange]) -> Option<u64> {
    ranges.iter().try_fold(0_u64, |size, range| match range {
        ByteRange::Range(range) => size.checked_add(range.end.checked_sub(range.start)?),
        ByteRange::Suffix(len) => size.checked_add(*len),
        ByteRange::Full | ByteRange::From(_) | ByteRange::First(_) => None,
    })
}

/// Sort key of a range: its start. Ranges that count from the end come last.
fn start(range: &ByteRange) -> (bool, u64) {
    match range {
        ByteRange::Full | ByteRange::First(_) => (false, 0),
        ByteRange::Range(range) => (false, range.start),
        ByteRange::From(start) => (false, *start),
        ByteRange::Suffix(len) => (true, u64::MAX - len),
    }
}
