//! Runs the checks of several processes, of kills and of interruptions: `cargo test -p zarr-tests --test processes [NAME..]`.
//!
//! After `--`: `--long` runs the long forms, `--awaited` also those that find faults which are not mended yet, `--list` lists them.

use std::process::ExitCode;
use std::time::Instant;
use zarr_tests::processes::{Check, Scale, work_if_worker};

fn main() -> ExitCode {
    work_if_worker();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let is_given = |flag: &str| arguments.iter().any(|argument| argument == flag);
    // Flags are those of other test programs as well, which get the same ones.
    let names: Vec<&String> = arguments.iter().filter(|argument| !argument.starts_with('-')).collect();
    let is_wanted = |check: &Check| names.is_empty() || names.iter().any(|name| check.name().contains(name.as_str()));
    let mut failed = 0;
    for check in Check::all().iter().filter(|check| is_wanted(check)) {
        if is_given("--list") {
            println!("{}: test", check.name());
            continue;
        }
        if check.is_awaited() && !is_given("--awaited") {
            println!("test {} ... not run: awaits its cure", check.name());
            continue;
        }
        let begun = Instant::now();
        let (verdict, result) = match check.run(Scale { long: is_given("--long") }) {
            Ok(tally) if tally.faults() == 0 => ("ok", tally.to_string()),
            Ok(tally) => ("FAILED", tally.to_string()),
            Err(error) => ("FAILED", error.to_string()),
        };
        failed += u32::from(verdict != "ok");
        println!("test {} ... {verdict} in {:.1} s: {result}", check.name(), begun.elapsed().as_secs_f64());
    }
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
