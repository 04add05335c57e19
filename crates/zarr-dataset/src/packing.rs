//! Values as stored numbers, the inverse of [`Numbers`](crate::numbers::Numbers): moved, scaled, missing ones replaced, rounded.
//!
//! The types and the order of the operations are the ones of xarray: float32 is computed in float32 where missing data is marked, all
//! else in float64; floats are rounded to integers, halves to even. A number that the stored type does not have is an error.

use crate::encoding::{Encoding, Fill, with_sign};
use crate::numbers::{NAT, Stored};
use half::f16;
use zarr_dtype::{DataType, Scalar};

/// Numbers at once: two blocks of them lie in the caches that are nearest.
const BLOCK: usize = 1024;

/// How numbers of one type become stored numbers of another.
#[derive(Debug)]
pub(crate) struct Packing {
    from: Scalar,
    /// The stored type, with the signedness of `_Unsigned`.
    to: Scalar,
    scale: Option<f64>,
    offset: Option<f64>,
    /// The stored number that marks missing data.
    fill: Option<Vec<u8>>,
    /// Whether it is computed in float32.
    is_single: bool,
    /// Whether `i64::MIN` is NaT.
    has_nat: bool,
}

/// A number that cannot be stored.
#[derive(Debug)]
pub(crate) struct Unfit {
    /// Its index among the numbers.
    pub(crate) index: usize,
    /// The stored type has no value for missing data, and no value of it marks them.
    pub(crate) is_missing: bool,
}

impl Packing {
    /// The way from numbers of type `from` to elements of `stored`; `None` if they are no numbers.
    pub(crate) fn new(from: Scalar, has_nat: bool, stored: &DataType, encoding: &Encoding) -> Option<Self> {
        let scalar = number(stored)?;
        let to = encoding.unsigned.map_or(scalar, |unsigned| with_sign(scalar, unsigned));
        let (scale, offset) =
            (encoding.scale.map(|factor| factor.to_f64()), encoding.offset.map(|factor| factor.to_f64()));
        let is_scaled = scale.is_some() || offset.is_some();
        // A value that the type does not have marks nothing.
        let fill = encoding.fills.iter().find_map(|fill| item(fill, to));
        let is_single = from == Scalar::F32 && is_scaled && encoding.marks_nan;
        Some(Self { from, to, scale, offset, fill, is_single, has_nat })
    }

    /// The stored number that marks missing data.
    pub(crate) fn fill(&self) -> Option<&[u8]> {
        self.fill.as_deref()
    }

    /// Encodes `values` to `stored`, which has as many numbers.
    ///
    /// # Errors
    /// For the first number that the stored type does not have.
    pub(crate) fn encode(&self, values: &[u8], stored: &mut [u8]) -> Result<(), Unfit> {
        let is_scaled = self.scale.is_some() || self.offset.is_some();
        if self.from == self.to && !is_scaled && (self.fill.is_none() || (is_integer(self.from) && !self.has_nat)) {
            stored.copy_from_slice(values);
            return Ok(());
        }
        let blocks = values.chunks(BLOCK * self.from.size()).zip(stored.chunks_mut(BLOCK * self.to.size()));
        for (number, (values, stored)) in blocks.enumerate() {
            let encoded = if is_scaled || !is_integer(self.from) {
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
        let count = values.len() / self.from.size();
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
        let size = self.to.size();
        match self.to {
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
        if let Some(fill) = self.fill.as_ref().filter(|_| !is_integer(self.to)) {
            for (number, item) in numbers.iter().zip(stored.chunks_exact_mut(size)) {
                if number.is_nan() {
                    item.copy_from_slice(fill);
                }
            }
        }
        Ok(())
    }

    /// Floats as integers.
    fn round(&self, numbers: &[f64], stored: &mut [u8]) -> Result<(), Unfit> {
        let (least, greatest) = self.to.range().unwrap_or((0, 1));
        // Powers of two, which floats have.
        let (least, end) = (least as f64, (greatest + 1) as f64);
        let size = self.to.size();
        for (index, (&number, item)) in numbers.iter().zip(stored.chunks_exact_mut(size)).enumerate() {
            let rounded = number.round_ties_even();
            if rounded >= least && rounded < end {
                set(item, rounded as i128);
            } else if let Some(fill) = self.fill.as_ref().filter(|_| number.is_nan()) {
                item.copy_from_slice(fill);
            } else {
                return Err(Unfit { index, is_missing: number.is_nan() });
            }
        }
        Ok(())
    }

    fn encode_integers(&self, values: &[u8], stored: &mut [u8]) -> Result<(), Unfit> {
        let mut numbers = [0_i128; BLOCK];
        let count = values.len() / self.from.size();
        let numbers = numbers.get_mut(..count).unwrap_or_default();
        self.load(values, numbers);
        let size = self.to.size();
        let range = self.to.range();
        for (index, (&number, item)) in numbers.iter().zip(stored.chunks_exact_mut(size)).enumerate() {
            if self.has_nat && number == i128::from(NAT) {
                match (&self.fill, self.to) {
                    (Some(fill), _) => item.copy_from_slice(fill),
                    (None, Scalar::F32) => item.copy_from_slice(&f32::NAN.to_ne_bytes()),
                    (None, Scalar::F64) => item.copy_from_slice(&f64::NAN.to_ne_bytes()),
                    (None, Scalar::I64) => item.copy_from_slice(&NAT.to_ne_bytes()),
                    _ => return Err(Unfit { index, is_missing: true }),
                }
                continue;
            }
            match (self.to, range) {
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
        match self.from {
            Scalar::I8 | Scalar::I4 | Scalar::I2 => each::<i8, T>(values, numbers),
            Scalar::U8 | Scalar::U4 | Scalar::U2 | Scalar::Bool => each::<u8, T>(values, numbers),
            Scalar::I16 => each::<i16, T>(values, numbers),
            Scalar::U16 => each::<u16, T>(values, numbers),
            Scalar::I32 => each::<i32, T>(values, numbers),
            Scalar::U32 => each::<u32, T>(values, numbers),
            Scalar::I64 => each::<i64, T>(values, numbers),
            Scalar::U64 => each::<u64, T>(values, numbers),
            Scalar::F16 => each::<f16, T>(values, numbers),
            Scalar::F32 => each::<f32, T>(values, numbers),
            _ => each::<f64, T>(values, numbers),
        }
    }
}

/// A type that numbers are loaded to.
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

/// The scalar of numbers that can be encoded: of one part, and no small floats.
pub(crate) fn number(data_type: &DataType) -> Option<Scalar> {
    let data_type = data_type.storage();
    let is_small = matches!(data_type, DataType::SmallFloat(_) | DataType::SmallComplex(_));
    let scalar = match data_type.layout() {
        zarr_dtype::Layout::Fixed { scalar, count: 1 } => scalar,
        _ => return None,
    };
    Some(scalar).filter(|_| !is_small && data_type.class().is_some() && scalar != Scalar::BF16)
}

fn is_integer(scalar: Scalar) -> bool {
    scalar.range().is_some() || scalar == Scalar::Bool
}

/// A fill value as an element; `None` if the type does not have it.
fn item(fill: &Fill, to: Scalar) -> Option<Vec<u8>> {
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
    match *fill {
        Fill::Integer(value) => integer(value).or_else(|| float(value as f64)),
        Fill::Float(value) if value.fract() == 0.0 && value.abs() < 1e30 => {
            float(value).or_else(|| integer(value as i128))
        }
        Fill::Float(value) => float(value),
        Fill::Complex(..) | Fill::Bytes(_) => None,
    }
}

/// Checks that finite numbers stay finite.
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

/// Puts an integer into an element that has room for it.
fn set(item: &mut [u8], value: i128) {
    match item {
        [one] => *one = value as u8,
        item if item.len() == 2 => item.copy_from_slice(&(value as u16).to_ne_bytes()),
        item if item.len() == 4 => item.copy_from_slice(&(value as u32).to_ne_bytes()),
        item => item.copy_from_slice(&(value as u64).to_ne_bytes()),
    }
}
