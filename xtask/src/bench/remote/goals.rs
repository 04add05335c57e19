//! Goals of the measurements with a server, and whether they are met.

use super::measurements::{Goal, Measurement};
use super::programs::DEFAULTS;
use super::table::{Row, Served};
use crate::bench::programs::{FLOOR, OURS};

/// Greatest memory that a read may use besides the elements that it returns, in bytes.
const MEMORY: f64 = (272_u64 << 20) as f64;

/// Limits of the cost of a latency of 50 ms: a share of the time without latency, or a number of seconds.
const LATENCY: (f64, f64) = (0.15, 0.25);

/// Goal with the measured value.
struct Judged {
    name: String,
    found: String,
    goal: String,
    is_met: bool,
}

/// Prints which goals are met, and, for all measurements, the ratio to the best peer.
pub(super) fn print(rows: &[(Measurement, Row)]) {
    println!("\n| measurement | found | goal | met |\n|---|---|---|---|");
    for (measurement, row) in rows {
        let Some(ours) = row.get(OURS) else { continue };
        let mut all = speed(measurement, row, ours);
        all.extend(memory(measurement, ours));
        all.extend(latency(measurement, ours, rows));
        for Judged { name, found, goal, is_met } in all {
            let met = match (goal.as_str(), is_met) {
                ("-", _) => "",
                (_, true) => "yes",
                (_, false) => "no",
            };
            println!("| {name} | {found} | {goal} | {met} |");
        }
    }
}

fn speed(measurement: &Measurement, row: &Row, ours: &Served) -> Vec<Judged> {
    let median = ours.samples.median();
    let times = |count: f64| format!("{count:.2} times");
    let mut all = Vec::new();
    let peers = row.iter().filter(|(name, _)| DEFAULTS.contains(name));
    if let Some((peer, found)) = peers.min_by(|a, b| a.1.samples.median().total_cmp(&b.1.samples.median())) {
        let ratio = found.samples.median() / median;
        let (goal, is_met) = match measurement.goal {
            Goal::OverPeers(goal) => (times(goal), ratio >= goal),
            _ => ("-".to_owned(), true),
        };
        let name = format!("{}: over {peer}, the best peer", measurement.name());
        all.push(Judged { name, found: times(ratio), goal, is_met });
    }
    if let (Goal::OverOneConnection(goal), Some(one)) = (measurement.goal, row.get(FLOOR)) {
        let ratio = one.samples.median() / median;
        let name = format!("{}: over one connection", measurement.name());
        all.push(Judged { name, found: times(ratio), goal: times(goal), is_met: ratio >= goal });
    }
    if let Goal::Seconds(goal) = measurement.goal {
        let (found, goal_) = (format!("{median:.3} s"), format!("at most {goal} s"));
        all.push(Judged { name: measurement.name(), found, goal: goal_, is_met: median <= goal });
    }
    all
}

fn memory(measurement: &Measurement, ours: &Served) -> Option<Judged> {
    let above = ours.above_output().filter(|_| measurement.operation == "read")?;
    let mebibytes = |bytes: f64| format!("{:.0} MiB", bytes / f64::from(1 << 20));
    let name = format!("{}: memory above the output", measurement.name());
    let goal = format!("at most {}", mebibytes(MEMORY));
    Some(Judged { name, found: mebibytes(above), goal, is_met: above <= MEMORY })
}

/// Returns the cost of the latency, if the same measurement was made without latency.
fn latency(measurement: &Measurement, ours: &Served, rows: &[(Measurement, Row)]) -> Option<Judged> {
    if measurement.operation != "read" || measurement.latency == 0 {
        return None;
    }
    let same = |other: &Measurement| other.latency == 0 && other.short_name() == measurement.short_name();
    let without = rows.iter().find(|(other, _)| same(other))?.1.get(OURS)?.samples.median();
    let more = ours.samples.median() - without;
    let limit = (LATENCY.0 * without).max(LATENCY.1);
    let name = format!("{}: above the time at 0 ms", measurement.name());
    let found = format!("{:.0} ms, {:.0} %", more * 1e3, more / without * 100.0);
    Some(Judged { name, found, goal: format!("at most {:.0} ms", limit * 1e3), is_met: more <= limit })
}
