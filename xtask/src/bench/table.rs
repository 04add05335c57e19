//! Measurements as a table.

use super::goals::Measurement;
use super::programs::{FLOOR, OURS};
use std::collections::BTreeMap;
use zarr_json::Value;

/// Samples of the processes of one program, for one measurement.
#[derive(Clone, Debug, Default)]
pub(super) struct Samples {
    seconds: Vec<f64>,
    cpu: Vec<f64>,
    pub(super) bytes: f64,
    /// Least peak of memory of the processes.
    peak: f64,
    pub(super) check: String,
}

impl Samples {
    /// Adds the line that a process printed. Returns `false` if the program lacks the operation.
    pub(super) fn add(&mut self, line: &Value) -> bool {
        if line.get("unsupported").is_some() {
            return false;
        }
        let numbers = |name: &str| {
            let list = line.get(name).and_then(Value::as_array).unwrap_or_default();
            list.iter().filter_map(Value::as_f64).collect::<Vec<_>>()
        };
        let number = |name: &str| line.get(name).and_then(Value::as_f64).unwrap_or_default();
        self.seconds.extend(numbers("seconds"));
        self.cpu.extend(numbers("cpu"));
        self.bytes = number("bytes");
        let peak = number("peak_rss");
        self.peak = if self.peak == 0.0 { peak } else { self.peak.min(peak) };
        self.check = line.get("check").and_then(Value::as_str).unwrap_or_default().to_owned();
        true
    }

    pub(super) fn best(&self) -> f64 {
        least(&self.seconds)
    }

    pub(super) fn median(&self) -> f64 {
        let mut sorted = self.seconds.clone();
        sorted.sort_by(f64::total_cmp);
        sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
    }

    pub(super) fn most(&self) -> f64 {
        self.seconds.iter().copied().fold(0.0, f64::max)
    }

    pub(super) fn least_cpu(&self) -> f64 {
        least(&self.cpu)
    }

    /// Returns a summary of the samples.
    pub(super) fn brief(&self) -> String {
        format!("{:.4} s best, {:.4} s median, {:.3} s of cores", self.best(), self.median(), least(&self.cpu))
    }
}

fn least(numbers: &[f64]) -> f64 {
    numbers.iter().copied().fold(f64::INFINITY, f64::min)
}

/// Samples of all programs for one measurement, by name.
pub(super) type Row = BTreeMap<&'static str, Samples>;

/// Prints the table in Markdown. Times are the least of all repetitions; a ratio is the time of a peer divided by that of this library, and
/// the last two columns are those of the program that does only the necessary work.
pub(super) fn print(rows: &[(Measurement, Row)]) {
    println!(
        "\n| case | ours | GB/s | cores | memory above data | best peer | its time | ratio | of medians | of cores | goal | floor | its cores |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|---|");
    for (measurement, row) in rows {
        let Some(ours) = row.get(OURS).filter(|ours| !ours.seconds.is_empty()) else {
            println!("| {} {} | - | | | | | | | | | | | |", measurement.case, measurement.operation);
            continue;
        };
        let (best, cpu) = (ours.best(), least(&ours.cpu));
        let peers = || row.iter().filter(|(name, found)| ![OURS, FLOOR].contains(*name) && !found.seconds.is_empty());
        let by = |of: fn(&Samples) -> f64| peers().map(|(_, found)| of(found)).fold(f64::INFINITY, f64::min);
        let peer = peers().min_by(|a, b| a.1.best().total_cmp(&b.1.best()));
        let (name, time) = peer.map_or(("-", f64::INFINITY), |(name, found)| (*name, found.best()));
        let floor = row.get(FLOOR).filter(|floor| !floor.seconds.is_empty());
        let share = |of: fn(&Samples) -> f64, ours: f64| {
            floor.map_or("-".to_owned(), |floor| format!("{:.2}", of(floor) / ours))
        };
        let shown = |number: f64, text: String| if number.is_finite() { text } else { "-".to_owned() };
        let ratio = |number: f64| shown(number, format!("{number:.2}"));
        println!(
            "| {} {} | {} | {} | {} | {} | {name} | {} | {} | {} | {} | {} | {} | {} |",
            measurement.case,
            measurement.operation,
            milliseconds(best),
            if ours.bytes > 0.0 { format!("{:.2}", ours.bytes / best / 1e9) } else { "-".to_owned() },
            milliseconds(cpu),
            // Appends write more than they hold.
            if ours.peak < ours.bytes { "-".to_owned() } else { mebibytes(ours.peak - ours.bytes) },
            shown(time, milliseconds(time)),
            ratio(time / best),
            ratio(by(Samples::median) / ours.median()),
            ratio(by(|found| least(&found.cpu)) / cpu),
            measurement.goal.map_or("-".to_owned(), |goal| format!("{goal:.1}")),
            share(Samples::best, best),
            share(|found| least(&found.cpu), cpu),
        );
    }
}

fn milliseconds(seconds: f64) -> String {
    format!("{:.1} ms", seconds * 1e3)
}

fn mebibytes(bytes: f64) -> String {
    format!("{:.0} MiB", bytes / f64::from(1 << 20))
}

/// Returns messages about results that differ between programs.
pub(super) fn differences(rows: &[(Measurement, Row)]) -> Vec<String> {
    let mut differences = Vec::new();
    for (measurement, row) in rows {
        let checks: Vec<_> = row.iter().filter(|(_, found)| !found.seconds.is_empty()).collect();
        if checks.windows(2).any(|pair| pair[0].1.check != pair[1].1.check) {
            let sums = checks.iter().map(|(name, found)| format!("{name} {}", found.check)).collect::<Vec<_>>();
            differences.push(format!("{}: {}", measurement.name(), sums.join(", ")));
        }
    }
    differences
}
