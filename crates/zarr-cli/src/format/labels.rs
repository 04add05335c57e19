//! Labels of an axis: the values of its coordinate, or its indices.

use std::rc::Rc;
use zarr::dtype::{Class, DataType};
use zarr::meta::json::Value;

/// Labels of the elements along one axis.
#[derive(Clone, Debug)]
pub(crate) struct AxisLabels {
    /// Name of the dimension.
    pub(crate) name: String,
    /// Label of each index along the axis.
    pub(crate) labels: Rc<[String]>,
    /// Whether a single index was selected along the axis, so that the result lacks the axis.
    pub(crate) is_gone: bool,
    /// Whether the array is the coordinate of this dimension, so that its values are the labels.
    pub(crate) is_itself: bool,
    /// Index before which labels were left out; `None` if the labels are complete.
    pub(crate) gap: Option<usize>,
}

/// Removes the fraction of a time if the fraction is 0.
pub(crate) fn without_fraction(text: &str) -> &str {
    text.strip_suffix(".000000000").unwrap_or(text)
}

/// Removes the fraction, and the time of day, of all `times` if that part is 0 in all of them.
pub(crate) fn shorten_times(times: &mut [String]) {
    let may_end = |text: &str, end: &str| text == "NaT" || (text.len() > end.len() && text.ends_with(end));
    for end in [".000000000", "T00:00:00", " 00:00:00"] {
        if times.iter().all(|text| may_end(text, end)) {
            times.iter_mut().filter(|text| text.ends_with(end)).for_each(|text| text.truncate(text.len() - end.len()));
        }
    }
}

/// Shortens the string of an element to at most `precision` digits behind the point, if `data_type` is a float. `None` keeps all digits.
pub(super) fn rounded(text: String, data_type: &DataType, precision: Option<usize>) -> String {
    match precision {
        Some(digits) if data_type.class() == Some(Class::Float) => short_float(text, digits),
        _ => text,
    }
}

/// Shortens the string of a float to at most `digits` digits behind the point.
pub(super) fn short_float(text: String, digits: usize) -> String {
    let Some(value) = text.parse::<f64>().ok().filter(|value| value.is_finite()) else { return text };
    // Small numbers are printed with an exponent, and `digits` counts the digits of the mantissa.
    let short = if value.abs() < 1e-4 { format!("{value:.digits$e}") } else { format!("{value:.digits$}") };
    match short.parse::<f64>() {
        Ok(short) if short != value => Value::from(short).to_string(),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shortened(times: &[&str]) -> Vec<String> {
        let mut times: Vec<String> = times.iter().map(|&time| time.to_owned()).collect();
        shorten_times(&mut times);
        times
    }

    #[test]
    fn floats_have_few_digits() {
        let short = |text: &str| short_float(text.to_owned(), 8);
        assert_eq!(short("-0.5760000000000001"), "-0.576");
        assert_eq!(short("0.30000000000000004"), "0.3");
        assert_eq!(short("123.456789012345"), "123.45678901");
        assert_eq!(short("-2147483648.0"), "-2147483648.0");
        assert_eq!(short("1234567890.5"), "1234567890.5");
        assert_eq!(short("1.2345678901234e-7"), "1.23456789e-7");
        assert_eq!(short("301.65927"), "301.65927");
        assert_eq!(short("1e+300"), "1e+300");
        assert_eq!(short("NaN"), "NaN");
        let short = |text: &str| short_float(text.to_owned(), 2);
        assert_eq!(["301.65927", "2.5", "1e-7", "-0.004"].map(short), ["301.66", "2.5", "1e-7", "-0.0"]);
    }

    #[test]
    fn times_keep_what_tells_them_apart() {
        assert_eq!(shortened(&["2020-01-01T00:00:00.000000000", "NaT"]), ["2020-01-01", "NaT"]);
        let times = ["2020-01-01T00:00:00.000000000", "2020-01-01T12:00:00.000000000"];
        assert_eq!(shortened(&times), ["2020-01-01T00:00:00", "2020-01-01T12:00:00"]);
        assert_eq!(shortened(&["2020-01-01T00:00:00.000000001"]), ["2020-01-01T00:00:00.000000001"]);
        assert_eq!(shortened(&["2001-02-30 00:00:00"]), ["2001-02-30"]);
        assert_eq!(shortened(&[]), [""; 0]);
    }
}
