//! The protocol of partial decoding: a decode says which bytes it wants, and never fetches any.
//!
//! ```text
//! step(nothing) ─► Need(ranges) ─► step(bytes) ─► ... ─► Done
//!                                        └──────────────► Split: inner chunks, each to be decoded on its own
//! ```
//!
//! The caller (a blocking reader, an async reader, a test with a byte slice) fetches the ranges and calls `step` again. Only
//! codecs that need less than the whole chunk have a [`Decode`]; all other codecs decode from all bytes at once.
//!
//! A split is data and no list of decodes: the byte ranges of the inner chunks, and their codecs. A shard may have a hundred thousand
//! inner chunks of a kilobyte, and a box and a list of ranges per inner chunk would cost more than decoding. So a transpose around a
//! shard is a permutation of axes, and no reordering of parts; and if all bytes are in memory, inner chunks are decoded directly.

use crate::{AxisWindows, ElementSpec, Error, Pipeline, ViewMut};
use smallvec::SmallVec;
use std::fmt::Debug;
use std::ops::Range;
use std::sync::Arc;
use zarr_bytes::ByteRange;
use zarr_grid::{AxisOverlaps, ChunkIndex, ChunkOverlaps, Shape};

/// Preferences for requests of encoded bytes of a chunk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Access {
    /// Approximate number of bytes per request of uncompressed data. `None`: all bytes are requested at once. Where requests cost little,
    /// small pieces are still in the processor's cache when their elements are copied.
    pub read_size: Option<u64>,
    /// Whether checksums stay unverified if verifying them needs bytes beyond those of the region.
    pub skip_checksums: bool,
}

impl Access {
    /// Sets [`read_size`](Self::read_size), in bytes.
    #[must_use]
    pub fn read_size(mut self, size: impl Into<Option<u64>>) -> Self {
        self.read_size = size.into();
        self
    }

    /// Sets [`skip_checksums`](Self::skip_checksums).
    #[must_use]
    pub fn skip_checksums(mut self, skip: bool) -> Self {
        self.skip_checksums = skip;
        self
    }
}

/// Partial decode of a chunk that is in progress.
pub trait Decode: Send + Debug {
    /// Takes the bytes that the previous step asked for, one slice per range (none in the first call), and returns the next step.
    ///
    /// `out` is the same view at each step.
    ///
    /// # Errors
    /// As [`ArrayToBytes::decode`](crate::ArrayToBytes::decode).
    fn step(&mut self, got: &[&[u8]], out: &mut ViewMut<'_>) -> Result<Step, Error>;

    /// Goes on as if the requested bytes had been passed to [`step`](Self::step), and returns the next step: for plans of requests. `None`
    /// if the next step depends on the bytes, as after the request of a shard's index.
    ///
    /// A decode that asks only once for bytes need not implement this method.
    fn skip(&mut self) -> Option<Step> {
        Some(Step::Done)
    }

    /// Returns the split that [`step`](Self::step) leads to, without any bytes: `index` is the index that an earlier decode of the same
    /// chunk read. `None` if this decode does not split, or if `index` has another grid.
    fn split_by(&self, index: &Arc<InnerChunkIndex>) -> Option<Split> {
        let _ = index;
        None
    }
}

/// Next step of a [`Decode`].
#[derive(Debug)]
pub enum Step {
    /// The decode needs the bytes at these ranges of the encoded chunk.
    Need(Vec<ByteRange>),
    /// The output is divided into windows, and each inner chunk is decoded on its own.
    Split(Box<Split>),
    /// The output is complete.
    Done,
}

/// Division of a decode into inner chunks: the inner chunks of a shard that a region meets, which are encoded on their own.
///
/// A split is data and not a list of decodes, so that a shard of a hundred thousand inner chunks costs nothing per inner
/// chunk until it is decoded.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Split {
    /// Permutation of the axes of the output before it is divided into windows; `None` if the axes stay in order.
    pub order: Option<SmallVec<[usize; 6]>>,
    /// Intersections of the region with the grid of inner chunks.
    pub overlaps: ChunkOverlaps,
    /// Byte range of each inner chunk in the shard.
    pub index: Arc<InnerChunkIndex>,
    /// Codecs of the inner chunks.
    pub codecs: Arc<Pipeline>,
}

impl Split {
    /// Returns a split whose output axes are not permuted.
    #[must_use]
    pub fn new(overlaps: ChunkOverlaps, index: Arc<InnerChunkIndex>, codecs: Arc<Pipeline>) -> Self {
        Self { order: None, overlaps, index, codecs }
    }

    /// Returns the data type and fill value of the elements of inner chunks.
    pub fn element(&self) -> &ElementSpec {
        self.codecs.element()
    }

    /// Divides `out` into windows, one per inner chunk, in the order of `overlaps`.
    ///
    /// # Errors
    /// [`Error::Windows`] if `out` has not the shape of the region.
    pub fn windows<'a>(&self, out: ViewMut<'a>) -> Result<crate::Windows<'a>, Error> {
        let out = match &self.order {
            Some(order) => out.permuted(order),
            None => out,
        };
        out.into_windows(axis_windows(&self.overlaps))
    }
}

/// Converts `overlaps` to the windows of an output per axis, which [`ViewMut::into_windows`] takes.
pub fn axis_windows(overlaps: &ChunkOverlaps) -> Vec<AxisWindows> {
    overlaps
        .axes()
        .iter()
        .map(|axis| if overlaps.is_empty() { AxisWindows::default() } else { windows_of(axis) })
        .collect()
}

fn windows_of(axis: &AxisOverlaps) -> AxisWindows {
    let mut windows = AxisWindows::default();
    let mut number = 0;
    while number < axis.len() {
        let cut = axis.get(number);
        let alike = axis.alike_from(number).max(1);
        // Numbers above `usize::MAX` are refused when the windows are made.
        let [start, width, count] = [cut.out, cut.inner.len, alike].map(|it| usize::try_from(it).unwrap_or(usize::MAX));
        windows.push(start, width, count);
        number += alike;
    }
    windows
}

/// Index of a shard: the byte range of each inner chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InnerChunkIndex {
    grid: Shape,
    /// Offset and length in bytes of each inner chunk, in C order.
    entries: Vec<(u64, u64)>,
}

/// Value of offset and length of an inner chunk that is not stored (sharding codec 1.0, section "Binary shard format").
const ABSENT: u64 = u64::MAX;

impl InnerChunkIndex {
    /// Returns an index with `entries` (offset, length) in C order, for a shard with `grid` inner chunks per axis.
    ///
    /// # Errors
    /// [`Error::ShardIndex`] if there is not an entry for each inner chunk.
    pub fn new(grid: Shape, entries: Vec<(u64, u64)>) -> Result<Self, Error> {
        let count = zarr_grid::element_count(&grid);
        if count != Some(entries.len() as u64) {
            return Err(Error::ShardIndex { what: format!("{} entries for {grid:?} inner chunks", entries.len()) });
        }
        Ok(Self { grid, entries })
    }

    /// Returns the number of inner chunks per axis.
    pub fn grid(&self) -> &[u64] {
        &self.grid
    }

    /// Returns the number of bytes of memory of the entries.
    pub fn size(&self) -> usize {
        size_of_val(self.entries.as_slice())
    }

    /// Iterates over the byte ranges of inner chunks in C order; `None` for an inner chunk that is not stored.
    pub fn iter(&self) -> impl Iterator<Item = Result<Option<Range<u64>>, Error>> + '_ {
        (0..self.entries.len()).map(|position| self.entry(position))
    }

    /// Returns the byte range of the inner chunk at `index`; `None` if the inner chunk is not stored.
    ///
    /// # Errors
    /// [`Error::ShardIndex`] if the entry contradicts itself or lies outside of the index.
    pub fn range(&self, index: &[u64]) -> Result<Option<Range<u64>>, Error> {
        let mut position = 0u64;
        for (&at, &len) in index.iter().zip(&self.grid) {
            position = position.wrapping_mul(len).wrapping_add(at);
        }
        self.entry(usize::try_from(position).unwrap_or(usize::MAX))
    }

    fn entry(&self, position: usize) -> Result<Option<Range<u64>>, Error> {
        let broken =
            |what: String| Error::ShardIndex { what: format!("inner chunk {:?}: {what}", self.unravel(position)) };
        match self.entries.get(position) {
            None => Err(broken("not in the index".to_owned())),
            Some(&(ABSENT, ABSENT)) => Ok(None),
            Some(&(offset, len)) if offset == ABSENT || len == ABSENT => {
                Err(broken("only one of offset and length says that it is not stored".to_owned()))
            }
            Some(&(offset, len)) => match offset.checked_add(len) {
                Some(end) => Ok(Some(offset..end)),
                None => Err(broken(format!("offset {offset} + length {len} overflows"))),
            },
        }
    }

    fn unravel(&self, position: usize) -> ChunkIndex {
        let mut rest = position as u64;
        let mut index: ChunkIndex = self.grid.clone();
        for (at, &len) in index.iter_mut().zip(&self.grid).rev() {
            *at = rest % len.max(1);
            rest /= len.max(1);
        }
        index
    }
}
