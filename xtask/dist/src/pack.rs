//! Archives whose bytes depend only on their files, and checksums.

use crate::command::say;
use flate2::{Compression, GzBuilder};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Name of the file with the checksums of all other files in its folder.
pub(crate) const SUMS: &str = "SHA256SUMS";

/// File in an archive.
pub(crate) struct Entry {
    pub(crate) content: Vec<u8>,
    pub(crate) is_program: bool,
}

/// Files by their paths.
pub(crate) type Files = BTreeMap<String, Entry>;

/// Adds a file that is no program.
pub(crate) fn add(files: &mut Files, path: impl Into<String>, content: impl Into<Vec<u8>>) {
    files.insert(path.into(), Entry { content: content.into(), is_program: false });
}

/// Adds the files in a folder and below it, under `path`.
pub(crate) fn add_folder(files: &mut Files, path: &str, folder: &Path) -> Result<(), String> {
    let at = |error: std::io::Error| format!("{}: {error}", folder.display());
    for entry in fs::read_dir(folder).map_err(at)? {
        let from = entry.map_err(at)?.path();
        let path = format!("{path}/{}", from.file_name().unwrap_or_default().to_string_lossy());
        if from.is_dir() {
            add_folder(files, &path, &from)?;
        } else {
            add(files, path, fs::read(&from).map_err(|error| format!("{}: {error}", from.display()))?);
        }
    }
    Ok(())
}

/// Returns a tar archive, compressed with gzip: paths in order, without owners, with one modification time.
pub(crate) fn tar_gz(files: &Files, time: u64) -> Result<Vec<u8>, String> {
    let mut archive = tar::Builder::new(Vec::new());
    for (path, Entry { content, is_program }) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        header.set_mode(if *is_program { 0o755 } else { 0o644 });
        header.set_mtime(time);
        header.set_uid(0);
        header.set_gid(0);
        archive.append_data(&mut header, path, content.as_slice()).map_err(|error| format!("{path}: {error}"))?;
    }
    let bytes = archive.into_inner().map_err(|error| format!("an archive: {error}"))?;
    gzip(&bytes)
}

/// Compresses bytes with gzip, without a name and a time.
pub(crate) fn gzip(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let mut encoder = GzBuilder::new().write(Vec::new(), Compression::best());
    let written = std::io::Write::write_all(&mut encoder, bytes).and_then(|()| encoder.finish());
    written.map_err(|error| format!("gzip: {error}"))
}

/// Writes a file into a folder, and prints its path and size.
pub(crate) fn write(folder: &Path, name: &str, bytes: &[u8]) -> Result<(), String> {
    let path = folder.join(name);
    fs::write(&path, bytes).map_err(|error| format!("{}: {error}", path.display()))?;
    say(&format!("{}: {:.1} MB", path.display(), bytes.len() as f64 / 1e6))
}

/// Writes the checksums of all files in a folder, in the format of `sha256sum --check`.
pub(crate) fn write_sums(folder: &Path) -> Result<(), String> {
    let at = |error: std::io::Error| format!("{}: {error}", folder.display());
    let mut sums = BTreeMap::new();
    for entry in fs::read_dir(folder).map_err(at)? {
        let path = entry.map_err(at)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_file() && name != SUMS {
            let bytes = fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
            sums.insert(name, sha256(&bytes));
        }
    }
    let lines: String = sums.iter().map(|(name, sum)| format!("{sum}  {name}\n")).collect();
    let path = folder.join(SUMS);
    fs::write(&path, lines).map_err(|error| format!("{}: {error}", path.display()))
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Reads the checksums of the files in a folder, by their names.
pub(crate) fn read_sums(folder: &Path) -> Result<BTreeMap<String, String>, String> {
    let path = folder.join(SUMS);
    let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let lines = text.lines().filter_map(|line| line.split_once("  "));
    Ok(lines.map(|(sum, name)| (name.to_owned(), sum.to_owned())).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn archives_depend_on_files_alone() {
        let mut files = Files::new();
        add(&mut files, "x/b", "text");
        files.insert("x/a".to_owned(), Entry { content: vec![1, 2], is_program: true });
        let bytes = tar_gz(&files, 86400).expect("an archive");
        std::thread::sleep(std::time::Duration::from_millis(1100));
        assert_eq!(tar_gz(&files, 86400).expect("an archive"), bytes);
        let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(bytes.as_slice()));
        let entries = archive.entries().expect("entries").map(|entry| entry.expect("an entry"));
        let found: Vec<_> = entries
            .map(|entry| {
                let header = entry.header();
                let path = entry.path().expect("a path").display().to_string();
                (path, header.mode().expect("a mode"), header.mtime().expect("a time"), header.uid().expect("a user"))
            })
            .collect();
        assert_eq!(found, [("x/a".to_owned(), 0o755, 86400, 0), ("x/b".to_owned(), 0o644, 86400, 0)]);
    }

    #[test]
    fn sums_are_those_of_sha256sum() {
        assert_eq!(sha256(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
}
