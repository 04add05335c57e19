//! `cargo xtask dist`: builds archives, packages and wheels, by a separate program, which a release builds without the library.

use crate::{cargo, tidy};
use std::process::Command;

/// Runs the separate program `zarr-dist`.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command
        .args(["run", "--quiet", "--locked", "--package", "zarr-dist", "--"])
        .args(arguments)
        .current_dir(tidy::root());
    cargo::as_from_a_shell(&mut command);
    let status = command.status().map_err(|error| format!("cargo run --package zarr-dist: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("dist: {status}")) }
}
