//! Codec `zarrs.squeeze`.

use crate::copy::copy;
use std::sync::Arc;
use zarr_codec::{ArrayToArray, BuildContext, CodecEntry, CodecValue, ElementSpec, Error, View, ViewMut};
use zarr_grid::Shape;

/// Entry of the codec `zarrs.squeeze`, an experiment of the crate zarrs, for the table of codecs.
pub const ZARRS_SQUEEZE: CodecEntry =
    CodecEntry::array_to_array("zarrs.squeeze", |context| Ok(Arc::new(Bound { element: context.element.clone() })));

/// Codec `zarrs.squeeze`: the same elements without the axes of length 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ZarrsSqueeze;

impl CodecValue for ZarrsSqueeze {
    const ENTRY: CodecEntry = ZARRS_SQUEEZE;

    fn from_config(_: &BuildContext<'_>) -> Result<Self, Error> {
        Ok(Self)
    }
}

/// Codec for the data type of an array.
#[derive(Debug)]
struct Bound {
    element: ElementSpec,
}

impl ArrayToArray for Bound {
    fn encoded(&self) -> &ElementSpec {
        &self.element
    }

    fn encoded_shape(&self, shape: &[u64]) -> Result<Shape, Error> {
        let longer: Shape = shape.iter().copied().filter(|&len| len != 1).collect();
        // One axis stays where all have length 1.
        Ok(if longer.is_empty() { Shape::from_slice(&[1]) } else { longer })
    }

    fn encode(&self, chunk: &View<'_>, out: &mut ViewMut<'_>) -> Result<(), Error> {
        copy(chunk, out)
    }

    fn decode(&self, chunk: &View<'_>, out: &mut ViewMut<'_>) -> Result<(), Error> {
        copy(chunk, out)
    }
}
