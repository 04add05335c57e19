//! Labels of an axis: the values of its coordinate, or its indices.

use std::rc::Rc;
use zarr::meta::json::Value;

/// The labels of the elements along an axis.
#[derive(Clone, Debug)]
pub(crate) struct AxisLabels {
    /// The name of the dimension.
    pub(crate) name: String,
    /// One for each index.
    pub(crate) labels: Rc<[String]>,
    /// Whether one index was selected, so that the result lacks the axis.
    pub(crate) is_gone: bool,
    /// Whether the values have the labels already: a coordinate along itself.
    pub(crate) is_itself: bool,
}

/// A time without its fraction, if that is 0.
pub(crate) fn without_fraction(text: &str) -> &str {
    text.strip_suffix(".000000000").unwrap_or(text)
}

/// Cuts off the end that is 0 in all of these times: the fraction, and the time of day.
pub(crate) fn shorten_times(times: &mut [String]) {
    let may_end = |text: &str, end: &str| text == "NaT" || (text.len() > end.len() && text.ends_with(end));
    for end in [".000000000", "T00:00:00", " 00:00:00"] {
        if times.iter().all(|text| may_end(text, end)) {
            times.iter_mut().filter(|text| text.ends_with(end)).for_each(|text| text.truncate(text.len() - end.len()));
        }
    }
}

/// Digits of a float in a table.
const DIGITS: usize = 9;

/// The text of a float with few digits, as numpy prints arrays: the longer ones are mostly of decimals that binary numbers lack.
pub(super) fn short_float(text: String) -> String {
    if text.len() <= DIGITS + 2 {
        return text;
    }
    let rounded = text.parse::<f64>().ok().filter(|value| value.is_finite());
    let rounded = rounded.and_then(|value| format!("{value:.*e}", DIGITS - 1).parse::<f64>().ok());
    rounded.map_or(text, |rounded| Value::from(rounded).to_string())
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
        let short = |text: &str| short_float(text.to_owned());
        assert_eq!(short("-0.5760000000000001"), "-0.576");
        assert_eq!(short("0.30000000000000004"), "0.3");
        assert_eq!(short("123.456789012345"), "123.456789");
        assert_eq!(short("301.65927"), "301.65927");
        assert_eq!(short("1.0000000000000001e+300"), "1e+300");
        assert_eq!(short("NaN"), "NaN");
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
