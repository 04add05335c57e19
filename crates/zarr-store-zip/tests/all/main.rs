//! Zip files that are written, beside other software and other processes.

#![allow(clippy::panic, reason = "a test that cannot go on fails")]

mod kills;
mod other_software;
mod sessions;
mod updates;

use std::path::{Path, PathBuf};

use zarr_store::Key;

fn key(text: &str) -> Key {
    Key::new(text).expect("a key")
}

/// A new directory, and the path of a zip file in it.
fn folder() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("x.zip");
    (folder, path)
}

/// The names of the files beside a zip file, and its own.
fn files(path: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(path.parent().expect("a directory")).expect("listed");
    let mut names: Vec<_> =
        entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8")).collect();
    names.sort();
    names
}
