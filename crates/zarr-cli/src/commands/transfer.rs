//! Transfer of elements between an array and a file: its progress, and its summary.

use super::bar::Bar;
use crate::object::object;
use crate::{escape, number};
use std::cell::Cell;
use std::time::Instant;
use zarr::meta::json::Map;

/// Running transfer of elements.
#[derive(Debug)]
pub(crate) struct Transfer {
    bar: Bar,
    /// Size of an element in bytes.
    item: u64,
    /// Unit that is counted: `element` or `row`.
    unit: &'static str,
    elements: Cell<u64>,
    started: Instant,
}

/// Totals of a finished transfer.
#[derive(Debug)]
pub(crate) struct TransferTotals {
    unit: &'static str,
    elements: u64,
    /// Size of the file in bytes.
    bytes: u64,
    seconds: f64,
}

impl Transfer {
    /// Starts the progress of a transfer of elements of this shape; `item` is the size of an element in bytes. The progress is shown on a
    /// terminal, if `is_shown`.
    pub(crate) fn new(shape: &[u64], item: u64, is_shown: bool) -> Self {
        let bar = Bar::new(zarr::grid::total_size(shape, item.max(1)), !is_shown);
        Self { bar, item: item.max(1), unit: "element", elements: Cell::new(0), started: Instant::now() }
    }

    /// Starts the progress of a transfer of rows of a table, which have about `row` bytes.
    pub(crate) fn of_rows(rows: u128, row: u64, is_shown: bool) -> Self {
        let rows = u64::try_from(rows).unwrap_or(u64::MAX);
        Self { unit: "row", ..Self::new(&[rows], row, is_shown) }
    }

    /// Adds the number of elements that were transferred since the last call.
    pub(crate) fn add(&self, elements: usize) {
        let elements = elements as u64;
        self.elements.set(self.elements.get().saturating_add(elements));
        self.bar.add(elements.saturating_mul(self.item));
    }

    /// Ends the transfer after the last element; `bytes` is the size of the file in bytes.
    pub(crate) fn finish(self, bytes: u64) -> TransferTotals {
        self.bar.finish();
        TransferTotals {
            unit: self.unit,
            elements: self.elements.get(),
            bytes,
            seconds: self.started.elapsed().as_secs_f64(),
        }
    }
}

impl TransferTotals {
    /// Returns `others` followed by the facts about the transfer, as JSON.
    pub(crate) fn facts_behind(&self, others: Map) -> Map {
        let mut facts = others;
        facts.insert(format!("{}s", self.unit), self.elements);
        object! { ..facts, "bytes": self.bytes, "seconds": self.seconds }
    }

    /// Returns the summary in one line; `name` is the file or array that was written.
    pub(crate) fn line(&self, name: &str) -> String {
        let (elements, bytes) = (number::counted(self.elements, self.unit), number::size(self.bytes));
        format!("{}: {elements}, {bytes} in {:.1} s\n", escape::line(name), self.seconds)
    }
}
