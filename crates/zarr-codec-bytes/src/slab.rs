//! Reader of slabs: a region of a chunk is divided into slabs, and each slab into ranges of bytes. Slabs are fetched one after another, and
//! their elements copied to the output.

use smallvec::SmallVec;
use std::ops::Range;
use std::sync::Arc;
use zarr_bytes::ByteRange;
use zarr_codec::{ArrayToBytes, Decode, Dims, Error, Step, View, ViewMut};
use zarr_grid::{Region, Shape};

/// Name of the codec in errors.
pub(crate) const NAME: &str = "bytes";

/// Checks that a number of bytes is exactly as expected.
pub(crate) fn check_len(found: u64, expected: u64) -> Result<(), Error> {
    match found.cmp(&expected) {
        std::cmp::Ordering::Less => Err(Error::Truncated { codec: NAME, found, expected }),
        std::cmp::Ordering::Equal => Ok(()),
        std::cmp::Ordering::Greater => Err(Error::TooLong { codec: NAME, found, expected }),
    }
}

/// Returns lengths in the form of a view. A length that exceeds `usize` gives a view that fits no buffer.
pub(crate) fn dims(shape: &[u64]) -> Dims {
    shape.iter().map(|&len| usize::try_from(len).unwrap_or(usize::MAX)).collect::<SmallVec<_>>()
}

/// Decoder that requests one slab after another.
///
/// ```text
/// Start ── ranges of slab 0 ──► Asked(0) ── scatters it, ranges of slab 1 ──► Asked(1) ── ... ──► Done
///   └── no elements ──────────────────────────────────────────────────────────────────────────────┘
/// ```
///
/// If the slabs cover the whole chunk, the last request is for all remaining bytes, so that surplus bytes are found. In a chunk that is too
/// short the requested ranges are missing.
#[derive(Debug)]
pub(crate) struct SlabDecode {
    codec: Arc<dyn ArrayToBytes>,
    slabs: Slabs,
    state: State,
}

#[derive(Clone, Copy, Debug)]
enum State {
    Start,
    Asked(u64),
    Done,
}

impl SlabDecode {
    /// Creates a decoder for `region` of a chunk of `shape`, whose elements have `item` bytes, in slabs of at most `limit` bytes if there
    /// is a limit. `None` if the offsets of the region exceed 64 bits.
    pub(crate) fn new(
        codec: Arc<dyn ArrayToBytes>,
        item: usize,
        shape: &[u64],
        region: &Region,
        limit: Option<u64>,
    ) -> Option<Self> {
        let slabs = Slabs::new(item, shape, region, limit)?;
        Some(Self { codec, slabs, state: State::Start })
    }

    fn ranges(&self, number: u64) -> Vec<ByteRange> {
        let slab = self.slabs.get(number);
        let last = self.slabs.is_whole() && number + 1 == self.slabs.count();
        let range = |bytes: Range<u64>| {
            if last { ByteRange::From(bytes.start) } else { ByteRange::Range(bytes) }
        };
        slab.pieces().map(|piece| range(piece.bytes)).collect()
    }

    /// Returns the request for the next slab.
    fn next(&mut self) -> Step {
        let next = match self.state {
            State::Start => 0,
            State::Asked(number) => number + 1,
            State::Done => return Step::Done,
        };
        if next == self.slabs.count() {
            self.state = State::Done;
            return Step::Done;
        }
        self.state = State::Asked(next);
        Step::Need(self.ranges(next))
    }

    fn scatter(&self, number: u64, got: &[&[u8]], out: &mut ViewMut<'_>) -> Result<(), Error> {
        let slab = self.slabs.get(number);
        let mut got = got.iter();
        for piece in slab.pieces() {
            let bytes = got.next().copied().unwrap_or_default();
            check_len(piece.bytes.start.saturating_add(bytes.len() as u64), piece.bytes.end)?;
            self.codec.scatter(&slab.items(&piece, bytes)?, &mut out.reborrow().window(&piece.out))?;
        }
        Ok(())
    }
}

impl Decode for SlabDecode {
    fn step(&mut self, got: &[&[u8]], out: &mut ViewMut<'_>) -> Result<Step, Error> {
        if let State::Asked(number) = self.state {
            self.scatter(number, got, out)?;
        }
        Ok(self.next())
    }

    fn skip(&mut self) -> Option<Step> {
        Some(self.next())
    }
}

/// Maximum number of ranges of a request. More ranges would cost more than fetching the bytes between them.
const MAX_RANGES: u64 = 1024;

/// Region of a chunk, divided into boxes that are fetched one after another, in C order.
///
/// Positions count selected elements, from 0 to `len` of each axis. The axes contain offsets in bytes, which include the steps.
#[derive(Clone, Debug)]
struct Slabs {
    /// Size of one element in bytes.
    item: u64,
    axes: SmallVec<[Axis; 6]>,
    /// Number of elements of a slab along each axis; the last slab along an axis may have fewer.
    lens: Shape,
    /// Number of slabs that cover the region.
    count: u64,
}

#[derive(Clone, Copy, Debug)]
struct Axis {
    /// Number of selected elements along the axis.
    len: u64,
    /// Byte offset of the first selected element.
    first: u64,
    /// Distance between neighbouring selected elements in bytes.
    stride: u64,
    /// Whether the selected elements are contiguous.
    dense: bool,
    /// Whether all elements of the chunk along the axis are selected.
    whole: bool,
}

impl Slabs {
    /// Divides `region` of a chunk of `shape` into slabs of at most `limit` bytes each (but at least one element). `None` if the offsets of
    /// the region exceed 64 bits.
    fn new(item: usize, shape: &[u64], region: &Region, limit: Option<u64>) -> Option<Self> {
        region.check(shape).ok()?;
        let item = u64::try_from(item).ok().filter(|&item| item > 0)?;
        let mut axes: SmallVec<[Axis; 6]> = SmallVec::new();
        let mut stride = item;
        for (range, &len) in region.axes().iter().zip(shape).rev() {
            axes.push(Axis {
                len: range.len,
                first: range.start.checked_mul(stride)?,
                stride: stride.checked_mul(range.step)?,
                dense: range.step == 1 || range.len <= 1,
                whole: range.len == len,
            });
            stride = stride.checked_mul(len.max(1))?;
        }
        isize::try_from(stride).ok()?;
        axes.reverse();
        let mut slabs = Self { item, lens: region.shape(), axes, count: 1 };
        if region.is_empty() {
            slabs.count = 0;
        } else if let Some(limit) = limit {
            slabs.lens = slabs.lens_within(limit);
            slabs.count = slabs.per_axis().product();
        }
        Some(slabs)
    }

    /// Returns the number of slabs.
    fn count(&self) -> u64 {
        self.count
    }

    /// Returns whether the slabs cover the whole chunk.
    fn is_whole(&self) -> bool {
        self.axes.iter().all(|axis| axis.whole)
    }

    /// Returns the slab with index `number`.
    fn get(&self, number: u64) -> Slab<'_> {
        let counts: Shape = self.per_axis().collect();
        let mut rest = number;
        let mut origin: Shape = counts.clone();
        for (at, &count) in origin.iter_mut().zip(&counts).rev() {
            *at = rest % count;
            rest /= count;
        }
        origin.iter_mut().zip(&self.lens).for_each(|(at, &len)| *at *= len);
        let lens = self.axes.iter().zip(&self.lens).zip(&origin).map(|((axis, &len), &at)| len.min(axis.len - at));
        let lens: Shape = lens.collect();
        let outer = self.outer_axes(&lens);
        // Too many ranges: one that has all of them.
        let outer = if runs(&lens, outer) > MAX_RANGES { 0 } else { outer };
        Slab { slabs: self, origin, lens, outer }
    }

    /// Returns the number of slabs along each axis.
    fn per_axis(&self) -> impl Iterator<Item = u64> + '_ {
        self.axes.iter().zip(&self.lens).map(|(axis, &len)| axis.len.div_ceil(len.max(1)))
    }

    /// Returns the lengths of the largest slabs of at most `limit` bytes: inner axes as a whole, then as much as fits of the next axis,
    /// then single positions. A slab has at least one element.
    fn lens_within(&self, limit: u64) -> Shape {
        let mut lens: Shape = self.axes.iter().map(|_| 1).collect();
        for (index, axis) in self.axes.iter().enumerate().rev() {
            let mut fits = |len: u64| {
                lens.get_mut(index).into_iter().for_each(|slot| *slot = len);
                self.cost(&lens) <= limit
            };
            if fits(axis.len) {
                continue;
            }
            let (mut good, mut bad) = (1, axis.len);
            while bad - good > 1 {
                let middle = good + (bad - good) / 2;
                if fits(middle) { good = middle } else { bad = middle }
            }
            fits(good);
            break;
        }
        lens
    }

    /// Returns the number of bytes fetched for a slab with these lengths.
    fn cost(&self, lens: &[u64]) -> u64 {
        if runs(lens, self.outer_axes(lens)) <= MAX_RANGES {
            lens.iter().product::<u64>() * self.item
        } else {
            self.span(lens, 0)
        }
    }

    /// Returns the number of bytes from the first element to the end of the last element, along the axes beginning with `outer`.
    fn span(&self, lens: &[u64], outer: usize) -> u64 {
        let axes = self.axes.iter().zip(lens).skip(outer);
        axes.map(|(axis, &len)| (len - 1) * axis.stride).sum::<u64>() + self.item
    }

    /// Returns the number of leading axes whose positions are fetched separately; along the other axes the bytes are contiguous.
    fn outer_axes(&self, lens: &[u64]) -> usize {
        let mut outer = self.axes.len();
        for (axis, &len) in self.axes.iter().zip(lens).rev() {
            if len > 1 && !axis.dense {
                break;
            }
            outer -= 1;
            // The axes further out are not contiguous.
            if len < axis.len || !axis.whole {
                break;
            }
        }
        outer
    }
}

fn runs(lens: &[u64], outer: usize) -> u64 {
    lens.iter().take(outer).fold(1, |runs, &len| runs.saturating_mul(len))
}

/// Box of a region that is fetched at once.
#[derive(Debug)]
struct Slab<'s> {
    slabs: &'s Slabs,
    /// First position along each axis.
    origin: Shape,
    /// Number of elements along each axis.
    lens: Shape,
    /// Number of leading axes whose positions are fetched separately: each position is a piece.
    outer: usize,
}

/// Part of a slab whose bytes are one range.
#[derive(Debug)]
struct Piece {
    /// Range of the bytes in the encoded chunk.
    bytes: Range<u64>,
    /// Region of the output for the elements.
    out: Region,
}

impl Slab<'_> {
    /// Returns the pieces, in C order.
    fn pieces(&self) -> impl Iterator<Item = Piece> + '_ {
        (0..runs(&self.lens, self.outer)).map(|number| self.piece(number))
    }

    fn piece(&self, number: u64) -> Piece {
        let mut rest = number;
        let mut start = 0;
        let mut out: SmallVec<[Range<u64>; 6]> = SmallVec::new();
        let axes = self.slabs.axes.iter().zip(&self.origin).zip(&self.lens);
        for (index, ((axis, &origin), &len)) in axes.enumerate().rev() {
            let (at, len) = if index < self.outer { (origin + rest % len, 1) } else { (origin, len) };
            if index < self.outer {
                rest /= self.lens.get(index).copied().unwrap_or(1);
            }
            start += axis.first + at * axis.stride;
            out.push(at..at + len);
        }
        out.reverse();
        Piece { bytes: start..start + self.slabs.span(&self.lens, self.outer), out: Region::from_ranges(&out) }
    }

    /// Returns a view of the elements of a piece in its bytes.
    fn items<'b>(&self, piece: &Piece, bytes: &'b [u8]) -> Result<View<'b>, Error> {
        let stride = |axis: &Axis| isize::try_from(axis.stride).unwrap_or(isize::MAX);
        let strides: SmallVec<[isize; 6]> = self.slabs.axes.iter().map(stride).collect();
        let item = usize::try_from(self.slabs.item).unwrap_or(usize::MAX);
        View::from_strides(bytes, item, &dims(&piece.out.shape()), 0, &strides)
    }
}
