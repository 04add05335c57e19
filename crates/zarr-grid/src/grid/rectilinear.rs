use std::sync::Arc;

use smallvec::SmallVec;

use super::AxisChunk;
use crate::error::{Error, Result};
use crate::overlaps::AxisOverlaps;
use crate::region::AxisRange;
use crate::shape::Shape;

/// Run of `count` consecutive chunks of length `len`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Run {
    /// Length of each chunk in elements.
    pub len: u64,
    /// Number of chunks in the run.
    pub count: u64,
}

/// Chunks along one axis of a rectilinear grid.
///
/// Runs are not expanded: an axis of 10^15 equal chunks is one record, and lookups are binary searches over the runs. Clones share the
/// runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AxisChunks(Kind);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    /// One length, repeated until the end of the axis.
    Repeated(u64),
    Listed(Arc<[Stretch]>),
}

/// Run and its place on the axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stretch {
    run: Run,
    /// Index of the first chunk of the run; `start` is the first element of that chunk.
    chunk: u64,
    start: u64,
}

impl Stretch {
    fn end(&self) -> u64 {
        self.start + self.run.len * self.run.count
    }
}

impl AxisChunks {
    /// Creates chunks of one length, as many as needed to cover the axis; `None` for length 0.
    pub fn repeated(len: u64) -> Option<Self> {
        (len > 0).then_some(Self(Kind::Repeated(len)))
    }

    /// Creates chunks with these runs in order. Chunks wholly beyond the end of the axis may be listed.
    ///
    /// # Errors
    /// [`Error::Overflow`] if the sum of the lengths does not fit 64 bits, or if a length or count is 0.
    pub fn listed(runs: impl IntoIterator<Item = Run>) -> Result<Self> {
        let (mut chunk, mut start) = (0u64, 0u64);
        let mut stretches = Vec::new();
        for run in runs {
            let sum = run.len.checked_mul(run.count).filter(|&sum| sum > 0).and_then(|sum| start.checked_add(sum));
            let sum = sum.ok_or(Error::Overflow { what: "the sum of the chunk lengths, each at least 1," })?;
            stretches.push(Stretch { run, chunk, start });
            // No chunk is shorter than 1, so that there are no more chunks than elements.
            chunk += run.count;
            start = sum;
        }
        Ok(Self(Kind::Listed(stretches.into())))
    }

    /// Returns the chunk length if one length is repeated until the end of the axis; `None` if chunks are listed.
    pub fn repeated_len(&self) -> Option<u64> {
        match self.0 {
            Kind::Repeated(len) => Some(len),
            Kind::Listed(_) => None,
        }
    }

    /// Returns the listed runs; empty if one length is repeated.
    pub fn runs(&self) -> impl Iterator<Item = Run> + '_ {
        self.stretches().iter().map(|stretch| stretch.run)
    }

    /// Returns the length of the longest chunk in elements.
    pub fn longest(&self) -> u64 {
        self.repeated_len().or_else(|| self.runs().map(|run| run.len).max()).unwrap_or(0)
    }

    fn stretches(&self) -> &[Stretch] {
        match &self.0 {
            Kind::Repeated(_) => &[],
            Kind::Listed(stretches) => stretches,
        }
    }

    /// Returns the number of elements that the listed chunks hold; `u64::MAX` if one length is repeated.
    fn covered(&self) -> u64 {
        match &self.0 {
            Kind::Repeated(_) => u64::MAX,
            Kind::Listed(stretches) => stretches.last().map_or(0, Stretch::end),
        }
    }

    pub(super) fn extent(&self, chunk: u64) -> Option<(u64, u64)> {
        match &self.0 {
            Kind::Repeated(len) => Some((chunk.checked_mul(*len)?, *len)),
            Kind::Listed(all) => {
                let stretch = all[..all.partition_point(|stretch| stretch.chunk <= chunk)].last()?;
                let nth = chunk - stretch.chunk;
                (nth < stretch.run.count).then(|| (stretch.start + nth * stretch.run.len, stretch.run.len))
            }
        }
    }

    pub(super) fn locate(&self, position: u64) -> Option<AxisChunk> {
        let (chunk, start, len) = match &self.0 {
            Kind::Repeated(len) => (0, 0, *len),
            Kind::Listed(_) => {
                let stretch = self.stretch_at(position)?;
                (stretch.chunk, stretch.start, stretch.run.len)
            }
        };
        let nth = (position - start) / len;
        Some(AxisChunk { index: chunk + nth, start: start + nth * len, len })
    }

    fn stretch_at(&self, position: u64) -> Option<&Stretch> {
        let all = self.stretches();
        let found = all[..all.partition_point(|stretch| stretch.start <= position)].last()?;
        (position < found.end()).then_some(found)
    }

    /// Returns the overlaps of a range, which lies within the chunks, with the chunks.
    pub(super) fn intersect(&self, range: AxisRange) -> AxisOverlaps {
        let mut overlaps = AxisOverlaps::default();
        if let Kind::Repeated(len) = self.0 {
            overlaps.push(0, 0, len, range, 0);
            return overlaps;
        }
        // One step per run that holds a position, so that neither many runs nor many positions alone cost anything.
        let mut taken = 0;
        while taken < range.len {
            let rest = AxisRange { start: range.start + taken * range.step, len: range.len - taken, ..range };
            let Some(stretch) = self.stretch_at(rest.start) else { break };
            let part = rest.before(stretch.end());
            overlaps.push(stretch.chunk, stretch.start, stretch.run.len, part, taken);
            taken += part.len;
        }
        overlaps
    }

    fn resized(&self, len: u64) -> Result<Self> {
        let Some(missing) = len.checked_sub(self.covered()).filter(|&missing| missing > 0) else {
            return Ok(self.clone());
        };
        let last = self.runs().last().map_or(missing, |run| run.len);
        self.extended(Run { len: last, count: missing.div_ceil(last) })
    }

    fn extended(&self, by: Run) -> Result<Self> {
        let mut runs: Vec<Run> = self.runs().collect();
        match runs.last_mut().filter(|last| last.len == by.len && last.count > 1) {
            Some(last) => last.count += by.count,
            None => runs.push(by),
        }
        Self::listed(runs)
    }
}

/// Grid with separate chunk lengths along each axis: the `rectilinear` chunk grid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RectilinearGrid {
    shape: Shape,
    axes: SmallVec<[AxisChunks; 3]>,
}

impl RectilinearGrid {
    /// Creates the grid of an array of `shape` with the given chunks along each axis.
    ///
    /// # Errors
    /// [`Error::Rank`] or [`Error::Uncovered`].
    pub fn new(shape: &[u64], axes: impl IntoIterator<Item = AxisChunks>) -> Result<Self> {
        let axes: SmallVec<[AxisChunks; 3]> = axes.into_iter().collect();
        if axes.len() != shape.len() {
            return Err(Error::Rank { what: "chunk_shapes", found: axes.len(), expected: shape.len() });
        }
        for (axis, (chunks, &len)) in axes.iter().zip(shape).enumerate() {
            let found = chunks.covered();
            if found < len {
                return Err(Error::Uncovered { axis, found, len });
            }
        }
        Ok(Self { shape: shape.into(), axes })
    }

    /// Returns the shape of the array.
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// Returns the chunks along each axis.
    pub fn axes(&self) -> &[AxisChunks] {
        &self.axes
    }

    pub(super) fn resized(&self, shape: &[u64]) -> Result<Self> {
        if shape.len() != self.axes.len() {
            return Err(Error::Rank { what: "shape", found: shape.len(), expected: self.axes.len() });
        }
        let axes: Vec<_> = self.axes.iter().zip(shape).map(|(axis, &len)| axis.resized(len)).collect::<Result<_>>()?;
        Self::new(shape, axes)
    }
}
