//! Warnings about files that a listing leaves out since their names are no keys.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use super::FilesystemStore;

/// Greatest number of names that the user is warned of.
const MOST: usize = 8;

/// Files that were left out. The user is warned of each once.
#[derive(Debug, Default)]
pub(super) struct Unnamed(Mutex<Found>);

#[derive(Debug, Default)]
struct Found {
    /// Paths with reasons.
    due: Vec<String>,
    told: BTreeSet<String>,
}

impl Unnamed {
    /// Records a file or directory, and why its name is no key; the name may have replacement characters.
    pub(super) fn note(&self, path: String, why: &str) {
        let mut found = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if found.told.len() < MOST && found.told.insert(path.clone()) {
            found.due.push(format!("{path}: {why}"));
        }
    }

    /// Returns a warning for each file that was recorded since the last call.
    pub(super) fn take_warnings(&self, store: &FilesystemStore) -> Vec<String> {
        let due = std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner).due);
        let warning = |path| format!("{store}: {path}; it is left out");
        due.into_iter().map(warning).collect()
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use zarr_store::{Key, Store, StoreExt};

    use super::*;

    #[test]
    fn names_that_are_not_utf_8_are_told_once() {
        let folder = tempfile::tempdir().unwrap();
        let store = FilesystemStore::open(folder.path()).unwrap();
        store.set_all(&Key::new("g/zarr.json").unwrap(), b"{}").unwrap();
        for number in 0..20_u8 {
            let name = [b'b', 0xff, b'a' + number];
            std::fs::create_dir(folder.path().join("g").join(OsStr::from_bytes(&name))).unwrap();
        }
        assert_eq!(store.list().unwrap(), [Key::new("g/zarr.json").unwrap()]);
        let warnings = store.clone().take_warnings();
        assert_eq!(warnings.len(), MOST);
        assert!(warnings[0].contains(": g/b\u{fffd}") && warnings[0].contains("not UTF-8"), "{}", warnings[0]);
        store.list().unwrap();
        assert!(store.take_warnings().is_empty());
    }

    #[test]
    fn names_that_are_no_keys_are_told() {
        let folder = tempfile::tempdir().unwrap();
        let store = FilesystemStore::open(folder.path()).unwrap();
        for name in ["C:", "\\x", "a\\..\\b", "a\\b"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        assert_eq!(store.list().unwrap(), [Key::new("a\\b").unwrap()]);
        let warnings = store.take_warnings();
        let ends = [
            ": C:: the name is no key: it is absolute, as some systems read it; it is left out",
            ": \\x: the name is no key: it is absolute, as some systems read it; it is left out",
            ": a\\..\\b: the name is no key: it has a segment . or .., as some systems read it; it is left out",
        ];
        assert_eq!(warnings.len(), 3);
        for end in ends {
            assert!(warnings.iter().any(|warning| warning.ends_with(end)), "{warnings:?}");
        }
    }
}
