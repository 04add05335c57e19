//! Laws of selections, by the rules of numpy, position by position.

use zarr_grid::{AxisSelection, ChunkGrid, Region, Resolved, SelectedElements, Selection};

/// Greatest length of an axis, and greatest number of selected elements, for which positions are listed.
const MAX_LISTED: u64 = 4096;

/// Parses a selection by the documentation of its text form; `None` if it is invalid. Strings with names of dimensions are not checked.
pub(in crate::fuzz) fn parsed(text: &str) -> Option<Selection> {
    if text.trim().is_empty() {
        return Some(Selection::all());
    }
    let (mut parts, mut depth) = (vec![String::new()], 0_usize);
    for c in text.chars() {
        match c {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        parts.last_mut()?.push(c);
    }
    parts.iter().map(|part| axis(part.trim())).collect::<Option<_>>().map(Selection::Axes)
}

fn axis(text: &str) -> Option<AxisSelection> {
    let number = |text: &str| text.trim().parse::<i64>().ok();
    if text == "..." {
        return Some(AxisSelection::Ellipsis);
    }
    if text.starts_with('[') {
        let list = text.get(1..)?.strip_suffix(']')?.trim();
        let items = list.split(',').filter(|_| !list.is_empty());
        return items.map(number).collect::<Option<_>>().map(AxisSelection::Indices);
    }
    let bound = |text: &str| if text.trim().is_empty() { Some(None) } else { number(text).map(Some) };
    let (start, stop, step) = match text.split(':').collect::<Vec<_>>()[..] {
        [at] => return number(at).map(AxisSelection::Index),
        [start, stop] => (bound(start)?, bound(stop)?, 1),
        [start, stop, step] => (bound(start)?, bound(stop)?, bound(step)?.unwrap_or(1)),
        _ => return None,
    };
    match (start, stop, step) {
        (_, _, 0) => None,
        (None, None, 1) => Some(AxisSelection::All),
        (start, stop, step) => Some(AxisSelection::Range { start, stop, step }),
    }
}

/// Returns the number in C order of each selected element, in the order of the result. `None` if an error is expected, `Some(None)` if
/// there are too many elements to list.
#[expect(clippy::option_option, reason = "whether there is a result, and whether it is small")]
pub(in crate::fuzz) fn listed(selection: &Selection, grid: &ChunkGrid) -> Option<Option<Vec<u64>>> {
    let shape = grid.shape();
    if shape.iter().any(|&len| i64::try_from(len).is_err()) {
        return None;
    }
    let product = shape.iter().try_fold(1_u64, |count, &len| count.checked_mul(len));
    let is_small = product.is_some_and(|count| count <= MAX_LISTED) && shape.iter().all(|&len| len <= MAX_LISTED);
    let (axes, on_blocks) = match selection {
        Selection::Axes(axes) => (axes, false),
        Selection::Blocks(axes) => (axes, true),
        Selection::Coordinates(lists) => return points(lists, shape).map(|points| is_small.then_some(points)),
        Selection::Mask { shape: of, mask } => {
            let fits = of.as_slice() == shape && mask.len() as u64 == shape.iter().product::<u64>();
            let on = (0_u64..).zip(mask).filter(|(_, on)| **on).map(|(index, _)| index);
            return fits.then(|| is_small.then(|| on.collect()));
        }
        Selection::Region(region) => return of_region(region, shape, is_small),
    };
    let ellipsis = axes.iter().position(|axis| *axis == AxisSelection::Ellipsis);
    let named = axes.iter().filter(|axis| **axis != AxisSelection::Ellipsis).count();
    if axes.len() > named + 1 || named > shape.len() {
        return None;
    }
    let (before, after) = axes.split_at(ellipsis.unwrap_or(axes.len()));
    let whole = std::iter::repeat_n(&AxisSelection::All, shape.len() - named);
    let axes = before.iter().chain(whole).chain(after.iter().skip(usize::from(ellipsis.is_some())));
    let mut lists = Vec::new();
    for (number, (axis, &len)) in axes.zip(shape).enumerate() {
        let count = if on_blocks { grid.chunk_count(number) } else { len };
        let stepped = matches!(axis, AxisSelection::Range { step, .. } if *step != 1);
        if on_blocks && (stepped || matches!(axis, AxisSelection::Indices(_) | AxisSelection::Mask(_))) {
            return None;
        }
        // Larger axes are checked, and not listed.
        let list = positions(axis, count, is_small)?;
        lists.push(if on_blocks && is_small {
            list.into_iter().flat_map(|overlap| of_chunk(grid, number, overlap)).collect()
        } else {
            list
        });
    }
    if !is_small || lists.iter().map(|list: &Vec<u64>| list.len() as u64).product::<u64>() > MAX_LISTED {
        return Some(None);
    }
    Some(Some(lists.iter().zip(shape).fold(vec![0], |indices, (list, len)| {
        indices.iter().flat_map(|index| list.iter().map(move |at| index * len + at)).collect()
    })))
}

/// Returns the positions along an axis; `None` if an error is expected. Without `list` the positions are empty.
fn positions(axis: &AxisSelection, len: u64, list: bool) -> Option<Vec<u64>> {
    let signed = i128::from(len);
    let one = |at: i64| {
        let at = if at < 0 { i128::from(at) + signed } else { at.into() };
        (0..signed).contains(&at).then_some(at as u64)
    };
    match axis {
        AxisSelection::Index(at) => one(*at).map(|at| vec![at]),
        AxisSelection::Indices(list) => list.iter().map(|at| one(*at)).collect(),
        AxisSelection::Mask(mask) => {
            (mask.len() as u64 == len).then(|| (0_u64..).zip(mask).filter(|(_, on)| **on).map(|(at, _)| at).collect())
        }
        AxisSelection::Range { step: 0, .. } => None,
        AxisSelection::Range { start, stop, step } => {
            // The rules of `slice.indices` in Python.
            let (low, high) = if *step < 0 { (-1, signed - 1) } else { (0, signed) };
            let bound = |bound: &Option<i64>, default: i128| {
                let from_start = |at: i128| if at < 0 { at + signed } else { at };
                bound.map_or(default, |at| from_start(at.into()).clamp(low, high))
            };
            let (first, last) = if *step < 0 { (high, low) } else { (low, high) };
            let (mut at, end) = (bound(start, first), bound(stop, last));
            let mut found = Vec::new();
            while list && if *step < 0 { at > end } else { at < end } {
                found.push(at as u64);
                at += i128::from(*step);
            }
            Some(found)
        }
        AxisSelection::All | AxisSelection::Ellipsis => Some((0..if list { len } else { 0 }).collect()),
    }
}

/// Returns the positions of the elements in a chunk along one axis.
fn of_chunk(grid: &ChunkGrid, axis: usize, overlap: u64) -> Vec<u64> {
    let index: Vec<u64> = (0..grid.rank()).map(|other| if other == axis { overlap } else { 0 }).collect();
    let region = grid.chunk_region(&index);
    region.axes().get(axis).map_or_else(Vec::new, |range| (range.start..range.start + range.len).collect())
}

fn points(lists: &[Vec<i64>], shape: &[u64]) -> Option<Vec<u64>> {
    let count = lists.first().map_or(1, Vec::len);
    if lists.len() != shape.len() || lists.iter().any(|list| list.len() != count) {
        return None;
    }
    let lists: Vec<_> = lists
        .iter()
        .zip(shape)
        .map(|(list, &len)| positions(&AxisSelection::Indices(list.clone()), len, true))
        .collect::<Option<_>>()?;
    let index = |point: usize| {
        lists.iter().zip(shape).fold(0_u64, |index, (list, len)| index.wrapping_mul(*len).wrapping_add(list[point]))
    };
    Some((0..count).map(index).collect())
}

#[expect(clippy::option_option, reason = "as above")]
fn of_region(region: &Region, shape: &[u64], is_small: bool) -> Option<Option<Vec<u64>>> {
    let fits = region.rank() == shape.len()
        && region.axes().iter().zip(shape).all(|(range, &len)| match range.last() {
            Some(last) => last < len,
            // An empty range may be anywhere.
            None => range.len == 0,
        });
    if !fits {
        return None;
    }
    if !is_small {
        return Some(None);
    }
    Some(Some(region.axes().iter().zip(shape).fold(vec![0_u64], |indices, (range, len)| {
        let at = |index: u64| {
            (0..range.len).map(move |n| index.wrapping_mul(*len).wrapping_add(range.start + n * range.step))
        };
        indices.into_iter().flat_map(at).collect()
    })))
}

/// Returns the element that each position of the result gets from the chunks; each position must be set once. `None` if there are too many
/// elements.
pub(in crate::fuzz) fn moved(resolved: &Resolved, grid: &ChunkGrid) -> Option<Vec<u64>> {
    let count = resolved.len_checked().filter(|&count| count <= MAX_LISTED)?;
    let chunks = SelectedElements::new(resolved).and_then(|elements| elements.by_chunk(grid)).ok()?;
    let mut found = vec![None; usize::try_from(count).ok()?];
    for number in 0..chunks.len() {
        let (index, elements) = chunks.get(number)?;
        let chunk = grid.chunk_region(&index);
        let (bounds, elements) = elements.bounded();
        let inner = bounds.shape();
        elements.runs(&inner, |run| {
            for step in 0..run.len {
                let (mut rest, mut index, mut stride) = (run.from + step, 0_u64, 1_u64);
                let axes = chunk.axes().iter().zip(bounds.axes()).zip(&inner).zip(grid.shape());
                for (((chunk, range), &inner), &len) in axes.rev() {
                    let at = chunk.start + range.start + rest % inner.max(1) * range.step;
                    assert!(at < len && at < chunk.start + chunk.len, "a position outside of its chunk");
                    (rest, index) = (rest / inner.max(1), index.wrapping_add(at.wrapping_mul(stride)));
                    stride = stride.wrapping_mul(len);
                }
                let to = found.get_mut((run.to + step) as usize).expect("a position of the result");
                assert!(to.replace(index).is_none(), "an element of the result that is moved to twice");
            }
            true
        });
    }
    Some(found.into_iter().map(|index| index.expect("an element of the result that nothing is moved to")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_equal_numpy() {
        let grid = ChunkGrid::regular(&[3, 4], &[2, 3]).unwrap();
        let of = |text: &str| listed(&parsed(text).unwrap(), &grid);
        assert_eq!(of("1,::-2"), Some(Some(vec![7, 5])));
        assert_eq!(of("[2,0],...,-1"), Some(Some(vec![11, 3])));
        assert_eq!(of("1:9:5"), Some(Some(vec![4, 5, 6, 7])));
        assert_eq!(of("3"), None);
        assert_eq!(of("0,0,0"), None);
        let blocks = Selection::Blocks(vec![AxisSelection::All, AxisSelection::Index(1)]);
        assert_eq!(listed(&blocks, &grid), Some(Some(vec![3, 7, 11])));
        assert!(parsed("1:2:3:4").is_none() && parsed("::0").is_none() && parsed("[1").is_none());
    }
}
