//! Ranges of values that colour maps cover.

use std::fmt;
use std::str::FromStr;

/// Choice of the values for the first and the last colour of a map.
///
/// ```
/// use zarr_view::Range;
///
/// let values: Vec<f64> = (0..=100).map(f64::from).chain([1e9]).collect();
/// assert_eq!("full".parse::<Range>()?.of(&values, false), Some((0.0, 1e9)));
/// assert_eq!("-5:5".parse::<Range>()?.of(&values, false), Some((-5.0, 5.0)));
/// // A value that is far from all others makes no picture of one colour.
/// assert_eq!("p0:p50".parse::<Range>()?.of(&values, false), Some((0.0, 50.5)));
/// # Ok::<(), zarr_view::RangeError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Range {
    /// The least and the greatest of the values.
    Full,
    /// Two percentiles of the values, from 0 to 100, interpolated as in numpy.
    Percentiles(f64, f64),
    /// Two given values.
    Bounds(f64, f64),
}

impl Default for Range {
    /// Returns the percentiles 2 and 98.
    fn default() -> Self {
        Self::Percentiles(2.0, 98.0)
    }
}

impl Range {
    /// Returns the bounds for `values`. Ignores NaN and infinities, and with `is_log` also zero and negative numbers. `None` if no values
    /// are left and the range needs some.
    ///
    /// If two percentiles are equal although the values are not, they are replaced by the least and the greatest value.
    pub fn of(&self, values: &[f64], is_log: bool) -> Option<(f64, f64)> {
        if let Self::Bounds(first, last) = *self {
            return Some((first, last));
        }
        let mut known: Vec<f64> =
            values.iter().copied().filter(|value| value.is_finite() && (!is_log || *value > 0.0)).collect();
        let least = known.iter().copied().reduce(f64::min)?;
        let greatest = known.iter().copied().reduce(f64::max)?;
        match *self {
            Self::Percentiles(first, last) => {
                let bounds = (percentile(&mut known, first)?, percentile(&mut known, last)?);
                Some(if bounds.0 < bounds.1 { bounds } else { (least, greatest) })
            }
            _ => Some((least, greatest)),
        }
    }
}

/// Returns a percentile, interpolated between the two neighbouring values, as `numpy.percentile` does.
fn percentile(values: &mut [f64], percent: f64) -> Option<f64> {
    let last = values.len().checked_sub(1)?;
    let at = (percent / 100.0).clamp(0.0, 1.0) * last as f64;
    let below = (at.floor() as usize).min(last);
    let (_, lower, above) = values.select_nth_unstable_by(below, f64::total_cmp);
    let lower = *lower;
    let upper = above.iter().copied().reduce(f64::min).unwrap_or(lower);
    let part = at - below as f64;
    // A weighted mean of the bounds does not overflow, unlike their difference.
    Some(if part == 0.0 { lower } else { lower * (1.0 - part) + upper * part })
}

/// Error for a string that is not a range.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("found range {found:?}, expected full, two numbers as 0:25, or two percentiles as p2:p98")]
pub struct RangeError {
    found: String,
}

impl FromStr for Range {
    type Err = RangeError;

    fn from_str(text: &str) -> Result<Self, RangeError> {
        let error = || RangeError { found: text.to_owned() };
        if text == "full" {
            return Ok(Self::Full);
        }
        let (first, last) = text.split_once(':').ok_or_else(error)?;
        let number = |text: &str| text.trim().parse::<f64>().ok().filter(|number| number.is_finite()).ok_or_else(error);
        let percent = |text: &str| text.trim().strip_prefix('p').map(number);
        match (percent(first), percent(last)) {
            (Some(first), Some(last)) => {
                let (first, last) = (first?, last?);
                if 0.0 <= first && first < last && last <= 100.0 {
                    Ok(Self::Percentiles(first, last))
                } else {
                    Err(error())
                }
            }
            (None, None) => {
                let (first, last) = (number(first)?, number(last)?);
                if first == last { Err(error()) } else { Ok(Self::Bounds(first, last)) }
            }
            _ => Err(error()),
        }
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full => f.write_str("full"),
            Self::Percentiles(first, last) => write!(f, "p{first}:p{last}"),
            Self::Bounds(first, last) => write!(f, "{first}:{last}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_parsed() {
        for (text, range) in [
            ("full", Range::Full),
            ("p2:p98", Range::Percentiles(2.0, 98.0)),
            ("p0.5:p100", Range::Percentiles(0.5, 100.0)),
            ("-1e3:2.5", Range::Bounds(-1000.0, 2.5)),
            ("10:0", Range::Bounds(10.0, 0.0)),
        ] {
            assert_eq!(text.parse(), Ok(range), "{text}");
        }
        for text in ["", "1", "1:", "p2:98", "p98:p2", "p-1:p5", "p2:p101", "1:1", "nan:1", "inf:1", "1:2:3", "Full"] {
            assert!(text.parse::<Range>().is_err(), "{text}");
        }
    }

    #[test]
    fn percentiles_are_those_of_numpy() {
        // np.percentile([9, 1, 4, 16, 25], [2, 10, 50, 98, 100])
        let of = |percent| percentile(&mut [9.0, 1.0, 4.0, 16.0, 25.0], percent).unwrap();
        for (percent, value) in [(2.0, 1.24), (10.0, 2.2), (50.0, 9.0), (98.0, 24.28), (100.0, 25.0)] {
            assert!((of(percent) - value).abs() < 1e-12, "{percent}: {}", of(percent));
        }
        assert_eq!(percentile(&mut [-f64::MAX, f64::MAX], 50.0), Some(0.0));
    }

    #[test]
    fn values_without_meaning_are_left_out() {
        let values = [f64::NAN, -1.0, 0.0, f64::INFINITY, 10.0, 1000.0];
        assert_eq!(Range::Full.of(&values, false), Some((-1.0, 1000.0)));
        assert_eq!(Range::Full.of(&values, true), Some((10.0, 1000.0)));
        assert_eq!(Range::default().of(&[f64::NAN], false), None);
        assert_eq!(Range::Full.of(&[-1.0], true), None);
        // Most values are equal.
        let mut mask = vec![0.0; 1000];
        mask[3] = 1.0;
        assert_eq!(Range::default().of(&mask, false), Some((0.0, 1.0)));
    }
}
