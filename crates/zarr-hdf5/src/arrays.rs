//! Data sets with several paths, which are read once.

use std::collections::HashMap;
use std::fmt::Display;

use crate::document::Array;
use crate::fault::Refusal;
use crate::walk::Node;

/// The arrays of data sets that have further paths, by their addresses.
#[derive(Default)]
pub(crate) struct Arrays {
    /// Number of paths that were not asked for.
    left: HashMap<u64, usize>,
    known: HashMap<u64, Known>,
}

/// An array, and the warnings about it, which each of its paths has.
struct Known {
    array: Result<Array, Refusal>,
    warnings: Vec<String>,
}

impl Arrays {
    pub(crate) fn new(nodes: &[Node]) -> Self {
        let mut left = HashMap::new();
        for node in nodes.iter().filter(|node| node.is_array) {
            *left.entry(node.address).or_insert(0) += 1;
        }
        left.retain(|_, paths| *paths > 1);
        Self { left, known: HashMap::new() }
    }

    /// The array of a data set, which `make` makes unless another path asked for it.
    pub(crate) fn get(
        &mut self,
        node: &Node,
        make: impl FnOnce(&mut dyn FnMut(String)) -> Result<Array, Refusal>,
        warn: &mut dyn FnMut(&dyn Display),
    ) -> Result<Array, Refusal> {
        let Some(left) = self.left.get_mut(&node.address) else { return make(&mut |text| warn(&text)) };
        *left = left.saturating_sub(1);
        let is_last = *left == 0;
        let mut known = self.known.remove(&node.address).unwrap_or_else(|| {
            let mut warnings = Vec::new();
            let array = make(&mut |text| warnings.push(text));
            Known { array, warnings }
        });
        for text in &known.warnings {
            warn(text);
        }
        if is_last {
            return known.array;
        }
        let array = known.array.clone();
        // Further paths share the elements that are kept.
        if let Ok(array) = &mut known.array {
            array.inline = 0;
        }
        self.known.insert(node.address, known);
        array
    }
}
