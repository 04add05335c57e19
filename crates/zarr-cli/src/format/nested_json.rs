//! Elements as nested arrays of JSON.

use super::{AxisLabels, Cells, Format};
use crate::escape;
use crate::failure::Result;
use crate::output::Output;

/// Prints nested JSON arrays, with a line for each innermost array.
#[derive(Debug)]
pub(super) struct NestedJson {
    shape: Vec<u64>,
    /// Number of elements printed so far.
    done: u64,
}

impl NestedJson {
    pub(super) fn new(shape: &[u64]) -> Self {
        Self { shape: shape.to_vec(), done: 0 }
    }

    /// Returns the number of nested arrays that end before element `index`, counted from the innermost.
    fn ends(&self, index: u64) -> usize {
        let mut rest = index;
        let ends = |&&len: &&u64| {
            let at_end = rest.is_multiple_of(len.max(1));
            rest /= len.max(1);
            at_end
        };
        self.shape.iter().rev().take_while(ends).count()
    }
}

impl Format for NestedJson {
    fn begin(&mut self, out: &mut Output) -> Result<()> {
        if self.shape.contains(&0) { out.text(&empty(&self.shape)) } else { Ok(()) }
    }

    fn piece(&mut self, cells: &Cells, _: &[AxisLabels], out: &mut Output) -> Result<()> {
        for index in 0..cells.len() {
            let ends = self.ends(self.done);
            if self.done > 0 {
                out.text(&"]".repeat(ends))?;
                out.text(if ends > 0 { ",\n" } else { ", " })?;
            }
            out.text(&"[".repeat(ends))?;
            out.text(&escape::json_value(&cells.json(index)))?;
            self.done += 1;
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Output) -> Result<()> {
        let open = if self.shape.contains(&0) { 0 } else { self.shape.len() };
        out.text(&"]".repeat(open))?;
        out.text("\n")
    }
}

/// Returns the nested JSON arrays of `shape`, which has an axis of length 0.
fn empty(shape: &[u64]) -> String {
    match shape.split_first() {
        None | Some((0, _)) => "[]".to_owned(),
        Some((&len, rest)) => {
            let inner = empty(rest);
            // Only the lengths before the first 0 count; a hostile shape must not become a string of its size.
            let len = usize::try_from(len).unwrap_or(usize::MAX).min(1 << 20 >> inner.len().ilog2());
            format!("[{}]", vec![inner; len].join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_without_elements() {
        assert_eq!(empty(&[0]), "[]");
        assert_eq!(empty(&[2, 0, 3]), "[[], []]");
        assert_eq!(empty(&[1, 2, 0]), "[[[], []]]");
    }

    #[test]
    fn arrays_end_with_their_elements() {
        let nested = NestedJson::new(&[2, 3]);
        assert_eq!((0..6).map(|index| nested.ends(index)).collect::<Vec<_>>(), [2, 0, 0, 1, 0, 0]);
        assert_eq!(NestedJson::new(&[]).ends(0), 0);
    }
}
