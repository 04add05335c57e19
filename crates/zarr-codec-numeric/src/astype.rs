//! `numcodecs.astype`: conversion to another number type, unchecked.

use crate::convert::convert;
use crate::dtype::{Dtype, add_type};
use crate::filter::{self, Transform};
use std::sync::Arc;
use zarr_codec::{ArrayToArray, BuildContext, CodecEntry, CodecValue, Error};
use zarr_dtype::DataType;
use zarr_json::Map;

/// Codec `numcodecs.astype`: numbers of type `decode_dtype` are stored as `encode_dtype`, converted as by numpy.
///
/// Numbers that do not fit are changed without an error. Times are treated as the integers that count their units.
pub const ASTYPE: CodecEntry =
    CodecEntry::array_to_array("numcodecs.astype", |context| AsType::from_config(context)?.bind(context))
        .id("astype")
        .only_read(&["astype"])
        .arguments(&[("encode_dtype", None)])
        .example(r#"{"encode_dtype": "<f8"}"#)
        .complete_with(|codec, data_type| add_type(codec, "decode_dtype", data_type));

const NAME: &str = "numcodecs.astype";

/// Codec `numcodecs.astype`: conversion to another number type, unchecked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AsType {
    encoded: Dtype,
    decoded: Option<Dtype>,
}

impl AsType {
    /// Creates the codec that stores elements as type `encoded`.
    ///
    /// # Errors
    /// [`Error::Argument`] for a type that is no number type.
    pub fn new(encoded: &DataType) -> Result<Self, Error> {
        Ok(Self { encoded: Dtype::given(&ASTYPE, "encode_dtype", encoded)?, decoded: None })
    }

    /// Returns the codec for the data type of an array.
    fn bind(self, context: &BuildContext<'_>) -> Result<Arc<dyn ArrayToArray>, Error> {
        let (encoded, decoded) = (self.encoded, Dtype::decoded(NAME, context, "decode_dtype", self.decoded)?);
        // Between units of time numpy multiplies.
        if decoded.is_time() && encoded.is_time() && decoded != encoded {
            let what = format!("elements of data type {} as {}", decoded.data_type, encoded.data_type);
            return Err(Error::Unsupported { codec: NAME, what });
        }
        filter::build(NAME, context, encoded.data_type.clone(), Converted { decoded, encoded })
    }
}

impl CodecValue for AsType {
    const ENTRY: CodecEntry = ASTYPE;

    fn from_config(context: &BuildContext<'_>) -> Result<Self, Error> {
        let missing = || context.config.error("encode_dtype", "missing".to_owned());
        let decoded = Dtype::member(NAME, context.config, "decode_dtype")?;
        let encoded = Dtype::member(NAME, context.config, "encode_dtype")?.ok_or_else(missing)?;
        Ok(Self { encoded, decoded })
    }

    fn to_config(&self) -> Map {
        let decoded = self.decoded.as_ref().map(Dtype::to_value);
        Map::from_some([("encode_dtype", Some(self.encoded.to_value())), ("decode_dtype", decoded)])
    }
}

#[derive(Debug)]
struct Converted {
    decoded: Dtype,
    encoded: Dtype,
}

impl Transform for Converted {
    fn encode(&self, decoded: &[u8], encoded: &mut [u8]) -> Result<(), String> {
        convert(&self.decoded, &self.encoded, decoded, encoded);
        Ok(())
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<(), String> {
        convert(&self.encoded, &self.decoded, encoded, decoded);
        Ok(())
    }
}
