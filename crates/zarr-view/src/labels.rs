//! Labels along axes.

use crate::samples::Samples;

/// Name of an axis of a picture, and the labels along it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AxisLabels {
    /// Name of the dimension; `None` if it has none.
    pub name: Option<String>,
    /// Units of the positions; `None` if unknown.
    pub units: Option<String>,
    /// Positions of the samples.
    pub positions: Positions,
}

/// Positions of samples along an axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Positions {
    /// Positions are the indices of the samples in the array.
    #[default]
    Indices,
    /// One number for each sample.
    Numbers(Vec<f64>),
    /// One string for each sample, such as a date or name.
    Texts(Vec<String>),
    /// Names at some places, as ticks in ascending order.
    Ticks(Vec<Tick>),
}

/// Tick mark along an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Tick {
    /// Position in samples: 0 is the centre of the first sample.
    pub at: f64,
    /// Label of the tick.
    pub text: String,
}

impl AxisLabels {
    /// Returns the name with units, such as `lat (degrees_north)`; empty if there is neither.
    pub fn title(&self) -> String {
        match (&self.name, &self.units) {
            (Some(name), Some(units)) => format!("{name} ({units})"),
            (Some(name), None) => name.clone(),
            (None, Some(units)) => format!("({units})"),
            (None, None) => String::new(),
        }
    }

    /// Returns whether positions are numbers that rise from the first sample to the last.
    pub fn is_rising(&self) -> bool {
        match &self.positions {
            Positions::Numbers(numbers) => {
                numbers.len() > 1 && numbers.windows(2).all(|pair| matches!(pair, [a, b] if a < b))
            }
            _ => false,
        }
    }

    /// Returns the labels in reverse order.
    pub fn reversed(&self) -> Self {
        let mut other = self.clone();
        match &mut other.positions {
            Positions::Indices => {}
            Positions::Numbers(numbers) => numbers.reverse(),
            Positions::Texts(texts) => texts.reverse(),
            // Ticks have their own positions, not those of samples.
            Positions::Ticks(_) => {}
        }
        other
    }

    /// Returns at most `most` ticks along `samples`: at round numbers if positions are monotonic numbers, otherwise at samples. If at most
    /// one of the positions was a round number, there may be up to twice as many ticks.
    pub fn ticks(&self, samples: &Samples, most: usize) -> Vec<Tick> {
        match &self.positions {
            Positions::Indices => {
                let indices = [samples.start, samples.index(samples.count.saturating_sub(1))].map(|it| it as f64);
                let step = samples.step as f64;
                let place = |value: f64| Some((value - samples.start as f64) / step);
                round_numbers(indices[0], indices[1], most, true)
                    .into_iter()
                    .filter_map(|(value, text)| Some(Tick { at: place(value)?, text }))
                    .collect()
            }
            Positions::Numbers(numbers) => number_ticks(numbers, most),
            Positions::Texts(texts) => {
                let chosen = evenly(texts.len(), most);
                chosen.into_iter().filter_map(|at| Some(Tick { at: at as f64, text: texts.get(at)?.clone() })).collect()
            }
            Positions::Ticks(places) => {
                places.iter().step_by(places.len().div_ceil(most.max(1)).max(1)).cloned().collect()
            }
        }
    }
}

fn number_ticks(numbers: &[f64], most: usize) -> Vec<Tick> {
    let ordered = |less: fn(&f64, &f64) -> bool| {
        numbers.len() > 1 && numbers.windows(2).all(|pair| matches!(pair, [a, b] if less(a, b)))
    };
    let (is_rising, is_falling) = (ordered(|a, b| a < b), ordered(|a, b| a > b));
    let (Some(&first), Some(&last)) = (numbers.first(), numbers.last()) else { return Vec::new() };
    if (is_rising || is_falling) && first.is_finite() && last.is_finite() {
        let place = |value: f64| {
            let after = numbers.partition_point(|&known| if is_rising { known < value } else { known > value });
            let (Some(&low), Some(&high)) = (numbers.get(after.saturating_sub(1)), numbers.get(after)) else {
                return None;
            };
            Some(if after == 0 { 0.0 } else { (after - 1) as f64 + (value - low) / (high - low) })
        };
        // A few more round numbers are better than others.
        for most in most..=most.saturating_mul(2) {
            let ticks: Vec<Tick> = round_numbers(first, last, most, false)
                .into_iter()
                .filter_map(|(value, text)| Some(Tick { at: place(value)?, text }))
                .collect();
            if ticks.len() > 1 || most < 2 {
                return ticks;
            }
        }
    }
    let chosen = evenly(numbers.len(), most);
    let text = |at: usize| numbers.get(at).map(|&number| short(number));
    chosen.into_iter().filter_map(|at| Some(Tick { at: at as f64, text: text(at)? })).collect()
}

/// Returns at most `most` evenly spaced indices of a list of length `len`, including the first and the last.
fn evenly(len: usize, most: usize) -> Vec<usize> {
    match (len, most) {
        (0, _) | (_, 0) => Vec::new(),
        (1, _) | (_, 1) => vec![0],
        _ => {
            let count = most.min(len);
            (0..count).map(|number| number * (len - 1) / (count - 1)).collect()
        }
    }
}

/// Returns at most `most` round numbers between `a` and `b`, ascending, with their labels: multiples of 1, 2 or 5 times a power of ten;
/// only integers if `integers`.
pub(crate) fn round_numbers(a: f64, b: f64, most: usize, integers: bool) -> Vec<(f64, String)> {
    let (low, high) = (a.min(b), a.max(b));
    if !(a.is_finite() && b.is_finite()) || most == 0 {
        return Vec::new();
    }
    if low == high {
        return vec![(low, short(low))];
    }
    let least = (high / most as f64 - low / most as f64).max(f64::MIN_POSITIVE);
    let mut exponent = least.log10().floor() as i32;
    let mut factors = [1.0, 2.0, 5.0].into_iter();
    let mut step;
    loop {
        let Some(factor) = factors.next() else {
            factors = [1.0, 2.0, 5.0].into_iter();
            exponent += 1;
            continue;
        };
        step = factor * 10_f64.powi(exponent);
        let count = (high / step).floor() - (low / step).ceil() + 1.0;
        if !step.is_finite() {
            return Vec::new();
        }
        if count <= most as f64 && !(integers && step < 1.0) {
            break;
        }
    }
    let first = (low / step).ceil();
    let count = ((high / step).floor() - first + 1.0).max(0.0) as usize;
    let value = |number: usize| {
        let value = (first + number as f64) * step;
        if value == 0.0 { 0.0 } else { value }
    };
    (0..count.min(most)).map(|number| (value(number), text(value(number), step))).collect()
}

/// Formats a multiple of `step` with the number of digits that `step` needs.
fn text(value: f64, step: f64) -> String {
    let magnitude = value.abs().max(step);
    if !(1e-5..1e7).contains(&step) || magnitude >= 1e9 {
        // Digits of the value down to the step.
        let digits = (magnitude.log10().floor() - step.log10().floor()).clamp(0.0, 17.0) as usize;
        let text = format!("{value:.digits$e}");
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let mantissa =
            if mantissa.contains('.') { mantissa.trim_end_matches('0').trim_end_matches('.') } else { mantissa };
        return if value == 0.0 { "0".to_owned() } else { format!("{mantissa}e{exponent}") };
    }
    let digits = (-step.log10().floor()).clamp(0.0, 9.0) as usize;
    format!("{value:.digits$}")
}

/// Formats a number with about five digits.
pub(crate) fn short(number: f64) -> String {
    zarr_meta::text::rounded(number, 5)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(ticks: &[Tick]) -> Vec<(f64, &str)> {
        ticks.iter().map(|tick| ((tick.at * 1000.0).round() / 1000.0, tick.text.as_str())).collect()
    }

    #[test]
    fn marks_stand_at_round_numbers() {
        let labels = |numbers: Vec<f64>| AxisLabels { positions: Positions::Numbers(numbers), ..AxisLabels::default() };
        let samples = Samples::all(0, 1, 181);
        let falling = labels((0..181).map(|it| 90.0 - f64::from(it)).collect());
        assert_eq!(texts(&falling.ticks(&samples, 5)), [(140.0, "-50"), (90.0, "0"), (40.0, "50")]);
        let small = labels(vec![0.001, 0.002, 0.003]);
        assert_eq!(texts(&small.ticks(&samples, 3)), [(0.0, "0.001"), (1.0, "0.002"), (2.0, "0.003")]);
        let narrow = labels((0..18).map(|it| 4.44 - 0.555 * f64::from(it)).collect());
        let found: Vec<String> = narrow.ticks(&samples, 4).into_iter().map(|tick| tick.text).collect();
        assert_eq!(found, ["-4", "-2", "0", "2", "4"]);
        let uneven = labels(vec![0.0, 1.0, 100.0]);
        assert_eq!(texts(&uneven.ticks(&samples, 3)), [(0.0, "0"), (1.495, "50"), (2.0, "100")]);
        let mixed = labels(vec![5.0, 1.0, 7.0]);
        assert_eq!(texts(&mixed.ticks(&samples, 2)), [(0.0, "5"), (2.0, "7")]);
        assert!(falling.reversed().is_rising() && !falling.is_rising());
    }

    #[test]
    fn indices_are_integers() {
        let labels = AxisLabels::default();
        let ticks = labels.ticks(&Samples::all(0, 1, 3), 9);
        assert_eq!(texts(&ticks), [(0.0, "0"), (1.0, "1"), (2.0, "2")]);
        let ticks = labels.ticks(&Samples::all(512, 1024, 1024), 4);
        assert_eq!(texts(&ticks), [(487.781, "500000"), (976.063, "1000000")]);
        assert_eq!(labels.ticks(&Samples::all(7, 1, 1), 4), [Tick { at: 0.0, text: "7".to_owned() }]);
    }

    #[test]
    fn bounds_of_any_size_have_marks() {
        for (low, high) in [(-f64::MAX, f64::MAX), (0.0, 5e-324), (1e300, 1.1e300), (1.0, 1.0 + 1e-12), (0.0, 1e18)] {
            for most in 0..12 {
                assert!(round_numbers(low, high, most, false).len() <= most, "{low} {high} {most}");
                assert!(round_numbers(low, high, most, true).len() <= most, "{low} {high} {most}");
            }
        }
        assert_eq!(round_numbers(0.0, f64::NAN, 5, false), []);
        assert_eq!(round_numbers(1e8, 1.3e8, 3, false).last().unwrap().1, "1.2e8");
        assert_eq!(short(293.149_99), "293.15");
        assert_eq!(short(-1.5e-7), "-1.5e-7");
    }
}
