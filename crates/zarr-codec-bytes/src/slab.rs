//! The slab reader: a region of a chunk is cut into slabs, these into ranges of bytes; they are fetched one slab after another,
//! and scattered to where their elements belong.

use smallvec::SmallVec;
use std::ops::Range;
use std::sync::Arc;
use zarr_bytes::ByteRange;
use zarr_codec::{ArrayToBytes, Decode, Dims, Error, Step, View, ViewMut};
use zarr_grid::{Region, Shape};

/// The name in errors.
pub(crate) const NAME: &str = "bytes";

/// Checks a number of bytes that must be exact.
pub(crate) fn check_len(found: u64, expected: u64) -> Result<(), Error> {
    match found.cmp(&expected) {
        std::cmp::Ordering::Less => Err(Error::Truncated { codec: NAME, found, expected }),
        std::cmp::Ordering::Equal => Ok(()),
        std::cmp::Ordering::Greater => Err(Error::TooLong { codec: NAME, found, expected }),
    }
}

/// Lengths as a view takes them. One that does not fit makes a view that fits no buffer.
pub(crate) fn dims(shape: &[u64]) -> Dims {
    shape.iter().map(|&len| usize::try_from(len).unwrap_or(usize::MAX)).collect::<SmallVec<_>>()
}

/// A decode that asks for one slab after another.
///
/// ```text
/// Start ── ranges of slab 0 ──► Asked(0) ── scatters it, ranges of slab 1 ──► Asked(1) ── ... ──► Done
///   └── no elements ──────────────────────────────────────────────────────────────────────────────┘
/// ```
///
/// If the slabs are all of the chunk, the last one asks for whatever is left, so that a chunk with bytes left over is not
/// taken for a good one. A chunk that is too short has not the ranges that are asked for.
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
    /// A decode of `region` of a chunk of `shape`, whose elements have `item` bytes, in slabs of at most `limit` bytes if there is a limit. `None` if the region
    /// has bytes that cannot be counted.
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

    /// Asks for the next slab.
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

/// Ranges that one request may have. More would cost more to ask for than the bytes between them.
const MAX_RANGES: u64 = 1024;

/// A region of a chunk, cut into boxes that are fetched one after another, in C order.
///
/// All positions count selected elements, from 0 to `len` of each axis; the axes have their offsets in bytes, steps
/// included.
#[derive(Clone, Debug)]
struct Slabs {
    /// Bytes of one element.
    item: u64,
    axes: SmallVec<[Axis; 6]>,
    /// Elements of a slab per axis; the last slab along an axis may have fewer.
    lens: Shape,
    /// How many slabs there are.
    count: u64,
}

#[derive(Clone, Copy, Debug)]
struct Axis {
    /// Selected elements.
    len: u64,
    /// Byte offset of the first of them.
    first: u64,
    /// Bytes from one to the next.
    stride: u64,
    /// Whether they lie side by side.
    dense: bool,
    /// Whether they are all that the chunk has.
    whole: bool,
}

impl Slabs {
    /// The slabs of `region` in a chunk of `shape`, each of at most `limit` bytes, if it can be. `None` if the region has
    /// bytes that cannot be counted.
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

    /// How many slabs there are.
    fn count(&self) -> u64 {
        self.count
    }

    /// Whether they are all of the chunk.
    fn is_whole(&self) -> bool {
        self.axes.iter().all(|axis| axis.whole)
    }

    /// The slab of this number.
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

    /// Slabs along each axis.
    fn per_axis(&self) -> impl Iterator<Item = u64> + '_ {
        self.axes.iter().zip(&self.lens).map(|(axis, &len)| axis.len.div_ceil(len.max(1)))
    }

    /// The lengths of the largest slabs of at most `limit` bytes: inner axes wholly, then as much as fits of the next
    /// one, then single positions. One element is always taken.
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

    /// Bytes that a slab of these lengths fetches.
    fn cost(&self, lens: &[u64]) -> u64 {
        if runs(lens, self.outer_axes(lens)) <= MAX_RANGES {
            lens.iter().product::<u64>() * self.item
        } else {
            self.span(lens, 0)
        }
    }

    /// Bytes from the first element to the end of the last one, along the axes from `outer` on.
    fn span(&self, lens: &[u64], outer: usize) -> u64 {
        let axes = self.axes.iter().zip(lens).skip(outer);
        axes.map(|(axis, &len)| (len - 1) * axis.stride).sum::<u64>() + self.item
    }

    /// How many leading axes are walked position by position; the others together are contiguous bytes.
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

/// A box of a region, fetched at once.
#[derive(Debug)]
struct Slab<'s> {
    slabs: &'s Slabs,
    /// The first position.
    origin: Shape,
    /// Elements per axis.
    lens: Shape,
    /// Leading axes that are walked position by position: each position is a piece.
    outer: usize,
}

/// A part of a slab whose bytes are one range.
#[derive(Debug)]
struct Piece {
    /// Where the bytes are in the encoded chunk.
    bytes: Range<u64>,
    /// Where the elements go in the output.
    out: Region,
}

impl Slab<'_> {
    /// The parts, in C order.
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

    /// The elements of a piece in its bytes.
    fn items<'b>(&self, piece: &Piece, bytes: &'b [u8]) -> Result<View<'b>, Error> {
        let stride = |axis: &Axis| isize::try_from(axis.stride).unwrap_or(isize::MAX);
        let strides: SmallVec<[isize; 6]> = self.slabs.axes.iter().map(stride).collect();
        let item = usize::try_from(self.slabs.item).unwrap_or(usize::MAX);
        View::from_strides(bytes, item, &dims(&piece.out.shape()), 0, &strides)
    }
}
