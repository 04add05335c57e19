//! Packing: values become stored numbers by subtracting the offset, dividing by the scale, replacing missing values, and rounding.

use super::number::{Stored, with_type};
use super::{Mark, NAT, Packed};
use half::f16;
use zarr_dtype::Scalar;

/// Count of numbers in a block: two blocks fit the innermost cache.
const BLOCK: usize = 1024;

/// Conversion from values of one type to stored numbers of another type, the inverse of [`Unpacker`](super::Unpacker).
#[derive(Clone, Debug)]
pub struct Packer {
    values: Scalar,
    stored: Scalar,
    scale: Option<f64>,
    offset: Option<f64>,
    /// Stored number that marks missing data; `None` if there is none.
    mark: Option<Vec<u8>>,
    /// Whether values are computed in float32 instead of float64.
    is_single: bool,
    /// Whether `i64::MIN` among the values is NaT, a missing time.
    has_nat: bool,
}

/// Value that cannot be stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfit {
    /// Index of the value among the given values.
    pub index: usize,
    /// Whether the value is missing: the stored type cannot represent missing data, and no number marks it.
    pub is_missing: bool,
}

impl Packer {
    /// Creates the conversion from values of type `values` to numbers of type `stored`. `has_nat` says that [`NAT`] among int64 values is
    /// missing. Bool values are the numbers 0 and 1.
    ///
    /// Returns `None` for bfloat16, and for stored bools.
    #[must_use]
    pub fn new(values: Scalar, has_nat: bool, stored: Scalar, packed: &Packed) -> Option<Self> {
        if [values, stored].contains(&Scalar::BF16) || stored == Scalar::Bool {
            return None;
        }
        let (scale, offset) = (packed.scale.map(super::Factor::to_f64), packed.offset.map(super::Factor::to_f64));
        let is_scaled = scale.is_some() || offset.is_some();
        // A value that the type does not have marks nothing.
        let mark = packed.marks.iter().find_map(|mark| item(*mark, stored));
        let is_single = values == Scalar::F32 && is_scaled && packed.marks_nan;
        Some(Self { values, stored, scale, offset, mark, is_single, has_nat: has_nat && values == Scalar::I64 })
    }

    /// Returns the stored number that marks missing data; `None` if there is none.
    #[must_use]
    pub fn mark(&self) -> Option<&[u8]> {
        self.mark.as_deref()
    }

    /// Packs `values` into `stored`, which has room for equally many numbers. If the numbers of elements differ, the smaller one counts.
    ///
    /// # Errors
    /// Fails for the first value that the stored type cannot represent.
    pub fn pack(&self, values: &[u8], stored: &mut [u8]) -> Result<(), Unfit> {
        let is_scaled = self.scale.is_some() || self.offset.is_some();
        if self.values == self.stored
            && !is_scaled
            && (self.mark.is_none() || (is_integer(self.values) && !self.has_nat))
        {
            let len = stored.len().min(values.len());
            stored[..len].copy_from_slice(&values[..len]);
            return Ok(());
        }
        let blocks = values.chunks(BLOCK * self.values.size()).zip(stored.chunks_mut(BLOCK * self.stored.size()));
        for (number, (values, stored)) in blocks.enumerate() {
            let encoded = if is_scaled || !is_integer(self.values) {
                self.encode_floats(values, stored)
            } else {
                self.encode_integers(values, stored)
            };
            encoded.map_err(|unfit| Unfit { index: number * BLOCK + unfit.index, ..unfit })?;
        }
        Ok(())
    }

    fn encode_floats(&self, values: &[u8], stored: &mut [u8]) -> Result<(), Unfit> {
        let mut numbers = [0.0_f64; BLOCK];
        let count = values.len() / self.values.size();
        let numbers = numbers.get_mut(..count).unwrap_or_default();
        if self.has_nat {
            let items = values.as_chunks::<8>().0.iter().map(|&item| i64::from_ne_bytes(item));
            for (time, number) in items.zip(&mut *numbers) {
                *number = if time == NAT { f64::NAN } else { time as f64 };
            }
        } else {
            self.load(values, numbers);
        }
        if self.is_single {
            let scale = self.scale.map_or(1.0, |scale| scale as f32);
            let offset = self.offset.map_or(0.0, |offset| offset as f32);
            numbers.iter_mut().for_each(|number| *number = f64::from((*number as f32 - offset) / scale));
        } else {
            // A difference from 0 and a quotient by 1 change no number but -0.0.
            if let Some(offset) = self.offset {
                numbers.iter_mut().for_each(|number| *number -= offset);
            }
            if let Some(scale) = self.scale {
                numbers.iter_mut().for_each(|number| *number /= scale);
            }
        }
        let size = self.stored.size();
        match self.stored {
            Scalar::F16 => {
                fits(numbers, |number| f16::from_f64(number).is_finite())?;
                put(numbers, stored, |number| f16::from_f64(number).to_ne_bytes());
            }
            Scalar::F32 => {
                fits(numbers, |number| (number as f32).is_finite())?;
                put(numbers, stored, |number| (number as f32).to_ne_bytes());
            }
            Scalar::F64 => put(numbers, stored, f64::to_ne_bytes),
            _ => self.round(numbers, stored)?,
        }
        if let Some(mark) = self.mark.as_ref().filter(|_| !is_integer(self.stored)) {
            for (number, item) in numbers.iter().zip(stored.chunks_exact_mut(size)) {
                if number.is_nan() {
                    item.copy_from_slice(mark);
                }
            }
        }
        Ok(())
    }

    /// Rounds floats to integers, and writes them to `stored`.
    fn round(&self, numbers: &[f64], stored: &mut [u8]) -> Result<(), Unfit> {
        let (least, greatest) = self.stored.range().unwrap_or((0, 1));
        // Powers of two, which floats have.
        let (least, end) = (least as f64, (greatest + 1) as f64);
        let size = self.stored.size();
        for (index, (&number, item)) in numbers.iter().zip(stored.chunks_exact_mut(size)).enumerate() {
            let rounded = number.round_ties_even();
            if rounded >= least && rounded < end {
                set(item, rounded as i128);
            } else if let Some(mark) = self.mark.as_ref().filter(|_| number.is_nan()) {
                item.copy_from_slice(mark);
            } else {
                return Err(Unfit { index, is_missing: number.is_nan() });
            }
        }
        Ok(())
    }

    fn encode_integers(&self, values: &[u8], stored: &mut [u8]) -> Result<(), Unfit> {
        let mut numbers = [0_i128; BLOCK];
        let count = values.len() / self.values.size();
        let numbers = numbers.get_mut(..count).unwrap_or_default();
        self.load(values, numbers);
        let size = self.stored.size();
        let range = self.stored.range();
        for (index, (&number, item)) in numbers.iter().zip(stored.chunks_exact_mut(size)).enumerate() {
            if self.has_nat && number == i128::from(NAT) {
                match (&self.mark, self.stored) {
                    (Some(mark), _) => item.copy_from_slice(mark),
                    (None, Scalar::F32) => item.copy_from_slice(&f32::NAN.to_ne_bytes()),
                    (None, Scalar::F64) => item.copy_from_slice(&f64::NAN.to_ne_bytes()),
                    (None, Scalar::I64) => item.copy_from_slice(&NAT.to_ne_bytes()),
                    _ => return Err(Unfit { index, is_missing: true }),
                }
                continue;
            }
            match (self.stored, range) {
                (Scalar::F16, _) => item.copy_from_slice(&f16::from_f64(number as f64).to_ne_bytes()),
                (Scalar::F32, _) => item.copy_from_slice(&(number as f32).to_ne_bytes()),
                (Scalar::F64, _) => item.copy_from_slice(&(number as f64).to_ne_bytes()),
                (_, Some((least, greatest))) if (least..=greatest).contains(&number) => set(item, number),
                _ => return Err(Unfit { index, is_missing: false }),
            }
        }
        Ok(())
    }

    fn load<T: Wide>(&self, values: &[u8], numbers: &mut [T]) {
        with_type!(self.values, S => each::<S, T>(values, numbers));
    }
}

/// Type to which numbers are widened.
trait Wide {
    fn of<S: Stored>(value: S) -> Self;
}

impl Wide for f64 {
    #[inline(always)]
    fn of<S: Stored>(value: S) -> Self {
        value.to_f64()
    }
}

impl Wide for i128 {
    #[inline(always)]
    fn of<S: Stored>(value: S) -> Self {
        value.to_i128()
    }
}

fn each<S: Stored, T: Wide>(values: &[u8], numbers: &mut [T]) {
    for (item, number) in values.chunks_exact(size_of::<S>()).zip(numbers) {
        *number = T::of::<S>(bytemuck::pod_read_unaligned(item));
    }
}

fn is_integer(scalar: Scalar) -> bool {
    scalar.range().is_some() || scalar == Scalar::Bool
}

/// Returns a mark as a stored number of type `to`; `None` if the type cannot represent it.
fn item(mark: Mark, to: Scalar) -> Option<Vec<u8>> {
    let float = |value: f64| match to {
        Scalar::F16 => Some(f16::from_f64(value).to_ne_bytes().to_vec()),
        Scalar::F32 => Some((value as f32).to_ne_bytes().to_vec()),
        Scalar::F64 => Some(value.to_ne_bytes().to_vec()),
        _ => None,
    };
    let integer = |value: i128| {
        let (least, greatest) = to.range()?;
        let mut item = vec![0; to.size()];
        set(&mut item, value);
        (least..=greatest).contains(&value).then_some(item)
    };
    match mark {
        Mark::Integer(value) => integer(value).or_else(|| float(value as f64)),
        Mark::Float(value) if value.fract() == 0.0 && value.abs() < 1e30 => {
            float(value).or_else(|| integer(value as i128))
        }
        Mark::Float(value) => float(value),
        Mark::Complex(..) => None,
    }
}

/// Fails for the first finite number that does not stay finite in the stored type.
fn fits(numbers: &[f64], is_finite: impl Fn(f64) -> bool) -> Result<(), Unfit> {
    match numbers.iter().position(|&number| number.is_finite() && !is_finite(number)) {
        Some(index) => Err(Unfit { index, is_missing: false }),
        None => Ok(()),
    }
}

fn put<const N: usize>(numbers: &[f64], stored: &mut [u8], item: impl Fn(f64) -> [u8; N]) {
    for (&number, element) in numbers.iter().zip(stored.as_chunks_mut::<N>().0) {
        *element = item(number);
    }
}

/// Writes the low bytes of an integer to an element.
fn set(item: &mut [u8], value: i128) {
    match item {
        [one] => *one = value as u8,
        item if item.len() == 2 => item.copy_from_slice(&(value as u16).to_ne_bytes()),
        item if item.len() == 4 => item.copy_from_slice(&(value as u32).to_ne_bytes()),
        item => item.copy_from_slice(&(value as u64).to_ne_bytes()),
    }
}
