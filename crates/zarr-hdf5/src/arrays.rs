//! Arrays of data sets with several paths: each such data set is read once.

use std::collections::HashMap;
use std::fmt::Display;

use crate::document::Array;
use crate::fault::Refusal;
use crate::files::ObjectId;
use crate::walk::Node;

/// Cache of the arrays of data sets that have several paths. Both maps are keyed by the data set.
#[derive(Default)]
pub(crate) struct Arrays {
    /// Number of paths of each data set for which [`Arrays::get`] was not called yet.
    left: HashMap<ObjectId, usize>,
    known: HashMap<ObjectId, Known>,
}

/// An array that was read, with the warnings about the array, which are repeated for each of its paths.
struct Known {
    array: Result<Array, Refusal>,
    warnings: Vec<String>,
}

impl Arrays {
    /// Leaves out the data set `node` at its further paths, since it exceeds a limit at one: these share the elements that are kept.
    pub(crate) fn leave_out(&mut self, node: &Node, limit: &str) {
        if let Some(known) = self.known.get_mut(&node.id) {
            known.array = Err(Refusal::new(limit));
            known.warnings.clear();
        }
    }

    pub(crate) fn new(nodes: &[Node]) -> Self {
        let mut left = HashMap::new();
        for node in nodes.iter().filter(|node| node.is_array) {
            *left.entry(node.id).or_insert(0) += 1;
        }
        left.retain(|_, paths| *paths > 1);
        Self { left, known: HashMap::new() }
    }

    /// Returns the array of the data set `node`. `make` reads the array unless `get` was called for another path of the same data set
    /// before.
    pub(crate) fn get(
        &mut self,
        node: &Node,
        make: impl FnOnce(&mut dyn FnMut(String)) -> Result<Array, Refusal>,
        warn: &mut dyn FnMut(&dyn Display),
    ) -> Result<Array, Refusal> {
        let Some(left) = self.left.get_mut(&node.id) else { return make(&mut |text| warn(&text)) };
        *left = left.saturating_sub(1);
        let is_last = *left == 0;
        let mut known = self.known.remove(&node.id).unwrap_or_else(|| {
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
        self.known.insert(node.id, known);
        array
    }
}
