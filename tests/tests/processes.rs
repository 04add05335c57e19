//! Runs the checks of several processes, of kills and of interruptions: `cargo test -p zarr-tests --test processes [NAME..]`.
//!
//! After `--`: `--long` runs the long forms, `--awaited` also those that find faults which are not mended yet, `--list` lists them.

use std::process::ExitCode;
use std::time::Instant;
use zarr_tests::processes::{Check, Scale, work_if_worker};

/// Flags of other test programs, which get the same ones, that have a value behind them.
const WITH_VALUE: [&str; 5] = ["--test-threads", "--format", "--color", "--logfile", "-Z"];

/// What is asked for.
#[derive(Default)]
struct Asked {
    names: Vec<String>,
    skipped: Vec<String>,
    flags: Vec<String>,
}

impl Asked {
    fn from_arguments() -> Self {
        let mut asked = Self::default();
        let mut arguments = std::env::args().skip(1);
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--skip" => asked.skipped.extend(arguments.next()),
                flag if WITH_VALUE.contains(&flag) => drop(arguments.next()),
                flag if flag.starts_with('-') => asked.flags.push(argument),
                _ => asked.names.push(argument),
            }
        }
        asked
    }

    fn has(&self, flag: &str) -> bool {
        self.flags.iter().any(|given| given == flag)
    }

    fn wants(&self, check: &Check) -> bool {
        let is_named = |names: &[String]| names.iter().any(|name| check.name().contains(name.as_str()));
        (self.names.is_empty() || is_named(&self.names)) && !is_named(&self.skipped)
    }
}

fn main() -> ExitCode {
    work_if_worker();
    let asked = Asked::from_arguments();
    let mut failed = 0;
    for check in Check::all().iter().filter(|check| asked.wants(check)) {
        if asked.has("--list") {
            println!("{}: test", check.name());
            continue;
        }
        if check.is_awaited() && !asked.has("--awaited") {
            println!("test {} ... not run: awaits its cure", check.name());
            continue;
        }
        let begun = Instant::now();
        let (verdict, result) = match check.run(Scale { long: asked.has("--long") }) {
            Ok(tally) if tally.faults() == 0 => ("ok", tally.to_string()),
            Ok(tally) => ("FAILED", tally.to_string()),
            Err(error) => ("FAILED", error.to_string()),
        };
        failed += u32::from(verdict != "ok");
        println!("test {} ... {verdict} in {:.1} s: {result}", check.name(), begun.elapsed().as_secs_f64());
    }
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
