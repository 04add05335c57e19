//! The codec.

use crate::config::TransposeConfig;
use std::sync::{Arc, OnceLock};
use zarr_codec::{ArrayToArray, BuildContext, CodecEntry, ElementSpec, Error, View, ViewMut};
use zarr_grid::Shape;

/// The codec, for the table of codecs.
pub const TRANSPOSE: CodecEntry =
    CodecEntry::array_to_array("transpose", build).list_argument("order").example(r#"{"order": [1, 0]}"#);

/// The codec of this crate, for the table of codecs.
pub const CODECS: &[CodecEntry] = &[TRANSPOSE];

fn build(context: &BuildContext<'_>) -> Result<Arc<dyn ArrayToArray>, Error> {
    Ok(Arc::new(Transpose {
        config: TransposeConfig::from_context(context)?,
        element: context.element.clone(),
        order: OnceLock::new(),
    }))
}

/// The codec, bound to a data type: built from metadata, used for every chunk.
#[derive(Debug)]
struct Transpose {
    config: TransposeConfig,
    element: ElementSpec,
    /// The permutation, found when the first shape says how many axes there are: all chunks of an array have the same
    /// number, but metadata of the codec alone does not tell it for orders `C` and `F`.
    order: OnceLock<Vec<usize>>,
}

impl Transpose {
    fn order(&self, rank: usize) -> Result<&[usize], Error> {
        let wrong = |what: String| Error::Metadata { pointer: "/configuration/order".to_owned(), what };
        let order = match self.order.get() {
            Some(order) => order,
            None => {
                let order = self.config.order.axes(rank);
                let order = order.ok_or_else(|| wrong(format!("expected a permutation of {rank} axes")))?;
                self.order.get_or_init(|| order)
            }
        };
        if order.len() != rank {
            return Err(wrong(format!("found an order of {} axes, expected {rank}", order.len())));
        }
        Ok(order)
    }
}

impl ArrayToArray for Transpose {
    fn encoded(&self) -> &ElementSpec {
        &self.element
    }

    fn encoded_shape(&self, shape: &[u64]) -> Result<Shape, Error> {
        let order = self.order(shape.len())?;
        Ok(order.iter().filter_map(|&axis| shape.get(axis).copied()).collect())
    }

    fn permutation(&self) -> Option<&[usize]> {
        self.order.get().map(Vec::as_slice)
    }

    fn encode(&self, chunk: &View<'_>, out: &mut ViewMut<'_>) -> Result<(), Error> {
        let order = self.order(chunk.shape().len())?;
        out.copy_from(&chunk.clone().permuted(order));
        Ok(())
    }

    fn decode(&self, chunk: &View<'_>, out: &mut ViewMut<'_>) -> Result<(), Error> {
        let order = self.order(chunk.shape().len())?;
        out.reborrow().permuted(order).copy_from(chunk);
        Ok(())
    }
}
