use proptest::prelude::*;
use zarr_grid::{AxisRange, ChunkGrid, ChunkOverlap, Region};

use super::model::{Case, case, case_and_region, number, positions, product};

/// The elements of a chunk: output position, chunk, position within the chunk.
fn elements(overlap: &ChunkOverlap) -> Vec<(Vec<u64>, Vec<u64>, Vec<u64>)> {
    let inner: Vec<Vec<u64>> = overlap.region.axes().iter().map(positions).collect();
    let out: Vec<Vec<u64>> =
        overlap.out_start.iter().zip(&overlap.out_shape).map(|(&start, &len)| (start..start + len).collect()).collect();
    product(&out).into_iter().zip(product(&inner)).map(|(out, inner)| (out, overlap.index.to_vec(), inner)).collect()
}

/// The same for the whole region, found position by position and sorted by output position.
fn model(case: &Case, region: &Region) -> Vec<(Vec<u64>, Vec<u64>, Vec<u64>)> {
    let out: Vec<Vec<u64>> = region.axes().iter().map(|axis| (0..axis.len).collect()).collect();
    let wanted: Vec<Vec<u64>> = region.axes().iter().map(positions).collect();
    let position = |element: Vec<u64>| element.iter().enumerate().map(|(axis, &at)| case.locate(axis, at)).unzip();
    product(&out)
        .into_iter()
        .zip(product(&wanted))
        .map(|(out, element)| {
            let (chunk, inner): (Vec<u64>, Vec<u64>) = position(element);
            (out, chunk, inner)
        })
        .collect()
}

proptest! {
    #[test]
    fn cuts_cover_the_region_once_and_in_order((case, region) in case_and_region()) {
        let overlaps = case.grid.intersect(&region);
        let all: Vec<ChunkOverlap> = overlaps.iter().collect();
        let mut found: Vec<_> = all.iter().flat_map(elements).collect();
        found.sort();
        prop_assert_eq!(found, model(&case, &region));
        prop_assert!(all.windows(2).all(|pair| pair[0].index < pair[1].index));
        prop_assert!(all.iter().all(|overlap| !overlap.region.is_empty() && overlap.out_shape == overlap.region.shape()));
        for overlap in &all {
            let lens: Vec<u64> = overlap.index.iter().zip(&case.lens).map(|(&at, lens)| lens[at as usize]).collect();
            prop_assert_eq!(overlap.shape.as_slice(), lens.as_slice());
            prop_assert_eq!(&case.grid.chunk_shape(&overlap.index), &overlap.shape);
            let part = elements(overlap).len() as u64;
            let covers = case.grid.chunk_region(&overlap.index).len_checked() == Some(part);
            prop_assert_eq!(case.grid.covers_chunk(overlap), covers);
        }
        prop_assert_eq!(overlaps.len(), all.len() as u64);
        prop_assert_eq!(overlaps.shape().iter().product::<u64>(), all.len() as u64);
        prop_assert_eq!(overlaps.is_empty(), all.is_empty());
    }

    #[test]
    fn cuts_that_are_alike_are_counted((case, region) in case_and_region()) {
        for axis in case.grid.intersect(&region).axes() {
            let overlaps: Vec<_> = axis.iter().collect();
            for (i, first) in overlaps.iter().enumerate() {
                let count = axis.alike_from(i as u64) as usize;
                prop_assert!((1..=overlaps.len() - i).contains(&count));
                prop_assert!(overlaps[i..i + count].iter().all(|along| along.inner.len == first.inner.len));
            }
            prop_assert_eq!(axis.alike_from(axis.len()), 0);
        }
    }

    #[test]
    fn whole_chunks_are_counted_as_far_as_they_are_alike((case, region) in case_and_region()) {
        for axis in case.grid.intersect(&region).axes() {
            let overlaps: Vec<_> = axis.iter().collect();
            for (i, first) in overlaps.iter().enumerate() {
                let count = axis.whole_from(i as u64) as usize;
                let alike = overlaps[i..].iter().zip(first.chunk..).take_while(|(along, chunk)| {
                    let whole = along.inner == AxisRange::new(0, along.chunk_len);
                    whole && along.chunk_len == first.chunk_len && along.chunk == *chunk
                });
                let alike = alike.count();
                prop_assert!(count <= alike && (count > 0) == (alike > 0), "{} of {} from {}", count, alike, i);
                // Less only where the grid or the region is not regular: neighbouring runs of a grid may have one length.
                let is_regular = case.grid.regular_chunk_shape().is_some() && case.lens.iter().flatten().all(|len| *len == first.chunk_len);
                prop_assert!(count == alike || !is_regular || first.chunk_len == 1);
            }
            prop_assert_eq!(axis.whole_from(axis.len()), 0);
        }
    }

    #[test]
    fn a_cursor_goes_where_the_iterator_goes((case, region) in case_and_region(), seeks in prop::collection::vec(0u64..40, 5)) {
        let overlaps = case.grid.intersect(&region);
        let all: Vec<ChunkOverlap> = overlaps.iter().collect();
        let mut cursor = overlaps.cursor();
        for (i, overlap) in (0..).zip(&all) {
            prop_assert_eq!(cursor.number(), i);
            prop_assert_eq!(cursor.overlap(), Some(overlap));
            prop_assert_eq!(&overlaps.get(i), overlap);
            cursor.advance();
        }
        prop_assert_eq!(cursor.overlap(), None);
        prop_assert_eq!(cursor.advance(), None);
        for i in seeks {
            prop_assert_eq!(cursor.seek(i), all.get(i as usize));
            prop_assert_eq!(cursor.advance(), all.get(i as usize + 1));
        }
        prop_assert!(region.rank() == 0 || overlaps.get(all.len() as u64).region.is_empty());
        prop_assert_eq!(overlaps.iter().size_hint(), (all.len(), Some(all.len())));
    }

    #[test]
    fn permuted_cuts_equal_cuts_of_the_permuted_region((case, region) in case_and_region(), seed in 0usize..6) {
        let rank = region.rank();
        let mut order: Vec<usize> = (0..rank).collect();
        order.rotate_left(seed % rank.max(1));
        if seed > 2 { order.reverse(); }
        let turn = |index: &[u64]| -> Vec<u64> { order.iter().map(|&axis| index[axis]).collect() };
        let mut turned: Vec<_> = case.grid.intersect(&region).iter().map(|overlap| (turn(&overlap.index), overlap.region.permuted(&order))).collect();
        turned.sort_by(|a, b| a.0.cmp(&b.0));
        let overlaps = case.grid.intersect(&region).permuted(&order);
        let found: Vec<_> = overlaps.iter().map(|overlap| (overlap.index.to_vec(), overlap.region)).collect();
        prop_assert_eq!(found, turned);
    }

    // clause: d2022-59
    #[test]
    fn every_element_has_its_chunk(case in case()) {
        let counts: Vec<u64> = case.lens.iter().zip(case.shape()).map(|(lens, &end)| {
            let mut start = 0;
            lens.iter().take_while(|&&len| { let begins = start < end; start += len; begins }).count() as u64
        }).collect();
        let grid_shape = case.grid.grid_shape();
        prop_assert_eq!(grid_shape.as_slice(), counts.as_slice());
        let all: Vec<Vec<u64>> = case.shape().iter().map(|&len| (0..len).collect()).collect();
        let mut seen = vec![0u64; counts.iter().product::<u64>() as usize];
        for element in product(&all) {
            let chunk = case.grid.chunk_at(&element).unwrap();
            let expected: Vec<u64> = element.iter().enumerate().map(|(axis, &at)| case.locate(axis, at).0).collect();
            prop_assert_eq!(chunk.as_slice(), expected.as_slice());
            prop_assert!(case.grid.check_index(&chunk).is_ok());
            prop_assert!(case.grid.chunk_region(&chunk).axes().iter().zip(&element).all(|(range, &at)| (range.start..range.start + range.len).contains(&at)));
            seen[number(&chunk, &counts)] += 1;
        }
        let chunks: Vec<Vec<u64>> = counts.iter().map(|&count| (0..count).collect()).collect();
        for chunk in product(&chunks) {
            let len = case.grid.chunk_region(&chunk).len_checked();
            prop_assert_eq!(len, if counts.contains(&0) { Some(0) } else { Some(seen[number(&chunk, &counts)]) });
        }
        prop_assert!(case.grid.rank() == 0 || case.grid.check_index(&counts).is_err());
        prop_assert!(case.grid.rank() == 0 || case.grid.chunk_at(case.shape()).is_err());
    }

    #[test]
    fn resizing_keeps_the_chunks_that_stay(case in case(), change in prop::collection::vec(0u64..30, 4)) {
        let shape = &change[..case.grid.rank()];
        let resized = case.grid.resized(shape).unwrap();
        prop_assert_eq!(resized.shape(), shape);
        let kept: Vec<Vec<u64>> = shape.iter().zip(case.shape()).map(|(&new, &old)| (0..new.min(old)).collect()).collect();
        for element in product(&kept) {
            let chunk = resized.chunk_at(&element).unwrap();
            prop_assert_eq!(&chunk, &case.grid.chunk_at(&element).unwrap());
            prop_assert_eq!(resized.chunk_shape(&chunk), case.grid.chunk_shape(&chunk));
        }
        prop_assert_eq!(resized.grid_shape().contains(&0), shape.contains(&0));
    }
}

#[test]
fn a_region_over_a_million_million_chunks_costs_nothing() {
    let len = 1 << 62;
    let grid = ChunkGrid::regular(&[len, len], &[7, 3]).unwrap();
    let overlaps = grid.intersect(&Region::whole(&[len, len]));
    assert_eq!(overlaps.len(), u64::MAX);
    assert_eq!(overlaps.shape().as_slice(), [len.div_ceil(7), len.div_ceil(3)]);
    let overlap = overlaps.get(1_000_000_000_007);
    assert_eq!(overlap.index.as_slice(), [0, 1_000_000_000_007]);
    let steps = Region::new([AxisRange { start: 5, len: 1000, step: 1 << 40 }, AxisRange::new(0, 1)]).unwrap();
    assert_eq!(grid.intersect(&steps).len(), 1000);
    assert_eq!(grid.intersect(&steps).get(999).index.as_slice(), [(5 + 999 * (1 << 40)) / 7, 0]);
}

#[test]
fn positions_at_the_end_of_64_bits() {
    let grid = ChunkGrid::regular(&[u64::MAX], &[u64::MAX / 2 + 7]).unwrap();
    let overlaps = grid.intersect(&Region::whole(&[u64::MAX]));
    let lens: Vec<u64> = overlaps.iter().map(|overlap| overlap.out_shape[0]).collect();
    assert_eq!(lens, [u64::MAX / 2 + 7, u64::MAX / 2 - 6]);
    assert!(Region::new([AxisRange { start: 1, len: 2, step: u64::MAX }]).is_err());
    assert!(Region::new([AxisRange { start: 0, len: 1, step: 0 }]).is_err());
}

#[test]
fn regions_outside_of_the_array_overlap_no_chunk() {
    let grid = ChunkGrid::regular(&[10, 10], &[4, 4]).unwrap();
    assert_eq!(grid.intersect(&Region::whole(&[10])).iter().count(), 0);
    assert_eq!(grid.intersect(&Region::from_ranges(&[10..20, 0..5])).iter().count(), 0);
    assert_eq!(grid.intersect(&Region::from_ranges(&[9..20, 0..4])).iter().count(), 1);
    assert!(Region::from_ranges(&[9..20, 0..4]).check(grid.shape()).is_err());
}

#[test]
fn an_array_without_dimensions_has_one_chunk() {
    let grid = ChunkGrid::regular(&[], &[]).unwrap();
    let all: Vec<ChunkOverlap> = grid.intersect(&Region::whole(&[])).iter().collect();
    assert_eq!(all, [ChunkOverlap::default()]);
    assert!(grid.covers_chunk(&all[0]));
    assert_eq!(grid.chunk_at(&[]).unwrap().len(), 0);
}
