//! The codec `zarrs.squeeze`.

use crate::copy::copy;
use std::sync::Arc;
use zarr_codec::{ArrayToArray, BuildContext, CodecEntry, ElementSpec, Error, View, ViewMut};
use zarr_grid::Shape;

/// Codec `zarrs.squeeze`, an experiment of the crate zarrs, for the table of codecs.
pub const ZARRS_SQUEEZE: CodecEntry = CodecEntry::array_to_array("zarrs.squeeze", build);

fn build(context: &BuildContext<'_>) -> Result<Arc<dyn ArrayToArray>, Error> {
    Ok(Arc::new(Squeeze { element: context.element.clone() }))
}

/// The codec, bound to a data type.
#[derive(Debug)]
struct Squeeze {
    element: ElementSpec,
}

impl ArrayToArray for Squeeze {
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
