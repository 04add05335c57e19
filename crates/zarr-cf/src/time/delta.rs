//! Timedeltas: numbers with a unit and without a date.

use super::encode::{Encoded, NumberKind, choose, count};
use super::error::{Error, Result};
use super::infer::{present, unit_of_nanoseconds};
use super::numbers::{Number, Numbers, extremes};
use super::unit::{NUMPY, Unit};

/// Attribute `units` of a variable of timedeltas, such as `days`.
///
/// ```
/// use zarr_cf::time::{DeltaUnits, Numbers};
///
/// let units = DeltaUnits::parse("hours")?;
/// assert_eq!(units.decode(Numbers::F64(&[1.5, f64::NAN]))?, [5_400_000_000_000, i64::MIN]);
/// # Ok::<(), zarr_cf::time::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeltaUnits {
    text: String,
    unit: Unit,
}

impl DeltaUnits {
    /// Returns whether an attribute `units` is for timedeltas, by the rule of xarray: a full unit name in plural and lower case, from
    /// `nanoseconds` to `days`.
    ///
    /// By default xarray decodes such a variable only if it also has an attribute `dtype` that begins with `timedelta64`.
    pub fn is_units(units: &str) -> bool {
        NUMPY.iter().any(|unit| unit.plural() == units)
    }

    /// Parses the attribute `units` of a variable: a full unit name, in singular or plural, ignoring case.
    ///
    /// # Errors
    /// [`Error::UnknownUnit`] for any other string.
    pub fn parse(units: &str) -> Result<Self> {
        let unit = Unit::of_numpy(units).ok_or_else(|| Error::UnknownUnit {
            units: units.to_owned(),
            unit: units.to_owned(),
            expected: "days, hours, minutes, seconds, milliseconds, microseconds or nanoseconds",
        })?;
        Ok(Self { text: units.to_owned(), unit })
    }

    /// Returns the units that xarray chooses for timedeltas without units: the longest unit that divides all of them.
    pub fn infer(deltas: &[i64]) -> Self {
        let unit = unit_of_nanoseconds(present(deltas));
        Self { text: unit.plural().to_owned(), unit }
    }

    /// Returns the units as they were parsed.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Decodes numbers to nanoseconds, as `timedelta64[ns]`; `i64::MIN` is a missing timedelta (NaT).
    ///
    /// If some floats are not whole seconds, they are counted in milliseconds; if some are not whole milliseconds, in microseconds, and
    /// then in nanoseconds, whose fractions are cut off.
    ///
    /// # Errors
    /// [`Error::DeltaOutOfRange`] for the first number that is infinite or beyond 292 years.
    pub fn decode(&self, numbers: Numbers<'_>) -> Result<Vec<i64>> {
        match numbers {
            Numbers::I64(slice) => self.decode_integers(slice),
            // numpy multiplies unsigned integers as floats.
            Numbers::U64(slice) if self.unit > Unit::Second => self.decode_floats(slice, false),
            Numbers::U64(slice) => self.decode_integers(slice),
            Numbers::F32(slice) => self.decode_floats(slice, self.unit <= Unit::Second),
            Numbers::F64(slice) => self.decode_floats(slice, false),
        }
    }

    fn decode_integers<T: Number>(&self, numbers: &[T]) -> Result<Vec<i64>> {
        let factor = self.unit.nanoseconds();
        let is_far = |number: T| number.scaled(factor).is_none();
        let found = extremes(numbers);
        if found.ends.is_some_and(|(low, high)| is_far(low) || is_far(high)) {
            return Err(self.first_out_of_range(numbers, is_far));
        }
        let delta = |number: &T| if number.is_missing() { i64::MIN } else { number.scaled_in_range(factor) };
        Ok(numbers.iter().map(delta).collect())
    }

    /// Decodes floats; `single` means that they have 32 bits.
    fn decode_floats<T: Number>(&self, numbers: &[T], single: bool) -> Result<Vec<i64>> {
        let found = extremes(numbers);
        if found.ends.is_some_and(|(low, high)| low.whole().is_none() || high.whole().is_none()) {
            return Err(self.first_out_of_range(numbers, |number| number.whole().is_none()));
        }
        let round = |float: f64| if single { f64::from(float as f32) } else { float };
        let mut unit = self.unit.min(Unit::Second);
        let seconds = (self.unit.nanoseconds() / unit.nanoseconds()) as f64;
        let mut floats: Vec<f64> = numbers.iter().map(|number| number.float() * seconds).collect();
        for finer in [Unit::Millisecond, Unit::Microsecond, Unit::Nanosecond] {
            // NaN has no fraction.
            if finer < unit && floats.iter().any(|float| (float % 1.0).abs() > 0.0) {
                floats.iter_mut().for_each(|float| *float = round(*float * 1000.0));
                unit = finer;
            }
        }
        let mut deltas = Vec::with_capacity(floats.len());
        for (index, float) in floats.iter().enumerate() {
            let delta = match float.is_nan() {
                true => Some(i64::MIN),
                false => float.whole().and_then(|whole| whole.checked_mul(unit.nanoseconds())),
            };
            let refused = || self.out_of_range(index, numbers.get(index).map(T::to_string).unwrap_or_default());
            deltas.push(delta.ok_or_else(refused)?);
        }
        Ok(deltas)
    }

    fn first_out_of_range<T: Number>(&self, numbers: &[T], far: impl Fn(T) -> bool) -> Error {
        let found = numbers.iter().enumerate().find(|(_, number)| !number.is_missing() && far(**number));
        let (index, value) = found.map(|(index, number)| (index, number.to_string())).unwrap_or_default();
        self.out_of_range(index, value)
    }

    fn out_of_range(&self, index: usize, value: String) -> Error {
        Error::DeltaOutOfRange { index, value, units: self.text.clone() }
    }

    /// Encodes timedeltas in nanoseconds as numbers; `i64::MIN` is a missing timedelta.
    pub fn encode(&self, deltas: &[i64], kind: NumberKind) -> Encoded {
        let needed = if deltas.is_empty() { self.unit } else { unit_of_nanoseconds(present(deltas)) };
        let (unit, integers) = choose(self.unit, needed, kind);
        let units = if unit == self.unit { self.text.clone() } else { unit.plural().to_owned() };
        Encoded { numbers: count(deltas.iter().copied(), unit, integers), units }
    }
}
