//! The elements of an array that are read: all, or those of a region.

use std::collections::BTreeMap;
use zarr_array::{Array, Options};
use zarr_grid::{AxisRange, ChunkIndex, Region, Shape};
use zarr_hierarchy::{Error, ErrorKind, Result};
use zarr_meta::{NodePath, StoredNode};

/// An array, or a region of it as if it were an array of its own.
#[derive(Clone, Debug)]
pub(crate) struct Selected {
    array: Array,
    /// `None` for all elements.
    region: Option<Region>,
}

impl Selected {
    /// The elements of an array that regions choose: all, unless it has one.
    pub(crate) fn new(array: Array, regions: &BTreeMap<NodePath, Region>) -> Result<Self> {
        let region = regions.get(array.path()).filter(|region| !region.is_whole(array.shape())).cloned();
        if let Some(region) = &region {
            region.check(array.shape()).map_err(|error| crate::memory::at(&array, error.into()))?;
        }
        Ok(Self { array, region })
    }

    /// The array with all of its elements.
    pub(crate) fn array(&self) -> &Array {
        &self.array
    }

    pub(crate) fn with(&self, options: Options) -> Result<Self> {
        Ok(Self { array: self.array.with(options)?, region: self.region.clone() })
    }

    /// Elements along each axis.
    pub(crate) fn shape(&self) -> Shape {
        self.region.as_ref().map_or_else(|| self.array.shape().into(), Region::shape)
    }

    /// Number of elements that are decoded at once along each axis; of a region, as if it began with a chunk.
    pub(crate) fn part_shape(&self) -> Shape {
        let parts = self.array.part_shape();
        match &self.region {
            None => parts,
            Some(region) => {
                parts.iter().zip(region.axes()).map(|(&len, axis)| len.div_ceil(axis.step).max(1)).collect()
            }
        }
    }

    /// The region of the array that a region of these elements is.
    pub(crate) fn within(&self, part: &Region) -> Result<Region> {
        let Some(region) = &self.region else { return Ok(part.clone()) };
        let axis = |(all, part): (&AxisRange, &AxisRange)| AxisRange {
            start: all.start.saturating_add(part.start.saturating_mul(all.step)),
            len: part.len,
            step: part.step.saturating_mul(all.step),
        };
        Ok(Region::new(region.axes().iter().zip(part.axes()).map(axis))?)
    }

    /// The index in the array of an element.
    pub(crate) fn index(&self, index: &[u64]) -> Vec<u64> {
        match &self.region {
            None => index.to_vec(),
            Some(region) => region.axes().iter().zip(index).map(|(axis, at)| axis.start + at * axis.step).collect(),
        }
    }

    /// Finds the part of a chunk of the array that these elements have.
    pub(crate) fn of_chunk(&self, chunk: &ChunkIndex) -> Option<Region> {
        let whole = self.array.chunk_grid().chunk_region(chunk);
        let Some(region) = &self.region else { return Some(whole) };
        let axis = |(all, chunk): (&AxisRange, &AxisRange)| {
            let first = |position: u64| position.saturating_sub(all.start).div_ceil(all.step).min(all.len);
            let (from, to) = (first(chunk.start), first(chunk.start.saturating_add(chunk.len)));
            (from < to).then(|| AxisRange::new(from, to - from))
        };
        let axes: Option<Vec<AxisRange>> = region.axes().iter().zip(whole.axes()).map(axis).collect();
        Region::new(axes?).ok()
    }

    /// Bytes of all elements, those of variable length as 16 each.
    pub(crate) fn size(&self) -> u128 {
        zarr_grid::total_size(&self.shape(), self.array.data_type().item_size() as u64)
    }
}

/// Checks that regions are those of arrays that there are.
pub(crate) fn check<'n>(
    regions: &BTreeMap<NodePath, Region>,
    nodes: impl Iterator<Item = &'n StoredNode> + Clone,
) -> Result<()> {
    for path in regions.keys() {
        if !nodes.clone().any(|node| node.path == *path && node.node.as_array().is_some()) {
            let error = Error::new(ErrorKind::NotFound, "found no array to take a region of");
            return Err(error.at_path(path));
        }
    }
    Ok(())
}
