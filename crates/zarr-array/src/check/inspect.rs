//! Check of a chunk or shard whose bytes are in memory: a chunk is decoded as a whole, a shard inner chunk by inner chunk.

use super::CheckDepth;
use super::found::{CheckedChunk, ChunkFault, ChunkFaultKind, broken};
use crate::{Error, Result};
use std::ops::Range;
use std::sync::Arc;
use zarr_codec::{Access, Decode, Error as CodecError, Pipeline, Scratch, Split, Step, ViewMut, chunk_view};
use zarr_grid::{ChunkIndex, Region, Shape};
use zarr_store::ByteRange;

/// Chunk or inner chunk within a stored value.
pub(super) struct Part<'a> {
    pub(super) codecs: &'a Arc<Pipeline>,
    pub(super) shape: &'a [u64],
    /// Offset in the stored value at which the bytes of the part begin.
    pub(super) start: u64,
    /// Indexes of the inner chunks that lead to the part, the outermost first and the part itself last; empty for a chunk of the array.
    pub(super) inner: &'a [ChunkIndex],
}

/// Entry of the index of a shard: an inner chunk and its range of bytes.
pub(super) struct Entry {
    pub(super) index: ChunkIndex,
    pub(super) shape: Shape,
    /// Range of the inner chunk's bytes in the shard.
    pub(super) range: Range<u64>,
}

/// Returns a decode of a shard whose first step reads the index; `None` if chunks of `shape` are not shards.
pub(super) fn shard(codecs: &Arc<Pipeline>, shape: &[u64]) -> Option<Box<dyn Decode>> {
    codecs.part_shape(shape)?;
    codecs.partial(shape, &Region::whole(shape), &Access::default())
}

/// Whether a read of some elements of a chunk gets the bytes of these elements alone, although chunks of `shape` are not shards.
pub(super) fn is_read_in_parts(codecs: &Arc<Pipeline>, shape: &[u64]) -> bool {
    if shape.contains(&0) || codecs.part_shape(shape).is_some() {
        return false;
    }
    // A chunk of one element is read as a whole, and then the bytes tell nothing.
    let first: Vec<Range<u64>> = shape.iter().map(|_| 0..1).collect();
    codecs.partial(shape, &Region::from_ranges(&first), &Access::default()).is_some()
}

/// Returns the byte ranges at which the index of a shard is read.
pub(super) fn index_ranges(decode: &mut dyn Decode, shape: &[u64]) -> Result<Vec<ByteRange>> {
    match step(decode, &[], shape)? {
        Step::Need(ranges) => Ok(ranges),
        _ => Err(Error::internal("a shard was split before its index was read")),
    }
}

/// Returns the inner chunks of a shard, parsed from the bytes `index` of its index.
pub(super) fn split(decode: &mut dyn Decode, index: &[&[u8]], shape: &[u64]) -> Result<Split> {
    match step(decode, index, shape)? {
        Step::Split(split) => Ok(*split),
        _ => Err(Error::internal("a shard was not split by its index")),
    }
}

/// Does a step of a decode with an empty output: elements have no bytes.
fn step(decode: &mut dyn Decode, got: &[&[u8]], shape: &[u64]) -> Result<Step> {
    let dims: Vec<usize> = shape.iter().map(|&len| usize::try_from(len).unwrap_or(usize::MAX)).collect();
    let mut nothing: [u8; 0] = [];
    Ok(decode.step(got, &mut ViewMut::new(&mut nothing, 0, &dims)?)?)
}

/// Checks a part whose bytes are all in memory, and adds faults to `found`.
pub(super) fn inspect(part: &Part<'_>, bytes: &[u8], depth: CheckDepth, found: &mut CheckedChunk) {
    match shard(part.codecs, part.shape) {
        Some(decode) => inspect_shard(part, decode, bytes, depth, found),
        None if depth == CheckDepth::Indexes => {}
        None => {
            found.note(part.codecs.protection(Some(bytes)));
            if let Err(error) = decode(part, bytes) {
                let range = (!part.inner.is_empty()).then(|| part.start..part.start + bytes.len() as u64);
                found.add(broken(part.inner, range, error));
            }
        }
    }
}

fn decode(part: &Part<'_>, bytes: &[u8]) -> Result<(), CodecError> {
    let (codecs, shape) = (part.codecs, part.shape);
    // A copy would take as long as reading the bytes does.
    if codecs.is_in_memory_form(bytes, shape) {
        return Ok(());
    }
    let mut scratch = Scratch::take();
    let element = codecs.element();
    let mut out = chunk_view(&mut scratch, element, shape, codecs.limits())?.with_heap(element.new_heap());
    codecs.decode(bytes, shape, &Region::whole(shape), &mut out)
}

fn inspect_shard(
    part: &Part<'_>,
    mut decode: Box<dyn Decode>,
    bytes: &[u8],
    depth: CheckDepth,
    found: &mut CheckedChunk,
) {
    let size = bytes.len() as u64;
    let read = index_ranges(&mut *decode, part.shape).and_then(|ranges| {
        let resolve = |range: &ByteRange| range.resolve(size);
        let places: Option<Vec<Range<u64>>> = ranges.iter().map(resolve).collect();
        let places = places.ok_or_else(|| too_short(size))?;
        let index: Vec<&[u8]> = places.iter().map(|range| slice(bytes, range)).collect();
        Ok((split(&mut *decode, &index, part.shape)?, places))
    });
    let (split, places) = match read {
        Ok(read) => read,
        Err(error) => return found.add(broken(part.inner, None, error)),
    };
    for entry in entries(part, &split, size, &places, found) {
        let inner: Vec<ChunkIndex> = part.inner.iter().cloned().chain([entry.index]).collect();
        let start = part.start + entry.range.start;
        let below = Part { codecs: &split.codecs, shape: &entry.shape, start, inner: &inner };
        inspect(&below, slice(bytes, &entry.range), depth, found);
    }
}

/// Range of bytes of an index at `place` without its checksum, on the side next to the inner chunks.
fn without_checksum(place: &Range<u64>) -> Range<u64> {
    const CHECKSUM: u64 = 4;
    match place.start {
        0 => 0..place.end.saturating_sub(CHECKSUM),
        start => start.saturating_add(CHECKSUM).min(place.end)..place.end,
    }
}

/// Error for a shard of `size` bytes that is shorter than its index should be.
pub(super) fn too_short(size: u64) -> Error {
    CodecError::ShardIndex { what: format!("longer than the shard of {size} bytes") }.into()
}

fn slice<'b>(bytes: &'b [u8], range: &Range<u64>) -> &'b [u8] {
    let [start, end] = [range.start, range.end].map(|at| usize::try_from(at).unwrap_or(usize::MAX));
    bytes.get(start..end).unwrap_or_default()
}

/// Maximum number of bytes of an inner chunk, as reads expect.
fn max_inner_size(codecs: &Arc<Pipeline>, shape: &[u64]) -> u64 {
    // A shard in a shard may have any number of bytes that nothing refers to.
    if shard(codecs, shape).is_some() { u64::MAX } else { codecs.max_encoded_size(shape) }
}

/// Returns the inner chunks of a shard of `size` bytes, sorted by their ranges; `places` are the ranges of its index. Adds faults for inner
/// chunks whose range cannot be in the shard, and for inner chunks that overlap others or the index.
pub(super) fn entries(
    part: &Part<'_>,
    split: &Split,
    size: u64,
    places: &[Range<u64>],
    found: &mut CheckedChunk,
) -> Vec<Entry> {
    let at = |index: &ChunkIndex| part.inner.iter().cloned().chain([index.clone()]).collect::<Vec<_>>();
    let mut entries = Vec::new();
    // All inner chunks of a shard have one shape.
    let mut most = None;
    for overlap in &split.overlaps {
        let most = *most.get_or_insert_with(|| max_inner_size(&split.codecs, &overlap.shape));
        let range = split.index.range(&overlap.index).and_then(|range| match range {
            Some(range) if range.end > size => {
                let what = format!("bytes {}..{} of a shard of {size} bytes", range.start, range.end);
                Err(CodecError::ShardIndex { what })
            }
            Some(range) if range.end - range.start > most => {
                let found = range.end - range.start;
                let what = format!("{found} bytes, more than the {most} bytes that its codecs make at most");
                Err(CodecError::ShardIndex { what })
            }
            range => Ok(range),
        });
        match range {
            Ok(None) => {}
            Ok(Some(range)) => entries.push(Entry { index: overlap.index, shape: overlap.shape, range }),
            Err(error) => found.add(broken(&at(&overlap.index), None, error)),
        }
    }
    entries.sort_by_key(|entry| (entry.range.start, entry.range.end));
    // Writers of early 2023 added no checksum to an index and did not say so: without it the index is shorter.
    let places: Vec<Range<u64>> = places.iter().map(without_checksum).collect();
    let mut last: Option<&Entry> = None;
    for entry in entries.iter().filter(|entry| !entry.range.is_empty()) {
        let meets = |other: &Range<u64>| other.start < entry.range.end && entry.range.start < other.end;
        let kind = match last {
            _ if places.iter().any(meets) => Some(ChunkFaultKind::Overlaps(None)),
            Some(other) if other.range == entry.range => Some(ChunkFaultKind::Shares(other.index.clone())),
            Some(other) if meets(&other.range) => Some(ChunkFaultKind::Overlaps(Some(other.index.clone()))),
            _ => None,
        };
        if let Some(kind) = kind {
            let bytes = Some(part.start + entry.range.start..part.start + entry.range.end);
            found.add(ChunkFault { inner: at(&entry.index), bytes, kind });
        }
        if last.is_none_or(|last| last.range.end < entry.range.end) {
            last = Some(entry);
        }
    }
    entries
}
