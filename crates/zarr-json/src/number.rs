//! JSON numbers in the spelling in which they were read.

use std::fmt;

/// JSON number, stored as its spelling, so that nothing is lost between reading and writing.
///
/// Equality is that of the text; [`semantically_eq`](Self::semantically_eq) compares values.
///
/// Besides the numbers of JSON there are literals that Python writes and that [JSON does not have](Self::is_json):
/// [`NAN`](Self::NAN), [`INFINITY`](Self::INFINITY) and [`NEG_INFINITY`](Self::NEG_INFINITY). Documents of zarr-python hold them.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Number(Spelling);

/// Maximum number of bytes of a spelling that is stored inline.
const SHORT: usize = 22;

/// Spelling of a number. A short spelling, as nearly all are, is stored inline.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Spelling {
    /// Number of bytes of the spelling, and these bytes, padded with 0.
    Short(u8, [u8; SHORT]),
    /// Spelling of more than [`SHORT`] bytes.
    Long(Box<str>),
}

impl Number {
    /// The literal `NaN`, which JSON does not have.
    pub const NAN: Self = Self::literal(b"NaN");
    /// The literal `Infinity`, which JSON does not have.
    pub const INFINITY: Self = Self::literal(b"Infinity");
    /// The literal `-Infinity`, which JSON does not have.
    pub const NEG_INFINITY: Self = Self::literal(b"-Infinity");

    const fn literal(token: &[u8]) -> Self {
        let mut bytes = [0; SHORT];
        let mut at = 0;
        while at < token.len() {
            bytes[at] = token[at];
            at += 1;
        }
        Self(Spelling::Short(token.len() as u8, bytes))
    }

    /// Whether JSON has this number: false for `NaN`, `Infinity` and `-Infinity`.
    pub fn is_json(&self) -> bool {
        self.as_str().ends_with(|last: char| last.is_ascii_digit())
    }

    /// Parses a JSON number; `None` if `text` is not a JSON number.
    pub fn parse(text: &str) -> Option<Self> {
        (number_len(text.as_bytes()) == Some(text.len())).then(|| Self::from_checked(text))
    }

    /// Makes a number of a spelling that is known to be valid.
    pub(crate) fn from_checked(text: &str) -> Self {
        let mut bytes = [0; SHORT];
        Self(match bytes.get_mut(..text.len()) {
            Some(start) => {
                start.copy_from_slice(text.as_bytes());
                Spelling::Short(text.len() as u8, bytes)
            }
            None => Spelling::Long(text.into()),
        })
    }

    /// Makes the number with the shortest spelling that parses to `value`; `None` for NaN and the infinities.
    pub fn from_f64(value: f64) -> Option<Self> {
        serde_json::Number::from_f64(value).map(|number| Self::from_checked(&number.to_string()))
    }

    /// Makes the number with the shortest spelling that parses to `value`; NaN and the infinities become literals.
    pub(crate) fn of_f64(value: f64) -> Self {
        Self::from_f64(value).unwrap_or_else(|| Self::not_in_json(value))
    }

    /// Makes the number with the shortest spelling that parses to `value` as `f32`; NaN and the infinities become literals.
    pub(crate) fn of_f32(value: f32) -> Self {
        match serde_json::to_string(&value) {
            Ok(text) if value.is_finite() => Self::from_checked(&text),
            _ => Self::not_in_json(f64::from(value)),
        }
    }

    const fn not_in_json(value: f64) -> Self {
        if value.is_nan() {
            Self::NAN
        } else if value > 0.0 {
            Self::INFINITY
        } else {
            Self::NEG_INFINITY
        }
    }

    /// Makes the number whose [`as_str`](Self::as_str) is `text`, a literal such as `NaN` included; `None` if there is no such number.
    pub(crate) fn from_spelling(text: &str) -> Option<Self> {
        let of_python =
            [Self::NAN, Self::INFINITY, Self::NEG_INFINITY].into_iter().find(|token| token.as_str() == text);
        of_python.or_else(|| Self::parse(text))
    }

    /// Spelling of the number.
    pub fn as_str(&self) -> &str {
        match &self.0 {
            // Numbers are ASCII.
            Spelling::Short(len, bytes) => {
                bytes.get(..usize::from(*len)).and_then(|text| std::str::from_utf8(text).ok()).unwrap_or_default()
            }
            Spelling::Long(text) => text,
        }
    }

    /// Whether the number is spelled without fraction and exponent.
    pub fn is_integer(&self) -> bool {
        self.is_json() && !self.as_str().contains(['.', 'e', 'E'])
    }

    /// Value as `u64` if the number is spelled as an integer and fits `u64`; else `None`. `-0` is 0.
    pub fn as_u64(&self) -> Option<u64> {
        match self.as_str() {
            "-0" => Some(0),
            text => text.parse().ok(),
        }
    }

    /// Value as `i64` if the number is spelled as an integer and fits `i64`; else `None`.
    pub fn as_i64(&self) -> Option<i64> {
        self.as_str().parse().ok()
    }

    /// Value as `i128` if the number is spelled as an integer and fits `i128`; else `None`.
    pub fn as_i128(&self) -> Option<i128> {
        self.as_str().parse().ok()
    }

    /// Value as `u128` if the number is spelled as an integer and fits `u128`; else `None`.
    pub fn as_u128(&self) -> Option<u128> {
        self.as_str().parse().ok()
    }

    /// Value as `i128` if the number is an integer in range; else `None`. An integer spelled with a fraction or an exponent (`5.0`, `1e3`)
    /// counts if it is at most 2^64 from zero.
    pub fn to_i128(&self) -> Option<i128> {
        self.as_i128().or_else(|| {
            let value = self.as_f64();
            // Integers beyond 2^64 are no lengths, levels or elements, and are not all floats there.
            (value.fract() == 0.0 && value.abs() <= 18_446_744_073_709_551_616.0).then_some(value as i128)
        })
    }

    /// Value as the nearest `f64`; an infinity if the number is beyond the range of `f64`.
    pub fn as_f64(&self) -> f64 {
        self.as_str().parse().unwrap_or(f64::NAN)
    }

    /// Whether both numbers have the same value. Integers are compared exactly, others as `f64`. `NaN` equals only `NaN`.
    pub fn semantically_eq(&self, other: &Self) -> bool {
        self.0 == other.0
            || match (self.as_i128(), other.as_i128()) {
                (Some(a), Some(b)) => a == b,
                _ if self.is_integer() && other.is_integer() => false,
                _ if self.is_json() != other.is_json() => false,
                _ => self.as_f64() == other.as_f64(),
            }
    }
}

/// Length in bytes of the JSON number at the beginning of `bytes`; `None` if there is none.
pub(crate) fn number_len(bytes: &[u8]) -> Option<usize> {
    let digits =
        |from: usize| bytes.get(from..).unwrap_or_default().iter().take_while(|byte| byte.is_ascii_digit()).count();
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
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

macro_rules! from_integer {
    ($($int:ty),*) => { $(
        impl From<$int> for Number {
            fn from(value: $int) -> Self { Self::from_checked(&value.to_string()) }
        }
    )* };
}
from_integer!(i8, i16, i32, i64, i128, u8, u16, u32, u64, u128, usize);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_any_length_are_kept() {
        for text in ["0", "-0", "-1.5e-300", "1180591620717411303424", "11805916207174113034240"] {
            let number = Number::parse(text).unwrap();
            assert_eq!((number.as_str(), &number.clone()), (text, &number));
        }
        // A number is no larger than a text.
        assert_eq!(size_of::<Number>(), size_of::<String>());
    }
}
