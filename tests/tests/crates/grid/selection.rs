use proptest::prelude::*;
use std::collections::BTreeMap;
use zarr_grid::{AxisSelection, ChunkGrid, Error, IntoSelection, Resolved, SelectedElements, Selection};

use super::model::{Case, case, number, positions, product};

/// Positions and whether the axis stays, by the rules of numpy: `None` where numpy raises an error.
fn model_axis(selection: &AxisSelection, len: i64) -> Option<(Vec<u64>, bool)> {
    let at = |i: i64| (-len..len).contains(&i).then(|| (if i < 0 { i + len } else { i }) as u64);
    Some(match selection {
        AxisSelection::Index(i) => (vec![at(*i)?], false),
        AxisSelection::All | AxisSelection::Ellipsis => ((0..len as u64).collect(), true),
        AxisSelection::Indices(list) => (list.iter().map(|&i| at(i)).collect::<Option<_>>()?, true),
        AxisSelection::Mask(mask) => {
            (mask.len() as i64 == len).then_some(())?;
            ((0..len as u64).filter(|&i| mask[i as usize]).collect(), true)
        }
        AxisSelection::Range { start, stop, step } => (model_slice(*start, *stop, *step, len), true),
    })
}

/// Every position is tried, in the direction of the step, against Python's words about slices.
fn model_slice(start: Option<i64>, stop: Option<i64>, step: i64, len: i64) -> Vec<u64> {
    let bound = |at: i64| if at < 0 { at + len } else { at };
    let mut found = Vec::new();
    if step > 0 {
        let (start, stop) = (start.map_or(0, bound).max(0), stop.map_or(len, bound).min(len));
        (start..stop).filter(|i| (i - start) % step == 0).for_each(|i| found.push(i as u64));
    } else {
        let (start, stop) = (start.map_or(len - 1, bound).min(len - 1), stop.map_or(-1, |at| bound(at).max(-1)));
        (stop + 1..=start).rev().filter(|i| (start - i) % step == 0).for_each(|i| found.push(i as u64));
    }
    found
}

fn axis(len: u64) -> impl Strategy<Value = AxisSelection> {
    let len = len as i64;
    let bound = prop::option::of(-len - 3..len + 4);
    let step = prop_oneof![1i64..4, -4i64..0, Just(i64::MAX), Just(i64::MIN)];
    prop_oneof![
        2 => (-len - 1..len + 1).prop_map(AxisSelection::Index),
        4 => (bound.clone(), bound, step).prop_map(|(start, stop, step)| AxisSelection::Range { start, stop, step }),
        3 => prop::collection::vec(if len > 0 { -len..len } else { -1..1 }, 0..9).prop_map(AxisSelection::Indices),
        2 => prop::collection::vec(any::<bool>(), len as usize).prop_map(AxisSelection::Mask),
        1 => Just(AxisSelection::All),
    ]
}

fn case_and_axes() -> impl Strategy<Value = (Case, Vec<AxisSelection>)> {
    case().prop_flat_map(|case| {
        let axes: Vec<_> = case.shape().iter().map(|&len| axis(len)).collect();
        (Just(case), axes)
    })
}

/// The numbers of the elements that a selection divided by chunk brings, with all that holds of the chunks checked.
fn divided(resolved: &Resolved, case: &Case) -> Vec<usize> {
    let mut out = vec![usize::MAX; resolved.len_checked().unwrap() as usize];
    let chunks = SelectedElements::new(resolved).unwrap().by_chunk(&case.grid).unwrap();
    let mut indices = Vec::new();
    for i in 0..chunks.len() {
        let (chunk, elements) = chunks.get(i).unwrap();
        let shape = case.grid.chunk_shape(&chunk);
        let found = pairs(&elements, &shape);
        assert!(!found.is_empty());
        assert_eq!(pairs(&chunks.at(&chunk).unwrap(), &shape), found);
        for &(from, to) in &found {
            let start = case.grid.chunk_region(&chunk);
            let position = unravel(from, &shape);
            let element: Vec<u64> = position.iter().zip(start.axes()).map(|(at, axis)| at + axis.start).collect();
            assert_eq!(out[to as usize], usize::MAX, "every index of the output occurs once");
            out[to as usize] = number(&element, case.shape());
        }
        check_box(&elements, &shape, &found);
        check_inner(&elements, &shape, &found);
        indices.push(chunk.to_vec());
    }
    assert!(indices.windows(2).all(|pair| pair[0] < pair[1]), "each chunk once, in order");
    assert!(chunks.get(chunks.len()).is_none());
    let all: Vec<Vec<u64>> = case.grid.grid_shape().iter().map(|&count| (0..count).collect()).collect();
    assert!(product(&all).iter().all(|chunk| chunks.at(chunk).is_some() == indices.contains(chunk)));
    out
}

/// The boxes of all chunks, as text.
fn boxes(resolved: &Resolved, grid: &ChunkGrid) -> Vec<String> {
    let chunks = SelectedElements::new(resolved).unwrap().by_chunk(grid).unwrap();
    (0..chunks.len()).map(|number| chunks.get(number).unwrap().1.bounded().0.to_string()).collect()
}

/// The smallest box that has the elements of a chunk.
fn check_box(elements: &SelectedElements<'_>, shape: &[u64], expected: &[(u64, u64)]) {
    let (bounds, elements) = elements.bounded();
    let axes: Vec<Vec<u64>> = bounds.axes().iter().map(positions).collect();
    let offsets: Vec<u64> = product(&axes).iter().map(|at| number(at, shape) as u64).collect();
    let found = pairs(&elements, &bounds.shape());
    let in_chunk: Vec<_> = found.iter().map(|&(from, to)| (offsets[from as usize], to)).collect();
    assert_eq!(in_chunk, expected);
    // It is no larger than it has to be.
    let used: Vec<Vec<u64>> = found.iter().map(|&(from, _)| unravel(from, &bounds.shape())).collect();
    for (axis, &len) in bounds.shape().iter().enumerate() {
        assert!([0, len - 1].iter().all(|end| used.iter().any(|at| at[axis] == *end)));
    }
}

/// The elements of a chunk divided again, by inner chunks, in both orders of the axes.
fn check_inner(elements: &SelectedElements<'_>, shape: &[u64], expected: &[(u64, u64)]) {
    let distinct: BTreeMap<_, _> = expected.iter().copied().collect();
    assert_eq!(elements.cover(shape), distinct.len() as u64 == shape.iter().product::<u64>());
    let order: Vec<usize> = (0..shape.len()).rev().collect();
    let turned: Vec<u64> = order.iter().map(|&axis| shape[axis]).collect();
    let inner: Vec<u64> = turned.iter().map(|&len| 1.max(len / 2)).collect();
    let grid = ChunkGrid::regular(&turned, &inner).unwrap();
    let chunks = elements.permuted(&order);
    assert_eq!(chunks.bounded().0, elements.bounded().0.permuted(&order));
    let chunks = chunks.by_chunk(&grid).unwrap();
    let mut found = Vec::new();
    for i in 0..chunks.len() {
        let (chunk, elements) = chunks.get(i).unwrap();
        for (from, to) in pairs(&elements, &inner) {
            let position = unravel(from, &inner);
            let axes = position.iter().zip(&chunk).zip(&inner).map(|((at, chunk), len)| at + chunk * len);
            let mut element: Vec<u64> = axes.collect();
            element.reverse();
            found.push((number(&element, shape) as u64, to));
        }
    }
    found.sort_unstable();
    let mut expected = expected.to_vec();
    expected.sort_unstable();
    assert_eq!(found, expected);
}

/// The index of each element in a chunk of `shape`, and that in the output: of an element that is selected again the last comes last.
fn pairs(elements: &SelectedElements<'_>, shape: &[u64]) -> Vec<(u64, u64)> {
    let mut found = Vec::new();
    let mut last = BTreeMap::new();
    assert!(elements.runs(shape, |run| {
        for i in 0..run.len {
            last.insert(run.from + i, run.to + i);
            found.push((run.from + i, run.to + i));
        }
        run.len > 0
    }));
    assert!(found.iter().all(|(from, to)| last[from] >= *to));
    let mut count = 0;
    assert_eq!(elements.runs(shape, |_| std::mem::replace(&mut count, 1) == 1), found.is_empty());
    assert_eq!(count, usize::from(!found.is_empty()), "ended after the first run");
    found
}

fn unravel(mut index: u64, shape: &[u64]) -> Vec<u64> {
    let mut position: Vec<u64> = shape
        .iter()
        .rev()
        .map(|&len| {
            let at = index % len;
            index /= len;
            at
        })
        .collect();
    position.reverse();
    position
}

proptest! {
    #[test]
    fn selections_equal_numpy((case, axes) in case_and_axes()) {
        let found = Selection::Axes(axes.clone()).resolve(case.shape());
        let model: Option<Vec<_>> = axes.iter().zip(case.shape()).map(|(axis, &len)| model_axis(axis, len as i64)).collect();
        let Some(model) = model else {
            let refused = matches!(found, Err(Error::OutOfBounds { .. }));
            prop_assert!(refused);
            return Ok(());
        };
        let found = found.unwrap();
        let shape: Vec<u64> = model.iter().filter(|(_, stays)| *stays).map(|(all, _)| all.len() as u64).collect();
        let result_shape = found.result_shape();
        prop_assert_eq!(result_shape.as_slice(), shape.as_slice());
        let lists: Vec<Vec<u64>> = model.into_iter().map(|(all, _)| all).collect();
        let elements: Vec<usize> = product(&lists).iter().map(|element| number(element, case.shape())).collect();
        prop_assert_eq!(divided(&found, &case), elements.clone());
        if let Some(region) = found.as_region() {
            let axes: Vec<Vec<u64>> = region.axes().iter().map(positions).collect();
            let ascending: Vec<usize> = product(&axes).iter().map(|element| number(element, case.shape())).collect();
            prop_assert_eq!(ascending, elements);
        }
    }

    #[test]
    fn points_are_found_one_by_one(case in case(), picks in prop::collection::vec(prop::collection::vec(0u64..100, 3), 0..30)) {
        let rank = case.grid.rank();
        if case.shape().contains(&0) || rank == 0 {
            return Ok(());
        }
        let points: Vec<Vec<u64>> = picks.iter().map(|point| point.iter().zip(case.shape()).map(|(at, len)| at % len).collect()).collect();
        // Every second axis counts from the end.
        let sign = |axis: usize, at: u64| if axis.is_multiple_of(2) { at as i64 } else { at as i64 - case.shape()[axis] as i64 };
        let lists = (0..rank).map(|axis| points.iter().map(|point| sign(axis, point[axis])).collect()).collect();
        let found = Selection::coordinates(lists).resolve(case.shape()).unwrap();
        let result_shape = found.result_shape();
        prop_assert_eq!(result_shape.as_slice(), [points.len() as u64]);
        let elements: Vec<usize> = points.iter().map(|point| number(point, case.shape())).collect();
        prop_assert_eq!(divided(&found, &case), elements);
    }

    #[test]
    fn a_mask_of_the_array_selects_in_c_order(case in case(), bits in prop::collection::vec(any::<bool>(), 2744)) {
        let count = case.shape().iter().product::<u64>() as usize;
        let mask: Vec<bool> = bits.into_iter().cycle().take(count).collect();
        let elements: Vec<usize> = (0..count).filter(|&i| mask[i]).collect();
        let found = Selection::mask(case.shape(), mask).unwrap().resolve(case.shape()).unwrap();
        prop_assert_eq!(divided(&found, &case), elements);
    }

    #[test]
    fn blocks_are_the_chunks_they_name(case in case(), bounds in prop::collection::vec((0i64..6, 0i64..6, any::<bool>()), 3)) {
        let counts = case.grid.grid_shape();
        let picks: Vec<AxisSelection> = counts.iter().zip(&bounds).map(|(&count, &(start, stop, single))| {
            if single && count > 0 { AxisSelection::Index(start % count as i64 - count as i64) } else { AxisSelection::range(start, stop) }
        }).collect();
        let chunks: Vec<Vec<u64>> = picks.iter().zip(&counts).map(|(pick, &count)| model_axis(pick, count as i64).unwrap().0).collect();
        let found = Selection::Blocks(picks).resolve_on(&case.grid).unwrap();
        let region = found.as_region().unwrap();
        let all: Vec<Vec<u64>> = case.shape().iter().map(|&len| (0..len).collect()).collect();
        for element in product(&all) {
            let chunk = case.grid.chunk_at(&element).unwrap();
            let named = chunk.iter().zip(&chunks).all(|(at, chunks)| chunks.contains(at));
            let inside = region.axes().iter().zip(&element).all(|(range, &at)| (range.start..range.start + range.len).contains(&at));
            prop_assert_eq!(named, inside);
        }
        prop_assert_eq!(found.result_shape().len(), case.grid.rank());
    }

    #[test]
    fn selections_are_parsed_from_their_text((case, axes) in case_and_axes()) {
        let text = |axis: &AxisSelection| {
            let number = |n: &Option<i64>| n.map_or(String::new(), |n| n.to_string());
            match axis {
                AxisSelection::Index(at) => at.to_string(),
                AxisSelection::Range { start, stop, step } => format!("{} : {}:{step}", number(start), number(stop)),
                AxisSelection::Indices(list) => format!("{list:?}"),
                AxisSelection::Mask(mask) => format!("{:?}", (0..mask.len()).filter(|&i| mask[i]).collect::<Vec<_>>()),
                AxisSelection::Ellipsis => "...".to_owned(),
                AxisSelection::All => ":".to_owned(),
            }
        };
        let text = axes.iter().map(text).collect::<Vec<_>>().join(" , ");
        let (parsed, built) = (text.parse::<Selection>().unwrap().resolve(case.shape()), Selection::Axes(axes).resolve(case.shape()));
        prop_assert_eq!(parsed, built);
    }

    #[test]
    fn selections_are_printed_as_they_are_parsed((case, axes) in case_and_axes()) {
        for axis in &axes {
            let text = axis.to_string();
            prop_assert_eq!(text.parse::<AxisSelection>().unwrap().to_string(), text);
        }
        let selection = Selection::Axes(axes);
        let (text, resolved) = (selection.to_string(), selection.resolve(case.shape()));
        let parsed: Selection = text.parse().unwrap();
        prop_assert_eq!(parsed.to_string(), text);
        prop_assert_eq!(parsed.resolve(case.shape()), resolved.clone());
        // In brackets, as a region is printed, and without.
        if let Some(region) = resolved.as_ref().ok().and_then(Resolved::as_region).filter(|region| region.rank() > 0) {
            for text in [region.to_string(), Selection::Region(region.clone()).to_string()] {
                let found = text.parse::<Selection>().unwrap().resolve(case.shape()).unwrap();
                prop_assert_eq!(found.as_region(), Some(region), "{}", text);
            }
        }
    }

    #[test]
    fn any_text_is_a_selection_or_an_error(text in "[0-9:,.=\\[\\] x-]{0,20}") {
        if let Ok(selection) = Selection::parse(&text, &[Some("x".to_owned())]) {
            let _ = selection.resolve(&[7, 7, 7]);
        }
    }
}

#[test]
fn rust_ranges_are_selections() {
    let check = |selection: Result<Selection, Error>, text: &str| {
        let (built, parsed) =
            (selection.unwrap().resolve(&[20, 9, 4]), text.parse::<Selection>().unwrap().resolve(&[20, 9, 4]));
        assert_eq!(built, parsed, "{text}");
    };
    check((..).into_selection(), "");
    check(().into_selection(), "...");
    check((0..3).into_selection(), "0:3");
    check(5.into_selection(), "5");
    check((0..10, 5, ..).into_selection(), "0:10, 5, :");
    check((-3.., ..=2u64, 1usize..=3).into_selection(), "-3:, :3, 1:4");
    check((3..4, ..-1, vec![3i64, 1, 1]).into_selection(), "3:4, :-1, [3, 1, 1]");
    check((0u64..u64::MAX, AxisSelection::Ellipsis).into_selection(), "");
    check([0u64..3, 1..2].into_selection(), "0:3, 1:2");
    check((&[0u64..3, 1..2][..]).into_selection(), "0:3, 1:2");
    check(vec![0u64..3, 1..2].into_selection(), "0:3, 1:2");
    check((..=-1, 1..).into_selection(), ":, 1:");
    check("..., 2".into_selection(), ":, :, 2");
    check((vec![true; 20], 0).into_selection(), ":, 0");
}

#[test]
fn selections_without_a_text_are_described() {
    assert_eq!(Selection::all().to_string(), "...");
    assert_eq!(Selection::coordinates(vec![vec![1, 2], vec![0, 3]]).to_string(), "2 points");
    assert_eq!(Selection::mask(&[2, 2], vec![true; 4]).unwrap().to_string(), "a mask of [2, 2]");
    assert_eq!(Selection::blocks((0..2, 1)).unwrap().to_string(), "chunks 0:2, 1");
    assert_eq!(AxisSelection::Mask(vec![true, false, true]).to_string(), "[0, 2]");
}

#[test]
fn the_selection_of_one_axis_is_a_part_or_a_list() {
    let parsed = |text: &str| text.parse::<AxisSelection>().map_err(|error| error.to_string());
    assert_eq!(parsed("-1"), Ok(AxisSelection::Index(-1)));
    assert_eq!(parsed("0:10:2"), Ok(AxisSelection::Range { start: Some(0), stop: Some(10), step: 2 }));
    assert_eq!(parsed("3,1"), Ok(AxisSelection::Indices(vec![3, 1])));
    assert_eq!(parsed("[3]"), Ok(AxisSelection::Indices(vec![3])));
    let expected = "expected a number, start:stop:step, [a, list], or ...";
    assert_eq!(parsed("0:2, 3"), Err(format!("part 1 of the selection, \"0:2\": {expected}")));
    assert_eq!(parsed("3, x"), Err(format!("part 2 of the selection, \"x\": {expected}")));
    assert_eq!(parsed(""), Err(format!("part 1 of the selection, \"\": {expected}")));
}

#[test]
fn errors_name_the_wrong_part() {
    let check = |text: &str, message: &str| {
        let error = text.parse::<Selection>().and_then(|selection| selection.resolve(&[10, 10])).unwrap_err();
        assert!(error.to_string().starts_with(message), "{text}: {error}");
    };
    check("0:10, abc", "part 2 of the selection, \"abc\": expected a number");
    check("0:10,", "part 2 of the selection, \"\": expected a number");
    check("::0", "part 1 of the selection, \"::0\": expected a step other than 0");
    check("1:2:3:4", "part 1 of the selection, \"1:2:3:4\": expected at most two colons");
    check("99999999999999999999", "part 1 of the selection, \"99999999999999999999\": expected a number of 63 bits");
    check("[1, 2", "part 1 of the selection, \"[1, 2\": expected a list that ends in ]");
    check("1, x=2", "part 2 of the selection, \"x=2\": expected names for all parts or for none");
    check("x=2", "0 dimensions are named \"x\"");
    check("1, 2, 3", "selection has 3 dimensions, the array has 2");
    check("..., 1, ...", "more than one `...`");
    check("0, 10", "index 10 is out of bounds for axis 1 of length 10");
    check("-11", "index -11 is out of bounds for axis 0 of length 10");
    let names = [Some("x".to_owned()), Some("x".to_owned()), Some("y".to_owned())];
    assert!(matches!(Selection::parse("x=1", &names), Err(Error::DimensionName { found: 2, .. })));
    assert!(matches!(Selection::parse("y=1, y=2", &names), Err(Error::RepeatedName { .. })));
    assert!(matches!(Selection::blocks("::2").unwrap().resolve(&[4]), Err(Error::NeedsGrid)));
    let grid = ChunkGrid::regular(&[4], &[2]).unwrap();
    assert!(matches!(Selection::blocks("::2").unwrap().resolve_on(&grid), Err(Error::BlockStep { axis: 0 })));
    let lists = Selection::coordinates(vec![vec![1, 2], vec![1]]);
    assert!(matches!(lists.resolve(&[4, 4]), Err(Error::CoordinateLists { axis: 1, found: 1, expected: 2 })));
    assert!(matches!((vec![true, false],).into_selection().unwrap().resolve(&[3]), Err(Error::MaskLength { .. })));
}

#[test]
fn sparse_picks_read_only_their_chunks() {
    let grid = ChunkGrid::regular(&[1 << 40, 1 << 40], &[100, 100]).unwrap();
    let far = (vec![5i64, 1 << 39, 7], ..3).into_selection().unwrap().resolve(grid.shape()).unwrap();
    assert_eq!(boxes(&far, &grid), ["[5:8:2, 0:3]", "[88:89, 0:3]"]);
    // A range beside a list stays a range.
    let wide = (vec![5i64, 1 << 39, 7], ..).into_selection().unwrap().resolve(grid.shape()).unwrap();
    let chunks = SelectedElements::new(&wide).unwrap().by_chunk(&grid).unwrap();
    assert_eq!(chunks.len(), 2 * (1u64 << 40).div_ceil(100));
    let points = Selection::coordinates(vec![vec![1 << 39, 3, 1 << 39], vec![0, 3, 1]]).resolve(grid.shape()).unwrap();
    assert!(matches!(points, Resolved::Coordinates(_)));
    assert_eq!(boxes(&points, &grid), ["[3:4, 3:4]", "[88:89, 0:2]"]);
}

#[test]
fn evenly_spaced_lists_are_ranges() {
    let resolve = |list: Vec<i64>| (list,).into_selection().unwrap().resolve(&[100]).unwrap();
    assert_eq!(resolve(vec![3, 5, 7]).as_region().unwrap().to_string(), "[3:8:2]");
    assert!(matches!(resolve(vec![7, 5, 3]), Resolved::Box(found) if found.flipped[0]));
    assert!(matches!(resolve(vec![3, 3]), Resolved::Orthogonal(_)));
    // One position has no direction.
    assert_eq!("5:4:-1".parse::<Selection>().unwrap().resolve(&[9]).unwrap().as_region().unwrap().to_string(), "[5:6]");
}

#[test]
fn the_last_of_repeated_picks_is_written_last() {
    let grid = ChunkGrid::regular(&[10], &[10]).unwrap();
    for selection in [(vec![4i64, 2, 4],).into_selection().unwrap(), Selection::coordinates(vec![vec![4, 2, 4]])] {
        let resolved = selection.resolve(&[10]).unwrap();
        let chunks = SelectedElements::new(&resolved).unwrap().by_chunk(&grid).unwrap();
        let (bounds, elements) = chunks.get(0).unwrap().1.bounded();
        let range = bounds.axes()[0];
        let mut values = [0; 10];
        elements.runs(&bounds.shape(), |run| {
            (0..run.len).for_each(|i| values[(range.start + (run.from + i) * range.step) as usize] = run.to + i + 1);
            true
        });
        assert_eq!((values[4], values[2]), (3, 2));
    }
}

#[test]
fn an_element_without_dimensions() {
    let grid = ChunkGrid::regular(&[], &[]).unwrap();
    let check = |selection: Selection, count: u64| {
        let resolved = selection.resolve(&[]).unwrap();
        let chunks = SelectedElements::new(&resolved).unwrap().by_chunk(&grid).unwrap();
        let mut found = 0;
        for number in 0..chunks.len() {
            let (bounds, elements) = chunks.get(number).unwrap().1.bounded();
            elements.runs(&bounds.shape(), |run| {
                found += run.len;
                true
            });
        }
        assert_eq!(found, count);
    };
    check(Selection::all(), 1);
    check(Selection::coordinates(Vec::new()), 1);
    check(Selection::mask(&[], vec![true]).unwrap(), 1);
    check(Selection::mask(&[], vec![false]).unwrap(), 0);
}
