//! CF conventions on plain slices: packed and missing data, and times of any calendar, decoded and encoded as xarray does.
//!
//! The crate knows no arrays and no stores. [`encoding`] interprets the attributes of a variable, with the values in [`fill`] that mark
//! missing data. With an encoding, stored numbers become values and times, and back ([`packed`], [`time`]). The crate follows version 1.12
//! of the [conventions]. If the conventions leave a choice, or programs deviate from them, it follows xarray 2026.9 with cftime 1.6.6.
//!
//! [conventions]: https://cfconventions.org/cf-conventions/cf-conventions.html
//!
//! # Example
//! ```
//! use zarr_cf::time::{Calendar, Numbers, TimeUnits, Times};
//!
//! let units = TimeUnits::parse("hours since 2000-02-28 00:00:00", Calendar::parse("gregorian")?)?;
//! let Times::Nanoseconds(times) = units.decode(Numbers::F64(&[0.5, f64::NAN]))? else { unreachable!() };
//! assert_eq!(times, [951_697_800_000_000_000, i64::MIN]);
//!
//! let units = TimeUnits::parse("days since 2000-02-28", Calendar::NoLeap)?;
//! let Times::Calendar(dates) = units.decode(Numbers::I64(&[1]))? else { unreachable!() };
//! assert_eq!(dates[0].unwrap().to_string(), "2000-03-01 00:00:00");
//! # Ok::<(), zarr_cf::time::Error>(())
//! ```

pub mod encoding;
mod error;
pub mod fill;
pub mod packed;
pub mod textual;
pub mod time;

pub use error::AttributeError;
