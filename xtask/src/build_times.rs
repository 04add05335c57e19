//! `cargo xtask build-times`: prints the CPU seconds of clean builds, crate by crate.
//!
//! Cargo calls this program instead of rustc (`RUSTC_WRAPPER`). This program calls rustc, and logs its CPU time.

use crate::cargo::as_from_a_shell;
use crate::interop::python;
use crate::tidy;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Instant;

const USAGE: &str = "\
usage: cargo xtask build-times [BUILD..] [--rows N]

  command   the first command of README.md (if none is named)
  wheel     `pip wheel` of the Python package
  tests     what `cargo test --workspace` builds
  clippy    what `cargo clippy --workspace --all-targets` checks

  --rows    the dearest crates of each (30)

Builds go to target/build-times, which is removed before each. Sources are downloaded before, but not the programs that pip needs.";

/// Environment variable with the file to which calls of rustc are logged. If it is set, cargo calls this program instead of rustc.
const LOG: &str = "ZARR_BUILD_TIMES";

/// Runs rustc and logs its time, if this program is called instead of rustc; else returns `None`.
pub(crate) fn act_as_rustc() -> Option<ExitCode> {
    let log = std::env::var_os(LOG)?;
    let mut arguments = std::env::args_os().skip(1);
    let program = arguments.next()?;
    let arguments: Vec<OsString> = arguments.collect();
    let status = Command::new(&program).args(&arguments).status();
    let line = format!("{}\t{}\n", cpu_of_children(), called(&arguments));
    // One write for a line: several processes append to the file.
    let written =
        std::fs::File::options().append(true).create(true).open(log).and_then(|mut log| log.write_all(line.as_bytes()));
    match (status, written) {
        (Ok(status), Ok(())) => {
            Some(ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)))
        }
        (Err(error), _) | (_, Err(error)) => {
            eprintln!("{}: {error}", Path::new(&program).display());
            Some(ExitCode::FAILURE)
        }
    }
}

/// Returns the name of the crate that rustc compiles, with its kind unless the crate is a library.
fn called(arguments: &[OsString]) -> String {
    let after = |option: &str| {
        let place = arguments.iter().position(|argument| argument == option)?;
        arguments.get(place + 1).map(|value| value.to_string_lossy().into_owned())
    };
    let name = after("--crate-name").unwrap_or_default();
    if arguments.iter().any(|argument| argument == "--test") {
        return format!("{name} (tests)");
    }
    match after("--crate-type").as_deref() {
        Some("lib" | "rlib") | None => name,
        Some(kind) => format!("{name} ({kind})"),
    }
}

/// Runs the builds, and prints tables.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    let (mut builds, mut rows) = (Vec::new(), 30);
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match argument.as_str() {
            "--rows" => rows = rest.next().and_then(|rows| rows.parse().ok()).ok_or(USAGE)?,
            "command" | "wheel" | "tests" | "clippy" => builds.push(argument.as_str()),
            _ => return Err(USAGE.to_owned()),
        }
    }
    if builds.is_empty() {
        builds.push("command");
    }
    let root = tidy::root();
    python::output(Command::new("cargo").args(["fetch", "--quiet", "--locked"]).current_dir(&root))?;
    builds.into_iter().try_for_each(|build| measure(&root, build, rows))
}

fn measure(root: &Path, build: &str, rows: usize) -> Result<(), String> {
    let target = root.join("target").join("build-times");
    if target.exists() {
        std::fs::remove_dir_all(&target).map_err(|error| format!("{}: {error}", target.display()))?;
    }
    std::fs::create_dir_all(&target).map_err(|error| format!("{}: {error}", target.display()))?;
    let log = target.join("rustc.tsv");
    let cargo = |arguments: &[&str]| {
        let mut command = Command::new("cargo");
        command.args(arguments);
        command
    };
    let mut command = match build {
        "wheel" => {
            let mut command = Command::new(python::program()?);
            command.args(["-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-deps", "--wheel-dir"]);
            command.arg(&target).arg(root.join("python"));
            command
        }
        "tests" => cargo(&["test", "--quiet", "--workspace", "--no-run"]),
        "clippy" => cargo(&["clippy", "--quiet", "--workspace", "--all-targets"]),
        _ => cargo(&["build", "--quiet", "--release"]),
    };
    as_from_a_shell(&mut command);
    let this = std::env::current_exe().map_err(|error| format!("the path of this program: {error}"))?;
    command.env("RUSTC_WRAPPER", this).env(LOG, &log).env("CARGO_TARGET_DIR", &target).current_dir(root);
    let (began, before) = (Instant::now(), cpu_of_children());
    python::output(&mut command)?;
    let (wall, cpu) = (began.elapsed().as_secs_f64(), cpu_of_children() - before);
    let text = std::fs::read_to_string(&log).map_err(|error| format!("{}: {error}", log.display()))?;
    let crates = sums(&text);
    let rustc: f64 = crates.iter().map(|(_, seconds)| seconds).sum();
    println!(
        "\n{build}: {cpu:.0} CPU s in {wall:.0} s; {rustc:.0} of rustc, {:.0} of build scripts and C\n",
        cpu - rustc
    );
    println!("| CPU s | crate |\n|---|---|");
    for (name, seconds) in crates.iter().take(rows) {
        println!("| {seconds:.1} | {name} |");
    }
    let program = target.join("release").join(format!("zarr{}", std::env::consts::EXE_SUFFIX));
    if let Ok(file) = program.metadata() {
        println!("\n{}: {:.1} MB", program.display(), file.len() as f64 / 1e6);
    }
    Ok(())
}

/// Returns the seconds of each crate, the largest first. A crate may be built several times.
fn sums(log: &str) -> Vec<(String, f64)> {
    let mut crates: BTreeMap<&str, f64> = BTreeMap::new();
    for (seconds, name) in log.lines().filter_map(|line| line.split_once('\t')) {
        // Cargo asks rustc for its version and its target.
        if name.is_empty() || name.starts_with("___") {
            continue;
        }
        *crates.entry(name).or_default() += seconds.parse::<f64>().unwrap_or_default();
    }
    let mut crates: Vec<(String, f64)> = crates.into_iter().map(|(name, seconds)| (name.to_owned(), seconds)).collect();
    crates.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    crates
}

/// Returns the CPU seconds, in user and system mode, of all ended child processes.
#[cfg(unix)]
fn cpu_of_children() -> f64 {
    use nix::sys::resource::{UsageWho, getrusage};
    let seconds = |time: nix::sys::time::TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6;
    getrusage(UsageWho::RUSAGE_CHILDREN).map_or(0.0, |usage| seconds(usage.user_time()) + seconds(usage.system_time()))
}

#[cfg(not(unix))]
fn cpu_of_children() -> f64 {
    0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_of_rustc_are_named_and_added_up() {
        let call = |text: &str| called(&text.split(' ').map(OsString::from).collect::<Vec<_>>());
        assert_eq!(call("--crate-name zarr --edition=2024 src/lib.rs --crate-type lib"), "zarr");
        assert_eq!(call("--crate-name zarr src/main.rs --crate-type bin -C opt-level=1"), "zarr (bin)");
        assert_eq!(call("--crate-name all tests/all.rs --test"), "all (tests)");
        let sums = sums("1.5\ta\n2\tb\n1\ta\n");
        assert_eq!(sums, [("a".to_owned(), 2.5), ("b".to_owned(), 2.0)]);
    }
}
