//! The protocol of partial decoding: a decode says which bytes it wants, and never fetches any.
//!
//! ```text
//! step(nothing) ─► Need(ranges) ─► step(bytes) ─► ... ─► Done
//!                                        └──────────────► Split: inner chunks, each to be decoded on its own
//! ```
//!
//! Whoever drives it (a blocking reader, an async one, a test with a byte slice) fetches the ranges and goes on. Only
//! codecs that can do with less than the whole chunk have a [`Decode`]; all others decode from all bytes at once.
//!
//! A split is data and no list of decodes: where the inner chunks are, and how they are encoded. A shard may have a hundred thousand
//! inner chunks of a kilobyte, and a box and a list of ranges for each would cost more than to decode them. So a transpose around a
//! shard is a permutation of axes, and no reordering of parts; and of bytes that are in memory anyway inner chunks are decoded
//! directly.

use crate::{AxisWindows, ElementSpec, Error, Pipeline, ViewMut};
use smallvec::SmallVec;
use std::fmt::Debug;
use std::ops::Range;
use std::sync::Arc;
use zarr_bytes::ByteRange;
use zarr_grid::{AxisOverlaps, ChunkIndex, ChunkOverlaps, Shape};

/// Preferences for requests of encoded bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Access {
    /// Approximate number of bytes of the pieces in which to ask for uncompressed data, one after another, and not all at once: where
    /// requests cost little, a piece is then still in the processor's cache when its elements are copied.
    pub read_size: Option<u64>,
    /// Whether checksums may go unverified where verifying them means to fetch more than is asked for.
    pub skip_checksums: bool,
}

impl Access {
    /// Sets the size of pieces.
    #[must_use]
    pub fn read_size(mut self, size: impl Into<Option<u64>>) -> Self {
        self.read_size = size.into();
        self
    }

    /// Sets whether checksums may go unverified.
    #[must_use]
    pub fn skip_checksums(mut self, skip: bool) -> Self {
        self.skip_checksums = skip;
        self
    }
}

/// A decode in progress.
pub trait Decode: Send + Debug {
    /// Takes the bytes asked for last (none at first), one slice for each range, and returns the next step.
    ///
    /// `out` is the same view at each step.
    ///
    /// # Errors
    /// As [`ArrayToBytes::decode`](crate::ArrayToBytes::decode).
    fn step(&mut self, got: &[&[u8]], out: &mut ViewMut<'_>) -> Result<Step, Error>;

    /// Goes on as if the bytes asked for last had come and had been decoded, to learn which bytes are asked for next: for plans. `None`
    /// if that depends on the bytes, as it does for an index.
    ///
    /// A decode that asks once for its bytes, and nothing after that, has no need to implement it.
    fn skip(&mut self) -> Option<Step> {
        Some(Step::Done)
    }

    /// The split that [`step`](Self::step) comes to, without any bytes: by an index that an earlier decode of the same chunk
    /// came to. `None` if this decode does not split, or `index` is not of its grid.
    fn split_by(&self, index: &Arc<InnerChunkIndex>) -> Option<Split> {
        let _ = index;
        None
    }
}

/// The next step of a [`Decode`].
#[derive(Debug)]
pub enum Step {
    /// These ranges of the encoded chunk.
    Need(Vec<ByteRange>),
    /// `out` is to be cut, and each part decoded on its own.
    Split(Box<Split>),
    /// `out` is complete.
    Done,
}

/// Parts of a chunk that are encoded on their own: the inner chunks of a shard that a region meets.
///
/// It is data and not a list of decodes, so that a shard of a hundred thousand inner chunks costs nothing per inner
/// chunk until one is decoded.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Split {
    /// The permutation of the axes of `out`, before it is divided into windows.
    pub order: Option<SmallVec<[usize; 6]>>,
    /// Where the region meets the grid of inner chunks.
    pub overlaps: ChunkOverlaps,
    /// Where each inner chunk is stored.
    pub index: Arc<InnerChunkIndex>,
    /// How each inner chunk is encoded.
    pub codecs: Arc<Pipeline>,
}

impl Split {
    /// The inner chunks that a region meets, with the axes in their order.
    #[must_use]
    pub fn new(overlaps: ChunkOverlaps, index: Arc<InnerChunkIndex>, codecs: Arc<Pipeline>) -> Self {
        Self { order: None, overlaps, index, codecs }
    }

    /// The elements that the parts hold.
    pub fn element(&self) -> &ElementSpec {
        self.codecs.element()
    }

    /// The windows of `out`, in the order of the chunks of `overlaps`.
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

/// The windows that `overlaps` make of an output, as [`ViewMut::into_windows`] takes them.
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
        // More than can be addressed is refused with the windows.
        let [start, width, count] = [cut.out, cut.inner.len, alike].map(|it| usize::try_from(it).unwrap_or(usize::MAX));
        windows.push(start, width, count);
        number += alike;
    }
    windows
}

/// Where the inner chunks of a shard lie in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InnerChunkIndex {
    grid: Shape,
    /// Offset and length for each inner chunk, in C order.
    entries: Vec<(u64, u64)>,
}

/// Offset and length of an inner chunk that is not stored (sharding codec 1.0, section "Binary shard format").
const ABSENT: u64 = u64::MAX;

impl InnerChunkIndex {
    /// An index of `grid` inner chunks per axis.
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

    /// Inner chunks per axis.
    pub fn grid(&self) -> &[u64] {
        &self.grid
    }

    /// Bytes of memory that it takes.
    pub fn size(&self) -> usize {
        size_of_val(self.entries.as_slice())
    }

    /// Where each inner chunk is, in C order; `None` where it is not stored.
    pub fn iter(&self) -> impl Iterator<Item = Result<Option<Range<u64>>, Error>> + '_ {
        (0..self.entries.len()).map(|position| self.entry(position))
    }

    /// Where the inner chunk at `index` is; `None` if it is not stored.
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
