//! Values of statistics as text.

use crate::format::without_fraction;
use crate::table::{length_of_time, seven_digits};
use zarr::stats::{Kind, Scalar};

/// Formats a float with seven digits; infinities and NaN are spelled like in elements.
pub(super) fn digits(value: f64) -> String {
    match value {
        f64::INFINITY => "Infinity".to_owned(),
        f64::NEG_INFINITY => "-Infinity".to_owned(),
        _ if value.is_nan() => "NaN".to_owned(),
        _ => seven_digits(value),
    }
}

/// Formats a complex number.
pub(super) fn complex(real: &Scalar, imaginary: &Scalar) -> String {
    let sign = if imaginary.float < 0.0 { "" } else { "+" };
    format!("{}{sign}{}j", digits(real.float), digits(imaginary.float))
}

/// Returns a value with all its digits, or a time without its fraction if that is 0.
pub(super) fn exact(value: &Scalar, kind: Kind) -> &str {
    if kind == Kind::Time { without_fraction(&value.text) } else { &value.text }
}

/// Formats a number with seven digits; integers and times are returned with all digits.
pub(super) fn brief(value: &Scalar, kind: Kind) -> String {
    let is_exact = value.text.len() <= 7 || value.text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    if kind == Kind::Time || is_exact { exact(value, kind).to_owned() } else { digits(value.float) }
}

/// Formats a standard deviation; for times, in a unit that is easily read.
pub(super) fn deviation(value: &Scalar, kind: Kind) -> String {
    if kind == Kind::Time { length_of_time(&value.text) } else { brief(value, kind) }
}
