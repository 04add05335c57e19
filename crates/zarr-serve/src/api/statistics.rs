//! Statistics of numbers: range, percentiles and histogram.

use zarr_json::{Value, json};

/// Number of intervals of a histogram.
const BINS: usize = 64;

/// Statistics of numbers.
#[derive(Debug, PartialEq)]
pub(crate) struct Statistics {
    /// Statistics of the finite numbers; `None` if there are none.
    range: Option<Finite>,
    /// Number of infinite values.
    infinite: usize,
    /// Number of NaN values.
    missing: usize,
    count: usize,
}

/// Statistics of finite numbers.
#[derive(Debug, PartialEq)]
struct Finite {
    min: f64,
    max: f64,
    mean: f64,
    /// Percentile 2: 2 % of the numbers are smaller.
    p2: f64,
    /// Percentile 98: 98 % of the numbers are smaller.
    p98: f64,
}

impl Statistics {
    pub(crate) fn new(values: &[f64]) -> Self {
        let mut finite: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
        let missing = values.iter().filter(|value| value.is_nan()).count();
        let (infinite, count) = (values.len() - missing - finite.len(), values.len());
        let (min, max) = finite
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(min, max), &value| (min.min(value), max.max(value)));
        let mean = finite.iter().map(|value| value / finite.len() as f64).sum();
        let range = (!finite.is_empty()).then(|| Finite {
            min,
            max,
            mean,
            p2: percentile(&mut finite, 2),
            p98: percentile(&mut finite, 98),
        });
        Self { range, infinite, missing, count }
    }

    pub(crate) fn to_json(&self) -> Value {
        let (infinite, missing, count) = (self.infinite, self.missing, self.count);
        match &self.range {
            None => json!({"count": count, "missing": missing, "infinite": infinite}),
            Some(Finite { min, max, mean, p2, p98 }) => json!({
                "count": count, "missing": missing, "infinite": infinite,
                "min": (*min), "max": (*max), "mean": (*mean), "p2": (*p2), "p98": (*p98),
            }),
        }
    }

    /// Returns the least and the greatest finite number; `None` if there are no finite numbers.
    pub(crate) fn range(&self) -> Option<(f64, f64)> {
        self.range.as_ref().map(|range| (range.min, range.max))
    }
}

/// Returns the value at the given percentile, without interpolation.
fn percentile(values: &mut [f64], percent: usize) -> f64 {
    let at = (values.len().saturating_sub(1) * percent + 50) / 100;
    *values.select_nth_unstable_by(at, f64::total_cmp).1
}

/// Returns a histogram as JSON: the number of values in each of 64 intervals of a range. The last interval includes its end.
pub(crate) fn histogram(values: &[f64], range: Option<(f64, f64)>) -> Value {
    let Some((low, high)) = range.filter(|(low, high)| low <= high) else {
        return json!({"low": null, "high": null, "counts": []});
    };
    let mut counts = [0_u64; BINS];
    // Compute with halves, since the difference of two floats may overflow.
    let width = high / 2.0 - low / 2.0;
    for &value in values.iter().filter(|value| (low..=high).contains(*value)) {
        let place = if width > 0.0 { (value / 2.0 - low / 2.0) / width * BINS as f64 } else { 0.0 };
        // Not negative, and at most BINS.
        if let Some(count) = counts.get_mut((place as usize).min(BINS - 1)) {
            *count += 1;
        }
    }
    let counts: Vec<Value> = counts.iter().map(|&count| Value::from(count)).collect();
    json!({"low": low, "high": high, "counts": (Value::Array(counts))})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges() {
        let values: Vec<f64> = (0..=100).map(f64::from).chain([f64::NAN, f64::INFINITY]).collect();
        let statistics = Statistics::new(&values);
        let text = statistics.to_json().to_string();
        assert_eq!(statistics.range(), Some((0.0, 100.0)));
        assert!(text.contains(r#""missing":1,"infinite":1,"min":0.0,"max":100.0"#), "{text}");
        assert!(text.ends_with(r#""p2":2.0,"p98":98.0}"#), "{text}");
        assert_eq!(Statistics::new(&[f64::NAN]).range(), None);
        assert_eq!(Statistics::new(&[]).to_json().to_string(), r#"{"count":0,"missing":0,"infinite":0}"#);
    }

    #[test]
    fn each_value_is_counted_once() {
        let counts = |values: &[f64], range| {
            let counts = histogram(values, range);
            let counts = counts.get("counts").and_then(Value::as_array).expect("a list").to_vec();
            counts.iter().map(|count| count.as_u64().expect("a count")).collect::<Vec<_>>()
        };
        let values: Vec<f64> = (0..=64).map(f64::from).collect();
        let found = counts(&values, Some((0.0, 64.0)));
        assert_eq!((found.len(), found[0], found[62], found[63]), (64, 1, 1, 2));
        assert_eq!(counts(&[5.0, 5.0], Some((5.0, 5.0)))[0], 2);
        let widest = counts(&[f64::MIN, 0.0, f64::MAX, f64::NAN], Some((f64::MIN, f64::MAX)));
        assert_eq!((widest[0], widest[32], widest[63], widest.iter().sum::<u64>()), (1, 1, 1, 3));
        assert!(counts(&[1.0], None).is_empty());
    }
}
