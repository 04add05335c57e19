//! Requests and bytes of reads of a layout, counted by plans of single chunks.
//!
//! A region meets chunks in few ways: along each axis it has the end of a first chunk, some whole chunks, and the start of a last one. The
//! plan of a chunk is made once for each way, by the reader itself, and counts for all chunks that are met in that way.

use super::chunk_store::ChunkStore;
use crate::bench::{build, chunk_codecs};
use std::collections::HashMap;
use std::sync::Arc;
use zarr_array::{Array, Error, ErrorKind, NewArray, Plan, Registry, Result, Store};
use zarr_codec::CodecList;
use zarr_grid::{AxisRange, Region, element_count, total_size};
use zarr_store::{AccessProfile, ByteRange, Bytes, MemoryStore};

/// Maximum number of ways in which the chunks of a region are met, each of which is planned.
const MOST_WAYS: u64 = 1 << 16;
/// Maximum number of inner chunks of a shard, whose index is made in memory.
const MOST_INNER: u128 = 1 << 20;

/// Requests of a read, as [`Plan`] counts them, and the bytes of their replies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RequestCount {
    /// Number of chunks (shards, if there are any) that are met.
    pub chunks: u64,
    /// Number of requests: those of [`Plan::request_count`], and those for the rest of large values, which a plan cannot count since it does
    /// not know their sizes.
    pub requests: u64,
    /// Number of requests that are certain, as [`Plan::request_count`] counts them.
    pub certain: u64,
    /// Number of requests that follow each other.
    pub rounds: u32,
    /// Number of bytes of all requests for ranges, as [`Plan::range_bytes`] counts them.
    pub range_bytes: u64,
    /// Number of requests for values whose size a plan does not know.
    pub unsized_requests: u64,
    /// Number of bytes of all replies.
    pub bytes: u64,
    /// Number of bytes of the elements that are decoded.
    pub decoded: u64,
}

impl RequestCount {
    /// Adds `count` times another number of requests.
    fn add(&mut self, other: &Self, count: u64) {
        let sum = |a: u64, b: u64| a.saturating_add(b.saturating_mul(count));
        *self = Self {
            chunks: sum(self.chunks, other.chunks),
            requests: sum(self.requests, other.requests),
            certain: sum(self.certain, other.certain),
            rounds: self.rounds.max(other.rounds),
            range_bytes: sum(self.range_bytes, other.range_bytes),
            unsized_requests: sum(self.unsized_requests, other.unsized_requests),
            bytes: sum(self.bytes, other.bytes),
            decoded: sum(self.decoded, other.decoded),
        };
    }
}

/// Layout whose reads are counted.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CountedLayout {
    /// Data type, as [`NewArray::new`] takes it.
    pub data_type: String,
    /// Shape of chunks; of inner chunks if there are shards.
    pub chunks: Vec<u64>,
    /// Shape of shards; `None` if there are none.
    pub shards: Option<Vec<u64>>,
    /// Codecs of chunks, as [`CodecList::parse`] takes them.
    pub codecs: String,
    /// Number of stored bytes of each chunk; of each inner chunk if there are shards.
    pub chunk_size: u64,
}

impl CountedLayout {
    /// Describes a layout without shards.
    pub fn new(data_type: &str, chunks: &[u64], codecs: &str, chunk_size: u64) -> Self {
        let (data_type, codecs) = (data_type.to_owned(), codecs.to_owned());
        Self { data_type, chunks: chunks.to_vec(), shards: None, codecs, chunk_size }
    }

    /// Sets the shape of shards.
    #[must_use]
    pub fn shards(self, shards: Option<Vec<u64>>) -> Self {
        Self { shards, ..self }
    }

    /// Shape of the parts that have keys: shards, or chunks.
    pub fn outer(&self) -> &[u64] {
        self.shards.as_deref().unwrap_or(&self.chunks)
    }
}

/// Counter of the requests of reads of arrays with one layout.
#[derive(Debug)]
pub struct RequestCounter {
    /// Array of one chunk (one shard, if there are shards).
    chunk: Array,
    outer: Vec<u64>,
    /// Number of stored bytes of the chunk.
    size: u64,
    part_size: Option<u64>,
    /// Counts of the regions of the chunk that were planned so far.
    known: HashMap<Region, RequestCount>,
}

impl RequestCounter {
    /// Makes a counter for a layout on a store with an access profile.
    ///
    /// # Errors
    /// [`ErrorKind::Limit`] if a shard has more than 2^20 inner chunks; the errors of [`Array::create`] for a layout that no array can have.
    pub fn new(layout: &CountedLayout, profile: AccessProfile, registry: &Arc<Registry>) -> Result<Self> {
        let outer = layout.outer().to_vec();
        let inner = total_size(&outer, 1) / total_size(&layout.chunks, 1).max(1);
        if inner > MOST_INNER {
            let message = format!("a shard has {inner} inner chunks, of which at most {MOST_INNER} are planned");
            return Err(Error::new(ErrorKind::Limit, message));
        }
        let new = NewArray::new(&outer, layout.data_type.as_str()).chunks(&layout.chunks);
        let new = new.codecs(CodecList::parse(&layout.codecs)?)?;
        let new = if layout.shards.is_some() { new.shards(&outer) } else { new };
        let documents = Arc::new(MemoryStore::new());
        let created = Array::create(&(Arc::clone(&documents) as Arc<dyn Store>), "/", new, registry)?;
        // Codecs that do not compress make chunks of one size.
        let exact = build(&created, &chunk_codecs(&created))?.encoded_size(&created.part_shape()).exact();
        let chunk_size = exact.unwrap_or(layout.chunk_size);
        let (size, end) = match &layout.shards {
            None => (chunk_size, Bytes::new()),
            Some(shards) => {
                let counts: Vec<u64> =
                    shards.iter().zip(&layout.chunks).map(|(shard, chunk)| shard.div_ceil((*chunk).max(1))).collect();
                let index = index(&counts, chunk_size, registry)?;
                let inner = element_count(&counts).unwrap_or(u64::MAX).saturating_mul(chunk_size);
                (inner.saturating_add(index.len() as u64), index)
            }
        };
        let store: Arc<dyn Store> = Arc::new(ChunkStore { documents, size, end, profile });
        let chunk = created.through(&store);
        Ok(Self { chunk, outer, size, part_size: profile.part_size, known: HashMap::new() })
    }

    /// Number of stored bytes of a chunk, or of a shard with its index.
    pub fn outer_size(&self) -> u64 {
        self.size
    }

    /// Counts the requests of a read of a region with steps of 1, which lies in the array.
    ///
    /// # Errors
    /// [`ErrorKind::Limit`] if the region meets chunks in more than 65,536 ways, as it may with many dimensions; the errors of
    /// [`Array::plan`].
    pub fn count(&mut self, region: &Region) -> Result<RequestCount> {
        let mut total = RequestCount::default();
        if region.is_empty() {
            return Ok(total);
        }
        let axes: Vec<Vec<(AxisRange, u64)>> =
            region.axes().iter().zip(&self.outer).map(|(range, &chunk)| pieces(range, chunk.max(1))).collect();
        let ways = axes.iter().fold(1_u64, |ways, pieces| ways.saturating_mul(pieces.len() as u64));
        if ways > MOST_WAYS {
            let message = format!("the region meets chunks in {ways} ways, of which at most {MOST_WAYS} are planned");
            return Err(Error::new(ErrorKind::Limit, message));
        }
        let mut numbers = vec![0; axes.len()];
        loop {
            let mut count = 1_u64;
            let mut met = Vec::with_capacity(axes.len());
            for (pieces, &number) in axes.iter().zip(&numbers) {
                let Some(&(range, times)) = pieces.get(number) else { continue };
                met.push(range);
                count = count.saturating_mul(times);
            }
            let one = self.of_chunk(Region::new(met)?)?;
            total.add(&one, count);
            // The next combination of pieces, the last axis first.
            let mut axis = axes.len();
            loop {
                let Some(previous) = axis.checked_sub(1) else { return Ok(total) };
                axis = previous;
                let (Some(number), Some(pieces)) = (numbers.get_mut(axis), axes.get(axis)) else { return Ok(total) };
                *number += 1;
                if *number < pieces.len() {
                    break;
                }
                *number = 0;
            }
        }
    }

    /// Counts the requests of a read of a region of the chunk.
    fn of_chunk(&mut self, region: Region) -> Result<RequestCount> {
        if let Some(known) = self.known.get(&region) {
            return Ok(*known);
        }
        let plan = self.chunk.plan(&region)?;
        let count = self.of_plan(&plan);
        self.known.insert(region, count);
        Ok(count)
    }

    fn of_plan(&self, plan: &Plan) -> RequestCount {
        let mut count = RequestCount {
            chunks: 1,
            requests: plan.request_count,
            certain: plan.request_count,
            rounds: plan.rounds,
            range_bytes: plan.range_bytes,
            unsized_requests: plan.unsized_requests,
            bytes: plan.range_bytes,
            decoded: plan.decoded_bytes.unwrap_or(0),
        };
        if plan.unsized_requests > 0 {
            count.bytes = count.bytes.saturating_add(self.size);
        }
        // The rest of a large value is read in parts, as its size tells.
        let rests = plan.requests.iter().filter(|request| !request.is_certain);
        for range in rests.flat_map(|request| &request.ranges) {
            let (ByteRange::From(start), Some(part)) = (range, self.part_size) else { continue };
            let parts = self.size.saturating_sub(*start).div_ceil(part.max(1));
            count.requests = count.requests.saturating_add(parts);
            count.rounds = count.rounds.max(1 + u32::from(parts > 0));
        }
        count
    }
}

/// Divides a range of an axis by chunks of `chunk` elements: the ranges in the chunks that it meets, and the number of chunks with each.
fn pieces(range: &AxisRange, chunk: u64) -> Vec<(AxisRange, u64)> {
    let (start, end) = (range.start, range.start.saturating_add(range.len));
    let (first, last) = (start / chunk, end.saturating_sub(1) / chunk);
    let piece = |number: u64| {
        let origin = number * chunk;
        let from = start.max(origin);
        (AxisRange::new(from - origin, end.min(origin.saturating_add(chunk)) - from), 1)
    };
    if first == last {
        return vec![piece(first)];
    }
    let mut pieces = vec![piece(first)];
    let between = (last - first > 1).then(|| (AxisRange::new(0, chunk), last - first - 1));
    // Pieces that are the same are one with their sum.
    for (range, count) in [piece(last)].into_iter().chain(between) {
        match pieces.iter_mut().find(|(known, _)| *known == range) {
            Some((_, sum)) => *sum = sum.saturating_add(count),
            None => pieces.push((range, count)),
        }
    }
    pieces
}

/// Encodes the index of a shard whose inner chunks all have `size` bytes, one behind the other.
fn index(counts: &[u64], size: u64, registry: &Arc<Registry>) -> Result<Bytes> {
    let all = element_count(counts).unwrap_or(u64::MAX);
    let shape: Vec<u64> = counts.iter().copied().chain([2]).collect();
    // The elements of such an array are encoded as the index is.
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let new = NewArray::new(&shape, "uint64").chunks(&shape).codecs("crc32c")?.fill(1);
    let array = Array::create(&store, "/", new, registry)?;
    let entries: Vec<u64> = (0..all).flat_map(|number| [number.saturating_mul(size), size]).collect();
    array.write(.., &entries)?;
    Ok(array.read_chunk_bytes(&vec![0; shape.len()])?.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_divided_by_chunks() {
        let range = |start, len| AxisRange::new(start, len);
        assert_eq!(pieces(&range(3, 4), 10), [(range(3, 4), 1)]);
        assert_eq!(pieces(&range(0, 10), 10), [(range(0, 10), 1)]);
        assert_eq!(pieces(&range(8, 4), 10), [(range(8, 2), 1), (range(0, 2), 1)]);
        assert_eq!(pieces(&range(8, 45), 10), [(range(8, 2), 1), (range(0, 3), 1), (range(0, 10), 4)]);
        assert_eq!(pieces(&range(u64::MAX - 1, 1), 1), [(range(0, 1), 1)]);
        assert_eq!(pieces(&range(0, 40), 10), [(range(0, 10), 4)]);
        assert_eq!(pieces(&range(5, 35), 10), [(range(5, 5), 1), (range(0, 10), 3)]);
    }
}
