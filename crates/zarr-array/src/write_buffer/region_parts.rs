//! Division of a region into the chunks that it covers, and the parts around them.

use std::cmp::Ordering;
use std::ops::Range;
use zarr_grid::{AxisRange, ChunkGrid, Region};

/// Returns the part of a region in which all chunks are covered; `None` if no chunk is covered.
pub(super) fn covered(grid: &ChunkGrid, region: &Region) -> Option<Region> {
    if !region.is_contiguous_box() {
        return None;
    }
    let overlaps = grid.intersect(region);
    let axes = overlaps.axes().iter().zip(region.axes()).zip(grid.shape());
    let ranges = axes.map(|((overlaps, range), &len)| -> Option<Range<u64>> {
        let (first, last) = (overlaps.get(0), overlaps.get(overlaps.len().checked_sub(1)?));
        let start =
            if first.inner.start == 0 { range.start } else { range.start + first.chunk_len - first.inner.start };
        let end = range.start + range.len;
        let begin = end - last.inner.start - last.inner.len;
        let is_cut = begin + last.chunk_len > end && end < len;
        let end = if is_cut { begin } else { end };
        (start < end).then_some(start..end)
    });
    Some(Region::from_ranges(&ranges.collect::<Option<Vec<_>>>()?))
}

/// Returns the elements of `region` that are not in `inner`, as boxes: for each axis one before and one behind `inner`.
pub(super) fn around(region: &Region, inner: &Region) -> Vec<Region> {
    let end = |axis: &AxisRange| axis.start + axis.len;
    let axes = || region.axes().iter().zip(inner.axes()).enumerate();
    let one = |(at, side): (usize, Range<u64>)| {
        let ranges = axes().map(|(axis, (outer, inner))| match axis.cmp(&at) {
            Ordering::Less => inner.start..end(inner),
            Ordering::Equal => side.clone(),
            Ordering::Greater => outer.start..end(outer),
        });
        Region::from_ranges(&ranges.collect::<Vec<_>>())
    };
    let sides = axes()
        .flat_map(|(axis, (outer, inner))| [outer.start..inner.start, end(inner)..end(outer)].map(|side| (axis, side)));
    sides.filter(|(_, side)| !side.is_empty()).map(one).collect()
}

/// Converts `part`, a part of `region`, to positions relative to the beginning of `region`.
pub(super) fn relative(region: &Region, part: &Region) -> Region {
    let axes = region.axes().iter().zip(part.axes());
    let ranges: Vec<_> = axes
        .map(|(region, part)| {
            let start = part.start - region.start;
            start..start + part.len
        })
        .collect();
    Region::from_ranges(&ranges)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use zarr_grid::{AxisChunks, Run};

    /// Axis: the lengths of its chunks, the number of elements of the last chunk that lie beyond the axis, and a range of the axis.
    fn axis() -> impl Strategy<Value = (Vec<u64>, u64, Range<u64>)> {
        proptest::collection::vec(1_u64..5, 1..5).prop_flat_map(|lens| {
            let (sum, last) = (lens.iter().sum::<u64>(), lens.last().copied().unwrap_or(1));
            (Just(lens), 0..last).prop_flat_map(move |(lens, beyond)| {
                let len = sum - beyond;
                (0..len).prop_flat_map(move |start| {
                    (Just(lens.clone()), Just(beyond), (start + 1..=len).prop_map(move |end| start..end))
                })
            })
        })
    }

    proptest! {
        #[test]
        fn each_element_is_in_one_part(axes in [axis(), axis()]) {
            let shape = axes.clone().map(|(lens, beyond, _)| lens.iter().sum::<u64>() - beyond);
            let chunks = axes.iter().map(|(lens, ..)| AxisChunks::listed(lens.iter().map(|&len| Run { len, count: 1 })).expect("chunks"));
            let grid = ChunkGrid::rectilinear(&shape, chunks).expect("a grid");
            let region = Region::from_ranges(&axes.map(|(.., range)| range));
            let whole: Vec<_> = grid.intersect(&region).iter().filter(|overlap| grid.covers_chunk(overlap)).collect();
            let covered = covered(&grid, &region);
            prop_assert_eq!(covered.is_some(), !whole.is_empty());
            let Some(covered) = covered else { return Ok(()) };
            let found: Vec<_> = grid.intersect(&covered).iter().map(|overlap| overlap.index).collect();
            prop_assert_eq!(found, whole.into_iter().map(|overlap| overlap.index).collect::<Vec<_>>());
            prop_assert!(grid.intersect(&covered).iter().all(|overlap| grid.covers_chunk(&overlap)));
            let mut counts = std::collections::HashMap::new();
            for part in around(&region, &covered).iter().chain([&covered]) {
                let [rows, columns] = part.axes() else { unreachable!("two axes") };
                for row in rows.start..rows.start + rows.len {
                    for column in columns.start..columns.start + columns.len {
                        *counts.entry((row, column)).or_insert(0) += 1;
                    }
                }
            }
            prop_assert_eq!(counts.len() as u64, region.len_checked().expect("few"));
            prop_assert!(counts.values().all(|&count| count == 1));
        }
    }
}
