//! Decoding and encoding of a chunk block by block. Each block is copied to or from the memory of its elements while the block is in the
//! processor's cache. Blocks that a region does not touch are not decoded.

use crate::{ArrayToBytes, Dims, Error, Scratch, Strides, View, ViewMut};
use smallvec::SmallVec;
use std::cmp::Ordering;
use std::fmt::Debug;
use std::ops::Range;
use zarr_grid::Region;

/// An encoded value whose parts can be decoded on their own, for [`BytesToBytes::blocks`](crate::BytesToBytes::blocks).
pub trait Blocks: Debug {
    /// Number of bytes of the whole decoded value.
    fn decoded_size(&self) -> usize;

    /// Number of decoded bytes of each block; the last block may have fewer.
    fn block_size(&self) -> usize;

    /// Decodes block `number`, counted from 0, into `out`, which has as many bytes as the decoded block.
    ///
    /// # Errors
    /// The errors of [`BytesToBytes::decode`](crate::BytesToBytes::decode).
    fn decode(&self, number: usize, out: &mut [u8]) -> Result<(), Error>;
}

/// Bytes to encode, possibly scattered in memory; the input of [`BytesToBytes::encode_from`](crate::BytesToBytes::encode_from).
pub trait Source {
    /// Number of bytes of the source.
    fn size(&self) -> usize;

    /// Returns the bytes at `range`: borrowed if they are contiguous in memory, gathered in `scratch` otherwise.
    ///
    /// # Errors
    /// [`Error::Encode`] for elements that cannot be encoded, [`Error::Buffer`] if there are fewer bytes.
    fn bytes<'s>(&'s self, range: Range<usize>, scratch: &'s mut Scratch) -> Result<&'s [u8], Error>;
}

impl Source for &[u8] {
    fn size(&self) -> usize {
        self.len()
    }

    fn bytes<'s>(&'s self, range: Range<usize>, _: &'s mut Scratch) -> Result<&'s [u8], Error> {
        part(self, range)
    }
}

fn part(bytes: &[u8], range: Range<usize>) -> Result<&[u8], Error> {
    let shape = [range.end].as_slice().into();
    bytes.get(range).ok_or(Error::Buffer { found: bytes.len() as u64, shape, item: 1 })
}

/// Elements of a chunk as a [`Source`] for codecs: a range of bytes is encoded when a codec asks for the range.
#[derive(Debug)]
pub(crate) struct Elements<'c> {
    /// Region of `chunk` whose elements are encoded: the whole chunk.
    pub(crate) target: ChunkRegion<'c>,
    pub(crate) chunk: &'c View<'c>,
}

impl Source for Elements<'_> {
    fn size(&self) -> usize {
        self.chunk.shape().iter().product::<usize>() * self.target.item
    }

    fn bytes<'s>(&'s self, range: Range<usize>, scratch: &'s mut Scratch) -> Result<&'s [u8], Error> {
        let ChunkRegion { codec, item, .. } = self.target;
        if codec.is_memory_order()
            && let Some(bytes) = self.chunk.as_contiguous()
        {
            let bytes = part(bytes, range)?;
            codec.check_items(bytes)?;
            return Ok(bytes);
        }
        let elements = range.start / item..range.end.div_ceil(item);
        scratch.clear();
        for part in self.target.parts(elements.start as u64..elements.end as u64) {
            codec.encode(&self.chunk.window(&part.out), scratch)?;
        }
        let before = elements.start * item;
        part(scratch, range.start - before..range.end - before)
    }
}

/// Region of a chunk whose decoded bytes are the elements in C order.
#[derive(Debug)]
pub(crate) struct ChunkRegion<'c> {
    /// Codec that turns the elements into bytes.
    pub(crate) codec: &'c dyn ArrayToBytes,
    /// Number of bytes of an encoded element.
    pub(crate) item: usize,
    pub(crate) shape: &'c [u64],
    pub(crate) region: &'c Region,
}

impl ChunkRegion<'_> {
    /// Whether `blocks` hold whole elements and together exactly the chunk, the chunk has at most `max_chunk` bytes, and the region is not
    /// empty.
    pub(crate) fn suits(&self, blocks: &dyn Blocks, max_chunk: u64) -> bool {
        let size = self.shape.iter().try_fold(self.item as u64, |size, &len| size.checked_mul(len));
        let block = blocks.block_size();
        block > 0
            && block.is_multiple_of(self.item)
            && size == Some(blocks.decoded_size() as u64)
            && size <= Some(max_chunk)
            && !self.region.is_empty()
    }

    /// Decodes the blocks that the region touches into `out`, which has the shape of the region.
    pub(crate) fn decode(&self, blocks: &dyn Blocks, out: &mut ViewMut<'_>) -> Result<(), Error> {
        let (size, step) = (blocks.decoded_size(), blocks.block_size());
        let mut scratch = Scratch::take();
        let touched = self.span();
        let block = |element: u64| element as usize * self.item / step;
        for number in block(touched.start)..block(touched.end) + 1 {
            let start = number * step;
            let len = step.min(size.saturating_sub(start));
            let first = (start / self.item) as u64;
            let parts = self.parts(first..first + (len / self.item) as u64);
            if parts.is_empty() {
                continue;
            }
            let bytes = scratch.sized(len)?;
            blocks.decode(number, bytes)?;
            for part in parts {
                let offset = (part.first - first) as usize * self.item;
                let items = View::from_strides(bytes, self.item, &part.lens, offset, &part.strides)?;
                self.codec.scatter(&items, &mut out.reborrow().window(&part.out))?;
            }
        }
        Ok(())
    }

    /// Offsets of the region's first and last element among the elements of the chunk; arbitrary if the region has no elements.
    fn span(&self) -> Range<u64> {
        let (mut stride, mut first, mut last) = (1, 0, 0);
        for (&len, range) in self.shape.iter().zip(self.region.axes()).rev() {
            first += range.start * stride;
            last += range.last().unwrap_or(range.start) * stride;
            stride *= len;
        }
        first..last
    }

    /// Boxes of the region's elements whose C order indices in the chunk are in `elements`.
    fn parts(&self, elements: Range<u64>) -> SmallVec<[Part; 4]> {
        let mut parts = SmallVec::new();
        let Range { start: mut next, end } = elements;
        while next < end {
            // The largest box that begins at `next`: some positions of one axis, the full inner axes, one position of each
            // outer axis.
            let (mut axis, mut inner) = (self.shape.len().saturating_sub(1), 1);
            while axis > 0 {
                let larger = inner * self.shape.get(axis).copied().unwrap_or(1);
                if !next.is_multiple_of(larger) || end - next < larger {
                    break;
                }
                (axis, inner) = (axis - 1, larger);
            }
            let len = self.shape.get(axis).copied().unwrap_or(1);
            let count = ((end - next) / inner).min(len - next / inner % len);
            parts.extend(self.part(next, axis, count));
            next += count * inner;
        }
        parts
    }

    /// Part of the region inside the box of the chunk that begins at element `begin` and spans `count` positions along `axis`, the full
    /// inner axes and one position of each outer axis; `None` if the region does not touch the box.
    fn part(&self, begin: u64, axis: usize, count: u64) -> Option<Part> {
        let rank = self.shape.len();
        let mut part = Part {
            first: 0,
            lens: SmallVec::from_elem(0, rank),
            strides: SmallVec::from_elem(0, rank),
            out: Region::default(),
        };
        let mut out: SmallVec<[Range<u64>; 6]> = SmallVec::from_elem(0..0, rank);
        let mut stride = 1;
        for (index, (&len, range)) in self.shape.iter().zip(self.region.axes()).enumerate().rev() {
            let start = if index > axis { 0 } else { begin / stride % len };
            let end = match index.cmp(&axis) {
                Ordering::Less => start + 1,
                Ordering::Equal => start + count,
                Ordering::Greater => len,
            };
            // Number of positions of the region that lie before position `at` of the chunk.
            let before = |at: u64| at.saturating_sub(range.start).div_ceil(range.step).min(range.len);
            let taken = before(start)..before(end);
            if taken.is_empty() {
                return None;
            }
            part.first += (range.start + taken.start * range.step) * stride;
            *part.lens.get_mut(index)? = usize::try_from(taken.end - taken.start).ok()?;
            *part.strides.get_mut(index)? = isize::try_from(stride * range.step * self.item as u64).ok()?;
            *out.get_mut(index)? = taken;
            stride *= len;
        }
        part.out = Region::from_ranges(&out);
        Some(part)
    }
}

/// Box of elements that is the intersection of a region with consecutive elements of the chunk.
#[derive(Debug)]
struct Part {
    /// C order index in the chunk of the part's first element.
    first: u64,
    /// Number of elements of the part per axis.
    lens: Dims,
    /// Distance in bytes between neighbouring elements of the part in the decoded bytes, per axis.
    strides: Strides,
    /// Region of the output view that receives the part.
    out: Region,
}
