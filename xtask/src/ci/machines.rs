//! Tests for machines with another byte order and with narrower addresses, run by an emulator or by this processor.

use super::{command, timed};
use crate::tidy;
use std::process::{Command, Stdio};

/// Machine for which tests are compiled.
struct Machine {
    target: &'static str,
    compiler: &'static str,
    /// Program that runs the compiled programs; empty if this processor runs them.
    runner: &'static str,
    /// Whether programs are linked statically, since the loader of the system is not where they search for it.
    is_static: bool,
    /// Debian packages with the compiler, the libraries of the system, and the runner.
    packages: &'static [&'static str],
}

const BIG_ENDIAN: Machine = Machine {
    target: "s390x-unknown-linux-gnu",
    compiler: "s390x-linux-gnu-gcc",
    runner: "qemu-s390x -L /usr/s390x-linux-gnu",
    is_static: false,
    packages: &["g++-s390x-linux-gnu", "libc6-dev-s390x-cross", "qemu-user"],
};

const NARROW: Machine = Machine {
    target: "i686-unknown-linux-gnu",
    compiler: "i686-linux-gnu-gcc",
    runner: if cfg!(target_arch = "x86_64") { "" } else { "qemu-i386" },
    is_static: true,
    packages: &["g++-i686-linux-gnu", "libc6-dev-i386-cross", "qemu-user"],
};

/// Crates that are left out: their tests start programs, which an emulator does not do, or they are not needed to read or write an array.
const EXCLUDED: [&str; 5] = ["xtask", "zarr-bench", "zarr-cli", "zarr-rust-python", "zarr-tests"];

/// Tests across crates that cover all codecs and data types.
const ACROSS: [&str; 2] = ["conformance::", "matrix::"];

/// Runs the tests for each machine. Returns the names of the tests with their results.
pub(super) fn checks() -> Vec<(String, Result<(), String>)> {
    let mut checks = Vec::new();
    for machine in [BIG_ENDIAN, NARROW] {
        let named = |tests: &str| format!("{tests} on {}", machine.target);
        if let Err(error) = machine.prepare() {
            checks.push((named("tests"), Err(error)));
            continue;
        }
        let across = [&["-p", "zarr-tests", "--test", "all", "--"], &ACROSS[..]].concat();
        checks.push((named("tests across crates"), machine.test(&across)));
        let below = ["-p", "zarr-tests", "--test", "crates"];
        checks.push((named("tests of crates by their public items"), machine.test(&below)));
        checks.push((named("tests of the command"), machine.test(&["-p", "zarr-cli", "--lib"])));
        let excluded: Vec<&str> = EXCLUDED.iter().flat_map(|name| ["--exclude", name]).collect();
        let crates = [&["--workspace", "--lib", "--tests", "--no-fail-fast"], &excluded[..]].concat();
        checks.push((named("tests of crates"), machine.test(&crates)));
    }
    checks
}

impl Machine {
    /// Installs the compiler and the runner of the machine, if they are missing.
    fn prepare(&self) -> Result<(), String> {
        command("rustup", &["target", "add", self.target])?;
        if self.runs_programs() {
            return Ok(());
        }
        let install = [&["install", "--yes", "--no-install-recommends"], self.packages].concat();
        let installed = command("apt-get", &["update"]).and_then(|()| command("apt-get", &install));
        if self.runs_programs() {
            return Ok(());
        }
        let error = installed.err().map_or_else(String::new, |error| format!("{error}: "));
        let packages = self.packages.join(", ");
        Err(format!("{error}not run: needs {} and a runner of its programs (Debian: {packages})", self.compiler))
    }

    /// Returns whether a C++ program, which some tests link, can be compiled and run like the tested programs.
    fn runs_programs(&self) -> bool {
        let folder = tidy::root().join("target").join(self.target);
        let linked = if self.is_static { "-static" } else { "" };
        let (compiler, runner) = (self.compiler, self.runner);
        let script = format!(
            "mkdir -p \"$0\" && echo 'int main() {{ return 0; }}' | {compiler} {linked} -x c++ - -o \"$0/runs\" && {runner} \"$0/runs\""
        );
        let mut command = Command::new("sh");
        command.arg("-c").arg(script).arg(folder).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    }

    /// Runs `cargo test` for the machine.
    fn test(&self, arguments: &[&str]) -> Result<(), String> {
        let mut command = Command::new("cargo");
        command.current_dir(tidy::root()).args(["test", "--target", self.target]).args(arguments);
        let name = self.target.replace('-', "_");
        command.env(format!("CC_{name}"), self.compiler);
        let name = format!("CARGO_TARGET_{}", name.to_uppercase());
        command.env(format!("{name}_LINKER"), self.compiler);
        if !self.runner.is_empty() {
            command.env(format!("{name}_RUNNER"), self.runner);
        }
        if self.is_static {
            command.env(format!("{name}_RUSTFLAGS"), "-C target-feature=+crt-static");
        }
        timed(&mut command)
    }
}
