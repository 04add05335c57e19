//! Layouts that are counted: those that look good roughly, and from the best of them step by step to better ones.

use super::choose::{least, score};
use super::cost::{Costs, LayoutCost};
use super::search::Problem;
use crate::sample::Measured;
use std::collections::HashMap;
use zarr_array::{Error, ErrorKind, Result};

/// Maximum number of layouts that are counted.
const MOST_COUNTED: usize = 600;

/// Shapes of chunks and of shards.
type Shapes = (Vec<u64>, Option<Vec<u64>>);

/// Layouts with their costs.
#[derive(Debug)]
pub(super) struct Counted<'a> {
    costs: Costs<'a>,
    problem: Problem<'a>,
    codecs: &'a Measured,
    pub(super) layouts: Vec<LayoutCost>,
    /// Index of each layout; `None` for one that has too many parts to be counted.
    known: HashMap<Shapes, Option<usize>>,
    /// Why a layout could not be counted.
    limit: Option<Error>,
}

impl<'a> Counted<'a> {
    /// Counts layouts of the problem. All have the same codecs.
    ///
    /// # Errors
    /// [`ErrorKind::Limit`] if no layout can be counted.
    pub(super) fn of(costs: Costs<'a>, problem: Problem<'a>, codecs: &'a Measured) -> Result<Self> {
        let mut counted = Self { costs, problem, codecs, layouts: Vec::new(), known: HashMap::new(), limit: None };
        for chunks in problem.chunk_shapes() {
            for shards in problem.shard_shapes(&chunks) {
                counted.count((chunks.clone(), shards))?;
            }
        }
        if let Some(error) = counted.limit.take().filter(|_| counted.layouts.is_empty()) {
            return Err(error);
        }
        let accesses = costs.axes.len();
        // The least of each access first, so that the balance is between what is possible.
        for access in 0..accesses {
            let seconds = move |cost: &LayoutCost| cost.accesses.get(access).map_or(f64::MAX, |cost| cost.seconds);
            counted.climb(&|cost, _| seconds(cost))?;
        }
        if accesses > 1 {
            counted.climb(&score)?;
        }
        Ok(counted)
    }

    /// Counts a layout, unless it is known, and returns its index; `None` if it has too many parts.
    fn count(&mut self, shapes: Shapes) -> Result<Option<usize>> {
        if let Some(known) = self.known.get(&shapes) {
            return Ok(*known);
        }
        let number = match self.costs.of_layout(&shapes.0, shapes.1.clone(), self.codecs) {
            Err(error) if error.kind() == ErrorKind::Limit => {
                self.limit = Some(error);
                None
            }
            cost => {
                self.layouts.push(cost?);
                Some(self.layouts.len() - 1)
            }
        };
        self.known.insert(shapes, number);
        Ok(number)
    }

    /// Goes from the layout with the lowest value to layouts beside it, as long as one has a lower value. The function takes a layout and the
    /// smallest number of seconds of each access.
    fn climb(&mut self, value: &dyn Fn(&LayoutCost, &[f64]) -> f64) -> Result<()> {
        let least = least(&self.layouts, self.costs.axes.len());
        let value = |cost: &LayoutCost| value(cost, &least);
        let best = self.layouts.iter().enumerate().map(|(number, cost)| (value(cost), number));
        let Some((mut lowest, mut at)) = best.min_by(|a, b| a.0.total_cmp(&b.0)) else { return Ok(()) };
        loop {
            let Some(layout) = self.layouts.get(at).map(|cost| cost.layout.clone()) else { return Ok(()) };
            let mut next = None;
            for shapes in self.problem.beside(&layout.chunks, layout.shards.as_deref()) {
                if self.known.len() >= MOST_COUNTED {
                    return Ok(());
                }
                let Some(number) = self.count(shapes)? else { continue };
                let found = self.layouts.get(number).map_or(f64::MAX, value);
                // Steps that change next to nothing would go on for long.
                if found < lowest - lowest.abs() * 1e-3 {
                    (lowest, next) = (found, Some(number));
                    break;
                }
            }
            match next {
                Some(number) => at = number,
                None => return Ok(()),
            }
        }
    }
}
