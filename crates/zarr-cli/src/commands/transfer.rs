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
    elements: Cell<u64>,
    started: Instant,
}

/// Totals of a finished transfer.
#[derive(Debug)]
pub(crate) struct TransferTotals {
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
        Self { bar, item: item.max(1), elements: Cell::new(0), started: Instant::now() }
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
        TransferTotals { elements: self.elements.get(), bytes, seconds: self.started.elapsed().as_secs_f64() }
    }
}

impl TransferTotals {
    /// Returns `others` followed by the facts about the transfer, as JSON.
    pub(crate) fn facts_behind(&self, others: Map) -> Map {
        object! { ..others, "elements": self.elements, "bytes": self.bytes, "seconds": self.seconds }
    }

    /// Returns the summary in one line; `name` is the file or array that was written.
    pub(crate) fn line(&self, name: &str) -> String {
        let (elements, bytes) = (number::counted(self.elements, "element"), number::size(self.bytes));
        format!("{}: {elements}, {bytes} in {:.1} s\n", escape::line(name), self.seconds)
    }
}
