//! Codec `sharding_indexed` for the elements of an array.

use crate::read;
use crate::shards::Shards;
use crate::split::ShardSplit;
use std::sync::Arc;
use zarr_codec::{Access, ArrayToBytes, Decode, EncodeSplit, Error, Patch, Protection, Size, View, ViewMut};
use zarr_grid::{Region, Shape};

impl ArrayToBytes for Shards {
    fn protection(&self, _: Option<&[u8]>) -> Protection {
        // An index without a checksum is noticed to be broken if it contradicts itself or the shard.
        let has_checksum = self.index.without_checksum.is_none();
        let index = if has_checksum { self.index.codecs.protection(None) } else { Protection::Form };
        index.max(Protection::Form).min(self.codecs.protection(None))
    }

    fn check(&self, shape: &[u64]) -> Result<(), Error> {
        let grid = self.grid(shape)?.grid_shape();
        self.index.check(&grid)?;
        self.codecs.check(&self.chunk_shape).map_err(|error| error.under("/configuration/codecs"))
    }

    fn encoded_size(&self, shape: &[u64]) -> Size {
        let Ok(grid) = self.grid(shape).map(|grid| grid.grid_shape()) else { return Size::Unknown };
        let (Some(count), Ok(index)) = (zarr_grid::element_count(&grid), self.index.size(&grid)) else {
            return Size::Unknown;
        };
        // Inner chunks may be absent, so an exact inner size is but a bound here.
        self.codecs.encoded_size(&self.chunk_shape).at_most(|chunk| chunk.checked_mul(count)?.checked_add(index))
    }

    fn part_shape(&self, _: &[u64]) -> Option<Shape> {
        Some(self.codecs.part_shape(&self.chunk_shape).unwrap_or_else(|| self.chunk_shape.clone()))
    }

    fn encode(&self, chunk: &View<'_>, out: &mut Vec<u8>) -> Result<(), Error> {
        let shape: Shape = chunk.shape().iter().map(|&len| len as u64).collect();
        self.write_part(None, &Patch::region(&shape, Region::whole(&shape), chunk.clone()), out)
    }

    fn decode(&self, encoded: &[u8], shape: &[u64], region: &Region, out: &mut ViewMut<'_>) -> Result<(), Error> {
        self.read_from_memory(encoded, shape, region, out)
    }

    fn partial(self: Arc<Self>, shape: &[u64], region: &Region, _: &Access) -> Option<Box<dyn Decode>> {
        let grid = self.grid(shape).ok()?;
        Some(Box::new(read::Shard::new(self, grid, region.clone())))
    }

    fn patch(&self, old: Option<&[u8]>, patch: &Patch<'_>, out: &mut Vec<u8>) -> Option<Result<(), Error>> {
        Some(self.write_part(old, patch, out))
    }

    fn split_encode(
        self: Arc<Self>,
        old: Option<&[u8]>,
        shape: &[u64],
        region: &Region,
    ) -> Option<Result<Box<dyn EncodeSplit>, Error>> {
        let split = ShardSplit::new(self, old, shape, region.clone());
        Some(split.map(|split| Box::new(split) as Box<dyn EncodeSplit>))
    }
}
