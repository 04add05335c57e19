//! Shards, whose inner chunks all have the same shape.

use crate::index::Index;
use std::sync::Arc;
use zarr_codec::{Error, Pipeline};
use zarr_grid::{ChunkGrid, Shape};

/// Codec for the elements of an array.
#[derive(Debug)]
pub(crate) struct Shards {
    /// Shape of inner chunks, in elements.
    pub(crate) chunk_shape: Shape,
    /// Codecs of inner chunks.
    pub(crate) codecs: Arc<Pipeline>,
    pub(crate) index: Index,
}

impl Shards {
    /// Returns the grid of inner chunks in a shard of `shape`.
    pub(crate) fn grid(&self, shape: &[u64]) -> Result<ChunkGrid, Error> {
        let at = |what: String| Error::Metadata { pointer: "/configuration/chunk_shape".to_owned(), what };
        if shape.len() != self.chunk_shape.len() {
            return Err(at(format!("{} dimensions, expected {}", self.chunk_shape.len(), shape.len())));
        }
        if !shape.iter().zip(&self.chunk_shape).all(|(shard, chunk)| shard.is_multiple_of(*chunk)) {
            return Err(at(format!(
                "inner chunks {:?} do not divide the shard {shape:?} without remainder",
                self.chunk_shape.as_slice()
            )));
        }
        ChunkGrid::regular(shape, &self.chunk_shape).map_err(|error| at(error.to_string()))
    }
}
