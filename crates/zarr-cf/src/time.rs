//! Times and timedeltas: numbers with units, as the CF conventions store them, to and from instants.
//!
//! A variable of times holds numbers; its attribute `units` says what they count, and from when, as in
//! `days since 2000-01-01`; its attribute `calendar` says which days exist ([section 4.4 of the
//! conventions](https://cfconventions.org/cf-conventions/cf-conventions.html#time-coordinate)). [`TimeUnits`] are both.
//! Times are [nanoseconds since 1970](Times::Nanoseconds), as `datetime64[ns]` of numpy is, where calendar and range
//! permit, and else [dates](Times::Calendar) of the calendar, as `cftime.datetime` is. A variable of timedeltas has
//! units without a date, as `days`: [`DeltaUnits`].
//!
//! # As xarray does
//! The kind of the result, each value and the written units are those of xarray 2026.9 with cftime 1.6.6 on x86-64, at
//! the defaults of `CFDatetimeCoder` and `CFTimedeltaCoder` (`xarray/coding/times.py`), rounding included. Where that
//! silently gives a wrong value, there is an error or a missing time here:
//!
//! - A value that is NaN is missing in every calendar; xarray makes it the reference date where it decodes to dates.
//!   The same holds for `i64::MIN`, which xarray refuses there.
//! - Values beyond nanoseconds since 1970 become dates also beside a missing one, and where only their fraction of a
//!   unit is beyond; xarray gives NaT or an overflown number. An infinite value is an error.
//! - Nanoseconds that are no whole microseconds are an error where dates are counted; xarray cuts them off.
//! - A reference date of which xarray would leave a part with digits unread, or take it for another part, is an error.
//!
//! Fill values are none of its business: the caller masks them as NaN or `i64::MIN` before.

mod calendar;
mod date;
mod decode;
mod delta;
mod encode;
mod error;
mod exact;
mod infer;
mod iso;
mod numbers;
mod reference;
mod unit;
mod units;

pub use calendar::Calendar;
pub use date::DateTime;
pub use decode::{TimeKind, Times};
pub use delta::DeltaUnits;
pub use encode::{Encoded, EncodedNumbers, NumberKind};
pub use error::{Error, Result};
pub use iso::{PartialDate, Resolution};
pub use numbers::Numbers;
pub use units::TimeUnits;
