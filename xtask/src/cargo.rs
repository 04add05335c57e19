//! Programs that tasks run, built by Cargo when they are needed.

use crate::interop::python;
use crate::tidy;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder that Cargo builds into.
pub(crate) fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| tidy::root().join("target"), PathBuf::from)
}

/// Builds the package or workspace of a manifest into the folder `target`.
pub(crate) fn build(manifest: &Path, target: &Path, more: &[&str]) -> Result<(), String> {
    let mut command = command();
    command.args(["build", "--quiet", "--manifest-path"]).arg(manifest);
    command.arg("--target-dir").arg(target).args(more);
    python::output(&mut command).map(drop)
}

/// Builds the `zarr` command beside this program; returns its path.
pub(crate) fn build_command() -> Result<PathBuf, String> {
    let mut command = command();
    // Together with this program and in its profile, so that the crates that both have are built once, and this program is not replaced.
    let packages = ["build", "--quiet", "--package", "xtask", "--package", "zarr-cli"];
    python::output(command.args(packages).current_dir(tidy::root()))?;
    let this = std::env::current_exe().map_err(|error| format!("the path of this program: {error}"))?;
    Ok(this.with_file_name(format!("zarr{}", std::env::consts::EXE_SUFFIX)))
}

/// Cargo, as from a shell.
pub(crate) fn command() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    as_from_a_shell(&mut command);
    command
}

/// Takes the variables from a command by which the Cargo that runs this program describes its package. Build scripts that depend on these
/// (that of ring) would else run again, and all that depends on their crates would be built again, at each change between both.
pub(crate) fn as_from_a_shell(command: &mut Command) {
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&name);
        }
    }
}
