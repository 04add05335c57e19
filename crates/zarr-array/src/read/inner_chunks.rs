//! Reads of inner chunks of one shard that are decoded from all of their bytes: one request for all, and no state for each inner chunk.

use super::ReadJob;
use super::shard::{AskedBytes, Shard};
use super::span::{ChunkSpan, ReadContext};
use crate::jobs::too_few_chunks;
use crate::{Result, jobs};
use std::ops::Range;
use std::sync::Arc;
use zarr_codec::{Pipeline, Windows};
use zarr_drive::Next;
use zarr_grid::{ChunkOverlap, ChunkOverlaps};
use zarr_store::{ByteRange, GetOptions, Reply, Request};

/// Group of inner chunks of one shard, for all of whose bytes one request was made.
#[derive(Debug)]
pub(crate) struct InnerChunkBatch<'a> {
    context: &'a ReadContext<'a>,
    overlaps: Arc<ChunkOverlaps>,
    windows: Windows<'a>,
    shard: Arc<Shard>,
    /// Bytes of each inner chunk in the reply; `None` for an inner chunk that is not stored.
    stored: Vec<Option<StoredBytes>>,
}

/// Place of the bytes of an inner chunk in the reply.
#[derive(Clone, Copy, Debug)]
struct StoredBytes {
    /// Number of bytes of the inner chunk.
    len: u64,
    /// Whether the bytes begin a part of the reply. If not, they follow the bytes of the inner chunk before.
    begins_part: bool,
}

/// Maximum size in bytes of a range that joins adjacent inner chunks. The driver merges further ranges as [`zarr_store::AccessProfile`]
/// allows.
const MAX_RANGE: u64 = 1 << 20;

impl<'a> ReadJob<'a> {
    /// Begins to read inner chunks of a shard: all by one request, unless the codecs need less than all bytes of some of them.
    pub(super) fn begin_inner(&mut self, span: ChunkSpan<'a>, shard: Arc<Shard>) -> Result<Next<Self>> {
        let mut stored = Vec::with_capacity(span.windows.len());
        let mut ranges: Vec<Range<u64>> = Vec::new();
        let mut asked = AskedBytes::default();
        let mut cursor = span.overlaps.cursor_at(span.windows.position() as u64);
        let mut known = false;
        while let (Some(overlap), true) = (cursor.overlap(), stored.len() < span.windows.len()) {
            let whole = overlap.region.is_whole(&overlap.shape);
            // Nearly all are whole inner chunks, and all of these are alike.
            if !(whole && known)
                && shard.codecs.partial(&overlap.shape, &overlap.region, &span.context.access).is_some()
            {
                return self.begin_each(span);
            }
            known |= whole;
            let count = if whole { whole_row(&span.overlaps, cursor.number()) } else { 1 };
            let count = count.min((span.windows.len() - stored.len()) as u64);
            let mut index = overlap.index.clone();
            for _ in 0..count {
                let found = shard.find(&index).map_err(|error| shard.locate(error))?;
                if !asked.add(found.as_ref()) {
                    let count = stored.len();
                    // Too many encoded bytes for one request.
                    return Ok(Next::Fork(span.split_at(count).map(Self::Span).into()));
                }
                stored.push(found.map(|range| join(&mut ranges, range)));
                index.last_mut().into_iter().for_each(|last| *last += 1);
            }
            cursor.seek(cursor.number() + count);
        }
        let ranges: Vec<ByteRange> = ranges.into_iter().map(ByteRange::Range).collect();
        let ChunkSpan { context, overlaps, windows, .. } = span;
        let batch = InnerChunkBatch { context, overlaps, windows, shard, stored };
        if ranges.is_empty() {
            return batch.finish(&[]).map(Next::Done);
        }
        let key = batch.shard.key.clone();
        let options = match &batch.shard.due {
            Some(_) => GetOptions::snapshot(),
            None => GetOptions::if_match(batch.shard.snapshot.clone()),
        };
        *self = Self::InnerChunks(batch);
        Ok(Next::Ask(vec![Request::Get { key, ranges, options }]))
    }
}

impl InnerChunkBatch<'_> {
    /// Number of bytes that would be decoded.
    pub(super) fn decoded_size(&self) -> u64 {
        let mut cursor = self.overlaps.cursor_at(self.windows.position() as u64);
        let mut size = 0_u64;
        for stored in &self.stored {
            if let (Some(_), Some(overlap)) = (stored, cursor.overlap()) {
                size = size.saturating_add(self.shard.codecs.decoded_size(&overlap.shape));
            }
            cursor.advance();
        }
        size
    }

    /// Decodes the inner chunks from the reply. There is no reply if no inner chunk is stored.
    pub(super) fn finish(self, replies: &[Reply]) -> Result<()> {
        let Self { context, overlaps, mut windows, shard, stored } = self;
        let fetched = match replies.first() {
            None => None,
            Some(Reply::Got(Some(fetched))) => Some(fetched),
            Some(Reply::Got(None) | Reply::Conflict) => {
                context.note_replaced(&shard.chunk);
                return Ok(());
            }
            _ => return Err(shard.locate(jobs::unfit())),
        };
        if shard.due.is_some() && fetched.is_some_and(|fetched| fetched.version != shard.due) {
            context.note_replaced(&shard.chunk);
            return Ok(());
        }
        let mut parts = fetched.into_iter().flat_map(|fetched| fetched.parts());
        let mut part: &[u8] = &[];
        let mut cursor = overlaps.cursor_at(windows.position() as u64);
        let mut rest = stored.iter();
        while let Some(bytes) = rest.next() {
            let overlap = cursor.overlap().ok_or_else(too_few_chunks)?;
            let Some(stored) = bytes else {
                context.fill(&mut windows.next().ok_or_else(too_few_chunks)?)?;
                cursor.advance();
                continue;
            };
            if stored.begins_part {
                part = parts.next().ok_or_else(|| shard.locate(jobs::unfit()))?;
            }
            let left = overlaps.axes().last().map_or(1, |axis| axis.len() - cursor.number() % axis.len().max(1));
            let count = alike(&shard.codecs, overlap, stored, rest.as_slice(), left);
            let row = if count > 1 { windows.next_row(count) } else { windows.next() };
            let mut out = row.ok_or_else(too_few_chunks)?;
            let len = usize::try_from(stored.len).unwrap_or(usize::MAX);
            let (count, decoded) = if count > 1 {
                let count = out.shape().first().copied().unwrap_or(1);
                let bytes = take(&mut part, len.saturating_mul(count)).map_err(|error| shard.locate(error))?;
                (count, shard.codecs.decode_all(bytes, &mut out))
            } else {
                let bytes = take(&mut part, len).map_err(|error| shard.locate(error))?;
                (1, shard.codecs.decode(bytes, &overlap.shape, &overlap.region, &mut out))
            };
            decoded.map_err(|error| shard.locate(error.into()))?;
            cursor.seek(cursor.number() + count as u64);
            if count > 1 {
                rest.nth(count - 2);
            }
        }
        Ok(())
    }
}

/// Number of inner chunks that the region covers wholly, beginning with number `number`, in one row of the grid. Inner chunk `number` is
/// covered wholly.
fn whole_row(overlaps: &ChunkOverlaps, number: u64) -> u64 {
    overlaps.axes().last().map_or(1, |axis| axis.whole_from(number % axis.len().max(1)).max(1))
}

/// Adds a range to the requested ranges, or extends the last of them by it.
fn join(ranges: &mut Vec<Range<u64>>, range: Range<u64>) -> StoredBytes {
    let len = range.end - range.start;
    match ranges.last_mut() {
        Some(last) if last.end == range.start && range.end - last.start <= MAX_RANGE => {
            last.end = range.end;
            StoredBytes { len, begins_part: false }
        }
        _ => {
            ranges.push(range);
            StoredBytes { len, begins_part: true }
        }
    }
}

/// Number of inner chunks, beginning with `overlap`, that are decoded together: raw elements of equal length, one behind the other in the
/// reply. `left` is the number of inner chunks that are left in the row of the grid.
fn alike(
    codecs: &Pipeline,
    overlap: &ChunkOverlap,
    stored: &StoredBytes,
    next: &[Option<StoredBytes>],
    left: u64,
) -> usize {
    if !codecs.is_raw_elements() || !overlap.region.is_whole(&overlap.shape) {
        return 1;
    }
    if codecs.encoded_size(&overlap.shape).exact() != Some(stored.len) {
        return 1;
    }
    let follows = |next: &&Option<StoredBytes>| next.is_some_and(|next| next.len == stored.len && !next.begins_part);
    let others = usize::try_from(left).unwrap_or(usize::MAX).saturating_sub(1);
    1 + next.iter().take(others).take_while(follows).count()
}

/// Removes and returns the first `len` bytes of `left`.
fn take<'b>(left: &mut &'b [u8], len: usize) -> Result<&'b [u8]> {
    let (taken, rest) = left.split_at_checked(len).ok_or_else(jobs::unfit)?;
    *left = rest;
    Ok(taken)
}
