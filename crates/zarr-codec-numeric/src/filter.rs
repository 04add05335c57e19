//! Common part of all codecs here, which map one element to one element of a chunk in C order.

use std::fmt::Debug;
use std::sync::Arc;
use zarr_codec::{ArrayToArray, BuildContext, ElementSpec, Error, View, ViewMut};
use zarr_dtype::{DataType, FillValue};
use zarr_grid::Shape;

/// Filter of contiguous elements in C order. Decoded and encoded elements are equal in number.
///
/// Errors name the value that cannot be encoded or decoded.
pub(crate) trait Transform: Debug + Send + Sync {
    fn encode(&self, decoded: &[u8], encoded: &mut [u8]) -> Result<(), String>;
    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<(), String>;

    /// Checks whether the fill value may be encoded as `encoded`.
    fn check_fill(&self, fill: &[u8], encoded: &[u8]) -> Result<(), String> {
        let _ = (fill, encoded);
        Ok(())
    }
}

/// Codec that does not change the shape: a transform with the types of decoded and encoded elements.
#[derive(Debug)]
struct Filter {
    codec: &'static str,
    decoded: ElementSpec,
    encoded: ElementSpec,
    transform: Box<dyn Transform>,
}

/// Creates the codec that encodes the elements of `context` as elements of type `encoded`.
///
/// The fill value is encoded like an element; if it cannot be encoded, that is an error of the metadata.
pub(crate) fn build(
    codec: &'static str,
    context: &BuildContext<'_>,
    encoded: DataType,
    transform: impl Transform + 'static,
) -> Result<Arc<dyn ArrayToArray>, Error> {
    build_boxed(codec, context, encoded, Box::new(transform))
}

fn build_boxed(
    codec: &'static str,
    context: &BuildContext<'_>,
    encoded: DataType,
    transform: Box<dyn Transform>,
) -> Result<Arc<dyn ArrayToArray>, Error> {
    let decoded = context.element.clone();
    let no_fill = |what: String| Error::Metadata {
        pointer: String::new(),
        what: format!("codec {codec} cannot encode the fill value: {what}"),
    };
    let item = decoded.fill.bytes();
    let mut fill = vec![0; encoded.item_size()];
    transform.encode(item, &mut fill).and_then(|()| transform.check_fill(item, &fill)).map_err(no_fill)?;
    let fill = FillValue::from_bytes(&encoded, &fill).map_err(|error| no_fill(error.to_string()))?;
    let encoded = decoded.encoded(encoded, fill);
    Ok(Arc::new(Filter { codec, decoded, encoded, transform }))
}

/// Returns the error for elements of a type that a codec does not support.
pub(crate) fn unsupported(codec: &'static str, data_type: &DataType) -> Error {
    Error::Unsupported { codec, what: format!("elements of data type {data_type}") }
}

impl ArrayToArray for Filter {
    fn encoded(&self) -> &ElementSpec {
        &self.encoded
    }

    fn encoded_shape(&self, shape: &[u64]) -> Result<Shape, Error> {
        Ok(Shape::from_slice(shape))
    }

    fn encode(&self, chunk: &View<'_>, out: &mut ViewMut<'_>) -> Result<(), Error> {
        let codec = self.codec;
        chunk.transform_into(out, |from, to| {
            self.transform.encode(from, to).map_err(|what| Error::Encode { codec, what })
        })
    }

    fn decode(&self, chunk: &View<'_>, out: &mut ViewMut<'_>) -> Result<(), Error> {
        let corrupt = |what: String| Error::Corrupt { codec: self.codec, what };
        let layout = self.decoded.layout();
        chunk.transform_into(out, |from, to| {
            self.transform.decode(from, to).map_err(corrupt)?;
            // Bools that a filter took for integers.
            layout.check(to).map_err(|error| corrupt(error.to_string()))
        })
    }
}
