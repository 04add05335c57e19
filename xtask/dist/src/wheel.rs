//! Wheels of the Python package.

use crate::command::{host, root, succeed, without_paths};
use crate::graph::{self, Product};
use crate::{sbom, third_party};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Name of the file with the licences, which `license-files` of the Python package names. The next constant is the file for
/// `--sbom-include` of maturin.
const LICENCES: &str = "LICENSE-THIRD-PARTY";
const SBOM: &str = "zarr-rust.cdx.json";

/// Writes the licences of the software in the wheel, and the list of it.
pub(crate) fn write_licences(targets: &[String]) -> Result<(), String> {
    let folder = root().join("python");
    let crates = graph::crates(Product::Wheel, targets)?;
    let texts = [(LICENCES, third_party::list(&crates, targets)?), (SBOM, sbom::document(Product::Wheel, &crates)?)];
    for (name, text) in texts {
        let path = folder.join(name);
        fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(())
}

/// Builds the wheel for this machine. A release builds it in a container with an older glibc, so that more systems can use it.
pub(crate) fn build(folder: &Path) -> Result<(), String> {
    let triple = host()?;
    write_licences(std::slice::from_ref(&triple))?;
    let mut command = Command::new("maturin");
    command.args(["build", "--locked", "--profile", "dist", "--features", "full", "--sbom-include", SBOM, "--out"]);
    command.arg(folder).current_dir(root().join("python"));
    without_paths(&mut command, &triple)?;
    succeed(&mut command)
}
