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
//! - NaN is a missing time in every calendar; xarray turns NaN into the reference date if it decodes to dates. `i64::MIN` is a missing time
//!   too, although xarray refuses it if it decodes to dates.
//! - Values beyond the range of nanoseconds since 1970 become dates even next to a missing value, and even if only the fraction of a unit
//!   exceeds the range; xarray gives NaT or a number that overflowed. An infinite value is an error.
//! - When nanoseconds are encoded relative to a reference date outside of their range, a time that is not a whole microsecond is an error;
//!   xarray cuts off the rest.
//! - A reference date is an error if xarray would ignore a part with digits, or mistake it for another part of a date.
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
