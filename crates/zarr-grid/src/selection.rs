use crate::error::{Error, Result};
use crate::region::Region;
use crate::shape::{Shape, element_count};

mod convert;
mod display;
mod parse;
mod resolve;
pub use convert::IntoSelection;

/// Selection along one axis, with the meaning of numpy.
///
/// Negative numbers count from the end of the axis. Ranges are clipped to the axis; single indices and lists are not.
///
/// It is printed and [parsed](core::str::FromStr) like a part of a [`Selection`]; as a selection of one axis alone, a list needs no
/// brackets.
///
/// ```
/// # use zarr_grid::AxisSelection;
/// assert_eq!("3, 1".parse::<AxisSelection>()?, AxisSelection::Indices(vec![3, 1]));
/// assert_eq!(AxisSelection::range(-3, 7).to_string(), "-3:7");
/// # Ok::<(), zarr_grid::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum AxisSelection {
    /// Single position; the result lacks the axis.
    Index(i64),
    /// Range `start:stop:step`. With a negative step the positions descend.
    Range {
        /// First position; `None` for the end of the axis at which the step begins.
        start: Option<i64>,
        /// Position before which the range ends; `None` for the end of the axis to which the step leads.
        stop: Option<i64>,
        /// Distance from one position to the next, not 0.
        step: i64,
    },
    /// List of positions in any order, possibly repeated. It is independent of lists along other axes (orthogonal selection).
    Indices(Vec<i64>),
    /// Mask as long as the axis; it selects the positions whose entry is true.
    Mask(Vec<bool>),
    /// Placeholder for all axes that are not mentioned, which are whole; at most once per selection.
    Ellipsis,
    /// All positions of the axis.
    All,
}

impl AxisSelection {
    /// Creates the range `start:stop` with step 1.
    pub const fn range(start: i64, stop: i64) -> Self {
        Self::Range { start: Some(start), stop: Some(stop), step: 1 }
    }
}

/// Selection of elements of an array.
///
/// It is made from Rust ranges and numbers by [`IntoSelection`], or parsed from text such as `"0:10, 5, ::2, ..., -1"`; lists are in
/// brackets, `"[3, 1, 1], :"`. It is printed as it is parsed. [`Selection::resolve`] applies it to a shape.
///
/// # Example
/// ```
/// # use zarr_grid::{IntoSelection, Selection};
/// let selection: Selection = "1:3, ..., ::-2".parse()?;
/// assert_eq!(selection.resolve(&[10, 4, 5])?.result_shape().as_slice(), [2, 4, 3]);
/// assert_eq!((1..3, .., 0).into_selection()?.resolve(&[10, 4, 5])?.result_shape().as_slice(), [2, 4]);
/// assert_eq!((1..3, .., vec![4_i64, 1]).into_selection()?.to_string(), "1:3, :, [4, 1]");
/// # Ok::<(), zarr_grid::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Selection {
    /// Outer product of a number, range, list or mask per axis. Axes that are not mentioned are whole.
    Axes(Vec<AxisSelection>),
    /// Exactly the elements of a region, which must lie in the array.
    Region(Region),
    /// Single elements: one list of coordinates per axis, all of the same length. The result has one dimension.
    Coordinates(Vec<Vec<i64>>),
    /// Elements whose entry in a mask is true, in C order. The result has one dimension.
    Mask {
        /// Shape of the mask, equal to that of the array.
        shape: Shape,
        /// Entries of the mask in C order.
        mask: Vec<bool>,
    },
    /// Whole chunks, selected by numbers (which drop no axis) and ranges of step 1. The result is the box that the chunks cover.
    Blocks(Vec<AxisSelection>),
}

impl Selection {
    /// Creates a selection of all elements.
    pub const fn all() -> Self {
        Self::Axes(Vec::new())
    }

    /// Creates a selection of single elements, with one list of coordinates per axis.
    pub const fn coordinates(coordinates: Vec<Vec<i64>>) -> Self {
        Self::Coordinates(coordinates)
    }

    /// Creates a selection of the elements whose entry in `mask` is true.
    ///
    /// # Errors
    /// [`Error::MaskLength`] if `mask` has another number of entries than an array of `shape`.
    pub fn mask(shape: &[u64], mask: Vec<bool>) -> Result<Self> {
        let expected = element_count(shape).ok_or(Error::Overflow { what: "the number of elements of a mask" })?;
        let found = mask.len() as u64;
        if found != expected {
            return Err(Error::MaskLength { axis: 0, found, expected });
        }
        Ok(Self::Mask { shape: shape.into(), mask })
    }

    /// Creates a selection of whole chunks: numbers and ranges count chunks.
    ///
    /// # Errors
    /// [`Error::BlockStep`] if `chunks` contains anything but ranges and numbers.
    pub fn blocks(chunks: impl IntoSelection) -> Result<Self> {
        match chunks.into_selection()? {
            Self::Axes(axes) | Self::Blocks(axes) => Ok(Self::Blocks(axes)),
            _ => Err(Error::BlockStep { axis: 0 }),
        }
    }

    /// Creates a selection by dimension names; dimensions that are not named are whole.
    ///
    /// # Errors
    /// [`Error::DimensionName`] if a name is not that of exactly one dimension, [`Error::RepeatedName`] if a name is used twice.
    ///
    /// # Example
    /// ```
    /// # use zarr_grid::{AxisSelection, Selection};
    /// let names = [Some("time".to_owned()), Some("x".to_owned())];
    /// let selection = Selection::by_name([("x", AxisSelection::Index(3))], &names)?;
    /// assert_eq!(selection, Selection::Axes(vec![AxisSelection::All, AxisSelection::Index(3)]));
    /// # Ok::<(), zarr_grid::Error>(())
    /// ```
    pub fn by_name<'a>(
        picks: impl IntoIterator<Item = (&'a str, AxisSelection)>,
        dimension_names: &[Option<String>],
    ) -> Result<Self> {
        let mut axes = vec![None; dimension_names.len()];
        for (name, pick) in picks {
            let mut found = dimension_names.iter().enumerate().filter(|(_, known)| known.as_deref() == Some(name));
            let error = |found| Error::DimensionName { name: name.to_owned(), found };
            let (axis, _) = found.next().ok_or_else(|| error(0))?;
            let others = found.count();
            if others > 0 {
                return Err(error(1 + others));
            }
            if axes[axis].replace(pick).is_some() {
                return Err(Error::RepeatedName { name: name.to_owned() });
            }
        }
        Ok(Self::Axes(axes.into_iter().map(|pick| pick.unwrap_or(AxisSelection::All)).collect()))
    }
}
