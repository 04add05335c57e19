//! Elements on their way between an array and a file: the progress, and the line at the end.

use super::bar::Bar;
use crate::object::object;
use crate::{escape, number};
use std::cell::Cell;
use std::time::Instant;
use zarr::meta::json::Map;

/// Elements that are read or written.
#[derive(Debug)]
pub(crate) struct Transfer {
    bar: Bar,
    /// Bytes of an element.
    item: u64,
    elements: Cell<u64>,
    started: Instant,
}

/// Elements that were read or written.
#[derive(Debug)]
pub(crate) struct TransferTotals {
    elements: u64,
    /// Bytes of the file.
    bytes: u64,
    seconds: f64,
}

impl Transfer {
    /// A transfer of elements of this shape, of `item` bytes each. The progress is shown on a terminal, if `is_shown`.
    pub(crate) fn new(shape: &[u64], item: u64, is_shown: bool) -> Self {
        let bar = Bar::new(zarr::grid::total_size(shape, item.max(1)), !is_shown);
        Self { bar, item: item.max(1), elements: Cell::new(0), started: Instant::now() }
    }

    /// Adds the number of elements that were done since the last call.
    pub(crate) fn add(&self, elements: usize) {
        let elements = elements as u64;
        self.elements.set(self.elements.get().saturating_add(elements));
        self.bar.add(elements.saturating_mul(self.item));
    }

    /// Ends the transfer when all elements are done; the file has `bytes` bytes.
    pub(crate) fn finish(self, bytes: u64) -> TransferTotals {
        self.bar.finish();
        TransferTotals { elements: self.elements.get(), bytes, seconds: self.started.elapsed().as_secs_f64() }
    }
}

impl TransferTotals {
    /// The facts behind others, as JSON.
    pub(crate) fn facts_behind(&self, others: Map) -> Map {
        object! { ..others, "elements": self.elements, "bytes": self.bytes, "seconds": self.seconds }
    }

    /// The line at the end; `name` is the file or array that they went to.
    pub(crate) fn line(&self, name: &str) -> String {
        let (elements, bytes) = (number::counted(self.elements, "element"), number::size(self.bytes));
        format!("{}: {elements}, {bytes} in {:.1} s\n", escape::line(name), self.seconds)
    }
}
