//! Group of chunks that are read one by one, with one round of requests for all of them.

use super::chunk_read::{Advance, ChunkRead, FetchDestination};
use super::span::{ChunkSpan, ReadContext};
use crate::Result;
use crate::jobs::too_few_chunks;
use zarr_codec::Scratch;
use zarr_store::{Reply, Request};

/// Group of chunks that are read one by one, with one round of requests for all of them.
#[derive(Debug)]
pub(crate) struct ChunkBatch<'a> {
    context: &'a ReadContext<'a>,
    /// Chunks that wait for replies, in the order of their requests, or whose reads have not begun.
    pub(super) chunks: Vec<ChunkRead<'a>>,
    /// Inner chunks of shards whose index was received, to be read when all chunks of the group are done.
    shards: Vec<ChunkSpan<'a>>,
    /// Memory of all [`FetchDestination::Buffer`] of the group.
    buffer: Scratch,
    /// Size of `buffer` in bytes; the memory is allocated when it is first needed.
    buffer_size: usize,
}

impl<'a> ChunkBatch<'a> {
    pub(super) fn new(context: &'a ReadContext<'a>, chunks: Vec<ChunkRead<'a>>) -> Self {
        Self { context, chunks, shards: Vec::new(), buffer: Scratch::default(), buffer_size: 0 }
    }

    /// Makes the group of the chunks of a span.
    pub(super) fn of_span(span: ChunkSpan<'a>) -> Result<Self> {
        let context = span.context;
        let mut chunks = Vec::with_capacity(span.windows.len());
        let mut cursor = span.overlaps.cursor_at(span.windows.position() as u64);
        for out in span.windows {
            let overlap = cursor.overlap().ok_or_else(too_few_chunks)?;
            chunks.extend(ChunkRead::new(context, span.shard.as_deref(), overlap, out)?);
            cursor.advance();
        }
        Ok(Self::new(context, chunks))
    }

    /// Begins to read a chunk: requests its first bytes.
    fn start(&mut self, chunk: &mut ChunkRead<'a>, requests: &mut Vec<Request>) -> Result<()> {
        if chunk.is_output(self.context) {
            return chunk.start_into(FetchDestination::Output, requests);
        }
        if chunk.start_whole(self.context, requests)? {
            return Ok(());
        }
        if let Some(kept) = chunk.kept(self.context, []) {
            let split = chunk.split_by(&kept, self.context)?;
            self.shards.push(chunk.split(split, kept.size, None, self.context)?);
            return Ok(());
        }
        let partial = chunk.partial(self.context);
        let size = if partial.is_none() { chunk.buffered_size(self.context) } else { None };
        match size.and_then(|size| self.buffer_size.checked_add(size)) {
            Some(end) => {
                chunk.start_into(FetchDestination::Buffer(self.buffer_size..end), requests)?;
                self.buffer_size = end;
                Ok(())
            }
            None => chunk.start(partial, requests),
        }
    }

    /// Whether the value of any chunk may be read directly into a destination.
    pub(super) fn has_destinations(&self) -> bool {
        self.chunks.iter().any(|chunk| chunk.destination.is_some())
    }

    /// Memory into which the value of a request may be read directly; `None` if there is none.
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

    /// Begins to read the chunks, or continues with the replies. Returns the next requests.
    pub(super) fn advance(&mut self, replies: &[Reply]) -> Result<Vec<Request>> {
        let mut requests = Vec::new();
        let mut chunks = std::mem::take(&mut self.chunks);
        // None was begun, or all were.
        if chunks.first().is_some_and(|chunk| chunk.pending.is_none()) {
            chunks.iter_mut().try_for_each(|chunk| self.start(chunk, &mut requests))?;
            chunks.retain(|chunk| chunk.pending.is_some());
            self.chunks = chunks;
            return Ok(requests);
        }
        for mut chunk in chunks {
            match chunk.advance(replies, &self.buffer, self.context, &mut requests)? {
                // The value has more bytes than a shard needs: which ones, its index says.
                Advance::Bytes(bytes, fetched)
                    if chunk.byte_range.is_none() && fetched.size.is_some_and(|size| size > bytes.len() as u64) =>
                {
                    let partial = chunk.partial(self.context);
                    chunk.start(partial, &mut requests)?;
                    self.chunks.extend(chunk.pending.is_some().then_some(chunk));
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
        Ok(requests)
    }

    /// Inner chunks of shards that are still to be read.
    pub(super) fn into_shards(self) -> Vec<ChunkSpan<'a>> {
        self.shards
    }

    /// Handles a chunk that is not stored under its key: begins again in the next location in which the chunk may lie, or fills the output.
    fn missing(&mut self, mut chunk: ChunkRead<'a>, requests: &mut Vec<Request>) -> Result<()> {
        let Some((location, key)) = self.context.core.other_key(&chunk.chunk, chunk.location) else {
            return chunk.not_stored(self.context);
        };
        (chunk.location, chunk.key) = (location, key);
        let partial = if chunk.destination.is_some() { None } else { chunk.partial(self.context) };
        chunk.start(partial, requests)?;
        self.chunks.extend(chunk.pending.is_some().then_some(chunk));
        Ok(())
    }
}
