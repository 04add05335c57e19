use std::fmt;

/// Error about a shape, region, grid, key encoding or selection.
///
/// Positions are counted in elements or chunks of one axis (as the variant says); axes are counted from 0.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Number of dimensions that differs from the array's.
    #[error("{what} has {found} dimensions, the array has {expected}")]
    Rank {
        /// Name of the argument with the wrong number of dimensions: `region`, `chunk shape`, `selection`..
        what: &'static str,
        /// Number of dimensions of the argument.
        found: usize,
        /// Number of dimensions of the array.
        expected: usize,
    },
    /// Position outside of the axis.
    #[error("{what} {found} is out of bounds for axis {axis} of length {len}")]
    OutOfBounds {
        /// Kind of the position: `index`, `chunk`, `range end`.
        what: &'static str,
        /// Number of the axis with the position, counted from 0.
        axis: usize,
        /// Position as it was given.
        found: i128,
        /// Length of the axis, in the unit of `found`.
        len: u64,
    },
    /// Number of elements or chunks that exceeds 64 bits.
    #[error("{what} does not fit 64 bits")]
    Overflow {
        /// Description of the number that exceeds 64 bits.
        what: &'static str,
    },
    /// Chunk length 0 along an axis that is not empty.
    #[error("the chunk length of axis {axis} is 0, the axis has length {len}")]
    ZeroChunk {
        /// Number of the axis with chunk length 0, counted from 0.
        axis: usize,
        /// Length of the axis in elements.
        len: u64,
    },
    /// Chunk lengths of a rectilinear grid that do not reach the end of the axis.
    #[error("the chunks of axis {axis} cover {found} elements, the axis has length {len}")]
    Uncovered {
        /// Number of the axis that chunks do not cover, counted from 0.
        axis: usize,
        /// Sum of the chunk lengths in elements.
        found: u64,
        /// Length of the axis in elements.
        len: u64,
    },
    /// Resize that would change the shape of stored chunks, in a grid whose chunks end with the array.
    #[error(
        "the chunks along axis {axis} end with the array, which can be resized from and to multiples of {len} elements alone"
    )]
    CutChunk {
        /// Number of the axis that would be resized, counted from 0.
        axis: usize,
        /// Length of a whole chunk in elements.
        len: u64,
    },
    /// Selection with a step of 0.
    #[error("the step along axis {axis} is 0")]
    ZeroStep {
        /// Number of the axis with the step, counted from 0.
        axis: usize,
    },
    /// Mask with another length than its axis.
    #[error("the mask along axis {axis} has length {found}, the axis has length {expected}")]
    MaskLength {
        /// Number of the axis with the mask, counted from 0.
        axis: usize,
        /// Length of the mask in elements.
        found: u64,
        /// Length of the axis in elements.
        expected: u64,
    },
    /// Coordinate selection whose lists differ in length.
    #[error("axis {axis} has {found} coordinates, axis 0 has {expected}")]
    CoordinateLists {
        /// Number of the axis with another number of coordinates than axis 0, counted from 0.
        axis: usize,
        /// Number of coordinates for `axis`.
        found: usize,
        /// Number of coordinates for axis 0.
        expected: usize,
    },
    /// More than one `...` in a selection.
    #[error("more than one `...` in the selection")]
    Ellipses,
    /// Selection of chunks by anything but ranges of step 1 and single numbers.
    #[error("axis {axis}: chunks are selected by a number or a range of step 1")]
    BlockStep {
        /// Number of the axis with the invalid selection of chunks, counted from 0.
        axis: usize,
    },
    /// Selection of chunks that was to be resolved with a shape instead of a grid.
    #[error("a selection of chunks needs the chunk grid")]
    NeedsGrid,
    /// Name that is not the name of exactly one dimension of the array.
    #[error("{found} dimensions are named {name:?}, expected 1")]
    DimensionName {
        /// Dimension name used in the selection.
        name: String,
        /// Number of dimensions with this name: 0, or more than 1.
        found: usize,
    },
    /// Dimension that was selected twice by name.
    #[error("dimension {name:?} is selected more than once")]
    RepeatedName {
        /// Name of the dimension that was selected twice.
        name: String,
    },
    /// Text that is no selection.
    #[error("part {part} of the selection, {text:?}: expected {expected}")]
    Parse {
        /// Number of the faulty part between commas, counted from 1.
        part: usize,
        /// Faulty part as it was written.
        text: String,
        /// Description of the expected syntax.
        expected: &'static str,
    },
    /// Chunk grid or chunk key encoding with an unknown name.
    #[error("unknown {what} {name:?}")]
    UnknownName {
        /// Kind of the name: `chunk grid` or `chunk key encoding`.
        what: &'static str,
        /// Unknown name, as found.
        name: String,
    },
    /// Member of a configuration that is missing, of the wrong kind, or unknown.
    #[error("{pointer}: found {found}, expected {expected}")]
    Config {
        /// JSON pointer relative to the `configuration` object, such as `/chunk_shape/1`.
        pointer: String,
        /// Value found in the configuration, as JSON, shortened if long.
        found: String,
        /// Description of the expected value.
        expected: &'static str,
    },
    /// Member of a configuration that does not fit the array.
    #[error("{pointer}: {problem}")]
    At {
        /// JSON pointer relative to the `configuration` object.
        pointer: String,
        /// Reason why the member does not fit.
        problem: Box<Error>,
    },
}

impl fmt::Debug for Error {
    /// Writes the message, since `fn main() -> Result` prints errors by `Debug`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Error {
    /// Returns the JSON pointer to the faulty member, relative to the `configuration` object; `None` if the error is not about a
    /// configuration.
    pub fn pointer(&self) -> Option<&str> {
        match self {
            Self::Config { pointer, .. } | Self::At { pointer, .. } => Some(pointer),
            _ => None,
        }
    }
}

/// Result with this crate's [`Error`].
pub type Result<T, E = Error> = core::result::Result<T, E>;
