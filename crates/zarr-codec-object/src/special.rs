//! Values that Python has and JSON lacks.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use zarr_json::{Value, json};

const FLOAT: &str = "$float";
const BYTES: &str = "$bytes";

/// Value without a notation in JSON.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Special {
    /// NaN or an infinity.
    Float(f64),
    Bytes(Vec<u8>),
}

impl Special {
    /// Returns the special value for which `value` stands, or `None` if `value` does not have the form that [`to_value`](Self::to_value)
    /// returns.
    pub(crate) fn of(value: &Value) -> Option<Self> {
        let (name, text) = value.as_object().filter(|members| members.len() == 1)?.iter().next()?;
        match (name, text.as_str()?) {
            (FLOAT, "NaN") => Some(Self::Float(f64::NAN)),
            (FLOAT, "Infinity") => Some(Self::Float(f64::INFINITY)),
            (FLOAT, "-Infinity") => Some(Self::Float(f64::NEG_INFINITY)),
            (BYTES, text) => STANDARD.decode(text).ok().map(Self::Bytes),
            _ => None,
        }
    }

    pub(crate) fn to_value(&self) -> Value {
        match self {
            // A text for NaN and infinity.
            Self::Float(float) => json!({FLOAT: (*float)}),
            Self::Bytes(bytes) => json!({BYTES: (STANDARD.encode(bytes))}),
        }
    }
}

/// Returns the value of a float, special or not.
pub(crate) fn float(value: f64) -> Value {
    if value.is_finite() { Value::from(value) } else { Special::Float(value).to_value() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specials_come_back() {
        for special in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let Some(Special::Float(found)) = Special::of(&float(special)) else { unreachable!("{special}") };
            assert!(found.to_bits() == special.to_bits(), "{special}");
        }
        let bytes = Special::Bytes(b"\xff\0".to_vec());
        assert_eq!(bytes.to_value(), json!({"$bytes": "/wA="}));
        assert_eq!(Special::of(&bytes.to_value()), Some(bytes));
        for other in [json!({"$float": 1}), json!({"$bytes": "?"}), json!({"$float": "NaN", "b": 1}), json!("NaN")] {
            assert_eq!(Special::of(&other), None, "{other}");
        }
        assert_eq!(float(2.0), json!(2.0));
    }
}
