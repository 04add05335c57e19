//! Comparison of two elements: whether they are equal, and their distance.

use super::{CompareOptions, Tolerance};
use crate::data_type::same_storage;
use crate::fold::Fold;
use zarr_array::Array;
use zarr_dtype::{Class, DataType, Heap, HeapRef, Layout};

/// Rules for comparing the elements of two arrays.
#[derive(Debug)]
pub(super) struct Elements {
    first: DataType,
    second: DataType,
    /// Whether equal bytes are equal elements.
    pub(super) same_type: bool,
    tolerance: Option<Tolerance>,
    /// NaNs that count as equal; `None` if NaNs are compared by their bits.
    fold: Option<Fold>,
}

/// Real or complex number.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Number {
    Integer(i128),
    Float(f64),
    Complex(f64, f64),
}

impl Elements {
    pub(super) fn new(a: &Array, b: &Array, options: &CompareOptions) -> Self {
        let fold = Fold { nan: options.equal_nan, zero: false };
        Self {
            first: a.data_type().clone(),
            second: b.data_type().clone(),
            same_type: same_storage(a.data_type(), b.data_type()),
            tolerance: options.tolerance,
            fold: (!fold.is_idle(a.data_type())).then_some(fold),
        }
    }

    /// Returns whether elements of types `a` and `b` can be compared: the types are stored alike, or both are real numbers.
    pub(super) fn are_comparable(a: &DataType, b: &DataType) -> bool {
        let is_real = |data_type: &DataType| data_type.class().is_some_and(|class| class != Class::Complex);
        same_storage(a, b) || (is_real(a) && is_real(b))
    }

    /// Returns the distance of two elements; `None` if they are equal, and `Some(None)` if they differ without a numeric distance.
    pub(super) fn difference(&self, a: &[u8], b: &[u8]) -> Option<Option<f64>> {
        if self.same_type && a == b {
            return None;
        }
        let numbers = number(&self.first, a).zip(number(&self.second, b));
        match numbers {
            Some((a_number, b_number)) => {
                let distance = distance(a_number, b_number);
                let is_equal = match self.tolerance {
                    Some(tolerance) => is_close(a_number, b_number, distance, tolerance),
                    // Bits that differ do so, even if the numbers are equal as the two zeros are.
                    None => !self.same_type && (a_number == b_number || distance == 0.0),
                };
                let both_nan = self.fold.is_some() && self.are_nan(a, b, a_number, b_number);
                (!is_equal && !both_nan).then(|| distance.is_finite().then_some(distance))
            }
            None => (!self.is_same_folded(a, b)).then_some(None),
        }
    }

    /// Returns whether two numbers are equal except for the bits of NaNs.
    fn are_nan(&self, a: &[u8], b: &[u8], a_number: Number, b_number: Number) -> bool {
        match (a_number, b_number) {
            (Number::Float(a), Number::Float(b)) => a.is_nan() && b.is_nan(),
            _ => self.same_type && self.is_same_folded(a, b),
        }
    }

    fn is_same_folded(&self, a: &[u8], b: &[u8]) -> bool {
        self.fold.map_or_else(|| a == b, |fold| fold.are_same(&self.first, a, b))
    }

    /// Returns the [`difference`](Self::difference) of two elements of variable length; `Err` if an element is not in its heap.
    pub(super) fn variable_difference(
        &self,
        (a, a_heap): (&[u8], &Heap),
        (b, b_heap): (&[u8], &Heap),
    ) -> Result<Option<Option<f64>>, ()> {
        let a = HeapRef::from_item(a).and_then(|element| a_heap.get(element)).ok_or(())?;
        let b = HeapRef::from_item(b).and_then(|element| b_heap.get(element)).ok_or(())?;
        let is_same = match (self.first.storage(), self.fold) {
            (DataType::VlenArray(inner), Some(fold)) => fold.are_same(inner, a, b),
            _ => a == b,
        };
        Ok((!is_same).then_some(None))
    }
}

fn distance(a: Number, b: Number) -> f64 {
    match (a, b) {
        (Number::Integer(a), Number::Integer(b)) => a.abs_diff(b) as f64,
        (Number::Complex(a_real, a_imaginary), Number::Complex(b_real, b_imaginary)) => {
            (a_real - b_real).hypot(a_imaginary - b_imaginary)
        }
        (Number::Integer(integer), Number::Float(float)) | (Number::Float(float), Number::Integer(integer)) => {
            // Beyond 2^53 the nearest float may be another integer.
            let nearest = integer as f64;
            if nearest == float && float.abs() < 1e38 && float as i128 != integer {
                return integer.abs_diff(float as i128) as f64;
            }
            (nearest - float).abs()
        }
        (a, b) => (a.to_f64() - b.to_f64()).abs(),
    }
}

fn is_close(a: Number, b: Number, distance: f64, tolerance: Tolerance) -> bool {
    // Infinities of one sign are equal, and have no difference; no other number is close to an infinity, whose share is infinite.
    let is_finite = a.magnitude().is_finite() && b.magnitude().is_finite();
    a == b || (is_finite && distance <= tolerance.absolute + tolerance.relative * b.magnitude())
}

impl Number {
    fn to_f64(self) -> f64 {
        match self {
            Self::Integer(integer) => integer as f64,
            Self::Float(float) => float,
            Self::Complex(real, _) => real,
        }
    }

    fn magnitude(self) -> f64 {
        match self {
            Self::Complex(real, imaginary) => real.hypot(imaginary),
            other => other.to_f64().abs(),
        }
    }
}

/// Returns the numeric value of an element; `None` if its data type is not numeric.
fn number(data_type: &DataType, item: &[u8]) -> Option<Number> {
    match data_type.class()? {
        Class::Bool => Some(Number::Integer(item.first().copied()?.into())),
        Class::Signed | Class::Unsigned => match data_type.layout() {
            Layout::Fixed { scalar, .. } => scalar.integer(item).map(Number::Integer),
            _ => None,
        },
        Class::Float => data_type.to_f64(item).map(Number::Float),
        Class::Complex => {
            let part = match data_type {
                DataType::SmallComplex(small) => DataType::SmallFloat(*small),
                DataType::ComplexFloat16 => DataType::Float16,
                DataType::ComplexBFloat16 => DataType::BFloat16,
                DataType::Complex64 => DataType::Float32,
                _ => DataType::Float64,
            };
            let (real, imaginary) = item.split_at_checked(item.len() / 2)?;
            Some(Number::Complex(part.to_f64(real)?, part.to_f64(imaginary)?))
        }
    }
}
