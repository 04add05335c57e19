//! The Python package in `python`: built, and its tests.

use crate::interop::python::environment_with;
use std::path::{Path, PathBuf};
use std::process::Command;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// Builds the package and runs its tests, with further arguments for pytest.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    let root = Path::new(ROOT);
    let package = root.join("python");
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    let python = environment_with(&target.join("python"), &package.join("tests").join("requirements.txt"))?;
    // Beside the dependencies that the crates were built with, many of which it has in common with them.
    let mut build = Command::new("cargo");
    build.args(["build", "--locked"]).current_dir(&package);
    build.env("CARGO_TARGET_DIR", &target).env("PYO3_PYTHON", &python).env("PYO3_BUILD_EXTENSION_MODULE", "1");
    succeed(build)?;
    // Python imports a file that is replaced as a whole: another process may have the old one in use.
    let built =
        target.join("debug").join(format!("{}zarr_rust{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX));
    let (fresh, module) = (package.join("zarr_rust/_core.new"), package.join("zarr_rust/_core.abi3.so"));
    std::fs::copy(&built, &fresh).map_err(|error| format!("{}: {error}", built.display()))?;
    std::fs::rename(&fresh, &module).map_err(|error| format!("{}: {error}", module.display()))?;
    let mut tests = Command::new(&python);
    tests.args(["-m", "pytest", "-q", "-p", "no:cacheprovider"]).args(arguments).current_dir(&package);
    tests.env("PYTHONPATH", &package).env("PYTHONDONTWRITEBYTECODE", "1").env("PYTHONFAULTHANDLER", "1");
    succeed(tests)
}

fn succeed(mut command: Command) -> Result<(), String> {
    let name = command.get_program().display().to_string();
    let status = command.status().map_err(|error| format!("{name}: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{name}: {status}")) }
}
