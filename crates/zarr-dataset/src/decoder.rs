//! Decoding of stored elements to values of one data type: numbers, and the bools, times and time spans that numbers stand for.

use crate::attribute::{in_metadata, invalid};
use crate::{Error, Result, calendar_time};
use bytemuck::cast_slice;
use zarr_cf::encoding::{Encoding, TimeEncoding, unpacked};
use zarr_cf::packed::Unpacker;
use zarr_cf::time::{Calendar, DeltaUnits, TimeKind, TimeUnits};
use zarr_dtype::{DataType, TimeUnit, Unit};

/// Decoder of stored elements to values.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Decoder {
    numbers: Unpacker,
    target: Target,
    data_type: DataType,
}

#[derive(Clone, Debug, PartialEq)]
enum Target {
    Numbers,
    Bools,
    Times(Box<TimeUnits>, TimeKind),
    /// Time spans, with the number of nanoseconds in the unit of the data type.
    Spans(DeltaUnits, i64),
}

impl Decoder {
    /// Returns the decoder of elements of type `stored`. `kind` is the kind of times to which times are decoded.
    ///
    /// # Errors
    /// For an encoding that such elements cannot have, with the attribute.
    pub(crate) fn new(stored: &DataType, encoding: &Encoding, kind: TimeKind) -> Result<Self> {
        let Some(unpacker) = encoding.unpacker(stored).map_err(in_metadata)? else {
            return Err(Error::argument(format!("elements of data type {stored} are no numbers")));
        };
        let is_plain = matches!(encoding.times, TimeEncoding::None | TimeEncoding::Count) && !encoding.is_bool;
        if unpacker.is_complex() && !is_plain {
            let attribute = if encoding.is_bool { "dtype" } else { "units" };
            return Err(invalid(attribute, "an array of complex numbers", "an array of real numbers"));
        }
        let (target, data_type) = match &encoding.times {
            TimeEncoding::Since(units, calendar) => {
                let units = time_units(units, calendar.as_deref())?;
                let data_type = match kind {
                    TimeKind::Calendar => calendar_time::data_type(units.calendar())?,
                    _ => DataType::DateTime64(TimeUnit::new(Unit::Nanosecond)),
                };
                (Target::Times(Box::new(units), kind), data_type)
            }
            TimeEncoding::Span(units, dtype) => {
                let units =
                    DeltaUnits::parse(units).map_err(|error| invalid("units", &error.to_string(), "a unit of time"))?;
                let (unit, nanoseconds) = finer(span_type(dtype), span_type(units.text()));
                (Target::Spans(units, nanoseconds), DataType::TimeDelta64(TimeUnit::new(unit)))
            }
            TimeEncoding::None | TimeEncoding::Count if encoding.is_bool => (Target::Bools, DataType::Bool),
            TimeEncoding::None | TimeEncoding::Count => (Target::Numbers, unpacked(&unpacker, stored)),
        };
        Ok(Self { numbers: unpacker, target, data_type })
    }

    /// Returns the data type of the decoded values.
    pub(crate) fn data_type(&self) -> &DataType {
        &self.data_type
    }

    /// Whether decoding returns the elements unchanged.
    pub(crate) fn is_identity(&self, stored: &DataType) -> bool {
        matches!(self.target, Target::Numbers) && self.numbers.is_identity() && self.data_type == *stored
    }

    /// Returns the kind of times that hold the `stored` counts of `units`: `numpy.datetime64` in nanoseconds, or dates of the calendar.
    pub(crate) fn count(&self, units: &TimeUnits, stored: &[u8]) -> zarr_cf::time::Result<TimeKind> {
        units.kind(self.numbers.counts(stored).numbers())
    }

    /// Decodes the elements `stored` to `decoded`, which has the same number of elements.
    ///
    /// # Errors
    /// For a number that is no time, which it names.
    pub(crate) fn decode(&self, stored: &[u8], decoded: &mut [u8]) -> Result<(), String> {
        match &self.target {
            Target::Numbers => self.numbers.unpack(stored, decoded),
            Target::Bools => self.numbers.bools(stored, decoded),
            Target::Times(units, kind) => {
                let times = units.decode_as(*kind, self.numbers.counts(stored).numbers());
                match times.map_err(|error| error.to_string())? {
                    zarr_cf::time::Times::Nanoseconds(times) => decoded.copy_from_slice(cast_slice(&times)),
                    zarr_cf::time::Times::Calendar(dates) => {
                        for (date, item) in dates.iter().zip(decoded.chunks_exact_mut(8)) {
                            item.copy_from_slice(&calendar_time::to_number(date.as_ref())?.to_ne_bytes());
                        }
                    }
                }
            }
            Target::Spans(units, nanoseconds) => {
                let counts = self.numbers.counts(stored);
                let spans = units.decode(counts.numbers()).map_err(|error| error.to_string())?;
                for (&span, item) in spans.iter().zip(decoded.chunks_exact_mut(8)) {
                    let span = match span {
                        i64::MIN => i64::MIN,
                        span if span % nanoseconds == 0 => span / nanoseconds,
                        span => return Err(format!("{span} nanoseconds are no value of {}", self.data_type)),
                    };
                    item.copy_from_slice(&span.to_ne_bytes());
                }
            }
        }
        Ok(())
    }
}

/// Parses the units of times and their calendar.
///
/// # Errors
/// For unknown units or an unknown calendar, with the attribute.
pub(crate) fn time_units(units: &str, calendar: Option<&str>) -> Result<TimeUnits> {
    let named = |attribute: &str, error: zarr_cf::time::Error| {
        let pointer = format!("/attributes/{attribute}");
        Error::new(zarr_array::ErrorKind::InvalidMetadata, format!("attribute {attribute}: {error}"))
            .at(|location| location.pointer = Some(pointer))
    };
    let calendar = Calendar::parse(calendar.unwrap_or("standard")).map_err(|error| named("calendar", error))?;
    TimeUnits::parse(units, calendar).map_err(|error| named("units", error))
}

/// Returns the unit of a numpy data type of time spans, and the number of nanoseconds in it. Units coarser than seconds become seconds, as
/// in pandas and xarray.
fn span_type(dtype: &str) -> (Unit, i64) {
    match dtype.trim_start_matches("timedelta64").trim_matches(['[', ']']) {
        "ns" | "ps" | "fs" | "as" | "" | "nanoseconds" => (Unit::Nanosecond, 1),
        "us" | "microseconds" => (Unit::Microsecond, 1_000),
        "ms" | "milliseconds" => (Unit::Millisecond, 1_000_000),
        _ => (Unit::Second, 1_000_000_000),
    }
}

/// Returns the finer one of two units, in which spans in either unit are exact.
fn finer(one: (Unit, i64), other: (Unit, i64)) -> (Unit, i64) {
    if other.1 < one.1 { other } else { one }
}
