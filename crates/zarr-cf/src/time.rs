//! Times and timedeltas: conversion between numbers with units, as the CF conventions store them, and instants.
//!
//! A variable of times holds numbers. Its attribute `units` gives the unit and the reference date of the count, such as `days since
//! 2000-01-01`; its attribute `calendar` determines which days exist ([section 4.4 of the
//! conventions](https://cfconventions.org/cf-conventions/cf-conventions.html#time-coordinate)). [`TimeUnits`] holds both attributes. If
//! calendar and range permit, times are [nanoseconds since 1970](Times::Nanoseconds), as numpy's `datetime64[ns]`, else
//! [dates](Times::Calendar) of the calendar, as `cftime.datetime`. A variable of timedeltas has units without a date, such as `days`:
//! [`DeltaUnits`].
//!
//! # As xarray does
//! The kind of the result, each value and the written units equal those of xarray 2026.9 with cftime 1.6.6 on x86-64, with the defaults of
//! `CFDatetimeCoder` and `CFTimedeltaCoder` (`xarray/coding/times.py`), rounding included. If xarray silently gives a wrong value, this
//! module gives an error or a missing time:
//!
//! - A value that is NaN is missing in every calendar; xarray makes it the reference date where it decodes to dates.
//!   The same holds for `i64::MIN`, which xarray refuses there.
//! - Values beyond nanoseconds since 1970 become dates also beside a missing one, and where only their fraction of a
//!   unit is beyond; xarray gives NaT or an overflown number. An infinite value is an error.
//! - Nanoseconds that are no whole microseconds are an error where dates are counted; xarray cuts them off.
//! - A reference date of which xarray would leave a part with digits unread, or take it for another part, is an error.
//!
//! Fill values are not handled here: the caller first replaces them by NaN or `i64::MIN`.

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
