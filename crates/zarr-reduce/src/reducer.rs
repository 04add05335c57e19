//! Reduction of elements in memory, whatever their data type is.

use crate::blocks::{Reduction, Scratch, Source, Target};
use crate::rows::{Half, Reduce};
use crate::{Elements, Method, Unfit};
use std::fmt;
use zarr_dtype::DataType;

/// Maximum number of elements of a block: the sum of a block fits the type of sums of each data type.
pub const MOST_ELEMENTS: u64 = 1 << 16;

/// Part of a box in memory that takes reduced elements: all of the box from `origin` that they fill.
#[derive(Debug)]
pub struct Place<'a> {
    /// Elements of the whole box, in C order.
    pub elements: &'a mut Elements,
    /// Shape of the whole box.
    pub shape: &'a [usize],
    /// Index within the box of the first reduced element.
    pub origin: &'a [usize],
}

/// Reduction of elements of one data type by one method. It keeps memory for sums from one call to the next, so each thread has its own.
pub struct Reducer {
    reduce: Box<dyn ReduceElements + Send>,
    method: Method,
}

impl fmt::Debug for Reducer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reducer").field("method", &self.method).finish_non_exhaustive()
    }
}

impl Reducer {
    /// Returns the reduction of elements of a data type by a method.
    ///
    /// `missing` are elements in memory that stand for missing data, beside NaN, of native byte order: with it a block is computed of its
    /// other elements, and a block of missing elements becomes the first of `missing`, or NaN if it has NaN alone. Without it NaN is an
    /// element that makes its block NaN. [`Method::Nearest`] picks elements whatever they are.
    ///
    /// # Errors
    /// [`Unfit`] if the method does not take the data type, or an element of `missing` has another size.
    pub fn new(data_type: &DataType, method: Method, missing: Option<&[&[u8]]>) -> Result<Self, Unfit> {
        use DataType as D;
        Self::check(data_type, method)?;
        let reduce = match data_type.storage() {
            D::Bool | D::UInt2 | D::UInt4 | D::UInt8 => erased::<u8>(missing),
            D::Int2 | D::Int4 | D::Int8 => erased::<i8>(missing),
            D::UInt16 => erased::<u16>(missing),
            D::Int16 => erased::<i16>(missing),
            D::UInt32 => erased::<u32>(missing),
            D::Int32 => erased::<i32>(missing),
            D::UInt64 => erased::<u64>(missing),
            D::Int64 => erased::<i64>(missing),
            D::Float16 => erased::<Half>(missing),
            D::Float32 => erased::<f32>(missing),
            D::Float64 => erased::<f64>(missing),
            // Elements are only picked, by their size.
            other => match other.item_size() {
                1 => erased::<u8>(missing),
                2 => erased::<u16>(missing),
                4 => erased::<u32>(missing),
                _ => erased::<u64>(missing),
            },
        };
        Ok(Self { reduce: reduce?, method })
    }

    /// Checks that a method takes elements of a data type.
    ///
    /// # Errors
    /// [`Unfit`] if it does not.
    pub fn check(data_type: &DataType, method: Method) -> Result<(), Unfit> {
        use DataType as D;
        let stored = data_type.storage();
        let takes = match stored {
            D::Bool => matches!(method, Method::Min | Method::Max | Method::Mode | Method::Nearest),
            D::Int2 | D::Int4 | D::Int8 | D::Int16 | D::Int32 | D::Int64 => true,
            D::UInt2 | D::UInt4 | D::UInt8 | D::UInt16 | D::UInt32 | D::UInt64 => true,
            D::Float16 | D::Float32 | D::Float64 => method != Method::Mode,
            other => method == Method::Nearest && !other.is_variable() && matches!(other.item_size(), 1 | 2 | 4 | 8),
        };
        if takes {
            return Ok(());
        }
        let taken = match method {
            Method::Mean | Method::Median => "integers and floats",
            Method::Min | Method::Max => "integers, floats and bool",
            Method::Mode => "integers and bool",
            Method::Nearest => "data types of 1, 2, 4 or 8 bytes",
        };
        Err(Unfit::new(format!("found data type {data_type}, expected one that {method} takes: {taken}")))
    }

    /// Reduces blocks of `factors` elements of a box of `shape` in C order, the last block along each axis of the elements that are left,
    /// into `place`. If all factors are 1, elements are copied whatever the method is.
    ///
    /// # Panics
    /// If the elements are not those of `shape`, or the reduced ones do not fit the place.
    pub fn reduce(&mut self, from: &Elements, shape: &[usize], factors: &[usize], place: &mut Place<'_>) {
        let is_copy = factors.iter().all(|&factor| factor == 1);
        self.reduce.reduce(if is_copy { Method::Nearest } else { self.method }, from, shape, factors, place);
    }
}

/// Reduction of elements whose type is not known where it is called, so that the loops are compiled in this crate alone.
trait ReduceElements {
    fn reduce(&mut self, method: Method, from: &Elements, shape: &[usize], factors: &[usize], place: &mut Place<'_>);
}

/// Reduction of elements of type `T`.
struct Typed<T: Reduce> {
    missing: Option<Vec<T>>,
    scratch: Scratch<T>,
}

impl<T: Reduce> ReduceElements for Typed<T> {
    fn reduce(&mut self, method: Method, from: &Elements, shape: &[usize], factors: &[usize], place: &mut Place<'_>) {
        let from = Source { elements: bytemuck::cast_slice(from.bytes()), shape };
        let elements = bytemuck::cast_slice_mut(place.elements.bytes_mut());
        let mut into = Target { elements, shape: place.shape, origin: place.origin };
        let reduction = Reduction { method, missing: self.missing.as_deref() };
        reduction.reduce(&from, factors, &mut into, &mut self.scratch);
    }
}

fn erased<T: Reduce>(missing: Option<&[&[u8]]>) -> Result<Box<dyn ReduceElements + Send>, Unfit> {
    let element = |bytes: &&[u8]| {
        bytemuck::try_pod_read_unaligned::<T>(bytes).map_err(|_| {
            Unfit::new(format!("found a missing element of {} bytes, expected {}", bytes.len(), size_of::<T>()))
        })
    };
    let missing = missing.map(|missing| missing.iter().map(element).collect::<Result<Vec<T>, _>>()).transpose()?;
    // NaN is missing in any case, and equal to nothing.
    let missing = missing.map(|missing| missing.into_iter().filter(|element| !element.is_nan()).collect());
    Ok(Box::new(Typed { missing, scratch: Scratch::default() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_elements_are_left_out() -> Result<(), Box<dyn std::error::Error>> {
        let nan = f32::NAN.to_ne_bytes();
        let minus = (-9_f32).to_ne_bytes();
        let mut reducer = Reducer::new(&DataType::Float32, Method::Mean, Some(&[&nan, &minus]))?;
        let (mut fine, mut coarse) = (Elements::default(), Elements::default());
        let values = [1.0_f32, -9.0, -9.0, -9.0, f32::NAN, 4.0];
        fine.resize(24)?;
        fine.bytes_mut().copy_from_slice(bytemuck::cast_slice(&values));
        coarse.resize(16)?;
        let mut place = Place { elements: &mut coarse, shape: &[4], origin: &[1] };
        reducer.reduce(&fine, &[6], &[2], &mut place);
        assert_eq!(bytemuck::cast_slice::<u8, f32>(coarse.bytes()), [0.0, 1.0, -9.0, 4.0]);
        Ok(())
    }

    #[test]
    fn elements_are_copied_by_factors_of_one() -> Result<(), Box<dyn std::error::Error>> {
        let mut reducer = Reducer::new(&DataType::Int16, Method::Median, Some(&[&[1, 0]]))?;
        let (mut fine, mut coarse) = (Elements::default(), Elements::default());
        fine.resize(4)?;
        coarse.resize(4)?;
        fine.bytes_mut().copy_from_slice(&[1, 2, 3, 4]);
        let mut place = Place { elements: &mut coarse, shape: &[1, 2], origin: &[0, 0] };
        reducer.reduce(&fine, &[1, 2], &[1, 1], &mut place);
        assert_eq!(coarse.bytes(), [1, 2, 3, 4]);
        Ok(())
    }

    #[test]
    fn what_a_method_does_not_take_is_an_error() {
        let refused =
            |data_type: &DataType, method| Reducer::new(data_type, method, None).err().map(|error| error.to_string());
        let message = "found data type float32, expected one that mode takes: integers and bool";
        assert_eq!(refused(&DataType::Float32, Method::Mode).as_deref(), Some(message));
        assert_eq!(refused(&DataType::Complex64, Method::Nearest), None);
        let missing = Reducer::new(&DataType::Int16, Method::Mean, Some(&[&[1]])).err().map(|error| error.to_string());
        assert_eq!(missing.as_deref(), Some("found a missing element of 1 bytes, expected 2"));
        assert!(
            "middle".parse::<Method>().is_err_and(|error| error.to_string().contains("expected one of mean, median"))
        );
    }
}
