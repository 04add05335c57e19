//! Archives of fixtures, unpacked for tests.

use crate::Fault;
use crate::expected::Expected;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// Archives in `tests/fixtures`: each has stores of a dialect, or stores of a dialect that must be refused (`bad-none`: of no dialect).
pub const ARCHIVES: [&str; 21] = [
    "v2",
    "v3-2023",
    "v3",
    "nczarr",
    "xarray-v2",
    "xarray-v3",
    "bad-v2",
    "bad-v3",
    "bad-none",
    "v3-protocol-2019",
    "v3-draft-2022",
    "bad-v3-draft-2022",
    "v0",
    "v1",
    "v3-zarrita",
    "v3-gdal",
    "v3-zarr-python-2",
    "bad-v0",
    "bad-v1",
    "bad-v3-zarrita",
    "bad-v3-zarr-python-2",
];

/// Store that other software wrote, and the result that a reader must have.
#[derive(Clone, Debug)]
pub struct Case {
    /// Archive of the case.
    pub archive: &'static str,
    /// Name of the case in the archive.
    pub name: String,
    /// Folder into which the case was unpacked.
    pub folder: PathBuf,
    /// Expected content of the store.
    pub expected: Expected,
}

impl Case {
    /// Returns the address of the store.
    pub fn url(&self) -> String {
        match &self.expected.file {
            Some((scheme, name)) => format!("{scheme}{}", self.folder.join(name).display()),
            None => self.folder.join("store").display().to_string(),
        }
    }

    /// Returns the content of a file of the case.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn file(&self, name: &str) -> Result<Vec<u8>, Fault> {
        let path = self.folder.join(name);
        fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))
    }
}

/// Returns the cases of an archive, sorted by name.
///
/// # Errors
/// If the archive cannot be unpacked, or a case is not as `README.md` in the folder of fixtures says.
pub fn cases(archive: &'static str) -> Result<Vec<Case>, Fault> {
    let unpacked = unpack(archive)?;
    let mut cases = Vec::new();
    for entry in fs::read_dir(&unpacked).map_err(|error| format!("{}: {error}", unpacked.display()))? {
        let folder = entry.map_err(|error| error.to_string())?.path();
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let path = folder.join("expected.json");
        let text = fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let expected = Expected::parse(&text).map_err(|error| format!("{}: {error}", path.display()))?;
        cases.push(Case { archive, name, folder, expected });
    }
    cases.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(cases)
}

/// Unpacks an archive. Returns its folder, whose name depends on the content of the archive, so that a changed archive is unpacked again.
/// The folder is created by a rename, so that several tests may unpack at the same time.
fn unpack(archive: &str) -> Result<PathBuf, Fault> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(format!("{archive}.tar.gz"));
    let in_archive = |error: std::io::Error| format!("{}: {error}", path.display());
    let mut packed = Vec::new();
    File::open(&path).and_then(|mut file| file.read_to_end(&mut packed)).map_err(in_archive)?;
    let folder = target().join("fixtures");
    let unpacked = folder.join(format!("{archive}-{:016x}", digest(&packed)));
    if unpacked.is_dir() {
        return Ok(unpacked);
    }
    static TRIES: AtomicU32 = AtomicU32::new(0);
    let number = TRIES.fetch_add(1, Ordering::Relaxed);
    let fresh = folder.join(format!("{archive}-{}-{number}.partial", std::process::id()));
    fs::create_dir_all(&fresh).map_err(|error| format!("{}: {error}", fresh.display()))?;
    tar::Archive::new(flate2::read::GzDecoder::new(&*packed)).unpack(&fresh).map_err(in_archive)?;
    if fs::rename(&fresh, &unpacked).is_err() {
        // Another test was faster, or else the next read reports the fault.
        fs::remove_dir_all(&fresh).map_err(|error| format!("{}: {error}", fresh.display()))?;
    }
    Ok(unpacked)
}

fn target() -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(folder) => PathBuf::from(folder),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../target"),
    }
}

/// Returns the FNV-1a hash of 64 bits.
fn digest(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}
