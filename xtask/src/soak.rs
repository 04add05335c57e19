//! `cargo xtask soak`: concurrent processes on one store, some of which are killed.

use std::time::Duration;
use zarr_tests::processes::soak;

const USAGE: &str = "usage: cargo xtask soak [--minutes N] [--processes N]";

/// Runs the processes, and prints the counts of operations and faults.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    let (mut minutes, mut processes) = (1.0, 8);
    for pair in arguments.chunks(2) {
        let [name, value] = pair else { return Err(USAGE.to_owned()) };
        let invalid = |_| format!("{name} {value}: expected a number\n{USAGE}");
        match name.as_str() {
            "--minutes" => minutes = value.parse().map_err(|_| invalid(()))?,
            "--processes" => processes = value.parse().map_err(|_| invalid(()))?,
            _ => return Err(USAGE.to_owned()),
        }
    }
    let time = Duration::try_from_secs_f64(minutes * 60.0).map_err(|error| format!("{minutes} minutes: {error}"))?;
    let tally = soak(time, processes).map_err(|error| error.to_string())?;
    println!("{tally}");
    match tally.faults() {
        0 => Ok(()),
        faults => Err(format!("{faults} faults")),
    }
}
