//! Splits a selection into pieces that fit into memory, in the order of the result.

use crate::failure::{Failure, Result};
use zarr::grid::{AxisIndices, AxisRange, AxisSelection, Resolved, Selection, element_count};

/// Part of a selection.
#[derive(Debug)]
pub(crate) struct SelectionPiece {
    pub(crate) selection: Selection,
    /// Shape of the selection, including axes of single indices.
    pub(crate) shape: Vec<u64>,
}

/// Iterator over the pieces of a selection, in the order of the result.
#[derive(Debug)]
pub(crate) struct SelectionPieces(RemainingPieces);

/// Order of elements: which axis varies fastest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// The last axis varies fastest.
    C,
    /// The first axis varies fastest.
    Fortran,
}

impl Order {
    /// Reorders one item for each axis to the order in which axes vary, the slowest first. The same call converts back.
    pub(crate) fn of<T>(self, mut axes: Vec<T>) -> Vec<T> {
        if self == Self::Fortran {
            axes.reverse();
        }
        axes
    }
}

#[derive(Debug)]
enum RemainingPieces {
    /// All combinations of the indices along `axes`, which are in the order in which they vary, the slowest first. A piece has one index
    /// along each axis before `axis`, `step` indices along `axis`, and all indices along the axes behind it.
    Product {
        axes: Vec<PieceAxis>,
        order: Order,
        axis: usize,
        step: u64,
        alignment: u64,
        at: Vec<u64>,
    },
    Whole(Option<SelectionPiece>),
}

/// Indices along an axis, in the order of the result.
#[derive(Debug)]
enum PieceAxis {
    /// Range of indices, and whether they are in descending order.
    Range(AxisRange, bool),
    List(Vec<u64>),
}

impl PieceAxis {
    fn new(indices: &AxisIndices) -> Self {
        match indices {
            AxisIndices::Range { range, flipped } => Self::Range(*range, *flipped),
            AxisIndices::List(indices) => {
                let mut indices = indices.clone();
                indices.sort_unstable_by_key(|index| index.out);
                Self::List(indices.iter().map(|index| index.position).collect())
            }
        }
    }

    fn len(&self) -> u64 {
        match self {
            Self::Range(range, _) => range.len,
            Self::List(indices) => indices.len() as u64,
        }
    }
}

impl SelectionPieces {
    /// Cuts a selection into pieces of at most `budget` bytes in C order, with at least one row along one axis. `item` is the size of an
    /// element in bytes. If it costs nothing, pieces end at multiples of `parts`, the shape of chunks that are decoded at once.
    pub(crate) fn new(selection: &Selection, resolved: &Resolved, item: u64, parts: &[u64], budget: u64) -> Self {
        Self::in_order(Order::C, selection, resolved, item, parts, budget)
    }

    /// Cuts a selection into pieces of at most `budget` bytes in the given order, with at least one row along one axis; see
    /// [`SelectionPieces::new`].
    pub(crate) fn in_order(
        order: Order,
        selection: &Selection,
        resolved: &Resolved,
        item: u64,
        parts: &[u64],
        budget: u64,
    ) -> Self {
        let whole = || {
            let shape = resolved.output_shape().to_vec();
            let empty = shape.contains(&0);
            Self(RemainingPieces::Whole((!empty).then(|| SelectionPiece { selection: selection.clone(), shape })))
        };
        let axes: Vec<PieceAxis> = match resolved {
            Resolved::Box(part) => {
                let axes = part.region.axes().iter().copied().zip(part.flipped.iter().copied());
                axes.map(|(range, flipped)| PieceAxis::Range(range, flipped)).collect()
            }
            Resolved::Orthogonal(product) => product.axes().iter().map(PieceAxis::new).collect(),
            // Selections of single elements are one piece: the arguments that name each element are in memory anyway.
            Resolved::Coordinates(_) | Resolved::Mask(_) => return whole(),
        };
        let (axes, parts) = (order.of(axes), order.of(parts.to_vec()));
        let shape: Vec<u64> = axes.iter().map(PieceAxis::len).collect();
        let size = |from: usize| {
            let inner = shape.get(from..).unwrap_or_default();
            element_count(inner).and_then(|count| count.checked_mul(item)).unwrap_or(u64::MAX)
        };
        if shape.contains(&0) || shape.is_empty() || size(0) <= budget {
            return whole();
        }
        let fits = |&axis: &usize| size(axis + 1) <= budget;
        let axis = (0..shape.len()).find(fits).unwrap_or(shape.len() - 1);
        let rows = (budget / size(axis + 1).max(1)).max(1);
        let is_plain = |axis: &PieceAxis| matches!(axis, PieceAxis::Range(range, false) if range.step == 1);
        let plain = axes.get(axis).is_some_and(is_plain);
        let part_len = parts.get(axis).copied().unwrap_or(1);
        let alignment = if plain && part_len <= rows { part_len.max(1) } else { 1 };
        let step = rows - rows % alignment;
        Self(RemainingPieces::Product { at: vec![0; shape.len()], axes, order, axis, step, alignment })
    }

    /// Returns whether the whole selection is one piece.
    pub(crate) fn is_one(&self) -> bool {
        matches!(self.0, RemainingPieces::Whole(_))
    }

    /// Returns the next piece; `None` after the last.
    pub(crate) fn next(&mut self) -> Result<Option<SelectionPiece>> {
        let (ranges, order, axis, step, alignment, at) = match &mut self.0 {
            RemainingPieces::Whole(piece) => return Ok(piece.take()),
            RemainingPieces::Product { axes, order, axis, step, alignment, at } => {
                (axes, *order, *axis, *step, *alignment, at)
            }
        };
        let shape: Vec<u64> = ranges.iter().map(PieceAxis::len).collect();
        if at.first() >= shape.first() {
            return Ok(None);
        }
        let mut axes = Vec::with_capacity(shape.len());
        let mut piece = Vec::with_capacity(shape.len());
        let mut taken = 1;
        for (dim, indices) in ranges.iter().enumerate() {
            let from = at.get(dim).copied().unwrap_or(0);
            let len = match dim.cmp(&axis) {
                std::cmp::Ordering::Less => 1,
                std::cmp::Ordering::Greater => indices.len(),
                std::cmp::Ordering::Equal => {
                    // The piece ends at the last multiple of the alignment within reach.
                    let start = if let PieceAxis::Range(range, _) = indices { range.start } else { 0 };
                    let end = start.saturating_add(from).saturating_add(step);
                    let reach = step.saturating_sub(end % alignment).max(1);
                    taken = reach.min(indices.len() - from);
                    taken
                }
            };
            axes.push(match indices {
                PieceAxis::Range(range, flipped) => axis_selection(range, *flipped, from, len)?,
                PieceAxis::List(indices) => listed(indices, from, len)?,
            });
            piece.push(len);
        }
        advance(at, axis, taken, &shape);
        Ok(Some(SelectionPiece { selection: Selection::Axes(order.of(axes)), shape: order.of(piece) }))
    }
}

/// Advances the position `at` by `taken` indices along `axis`, and carries over to the axes before it.
fn advance(at: &mut [u64], axis: usize, taken: u64, shape: &[u64]) {
    let mut carry = taken;
    for (dim, (at, &len)) in at.iter_mut().zip(shape).enumerate().take(axis + 1).rev() {
        *at += carry;
        if *at < len || dim == 0 {
            return;
        }
        *at = 0;
        carry = 1;
    }
}

/// Returns the selection of `len` indices along one axis, beginning with index `from` of the result.
fn axis_selection(range: &AxisRange, flipped: bool, from: u64, len: u64) -> Result<AxisSelection> {
    let number = |index: Option<u64>| index.and_then(|index| i64::try_from(index).ok());
    let at = |index: u64| index.checked_mul(range.step).and_then(|offset| offset.checked_add(range.start));
    let (start, stop, step) = if flipped {
        let (high, low) = (range.len - 1 - from, range.len - from - len);
        let stop = at(low).and_then(|low| low.checked_sub(1));
        (number(at(high)), number(stop).map(Some).or_else(|| stop.is_none().then_some(None)), -1)
    } else {
        let stop = at(from + len - 1).and_then(|last| last.checked_add(1));
        (number(at(from)), number(stop).map(Some), 1)
    };
    let stride = i64::try_from(range.step).ok().map(|stride| stride * step);
    match (start, stop, stride) {
        (Some(start), Some(stop), Some(step)) => Ok(AxisSelection::Range { start: Some(start), stop, step }),
        _ => Err(beyond()),
    }
}

/// Returns the selection of `len` items of the list `indices`, beginning with item `from`.
fn listed(indices: &[u64], from: u64, len: u64) -> Result<AxisSelection> {
    let number = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
    let part = indices.iter().skip(number(from)).take(number(len));
    let part: Option<Vec<i64>> = part.map(|&index| i64::try_from(index).ok()).collect();
    part.map(AxisSelection::Indices).ok_or_else(beyond)
}

fn beyond() -> Failure {
    Failure::usage("the selection reaches beyond 2^63 elements")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn steps(axis: &PieceAxis) -> Vec<u64> {
        match axis {
            PieceAxis::List(indices) => indices.clone(),
            PieceAxis::Range(range, flipped) => {
                let mut steps: Vec<u64> = (0..range.len).map(|i| range.start + i * range.step).collect();
                if *flipped {
                    steps.reverse();
                }
                steps
            }
        }
    }

    /// Returns the linear positions of the elements that a selection takes, in the order of the result.
    fn positions(order: Order, selection: &Selection, shape: &[u64]) -> Vec<u64> {
        let axes: Vec<Vec<u64>> = match selection.resolve(shape).unwrap() {
            Resolved::Box(part) => {
                let axes = part.region.axes().iter().copied().zip(part.flipped.iter().copied());
                axes.map(|(range, flipped)| steps(&PieceAxis::Range(range, flipped))).collect()
            }
            Resolved::Orthogonal(product) => product.axes().iter().map(|axis| steps(&PieceAxis::new(axis))).collect(),
            _ => unreachable!("only products are tested"),
        };
        let mut all = vec![0];
        let strides = (0..shape.len()).map(|axis| shape[axis + 1..].iter().product::<u64>());
        for (steps, stride) in order.of(axes.into_iter().zip(strides).collect()) {
            all = all.iter().flat_map(|&base| steps.iter().map(move |&step| base + step * stride)).collect();
        }
        all
    }

    proptest! {
        #[test]
        fn pieces_make_the_whole(
            (shape, axes) in proptest::collection::vec(
                (1_u64..9, -9_i64..9, -9_i64..9, prop_oneof![-3_i64..0, 1_i64..4], 0..4), 1..4
            ).prop_map(|axes| {
                let axis = |&(len, start, stop, step, kind): &(u64, i64, i64, i64, i32)| match kind {
                    0 => AxisSelection::All,
                    1 => AxisSelection::Index(start.rem_euclid(len as i64)),
                    // In any order, and more than once.
                    2 => AxisSelection::Indices([start, stop, start + step, stop].map(|index| index.rem_euclid(len as i64)).into()),
                    _ => AxisSelection::Range { start: Some(start), stop: Some(stop), step },
                };
                (axes.iter().map(|axis| axis.0).collect::<Vec<_>>(), axes.iter().map(axis).collect::<Vec<_>>())
            }),
            budget in 1_u64..80,
            part in 1_u64..5,
            order in prop_oneof![Just(Order::C), Just(Order::Fortran)],
        ) {
            let selection = Selection::Axes(axes);
            let resolved = selection.resolve(&shape).unwrap();
            let mut pieces = SelectionPieces::in_order(order, &selection, &resolved, 2, &vec![part; shape.len()], budget);
            let mut all = Vec::new();
            while let Some(piece) = pieces.next().unwrap() {
                let taken = positions(order, &piece.selection, &shape);
                prop_assert_eq!(element_count(&piece.shape), Some(taken.len() as u64));
                prop_assert!(taken.len() as u64 * 2 <= budget.max(2) || taken.len() == 1);
                all.extend(taken);
            }
            prop_assert_eq!(all, positions(order, &selection, &shape));
        }
    }

    #[test]
    fn cuts_lie_between_chunks() {
        let selection: Selection = "3:, :".parse().unwrap();
        let resolved = selection.resolve(&[20, 10]).unwrap();
        let mut pieces = SelectionPieces::new(&selection, &resolved, 1, &[5, 10], 70);
        let mut rows = Vec::new();
        while let Some(piece) = pieces.next().unwrap() {
            rows.push(piece.shape[0]);
        }
        assert_eq!(rows, [2, 5, 5, 5]);
    }
}
