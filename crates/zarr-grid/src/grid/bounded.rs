use super::{AxisChunks, RectilinearGrid, Run};
use crate::error::{Error, Result};
use crate::shape::Shape;

/// Grid of chunks of one shape that are cut off at the end of the array: `zarrs.regular_bounded`, an experimental grid of the crate zarrs.
///
/// Chunks at the edge hold no elements beyond the array, so they have another shape than in a [`RegularGrid`](super::RegularGrid).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoundedGrid {
    chunk: Shape,
    /// Chunks as they are stored.
    cut: RectilinearGrid,
}

impl BoundedGrid {
    /// Creates the grid of an array of `shape` with chunks of shape `chunk`, smaller at the edge.
    ///
    /// # Errors
    /// [`Error::Rank`] or [`Error::ZeroChunk`].
    pub fn new(shape: &[u64], chunk: &[u64]) -> Result<Self> {
        if shape.len() != chunk.len() {
            return Err(Error::Rank { what: "chunk shape", found: chunk.len(), expected: shape.len() });
        }
        let axes = shape.iter().zip(chunk).enumerate().map(|(axis, (&len, &chunk))| {
            let rest = len.checked_rem(chunk).ok_or(Error::ZeroChunk { axis, len })?;
            let full = Run { len: chunk, count: len / chunk };
            match AxisChunks::repeated(chunk).filter(|_| rest == 0) {
                Some(whole) => Ok(whole),
                None => AxisChunks::listed([full, Run { len: rest, count: 1 }].into_iter().filter(|run| run.count > 0)),
            }
        });
        let axes: Vec<AxisChunks> = axes.collect::<Result<_>>()?;
        Ok(Self { chunk: chunk.into(), cut: RectilinearGrid::new(shape, axes)? })
    }

    /// Returns the shape of the array.
    pub fn shape(&self) -> &[u64] {
        self.cut.shape()
    }

    /// Returns the shape of chunks that are not cut off.
    pub fn chunk_shape(&self) -> &[u64] {
        &self.chunk
    }

    /// Returns the chunk lengths along each axis.
    pub fn axes(&self) -> &[AxisChunks] {
        self.cut.axes()
    }

    /// Returns whether all chunks have the same shape, since the array ends with a whole chunk along each axis.
    pub(super) fn is_even(&self) -> bool {
        self.axes().iter().all(|axis| axis.repeated_len().is_some())
    }

    /// Returns the same grid for an array of another shape; fails if the shape of stored chunks would change.
    pub(super) fn resized(&self, shape: &[u64]) -> Result<Self> {
        let new = Self::new(shape, &self.chunk)?;
        let is_cut = |grid: &Self, axis: usize| grid.axes().get(axis).is_some_and(|it| it.repeated_len().is_none());
        let lens = self.shape().iter().zip(shape).enumerate();
        let mut changed = lens.filter(|(_, (old, new))| old != new).map(|(axis, _)| axis);
        match changed.find(|&axis| is_cut(self, axis) || is_cut(&new, axis)) {
            Some(axis) => Err(Error::CutChunk { axis, len: self.chunk[axis] }),
            None => Ok(new),
        }
    }
}
