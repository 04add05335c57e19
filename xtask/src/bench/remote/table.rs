//! Measurements of all programs, as a table.

use super::measurements::Measurement;
use crate::bench::programs::FLOOR;
use crate::bench::table::Samples;
use std::collections::BTreeMap;
use zarr_json::Value;

/// Samples of the processes of one program, with their requests to the server.
#[derive(Clone, Debug, Default)]
pub(super) struct Served {
    pub(super) samples: Samples,
    /// Greatest memory of a process, in bytes.
    peak: f64,
    /// Number of requests of a repetition, including opening.
    requests: f64,
    received: f64,
    at_once: f64,
    /// Further numbers of the last process, by name.
    more: Vec<(&'static str, f64)>,
}

/// Names of the numbers that some operations print besides times.
const MORE: [&str; 2] = ["idle", "read"];

/// Results of all programs for one measurement, by name.
pub(super) type Row = BTreeMap<&'static str, Served>;

impl Served {
    /// Adds the line that a process printed, and the counts of the server. Returns `false` if the program lacks the operation.
    pub(super) fn add(&mut self, line: &Value, counts: &Value, repetitions: u32) -> bool {
        if !self.samples.add(line) {
            return false;
        }
        let of = |value: &Value, name: &str| value.get(name).and_then(Value::as_f64);
        let number = |name: &str| of(counts, name).unwrap_or_default();
        self.peak = self.peak.max(of(line, "peak_rss").unwrap_or_default());
        self.requests = number("requests") / f64::from(repetitions);
        self.received = number("bytes_sent") / f64::from(repetitions);
        self.at_once = self.at_once.max(number("most_in_flight"));
        self.more = MORE.into_iter().filter_map(|name| Some((name, of(line, name)?))).collect();
        true
    }

    /// Returns the memory of the process besides the elements that it returned, in bytes.
    pub(super) fn above_output(&self) -> Option<f64> {
        let above = self.peak - self.samples.bytes;
        // Of less than a mebibyte of elements all of it is the process itself.
        (self.samples.bytes >= f64::from(1 << 20) && above > 0.0).then_some(above)
    }
}

/// Prints the table in Markdown, with a line for each program.
pub(super) fn print(rows: &[(Measurement, Row)]) {
    println!(
        "\n| measurement | program | median | least | most | GB/s | CPU seconds | requests | at once | MB received | memory above the output |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
    for (measurement, row) in rows {
        for (name, found) in row {
            let samples = &found.samples;
            let (median, cpu) = (samples.median(), samples.least_cpu());
            let speed = samples.bytes / median / 1e9;
            let more: Vec<_> = found.more.iter().map(|(name, seconds)| format!(", {name} {seconds:.3} s")).collect();
            println!(
                "| {} | {} | {median:.3} s | {:.3} s | {:.3} s{} | {} | {cpu:.2} | {:.1} | {} | {:.1} | {} |",
                measurement.name(),
                if *name == FLOOR { "one connection" } else { name },
                samples.best(),
                samples.most(),
                more.concat(),
                if speed > 0.01 && !measurement.is_of_ours() { format!("{speed:.2}") } else { "-".to_owned() },
                found.requests,
                found.at_once,
                found.received / 1e6,
                found.above_output().map_or("-".to_owned(), |bytes| format!("{:.0} MiB", bytes / f64::from(1 << 20))),
            );
        }
    }
}

/// Returns messages about results that differ between programs.
pub(super) fn differences(rows: &[(Measurement, Row)]) -> Vec<String> {
    let mut differences = Vec::new();
    for (measurement, row) in rows {
        let checks: Vec<_> = row.iter().map(|(name, found)| (name, &found.samples.check)).collect();
        if checks.windows(2).any(|pair| pair[0].1 != pair[1].1) {
            let sums = checks.iter().map(|(name, check)| format!("{name} {check}")).collect::<Vec<_>>();
            differences.push(format!("{}: {}", measurement.name(), sums.join(", ")));
        }
    }
    differences
}
