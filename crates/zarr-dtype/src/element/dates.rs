//! Types of the crate jiff as elements: points in time and durations.

use super::field;
use super::text::each;
use super::{Element, FieldValue, Offsets, mismatch, with_room};
use crate::layout::{at, to_usize};
use crate::time::NOT_A_TIME;
use crate::{DataType, Error, Heap, TimeUnit, Unit};
use jiff::civil::{Date, DateTime};
use jiff::{SignedDuration, Timestamp};

const EPOCH: DateTime = DateTime::constant(1970, 1, 1, 0, 0, 0, 0);

/// Type of jiff that stands for a count of a unit of time.
trait Time: Sized + Clone + Send + Sync + 'static {
    const NAME: &'static str;
    /// Value of the count 0.
    const ZERO: Self;
    /// Unit of new arrays with elements of this type.
    const UNIT: Unit;

    /// Returns the data type of counts of `unit`.
    fn data_type(unit: TimeUnit) -> DataType;

    /// Returns the unit of a data type if its elements are values of this type; else `None`.
    fn unit(data_type: &DataType) -> Option<TimeUnit>;

    /// Returns the value for `nanoseconds`, counted from 1970-01-01 if it is a point in time; `None` outside of the range of the type.
    fn from_nanoseconds(nanoseconds: i128) -> Option<Self>;

    /// Returns the value in nanoseconds, counted as for `from_nanoseconds`.
    fn nanoseconds(&self) -> i128;

    /// Returns the text of the value for messages.
    fn text(&self) -> String;
}

/// Returns the unit of points in time; `None` for the generic unit, whose points have no calendar, and for other types.
fn date_unit(data_type: &DataType) -> Option<TimeUnit> {
    match data_type {
        DataType::DateTime64(unit) if unit.unit != Unit::Generic => Some(*unit),
        _ => None,
    }
}

fn duration(nanoseconds: i128) -> Option<SignedDuration> {
    let seconds = i64::try_from(nanoseconds.div_euclid(NANOSECONDS)).ok()?;
    Some(SignedDuration::new(seconds, i32::try_from(nanoseconds.rem_euclid(NANOSECONDS)).ok()?))
}

/// Number of nanoseconds in a second.
const NANOSECONDS: i128 = 1_000_000_000;

macro_rules! dates {
    ($($rust:ty, $name:literal, $unit:ident, $zero:expr, $from:expr, $to:expr;)*) => { $(
        impl Time for $rust {
            const NAME: &'static str = $name;
            const ZERO: Self = $zero;
            const UNIT: Unit = Unit::$unit;

            fn data_type(unit: TimeUnit) -> DataType {
                DataType::DateTime64(unit)
            }

            fn unit(data_type: &DataType) -> Option<TimeUnit> {
                date_unit(data_type)
            }

            fn from_nanoseconds(nanoseconds: i128) -> Option<Self> {
                $from(nanoseconds)
            }

            fn nanoseconds(&self) -> i128 {
                $to(*self)
            }

            fn text(&self) -> String {
                self.to_string()
            }
        }
    )* };
}

fn date_time(nanoseconds: i128) -> Option<DateTime> {
    EPOCH.checked_add(duration(nanoseconds)?).ok()
}

fn since_epoch(date: DateTime) -> i128 {
    date.duration_since(EPOCH).as_nanos()
}

dates! {
    Timestamp, "jiff::Timestamp", Nanosecond, Timestamp::UNIX_EPOCH,
        |nanoseconds| Timestamp::from_nanosecond(nanoseconds).ok(), Timestamp::as_nanosecond;
    DateTime, "jiff::civil::DateTime", Nanosecond, EPOCH, date_time, since_epoch;
    Date, "jiff::civil::Date", Day, Date::constant(1970, 1, 1),
        |nanoseconds| date_time(nanoseconds).filter(|date| is_midnight(*date)).map(DateTime::date),
        |date: Date| since_epoch(date.at(0, 0, 0, 0));
}

fn is_midnight(date: DateTime) -> bool {
    date == date.date().at(0, 0, 0, 0)
}

impl Time for SignedDuration {
    const NAME: &'static str = "jiff::SignedDuration";
    const ZERO: Self = Self::ZERO;
    const UNIT: Unit = Unit::Nanosecond;

    fn data_type(unit: TimeUnit) -> DataType {
        DataType::TimeDelta64(unit)
    }

    /// Excludes years and months, which have no fixed length.
    fn unit(data_type: &DataType) -> Option<TimeUnit> {
        match data_type {
            DataType::TimeDelta64(unit) if !matches!(unit.unit, Unit::Generic | Unit::Year | Unit::Month) => {
                Some(*unit)
            }
            _ => None,
        }
    }

    fn from_nanoseconds(nanoseconds: i128) -> Option<Self> {
        duration(nanoseconds)
    }

    fn nanoseconds(&self) -> i128 {
        self.as_nanos()
    }

    fn text(&self) -> String {
        self.to_string()
    }
}

/// Length of a unit: the number of nanoseconds in one unit, or the number of units in one nanosecond.
enum Length {
    Nanoseconds(i128),
    PerNanosecond(i128),
}

/// Returns the length of a unit; `None` for years and months, whose length varies, and for the generic unit.
fn length(unit: Unit) -> Option<Length> {
    Some(Length::Nanoseconds(match unit {
        Unit::Week => 7 * 86_400 * NANOSECONDS,
        Unit::Day => 86_400 * NANOSECONDS,
        Unit::Hour => 3600 * NANOSECONDS,
        Unit::Minute => 60 * NANOSECONDS,
        Unit::Second => NANOSECONDS,
        Unit::Millisecond => 1_000_000,
        Unit::Microsecond => 1000,
        Unit::Nanosecond => 1,
        Unit::Picosecond => return Some(Length::PerNanosecond(1000)),
        Unit::Femtosecond => return Some(Length::PerNanosecond(1_000_000)),
        Unit::Attosecond => return Some(Length::PerNanosecond(1_000_000_000)),
        Unit::Year | Unit::Month | Unit::Generic => return None,
    }))
}

/// Returns `dividend / divisor` if there is no remainder; else `None`.
fn exactly(dividend: i128, divisor: i128) -> Option<i128> {
    (dividend.checked_rem(divisor)? == 0).then(|| dividend / divisor)
}

/// Returns `count` units in nanoseconds; `None` if they are not a whole number, or outside of the range of jiff.
fn to_nanoseconds(unit: TimeUnit, count: i64) -> Option<i128> {
    // Less than 96 bits.
    let units = i128::from(count) * i128::from(unit.scale);
    match length(unit.unit) {
        Some(Length::Nanoseconds(length)) => units.checked_mul(length),
        Some(Length::PerNanosecond(per)) => exactly(units, per),
        None => {
            let months = if unit.unit == Unit::Year { 12 * units } else { units };
            let year = i16::try_from(1970 + months.div_euclid(12)).ok()?;
            let month = i8::try_from(1 + months.rem_euclid(12)).ok()?;
            Some(since_epoch(Date::new(year, month, 1).ok()?.at(0, 0, 0, 0)))
        }
    }
}

/// Returns `nanoseconds` as a count of `unit`; `None` if it is not a whole number, or has more than 64 bits.
fn to_count(unit: TimeUnit, nanoseconds: i128) -> Option<i64> {
    let units = match length(unit.unit) {
        Some(Length::Nanoseconds(length)) => exactly(nanoseconds, length)?,
        Some(Length::PerNanosecond(per)) => nanoseconds.checked_mul(per)?,
        None => {
            let date = date_time(nanoseconds).filter(|date| date.day() == 1 && is_midnight(*date))?;
            let months = 12 * (i128::from(date.year()) - 1970) + i128::from(date.month()) - 1;
            if unit.unit == Unit::Year { exactly(months, 12)? } else { months }
        }
    };
    let count = i64::try_from(exactly(units, i128::from(unit.scale))?).ok()?;
    (count != NOT_A_TIME).then_some(count)
}

fn load<T: Time>(unit: TimeUnit, count: i64) -> Result<T, Error> {
    to_nanoseconds(unit, count).filter(|_| count != NOT_A_TIME).and_then(T::from_nanoseconds).ok_or_else(|| {
        let found = match T::data_type(unit) {
            DataType::TimeDelta64(_) => unit.delta_text(count),
            _ => unit.date_text(count),
        };
        let or_none = if count == NOT_A_TIME { ", as Option has None for NaT" } else { "" };
        Error::Item { index: 0, found, expected: format!("a {}{or_none}", T::NAME) }
    })
}

fn store<T: Time>(unit: TimeUnit, value: &T) -> Result<i64, Error> {
    to_count(unit, value.nanoseconds()).ok_or_else(|| Error::Item {
        index: 0,
        found: value.text(),
        expected: format!("a multiple of {} {} that has 64 bits", unit.scale, unit.unit),
    })
}

/// Time of an element, or an `Option` of it that is `None` for "not a time".
trait Maybe<T>: Sized {
    fn load(unit: TimeUnit, count: i64) -> Result<Self, Error>;
    fn store(&self, unit: TimeUnit) -> Result<i64, Error>;
}

impl<T: Time> Maybe<T> for T {
    #[inline]
    fn load(unit: TimeUnit, count: i64) -> Result<Self, Error> {
        load(unit, count)
    }

    #[inline]
    fn store(&self, unit: TimeUnit) -> Result<i64, Error> {
        store(unit, self)
    }
}

impl<T: Time> Maybe<T> for Option<T> {
    #[inline]
    fn load(unit: TimeUnit, count: i64) -> Result<Self, Error> {
        if count == NOT_A_TIME { Ok(None) } else { load(unit, count).map(Some) }
    }

    #[inline]
    fn store(&self, unit: TimeUnit) -> Result<i64, Error> {
        self.as_ref().map_or(Ok(NOT_A_TIME), |value| store(unit, value))
    }
}

fn count_of(bytes: &[u8]) -> i64 {
    bytemuck::pod_read_unaligned(bytes)
}

macro_rules! elements {
    ($($time:ty as $rust:ty, $name:expr, $zero:expr;)*) => { $(
        impl Element for $rust {
            fn name() -> String {
                $name
            }

            fn accepts(data_type: &DataType) -> bool {
                <$time>::unit(data_type).is_some()
            }

            fn default_data_type() -> Result<DataType, Error> {
                Ok(<$time>::data_type(TimeUnit::new(<$time as Time>::UNIT)))
            }

            fn zeroed_vec(len: usize) -> Result<Vec<Self>, Error> {
                let mut elements = with_room(len, size_of::<Self>())?;
                elements.resize(len, $zero);
                Ok(elements)
            }

            fn from_items(data_type: &DataType, items: &[u8], _: &Heap) -> Result<Vec<Self>, Error> {
                let unit = <$time>::unit(data_type).ok_or_else(|| mismatch::<Self>(data_type))?;
                each(data_type, items, |index, item| {
                    <Self as Maybe<$time>>::load(unit, count_of(item)).map_err(|error| at(index, error))
                })
            }

            fn to_items(data_type: &DataType, elements: &[Self], _: &Heap) -> Result<Vec<u8>, Error> {
                let unit = <$time>::unit(data_type).ok_or_else(|| mismatch::<Self>(data_type))?;
                let mut items = with_room(elements.len(), 8)?;
                for (index, element) in elements.iter().enumerate() {
                    let count = Maybe::<$time>::store(element, unit).map_err(|error| at(index, error))?;
                    items.extend_from_slice(&count.to_ne_bytes());
                }
                Ok(items)
            }
        }

        impl FieldValue for $rust {
            const SIZE: usize = 8;
            /// Index of the unit in `Unit::CODES`, and its scale.
            const PARTS: usize = 2;

            fn offsets(data_type: &DataType, shape: &[u64], into: &mut Vec<usize>) -> Result<(), Error> {
                let storage = data_type.storage();
                let unit = <$time>::unit(storage).filter(|_| shape.is_empty());
                let unit = unit.ok_or_else(|| field::mismatch::<Self>(data_type, shape))?;
                into.extend([code(unit.unit), to_usize(unit.scale)]);
                Ok(())
            }

            fn field_type() -> Result<(DataType, Vec<u64>), Error> {
                Ok((Self::default_data_type()?, Vec::new()))
            }

            fn zero() -> Self {
                $zero
            }

            #[inline]
            fn load(&mut self, offsets: Offsets<'_>, bytes: &[u8]) -> Result<(), Error> {
                *self = <Self as Maybe<$time>>::load(unit_of::<$time>(offsets), count_of(bytes))?;
                Ok(())
            }

            #[inline]
            fn store(&self, offsets: Offsets<'_>, bytes: &mut [u8]) -> Result<(), Error> {
                bytes.copy_from_slice(&Maybe::<$time>::store(self, unit_of::<$time>(offsets))?.to_ne_bytes());
                Ok(())
            }
        }
    )* };
}

fn code(unit: Unit) -> usize {
    Unit::CODES.iter().position(|(known, _)| *known == unit).unwrap_or_default()
}

fn unit_of<T: Time>(offsets: Offsets<'_>) -> TimeUnit {
    let unit = Unit::CODES.get(offsets.field(0, code(T::UNIT))).map_or(Unit::Generic, |(unit, _)| *unit);
    TimeUnit { unit, scale: u32::try_from(offsets.field(1, 1)).unwrap_or(1) }
}

elements! {
    Timestamp as Timestamp, Self::NAME.to_owned(), <Timestamp as Time>::ZERO;
    DateTime as DateTime, Self::NAME.to_owned(), <DateTime as Time>::ZERO;
    Date as Date, Self::NAME.to_owned(), <Date as Time>::ZERO;
    SignedDuration as SignedDuration, Self::NAME.to_owned(), <SignedDuration as Time>::ZERO;
    Timestamp as Option<Timestamp>, format!("Option<{}>", Timestamp::NAME), Some(<Timestamp as Time>::ZERO);
    DateTime as Option<DateTime>, format!("Option<{}>", DateTime::NAME), Some(<DateTime as Time>::ZERO);
    Date as Option<Date>, format!("Option<{}>", Date::NAME), Some(<Date as Time>::ZERO);
    SignedDuration as Option<SignedDuration>, format!("Option<{}>", SignedDuration::NAME), Some(<SignedDuration as Time>::ZERO);
}

#[cfg(test)]
mod tests;
