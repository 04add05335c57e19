//! `numcodecs.astype`: another type of numbers, unchecked.

use crate::convert::convert;
use crate::dtype::Dtype;
use crate::filter::{self, Transform};
use zarr_codec::{BuildContext, Codec, CodecEntry, Error};

/// Codec `numcodecs.astype`: numbers of type `decode_dtype` stored as `encode_dtype`, converted as numpy does.
///
/// Nothing is checked: what does not fit is changed. Times are the integers that count their units.
pub const ASTYPE: CodecEntry = CodecEntry { names: &["numcodecs.astype", "astype"], build };

const NAME: &str = "numcodecs.astype";

fn build(context: &BuildContext<'_>) -> Result<Codec, Error> {
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
