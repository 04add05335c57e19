//! Which elements stand for a region of an array, so that reading them costs no more than a budget.

use crate::address::Query;
use crate::fault::Fault;
use crate::nodes::Budget;
use zarr_array::Array;
use zarr_grid::{AxisRange, AxisSelection, Region, Selection, total_size};
use zarr_json::{Value, json};
use zarr_meta::text::size;

/// The assumed bytes of an element of variable length.
const VARIABLE: u64 = 64;

/// What is asked of an axis.
#[derive(Clone, Debug)]
pub(crate) enum Wanted {
    /// One index.
    Index(u64),
    /// The indices from the first up to but without the second, or fewer that are as far from each other: at most `.2`.
    Range(u64, u64, u64),
}

/// The elements of an axis that are read.
pub(crate) type Along = AxisRange;

/// The elements that stand for a region.
#[derive(Debug)]
pub(crate) struct Sample {
    /// One for each axis.
    pub(crate) axes: Vec<Along>,
    /// Chunks (inner chunks of shards) that are met.
    pub(crate) chunks: u64,
    /// Whether there are fewer elements than asked for, to keep to the budget.
    pub(crate) is_reduced: bool,
}

impl Sample {
    /// Finds elements of `array` that keep to a budget.
    pub(crate) fn new(array: &Array, wanted: &[Wanted], budget: Budget) -> Result<Self, Fault> {
        check(array, wanted)?;
        let parts = array.part_shape();
        let mut counts: Vec<u64> = wanted
            .iter()
            .map(|wanted| match wanted {
                Wanted::Index(_) => 1,
                Wanted::Range(start, stop, most) => (stop - start).min((*most).max(1)),
            })
            .collect();
        let most = budget.chunks.min(affordable(array, budget)).max(1);
        let mut is_reduced = false;
        loop {
            let axes: Vec<Along> = wanted.iter().zip(&counts).map(|(wanted, &count)| along(wanted, count)).collect();
            let met: Vec<u64> = axes.iter().zip(parts.iter()).map(|(axis, &part)| chunks_along(axis, part)).collect();
            let chunks = met.iter().fold(1_u64, |product, &count| product.saturating_mul(count));
            // The axis that meets the most chunks gets fewer elements.
            let largest = met.iter().zip(&mut counts).filter(|(_, count)| **count > 1).max_by_key(|(met, _)| **met);
            match largest {
                Some((_, count)) if chunks > most => {
                    *count = count.div_ceil(2);
                    is_reduced = true;
                }
                _ => {
                    let sample = Self { axes, chunks, is_reduced };
                    sample.check_cost(array, budget)?;
                    return Ok(sample);
                }
            }
        }
    }

    /// The selection of these elements.
    pub(crate) fn selection(&self) -> Selection {
        let axis = |axis: &Along| AxisSelection::Range {
            start: i64::try_from(axis.start).ok(),
            stop: axis.last().and_then(|last| i64::try_from(last + 1).ok()).or(Some(0)),
            step: i64::try_from(axis.step).unwrap_or(i64::MAX),
        };
        Selection::Axes(self.axes.iter().map(axis).collect())
    }

    /// Refuses a read that decodes too much, and one of chunks that the metadata does not show to be few.
    fn check_cost(&self, array: &Array, budget: Budget) -> Result<(), Fault> {
        let region = Region::new(self.axes.iter().copied()).map_err(zarr_hierarchy::Error::from)?;
        let chunks = array.chunk_grid().intersect(&region).len().max(self.chunks);
        if chunks > budget.chunks {
            let message = format!("{}: a read of {chunks} chunks, expected at most {}", array.path(), budget.chunks);
            return Err(Fault::too_much(message));
        }
        if affordable(array, budget) >= chunks {
            return Ok(());
        }
        // Chunks that can be decoded in part cost less than they have. Of shards that would take requests to know.
        let decoded = match array.is_sharded() {
            false => array.plan(self.selection())?.decoded_bytes,
            true => None,
        };
        match decoded {
            Some(bytes) if bytes <= budget.bytes => Ok(()),
            _ => {
                let chunk = size(part_bytes(array));
                let message = format!(
                    "{}: a chunk has {chunk}, expected at most {} to be decoded",
                    array.path(),
                    size(budget.bytes)
                );
                Err(Fault::too_much(message).with_hint("more detail (full=1) may decode 16 times as much"))
            }
        }
    }
}

/// How many chunks a budget of bytes is enough for.
fn affordable(array: &Array, budget: Budget) -> u64 {
    budget.bytes / part_bytes(array).max(1)
}

/// The bytes of the elements of a chunk, or of an inner chunk of a shard.
fn part_bytes(array: &Array) -> u64 {
    let item = if array.data_type().is_variable() { VARIABLE } else { array.data_type().item_size() as u64 };
    u64::try_from(total_size(&array.part_shape(), item)).unwrap_or(u64::MAX)
}

fn check(array: &Array, wanted: &[Wanted]) -> Result<(), Fault> {
    if wanted.len() != array.shape().len() {
        let message = format!("found indices of {} axes, expected {}", wanted.len(), array.shape().len());
        return Err(Fault::argument(message));
    }
    for (axis, (wanted, &len)) in wanted.iter().zip(array.shape()).enumerate() {
        let is_within = match *wanted {
            Wanted::Index(index) => index < len,
            Wanted::Range(start, stop, _) => start <= stop && stop <= len,
        };
        if !is_within {
            return Err(Fault::argument(format!("axis {axis}: found {wanted:?}, expected indices below {len}")));
        }
    }
    Ok(())
}

/// About `count` elements of what is asked for.
fn along(wanted: &Wanted, count: u64) -> Along {
    match *wanted {
        Wanted::Index(index) => Along { start: index, step: 1, len: 1 },
        Wanted::Range(start, stop, _) => {
            let step = (stop - start).div_ceil(count.max(1)).max(1);
            Along { start, step, len: (stop - start).div_ceil(step) }
        }
    }
}

/// How many chunks of this length the elements lie in.
fn chunks_along(axis: &Along, part: u64) -> u64 {
    let part = part.max(1);
    match axis.last() {
        None => 0,
        Some(_) if axis.step >= part => axis.len,
        Some(last) => last / part - axis.start / part + 1,
    }
}

/// What the parameters `y`, `x` (axes), `y0`, `y1`, `x0`, `x1` (their ranges) and `at` (indices of all axes) of a query ask for.
pub(crate) struct Plane {
    /// The axis from top to bottom; `None` for a single row.
    pub(crate) y: Option<usize>,
    /// The axis from left to right; `None` for a single column.
    pub(crate) x: Option<usize>,
    pub(crate) wanted: Vec<Wanted>,
}

impl Plane {
    /// `most` elements along an axis at most, and as many as the parameters `height` and `width` say.
    pub(crate) fn parse(query: &Query, shape: &[u64], most: u64) -> Result<Self, Fault> {
        let (y, x): (Option<usize>, Option<usize>) = (query.optional("y")?, query.optional("x")?);
        if y.is_some() && y == x {
            return Err(Fault::argument("y and x are the same axis"));
        }
        if let Some(axis) = [y, x].into_iter().flatten().find(|axis| *axis >= shape.len()) {
            return Err(Fault::argument(format!("found axis {axis}, expected one below {}", shape.len())));
        }
        let at: Vec<u64> = query.list("at")?;
        if !at.is_empty() && at.len() != shape.len() {
            return Err(Fault::argument(format!("at: found {} indices, expected {}", at.len(), shape.len())));
        }
        let mut wanted: Vec<Wanted> =
            (0..shape.len()).map(|axis| Wanted::Index(at.get(axis).copied().unwrap_or(0))).collect();
        for (axis, name, count) in [(y, "y", "height"), (x, "x", "width")] {
            let Some((axis, len)) = axis.and_then(|axis| Some((axis, *shape.get(axis)?))) else { continue };
            let start = query.number(&format!("{name}0"), 0)?;
            let stop = query.number(&format!("{name}1"), len)?;
            if let Some(wanted) = wanted.get_mut(axis) {
                *wanted = Wanted::Range(start, stop, query.number(count, most)?.min(most));
            }
        }
        Ok(Self { y, x, wanted })
    }

    /// Asks for all of the first elements of each range, no more than `most`.
    pub(crate) fn all_of_few(&mut self, most: u64) {
        for wanted in &mut self.wanted {
            if let Wanted::Range(start, stop, _) = *wanted {
                *wanted = Wanted::Range(start, stop.min(start.saturating_add(most)), most);
            }
        }
    }
}

/// The elements of an axis as JSON.
pub(crate) fn described(number: Option<usize>, sample: &Sample, array: &Array) -> Value {
    let Some((number, axis)) = number.and_then(|number| Some((number, sample.axes.get(number)?))) else {
        return Value::Null;
    };
    let name = array.dimension_names().and_then(|names| names.get(number)?.as_deref());
    let size = array.shape().get(number).copied().unwrap_or(0);
    json!({
        "axis": number,
        "name": (name.map_or(Value::Null, Value::from)),
        "size": size,
        "start": (axis.start),
        "step": (axis.step),
        "count": (axis.len),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_evenly_spaced() {
        assert_eq!(along(&Wanted::Range(10, 110, 0), 50), Along { start: 10, step: 2, len: 50 });
        assert_eq!(along(&Wanted::Range(10, 111, 0), 50), Along { start: 10, step: 3, len: 34 });
        assert_eq!(along(&Wanted::Range(5, 5, 0), 50), Along { start: 5, step: 1, len: 0 });
        assert_eq!(along(&Wanted::Index(7), 50), Along { start: 7, step: 1, len: 1 });
    }

    #[test]
    fn chunks_are_counted_once() {
        assert_eq!(chunks_along(&Along { start: 0, step: 1, len: 100 }, 10), 10);
        assert_eq!(chunks_along(&Along { start: 9, step: 1, len: 2 }, 10), 2);
        assert_eq!(chunks_along(&Along { start: 0, step: 100, len: 5 }, 10), 5);
        assert_eq!(chunks_along(&Along { start: 0, step: 1, len: 0 }, 10), 0);
    }
}
