use smallvec::SmallVec;

use super::{AxisSelection, Selection};
use crate::error::{Error, Result};
use crate::grid::ChunkGrid;
use crate::region::AxisRange;
use crate::resolved::{AxisIndices, BoxSelection, CoordinateSelection, MaskSelection, OrthogonalSelection, Resolved};

impl Selection {
    /// Applies the selection to an array of `shape`.
    ///
    /// # Errors
    /// [`Error::Rank`] for more parts than dimensions, [`Error::OutOfBounds`] for indices outside of the array, [`Error::ZeroStep`],
    /// [`Error::MaskLength`], [`Error::CoordinateLists`], [`Error::Ellipses`], and [`Error::NeedsGrid`] for chunks, which
    /// [`Selection::resolve_on`] resolves.
    pub fn resolve(&self, shape: &[u64]) -> Result<Resolved> {
        check_shape(shape)?;
        match self {
            Self::Axes(axes) => outer(axes, shape),
            Self::Region(region) => {
                region.check(shape)?;
                Ok(Resolved::Box(BoxSelection::new(region.clone())))
            }
            Self::Coordinates(lists) => coordinates(lists, shape),
            Self::Mask { shape: found, mask } => whole_mask(found, mask, shape),
            Self::Blocks(_) => Err(Error::NeedsGrid),
        }
    }

    /// Applies the selection to the array of a chunk grid. Selections of chunks need the grid.
    ///
    /// # Errors
    /// The same errors as [`Selection::resolve`], and [`Error::BlockStep`].
    ///
    /// # Example
    /// ```
    /// # use zarr_grid::{ChunkGrid, Selection};
    /// let grid = ChunkGrid::regular(&[10, 10], &[4, 5])?;
    /// let resolved = Selection::blocks((1.., 0))?.resolve_on(&grid)?;
    /// assert_eq!(resolved.result_shape().as_slice(), [6, 5]);
    /// # Ok::<(), zarr_grid::Error>(())
    /// ```
    pub fn resolve_on(&self, grid: &ChunkGrid) -> Result<Resolved> {
        match self {
            Self::Blocks(axes) => blocks(axes, grid),
            _ => self.resolve(grid.shape()),
        }
    }
}

/// Checks that lengths are below 2^63, since positions may be negative to count from the end.
fn check_shape(shape: &[u64]) -> Result<()> {
    match shape.iter().all(|&len| i64::try_from(len).is_ok()) {
        true => Ok(()),
        false => Err(Error::Overflow { what: "the length of a dimension, counted with a sign," }),
    }
}

/// Returns one selection per axis: the ellipsis and axes that are not mentioned become whole axes.
fn expanded(axes: &[AxisSelection], rank: usize) -> Result<SmallVec<[&AxisSelection; 6]>> {
    let is_ellipsis = |axis: &&AxisSelection| matches!(axis, AxisSelection::Ellipsis);
    let ellipses = axes.iter().filter(is_ellipsis).count();
    if ellipses > 1 {
        return Err(Error::Ellipses);
    }
    let found = axes.len() - ellipses;
    if found > rank {
        return Err(Error::Rank { what: "selection", found, expected: rank });
    }
    let at = axes.iter().position(|axis| is_ellipsis(&axis)).unwrap_or(axes.len());
    let (before, after) = axes.split_at(at);
    let whole = core::iter::repeat_n(&AxisSelection::All, rank - found);
    Ok(before.iter().chain(whole).chain(after.iter().skip(ellipses)).collect())
}

fn outer(axes: &[AxisSelection], shape: &[u64]) -> Result<Resolved> {
    let axes = expanded(axes, shape.len())?;
    let mut picks = SmallVec::new();
    let mut dropped = SmallVec::new();
    for (axis, (selection, &len)) in axes.into_iter().zip(shape).enumerate() {
        dropped.push(matches!(selection, AxisSelection::Index(_)));
        picks.push(pick(axis, selection, len)?);
    }
    Ok(OrthogonalSelection::new(picks, dropped).simplified())
}

fn pick(axis: usize, selection: &AxisSelection, len: u64) -> Result<AxisIndices> {
    match selection {
        AxisSelection::Index(at) => {
            Ok(AxisIndices::Range { range: AxisRange::new(position(axis, *at, len)?, 1), flipped: false })
        }
        AxisSelection::Range { start, stop, step } => {
            if *step == 0 {
                return Err(Error::ZeroStep { axis });
            }
            let (range, flipped) = slice(*start, *stop, *step, len);
            Ok(AxisIndices::Range { range, flipped })
        }
        AxisSelection::Indices(list) => {
            let positions = list.iter().map(|&at| position(axis, at, len)).collect::<Result<Vec<_>>>()?;
            Ok(AxisIndices::from_positions(&positions))
        }
        AxisSelection::Mask(mask) => {
            let found = mask.len() as u64;
            if found != len {
                return Err(Error::MaskLength { axis, found, expected: len });
            }
            let positions: Vec<u64> = (0..).zip(mask).filter(|(_, on)| **on).map(|(at, _)| at).collect();
            Ok(AxisIndices::from_positions(&positions))
        }
        AxisSelection::Ellipsis | AxisSelection::All => {
            Ok(AxisIndices::Range { range: AxisRange::new(0, len), flipped: false })
        }
    }
}

/// Returns the position in the array for `at`, which counts from the end if negative.
fn position(axis: usize, at: i64, len: u64) -> Result<u64> {
    let from_start = if at < 0 { i128::from(at) + i128::from(len) } else { at.into() };
    u64::try_from(from_start).ok().filter(|&position| position < len).ok_or(Error::OutOfBounds {
        what: "index",
        axis,
        found: at.into(),
        len,
    })
}

/// Returns the positions of `start:stop:step` in ascending order, and whether they are to be reversed.
///
/// The rules are those of Python's `slice.indices`. `step` must not be 0.
fn slice(start: Option<i64>, stop: Option<i64>, step: i64, len: u64) -> (AxisRange, bool) {
    let (len, step) = (i128::from(len), i128::from(step));
    // Where a bound may lie: one before the first position is where a descending range ends.
    let (low, high) = if step > 0 { (0, len) } else { (-1, len - 1) };
    let bound = |at: Option<i64>, default: i128| match at.map(i128::from) {
        None => default,
        Some(at) => (if at < 0 { at + len } else { at }).clamp(low, high),
    };
    let (first, end) =
        if step > 0 { (bound(start, low), bound(stop, high)) } else { (bound(start, high), bound(stop, low)) };
    let (distance, stride) = if step > 0 { (end - first, step) } else { (first - end, -step) };
    let count = if distance > 0 { (distance - 1) / stride + 1 } else { 0 };
    let lowest = if step > 0 { first } else { first - (count - 1).max(0) * stride };
    // All lie between -1 and the length of the axis; an empty range may lie anywhere.
    let unsigned = |n: i128| u64::try_from(n.max(0)).unwrap_or(u64::MAX);
    let range = AxisRange { start: unsigned(lowest), len: unsigned(count), step: unsigned(stride) };
    (range.normal(), step < 0 && count > 1)
}

fn coordinates(lists: &[Vec<i64>], shape: &[u64]) -> Result<Resolved> {
    if lists.len() != shape.len() {
        return Err(Error::Rank { what: "coordinate selection", found: lists.len(), expected: shape.len() });
    }
    // Without dimensions there is one element, and one way to name it.
    let count = lists.first().map_or(1, Vec::len);
    if let Some((axis, list)) = lists.iter().enumerate().find(|(_, list)| list.len() != count) {
        return Err(Error::CoordinateLists { axis, found: list.len(), expected: count });
    }
    let mut positions = Vec::with_capacity(count.saturating_mul(shape.len()));
    for point in 0..count {
        for (axis, (list, &len)) in lists.iter().zip(shape).enumerate() {
            positions.push(position(axis, list[point], len)?);
        }
    }
    Ok(Resolved::Coordinates(CoordinateSelection::new(shape.len(), count, positions)))
}

fn whole_mask(found: &[u64], mask: &[bool], shape: &[u64]) -> Result<Resolved> {
    if found.len() != shape.len() {
        return Err(Error::Rank { what: "mask", found: found.len(), expected: shape.len() });
    }
    if let Some(axis) = (0..shape.len()).find(|&axis| found[axis] != shape[axis]) {
        return Err(Error::MaskLength { axis, found: found[axis], expected: shape[axis] });
    }
    let expected = crate::element_count(shape).ok_or(Error::Overflow { what: "the number of elements of a mask" })?;
    if mask.len() as u64 != expected {
        return Err(Error::MaskLength { axis: 0, found: mask.len() as u64, expected });
    }
    Ok(Resolved::Mask(MaskSelection::new(shape, mask)))
}

fn blocks(axes: &[AxisSelection], grid: &ChunkGrid) -> Result<Resolved> {
    check_shape(grid.shape())?;
    let axes = expanded(axes, grid.rank())?;
    let mut region = crate::Region::default();
    for (axis, (selection, &end)) in axes.into_iter().zip(grid.shape()).enumerate() {
        let chunks = grid.chunk_count(axis);
        let (range, _) = match selection {
            AxisSelection::Index(at) => (AxisRange::new(position(axis, *at, chunks)?, 1), false),
            AxisSelection::Range { start, stop, step: 1 } => slice(*start, *stop, 1, chunks),
            AxisSelection::Ellipsis | AxisSelection::All => (AxisRange::new(0, chunks), false),
            _ => return Err(Error::BlockStep { axis }),
        };
        let start = grid.extent(axis, range.start).map_or(end, |(start, _)| start);
        let stop = range
            .last()
            .and_then(|last| grid.extent(axis, last))
            .map_or(start, |(start, len)| start.saturating_add(len).min(end));
        region.0.push(AxisRange::new(start, stop - start));
    }
    Ok(Resolved::Box(BoxSelection::new(region)))
}
