use std::fmt;

/// Why a shape, region, grid, key encoding or selection was refused.
///
/// Positions are counted in elements or chunks of one axis (as the variant says), axes from 0.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Something has another number of dimensions than the array.
    #[error("{what} has {found} dimensions, the array has {expected}")]
    Rank {
        /// The thing with the wrong number of dimensions: `region`, `chunk shape`, `selection` ...
        what: &'static str,
        /// Its number of dimensions.
        found: usize,
        /// The array's number of dimensions.
        expected: usize,
    },
    /// A position lies outside the axis.
    #[error("{what} {found} is out of bounds for axis {axis} of length {len}")]
    OutOfBounds {
        /// The thing looked up: `index`, `chunk`, `range end`.
        what: &'static str,
        /// The axis, counted from 0.
        axis: usize,
        /// The position as it was given.
        found: i128,
        /// The length of the axis, in the unit of `found`.
        len: u64,
    },
    /// A number of elements or chunks does not fit 64 bits.
    #[error("{what} does not fit 64 bits")]
    Overflow {
        /// The thing to be counted.
        what: &'static str,
    },
    /// A chunk length is 0 although the axis is not empty.
    #[error("the chunk length of axis {axis} is 0, the axis has length {len}")]
    ZeroChunk {
        /// The axis, counted from 0.
        axis: usize,
        /// The length of the axis.
        len: u64,
    },
    /// The chunk lengths of a rectilinear grid do not reach the end of the axis.
    #[error("the chunks of axis {axis} cover {found} elements, the axis has length {len}")]
    Uncovered {
        /// The axis, counted from 0.
        axis: usize,
        /// The sum of the chunk lengths.
        found: u64,
        /// The length of the axis.
        len: u64,
    },
    /// Chunks that end with the array would have another shape than they are stored with.
    #[error(
        "the chunks along axis {axis} end with the array, which can be resized from and to multiples of {len} elements alone"
    )]
    CutChunk {
        /// The axis, counted from 0.
        axis: usize,
        /// The length of a whole chunk.
        len: u64,
    },
    /// A step is 0.
    #[error("the step along axis {axis} is 0")]
    ZeroStep {
        /// The axis, counted from 0.
        axis: usize,
    },
    /// A mask has another length than the axis that it masks.
    #[error("the mask along axis {axis} has length {found}, the axis has length {expected}")]
    MaskLength {
        /// The axis, counted from 0.
        axis: usize,
        /// The length of the mask.
        found: u64,
        /// The length of the axis.
        expected: u64,
    },
    /// The lists of a coordinate selection differ in length.
    #[error("axis {axis} has {found} coordinates, axis 0 has {expected}")]
    CoordinateLists {
        /// The axis, counted from 0.
        axis: usize,
        /// The number of coordinates for that axis.
        found: usize,
        /// The number of coordinates for axis 0.
        expected: usize,
    },
    /// More than one `...` in a selection.
    #[error("more than one `...` in the selection")]
    Ellipses,
    /// Chunks are selected by consecutive ranges and single numbers only.
    #[error("axis {axis}: chunks are selected by a number or a range of step 1")]
    BlockStep {
        /// The axis, counted from 0.
        axis: usize,
    },
    /// A selection of chunks cannot be resolved with a shape alone.
    #[error("a selection of chunks needs the chunk grid")]
    NeedsGrid,
    /// A dimension was selected by a name the array does not have, or has more than once.
    #[error("{found} dimensions are named {name:?}, expected 1")]
    DimensionName {
        /// The name.
        name: String,
        /// How many dimensions bear it.
        found: usize,
    },
    /// A dimension was selected twice.
    #[error("dimension {name:?} is selected more than once")]
    RepeatedName {
        /// The name.
        name: String,
    },
    /// A selection's text cannot be read.
    #[error("part {part} of the selection, {text:?}: expected {expected}")]
    Parse {
        /// Which part between commas, counted from 1.
        part: usize,
        /// The part as it was written.
        text: String,
        /// The syntax expected there.
        expected: &'static str,
    },
    /// A chunk grid or chunk key encoding of this name is not known.
    #[error("unknown {what} {name:?}")]
    UnknownName {
        /// `chunk grid` or `chunk key encoding`.
        what: &'static str,
        /// The name found.
        name: String,
    },
    /// A member of a configuration is missing, of the wrong kind, or not known.
    #[error("{pointer}: found {found}, expected {expected}")]
    Config {
        /// JSON pointer relative to the `configuration` object, as `/chunk_shape/1`.
        pointer: String,
        /// The value found there.
        found: String,
        /// The syntax expected there.
        expected: &'static str,
    },
    /// A member of a configuration does not fit the array.
    #[error("{pointer}: {problem}")]
    At {
        /// JSON pointer relative to the `configuration` object.
        pointer: String,
        /// Why it does not fit.
        problem: Box<Error>,
    },
}

impl fmt::Debug for Error {
    /// As `fn main() -> Result` prints it: the message.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Error {
    /// Where in a `configuration` object the error lies, as JSON pointer relative to it; `None` if it does not come
    /// from one.
    pub fn pointer(&self) -> Option<&str> {
        match self {
            Self::Config { pointer, .. } | Self::At { pointer, .. } => Some(pointer),
            _ => None,
        }
    }
}

/// A result with this crate's [`Error`].
pub type Result<T, E = Error> = core::result::Result<T, E>;
