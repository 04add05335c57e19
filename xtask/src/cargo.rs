//! Builds, by Cargo, of the programs that tasks run.

use crate::interop::python;
use crate::tidy;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns the folder into which Cargo builds.
pub(crate) fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| tidy::root().join("target"), PathBuf::from)
}

/// Builds the package or workspace of a manifest into the folder `target`. `more` are further arguments of `cargo build`.
pub(crate) fn build(manifest: &Path, target: &Path, more: &[&str]) -> Result<(), String> {
    let mut command = command();
    command.args(["build", "--quiet", "--manifest-path"]).arg(manifest);
    command.arg("--target-dir").arg(target).args(more);
    python::output(&mut command).map(drop)
}

/// Builds the `zarr` command into the folder of this program. Returns its path.
pub(crate) fn build_command() -> Result<PathBuf, String> {
    let mut command = command();
    // The command is built together with this program and in its profile, so that common crates are built once, and this program is not
    // replaced.
    let packages = ["build", "--quiet", "--package", "xtask", "--package", "zarr-cli"];
    python::output(command.args(packages).current_dir(tidy::root()))?;
    let this = std::env::current_exe().map_err(|error| format!("the path of this program: {error}"))?;
    Ok(this.with_file_name(format!("zarr{}", std::env::consts::EXE_SUFFIX)))
}

/// Returns a command that runs Cargo as from a shell.
pub(crate) fn command() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    as_from_a_shell(&mut command);
    command
}

/// Removes the variables from a command by which the Cargo that runs this program describes its package. Otherwise build scripts that
/// depend on them (that of ring) would run again whenever Cargo is called the other way, and all crates that depend on theirs would be
/// built again.
pub(crate) fn as_from_a_shell(command: &mut Command) {
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&name);
        }
    }
}
