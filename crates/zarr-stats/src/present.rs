//! Presentation of values of a data type, for people and as JSON.

use crate::keyed_number::Keys;
use crate::kind::Kind;
use zarr_dtype::{DataType, Unit, print};
use zarr_json::Value;

/// Value of statistics: as a float, as a string, and as JSON.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Scalar {
    /// Value, rounded to a float; for times, the count of units.
    pub float: f64,
    /// Value as a string for display; times as dates.
    pub text: String,
    /// Value as JSON: integers exactly, times as strings.
    pub json: Value,
}

/// Presentation of the values of a data type.
#[derive(Clone, Debug)]
pub(crate) struct Present {
    pub(crate) data_type: DataType,
    pub(crate) kind: Kind,
    pub(crate) keys: Keys,
}

impl Present {
    /// Presents the value with the key `key`.
    pub(crate) fn key(&self, key: u64) -> Scalar {
        let float = (self.keys.float)(key);
        match self.kind {
            // Widened for their order.
            Kind::Complex | Kind::SmallFloat => self.float(float),
            Kind::Time => self.time(&(self.keys.item)(key), float),
            _ => {
                let item = (self.keys.item)(key);
                let (text, json) =
                    (print::to_text(&self.data_type, &item, None), print::to_json(&self.data_type, &item, None));
                Scalar { float, text, json }
            }
        }
    }

    /// Presents a computed value of the data type, such as a mean: `nearest`, the integer next to `float`, if it is known and
    /// [`is_whole`](Self::is_whole), otherwise `float`.
    pub(crate) fn computed(&self, float: f64, nearest: Option<i128>) -> Scalar {
        match nearest.filter(|nearest| self.is_whole(*nearest)) {
            Some(nearest) => self.whole(nearest),
            None => self.float(float),
        }
    }

    /// Whether a computed value is presented as an integer, and not as a float: for times, and for integers with more digits than floats
    /// have.
    pub(crate) fn is_whole(&self, value: i128) -> bool {
        self.kind == Kind::Time || (self.keys.is_integer && value.unsigned_abs() > 1 << f64::MANTISSA_DIGITS)
    }

    /// Presents a computed integer of the data type.
    fn whole(&self, value: i128) -> Scalar {
        let float = value as f64;
        match self.kind {
            Kind::Time => {
                // The least one is NaT.
                let count = i64::try_from(value.max(-i128::from(i64::MAX))).unwrap_or(i64::MAX);
                self.time(&count.to_ne_bytes(), float)
            }
            _ => Scalar { float, text: value.to_string(), json: Value::from(value) },
        }
    }

    /// Presents a distance between values of the data type: a float, or the nearest length of time.
    pub(crate) fn distance(&self, float: f64) -> Scalar {
        match &self.data_type {
            DataType::DateTime64(unit) | DataType::TimeDelta64(unit)
                if unit.unit != Unit::Generic && float.is_finite() =>
            {
                let text = unit.delta_text(float.round() as i64);
                Scalar { float, json: Value::from(text.as_str()), text }
            }
            _ => self.float(float),
        }
    }

    fn float(&self, float: f64) -> Scalar {
        let item = float.to_ne_bytes();
        let json = print::to_json(&DataType::Float64, &item, None);
        Scalar { float, text: print::to_text(&DataType::Float64, &item, None), json }
    }

    fn time(&self, item: &[u8], float: f64) -> Scalar {
        let count = item.first_chunk().map_or(i64::MIN, |bytes| i64::from_ne_bytes(*bytes));
        let text = match &self.data_type {
            DataType::DateTime64(unit) => unit.date_text(count),
            DataType::TimeDelta64(unit) => unit.delta_text(count),
            data_type => print::to_text(data_type, item, None),
        };
        Scalar { float, json: Value::from(text.as_str()), text }
    }
}
