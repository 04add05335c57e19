//! Programs that tasks run, built by Cargo when they are needed.

use crate::interop::python;
use std::path::Path;
use std::process::Command;

/// Builds the package or workspace of a manifest into the folder `target`.
pub(crate) fn build(manifest: &Path, target: &Path, more: &[&str]) -> Result<(), String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["build", "--quiet", "--manifest-path"]).arg(manifest);
    command.arg("--target-dir").arg(target).args(more);
    python::output(&mut command).map(drop)
}
