//! Unpacking: stored numbers become values by masking, scaling and adding the offset, in one pass over the elements.

use super::number::{Float, Stored, collect, map, with_type};
use super::{Mark, NAT, Packed};
use crate::time::Numbers;
use half::f16;
use zarr_dtype::Scalar;

/// Operation that unpacks each number.
#[derive(Clone, Debug, PartialEq)]
enum Operation {
    /// Copies the number unchanged.
    Keep,
    /// Replaces missing data by NaN; the result has a float type, or the complex type itself.
    Mask,
    /// Replaces missing data by NaN; then multiplies by the first number and adds the second, in the type of the result.
    Scale(Option<f64>, Option<f64>),
    /// Multiplies by an integer; the result is int64.
    ScaleInteger(i64),
    /// Replaces missing data by NaT; the result is int64.
    MaskInteger,
}

/// Conversion from stored numbers of one type to values of another type.
#[derive(Clone, Debug, PartialEq)]
pub struct Unpacker {
    stored: Scalar,
    /// Number of parts of a number: 2 for complex numbers, else 1.
    parts: usize,
    result: Scalar,
    operation: Operation,
    marks: Vec<Mark>,
}

/// Values in a type in which times are counted.
#[derive(Clone, Debug, PartialEq)]
pub enum Counts {
    /// Signed integers, and unsigned integers of up to 32 bits.
    I64(Vec<i64>),
    /// Unsigned integers of 64 bits.
    U64(Vec<u64>),
    /// Floats of up to 32 bits.
    F32(Vec<f32>),
    /// Floats of 64 bits.
    F64(Vec<f64>),
}

impl Counts {
    /// Returns the numbers as borrowed slices.
    #[must_use]
    pub fn numbers(&self) -> Numbers<'_> {
        match self {
            Self::I64(numbers) => Numbers::I64(numbers),
            Self::U64(numbers) => Numbers::U64(numbers),
            Self::F32(numbers) => Numbers::F32(numbers),
            Self::F64(numbers) => Numbers::F64(numbers),
        }
    }
}

impl Unpacker {
    /// Creates the conversion from numbers of type `stored` to values. `parts` is 2 for complex numbers, whose two parts have that type,
    /// else 1.
    ///
    /// Returns `None` for bfloat16 and bools, for another number of parts, and for complex integers or packed complex numbers.
    #[must_use]
    pub fn new(stored: Scalar, parts: usize, packed: &Packed) -> Option<Self> {
        let is_float = matches!(stored, Scalar::F16 | Scalar::F32 | Scalar::F64);
        let is_integer = stored.range().is_some();
        let is_packed = packed.scale.is_some() || packed.offset.is_some();
        let is_unpacked = match parts {
            1 => is_float || is_integer,
            2 => is_float && !is_packed,
            _ => false,
        };
        if !is_unpacked {
            return None;
        }
        let marks = packed.marks.clone();
        let (result, operation) = match (packed.scale, packed.offset) {
            (None, None) if marks.is_empty() => (stored, Operation::Keep),
            (None, None) if is_integer && packed.is_count => (Scalar::I64, Operation::MaskInteger),
            (None, None) => (masked(stored), Operation::Mask),
            (Some(super::Factor::Integer(scale)), None) if marks.is_empty() && is_integer => {
                (Scalar::I64, Operation::ScaleInteger(scale))
            }
            (scale, offset) => {
                // Floats whose missing values are NaN already keep their type, as in xarray.
                let is_kept = !is_integer && packed.marks_nan && marks.is_empty() && !packed.is_count;
                let result = if is_kept { stored } else { Scalar::F64 };
                let to_f64 = super::Factor::to_f64;
                (result, Operation::Scale(scale.map(to_f64), offset.map(to_f64)))
            }
        };
        Some(Self { stored, parts, result, operation, marks })
    }

    /// Returns the type of stored numbers, or of each part of complex numbers.
    #[must_use]
    pub fn stored(&self) -> Scalar {
        self.stored
    }

    /// Returns the type of values, or of each part of complex values.
    #[must_use]
    pub fn result(&self) -> Scalar {
        self.result
    }

    /// Returns whether numbers are complex.
    #[must_use]
    pub fn is_complex(&self) -> bool {
        self.parts == 2
    }

    /// Returns whether values equal the stored numbers, bit for bit.
    #[must_use]
    pub fn is_identity(&self) -> bool {
        self.operation == Operation::Keep
    }

    /// Unpacks `stored` into `values`, which has room for equally many numbers. If the numbers of elements differ, the smaller one counts.
    pub fn unpack(&self, stored: &[u8], values: &mut [u8]) {
        match &self.operation {
            Operation::Keep => {
                let len = stored.len().min(values.len());
                values[..len].copy_from_slice(&stored[..len]);
            }
            Operation::Mask if self.parts == 2 => match self.stored {
                Scalar::F16 => mask_complex::<f16>(&self.marks, stored, values),
                Scalar::F32 => mask_complex::<f32>(&self.marks, stored, values),
                _ => mask_complex::<f64>(&self.marks, stored, values),
            },
            Operation::Mask => with_type!(self.stored, S => mask::<S>(&self.marks, stored, values)),
            Operation::Scale(scale, offset) => {
                let factors = (*scale, *offset);
                match self.result {
                    Scalar::F16 => scaled::<f16, f16>(&self.marks, factors, stored, values),
                    Scalar::F32 => scaled::<f32, f32>(&self.marks, factors, stored, values),
                    _ => with_type!(self.stored, S => scaled::<S, f64>(&self.marks, factors, stored, values)),
                }
            }
            Operation::ScaleInteger(scale) => with_type!(self.stored, S => {
                map::<S, i64>(stored, values, |number| number.to_i64().wrapping_mul(*scale));
            }),
            Operation::MaskInteger => with_type!(self.stored, S => mask_integers::<S>(&self.marks, stored, values)),
        }
    }

    /// Returns the values of `stored`, which are not complex, in one of the wide types.
    #[must_use]
    pub fn counts(&self, stored: &[u8]) -> Counts {
        let mut values = vec![0; stored.len() / self.stored.size() * self.result.size()];
        self.unpack(stored, &mut values);
        match self.result {
            Scalar::U64 => Counts::U64(collect(&values, |value: u64| value)),
            Scalar::F64 => Counts::F64(collect(&values, |value: f64| value)),
            Scalar::F32 => Counts::F32(collect(&values, |value: f32| value)),
            Scalar::F16 => Counts::F32(collect(&values, f16::to_f32)),
            _ => Counts::I64(with_type!(self.result, S => collect(&values, S::to_i64))),
        }
    }

    /// Writes to `bools` whether each value of `stored` is other than 0; NaN is. The numbers must not be complex.
    pub fn bools(&self, stored: &[u8], bools: &mut [u8]) {
        match self.counts(stored) {
            Counts::I64(numbers) => set_bools(&numbers, 0, bools),
            Counts::U64(numbers) => set_bools(&numbers, 0, bools),
            Counts::F32(numbers) => set_bools(&numbers, 0.0, bools),
            Counts::F64(numbers) => set_bools(&numbers, 0.0, bools),
        }
    }
}

/// Returns the type of values if some numbers of type `scalar` are missing.
fn masked(scalar: Scalar) -> Scalar {
    match scalar {
        Scalar::F16 | Scalar::F32 | Scalar::F64 => scalar,
        _ if scalar.size() <= 2 => Scalar::F32,
        _ => Scalar::F64,
    }
}

fn set_bools<T: Copy + PartialEq>(numbers: &[T], zero: T, bools: &mut [u8]) {
    for (&number, bool) in numbers.iter().zip(bools) {
        *bool = u8::from(number != zero);
    }
}

/// Returns the marks that numbers of type `F` can equal.
fn marks<F: Float>(marks: &[Mark]) -> Vec<F> {
    let marks = marks.iter().filter_map(|mark| match *mark {
        Mark::Integer(value) => Some(value as f64),
        Mark::Float(value) => Some(value),
        Mark::Complex(..) => None,
    });
    marks.filter_map(F::exactly).collect()
}

fn mask<S: Stored>(given: &[Mark], stored: &[u8], values: &mut [u8]) {
    match marks::<S::Masked>(given).as_slice() {
        [] => map::<S, S::Masked>(stored, values, S::Masked::of),
        &[mark] => map::<S, S::Masked>(stored, values, |number| {
            let value = S::Masked::of(number);
            if value == mark { S::Masked::NAN } else { value }
        }),
        marks => map::<S, S::Masked>(stored, values, |number| {
            let value = S::Masked::of(number);
            if marks.contains(&value) { S::Masked::NAN } else { value }
        }),
    }
}

fn scaled<S: Stored, F: Float>(
    given: &[Mark],
    (scale, offset): (Option<f64>, Option<f64>),
    stored: &[u8],
    values: &mut [u8],
) {
    let marks = marks::<F>(given);
    let scale = scale.map(F::nearest);
    // Plus -0.0 changes no number.
    let plus = F::nearest(offset.unwrap_or(-0.0));
    // NaN equals no mark.
    let mark = marks.first().copied().unwrap_or(F::NAN);
    if marks.len() > 1 {
        // Rare, so one loop is enough. Times 1 changes no number either.
        let scale = scale.unwrap_or(F::nearest(1.0));
        return map::<S, F>(stored, values, |number| {
            let value = F::of(number);
            if marks.contains(&value) { F::NAN } else { value * scale + plus }
        });
    }
    let masked = |value: F, result: F| if value == mark { F::NAN } else { result };
    match (scale, offset) {
        (Some(scale), Some(_)) => map::<S, F>(stored, values, |number| {
            let value = F::of(number);
            masked(value, value * scale + plus)
        }),
        (Some(scale), None) => map::<S, F>(stored, values, |number| {
            let value = F::of(number);
            masked(value, value * scale)
        }),
        (None, _) => map::<S, F>(stored, values, |number| {
            let value = F::of(number);
            masked(value, value + plus)
        }),
    }
}

fn mask_complex<F: Float>(marks: &[Mark], stored: &[u8], values: &mut [u8]) {
    let is_missing = |parts: (f64, f64)| {
        marks.iter().any(|mark| match *mark {
            Mark::Integer(value) => parts == (value as f64, 0.0),
            Mark::Float(value) => parts == (value, 0.0),
            Mark::Complex(re, im) => parts == (re, im),
        })
    };
    let size = size_of::<F>();
    for (from, to) in stored.chunks_exact(2 * size).zip(values.chunks_exact_mut(2 * size)) {
        let (re, im) = from.split_at(size);
        let part = |bytes: &[u8]| bytemuck::pod_read_unaligned::<F>(bytes).to_f64();
        if is_missing((part(re), part(im))) {
            to.chunks_exact_mut(size).for_each(|part| part.copy_from_slice(bytemuck::bytes_of(&F::NAN)));
        } else {
            to.copy_from_slice(from);
        }
    }
}

fn mask_integers<S: Stored>(marks: &[Mark], stored: &[u8], values: &mut [u8]) {
    let integers: Vec<i64> = marks
        .iter()
        .filter_map(|mark| match *mark {
            Mark::Integer(value) => i64::try_from(value).ok(),
            _ => None,
        })
        .collect();
    let floats: Vec<f64> = marks
        .iter()
        .filter_map(|mark| match *mark {
            Mark::Float(value) => Some(value),
            _ => None,
        })
        .collect();
    match (integers.as_slice(), floats.as_slice()) {
        (&[mark], []) => map::<S, i64>(stored, values, |number| {
            let value = number.to_i64();
            if value == mark { NAT } else { value }
        }),
        (integers, floats) => map::<S, i64>(stored, values, |number| {
            let value = number.to_i64();
            if integers.contains(&value) || floats.contains(&(value as f64)) { NAT } else { value }
        }),
    }
}
