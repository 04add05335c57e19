//! The codec.

use crate::config::{NAME, PcodecConfig};
use crate::numbers;
use half::f16;
use pco::data_types::NumberType;
use std::sync::Arc;
use zarr_codec::{ArrayToBytes, BuildContext, CodecEntry, Error, Protection, Size, View, ViewMut};
use zarr_dtype::{Layout, Scalar};
use zarr_grid::{Region, element_count};

/// The codec, for the table of codecs.
pub const PCODEC: CodecEntry = CodecEntry::array_to_bytes("numcodecs.pcodec", build)
    .id("pcodec")
    .only_read(&["pcodec", "https://codec.zarrs.dev/array_to_bytes/pcodec"])
    .arguments(&[("level", Some("8"))]);

/// The codec of this crate, for the table of codecs.
pub const CODECS: &[CodecEntry] = &[PCODEC];

fn build(context: &BuildContext<'_>) -> Result<Arc<dyn ArrayToBytes>, Error> {
    let config = PcodecConfig::from_context(context);
    let number = match context.element.layout() {
        Layout::Fixed { scalar, count: 1 } => Number::of(scalar),
        _ => None,
    };
    let number = number.ok_or_else(|| {
        let found = &context.element.data_type;
        let what = format!("elements of data type {found}, expected integers or floats of 16, 32 or 64 bits");
        Error::Unsupported { codec: NAME, what }
    })?;
    Ok(Arc::new(Pcodec { config, number, max_chunk: context.limits.max_chunk }))
}

/// The numbers that the format has, except numbers of 8 bits, which numcodecs refuses.
#[derive(Clone, Copy, Debug)]
enum Number {
    I16,
    I32,
    I64,
    U16,
    U32,
    U64,
    F16,
    F32,
    F64,
}

impl Number {
    fn of(scalar: Scalar) -> Option<Self> {
        Some(match scalar {
            Scalar::I16 => Self::I16,
            Scalar::I32 => Self::I32,
            Scalar::I64 => Self::I64,
            Scalar::U16 => Self::U16,
            Scalar::U32 => Self::U32,
            Scalar::U64 => Self::U64,
            Scalar::F16 => Self::F16,
            Scalar::F32 => Self::F32,
            Scalar::F64 => Self::F64,
            _ => return None,
        })
    }

    fn stored(number: NumberType) -> Option<Self> {
        Some(match number {
            NumberType::I16 => Self::I16,
            NumberType::I32 => Self::I32,
            NumberType::I64 => Self::I64,
            NumberType::U16 => Self::U16,
            NumberType::U32 => Self::U32,
            NumberType::U64 => Self::U64,
            NumberType::F16 => Self::F16,
            NumberType::F32 => Self::F32,
            NumberType::F64 => Self::F64,
            _ => return None,
        })
    }

    fn size(self) -> u64 {
        match self {
            Self::I16 | Self::U16 | Self::F16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 => 8,
        }
    }
}

#[derive(Debug)]
struct Pcodec {
    config: PcodecConfig,
    number: Number,
    max_chunk: u64,
}

impl ArrayToBytes for Pcodec {
    fn protection(&self, _: Option<&[u8]>) -> Protection {
        Protection::Form
    }

    fn encoded_size(&self, shape: &[u64]) -> Size {
        // Numbers that do not compress are stored, with a head for each page; other software may make smaller pages.
        let size = element_count(shape).and_then(|count| count.checked_mul(self.number.size()));
        size.map_or(Size::Unknown, Size::Exact).at_most(|size| size.checked_mul(2)?.checked_add(64 << 10))
    }

    fn encode(&self, chunk: &View<'_>, out: &mut Vec<u8>) -> Result<(), Error> {
        let config = self.config.to_pco();
        match self.number {
            Number::I16 => numbers::encode::<i16>(chunk, &config, out),
            Number::I32 => numbers::encode::<i32>(chunk, &config, out),
            Number::I64 => numbers::encode::<i64>(chunk, &config, out),
            Number::U16 => numbers::encode::<u16>(chunk, &config, out),
            Number::U32 => numbers::encode::<u32>(chunk, &config, out),
            Number::U64 => numbers::encode::<u64>(chunk, &config, out),
            Number::F16 => numbers::encode::<f16>(chunk, &config, out),
            Number::F32 => numbers::encode::<f32>(chunk, &config, out),
            Number::F64 => numbers::encode::<f64>(chunk, &config, out),
        }
    }

    fn decode(&self, encoded: &[u8], shape: &[u64], region: &Region, out: &mut ViewMut<'_>) -> Result<(), Error> {
        let size = element_count(shape).and_then(|count| count.checked_mul(self.number.size())).unwrap_or(u64::MAX);
        if size > self.max_chunk {
            return Err(Error::Limit { what: "decoded chunk", found: size, limit: self.max_chunk });
        }
        let dims: Vec<usize> = shape.iter().map(|&len| usize::try_from(len).unwrap_or(usize::MAX)).collect();
        let whole = region.is_whole(shape);
        // The output of `bitround` of numcodecs is integers to it, as wide as the floats.
        let stored = numbers::stored_type(encoded).and_then(Number::stored);
        match stored.filter(|stored| stored.size() == self.number.size()).unwrap_or(self.number) {
            Number::I16 => numbers::decode::<i16>(encoded, &dims, region, whole, out),
            Number::I32 => numbers::decode::<i32>(encoded, &dims, region, whole, out),
            Number::I64 => numbers::decode::<i64>(encoded, &dims, region, whole, out),
            Number::U16 => numbers::decode::<u16>(encoded, &dims, region, whole, out),
            Number::U32 => numbers::decode::<u32>(encoded, &dims, region, whole, out),
            Number::U64 => numbers::decode::<u64>(encoded, &dims, region, whole, out),
            Number::F16 => numbers::decode::<f16>(encoded, &dims, region, whole, out),
            Number::F32 => numbers::decode::<f32>(encoded, &dims, region, whole, out),
            Number::F64 => numbers::decode::<f64>(encoded, &dims, region, whole, out),
        }
    }
}
