//! Keys: values of a coordinate in a form that is ordered.

use crate::calendar_time;
use crate::values::Values;
use crate::{Error, Result};
use std::cmp::Ordering;
use zarr_dtype::{DataType, Scalar, TimeUnit, Unit};

/// Values of a coordinate, converted to one type that is ordered.
#[derive(Debug)]
pub(super) enum Keys {
    Integers(Vec<i64>),
    Unsigned(Vec<u64>),
    Floats(Vec<f64>),
    Texts(Vec<String>),
}

/// Single key: a value of the coordinate, or a label that is searched.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Key {
    Integer(i128),
    Float(f64),
    Text(String),
}

/// Distance between two keys. All distances from one label have the same variant.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub(super) enum Distance {
    Integer(u128),
    Float(f64),
}

impl Key {
    /// Compares two keys; `None` for NaN, and for a string and a number.
    pub(super) fn order(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Integer(a), Self::Integer(b)) => Some(a.cmp(b)),
            (Self::Integer(a), Self::Float(b)) => (*a as f64).partial_cmp(b),
            (Self::Float(a), Self::Integer(b)) => a.partial_cmp(&(*b as f64)),
            (Self::Float(a), Self::Float(b)) => a.partial_cmp(b),
            (Self::Text(a), Self::Text(b)) => Some(a.cmp(b)),
            _ => None,
        }
    }

    /// Returns the distance between two keys; `None` if one is a string.
    pub(super) fn distance(&self, other: &Self) -> Option<Distance> {
        match (self, other) {
            (Self::Integer(a), Self::Integer(b)) => Some(Distance::Integer(a.abs_diff(*b))),
            (Self::Text(_), _) | (_, Self::Text(_)) => None,
            (a, b) => Some(Distance::Float((a.float() - b.float()).abs())),
        }
    }

    fn float(&self) -> f64 {
        match self {
            Self::Integer(value) => *value as f64,
            Self::Float(value) => *value,
            Self::Text(_) => f64::NAN,
        }
    }
}

impl Keys {
    pub(super) fn of(values: &Values) -> Result<Self> {
        let data_type = values.data_type();
        let items = values.data().items();
        let numbers = || items.as_chunks::<8>().0.iter().map(|&item| i64::from_ne_bytes(item));
        if let DataType::DateTime64(unit) | DataType::TimeDelta64(unit) = data_type {
            let length =
                nanoseconds(*unit).ok_or_else(|| Error::argument(format!("labels of {data_type} are not found")))?;
            let scaled =
                numbers().map(|number| if number == i64::MIN { Some(number) } else { number.checked_mul(length) });
            let scaled: Option<Vec<i64>> = scaled.collect();
            let error =
                || Error::argument(format!("a coordinate of {data_type} has values beyond nanoseconds of 64 bits"));
            return scaled.map(Self::Integers).ok_or_else(error);
        }
        if calendar_time::calendar(data_type).is_some() {
            return Ok(Self::Integers(numbers().collect()));
        }
        let scalar = data_type.storage().layout().scalar().filter(|_| data_type.class().is_some());
        if let Some(scalar) = scalar {
            let items = items.chunks_exact(scalar.size());
            if scalar == Scalar::U64 {
                return Ok(Self::Unsigned(numbers().map(i64::cast_unsigned).collect()));
            }
            if scalar.range().is_some() || scalar == Scalar::Bool {
                let integers = items.map(|item| match scalar {
                    Scalar::Bool => item.first().map(|&byte| i64::from(byte)),
                    _ => scalar.integer(item).and_then(|value| i64::try_from(value).ok()),
                });
                return Ok(Self::Integers(integers.map(Option::unwrap_or_default).collect()));
            }
            let floats = items.map(|item| data_type.to_f64(item).unwrap_or(f64::NAN));
            return Ok(Self::Floats(floats.collect()));
        }
        if zarr_cf::textual::is_textual(data_type) {
            return Ok(Self::Texts((0..values.len()).map(|index| plain_text(values, index)).collect()));
        }
        Err(Error::argument(format!("a coordinate of data type {data_type} has no order")))
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Integers(keys) => keys.len(),
            Self::Unsigned(keys) => keys.len(),
            Self::Floats(keys) => keys.len(),
            Self::Texts(keys) => keys.len(),
        }
    }

    pub(super) fn get(&self, index: usize) -> Option<Key> {
        match self {
            Self::Integers(keys) => keys.get(index).map(|&key| Key::Integer(key.into())),
            Self::Unsigned(keys) => keys.get(index).map(|&key| Key::Integer(key.into())),
            Self::Floats(keys) => keys.get(index).copied().map(Key::Float),
            Self::Texts(keys) => keys.get(index).cloned().map(Key::Text),
        }
    }

    /// Whether all keys are integers that are multiples of `unit`, or NaT.
    pub(super) fn are_multiples(&self, unit: i64) -> bool {
        match self {
            Self::Integers(keys) => keys.iter().all(|&key| key == i64::MIN || key.checked_rem(unit) == Some(0)),
            _ => false,
        }
    }

    /// Returns the indices of the keys in ascending order of the keys; indices of equal keys ascend. NaN and NaT are left out.
    pub(super) fn sorted(&self) -> Vec<usize> {
        let mut indices: Vec<usize> = match self {
            Self::Floats(keys) => {
                (0..keys.len()).filter(|&index| keys.get(index).is_some_and(|key| !key.is_nan())).collect()
            }
            Self::Integers(keys) => (0..keys.len()).filter(|&index| keys.get(index) != Some(&i64::MIN)).collect(),
            keys => (0..keys.len()).collect(),
        };
        match self {
            Self::Integers(keys) => indices.sort_by_key(|&index| keys.get(index).copied()),
            Self::Unsigned(keys) => indices.sort_by_key(|&index| keys.get(index).copied()),
            Self::Floats(keys) => {
                indices.sort_by(|&a, &b| keys.get(a).partial_cmp(&keys.get(b)).unwrap_or(Ordering::Equal))
            }
            Self::Texts(keys) => indices.sort_by(|&a, &b| keys.get(a).cmp(&keys.get(b))),
        }
        indices
    }

    /// Returns whether keys ascend ([`Ordering::Less`]), descend ([`Ordering::Greater`]) or are all equal; `None` if they are unsorted, or
    /// if any is NaN or NaT.
    pub(super) fn direction(&self) -> Option<Ordering> {
        if matches!(self, Self::Integers(keys) if keys.contains(&i64::MIN)) {
            return None;
        }
        let mut direction = Ordering::Equal;
        for index in 1..self.len() {
            let (before, after) = (self.get(index - 1)?, self.get(index)?);
            match (direction, before.order(&after)?) {
                (_, Ordering::Equal) => {}
                (Ordering::Equal, found) => direction = found,
                (known, found) if known == found => {}
                _ => return None,
            }
        }
        Some(direction)
    }
}

/// Returns the number of nanoseconds in a unit; `None` for months and years, which have no fixed length.
pub(crate) fn nanoseconds(unit: TimeUnit) -> Option<i64> {
    let length = match unit.unit {
        Unit::Nanosecond => 1,
        Unit::Microsecond => 1_000,
        Unit::Millisecond => 1_000_000,
        Unit::Second => 1_000_000_000,
        Unit::Minute => 60_000_000_000,
        Unit::Hour => 3_600_000_000_000,
        Unit::Day => 86_400_000_000_000,
        Unit::Week => 604_800_000_000_000,
        _ => return None,
    };
    i64::from(unit.scale).checked_mul(length)
}

/// Returns the string value at `index`, without trailing NULs.
fn plain_text(values: &Values, index: usize) -> String {
    let data = values.data();
    match data.variable() {
        Some(mut elements) => String::from_utf8_lossy(elements.nth(index).unwrap_or_default()).into_owned(),
        None => {
            let size = data.data_type().item_size();
            let item = data.items().get(index * size..(index + 1) * size).unwrap_or_default();
            String::from_utf8_lossy(&zarr_cf::textual::content(data.data_type(), item)).into_owned()
        }
    }
}
