//! `cargo xtask soak`: runs concurrent processes on one store, some of which are killed, and the long forms of tests with faults of
//! servers.

use crate::ci::timed;
use crate::tidy;
use std::process::Command;
use std::time::Duration;
use zarr_tests::processes::soak;

const USAGE: &str = "usage: cargo xtask soak [--minutes N] [--processes N]
       cargo xtask soak --faults
       cargo xtask soak --pairs [--rounds N] [--seed N]";

/// Long forms of tests with faults: partial writes of eight processes to files, a bucket and a database; operations on a server that fails
/// or is down; counters while answers are lost; partial writes of eight processes to moto and azurite.
const FAULTS: [&[&str]; 4] = [
    &["test", "-p", "zarr-tests", "--test", "processes", "--", "--long", "partial_writes"],
    &["test", "-p", "zarr-tests", "--test", "all", "--", "remote_writers::", "--nocapture"],
    &["test", "-p", "zarr-store-object", "--test", "all", "--", "writers::", "--nocapture"],
    &["xtask", "servers", "--writes", "1000"],
];

/// Runs the processes, and prints the counts of operations and faults.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    if arguments == ["--faults"] {
        let long = |words: &&[&str]| {
            timed(Command::new("cargo").args(*words).env("ZARR_TEST_LONG", "1").current_dir(tidy::root()))
        };
        return FAULTS.iter().try_for_each(long);
    }
    if let [first, rest @ ..] = arguments
        && first == "--pairs"
    {
        let words = ["test", "-p", "zarr-tests", "--test", "processes", "--", "--long", "verbs_beside_each_other"];
        return timed(Command::new("cargo").args(words).args(rest).current_dir(tidy::root()));
    }
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
