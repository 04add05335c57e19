//! Values of statistics as text.

use crate::format::without_fraction;
use crate::table::{length_of_time, seven_digits};
use zarr::stats::{Kind, Scalar};

/// Seven digits of a float; infinities and NaN as all values have them.
pub(super) fn digits(value: f64) -> String {
    match value {
        f64::INFINITY => "Infinity".to_owned(),
        f64::NEG_INFINITY => "-Infinity".to_owned(),
        _ if value.is_nan() => "NaN".to_owned(),
        _ => seven_digits(value),
    }
}

/// A complex number of its two parts.
pub(super) fn complex(real: &Scalar, imaginary: &Scalar) -> String {
    let sign = if imaginary.float < 0.0 { "" } else { "+" };
    format!("{}{sign}{}j", digits(real.float), digits(imaginary.float))
}

/// A value with all its digits; a time without its fraction, if that is 0.
pub(super) fn exact(value: &Scalar, kind: Kind) -> &str {
    if kind == Kind::Time { without_fraction(&value.text) } else { &value.text }
}

/// A number with seven digits, if it is none of an integer's; times as they are.
pub(super) fn brief(value: &Scalar, kind: Kind) -> String {
    let is_exact = value.text.len() <= 7 || value.text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    if kind == Kind::Time || is_exact { exact(value, kind).to_owned() } else { digits(value.float) }
}

/// A standard deviation: of times in a unit in which it is easily read.
pub(super) fn deviation(value: &Scalar, kind: Kind) -> String {
    if kind == Kind::Time { length_of_time(&value.text) } else { brief(value, kind) }
}
