//! Python environment in which peers run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Folder of the scripts and of the lists of packages.
pub(crate) const SCRIPTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/interop");

/// Lists of packages, each with the least version of Python for it, newest first.
const REQUIREMENTS: [((u32, u32), &str); 2] = [((3, 12), "requirements-3.12.txt"), ((3, 11), "requirements-3.11.txt")];

/// Environment with all peers.
pub(crate) struct Python {
    program: PathBuf,
}

impl Python {
    /// Makes a peer write random arrays into `folder`.
    pub(super) fn write(&self, peer: &str, folder: &Path, arrays: u64, seed: u64) -> Result<(), String> {
        let (arrays, seed) = (arrays.to_string(), seed.to_string());
        self.run(&["write", peer, &folder.display().to_string(), &arrays, &seed]).map(drop)
    }

    /// Makes a peer read the arrays in `folder`. Returns its output.
    pub(super) fn read(&self, peer: &str, folder: &Path) -> Result<String, String> {
        self.run(&["read", peer, &folder.display().to_string()])
    }

    /// Reads the arrays in `folder` with zarr-python. Returns a line with the result for each array.
    pub(crate) fn matrix(&self, folder: &Path) -> Result<String, String> {
        let mut command = Command::new(&self.program);
        command.arg(format!("{SCRIPTS}/matrix.py")).arg(folder).env("PYTHONDONTWRITEBYTECODE", "1");
        output(&mut command)
    }

    /// Encodes arrays into `folder` with numcodecs, `arrays` of them for each codec.
    pub(super) fn write_codecs(&self, folder: &Path, arrays: u64, seed: u64) -> Result<(), String> {
        let mut command = Command::new(&self.program);
        command.arg(format!("{SCRIPTS}/codecs.py")).arg("write").arg(folder);
        command.args([arrays.to_string(), seed.to_string()]).env("PYTHONDONTWRITEBYTECODE", "1");
        output(&mut command).map(drop)
    }

    /// Decodes the chunks that this library encoded in `folder` with numcodecs. Returns a line for each array that differs.
    pub(super) fn read_codecs(&self, folder: &Path) -> Result<String, String> {
        let mut command = Command::new(&self.program);
        command.arg(format!("{SCRIPTS}/codecs.py")).arg("read").arg(folder).env("PYTHONDONTWRITEBYTECODE", "1");
        output(&mut command)
    }

    /// Writes `count` data sets into `folder` with xarray.
    pub(super) fn write_data_sets(&self, folder: &Path, count: u64, seed: u64) -> Result<(), String> {
        let mut command = Command::new(&self.program);
        command.arg(format!("{SCRIPTS}/meaning.py")).arg("write").arg(folder);
        command.args([count.to_string(), seed.to_string()]).env("PYTHONDONTWRITEBYTECODE", "1");
        output(&mut command).map(drop)
    }

    /// Compares the data sets in `folder` with their converted copies in xarray. Returns a line for each.
    pub(super) fn compare_data_sets(&self, folder: &Path) -> Result<String, String> {
        let mut command = Command::new(&self.program);
        command.arg(format!("{SCRIPTS}/meaning.py")).arg("compare").arg(folder).env("PYTHONDONTWRITEBYTECODE", "1");
        output(&mut command)
    }

    /// Writes data sets into `folder` with xarray, and lists the decoded values. Returns the number of data sets with each feature.
    pub(super) fn write_datasets(&self, folder: &Path, count: u64, seed: u64) -> Result<String, String> {
        let mut command = Command::new(&self.program);
        command.arg(format!("{SCRIPTS}/datasets.py")).arg(folder);
        command.args([count.to_string(), seed.to_string()]).env("PYTHONDONTWRITEBYTECODE", "1");
        output(&mut command)
    }

    /// Compares the data sets in `folder` that this library wrote with those that xarray writes. Returns a line for each.
    pub(super) fn compare_written(&self, folder: &Path) -> Result<String, String> {
        let mut command = Command::new(&self.program);
        command.arg(format!("{SCRIPTS}/written.py")).arg(folder).env("PYTHONDONTWRITEBYTECODE", "1");
        output(&mut command)
    }

    /// Reads the data sets of version 2 in `folder` that this library wrote with netCDF-C. Returns a line for each.
    pub(super) fn compare_netcdf(&self, folder: &Path) -> Result<String, String> {
        let mut command = Command::new(&self.program);
        command.arg(format!("{SCRIPTS}/netcdf.py")).arg(folder).env("PYTHONDONTWRITEBYTECODE", "1");
        output(&mut command)
    }

    /// Runs a script of `xtask/interop` with these environment variables. Returns its output.
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

    /// Returns the path of a program of the environment.
    pub(crate) fn program(&self, name: &str) -> PathBuf {
        self.program.with_file_name(name)
    }

    fn run(&self, arguments: &[&str]) -> Result<String, String> {
        let mut command = Command::new(&self.program);
        command.arg(format!("{SCRIPTS}/peer.py")).args(arguments).env("PYTHONDONTWRITEBYTECODE", "1");
        output(&mut command)
    }
}

/// Returns the environment below `directory`. Creates it if it does not exist or has other packages than listed.
pub(crate) fn environment(directory: &Path) -> Result<Python, String> {
    let (base, version) = find()?;
    let newest = REQUIREMENTS.iter().find(|(least, _)| version >= *least);
    let (_, name) = newest.ok_or_else(|| format!("Python {}.{}: 3.11 or later is needed", version.0, version.1))?;
    let program = install(directory, Path::new(SCRIPTS).join(name).as_path(), &base, version)?;
    Ok(Python { program })
}

/// Creates an environment below `directory` with the packages that a file lists. Returns the path of its Python.
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

/// Returns the path of the newest Python that can create an environment.
pub(crate) fn program() -> Result<PathBuf, String> {
    find().map(|(program, _)| program)
}

/// Returns the newest Python that can create an environment, and its version.
fn find() -> Result<(PathBuf, (u32, u32)), String> {
    let home = std::env::var_os("PYENV_ROOT").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".pyenv")));
    let versions = home.and_then(|home| fs::read_dir(home.join("versions")).ok());
    let kept = versions.into_iter().flatten().flatten().map(|entry| entry.path().join("bin").join("python"));
    let named = ["python3.13", "python3.12", "python3.11", "python3"].map(PathBuf::from);
    // Later versions are not tried, since the packages are pinned to older releases.
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

/// Runs a program and returns its output. The error has the end of its error messages.
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
