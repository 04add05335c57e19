//! Missing and packed data: numbers as they are stored, to and from the values that they stand for.
//!
//! A variable marks missing data by `_FillValue` and `missing_value` ([section 2.5.1 of the
//! conventions](https://cfconventions.org/cf-conventions/cf-conventions.html#missing-data)), and packs values by `scale_factor` and
//! `add_offset` ([section 8.1](https://cfconventions.org/cf-conventions/cf-conventions.html#packed-data)). [`Packed`] has what these
//! attributes say. Numbers go in and come out as bytes, in the order of bytes of the machine.
//!
//! # As xarray does
//! The types and the order of the operations are those of xarray 2026.9. Without `scale_factor` and `add_offset` masked integers of up to
//! 16 bits become float32 and others float64, floats keep their type. With one of them numbers become float64, but for floats of which NaN
//! alone is missing, which keep their type, and for integers of which none is missing and that an integer scales, which become int64. Written
//! values are computed in
//! float32 where they are of that type and missing data is marked, all others in float64; floats are rounded to integers, halves to even.
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

/// NaT, the time that is none.
pub const NAT: i64 = i64::MIN;

/// A number that values are scaled by or moved by. Its kind decides the type of the result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Factor {
    /// An integer.
    Integer(i64),
    /// A float.
    Float(f64),
}

impl Factor {
    /// The number as a float.
    #[must_use]
    pub fn to_f64(self) -> f64 {
        match self {
            Self::Integer(value) => value as f64,
            Self::Float(value) => value,
        }
    }
}

/// A number that marks missing data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Mark {
    /// An integer.
    Integer(i128),
    /// A float, which is not NaN.
    Float(f64),
    /// The parts of a complex number, of which none is NaN.
    Complex(f64, f64),
}

/// How values are packed into stored numbers, and which of these are missing data.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Packed {
    /// The numbers that mark missing data.
    pub marks: Vec<Mark>,
    /// Whether there are attributes that mark missing data, be it by NaN alone.
    pub marks_nan: bool,
    /// The number that stored ones are multiplied by.
    pub scale: Option<Factor>,
    /// The number that is added afterwards.
    pub offset: Option<Factor>,
    /// Whether numbers count times: missing integers become [`NAT`] where nothing is scaled, and scaled floats float64.
    pub is_count: bool,
}
