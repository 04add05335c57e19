//! `bitround`: rounding of numbers to fewer bits of the mantissa.

use crate::filter::{self, Transform, unsupported};
use crate::number::{Number, map};
use std::sync::Arc;
use zarr_codec::{ArrayToArray, BuildContext, CodecEntry, CodecValue, Error};
use zarr_dtype::float;
use zarr_dtype::{DataType, Layout, Scalar};
use zarr_json::Map;

/// Codec `bitround`: numbers are rounded to `keepbits` bits; a tie goes to even.
///
/// For floats, the bits are those of the mantissa; if the mantissa has no more than `keepbits`, nothing changes. The result equals that of
/// numcodecs bit for bit, also for NaN. For integers, the bits begin with the highest bit set in the magnitude; a number that would be
/// rounded out of the range of the type is rounded towards zero instead. The register of extensions does not define the highest bit of
/// negative integers; the crate zarrs uses the sign bit, which leaves little of small integers: -3840 becomes -2⁵⁷. Decoding changes
/// nothing.
pub const BITROUND: CodecEntry =
    CodecEntry::array_to_array("numcodecs.bitround", |context| Bitround::from_config(context)?.bind(context))
        .id("bitround")
        .aliases(&["bitround"])
        .only_read(&[
            "https://codec.zarrs.dev/array_to_array/bitround",
            "https://codec.zarrs.dev/array_to_bytes/bitround",
        ])
        .arguments(&[("keepbits", None)])
        .example(r#"{"keepbits": 7}"#)
        .complete_with(|codec, data_type| {
            // The codec of numcodecs takes the bits of integers for floats; the registered one does not.
            if !matches!(data_type, DataType::Float16 | DataType::Float32 | DataType::Float64) {
                codec.name = "bitround".to_owned();
            }
        });

const NAME: &str = "bitround";

/// Codec `bitround`: rounding of numbers to few bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bitround {
    keepbits: u32,
}

impl Bitround {
    /// Creates the codec that keeps `bits` bits: of a float's mantissa, or of an integer beginning with its highest set bit.
    pub fn keep_bits(bits: u32) -> Self {
        Self { keepbits: bits }
    }

    /// Returns the codec for the data type of an array.
    fn bind(self, context: &BuildContext<'_>) -> Result<Arc<dyn ArrayToArray>, Error> {
        let data_type = &context.element.data_type;
        let (kind, size) = Kind::of(data_type).ok_or_else(|| unsupported(NAME, data_type))?;
        filter::build(NAME, context, data_type.clone(), BitRound { keepbits: self.keepbits, kind, size })
    }
}

impl CodecValue for Bitround {
    const ENTRY: CodecEntry = BITROUND;

    /// Reads the configuration. If the number of bits is invalid, which decoding does not need, all bits are kept.
    fn from_config(context: &BuildContext<'_>) -> Result<Self, Error> {
        let (config, data_type) = (context.config, &context.element.data_type);
        let (kind, size) = Kind::of(data_type).ok_or_else(|| unsupported(NAME, data_type))?;
        // The register of extensions asks for one bit at least; numcodecs, which has floats only, for none.
        let least = if context.name.starts_with("numcodecs.") && matches!(kind, Kind::Float(_)) { 0 } else { 1 };
        let found = config.required("keepbits").and_then(|_| config.integer("keepbits", least..=u32::MAX));
        Ok(Self { keepbits: config.or_default("keepbits", found, kind.bits(size)) })
    }

    fn to_config(&self) -> Map {
        Map::from([("keepbits", self.keepbits.into())])
    }
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    /// Floats, with their number of mantissa bits.
    Float(u32),
    Unsigned,
    Signed,
}

impl Kind {
    /// Returns the kind of the numbers in elements, and the size of one number in bytes; `None` for other elements.
    fn of(data_type: &DataType) -> Option<(Self, usize)> {
        let scalar = match data_type.layout() {
            Layout::Fixed { scalar, .. } if !matches!(data_type, DataType::FixedUtf32 { .. }) => scalar,
            _ => return None,
        };
        let kind = match scalar {
            Scalar::F16 => Self::Float(float::F16.mantissa()),
            Scalar::BF16 => Self::Float(float::BF16.mantissa()),
            Scalar::F32 => Self::Float(float::F32.mantissa()),
            Scalar::F64 => Self::Float(float::F64.mantissa()),
            Scalar::U8 | Scalar::U16 | Scalar::U32 | Scalar::U64 => Self::Unsigned,
            Scalar::I8 | Scalar::I16 | Scalar::I32 | Scalar::I64 => Self::Signed,
            _ => return None,
        };
        Some((kind, scalar.size()))
    }

    /// Returns the number of bits that can be kept in a number of `size` bytes: for a float those of the mantissa, else all.
    fn bits(self, size: usize) -> u32 {
        match self {
            Self::Float(mantissa) => mantissa,
            Self::Unsigned | Self::Signed => u32::try_from(size * 8).unwrap_or(u32::MAX),
        }
    }
}

#[derive(Debug)]
struct BitRound {
    keepbits: u32,
    kind: Kind,
    /// Size of a number in bytes.
    size: usize,
}

impl Transform for BitRound {
    fn encode(&self, decoded: &[u8], encoded: &mut [u8]) -> Result<(), String> {
        match self.size {
            1 => self.round::<u8>(decoded, encoded),
            2 => self.round::<u16>(decoded, encoded),
            4 => self.round::<u32>(decoded, encoded),
            _ => self.round::<u64>(decoded, encoded),
        }
        Ok(())
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<(), String> {
        decoded.copy_from_slice(encoded);
        Ok(())
    }
}

impl BitRound {
    fn round<T: Bits>(&self, from: &[u8], to: &mut [u8]) {
        let keepbits = self.keepbits;
        match self.kind {
            Kind::Float(mantissa) => match mantissa.checked_sub(keepbits) {
                None | Some(0) => to.copy_from_slice(from),
                Some(drop) => map::<T, T>(from, to, |bits| bits.rounded(drop)),
            },
            Kind::Unsigned => map::<T, T>(from, to, |bits| bits.rounded_integer(keepbits, T::BITS)),
            Kind::Signed => map::<T, T>(from, to, |bits| match bits.negated() {
                // The magnitude of the least number is one more than that of the largest, and a power of two.
                Some(magnitude) => magnitude.rounded_integer(keepbits, T::BITS).wrapping_negated(),
                None => bits.rounded_integer(keepbits, T::BITS - 1),
            }),
        }
    }
}

/// Bit pattern of a number.
trait Bits: Number {
    const BITS: u32;

    /// Returns the number rounded, with its lowest `drop` bits 0. `drop` must be less than the number of bits. Overflow wraps, as in
    /// numcodecs.
    fn rounded(self, drop: u32) -> Self;

    /// Returns the number rounded to its `keep` (at least one) highest bits, beginning with the first set bit. It is rounded towards zero
    /// if the rounded number would have more than `width` bits.
    fn rounded_integer(self, keep: u32, width: u32) -> Self;

    /// Returns the magnitude if these are the bits of a negative integer; else `None`.
    fn negated(self) -> Option<Self>;

    fn wrapping_negated(self) -> Self;
}

macro_rules! bits {
    ($($bits:ty),*) => { $(
        impl Bits for $bits {
            const BITS: u32 = <$bits>::BITS;

            #[inline(always)]
            fn rounded(self, drop: u32) -> Self {
                let half = (1 << (drop - 1)) - 1;
                let odd = (self >> drop) & 1;
                self.wrapping_add(odd + half) >> drop << drop
            }

            #[inline(always)]
            fn rounded_integer(self, keep: u32, width: u32) -> Self {
                let set = <$bits>::BITS - self.leading_zeros();
                if set <= keep {
                    return self;
                }
                let drop = set - keep;
                let whole = self >> drop << drop;
                let (rest, half) = (self - whole, 1 << (drop - 1));
                let odd = (self >> drop) & 1 == 1;
                if rest < half || (rest == half && !odd) {
                    return whole;
                }
                let up = whole.checked_add(1 << drop);
                up.filter(|up| <$bits>::BITS - up.leading_zeros() <= width).unwrap_or(whole)
            }

            #[inline(always)]
            fn negated(self) -> Option<Self> {
                let negative = self >> (<$bits>::BITS - 1) == 1;
                negative.then(|| self.wrapping_neg())
            }

            #[inline(always)]
            fn wrapping_negated(self) -> Self {
                self.wrapping_neg()
            }
        }
    )* };
}

bits!(u8, u16, u32, u64);
