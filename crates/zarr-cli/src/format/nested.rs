//! Elements as nested lists of JSON.

use super::Format;
use crate::escape;
use crate::failure::Result;
use crate::output::Output;
use zarr::ArrayData;

/// Prints nested lists. The innermost stand on a line each.
#[derive(Debug)]
pub(super) struct Nested {
    shape: Vec<u64>,
    /// How many elements were printed.
    done: u64,
}

impl Nested {
    pub(super) fn new(shape: &[u64]) -> Self {
        Self { shape: shape.to_vec(), done: 0 }
    }

    /// How many lists end in front of element `place`, counted from the innermost.
    fn ends(&self, place: u64) -> usize {
        let mut rest = place;
        let ends = |&&len: &&u64| {
            let at_end = rest.is_multiple_of(len.max(1));
            rest /= len.max(1);
            at_end
        };
        self.shape.iter().rev().take_while(ends).count()
    }
}

impl Format for Nested {
    fn begin(&mut self, out: &mut Output) -> Result<()> {
        if self.shape.contains(&0) { out.text(&empty(&self.shape)) } else { Ok(()) }
    }

    fn piece(&mut self, data: &ArrayData, out: &mut Output) -> Result<()> {
        let mut text = String::new();
        for place in 0..data.len() {
            let ends = self.ends(self.done);
            if self.done > 0 {
                text.push_str(&"]".repeat(ends));
                text.push_str(if ends > 0 { ",\n" } else { ", " });
            }
            text.push_str(&"[".repeat(ends));
            text.push_str(&escape::json_value(&super::json(data, place)));
            self.done += 1;
            if text.len() > 1 << 16 {
                out.text(&text)?;
                text.clear();
            }
        }
        out.text(&text)
    }

    fn end(&mut self, out: &mut Output) -> Result<()> {
        let open = if self.shape.contains(&0) { 0 } else { self.shape.len() };
        out.text(&"]".repeat(open))?;
        out.text("\n")
    }
}

/// Lists of a shape without elements.
fn empty(shape: &[u64]) -> String {
    match shape.split_first() {
        None | Some((0, _)) => "[]".to_owned(),
        Some((&len, rest)) => {
            let inner = empty(rest);
            // Only the lengths in front of the first 0 count; a hostile shape must not become a text of its size.
            let len = usize::try_from(len).unwrap_or(usize::MAX).min(1 << 20 >> inner.len().ilog2());
            format!("[{}]", vec![inner; len].join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_without_elements() {
        assert_eq!(empty(&[0]), "[]");
        assert_eq!(empty(&[2, 0, 3]), "[[], []]");
        assert_eq!(empty(&[1, 2, 0]), "[[[], []]]");
    }

    #[test]
    fn lists_end_with_their_elements() {
        let nested = Nested::new(&[2, 3]);
        assert_eq!((0..6).map(|place| nested.ends(place)).collect::<Vec<_>>(), [2, 0, 0, 1, 0, 0]);
        assert_eq!(Nested::new(&[]).ends(0), 0);
    }
}
