use core::str::FromStr;

use super::{AxisSelection, Selection};
use crate::error::{Error, Result};

const AXIS: &str = "a number, start:stop:step, [a, list], or ...";

impl Selection {
    /// Parses a selection such as `0:10, 5, ::2, ..., [4, 1, 1]`, or with dimension names, `time=0:10, x=5`. The empty string selects
    /// everything. A selection with a colon may be in brackets, as a [`Region`](crate::Region) is printed: `[0:10, 5:6]`.
    ///
    /// `dimension_names` are the dimension names of the array, empty if it has none.
    ///
    /// # Errors
    /// [`Error::Parse`] with the part that cannot be parsed, or the errors of [`Selection::by_name`].
    ///
    /// # Example
    /// ```
    /// # use zarr_grid::Selection;
    /// let names = [Some("time".to_owned()), Some("x".to_owned())];
    /// assert_eq!(Selection::parse("x=5", &names)?, Selection::parse(":, 5", &[])?);
    /// let error = Selection::parse("0:10, 5f", &names).unwrap_err();
    /// assert!(error.to_string().starts_with("part 2 of the selection, \"5f\": expected a number"));
    /// # Ok::<(), zarr_grid::Error>(())
    /// ```
    pub fn parse(text: &str, dimension_names: &[Option<String>]) -> Result<Self> {
        let text = in_brackets(text.trim()).unwrap_or(text);
        if text.trim().is_empty() {
            return Ok(Self::all());
        }
        let mut named = Vec::new();
        let mut plain = Vec::new();
        for part in parts(text) {
            match part.text.rsplit_once('=') {
                Some((name, axis)) => named.push((name.trim(), part.axis(axis)?)),
                None => plain.push(part.axis(part.text)?),
            }
            if !named.is_empty() && !plain.is_empty() {
                return Err(part.error("names for all parts or for none"));
            }
        }
        if named.is_empty() { Ok(Self::Axes(plain)) } else { Self::by_name(named, dimension_names) }
    }
}

impl FromStr for Selection {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::parse(text, &[])
    }
}

impl FromStr for AxisSelection {
    type Err = Error;

    /// Parses one part of a selection: `5`, `0:10:2`, `[4, 1, 1]`, or a list without brackets.
    fn from_str(text: &str) -> Result<Self> {
        match parts(text).collect::<Vec<_>>().as_slice() {
            [part] => part.axis(part.text),
            parts => parts.iter().map(|part| part.integer(part.text)).collect::<Result<_>>().map(Self::Indices),
        }
    }
}

/// Returns the text inside of brackets that enclose the whole `text`; `None` if there are none, or if they enclose a list.
fn in_brackets(text: &str) -> Option<&str> {
    let inner = text.strip_prefix('[')?.strip_suffix(']')?;
    let (mut depth, mut has_colon) = (0_usize, false);
    for c in inner.chars() {
        match c {
            '[' => depth += 1,
            ']' => depth = depth.checked_sub(1)?,
            ':' if depth == 0 => has_colon = true,
            _ => {}
        }
    }
    (has_colon && depth == 0).then_some(inner)
}

/// Returns the parts between commas that are not in brackets.
fn parts(text: &str) -> impl Iterator<Item = Part<'_>> {
    let mut depth = 0usize;
    let parts = text.split(move |c| {
        match c {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    });
    parts.enumerate().map(|(i, part)| Part { number: i + 1, text: part.trim() })
}

#[derive(Clone, Copy)]
struct Part<'a> {
    number: usize,
    text: &'a str,
}

impl Part<'_> {
    fn error(&self, expected: &'static str) -> Error {
        Error::Parse { part: self.number, text: self.text.to_owned(), expected }
    }

    fn axis(&self, text: &str) -> Result<AxisSelection> {
        let text = text.trim();
        if text == "..." {
            return Ok(AxisSelection::Ellipsis);
        }
        if let Some(list) = text.strip_prefix('[') {
            let list = list.strip_suffix(']').ok_or_else(|| self.error("a list that ends in ]"))?.trim();
            let items = list.split(',').filter(|_| !list.is_empty());
            return Ok(AxisSelection::Indices(items.map(|item| self.integer(item)).collect::<Result<_>>()?));
        }
        let mut bounds = text.split(':');
        let (start, stop, step) = (bounds.next(), bounds.next(), bounds.next());
        if bounds.next().is_some() {
            return Err(self.error("at most two colons"));
        }
        let Some(stop) = stop else { return self.integer(text).map(AxisSelection::Index) };
        let step = self.bound(step.unwrap_or_default())?.unwrap_or(1);
        if step == 0 {
            return Err(self.error("a step other than 0"));
        }
        let start = self.bound(start.unwrap_or_default())?;
        match (start, self.bound(stop)?, step) {
            (None, None, 1) => Ok(AxisSelection::All),
            (start, stop, step) => Ok(AxisSelection::Range { start, stop, step }),
        }
    }

    fn bound(&self, text: &str) -> Result<Option<i64>> {
        if text.trim().is_empty() { Ok(None) } else { self.integer(text).map(Some) }
    }

    fn integer(&self, text: &str) -> Result<i64> {
        let text = text.trim();
        let error = match text.parse::<i128>() {
            Ok(_) => "a number of 63 bits",
            Err(_) => AXIS,
        };
        text.parse().map_err(|_| self.error(error))
    }
}
