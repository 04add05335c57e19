//! Build and tests of the Python package in `python`.

use crate::cargo::{self, as_from_a_shell};
use crate::interop::python::{environment_with, output};
use std::path::{Path, PathBuf};
use std::process::Command;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
/// Path of the compiled module within the package, which git ignores.
const MODULE: &str = "zarr_rust/_core.abi3.so";

/// Variable that asks for a package with Parquet, whose crates take long to build; tests then fail without it.
pub(crate) const WITH_PARQUET: &str = "ZARR_WITH_PARQUET";

/// Builds the package, installs its wheel like users do, runs its tests, with further arguments for pytest, and checks its types.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    let package = Path::new(ROOT).join("python");
    let target = cargo::target();
    let (python, wheel) = built(&package, &target)?;
    let mut tests = Command::new(&python);
    tests.args(["-m", "pytest", "-q", "-p", "no:cacheprovider"]).args(arguments).current_dir(&package);
    tests.env("PYTHONPATH", &package).env("PYTHONDONTWRITEBYTECODE", "1").env("PYTHONFAULTHANDLER", "1");
    succeed(&mut tests)?;
    check_types(&package, &python)?;
    install(&target, &python, &wheel)
}

/// Returns the folder of the packages that the tests import, including the one in `python`. Builds that package if it was never built.
pub(crate) fn packages(target: &Path) -> Result<PathBuf, String> {
    let package = Path::new(ROOT).join("python");
    let python = match package.join(MODULE).exists() {
        true => environment(&package, target)?,
        false => {
            println!("building the Python package, as cargo xtask python does");
            built(&package, target)?.0
        }
    };
    let script = "import sysconfig; print(sysconfig.get_path('purelib'))";
    output(Command::new(&python).args(["-c", script])).map(|path| PathBuf::from(path.trim()))
}

fn environment(package: &Path, target: &Path) -> Result<PathBuf, String> {
    environment_with(&target.join("python"), &package.join("tests").join("requirements.txt"))
}

/// Builds the wheel, and copies its module into `python`. Returns the Python that was used, and the wheel.
fn built(package: &Path, target: &Path) -> Result<(PathBuf, PathBuf), String> {
    let python = environment(package, target)?;
    let wheel = build(package, target, &python)?;
    // The module is replaced by a rename, since another process may use the old one.
    let (fresh, module) = (package.join("zarr_rust/_core.new"), package.join(MODULE));
    let mut unpack = Command::new(&python);
    let script = "import shutil, sys, zipfile; wheel = zipfile.ZipFile(sys.argv[1]); \
        names = [name for name in wheel.namelist() if name.startswith('zarr_rust/_core.') and name.endswith(('.so', '.pyd'))]; \
        shutil.copyfileobj(wheel.open(names[0]), open(sys.argv[2], 'wb'))";
    unpack.args(["-c", script]).args([&wheel, &fresh]);
    succeed(&mut unpack)?;
    std::fs::rename(&fresh, &module).map_err(|error| format!("{}: {error}", module.display()))?;
    Ok((python, wheel))
}

/// Builds the wheel, and reuses the crates that `cargo test --workspace` built. Where [`WITH_PARQUET`] is set, its command has Parquet.
fn build(package: &Path, target: &Path, python: &Path) -> Result<PathBuf, String> {
    let wheels = target.join("python").join("wheels");
    // A wheel of another version would be installed instead.
    let _ = std::fs::remove_dir_all(&wheels);
    let mut build = Command::new(python);
    let features = if std::env::var_os(WITH_PARQUET).is_some() { "tested,parquet" } else { "tested" };
    build.args(["-m", "maturin", "build", "--quiet", "--profile", "dev", "--features", features, "--locked"]);
    build.args(["--compatibility", "linux", "--interpreter"]).arg(python).arg("--out").arg(&wheels);
    build.current_dir(package).env("CARGO_TARGET_DIR", target).env("PYO3_PYTHON", python);
    as_from_a_shell(&mut build);
    succeed(&mut build)?;
    let in_folder = |error: std::io::Error| format!("{}: {error}", wheels.display());
    let mut built = std::fs::read_dir(&wheels).map_err(in_folder)?;
    let wheel = built.next().ok_or_else(|| format!("{}: no wheel", wheels.display()))?;
    Ok(wheel.map_err(in_folder)?.path())
}

/// Checks the types of the package like type checkers of its users. npm installs the checker.
fn check_types(package: &Path, python: &Path) -> Result<(), String> {
    if !Command::new("npm").arg("--version").output().is_ok_and(|done| done.status.success()) {
        println!("npm is not installed: types are not checked");
        return Ok(());
    }
    let mut check = Command::new(python);
    check.args(["-m", "pyright", "--pythonpath"]).arg(python).arg("zarr_rust").current_dir(package);
    // The checker would print messages about newer versions.
    succeed(check.env("PYRIGHT_PYTHON_IGNORE_WARNINGS", "1"))
}

/// Installs the wheel in an environment with only numpy besides, and uses it there.
fn install(target: &Path, python: &Path, wheel: &Path) -> Result<(), String> {
    let numpy = target.join("python").join("numpy");
    if !std::fs::read_dir(&numpy).is_ok_and(|mut files| files.next().is_some()) {
        let mut download = Command::new(python);
        download.args(["-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--only-binary", ":all:"]);
        succeed(download.arg("--dest").arg(&numpy).arg("numpy"))?;
    }
    let fresh = target.join("python").join("installed");
    succeed(Command::new(python).args(["-m", "venv", "--clear"]).arg(&fresh))?;
    let program = fresh.join("bin").join("python");
    let mut installer = Command::new(&program);
    installer.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index", "--find-links"]);
    succeed(installer.arg(&numpy).arg(wheel))?;
    let mut check = Command::new(&program);
    check.arg("-I").arg(Path::new(ROOT).join("xtask/python/installed.py")).env("PYTHONDONTWRITEBYTECODE", "1");
    succeed(&mut check)
}

/// Runs a program, whose output is passed through. A failure is an error.
pub(crate) fn succeed(command: &mut Command) -> Result<(), String> {
    let name = command.get_program().display().to_string();
    let status = command.status().map_err(|error| format!("{name}: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{name}: {status}")) }
}
