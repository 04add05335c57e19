//! The requests of a read without the read: its jobs run, but nothing is fetched except the bytes that further requests depend on, and
//! nothing is decoded.

use super::ReadJob;
use super::chunk_batch::ChunkBatch;
use super::chunk_read::ChunkRead;
use crate::plan::{Plan, PlannedRequest};
use crate::{Error, Result, jobs};
use std::sync::{Mutex, PoisonError};
use zarr_codec::Step;
use zarr_drive::{DriverGet, Job, Next};
use zarr_store::{AccessProfile, ByteRange, Reply, Request};

/// How a job goes on without replies.
enum WithoutReplies<N> {
    /// By this step, which depends on no reply.
    Next(N),
    /// Its next step depends on the replies to these of its requests.
    Depends(Vec<Request>),
}

/// Runs a job of a read, and notes its requests.
#[derive(Debug)]
pub(crate) struct PlanJob<'a> {
    job: ReadJob<'a>,
    log: &'a RequestLog,
    /// How many replies its next requests wait for, one behind the other.
    round: u32,
}

impl<'a> PlanJob<'a> {
    /// The requests of `job` follow those that are in the log.
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
    /// Goes on without the replies to `asked`, as far as the next requests do not depend on them, and counts the bytes that would be
    /// decoded.
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
    /// As [`ReadJob::skip`].
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

/// State that a chunk of a plan has come to without the bytes that it asked for.
enum SkippedChunk {
    /// It asks for nothing more. The number is that of the bytes that would be decoded.
    Done(u64),
    /// It asked for more.
    Asked,
    /// Its next requests depend on the bytes.
    Depends,
}

impl ChunkRead<'_> {
    /// Goes on without the bytes that it waits for, and without decoding.
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

/// Maximum number of requests that are listed.
const MAX_LISTED: usize = 1 << 17;

/// The requests of a read.
#[derive(Debug)]
pub(crate) struct RequestLog {
    profile: AccessProfile,
    /// Whether requests are under way at the same time.
    overlapped: bool,
    noted: Mutex<NotedRequests>,
}

/// The requests that were noted.
#[derive(Debug, Default)]
struct NotedRequests {
    requests: Vec<PlannedRequest>,
    /// The number of all, listed or not.
    count: u64,
    rounds: u32,
    /// The bytes of ranges.
    range_bytes: u64,
    /// Requests of which it is not known how many bytes they get.
    unsized_requests: u64,
    decoded_bytes: u64,
}

impl RequestLog {
    /// Makes an empty log for a store with this profile.
    pub(crate) fn new(profile: AccessProfile, overlapped: bool) -> Self {
        Self { profile, overlapped, noted: Mutex::default() }
    }

    /// The plan of these requests.
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

    /// How many rounds the requests take that were noted.
    fn rounds(&self) -> u32 {
        self.with(|noted| noted.rounds)
    }

    fn note_decoded(&self, size: u64) {
        self.with(|noted| noted.decoded_bytes = noted.decoded_bytes.saturating_add(size));
    }

    /// Notes requests of a round, as the driver makes them. Returns the round after them.
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

/// The bytes of some ranges; `None` if they depend on the size of the value.
fn size(ranges: &[ByteRange]) -> Option<u64> {
    ranges.iter().try_fold(0_u64, |size, range| match range {
        ByteRange::Range(range) => size.checked_add(range.end.checked_sub(range.start)?),
        ByteRange::Suffix(len) => size.checked_add(*len),
        ByteRange::Full | ByteRange::From(_) | ByteRange::First(_) => None,
    })
}

/// Where a range starts, for their order; those that count from the end come last.
fn start(range: &ByteRange) -> (bool, u64) {
    match range {
        ByteRange::Full | ByteRange::First(_) => (false, 0),
        ByteRange::Range(range) => (false, range.start),
        ByteRange::From(start) => (false, *start),
        ByteRange::Suffix(len) => (true, u64::MAX - len),
    }
}
