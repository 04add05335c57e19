//! Programs that are measured.

use super::goals::{is_of_datasets, is_of_type};
use crate::cargo;
use crate::interop::python;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Name of the program of this library.
pub(super) const OURS: &str = "ours";

/// Name of the program that does only the work that any library must do.
pub(super) const FLOOR: &str = "floor";

/// Name of the program of another state of this library.
pub(super) const FORMER: &str = "former";

/// Peer with which data sets are compared.
const XARRAY: &str = "xarray";

/// Peers, in the order in which they take turns.
pub(super) const PEERS: [&str; 5] = ["zarrs", "tensorstore", "zarr-python", "zarr-python+zarrs", "xarray"];

/// Cases that take a peer a long time, so that it runs them once, without a repetition to warm up.
const SLOW: [(&str, &[&str]); 4] = [
    ("zarrs", &["JT"]),
    ("tensorstore", &["I", "IS", "R"]),
    ("zarr-python", &["C", "G", "I", "IS", "KS", "OR", "R", "S"]),
    ("zarr-python+zarrs", &["I", "JT", "OR", "R"]),
];

/// Data types that a peer does not support, by the cases that test them.
const LACKS: [(&str, &[&str]); 4] = [
    ("zarrs", &["struct"]),
    ("tensorstore", &["datetime", "fixed_text", "struct", "bool_packed", "uint4", "text", "bytes", "vcf", "anndata"]),
    ("zarr-python", &["bool_packed", "uint4"]),
    ("zarr-python+zarrs", &["bool_packed", "uint4"]),
];

/// Program, with the arguments before those of the protocol.
#[derive(Clone, Debug)]
pub(super) struct Program {
    pub(super) name: &'static str,
    pub(super) command: Vec<PathBuf>,
}

impl Program {
    /// Returns the program of another state of this library.
    pub(super) fn former(program: PathBuf) -> Self {
        Self { name: FORMER, command: vec![program] }
    }

    pub(super) fn command(&self) -> Command {
        let mut command = Command::new(self.command.first().map_or(Path::new(""), PathBuf::as_path));
        command.args(self.command.iter().skip(1));
        command
    }

    /// Returns whether the program cannot read the case at all.
    pub(super) fn lacks(&self, case: &str) -> bool {
        // xarray alone has data sets, and is measured with nothing else.
        let is_ours = [OURS, FORMER].contains(&self.name);
        if !is_ours && is_of_datasets(case) != (self.name == XARRAY) {
            return true;
        }
        let lacks = LACKS.iter().any(|(name, cases)| *name == self.name && cases.contains(&case));
        lacks || (self.name == FLOOR && is_of_type(case))
    }

    pub(super) fn is_slow(&self, case: &str) -> bool {
        SLOW.iter().any(|(name, cases)| *name == self.name && cases.contains(&case))
    }
}

/// Builds the program of this library, and the one that does only the necessary work.
pub(super) fn ours(root: &Path) -> Result<[Program; 2], String> {
    let target = root.join("target");
    cargo::build(&root.join("Cargo.toml"), &target, &["--release", "--package", "zarr-bench"])?;
    let program = |name, file| Program { name, command: vec![target.join("release").join(file)] };
    Ok([program(OURS, "zarr-bench"), program(FLOOR, "zarr-bench-floor")])
}

/// Builds or installs a peer below `folder`.
pub(super) fn peer(root: &Path, folder: &Path, name: &'static str) -> Result<Program, String> {
    let sources = root.join("benches").join("peers");
    if name == "zarrs" {
        let target = folder.join("zarrs");
        cargo::build(&sources.join("zarrs").join("Cargo.toml"), &target, &["--release"])?;
        return Ok(Program { name, command: vec![target.join("release").join("zarr-bench-peer-zarrs")] });
    }
    let scripts = sources.join("python");
    let python = python::environment_with(folder, &scripts.join("requirements.txt"))?;
    Ok(Program { name, command: vec![python, scripts.join("peer.py"), name.into()] })
}
