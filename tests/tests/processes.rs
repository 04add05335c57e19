//! Checks of concurrent processes, kills and interruptions: `cargo test -p zarr-tests --test processes -- [NAME..]`.
//!
//! `--long` runs the long forms, `--list` lists all. Of pairs of verbs beside each other `--rounds N` are run, which `--seed N` chooses: a fault
//! says the seed that begins with its round.

use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;
use zarr_tests::processes::{Check, Scale, work_if_worker};

/// Flags of libtest with a value. `cargo test` passes its arguments to all test programs.
const WITH_VALUE: [&str; 4] = ["--format", "--color", "--logfile", "-Z"];

/// The arguments of the program.
struct Arguments {
    /// How many checks run beside each other: as many as there are processors, or `--test-threads`.
    threads: usize,
    names: Vec<String>,
    skipped: Vec<String>,
    flags: Vec<String>,
    scale: Scale,
}

impl Arguments {
    fn parse() -> Self {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let (names, skipped, flags, scale) = (Vec::new(), Vec::new(), Vec::new(), Scale::default());
        let mut given = Self { threads, names, skipped, flags, scale };
        let mut arguments = std::env::args().skip(1);
        while let Some(argument) = arguments.next() {
            if let Some(count) = argument.strip_prefix("--test-threads=") {
                given.threads = wanted(count) as usize;
                continue;
            }
            match argument.as_str() {
                "--skip" => given.skipped.extend(arguments.next()),
                "--test-threads" => given.threads = wanted(&arguments.next().unwrap_or_default()) as usize,
                "--long" => given.scale.long = true,
                "--rounds" => given.scale.rounds = Some(wanted(&arguments.next().unwrap_or_default())),
                "--seed" => given.scale.seed = Some(wanted(&arguments.next().unwrap_or_default())),
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

/// The number that an argument asks for.
fn wanted(count: &str) -> u64 {
    match count.parse() {
        Ok(count) if count > 0 => count,
        _ => {
            eprintln!("found {count:?}, expected a number above 0");
            std::process::exit(2)
        }
    }
}

fn main() -> ExitCode {
    work_if_worker(zarr_cli::run);
    let given = Arguments::parse();
    let checks: Vec<Check> = Check::all().into_iter().filter(|check| given.wants(check)).collect();
    if given.has("--list") {
        checks.iter().for_each(|check| println!("{}: test", check.name()));
        return ExitCode::SUCCESS;
    }
    let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
    let work = || {
        while let Some(check) = checks.get(next.fetch_add(1, Ordering::Relaxed)) {
            let begun = Instant::now();
            let (verdict, result) = match check.run(given.scale) {
                Ok(tally) if tally.faults() == 0 => ("ok", tally.to_string()),
                Ok(tally) => ("FAILED", tally.to_string()),
                Err(error) => ("FAILED", error.to_string()),
            };
            failed.fetch_or(verdict != "ok", Ordering::Relaxed);
            println!("test {} ... {verdict} in {:.1} s: {result}", check.name(), begun.elapsed().as_secs_f64());
        }
    };
    std::thread::scope(|scope| {
        (0..given.threads).for_each(|_| drop(scope.spawn(work)));
    });
    if failed.into_inner() { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
