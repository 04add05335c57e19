//! Plan of a read: the chunks that a read of a variable fetches.

use crate::gather::{self, Dimension};
use crate::indexer::Indexer;
use crate::{Error, Result, Variable};
use std::collections::BTreeSet;
use zarr_grid::{AxisOverlaps, AxisRange, ChunkGrid, ChunkIndex, Region};

/// Chunks that a read of a variable touches, for all selected elements, whether the chunks are stored or not.
///
/// ```
/// # use zarr_dataset::{Dataset, Result};
/// # fn show(dataset: &Dataset) -> Result<()> {
/// let plan = dataset.sel("time", "2020-01")?.variable("t2m")?.plan()?;
/// println!("{} requests, {:?} bytes of elements for {:?}", plan.requests(), plan.decoded_bytes, plan.selected_bytes);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Plan {
    /// Number of touched chunks; of shards if the array is sharded.
    pub chunks: u128,
    /// Number of touched parts that are decoded on their own: inner chunks if the array is sharded, chunks otherwise.
    pub parts: u128,
    /// Number of bytes of the selected elements, as stored but without compression; `None` for elements of variable length.
    pub selected_bytes: Option<u128>,
    /// Number of bytes of all elements of the touched parts; `None` for elements of variable length.
    pub decoded_bytes: Option<u128>,
    met: Met,
    is_sharded: bool,
}

impl Plan {
    /// Returns the maximum number of requests to the store: one per chunk; for shards one per index and one per inner chunk, of which
    /// neighbouring ones are fetched together. The request that checks whether the array still exists is not counted.
    pub fn requests(&self) -> u128 {
        if self.is_sharded { self.chunks.saturating_add(self.parts) } else { self.chunks }
    }

    /// Iterates over the indices, in the chunk grid, of the touched chunks, each once.
    pub fn indices(&self) -> impl Iterator<Item = ChunkIndex> {
        (0..self.chunks).map(|number| self.met.get(number))
    }
}

impl Variable {
    /// Returns the chunks that a [`read`](Self::read) of the selected values fetches. No chunk is read.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidMetadata`](crate::ErrorKind::InvalidMetadata) if inner chunks do not fit the array.
    pub fn plan(&self) -> Result<Plan> {
        let (array, indexers) = self.selected();
        let dimensions = gather::dimensions(indexers);
        let met = Met::new(array.chunk_grid(), indexers, &dimensions)?;
        let part_grid = ChunkGrid::regular(array.shape(), &array.part_shape());
        let parts = match array.is_sharded() {
            true => Met::new(&part_grid.map_err(Error::from)?, indexers, &dimensions)?,
            false => met.clone(),
        };
        let item = (!array.data_type().is_variable()).then(|| array.data_type().item_size() as u64);
        let shape: Vec<u64> = dimensions.iter().map(Dimension::len).collect();
        Ok(Plan {
            chunks: met.count(),
            parts: parts.count(),
            selected_bytes: item.map(|item| zarr_grid::total_size(&shape, item)),
            decoded_bytes: item.map(|item| parts.elements().saturating_mul(item.into())),
            is_sharded: array.is_sharded(),
            met,
        })
    }
}

/// Touched chunks of a grid: all combinations of the chunks that each dimension of the result touches along its axes.
#[derive(Clone, Debug)]
struct Met {
    /// Index of the touched chunks, in which the axes of dimensions are to be replaced.
    fixed: ChunkIndex,
    /// Product of the lengths of the chunks along axes of which one index is selected.
    fixed_len: u128,
    along: Vec<Along>,
}

#[derive(Clone, Debug)]
enum Along {
    /// Touched chunks along one axis.
    Range(usize, AxisOverlaps),
    /// Touched chunks along several axes, and the sum of their sizes along these axes.
    Points { axes: Vec<usize>, chunks: Vec<Vec<u64>>, len: u128 },
}

impl Met {
    fn new(grid: &ChunkGrid, indexers: &[Indexer], dimensions: &[Dimension<'_>]) -> Result<Self> {
        let is_empty = dimensions.iter().any(|dimension| dimension.len() == 0);
        if is_empty || grid.shape().contains(&0) {
            let none = Along::Points { axes: Vec::new(), chunks: Vec::new(), len: 0 };
            return Ok(Self { fixed: ChunkIndex::new(), fixed_len: 0, along: vec![none] });
        }
        let range = |indexer: &Indexer| match *indexer {
            Indexer::Strided { start, step, len } => {
                let last = start.wrapping_add_signed(step.wrapping_mul(len as i64 - 1));
                AxisRange { start: start.min(last), len, step: step.unsigned_abs().max(1) }
            }
            _ => AxisRange::new(indexer.get(0), 1),
        };
        let overlaps = grid.intersect(&Region::new(indexers.iter().map(range))?);
        let (mut fixed, mut fixed_len) = (ChunkIndex::new(), 1_u128);
        for (indexer, axis) in indexers.iter().zip(overlaps.axes()) {
            let first = axis.get(0);
            fixed.push(first.chunk);
            if indexer.len().is_none() {
                fixed_len = fixed_len.saturating_mul(first.chunk_len.into());
            }
        }
        let mut along = Vec::with_capacity(dimensions.len());
        for dimension in dimensions {
            along.push(match dimension.axes() {
                [(axis, Indexer::Strided { .. })] => {
                    Along::Range(*axis, overlaps.axes().get(*axis).cloned().unwrap_or_default())
                }
                axes => points(grid, axes, dimension.len())?,
            });
        }
        Ok(Self { fixed, fixed_len, along })
    }

    /// Number of touched chunks.
    fn count(&self) -> u128 {
        self.along.iter().fold(1, |count, along| count.saturating_mul(along.count().into()))
    }

    /// Number of elements of the touched chunks, including elements beyond the edge of the array.
    fn elements(&self) -> u128 {
        self.along.iter().fold(self.fixed_len, |elements, along| elements.saturating_mul(along.elements()))
    }

    fn get(&self, mut number: u128) -> ChunkIndex {
        let mut index = self.fixed.clone();
        let mut set = |axis: usize, chunk: u64| {
            if let Some(place) = index.get_mut(axis) {
                *place = chunk;
            }
        };
        for along in self.along.iter().rev() {
            let count = u128::from(along.count().max(1));
            // Less than the count, which has 64 bits.
            let at = (number % count) as u64;
            number /= count;
            match along {
                Along::Range(axis, overlaps) => set(*axis, overlaps.get(at).chunk),
                Along::Points { axes, chunks, .. } => {
                    let chunk = usize::try_from(at).ok().and_then(|at| chunks.get(at));
                    axes.iter().zip(chunk.into_iter().flatten()).for_each(|(axis, chunk)| set(*axis, *chunk));
                }
            }
        }
        index
    }
}

impl Along {
    fn count(&self) -> u64 {
        match self {
            Self::Range(_, overlaps) => overlaps.len(),
            Self::Points { chunks, .. } => chunks.len() as u64,
        }
    }

    fn elements(&self) -> u128 {
        let overlaps = match self {
            Self::Range(_, overlaps) => overlaps,
            Self::Points { len, .. } => return *len,
        };
        let (mut at, mut sum) = (0, 0_u128);
        while at < overlaps.len() {
            // Chunks of equal length follow each other in runs.
            let (len, run) = (overlaps.get(at).chunk_len, overlaps.alike_from(at).max(1));
            sum = sum.saturating_add(u128::from(len).saturating_mul(run.into()));
            at += run;
        }
        sum
    }
}

/// Returns the chunks that points touch along their axes.
fn points(grid: &ChunkGrid, axes: &[(usize, &Indexer)], len: u64) -> Result<Along> {
    let mut met = BTreeSet::new();
    let mut position = vec![0; grid.rank()];
    for at in 0..len {
        for (axis, indexer) in axes {
            if let Some(place) = position.get_mut(*axis) {
                *place = indexer.get(at);
            }
        }
        let chunk = grid.chunk_at(&position)?;
        met.insert(axes.iter().filter_map(|(axis, _)| chunk.get(*axis).copied()).collect::<Vec<u64>>());
    }
    let mut sum = 0_u128;
    let mut index = vec![0; grid.rank()];
    for chunk in &met {
        for ((axis, _), chunk) in axes.iter().zip(chunk) {
            if let Some(place) = index.get_mut(*axis) {
                *place = *chunk;
            }
        }
        let shape = grid.chunk_shape(&index);
        let lens = axes.iter().filter_map(|(axis, _)| shape.get(*axis));
        sum = sum.saturating_add(lens.fold(1, |size: u128, &len| size.saturating_mul(len.into())));
    }
    Ok(Along::Points {
        axes: axes.iter().map(|(axis, _)| *axis).collect(),
        chunks: met.into_iter().collect(),
        len: sum,
    })
}
