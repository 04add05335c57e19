//! Stored numbers as decoded numbers: masked, scaled, moved. One pass over the elements.
//!
//! The types and the order of the operations are those of `xarray.decode_cf`: without `scale_factor` and `add_offset` masked integers
//! of up to 16 bits become float32 and others float64, floats keep their type; with one of them all become float64.

use crate::Result;
use crate::attribute::invalid;
use crate::encoding::{Encoding, Factor, Fill, Times, with_sign};
use half::f16;
use std::ops::{Add, Mul};
use zarr_dtype::{DataType, Scalar};

/// The operation on each number.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Operation {
    /// Numbers stay as they are.
    Keep,
    /// Missing data becomes NaN; a float type, or the complex type itself.
    Mask,
    /// Missing data becomes NaN; then times the first, plus the second, in the type of the result.
    Scale(Option<f64>, Option<f64>),
    /// Times an integer, to int64.
    ScaleInteger(i64),
    /// Missing data becomes NaT: to int64.
    MaskInteger,
}

/// How numbers of one type become numbers of another.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Numbers {
    /// The stored type, with the signedness of `_Unsigned`.
    from: Scalar,
    /// Parts of a number: 2 if it is complex.
    parts: usize,
    to: Scalar,
    operation: Operation,
    fills: Vec<Fill>,
}

/// NaT, the time that is none.
pub(crate) const NAT: i64 = i64::MIN;

impl Numbers {
    /// The way from elements of `data_type` to values; `None` if they are no numbers.
    ///
    /// # Errors
    /// For complex numbers with a scale factor or an offset.
    pub(crate) fn new(data_type: &DataType, encoding: &Encoding) -> Result<Option<Self>> {
        let (scalar, parts) = match data_type.storage().layout() {
            zarr_dtype::Layout::Fixed { scalar, count } if count <= 2 => (scalar, count as usize),
            _ => return Ok(None),
        };
        let is_number = data_type.class().is_some() && !matches!(scalar, Scalar::Bool | Scalar::BF16);
        let is_small = matches!(data_type.storage(), DataType::SmallFloat(_) | DataType::SmallComplex(_));
        if !is_number || is_small {
            return Ok(None);
        }
        for (name, factor) in [("scale_factor", encoding.scale), ("add_offset", encoding.offset)] {
            if parts == 2 && factor.is_some() {
                return Err(invalid(name, "an array of complex numbers", "an array of real numbers"));
            }
        }
        let from = encoding.unsigned.map_or(scalar, |unsigned| with_sign(scalar, unsigned));
        let fills = encoding.fills.clone();
        let is_integer = from.range().is_some();
        let (to, operation) = match (encoding.scale, encoding.offset) {
            (None, None) if fills.is_empty() => (from, Operation::Keep),
            (None, None) if is_integer && encoding.times != Times::None => (Scalar::I64, Operation::MaskInteger),
            (None, None) => (masked(from), Operation::Mask),
            (Some(Factor::Integer(scale)), None) if fills.is_empty() && is_integer => {
                (Scalar::I64, Operation::ScaleInteger(scale))
            }
            (scale, offset) => {
                // Floats whose missing values are NaN already keep their type, as in xarray.
                let is_kept = !is_integer && encoding.marks_nan && fills.is_empty() && encoding.times == Times::None;
                let to = if is_kept { from } else { Scalar::F64 };
                (to, Operation::Scale(scale.map(Factor::to_f64), offset.map(Factor::to_f64)))
            }
        };
        Ok(Some(Self { from, parts, to, operation, fills }))
    }

    /// Whether numbers are complex.
    pub(crate) fn is_complex(&self) -> bool {
        self.parts == 2
    }

    /// Bytes of a stored number, of each part if it is complex.
    pub(crate) fn stored_size(&self) -> usize {
        self.from.size()
    }

    /// The data type of the results for elements of type `stored`.
    pub(crate) fn data_type(&self, stored: &DataType) -> DataType {
        match self.to {
            _ if self.to == stored.layout().scalar().unwrap_or(Scalar::Bool) => stored.clone(),
            Scalar::I8 => DataType::Int8,
            Scalar::I16 => DataType::Int16,
            Scalar::I32 => DataType::Int32,
            Scalar::I64 => DataType::Int64,
            Scalar::U8 => DataType::UInt8,
            Scalar::U16 => DataType::UInt16,
            Scalar::U32 => DataType::UInt32,
            Scalar::U64 => DataType::UInt64,
            Scalar::F16 => DataType::Float16,
            Scalar::F32 => DataType::Float32,
            _ => DataType::Float64,
        }
    }

    /// The scalar of the results.
    pub(crate) fn to(&self) -> Scalar {
        self.to
    }

    /// Whether numbers stay as they are, bit for bit.
    pub(crate) fn is_identity(&self) -> bool {
        self.operation == Operation::Keep
    }

    /// Decodes `stored` to `decoded`, which has as many numbers.
    pub(crate) fn decode(&self, stored: &[u8], decoded: &mut [u8]) {
        match self.from {
            Scalar::I8 | Scalar::I4 | Scalar::I2 => self.decode_from::<i8>(stored, decoded),
            Scalar::U8 | Scalar::U4 | Scalar::U2 | Scalar::Bool => self.decode_from::<u8>(stored, decoded),
            Scalar::I16 => self.decode_from::<i16>(stored, decoded),
            Scalar::U16 => self.decode_from::<u16>(stored, decoded),
            Scalar::I32 => self.decode_from::<i32>(stored, decoded),
            Scalar::U32 => self.decode_from::<u32>(stored, decoded),
            Scalar::I64 => self.decode_from::<i64>(stored, decoded),
            Scalar::U64 => self.decode_from::<u64>(stored, decoded),
            Scalar::F16 => self.decode_from::<f16>(stored, decoded),
            Scalar::F32 => self.decode_from::<f32>(stored, decoded),
            _ => self.decode_from::<f64>(stored, decoded),
        }
    }

    fn decode_from<S: Stored>(&self, stored: &[u8], decoded: &mut [u8]) {
        match &self.operation {
            Operation::Keep => decoded.copy_from_slice(stored),
            Operation::Mask if self.parts == 2 => mask_complex::<S>(&self.fills, stored, decoded),
            Operation::Mask => match self.to {
                Scalar::F16 => mask::<S, f16>(&self.fills, stored, decoded),
                Scalar::F32 => mask::<S, f32>(&self.fills, stored, decoded),
                _ => mask::<S, f64>(&self.fills, stored, decoded),
            },
            Operation::Scale(scale, offset) => {
                let factors = (*scale, *offset);
                match self.to {
                    Scalar::F16 => scale_floats::<S, f16>(&self.fills, factors, stored, decoded),
                    Scalar::F32 => scale_floats::<S, f32>(&self.fills, factors, stored, decoded),
                    _ => scale_floats::<S, f64>(&self.fills, factors, stored, decoded),
                }
            }
            Operation::ScaleInteger(scale) => {
                map::<S, i64>(stored, decoded, |value| value.to_i64().wrapping_mul(*scale));
            }
            Operation::MaskInteger => mask_integers::<S>(&self.fills, stored, decoded),
        }
    }
}

/// The type of numbers of which some are missing: `dtypes.maybe_promote` of xarray.
fn masked(scalar: Scalar) -> Scalar {
    match scalar {
        Scalar::F16 | Scalar::F32 | Scalar::F64 => scalar,
        _ if scalar.size() <= 2 => Scalar::F32,
        _ => Scalar::F64,
    }
}

/// A number as it is stored.
pub(crate) trait Stored: Copy + bytemuck::AnyBitPattern {
    fn to_f64(self) -> f64;
    fn to_i64(self) -> i64;
    fn to_i128(self) -> i128;
}

macro_rules! stored {
    ($($number:ty),*) => { $(
        impl Stored for $number {
            #[inline(always)]
            fn to_f64(self) -> f64 {
                self as f64
            }

            #[inline(always)]
            fn to_i64(self) -> i64 {
                self as i64
            }

            #[inline(always)]
            fn to_i128(self) -> i128 {
                self as i128
            }
        }
    )* };
}

stored!(i8, i16, i32, i64, u8, u16, u32, u64, f32, f64);

impl Stored for f16 {
    #[inline(always)]
    fn to_f64(self) -> f64 {
        f64::from(self)
    }

    #[inline(always)]
    fn to_i64(self) -> i64 {
        f64::from(self) as i64
    }

    #[inline(always)]
    fn to_i128(self) -> i128 {
        f64::from(self) as i128
    }
}

/// A float that values become.
trait Decoded: Copy + PartialEq + bytemuck::Pod + Mul<Output = Self> + Add<Output = Self> {
    const NAN: Self;
    fn of<S: Stored>(value: S) -> Self;
    /// The nearest value of this type.
    fn nearest(value: f64) -> Self;

    /// The same value, if this type has it.
    fn exactly(value: f64) -> Option<Self>;
}

impl Decoded for f64 {
    const NAN: Self = Self::NAN;

    #[inline(always)]
    fn of<S: Stored>(value: S) -> Self {
        value.to_f64()
    }

    fn nearest(value: f64) -> Self {
        value
    }

    fn exactly(value: f64) -> Option<Self> {
        Some(value)
    }
}

impl Decoded for f32 {
    const NAN: Self = Self::NAN;

    #[inline(always)]
    fn of<S: Stored>(value: S) -> Self {
        value.to_f64() as Self
    }

    fn nearest(value: f64) -> Self {
        value as Self
    }

    fn exactly(value: f64) -> Option<Self> {
        (f64::from(value as Self) == value).then_some(value as Self)
    }
}

impl Decoded for f16 {
    const NAN: Self = Self::NAN;

    #[inline(always)]
    fn of<S: Stored>(value: S) -> Self {
        Self::from_f64(value.to_f64())
    }

    fn nearest(value: f64) -> Self {
        Self::from_f64(value)
    }

    fn exactly(value: f64) -> Option<Self> {
        (f64::from(Self::from_f64(value)) == value).then_some(Self::from_f64(value))
    }
}

/// Writes `f` of each number.
#[inline(always)]
fn map<S: Stored, D: bytemuck::Pod>(stored: &[u8], decoded: &mut [u8], mut f: impl FnMut(S) -> D) {
    for (from, to) in stored.chunks_exact(size_of::<S>()).zip(decoded.chunks_exact_mut(size_of::<D>())) {
        to.copy_from_slice(bytemuck::bytes_of(&f(bytemuck::pod_read_unaligned(from))));
    }
}

/// The fill values that numbers of type `D` may equal.
fn marks<D: Decoded>(fills: &[Fill]) -> Vec<D> {
    let marks = fills.iter().filter_map(|fill| match *fill {
        Fill::Integer(value) => Some(value as f64),
        Fill::Float(value) => Some(value),
        Fill::Complex(..) | Fill::Bytes(_) => None,
    });
    marks.filter_map(D::exactly).collect()
}

fn mask<S: Stored, D: Decoded>(fills: &[Fill], stored: &[u8], decoded: &mut [u8]) {
    match marks::<D>(fills).as_slice() {
        [] => map::<S, D>(stored, decoded, D::of),
        &[mark] => map::<S, D>(stored, decoded, |value| {
            let value = D::of(value);
            if value == mark { D::NAN } else { value }
        }),
        marks => map::<S, D>(stored, decoded, |value| {
            let value = D::of(value);
            if marks.contains(&value) { D::NAN } else { value }
        }),
    }
}

fn scale_floats<S: Stored, D: Decoded>(
    fills: &[Fill],
    (scale, offset): (Option<f64>, Option<f64>),
    stored: &[u8],
    decoded: &mut [u8],
) {
    let marks = marks::<D>(fills);
    let scale = scale.map(D::nearest);
    // Plus -0.0 changes no number.
    let plus = D::nearest(offset.unwrap_or(-0.0));
    // NaN equals no mark.
    let mark = marks.first().copied().unwrap_or(D::NAN);
    if marks.len() > 1 {
        // Rare, so one loop is enough. Times 1 changes no number either.
        let scale = scale.unwrap_or(D::nearest(1.0));
        return map::<S, D>(stored, decoded, |value| {
            let value = D::of(value);
            if marks.contains(&value) { D::NAN } else { value * scale + plus }
        });
    }
    let masked = |value: D, result: D| if value == mark { D::NAN } else { result };
    match (scale, offset) {
        (Some(scale), Some(_)) => map::<S, D>(stored, decoded, |value| {
            let value = D::of(value);
            masked(value, value * scale + plus)
        }),
        (Some(scale), None) => map::<S, D>(stored, decoded, |value| {
            let value = D::of(value);
            masked(value, value * scale)
        }),
        (None, _) => map::<S, D>(stored, decoded, |value| {
            let value = D::of(value);
            masked(value, value + plus)
        }),
    }
}

fn mask_complex<S: Stored>(fills: &[Fill], stored: &[u8], decoded: &mut [u8]) {
    let is_missing = |re: f64, im: f64| {
        fills.iter().any(|fill| match *fill {
            Fill::Integer(value) => (re, im) == (value as f64, 0.0),
            Fill::Float(value) => (re, im) == (value, 0.0),
            Fill::Complex(fill_re, fill_im) => (re, im) == (fill_re, fill_im),
            Fill::Bytes(_) => false,
        })
    };
    let size = size_of::<S>();
    for (from, to) in stored.chunks_exact(2 * size).zip(decoded.chunks_exact_mut(2 * size)) {
        let part = |at: usize| {
            from.get(at..at + size).map_or(f64::NAN, |part| bytemuck::pod_read_unaligned::<S>(part).to_f64())
        };
        if is_missing(part(0), part(size)) {
            let nan = if size == 4 { f32::NAN.to_ne_bytes().to_vec() } else { f64::NAN.to_ne_bytes().to_vec() };
            to.chunks_exact_mut(size).for_each(|part| part.copy_from_slice(&nan));
        } else {
            to.copy_from_slice(from);
        }
    }
}

fn mask_integers<S: Stored>(fills: &[Fill], stored: &[u8], decoded: &mut [u8]) {
    let integers: Vec<i64> = fills
        .iter()
        .filter_map(|fill| match *fill {
            Fill::Integer(value) => i64::try_from(value).ok(),
            _ => None,
        })
        .collect();
    let floats: Vec<f64> = fills
        .iter()
        .filter_map(|fill| match *fill {
            Fill::Float(value) => Some(value),
            _ => None,
        })
        .collect();
    match (integers.as_slice(), floats.as_slice()) {
        (&[mark], []) => map::<S, i64>(stored, decoded, |value| {
            let value = value.to_i64();
            if value == mark { NAT } else { value }
        }),
        (integers, floats) => map::<S, i64>(stored, decoded, |value| {
            let value = value.to_i64();
            if integers.contains(&value) || floats.contains(&(value as f64)) { NAT } else { value }
        }),
    }
}
