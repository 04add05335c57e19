//! Missing and packed data: conversion between stored numbers and the values that they stand for.
//!
//! A variable marks missing data by `_FillValue` and `missing_value` ([section 2.5.1 of the
//! conventions](https://cfconventions.org/cf-conventions/cf-conventions.html#missing-data)), and packs values by `scale_factor` and
//! `add_offset` ([section 8.1](https://cfconventions.org/cf-conventions/cf-conventions.html#packed-data)). [`Packed`] holds these
//! attributes. Numbers are passed as bytes in the byte order of the machine.
//!
//! # As xarray does
//! The types and the order of the operations are those of xarray 2026.9. Without `scale_factor` and `add_offset`, masked integers of up to
//! 16 bits become float32, wider ones float64; floats keep their type. With `scale_factor` or `add_offset`, numbers become float64, with
//! two exceptions: floats without marks other than NaN keep their type, and integers without marks that are scaled by an integer alone
//! become int64. Written values are computed in float32 if they are float32 and missing data is marked, all others in float64; floats are
//! rounded to integers, ties to even.
//!
//! ```
//! use zarr_cf::packed::{Factor, Mark, Packed, Packer, Unpacker};
//! use zarr_dtype::Scalar;
//!
//! let packed = Packed { marks: vec![Mark::Integer(-1)], marks_nan: true, scale: Some(Factor::Float(0.5)), ..Packed::default() };
//! let unpacker = Unpacker::new(Scalar::I16, 1, &packed).expect("a number");
//! assert_eq!(unpacker.result(), Scalar::F64);
//!
//! let stored: Vec<u8> = [7_i16, -1].iter().flat_map(|number| number.to_ne_bytes()).collect();
//! let mut values = [0; 16];
//! unpacker.unpack(&stored, &mut values);
//! assert_eq!(values[..8], 3.5_f64.to_ne_bytes());
//!
//! let mut again = [0; 4];
//! let packer = Packer::new(Scalar::F64, false, Scalar::I16, &packed).expect("numbers");
//! packer.pack(&values, &mut again).expect("numbers that fit");
//! assert_eq!(again[..], stored);
//! ```

mod number;
mod pack;
mod unpack;

pub use pack::{Packer, Unfit};
pub use unpack::{Counts, Unpacker};

/// NaT, "not a time": the missing time.
pub const NAT: i64 = i64::MIN;

/// Number by which values are scaled or to which an offset is added. Its kind determines the type of the result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Factor {
    /// Integer factor or offset.
    Integer(i64),
    /// Float factor or offset.
    Float(f64),
}

impl Factor {
    /// Returns the number as a float.
    #[must_use]
    pub fn to_f64(self) -> f64 {
        match self {
            Self::Integer(value) => value as f64,
            Self::Float(value) => value,
        }
    }
}

/// Number that marks missing data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Mark {
    /// Integer that marks missing data.
    Integer(i128),
    /// Float, other than NaN, that marks missing data.
    Float(f64),
    /// Complex number, of which no part is NaN: real and imaginary part.
    Complex(f64, f64),
}

/// Packing of values into stored numbers, and the numbers that mark missing data.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Packed {
    /// Stored numbers that mark missing data.
    pub marks: Vec<Mark>,
    /// Whether there are attributes that mark missing data, even if only by NaN.
    pub marks_nan: bool,
    /// Number by which stored numbers are multiplied.
    pub scale: Option<Factor>,
    /// Number that is added after the multiplication.
    pub offset: Option<Factor>,
    /// Whether numbers count times: missing integers become [`NAT`] if they are not scaled, and scaled floats become float64.
    pub is_count: bool,
}
