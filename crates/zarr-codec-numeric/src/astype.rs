//! `numcodecs.astype`: another type of numbers, unchecked.

use crate::convert::convert;
use crate::dtype::{Dtype, add_type};
use crate::filter::{self, Transform};
use std::sync::Arc;
use zarr_codec::{ArrayToArray, BuildContext, CodecEntry, Error};

/// Codec `numcodecs.astype`: numbers of type `decode_dtype` stored as `encode_dtype`, converted as numpy does.
///
/// Nothing is checked: numbers that do not fit are changed. Times are the integers that count their units.
pub const ASTYPE: CodecEntry = CodecEntry::array_to_array("numcodecs.astype", build)
    .id("astype")
    .only_read(&["astype"])
    .arguments(&[("encode_dtype", None)])
    .example(r#"{"encode_dtype": "<f8"}"#)
    .complete_with(|codec, data_type| add_type(codec, "decode_dtype", data_type));

const NAME: &str = "numcodecs.astype";

fn build(context: &BuildContext<'_>) -> Result<Arc<dyn ArrayToArray>, Error> {
    context.config.required("encode_dtype")?;
    let decoded = Dtype::decoded(NAME, context, "decode_dtype")?;
    let encoded = Dtype::member(NAME, context.config, "encode_dtype")?.unwrap_or_else(|| decoded.clone());
    // Between units of time numpy multiplies.
    if decoded.is_time() && encoded.is_time() && decoded != encoded {
        let what = format!("elements of data type {} as {}", decoded.data_type, encoded.data_type);
        return Err(Error::Unsupported { codec: NAME, what });
    }
    filter::build(NAME, context, encoded.data_type.clone(), AsType { decoded, encoded })
}

#[derive(Debug)]
struct AsType {
    decoded: Dtype,
    encoded: Dtype,
}

impl Transform for AsType {
    fn encode(&self, decoded: &[u8], encoded: &mut [u8]) -> Result<(), String> {
        convert(&self.decoded, &self.encoded, decoded, encoded);
        Ok(())
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<(), String> {
        convert(&self.encoded, &self.decoded, encoded, decoded);
        Ok(())
    }
}
