//! `cargo xtask bench --counts`: checks whether small, fixed pieces of work take more instructions than recorded.
//!
//! Counts of instructions do not depend on the other work of a machine, so that a small loss is visible. They do not include waits for
//! memory, which times show.

use crate::cargo;
use crate::interop::python::output;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Share by which a count may exceed the recorded count.
const TOLERANCE: f64 = 0.05;

/// Text before the name of the processor on which instructions were counted. The C library chooses implementations by processor, so that
/// counts of other processors differ.
const PROCESSOR: &str = "# Processor: ";

/// Counts the instructions of all cases, and compares them with `benches/counts.txt`, or rewrites that file if `record`.
pub(super) fn run(root: &Path, record: bool) -> Result<(), String> {
    if output(Command::new("valgrind").arg("--version")).is_err() {
        println!("valgrind is not installed: instructions are not counted");
        return Ok(());
    }
    let target = root.join("target");
    cargo::build(&root.join("Cargo.toml"), &target, &["--release", "--package", "zarr-bench-counts"])?;
    let program = target.join("release").join("zarr-bench-counts");
    let path = root.join("benches").join("counts.txt");
    let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let here = processor();
    let judged = text.lines().any(|line| line.strip_prefix(PROCESSOR) == Some(here.as_str()));
    let mut recorded = String::new();
    let mut faults = Vec::new();
    for line in text.lines() {
        if line.starts_with(PROCESSOR) {
            recorded += &format!("{PROCESSOR}{here}\n");
            continue;
        }
        let Some((case, before)) = line.split_once(' ').filter(|_| !line.starts_with('#')) else {
            recorded += &format!("{line}\n");
            continue;
        };
        let before: f64 = before.parse().map_err(|_| format!("{}: no number in {line:?}", path.display()))?;
        let count = count(&program, case)?;
        let change = count as f64 / before - 1.0;
        println!("{case:<10} {count:>12} instructions  {:+.1} %", change * 100.0);
        recorded += &format!("{case} {count}\n");
        if change > TOLERANCE {
            faults.push(format!("{case} takes {count} instructions, {before} are recorded"));
        }
    }
    if record {
        return fs::write(&path, recorded).map_err(|error| format!("{}: {error}", path.display()));
    }
    if !judged {
        println!("recorded on another processor than {here}: differences are shown, and not judged");
        return Ok(());
    }
    match faults.as_slice() {
        [] => Ok(()),
        faults => Err(format!("{}\n(`cargo xtask bench --counts --record` if this is meant to be)", faults.join("\n"))),
    }
}

/// Returns the maker and model of the processor, as Linux reports them.
fn processor() -> String {
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let word = |name: &str| {
        let line = cpuinfo.lines().find(|line| line.starts_with(name))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    };
    let words = ["vendor_id", "cpu family", "model\t"].map(|name| word(name).unwrap_or_else(|| "unknown".to_owned()));
    words.join(" ")
}

/// Returns the number of instructions of a case.
fn count(program: &Path, case: &str) -> Result<u64, String> {
    let mut command = Command::new("valgrind");
    // valgrind prints its messages on standard output.
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null", "--log-fd=1"]);
    // valgrind supports this instruction set.
    command.env("ZARR_ISA", "avx2");
    // One thread, since waiting threads are counted too.
    command.env("RAYON_NUM_THREADS", "1").arg(program).arg(case);
    let said = output(&mut command)?;
    let collected = said.lines().find_map(|line| line.split_once("Collected : "));
    let number = collected.and_then(|(_, number)| number.trim().parse().ok());
    number.ok_or_else(|| format!("valgrind counted no instructions of {case}: {said}"))
}
