//! The Python that peers run in.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Where the scripts and the lists of packages are.
pub(crate) const SCRIPTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/interop");

/// The lists of packages, by the least version of Python that they are for, newest first.
const REQUIREMENTS: [((u32, u32), &str); 2] = [((3, 12), "requirements-3.12.txt"), ((3, 11), "requirements-3.11.txt")];

/// An environment with all peers in it.
pub(crate) struct Python {
    program: PathBuf,
}

impl Python {
    /// Has a peer write arrays into `folder`.
    pub(super) fn write(&self, peer: &str, folder: &Path, arrays: u64, seed: u64) -> Result<(), String> {
        let (arrays, seed) = (arrays.to_string(), seed.to_string());
        self.run(&["write", peer, &folder.display().to_string(), &arrays, &seed]).map(drop)
    }

    /// Has a peer read the arrays in `folder`; returns its output.
    pub(super) fn read(&self, peer: &str, folder: &Path) -> Result<String, String> {
        self.run(&["read", peer, &folder.display().to_string()])
    }

    /// Has zarr-python read the arrays in `folder`; returns a line with the result for each.
    pub(crate) fn matrix(&self, folder: &Path) -> Result<String, String> {
        let mut command = Command::new(&self.program);
        command.arg(format!("{SCRIPTS}/matrix.py")).arg(folder).env("PYTHONDONTWRITEBYTECODE", "1");
        output(&mut command)
    }

    /// Has numcodecs encode arrays into `folder`, `arrays` of them for each codec.
    pub(super) fn write_codecs(&self, folder: &Path, arrays: u64, seed: u64) -> Result<(), String> {
        let mut command = Command::new(&self.program);
        command.arg(format!("{SCRIPTS}/codecs.py")).arg("write").arg(folder);
        command.args([arrays.to_string(), seed.to_string()]).env("PYTHONDONTWRITEBYTECODE", "1");
        output(&mut command).map(drop)
    }

    /// Has numcodecs decode the chunks that ours encoded in `folder`; returns a line for each array that differs.
    pub(super) fn read_codecs(&self, folder: &Path) -> Result<String, String> {
        let mut command = Command::new(&self.program);
        command.arg(format!("{SCRIPTS}/codecs.py")).arg("read").arg(folder).env("PYTHONDONTWRITEBYTECODE", "1");
        output(&mut command)
    }

    /// Has xarray write `count` data sets into `folder`.
    pub(super) fn write_data_sets(&self, folder: &Path, count: u64, seed: u64) -> Result<(), String> {
        let mut command = Command::new(&self.program);
        command.arg(format!("{SCRIPTS}/meaning.py")).arg("write").arg(folder);
        command.args([count.to_string(), seed.to_string()]).env("PYTHONDONTWRITEBYTECODE", "1");
        output(&mut command).map(drop)
    }

    /// Has xarray compare the data sets in `folder` with the ones that they were converted to; returns a line for each.
    pub(super) fn compare_data_sets(&self, folder: &Path) -> Result<String, String> {
        let mut command = Command::new(&self.program);
        command.arg(format!("{SCRIPTS}/meaning.py")).arg("compare").arg(folder).env("PYTHONDONTWRITEBYTECODE", "1");
        output(&mut command)
    }

    /// Has xarray write data sets into `folder`, and list the decoded values; returns how often each kind of thing was written.
    pub(super) fn write_datasets(&self, folder: &Path, count: u64, seed: u64) -> Result<String, String> {
        let mut command = Command::new(&self.program);
        command.arg(format!("{SCRIPTS}/datasets.py")).arg(folder);
        command.args([count.to_string(), seed.to_string()]).env("PYTHONDONTWRITEBYTECODE", "1");
        output(&mut command)
    }

    /// Has xarray compare the data sets in `folder` that ours wrote with the ones that it writes; returns a line for each.
    pub(super) fn compare_written(&self, folder: &Path) -> Result<String, String> {
        let mut command = Command::new(&self.program);
        command.arg(format!("{SCRIPTS}/written.py")).arg(folder).env("PYTHONDONTWRITEBYTECODE", "1");
        output(&mut command)
    }

    /// Has netCDF-C read the data sets of version 2 in `folder` that ours wrote; returns a line for each.
    pub(super) fn compare_netcdf(&self, folder: &Path) -> Result<String, String> {
        let mut command = Command::new(&self.program);
        command.arg(format!("{SCRIPTS}/netcdf.py")).arg(folder).env("PYTHONDONTWRITEBYTECODE", "1");
        output(&mut command)
    }

    /// Runs a script of `xtask/interop` with variables in its environment; returns its output.
    pub(crate) fn script(
        &self,
        script: &str,
        arguments: &[&str],
        variables: &[(&str, String)],
    ) -> Result<String, String> {
        let mut command = Command::new(&self.program);
        command.arg(format!("{SCRIPTS}/{script}")).args(arguments).env("PYTHONDONTWRITEBYTECODE", "1");
        // Modules of C and Rust may end the process by a signal: then it says where.
        command.env("PYTHONFAULTHANDLER", "1").envs(variables.iter().map(|(name, value)| (name, value)));
        output(&mut command)
    }

    /// A program of the environment.
    pub(crate) fn program(&self, name: &str) -> PathBuf {
        self.program.with_file_name(name)
    }

    fn run(&self, arguments: &[&str]) -> Result<String, String> {
        let mut command = Command::new(&self.program);
        command.arg(format!("{SCRIPTS}/peer.py")).args(arguments).env("PYTHONDONTWRITEBYTECODE", "1");
        output(&mut command)
    }
}

/// The environment below `directory`, made if it is not there or has other packages than it should.
pub(crate) fn environment(directory: &Path) -> Result<Python, String> {
    let (base, version) = find()?;
    let newest = REQUIREMENTS.iter().find(|(least, _)| version >= *least);
    let (_, name) = newest.ok_or_else(|| format!("Python {}.{}: 3.11 or later is needed", version.0, version.1))?;
    let program = install(directory, Path::new(SCRIPTS).join(name).as_path(), &base, version)?;
    Ok(Python { program })
}

/// An environment below `directory` with the packages that a file lists; the program in it.
pub(crate) fn environment_with(directory: &Path, requirements: &Path) -> Result<PathBuf, String> {
    let (base, version) = find()?;
    install(directory, requirements, &base, version)
}

fn install(directory: &Path, requirements: &Path, base: &Path, version: (u32, u32)) -> Result<PathBuf, String> {
    let in_list = |error: std::io::Error| format!("{}: {error}", requirements.display());
    let list = fs::read_to_string(requirements).map_err(in_list)?;
    let installed = format!("# {} {}.{}\n{list}", base.display(), version.0, version.1);
    let folder = directory.join("environment");
    let stamp = folder.join("installed.txt");
    let program = folder.join("bin").join("python");
    if !fs::read_to_string(&stamp).is_ok_and(|text| text == installed) {
        println!("installing {} with Python {}.{}", requirements.display(), version.0, version.1);
        output(Command::new(base).args(["-m", "venv", "--clear"]).arg(&folder))?;
        let options = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement"];
        output(Command::new(&program).args(options).arg(requirements))?;
        fs::write(&stamp, installed).map_err(|error| format!("{}: {error}", stamp.display()))?;
    }
    Ok(program)
}

/// The newest Python that can make an environment.
pub(crate) fn program() -> Result<PathBuf, String> {
    find().map(|(program, _)| program)
}

/// The newest Python that can make an environment, and its version.
fn find() -> Result<(PathBuf, (u32, u32)), String> {
    let home = std::env::var_os("PYENV_ROOT").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".pyenv")));
    let versions = home.and_then(|home| fs::read_dir(home.join("versions")).ok());
    let kept = versions.into_iter().flatten().flatten().map(|entry| entry.path().join("bin").join("python"));
    let named = ["python3.13", "python3.12", "python3.11", "python3"].map(PathBuf::from);
    // Later ones are not tried: the packages are pinned to versions that were made before.
    let usable = |program: &PathBuf| version(program).filter(|&version| version < (3, 14));
    let found = named.into_iter().chain(kept).filter_map(|program| usable(&program).map(|version| (program, version)));
    // The first of equally new ones, which is one in the path of programs.
    found
        .reduce(|best, next| if next.1 > best.1 { next } else { best })
        .ok_or_else(|| "no Python from 3.11 to 3.13 that has the modules venv and ensurepip".to_owned())
}

fn version(program: &Path) -> Option<(u32, u32)> {
    let script = "import ensurepip, sys, venv; print(*sys.version_info[:2])";
    let text = output(Command::new(program).args(["-c", script])).ok()?;
    let (major, minor) = text.trim().split_once(' ')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// The output of a program; the end of its error messages if it fails.
pub(crate) fn output(command: &mut Command) -> Result<String, String> {
    let name = command.get_program().display().to_string();
    let output = command.stdin(Stdio::null()).output().map_err(|error| format!("{name}: {error}"))?;
    if !output.status.success() {
        let complaints = String::from_utf8_lossy(&output.stderr);
        let lines: Vec<&str> = complaints.lines().collect();
        let end = lines.get(lines.len().saturating_sub(12)..).unwrap_or_default().join("\n");
        return Err(format!("{name}: {}\n{end}", output.status));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
