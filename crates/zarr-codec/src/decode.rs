//! The protocol of partial decoding: a decode says which bytes it wants, and never fetches any.
//!
//! ```text
//! step(nothing) ─► Need(ranges) ─► step(bytes) ─► ... ─► Done
//!                                        └──────────────► Split: inner chunks, each to be decoded on its own
//! ```
//!
//! Whoever drives it (a blocking reader, an async one, a test with a byte slice) fetches the ranges and goes on. Only
//! codecs that can do with less than the whole chunk have a [`Decode`]; all others decode from all bytes at once.

use crate::{ElementSpec, Error, Pipeline, ViewMut, Windows};
use smallvec::SmallVec;
use std::fmt::Debug;
use std::ops::Range;
use std::sync::Arc;
use zarr_grid::{AxisCuts, ChunkIndex, Cuts, Shape};
use zarr_store::ByteRange;

/// How encoded bytes are best asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Access {
    /// Ask for uncompressed data in pieces of about so many bytes, one after another, rather than all at once: where
    /// latency is cheap, a piece is then still in the processor's cache when it is scattered.
    pub slab: Option<u64>,
    /// Whether checksums may go unverified where verifying them means to fetch more than is asked for.
    pub skip_checksums: bool,
}

/// A decode in progress.
pub trait Decode: Send + Debug {
    /// Takes the bytes asked for last (none at first), one slice for each range, and says what is next.
    ///
    /// `out` is the same view at each step.
    ///
    /// # Errors
    /// As [`ArrayToBytes::decode`](crate::ArrayToBytes::decode).
    fn step(&mut self, got: &[&[u8]], out: &mut ViewMut<'_>) -> Result<Step, Error>;

    /// The split that [`step`](Self::step) comes to, without any bytes: by an index that an earlier decode of the same chunk
    /// came to. `None` if this decode does not split, or `index` is not of its grid.
    fn split_by(&self, index: &Arc<SubchunkIndex>) -> Option<Split> {
        let _ = index;
        None
    }
}

/// What a [`Decode`] wants next.
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
pub struct Split {
    /// The order in which to turn the axes of `out` before it is cut.
    pub order: Option<SmallVec<[usize; 6]>>,
    /// Where the region meets the grid of inner chunks.
    pub cuts: Cuts,
    /// Where each inner chunk is stored.
    pub index: Arc<SubchunkIndex>,
    /// How each inner chunk is encoded.
    pub codecs: Arc<Pipeline>,
}

impl Split {
    /// The elements that the parts hold.
    pub fn element(&self) -> &ElementSpec {
        self.codecs.element()
    }

    /// The windows of `out`, in the order of the cells of `cuts`.
    ///
    /// # Errors
    /// [`Error::Tiles`] if `out` has not the shape of the region.
    pub fn tile<'a>(&self, out: ViewMut<'a>) -> Result<crate::Tiles<'a>, Error> {
        let out = match &self.order {
            Some(order) => out.permuted(order),
            None => out,
        };
        out.tile(windows(&self.cuts))
    }
}

/// The windows that `cuts` make of an output, as [`ViewMut::tile`] takes them.
pub fn windows(cuts: &Cuts) -> Vec<Windows> {
    cuts.axes().iter().map(|axis| if cuts.is_empty() { Windows::default() } else { axis_windows(axis) }).collect()
}

fn axis_windows(axis: &AxisCuts) -> Windows {
    let mut windows = Windows::default();
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
pub struct SubchunkIndex {
    grid: Shape,
    /// Offset and length for each inner chunk, in C order.
    entries: Vec<(u64, u64)>,
}

/// Offset and length of an inner chunk that is not stored (sharding codec 1.0, section "Binary shard format").
const ABSENT: u64 = u64::MAX;

impl SubchunkIndex {
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
        (0..self.entries.len()).map(|place| self.entry(place))
    }

    /// Where the inner chunk at `index` is; `None` if it is not stored.
    ///
    /// # Errors
    /// [`Error::ShardIndex`] if the entry contradicts itself or lies outside of the index.
    pub fn range(&self, index: &[u64]) -> Result<Option<Range<u64>>, Error> {
        let mut place = 0u64;
        for (&at, &len) in index.iter().zip(&self.grid) {
            place = place.wrapping_mul(len).wrapping_add(at);
        }
        self.entry(usize::try_from(place).unwrap_or(usize::MAX))
    }

    fn entry(&self, place: usize) -> Result<Option<Range<u64>>, Error> {
        let broken =
            |what: String| Error::ShardIndex { what: format!("inner chunk {:?}: {what}", self.unravel(place)) };
        match self.entries.get(place) {
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

    fn unravel(&self, place: usize) -> ChunkIndex {
        let mut rest = place as u64;
        let mut index: ChunkIndex = self.grid.clone();
        for (at, &len) in index.iter_mut().zip(&self.grid).rev() {
            *at = rest % len.max(1);
            rest /= len.max(1);
        }
        index
    }
}
