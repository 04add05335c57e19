use super::AxisChunk;
use crate::error::{Error, Result};
use crate::shape::Shape;

/// Grid of chunks of one shape: the `regular` chunk grid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegularGrid {
    shape: Shape,
    chunk: Shape,
}

impl RegularGrid {
    /// Creates the grid of an array of `shape` with chunks of shape `chunk`.
    ///
    /// A chunk length 0 is accepted if the array has length 0 along that axis too, as some drafts of version 3 allow.
    ///
    /// # Errors
    /// [`Error::Rank`] or [`Error::ZeroChunk`].
    pub fn new(shape: &[u64], chunk: &[u64]) -> Result<Self> {
        if shape.len() != chunk.len() {
            return Err(Error::Rank { what: "chunk shape", found: chunk.len(), expected: shape.len() });
        }
        match shape.iter().zip(chunk).position(|(&len, &chunk)| chunk == 0 && len > 0) {
            Some(axis) => Err(Error::ZeroChunk { axis, len: shape[axis] }),
            None => Ok(Self { shape: shape.into(), chunk: chunk.into() }),
        }
    }

    /// Returns the shape of the array.
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// Returns the shape of every chunk.
    pub fn chunk_shape(&self) -> &[u64] {
        &self.chunk
    }

    pub(super) fn extent(&self, axis: usize, chunk: u64) -> Option<(u64, u64)> {
        let len = *self.chunk.get(axis)?;
        Some((chunk.checked_mul(len)?, len))
    }

    pub(super) fn locate(&self, axis: usize, position: u64) -> Option<AxisChunk> {
        let len = *self.chunk.get(axis)?;
        let index = position.checked_div(len)?;
        Some(AxisChunk { index, start: index * len, len })
    }
}
