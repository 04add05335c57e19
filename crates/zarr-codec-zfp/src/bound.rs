//! Codecs for the data type of an array.

use crate::form::Form;
use crate::numbers;
use half::{bf16, f16};
use zarr_codec::{ArrayToBytes, BuildContext, Error, Size, View, ViewMut};
use zarr_dtype::{Layout, Scalar};
use zarr_grid::{Region, element_count};
use zfp_rs::{ZfpFieldMetadata, ZfpScalarType};

/// Maximum number of bits of a block that a header can state.
const MAX_BLOCK: u64 = 1 << 15;
/// Upper bound of the number of bytes of a header.
const MAX_HEADER: u64 = 64;

#[derive(Clone, Copy, Debug)]
enum Kind {
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    F16,
    BF16,
    F32,
    F64,
}

impl Kind {
    fn of(scalar: Scalar) -> Option<Self> {
        Some(match scalar {
            Scalar::I8 => Self::I8,
            Scalar::I16 => Self::I16,
            Scalar::I32 => Self::I32,
            Scalar::I64 => Self::I64,
            Scalar::U8 => Self::U8,
            Scalar::U16 => Self::U16,
            Scalar::U32 => Self::U32,
            Scalar::U64 => Self::U64,
            Scalar::F16 => Self::F16,
            Scalar::BF16 => Self::BF16,
            Scalar::F32 => Self::F32,
            Scalar::F64 => Self::F64,
            _ => return None,
        })
    }

    /// Returns the type of numbers in which elements are stored.
    fn scalar(self) -> ZfpScalarType {
        match self {
            Self::I8 | Self::I16 | Self::I32 | Self::U8 | Self::U16 | Self::U32 => ZfpScalarType::I32,
            Self::I64 | Self::U64 => ZfpScalarType::I64,
            Self::F16 | Self::BF16 | Self::F32 => ZfpScalarType::F32,
            Self::F64 => ZfpScalarType::F64,
        }
    }
}

/// Codec for the data type of an array.
#[derive(Debug)]
pub(crate) struct Bound {
    form: Form,
    kind: Kind,
    max_chunk: u64,
}

impl Bound {
    /// Creates the codec for the elements of `context`, whose scalar type `takes` must accept.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for other elements.
    pub(crate) fn new(context: &BuildContext<'_>, form: Form, takes: fn(Scalar) -> bool) -> Result<Self, Error> {
        let kind = match context.element.layout() {
            Layout::Fixed { scalar, count: 1 } if takes(scalar) => Kind::of(scalar),
            _ => None,
        };
        let kind = kind.ok_or_else(|| {
            let what = format!("elements of data type {}, which the format does not have", context.element.data_type);
            Error::Unsupported { codec: form.name, what }
        })?;
        Ok(Self { form, kind, max_chunk: context.limits.max_chunk })
    }
}

impl ArrayToBytes for Bound {
    fn check(&self, shape: &[u64]) -> Result<(), Error> {
        let scalar = self.kind.scalar();
        self.form.mode.parameters(scalar, Form::dimensionality(shape.len())?)?;
        let mut dims = [1, 0, 0, 0];
        for (to, &from) in dims.iter_mut().zip(shape.iter().rev()) {
            *to = usize::try_from(from).unwrap_or(usize::MAX);
        }
        // An empty axis in the middle would look as if it ended the shape.
        let metadata = ZfpFieldMetadata { scalar_type: scalar, dims };
        let fits = !self.form.header || metadata.to_bits().is_ok();
        if shape.contains(&0) || !fits {
            let what = format!("chunks of shape {shape:?}, which the format does not support");
            return Err(Error::Metadata { pointer: String::new(), what });
        }
        Ok(())
    }

    fn encoded_size(&self, shape: &[u64]) -> Size {
        let blocks = shape.iter().try_fold(1u64, |blocks, &len| blocks.checked_mul(len.div_ceil(4)));
        let size = blocks.and_then(|blocks| blocks.checked_mul(MAX_BLOCK / 8)?.checked_add(MAX_HEADER));
        size.map_or(Size::Unknown, Size::AtMost)
    }

    fn encode(&self, chunk: &View<'_>, out: &mut Vec<u8>) -> Result<(), Error> {
        let encode = match self.kind {
            Kind::I8 => numbers::encode::<i8>,
            Kind::I16 => numbers::encode::<i16>,
            Kind::I32 => numbers::encode::<i32>,
            Kind::I64 => numbers::encode::<i64>,
            Kind::U8 => numbers::encode::<u8>,
            Kind::U16 => numbers::encode::<u16>,
            Kind::U32 => numbers::encode::<u32>,
            Kind::U64 => numbers::encode::<u64>,
            Kind::F16 => numbers::encode::<f16>,
            Kind::BF16 => numbers::encode::<bf16>,
            Kind::F32 => numbers::encode::<f32>,
            Kind::F64 => numbers::encode::<f64>,
        };
        encode(&self.form, chunk, out)
    }

    fn decode(&self, encoded: &[u8], shape: &[u64], region: &Region, out: &mut ViewMut<'_>) -> Result<(), Error> {
        let size = element_count(shape).and_then(|count| count.checked_mul(self.kind.scalar().size() as u64));
        let size = size.unwrap_or(u64::MAX);
        if size > self.max_chunk {
            return Err(Error::Limit { what: "decoded chunk", found: size, limit: self.max_chunk });
        }
        let dims: Vec<usize> = shape.iter().map(|&len| usize::try_from(len).unwrap_or(usize::MAX)).collect();
        let decode = match self.kind {
            Kind::I8 => numbers::decode::<i8>,
            Kind::I16 => numbers::decode::<i16>,
            Kind::I32 => numbers::decode::<i32>,
            Kind::I64 => numbers::decode::<i64>,
            Kind::U8 => numbers::decode::<u8>,
            Kind::U16 => numbers::decode::<u16>,
            Kind::U32 => numbers::decode::<u32>,
            Kind::U64 => numbers::decode::<u64>,
            Kind::F16 => numbers::decode::<f16>,
            Kind::BF16 => numbers::decode::<bf16>,
            Kind::F32 => numbers::decode::<f32>,
            Kind::F64 => numbers::decode::<f64>,
        };
        decode(&self.form, encoded, &dims, region, region.is_whole(shape), out)
    }
}
