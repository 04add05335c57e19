use crate::error::{Error, Result};
use crate::region::Region;
use crate::shape::{Shape, element_count};

mod convert;
mod display;
mod parse;
mod resolve;
pub use convert::IntoSelection;

/// The selection along one axis, with the meaning numpy gives it.
///
/// Negative numbers count from the end of the axis. Ranges are clipped to the axis; single indices and lists are not.
///
/// It is printed and [parsed](core::str::FromStr) as a part of a [`Selection`] is; of one axis alone a list needs no brackets.
///
/// ```
/// # use zarr_grid::AxisSelection;
/// assert_eq!("3, 1".parse::<AxisSelection>()?, AxisSelection::Indices(vec![3, 1]));
/// assert_eq!(AxisSelection::range(-3, 7).to_string(), "-3:7");
/// # Ok::<(), zarr_grid::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum AxisSelection {
    /// One position; the axis is dropped from the result.
    Index(i64),
    /// `start:stop:step`. With a negative step the positions go down. `None` stands for the end from or to which the
    /// step goes.
    Range {
        /// The first position.
        start: Option<i64>,
        /// The position before which the range ends.
        stop: Option<i64>,
        /// Distance from one position to the next, not 0.
        step: i64,
    },
    /// Positions in any order, repeated if listed repeatedly. Independent of lists along other axes (orthogonal).
    Indices(Vec<i64>),
    /// The positions whose entry is true. As long as the axis.
    Mask(Vec<bool>),
    /// As many whole axes as are not mentioned, at most once per selection.
    Ellipsis,
    /// The whole axis.
    All,
}

impl AxisSelection {
    /// `start:stop` with step 1.
    pub const fn range(start: i64, stop: i64) -> Self {
        Self::Range { start: Some(start), stop: Some(stop), step: 1 }
    }
}

/// Which elements of an array are meant.
///
/// Made from Rust ranges and numbers through [`IntoSelection`], or parsed from text as `"0:10, 5, ::2, ..., -1"`; lists
/// stand in brackets, `"[3, 1, 1], :"`. It is printed as it is parsed. [`Selection::resolve`] applies it to a shape.
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
    /// Per axis a number, a range, a list or a mask: their outer product. Axes not mentioned are whole.
    Axes(Vec<AxisSelection>),
    /// Exactly these elements, which have to lie in the array.
    Region(Region),
    /// Single elements: one list of coordinates per axis, all of one length. The result has one dimension.
    Coordinates(Vec<Vec<i64>>),
    /// The elements whose entry is true, in C order. The result has one dimension.
    Mask {
        /// The shape of the mask, which is that of the array.
        shape: Shape,
        /// The mask in C order.
        mask: Vec<bool>,
    },
    /// Whole chunks, selected by numbers (which drop no axis) and ranges of step 1. The result is the box they cover.
    Blocks(Vec<AxisSelection>),
}

impl Selection {
    /// Every element.
    pub const fn all() -> Self {
        Self::Axes(Vec::new())
    }

    /// Single elements, one list of coordinates per axis.
    pub const fn coordinates(coordinates: Vec<Vec<i64>>) -> Self {
        Self::Coordinates(coordinates)
    }

    /// The elements whose entry is true.
    ///
    /// # Errors
    /// [`Error::MaskLength`] if `mask` has not as many entries as `shape` says.
    pub fn mask(shape: &[u64], mask: Vec<bool>) -> Result<Self> {
        let expected = element_count(shape).ok_or(Error::Overflow { what: "the number of elements of a mask" })?;
        let found = mask.len() as u64;
        if found != expected {
            return Err(Error::MaskLength { axis: 0, found, expected });
        }
        Ok(Self::Mask { shape: shape.into(), mask })
    }

    /// Whole chunks: numbers and ranges count chunks.
    ///
    /// # Errors
    /// [`Error::BlockStep`] if the selection is not one of ranges and numbers.
    pub fn blocks(chunks: impl IntoSelection) -> Result<Self> {
        match chunks.into_selection()? {
            Self::Axes(axes) | Self::Blocks(axes) => Ok(Self::Blocks(axes)),
            _ => Err(Error::BlockStep { axis: 0 }),
        }
    }

    /// A selection that names its dimensions; the others are whole.
    ///
    /// # Errors
    /// [`Error::DimensionName`] if a name is not that of exactly one dimension, [`Error::RepeatedName`] if it is
    /// used twice.
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
