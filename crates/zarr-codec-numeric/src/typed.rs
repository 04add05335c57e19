//! The codecs by their types.

use crate::{ASTYPE, BITROUND, CAST_VALUE, DELTA, FIXED_SCALE_OFFSET, QUANTIZE, SCALE_OFFSET};
use zarr_codec::{TypedCodec, array_codec};
use zarr_dtype::float::Rounding;
use zarr_dtype::{DataType, npy_descr};
use zarr_json::{Map, Value};

/// The name of a type of numpy, or in Zarr v3 where numpy has none.
fn dtype(data_type: &DataType) -> Value {
    npy_descr(data_type).map_or_else(|| data_type.to_config().short_value(), Value::from)
}

/// Codec `numcodecs.delta`: each element less the one before.
#[derive(Clone, Debug, PartialEq)]
pub struct Delta(TypedCodec);

impl Delta {
    /// Differences in the type of the elements.
    pub fn new() -> Self {
        Self(TypedCodec::new(DELTA))
    }

    /// Stored as this type.
    #[must_use]
    pub fn astype(self, data_type: &DataType) -> Self {
        Self(self.0.with("astype", dtype(data_type)))
    }
}

impl Default for Delta {
    fn default() -> Self {
        Self::new()
    }
}

array_codec!(Delta);

/// Codec `numcodecs.fixedscaleoffset`: (x - offset) * scale, rounded.
#[derive(Clone, Debug, PartialEq)]
pub struct FixedScaleOffset(TypedCodec);

impl FixedScaleOffset {
    /// With these numbers; integers count as such.
    pub fn new(offset: impl Into<Value>, scale: impl Into<Value>) -> Self {
        Self(TypedCodec::new(FIXED_SCALE_OFFSET).with("offset", offset).with("scale", scale))
    }

    /// Stored as this type.
    #[must_use]
    pub fn astype(self, data_type: &DataType) -> Self {
        Self(self.0.with("astype", dtype(data_type)))
    }
}

array_codec!(FixedScaleOffset);

/// Codec `scale_offset`: (x - offset) * scale, in the type of the elements.
#[derive(Clone, Debug, PartialEq)]
pub struct ScaleOffset(TypedCodec);

impl ScaleOffset {
    /// With these numbers, which the type of the elements has.
    pub fn new(offset: impl Into<Value>, scale: impl Into<Value>) -> Self {
        Self(TypedCodec::new(SCALE_OFFSET).with("offset", offset).with("scale", scale))
    }
}

array_codec!(ScaleOffset);

/// Codec `numcodecs.quantize`: floats to a number of decimal digits.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantize(TypedCodec);

impl Quantize {
    /// Keeps so many digits behind the point; fewer than 0 are in front of it.
    pub fn digits(digits: i64) -> Self {
        Self(TypedCodec::new(QUANTIZE).with("digits", digits))
    }

    /// Stored as this type of floats.
    #[must_use]
    pub fn astype(self, data_type: &DataType) -> Self {
        Self(self.0.with("astype", dtype(data_type)))
    }
}

array_codec!(Quantize);

/// Codec `bitround`: numbers with few bits that are not 0.
#[derive(Clone, Debug, PartialEq)]
pub struct Bitround(TypedCodec);

impl Bitround {
    /// Keeps so many bits: of a float's mantissa, or of an integer from its highest on that is set.
    pub fn keep_bits(bits: u32) -> Self {
        Self(TypedCodec::new(BITROUND).with("keepbits", bits))
    }
}

array_codec!(Bitround);

/// Codec `numcodecs.astype`: numbers as another type, unchecked.
#[derive(Clone, Debug, PartialEq)]
pub struct AsType(TypedCodec);

impl AsType {
    /// Stored as this type.
    pub fn new(encoded: &DataType) -> Self {
        Self(TypedCodec::new(ASTYPE).with("encode_dtype", dtype(encoded)))
    }
}

array_codec!(AsType);

/// Codec `cast_value`: numbers as another type, checked.
#[derive(Clone, Debug, PartialEq)]
pub struct CastValue {
    codec: TypedCodec,
    encode: Vec<Value>,
    decode: Vec<Value>,
}

impl CastValue {
    /// Stored as this type. Numbers that it has not are errors.
    pub fn to(data_type: &DataType) -> Self {
        let codec = TypedCodec::new(CAST_VALUE).with("data_type", data_type.to_config().short_value());
        Self { codec, encode: Vec::new(), decode: Vec::new() }
    }

    /// Rounded in this way; by default to the nearest number, of two the even one.
    #[must_use]
    pub fn rounding(self, rounding: Rounding) -> Self {
        let word = match rounding {
            Rounding::NearestEven => "nearest-even",
            Rounding::NearestAway => "nearest-away",
            Rounding::TowardsZero => "towards-zero",
            Rounding::TowardsPositive => "towards-positive",
            Rounding::TowardsNegative => "towards-negative",
        };
        Self { codec: self.codec.with("rounding", word), ..self }
    }

    /// Numbers out of the range of the type become its nearest.
    #[must_use]
    pub fn clamp(self) -> Self {
        Self { codec: self.codec.with("out_of_range", "clamp"), ..self }
    }

    /// Numbers out of the range of the integers begin it anew.
    #[must_use]
    pub fn wrap(self) -> Self {
        Self { codec: self.codec.with("out_of_range", "wrap"), ..self }
    }

    /// Encodes a number as another one; both as fill values are given, `"NaN"` among them.
    #[must_use]
    pub fn encode_as(mut self, number: impl Into<Value>, encoded: impl Into<Value>) -> Self {
        self.encode.push(Value::from(vec![number.into(), encoded.into()]));
        self
    }

    /// Decodes a number as another one; both as fill values are given, `"NaN"` among them.
    #[must_use]
    pub fn decode_as(mut self, encoded: impl Into<Value>, number: impl Into<Value>) -> Self {
        self.decode.push(Value::from(vec![encoded.into(), number.into()]));
        self
    }
}

impl From<CastValue> for TypedCodec {
    fn from(cast: CastValue) -> Self {
        let mut map = Map::new();
        for (direction, pairs) in [("encode", cast.encode), ("decode", cast.decode)] {
            if !pairs.is_empty() {
                map.insert(direction, pairs);
            }
        }
        if map.is_empty() { cast.codec } else { cast.codec.with("scalar_map", map) }
    }
}
