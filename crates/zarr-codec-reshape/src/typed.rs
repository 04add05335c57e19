//! The codec by its type.

use crate::{RESHAPE, ZARRS_SQUEEZE};
use zarr_codec::{TypedCodec, array_codec};
use zarr_json::Value;

/// Codec `reshape`: another shape for the same elements.
///
/// ```
/// use zarr_codec_reshape::{Reshape, ReshapeAxis};
///
/// // Of chunks of (100, 50, 64, 3): the first two axes as one, the third, and one that is 3 long.
/// let codec = Reshape::to([ReshapeAxis::Axes(vec![0, 1]), ReshapeAxis::Axes(vec![2]), ReshapeAxis::Length(3)]);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Reshape(TypedCodec);

/// How long an encoded axis is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReshapeAxis {
    /// So long, more than 0.
    Length(u64),
    /// As long as these decoded axes multiplied.
    Axes(Vec<usize>),
    /// The rest that the other axes leave; once at most.
    Rest,
}

impl Reshape {
    /// To these axes.
    pub fn to(axes: impl IntoIterator<Item = ReshapeAxis>) -> Self {
        let axis = |axis: ReshapeAxis| match axis {
            ReshapeAxis::Length(len) => Value::from(len),
            ReshapeAxis::Axes(axes) => Value::from(axes),
            ReshapeAxis::Rest => Value::from(-1),
        };
        Self(TypedCodec::new(RESHAPE).with("shape", axes.into_iter().map(axis).collect::<Vec<_>>()))
    }
}

array_codec!(Reshape);

/// Codec `zarrs.squeeze`: the same elements without the axes of length 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ZarrsSqueeze;

array_codec!(ZarrsSqueeze = ZARRS_SQUEEZE);
