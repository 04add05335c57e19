//! Printing of selections in the form that [`Selection::parse`] reads.

use core::fmt;

use super::{AxisSelection, Selection};

impl fmt::Display for AxisSelection {
    /// Writes the form that [`parse`](core::str::FromStr) reads; a mask is written as the list of its selected positions.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Index(at) => write!(f, "{at}"),
            Self::Range { start, stop, step } => {
                start.map_or(Ok(()), |start| write!(f, "{start}"))?;
                f.write_str(":")?;
                stop.map_or(Ok(()), |stop| write!(f, "{stop}"))?;
                if *step == 1 { Ok(()) } else { write!(f, ":{step}") }
            }
            Self::Indices(indices) => bracketed(f, indices.iter()),
            Self::Mask(mask) => {
                bracketed(f, mask.iter().enumerate().filter(|(_, is_taken)| **is_taken).map(|(at, _)| at))
            }
            Self::Ellipsis => f.write_str("..."),
            Self::All => f.write_str(":"),
        }
    }
}

impl fmt::Display for Selection {
    /// Writes the form that [`parse`](Selection::parse) reads. Coordinates, masks of the whole array and whole chunks have no such form,
    /// and are described: `3 points`, `a mask of [4, 4]`, `chunks 0:2, 1`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Axes(axes) => listed_or_all(f, axes.iter()),
            Self::Region(region) => listed_or_all(f, region.axes().iter()),
            Self::Coordinates(coordinates) => match coordinates.first().map_or(0, Vec::len) {
                1 => f.write_str("1 point"),
                points => write!(f, "{points} points"),
            },
            Self::Mask { shape, .. } => {
                f.write_str("a mask of ")?;
                bracketed(f, shape.iter())
            }
            Self::Blocks(axes) => {
                f.write_str("chunks ")?;
                listed_or_all(f, axes.iter())
            }
        }
    }
}

fn bracketed<T: fmt::Display>(f: &mut fmt::Formatter<'_>, items: impl Iterator<Item = T>) -> fmt::Result {
    f.write_str("[")?;
    listed(f, items)?;
    f.write_str("]")
}

/// Writes the parts of a selection; `...` for a selection without parts, which is the whole array.
fn listed_or_all<T: fmt::Display>(f: &mut fmt::Formatter<'_>, parts: impl ExactSizeIterator<Item = T>) -> fmt::Result {
    if parts.len() == 0 { f.write_str("...") } else { listed(f, parts) }
}

fn listed<T: fmt::Display>(f: &mut fmt::Formatter<'_>, items: impl Iterator<Item = T>) -> fmt::Result {
    for (number, item) in items.enumerate() {
        let comma = if number == 0 { "" } else { ", " };
        write!(f, "{comma}{item}")?;
    }
    Ok(())
}
