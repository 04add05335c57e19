//! JSON values.

use crate::{Map, Number};

/// A JSON value.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Value {
    /// The value `null`.
    #[default]
    Null,
    /// The value `true` or `false`.
    Bool(bool),
    /// A number, in the spelling in which it was read.
    Number(Number),
    /// A string.
    String(String),
    /// An array.
    Array(Vec<Value>),
    /// An object, with its members in the order in which they were read.
    Object(Map),
}

impl Value {
    /// Whether this is `null`.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// Returns the bool; `None` if this is not a bool.
    pub fn as_bool(&self) -> Option<bool> {
        if let Self::Bool(value) = self { Some(*value) } else { None }
    }

    /// Returns the number; `None` if this is not a number.
    pub fn as_number(&self) -> Option<&Number> {
        if let Self::Number(value) = self { Some(value) } else { None }
    }

    /// Returns the value as `u64`; `None` if it is not a number spelled without fraction and exponent in the range of `u64`.
    pub fn as_u64(&self) -> Option<u64> {
        self.as_number()?.as_u64()
    }

    /// Returns the value as `i64`; `None` if it is not a number spelled without fraction and exponent in the range of `i64`.
    pub fn as_i64(&self) -> Option<i64> {
        self.as_number()?.as_i64()
    }

    /// Returns the value as the nearest `f64`, for any spelling; `None` if this is not a number.
    pub fn as_f64(&self) -> Option<f64> {
        Some(self.as_number()?.as_f64())
    }

    /// Returns the string; `None` if this is not a string.
    pub fn as_str(&self) -> Option<&str> {
        if let Self::String(value) = self { Some(value) } else { None }
    }

    /// Returns the items of the array; `None` if this is not an array.
    pub fn as_array(&self) -> Option<&[Value]> {
        if let Self::Array(value) = self { Some(value) } else { None }
    }

    /// Returns the object; `None` if this is not an object.
    pub fn as_object(&self) -> Option<&Map> {
        if let Self::Object(value) = self { Some(value) } else { None }
    }

    /// Returns the member `name`; `None` if this is not an object or has no such member.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.as_object()?.get(name)
    }

    /// Kind of this value with an article, for error messages: `"a number"`, `"null"`...
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a bool",
            Self::Number(_) => "a number",
            Self::String(_) => "a string",
            Self::Array(_) => "an array",
            Self::Object(_) => "an object",
        }
    }

    /// Returns the value as compact JSON, cut to about 60 characters, for error messages.
    pub fn excerpt(&self) -> String {
        let text = self.to_string();
        match text.char_indices().nth(60) {
            Some((at, _)) => format!("{}...", text.get(..at).unwrap_or_default()),
            None => text,
        }
    }

    /// Whether both values have the same meaning, whatever the order of members and the spelling of numbers.
    pub fn semantically_eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Number(a), Self::Number(b)) => a.semantically_eq(b),
            (Self::Array(a), Self::Array(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.semantically_eq(b))
            }
            (Self::Object(a), Self::Object(b)) => {
                a.len() == b.len()
                    && a.iter()
                        .enumerate()
                        .all(|(at, (name, a))| b.get_near(at, name).is_some_and(|b| a.semantically_eq(b)))
            }
            (a, b) => a == b,
        }
    }

    /// Number of `NaN`, `Infinity` and `-Infinity` literals in this value, which JSON does not have; see [`Number::is_json`].
    pub fn count_nan_literals(&self) -> usize {
        match self {
            Self::Number(number) => usize::from(!number.is_json()),
            Self::Array(items) => items.iter().map(Self::count_nan_literals).sum(),
            Self::Object(members) => members.count_nan_literals(),
            _ => 0,
        }
    }

    /// Replaces NaN and Infinity literals by the strings `"NaN"`, `"Infinity"` and `"-Infinity"`.
    #[must_use]
    pub fn without_nan_literals(self) -> Self {
        match self {
            Self::Number(number) if !number.is_json() => Self::from(number.as_str()),
            Self::Array(items) if items.iter().any(|item| item.count_nan_literals() > 0) => {
                Self::Array(items.into_iter().map(Self::without_nan_literals).collect())
            }
            Self::Object(members) => Self::Object(members.without_nan_literals()),
            other => other,
        }
    }
}

macro_rules! from_integer {
    ($($int:ty),*) => { $(
        impl From<$int> for Value {
            fn from(value: $int) -> Self { Self::Number(Number::from(value)) }
        }
    )* };
}
from_integer!(i8, i16, i32, i64, i128, u8, u16, u32, u64, u128, usize);

impl From<f64> for Value {
    /// Makes a number. NaN and the infinities become the strings `"NaN"`, `"Infinity"` and `"-Infinity"`.
    fn from(value: f64) -> Self {
        match Number::from_f64(value) {
            Some(number) => Self::Number(number),
            None if value.is_nan() => Self::from("NaN"),
            None if value > 0.0 => Self::from("Infinity"),
            None => Self::from("-Infinity"),
        }
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Self::String(value.to_owned())
    }
}

impl From<String> for Value {
    fn from(value: String) -> Self {
        Self::String(value)
    }
}

impl From<Map> for Value {
    fn from(value: Map) -> Self {
        Self::Object(value)
    }
}

impl<T: Into<Value>> From<Vec<T>> for Value {
    fn from(value: Vec<T>) -> Self {
        Self::Array(value.into_iter().map(Into::into).collect())
    }
}

impl From<serde_json::Value> for Value {
    fn from(value: serde_json::Value) -> Self {
        match value {
            serde_json::Value::Null => Self::Null,
            serde_json::Value::Bool(value) => Self::Bool(value),
            serde_json::Value::Number(value) => Number::parse(&value.to_string()).map_or(Self::Null, Self::Number),
            serde_json::Value::String(value) => Self::String(value),
            serde_json::Value::Array(items) => Self::Array(items.into_iter().map(Self::from).collect()),
            serde_json::Value::Object(members) => {
                Self::Object(members.into_iter().map(|(name, value)| (name, Self::from(value))).collect())
            }
        }
    }
}

impl From<&Value> for serde_json::Value {
    /// Converts to a value of `serde_json`. Numbers beyond `i64` and `u64` become the nearest `f64`, or `null` if that is not finite.
    fn from(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(value) => Self::Bool(*value),
            Value::Number(number) => {
                if let Some(value) = number.as_u64() {
                    Self::from(value)
                } else if let Some(value) = number.as_i64() {
                    Self::from(value)
                } else {
                    Self::from(number.as_f64())
                }
            }
            Value::String(value) => Self::String(value.clone()),
            Value::Array(items) => Self::Array(items.iter().map(Self::from).collect()),
            Value::Object(members) => {
                Self::Object(members.iter().map(|(name, value)| (name.to_owned(), Self::from(value))).collect())
            }
        }
    }
}

/// Builds a [`Value`](crate::Value) from a literal, as `serde_json::json!` does.
///
/// ```
/// let value = zarr_json::json!({"name": "gzip", "configuration": {"level": 5}});
/// assert_eq!(value.to_string(), r#"{"name":"gzip","configuration":{"level":5}}"#);
/// ```
#[macro_export]
macro_rules! json {
    (null) => { $crate::Value::Null };
    ([ $($item:tt),* $(,)? ]) => { $crate::Value::Array(vec![ $($crate::json!($item)),* ]) };
    ({ $($name:tt : $value:tt),* $(,)? }) => {{
        #[allow(unused_mut)]
        let mut map = $crate::Map::new();
        $( map.insert($name, $crate::json!($value)); )*
        $crate::Value::Object(map)
    }};
    ($value:expr) => { $crate::Value::from($value) };
}
