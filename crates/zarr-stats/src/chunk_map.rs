//! Map of the stored chunks of an array.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use zarr_array::{Array, Error, Result};
use zarr_grid::total_size;
use zarr_scan::{lock, visit_stored};

/// Maximum number of sizes of chunks that are collected for the median.
const MOST_SIZES: usize = 1 << 20;

/// Map of the stored chunks of an array (shards, if it is sharded): the chunk grid projected onto two axes, in cells that each stand for
/// one or several chunks. It costs one listing.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ChunkMap {
    /// Axes of the array that are the axes of the map, down and across. The first is `None` for an array with one dimension, and both are
    /// for an array without dimensions.
    pub axes: [Option<usize>; 2],
    /// Number of chunks along each axis of the array.
    pub grid: Vec<u64>,
    /// Numbers of cells of the map, down and across.
    pub cells: [usize; 2],
    /// Number of stored chunks in each cell, in C order.
    pub stored: Vec<u64>,
    /// Number of chunks of the grid in each cell, in C order.
    pub possible: Vec<u128>,
    /// Number of all stored chunks.
    pub chunks: u64,
    /// Number of bytes of all stored chunks.
    pub bytes: u64,
    /// Size of the smallest stored chunk in bytes; `None` if no chunk is stored.
    pub min: Option<u64>,
    /// Median size of stored chunks in bytes, of the first 1,048,576 listed ones if there are more; `None` if no chunk is stored.
    pub median: Option<u64>,
    /// Size of the largest stored chunk in bytes; `None` if no chunk is stored.
    pub max: Option<u64>,
}

/// Numbers and sizes of the chunks that the listing has shown so far.
#[derive(Debug, Default)]
struct Tally {
    cells: HashMap<usize, u64>,
    sizes: Vec<u64>,
    chunks: u64,
    bytes: u64,
    min: Option<u64>,
    max: Option<u64>,
}

impl ChunkMap {
    /// Makes the map of an array with at most `most` cells, down and across. `axes` are the axes of the array for the map, down and across;
    /// if `None`, the two axes with the most chunks.
    ///
    /// # Errors
    /// [`zarr_array::ErrorKind::Argument`] for axes that the array has not; [`zarr_array::ErrorKind::Store`] if the store fails or
    /// cannot list.
    pub fn of(array: &Array, most: [usize; 2], axes: Option<[usize; 2]>) -> Result<Self> {
        let grid = array.chunk_grid().grid_shape().to_vec();
        let axes = match axes {
            Some([down, across]) if down == across || down.max(across) >= grid.len() => {
                let message =
                    format!("axes {down} and {across} of an array of {} dimensions, expected two of them", grid.len());
                return Err(Error::argument(message));
            }
            Some(axes) => axes.map(Some),
            None => longest(&grid),
        };
        let len = |axis: Option<usize>| axis.and_then(|axis| grid.get(axis)).copied().unwrap_or(1);
        let lens = axes.map(len);
        let cell = |(len, most): (u64, usize)| usize::try_from(len).unwrap_or(usize::MAX).min(most.max(1)).max(1);
        let cells = [cell((lens[0], most[0])), cell((lens[1], most[1]))];
        let tally = Arc::new(Mutex::new(Tally::default()));
        let visited = Arc::clone(&tally);
        visit_stored(array, move |_, chunk, size| {
            let at = |number: usize| {
                let index = axes[number].and_then(|axis| chunk.get(axis)).copied().unwrap_or(0);
                cell_of(index, lens[number], cells[number])
            };
            let mut tally = lock(&visited);
            let in_cell = tally.cells.entry(at(0) * cells[1] + at(1)).or_default();
            *in_cell = in_cell.saturating_add(1);
            tally.chunks = tally.chunks.saturating_add(1);
            tally.bytes = tally.bytes.saturating_add(size);
            tally.min = Some(tally.min.map_or(size, |min| min.min(size)));
            tally.max = tally.max.max(Some(size));
            if tally.sizes.len() < MOST_SIZES {
                tally.sizes.push(size);
            }
        })?;
        let mut tally = std::mem::take(&mut *lock(&tally));
        let others = (0..grid.len()).filter(|axis| !axes.contains(&Some(*axis)));
        let depth = total_size(&others.filter_map(|axis| grid.get(axis).copied()).collect::<Vec<_>>(), 1);
        let mut possible = Vec::with_capacity(cells[0] * cells[1]);
        for down in 0..cells[0] {
            for across in 0..cells[1] {
                let rows = chunks_of(down, lens[0], cells[0]);
                possible
                    .push(depth.saturating_mul(u128::from(rows) * u128::from(chunks_of(across, lens[1], cells[1]))));
            }
        }
        tally.sizes.sort_unstable();
        Ok(Self {
            axes,
            grid,
            cells,
            stored: (0..cells[0] * cells[1]).map(|cell| tally.cells.get(&cell).copied().unwrap_or(0)).collect(),
            possible,
            chunks: tally.chunks,
            bytes: tally.bytes,
            min: tally.min,
            median: tally.sizes.get(tally.sizes.len() / 2).copied(),
            max: tally.max,
        })
    }

    /// Returns the shares of stored chunks in the cells, row by row, from 0 to 1. The share of a cell without chunks is 0.
    pub fn shares(&self) -> impl Iterator<Item = Vec<f64>> + '_ {
        let share =
            |(&stored, &possible): (&u64, &u128)| if possible == 0 { 0.0 } else { stored as f64 / possible as f64 };
        let rows = self.stored.chunks(self.cells[1]).zip(self.possible.chunks(self.cells[1]));
        rows.map(move |(stored, possible)| stored.iter().zip(possible).map(share).collect())
    }

    /// Number of all chunks of the grid.
    pub fn all(&self) -> u128 {
        total_size(&self.grid, 1)
    }
}

/// Returns the two axes with the most chunks, in their order.
fn longest(grid: &[u64]) -> [Option<usize>; 2] {
    let mut axes: Vec<usize> = (0..grid.len()).collect();
    // Of equally long ones the last.
    axes.sort_by_key(|&axis| std::cmp::Reverse((grid.get(axis).copied(), axis)));
    axes.truncate(2);
    axes.sort_unstable();
    match axes.as_slice() {
        [down, across] => [Some(*down), Some(*across)],
        [across] => [None, Some(*across)],
        _ => [None, None],
    }
}

/// Cell of the chunk `index` along an axis of `len` chunks that is divided into `cells` cells. The numbers of chunks of the cells differ by
/// at most one.
fn cell_of(index: u64, len: u64, cells: usize) -> usize {
    let at = u128::from(index) * cells as u128 / u128::from(len.max(1));
    usize::try_from(at).unwrap_or(usize::MAX).min(cells.saturating_sub(1))
}

/// Number of chunks of the cell `cell` along an axis of `len` chunks that is divided into `cells` cells.
fn chunks_of(cell: usize, len: u64, cells: usize) -> u64 {
    // The first index of a cell: the least one with `index * cells / len >= cell`.
    let first = |cell: usize| (cell as u128 * u128::from(len)).div_ceil(cells as u128);
    u64::try_from(first(cell + 1).saturating_sub(first(cell))).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn cells_divide_an_axis(len in 1_u64..200, most in 1_usize..90) {
            let cells = usize::try_from(len).unwrap().min(most);
            let mut counts = vec![0; cells];
            (0..len).for_each(|index| counts[cell_of(index, len, cells)] += 1);
            let expected: Vec<u64> = (0..cells).map(|cell| chunks_of(cell, len, cells)).collect();
            prop_assert_eq!(&counts, &expected);
            prop_assert!(counts.iter().max().unwrap() - counts.iter().min().unwrap() <= 1);
        }
    }

    #[test]
    fn the_longest_axes_are_shown() {
        assert_eq!(longest(&[10, 1, 40]), [Some(0), Some(2)]);
        assert_eq!(longest(&[5, 5, 5]), [Some(1), Some(2)]);
        assert_eq!(longest(&[7]), [None, Some(0)]);
        assert_eq!(longest(&[]), [None, None]);
        // An axis of more chunks than can be counted one by one.
        assert_eq!(cell_of(u64::MAX - 1, u64::MAX, 80), 79);
    }
}
