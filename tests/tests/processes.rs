//! Checks of concurrent processes, kills and interruptions: `cargo test -p zarr-tests --test processes -- [NAME..]`.
//!
//! `--long` runs the long forms, `--list` lists all.

use std::process::ExitCode;
use std::time::Instant;
use zarr_tests::processes::{Check, Scale, work_if_worker};

/// Flags of libtest with a value. `cargo test` passes its arguments to all test programs.
const WITH_VALUE: [&str; 5] = ["--test-threads", "--format", "--color", "--logfile", "-Z"];

/// The arguments of the program.
#[derive(Default)]
struct Arguments {
    names: Vec<String>,
    skipped: Vec<String>,
    flags: Vec<String>,
}

impl Arguments {
    fn parse() -> Self {
        let mut given = Self::default();
        let mut arguments = std::env::args().skip(1);
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--skip" => given.skipped.extend(arguments.next()),
                flag if WITH_VALUE.contains(&flag) => drop(arguments.next()),
                flag if flag.starts_with('-') => given.flags.push(argument),
                _ => given.names.push(argument),
            }
        }
        given
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
    let given = Arguments::parse();
    let mut failed = 0;
    for check in Check::all().iter().filter(|check| given.wants(check)) {
        if given.has("--list") {
            println!("{}: test", check.name());
            continue;
        }
        let begun = Instant::now();
        let (verdict, result) = match check.run(Scale { long: given.has("--long") }) {
            Ok(tally) if tally.faults() == 0 => ("ok", tally.to_string()),
            Ok(tally) => ("FAILED", tally.to_string()),
            Err(error) => ("FAILED", error.to_string()),
        };
        failed += u32::from(verdict != "ok");
        println!("test {} ... {verdict} in {:.1} s: {result}", check.name(), begun.elapsed().as_secs_f64());
    }
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
