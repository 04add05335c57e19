//! JSON numbers in the spelling they were read in.

use std::fmt;

/// A number as its JSON text, so that nothing is lost between reading and writing.
///
/// Equality is that of the text; [`same`](Self::same) compares values.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Number(Box<str>);

impl Number {
    /// The number spelled `text`, or `None` if that is no JSON number.
    pub fn parse(text: &str) -> Option<Self> {
        (number_len(text.as_bytes()) == Some(text.len())).then(|| Self(text.into()))
    }

    /// A number known to be spelled well.
    pub(super) fn from_checked(text: &str) -> Self {
        Self(text.into())
    }

    /// The shortest spelling that gives `value` back; `None` for NaN and the infinities.
    pub fn from_f64(value: f64) -> Option<Self> {
        serde_json::Number::from_f64(value).map(|number| Self(number.to_string().into()))
    }

    /// The spelling.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether the number is spelled without fraction and exponent.
    pub fn is_integer(&self) -> bool {
        !self.0.contains(['.', 'e', 'E'])
    }

    /// The value if it is spelled as an integer in range. `-0` is 0.
    pub fn as_u64(&self) -> Option<u64> {
        if &*self.0 == "-0" { Some(0) } else { self.0.parse().ok() }
    }

    /// The value if it is spelled as an integer in range.
    pub fn as_i64(&self) -> Option<i64> {
        self.0.parse().ok()
    }

    /// The value if it is spelled as an integer in range.
    pub fn as_i128(&self) -> Option<i128> {
        self.0.parse().ok()
    }

    /// The nearest `f64`; beyond its range an infinity.
    pub fn as_f64(&self) -> f64 {
        self.0.parse().unwrap_or(f64::NAN)
    }

    /// Whether both have the same value. Integers compare exactly, others as `f64`.
    pub fn same(&self, other: &Self) -> bool {
        self.0 == other.0
            || match (self.as_i128(), other.as_i128()) {
                (Some(a), Some(b)) => a == b,
                _ if self.is_integer() && other.is_integer() => false,
                _ => self.as_f64() == other.as_f64(),
            }
    }
}

/// The length of the JSON number that `bytes` begin with; `None` if they begin with none.
pub(super) fn number_len(bytes: &[u8]) -> Option<usize> {
    let digits = |from: usize| bytes.iter().skip(from).take_while(|byte| byte.is_ascii_digit()).count();
    let mut at = usize::from(bytes.first() == Some(&b'-'));
    let whole = digits(at);
    if whole == 0 || (whole > 1 && bytes.get(at) == Some(&b'0')) {
        return None;
    }
    at += whole;
    if bytes.get(at) == Some(&b'.') {
        let fraction = digits(at + 1);
        if fraction == 0 {
            return None;
        }
        at += 1 + fraction;
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
        let exponent = digits(at + 1 + sign);
        if exponent == 0 {
            return None;
        }
        at += 1 + sign + exponent;
    }
    Some(at)
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

macro_rules! from_integer {
    ($($int:ty),*) => { $(
        impl From<$int> for Number {
            fn from(value: $int) -> Self { Self(value.to_string().into()) }
        }
    )* };
}
from_integer!(i8, i16, i32, i64, u8, u16, u32, u64, usize);
