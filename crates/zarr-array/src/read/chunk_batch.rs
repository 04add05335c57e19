//! A few chunks that are read one by one, with one round of requests for all of them.

use super::chunk_read::{Advance, ChunkRead, FetchDestination, Skipped};
use super::context::ReadContext;
use super::planning::Ahead;
use super::requests::Requests;
use super::span::ChunkSpan;
use crate::Result;
use crate::jobs::{self, too_few_chunks};
use zarr_codec::Scratch;
use zarr_store::{Reply, Request};

/// A few chunks that are read one by one.
#[derive(Debug)]
pub(crate) struct ChunkBatch<'a> {
    context: &'a ReadContext<'a>,
    /// The chunks that wait for replies, in the order of their requests.
    chunks: Vec<ChunkRead<'a>>,
    /// The inner chunks of shards whose index has come, to be read when all chunks are done.
    shards: Vec<ChunkSpan<'a>>,
    /// The memory of [`FetchDestination::Buffer`].
    buffer: Scratch,
    /// Its size in bytes.
    buffer_size: usize,
}

impl<'a> ChunkBatch<'a> {
    pub(super) fn new(context: &'a ReadContext<'a>, chunks: Vec<ChunkRead<'a>>) -> Self {
        Self { context, chunks, shards: Vec::new(), buffer: Scratch::default(), buffer_size: 0 }
    }

    /// The chunks of a span.
    pub(super) fn of_span(span: ChunkSpan<'a>) -> Result<Self> {
        let context = span.context;
        let mut chunks = Vec::with_capacity(span.windows.len());
        let mut cursor = span.overlaps.cursor_at(span.windows.position() as u64);
        for out in span.windows {
            let overlap = cursor.overlap().ok_or_else(too_few_chunks)?;
            chunks.extend(span.source.chunk_read(context, overlap, out)?);
            cursor.advance();
        }
        Ok(Self::new(context, chunks))
    }

    /// Asks for the first bytes of all chunks.
    pub(super) fn start(&mut self) -> Result<Vec<Request>> {
        let mut requests = Requests::default();
        let mut chunks = std::mem::take(&mut self.chunks);
        for chunk in &mut chunks {
            if chunk.is_output(self.context) {
                chunk.start_into(FetchDestination::Output, &mut requests)?;
                continue;
            }
            if chunk.start_whole(self.context, &mut requests)? {
                continue;
            }
            if let Some(kept) = chunk.kept(self.context, []) {
                let split = chunk.split_by(&kept, self.context)?;
                self.shards.push(chunk.split(split, kept.size, None, self.context)?);
                continue;
            }
            let partial = chunk.partial(self.context);
            let size = if partial.is_none() { chunk.buffered_size(self.context) } else { None };
            match size.and_then(|size| self.buffer_size.checked_add(size)) {
                Some(end) => {
                    chunk.start_into(FetchDestination::Buffer(self.buffer_size..end), &mut requests)?;
                    self.buffer_size = end;
                }
                None => chunk.start(partial, &mut requests)?,
            }
        }
        chunks.retain(|chunk| chunk.pending.is_some());
        self.chunks = chunks;
        Ok(requests.into_vec())
    }

    /// Whether a value may be read into a destination.
    pub(super) fn has_destinations(&self) -> bool {
        self.chunks.iter().any(|chunk| chunk.destination.is_some())
    }

    /// The memory that the value of a request may be read into.
    pub(super) fn destination(&mut self, request: usize) -> Option<&mut [u8]> {
        // Chunks that wait stand in the order of their requests, and one with a destination shares its own with no other.
        let number = |chunk: &ChunkRead<'_>| chunk.pending.as_ref().map(|(reply, _)| *reply);
        let index = self.chunks.binary_search_by_key(&Some(request), number).ok()?;
        let chunk = self.chunks.get_mut(index)?;
        match chunk.destination.as_ref()? {
            FetchDestination::Output => chunk.out.as_contiguous(),
            FetchDestination::Buffer(range) => {
                if self.buffer.len() < self.buffer_size {
                    self.buffer = Scratch::take();
                }
                self.buffer.sized(self.buffer_size).ok()?.get_mut(range.clone())
            }
        }
    }

    /// Goes on with the replies, and asks for more bytes where chunks need them.
    pub(super) fn advance(&mut self, replies: &[Reply]) -> Result<Vec<Request>> {
        let mut requests = Requests::default();
        for mut chunk in std::mem::take(&mut self.chunks) {
            match chunk.advance(replies, self.context, &mut requests)? {
                Advance::Received(size) => {
                    if !chunk.filled(size, &self.buffer, &mut requests)? {
                        self.chunks.push(chunk);
                    }
                }
                // The value has more bytes than a shard needs: which ones, its index says.
                Advance::Bytes(bytes, fetched)
                    if chunk.byte_range.is_none() && fetched.size.is_some_and(|size| size > bytes.len() as u64) =>
                {
                    let partial = chunk.partial(self.context);
                    chunk.start(partial, &mut requests)?;
                    self.chunks.push(chunk);
                }
                Advance::Bytes(bytes, _) => chunk.decode(bytes)?,
                Advance::Waiting => self.chunks.push(chunk),
                Advance::Index(split, fetched) => {
                    if chunk.byte_range.is_none() {
                        self.context.keep_index(&chunk.chunk, &split, fetched);
                    }
                    self.shards.push(chunk.split(*split, fetched.size, None, self.context)?);
                }
                Advance::NotStored => self.missing(chunk, &mut requests)?,
                Advance::Done | Advance::Replaced => {}
            }
        }
        Ok(requests.into_vec())
    }

    /// Goes on without the replies to `asked`, as far as the next requests do not depend on them, and counts the bytes that would be
    /// decoded.
    pub(super) fn skip(&mut self, asked: Vec<Request>, decoded: &mut u64) -> Result<Ahead<Vec<Request>>> {
        let mut requests = Requests::default();
        let mut asked: Vec<Option<Request>> = asked.into_iter().map(Some).collect();
        let mut numbers: Vec<Option<usize>> = vec![None; asked.len()];
        let mut needed = Vec::new();
        for mut chunk in std::mem::take(&mut self.chunks) {
            let before = chunk.pending.clone();
            match chunk.skip(&mut requests)? {
                Skipped::Done(size) => *decoded = decoded.saturating_add(size),
                Skipped::Asked => self.chunks.push(chunk),
                Skipped::Depends => {
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
        let further = requests.into_vec();
        match (needed.is_empty(), further.is_empty()) {
            (true, _) => Ok(Ahead::Next(further)),
            (false, true) => Ok(Ahead::Depends(needed)),
            // The codecs of all chunks are the same.
            (false, false) => {
                Err(crate::Error::internal("of the chunks of a plan some depend on replies, and some do not"))
            }
        }
    }

    /// The inner chunks that are left to be read.
    pub(super) fn into_shards(self) -> Vec<ChunkSpan<'a>> {
        self.shards
    }

    /// Nothing is stored under the key of a chunk. It is looked for in other locations, from the start.
    fn missing(&mut self, mut chunk: ChunkRead<'a>, requests: &mut Requests) -> Result<()> {
        let Some((location, key)) = self.context.core.other_key(&chunk.chunk, chunk.location) else {
            return chunk.not_stored(self.context);
        };
        (chunk.location, chunk.key) = (location, key);
        let partial = if chunk.destination.is_some() { None } else { chunk.partial(self.context) };
        chunk.start(partial, requests)?;
        if chunk.pending.is_some() {
            self.chunks.push(chunk);
        }
        Ok(())
    }
}
