//! Wheels of the Python package.

use crate::command::{host, root, succeed, without_paths};
use crate::graph::{self, Product};
use crate::{sbom, third_party};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Files that maturin takes from the folder of the package: `license-files` has the first, `--sbom-include` names the second.
const LICENCES: &str = "LICENSE-THIRD-PARTY";
const SBOM: &str = "zarr-rust.cdx.json";

/// Writes the licences and the list of the software in the wheel.
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

/// Builds the wheel for this machine, as a release builds it in a container: that has an older glibc, with which more systems can use it.
pub(crate) fn build(folder: &Path) -> Result<(), String> {
    let triple = host()?;
    write_licences(std::slice::from_ref(&triple))?;
    let mut command = Command::new("maturin");
    command.args(["build", "--locked", "--profile", "dist", "--features", "full", "--sbom-include", SBOM, "--out"]);
    command.arg(folder).current_dir(root().join("python"));
    without_paths(&mut command, &triple)?;
    succeed(&mut command)
}
