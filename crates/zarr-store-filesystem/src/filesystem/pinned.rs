//! Access to files below a directory that is held open, and to files around it. Renaming the directory does not matter.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use zarr_store::{Operation, Prefix, Result, Store};

use super::FilesystemStore;
use super::vfs::{Directory, Kind, Stat, Vfs};

impl FilesystemStore {
    /// Returns a store that holds the directory of a prefix open; `None` if there is no such directory, if it is the root (which is open
    /// anyway), or if the system has no such handles.
    pub(super) fn pin_directory(&self, prefix: &Prefix) -> Result<Option<Arc<dyn Store>>> {
        let path = prefix.as_str().trim_end_matches('/');
        let held = match self.vfs.hold(path) {
            Err(error) if super::is_absent(&error) => None,
            held => held.map_err(|error| self.fail(Operation::Get, path, error))?,
        };
        let pinned = |held| Pinned { around: Arc::clone(&self.vfs), path: path.to_owned(), held };
        Ok(held.map(|held| Arc::new(Self { vfs: Arc::new(pinned(held)), ..self.clone() }) as Arc<dyn Store>))
    }
}

/// Access to files with one directory held open.
#[derive(Debug)]
struct Pinned {
    around: Arc<dyn Vfs>,
    /// Path of the held directory.
    path: String,
    held: Box<dyn Vfs>,
}

impl Pinned {
    /// Calls `below` with the path relative to the held directory, or `around` for a path outside of it. Also calls `around` for a path
    /// that a symbolic link leads out of the directory; the result only counts if the directory still has its name afterwards, since links
    /// of another directory with this name would lead elsewhere.
    fn call<T>(
        &self,
        path: &str,
        below: impl FnOnce(&dyn Vfs, &str) -> io::Result<T>,
        around: impl FnOnce(&dyn Vfs) -> io::Result<T>,
    ) -> io::Result<T> {
        let Some(rest) = path.strip_prefix(&self.path) else { return around(&*self.around) };
        let rest = match rest.strip_prefix('/') {
            Some(rest) => rest,
            None if rest.is_empty() => rest,
            None => return around(&*self.around),
        };
        match below(&*self.held, rest) {
            Err(error) if error.kind() == ErrorKind::CrossesDevices => {
                let called = around(&*self.around);
                if self.is_in_place()? { called } else { Err(moved()) }
            }
            called => called,
        }
    }
}

/// Returns the error for a link out of a directory that has lost its name.
fn moved() -> io::Error {
    io::Error::new(
        ErrorKind::StaleNetworkFileHandle,
        "the directory was moved, removed or replaced, and a symbolic link leads out of it",
    )
}

#[deny(clippy::missing_trait_methods)]
impl Vfs for Pinned {
    fn open(&self, path: &str) -> io::Result<File> {
        self.call(path, |held, path| held.open(path), |vfs| vfs.open(path))
    }

    fn open_unless_absent(&self, path: &str) -> io::Result<Option<File>> {
        self.call(path, |held, path| held.open_unless_absent(path), |vfs| vfs.open_unless_absent(path))
    }

    fn stat(&self, path: &str) -> io::Result<Stat> {
        self.call(path, |held, path| held.stat(path), |vfs| vfs.stat(path))
    }

    fn read_link(&self, path: &str) -> io::Result<PathBuf> {
        if path == self.path {
            return Err(ErrorKind::InvalidInput.into());
        }
        self.call(path, |held, path| held.read_link(path), |vfs| vfs.read_link(path))
    }

    fn open_to_lock(&self, path: &str) -> io::Result<File> {
        self.call(path, |held, path| held.open_to_lock(path), |vfs| vfs.open_to_lock(path))
    }

    fn open_directory(&self, path: &str) -> io::Result<File> {
        self.call(path, |held, path| held.open_directory(path), |vfs| vfs.open_directory(path))
    }

    fn directory(&self, path: &str) -> io::Result<Directory> {
        self.call(path, |held, path| held.directory(path), |vfs| vfs.directory(path))
    }

    fn list(&self, path: &str, wanted: &dyn Fn(&str) -> bool) -> io::Result<Vec<(String, Kind)>> {
        self.call(path, |held, path| held.list(path, wanted), |vfs| vfs.list(path, wanted))
    }

    fn hold(&self, path: &str) -> io::Result<Option<Box<dyn Vfs>>> {
        if path == self.path { Ok(None) } else { self.around.hold(path) }
    }

    fn is_in_place(&self) -> io::Result<bool> {
        let named = match self.around.directory(&self.path) {
            Err(error) if super::is_absent(&error) => return Ok(false),
            named => named?,
        };
        Ok(self.around.identity(&named)? == self.around.identity(&self.held.directory("")?)?)
    }

    fn is_gone(&self) -> bool {
        self.held.is_gone()
    }

    // What is done in an open directory, or with an open file, is the same everywhere.

    fn stat_file(&self, file: &File) -> io::Result<Stat> {
        self.around.stat_file(file)
    }

    fn lock(&self, file: &File) -> io::Result<()> {
        self.around.lock(file)
    }

    fn try_lock(&self, file: &File) -> io::Result<bool> {
        self.around.try_lock(file)
    }

    fn close(&self, file: File) -> io::Result<()> {
        self.around.close(file)
    }

    fn read_at(&self, file: &File, into: &mut [u8], offset: u64) -> io::Result<usize> {
        self.around.read_at(file, into, offset)
    }

    fn read_first(&self, file: &File, into: &mut [u8], more: &mut [u8]) -> io::Result<usize> {
        self.around.read_first(file, into, more)
    }

    fn identity(&self, directory: &Directory) -> io::Result<(u64, u64)> {
        self.around.identity(directory)
    }

    fn stat_name(&self, parent: &Directory, name: &str) -> io::Result<Stat> {
        self.around.stat_name(parent, name)
    }

    fn open_name(&self, parent: &Directory, name: &str) -> io::Result<File> {
        self.around.open_name(parent, name)
    }

    fn make_directory(&self, parent: &Directory, name: &str) -> io::Result<()> {
        self.around.make_directory(parent, name)
    }

    fn make_file(&self, parent: &Directory, name: &str) -> io::Result<File> {
        self.around.make_file(parent, name)
    }

    fn make_unnamed(&self, parent: &Directory) -> io::Result<Option<File>> {
        self.around.make_unnamed(parent)
    }

    fn give_name(&self, file: &File, parent: &Directory, name: &str) -> io::Result<()> {
        self.around.give_name(file, parent, name)
    }

    fn write(&self, file: &File, bytes: &[u8]) -> io::Result<()> {
        self.around.write(file, bytes)
    }

    fn write_at(&self, file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.around.write_at(file, bytes, offset)
    }

    fn stamp(&self, file: &File, time: SystemTime) -> io::Result<()> {
        self.around.stamp(file, time)
    }

    fn sync_file(&self, file: &File) -> io::Result<()> {
        self.around.sync_file(file)
    }

    fn sync_directory(&self, directory: &Directory) -> io::Result<()> {
        self.around.sync_directory(directory)
    }

    fn sync_all(&self) -> io::Result<()> {
        self.around.sync_all()
    }

    fn rename(&self, parent: &Directory, from: &str, to: &str) -> io::Result<()> {
        self.around.rename(parent, from, to)
    }

    fn link(&self, parent: &Directory, from: &str, to: &str) -> io::Result<()> {
        self.around.link(parent, from, to)
    }

    fn rename_directory(&self, parent: &Directory, from: &str, to_parent: &Directory, to: &str) -> io::Result<()> {
        self.around.rename_directory(parent, from, to_parent, to)
    }

    fn exchange(&self, parent: &Directory, a: &str, other: &Directory, b: &str) -> io::Result<()> {
        self.around.exchange(parent, a, other, b)
    }

    fn remove_file(&self, parent: &Directory, name: &str) -> io::Result<()> {
        self.around.remove_file(parent, name)
    }

    fn remove_directory(&self, parent: &Directory, name: &str) -> io::Result<()> {
        self.around.remove_directory(parent, name)
    }

    fn remove_tree(&self, parent: &Directory, name: &str) -> io::Result<()> {
        self.around.remove_tree(parent, name)
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::super::contract::key;
    use super::*;
    use std::time::{Duration, Instant};
    use zarr_store::{Error, SetOptions, StoreExt};

    fn store(folder: &tempfile::TempDir) -> (FilesystemStore, Arc<dyn Store>) {
        let store = FilesystemStore::open(folder.path()).expect("opened");
        for name in ["a/zarr.json", "a/c/0", "b/c/0"] {
            store.set_all(&key(name), name.as_bytes()).expect("set");
        }
        let pinned = store.pin(&prefix("a/")).expect("no error").expect("pinned");
        (store, pinned)
    }

    fn prefix(text: &str) -> Prefix {
        Prefix::new(text).expect("a prefix")
    }

    fn get(store: &dyn Store, name: &str) -> Option<Vec<u8>> {
        store.get_all(&key(name)).expect("got").map(|bytes| bytes.to_vec())
    }

    #[test]
    fn a_pinned_directory_keeps_the_contract() {
        let folder = tempfile::tempdir().expect("a directory");
        std::fs::create_dir(folder.path().join("a")).expect("made");
        // Or the directory would go with the last of the keys.
        std::fs::write(folder.path().join("a/stays"), b"").expect("written");
        let store = FilesystemStore::open(folder.path()).expect("opened");
        let pinned = store.pin(&prefix("a/")).expect("no error").expect("pinned");
        zarr_store::testing::contract(&zarr_store::Prefixed::new(pinned, prefix("a/x/")));
    }

    #[test]
    fn a_pinned_directory_is_the_same_after_a_move() {
        let folder = tempfile::tempdir().expect("a directory");
        let (store, pinned) = store(&folder);
        assert!(pinned.is_in_place().expect("known") && store.is_in_place().expect("known"));
        assert!(pinned.pin(&prefix("a/")).expect("no error").is_none());
        assert!(store.rename_prefix(&prefix("a/"), &prefix("moved/")).expect("renamed"));
        assert!(!pinned.is_in_place().expect("known"));
        store.set_all(&key("a/c/0"), b"another").expect("set");
        pinned.set_all(&key("a/c/1"), b"new").expect("set");
        assert_eq!(get(&*pinned, "a/c/0").as_deref(), Some(&b"a/c/0"[..]));
        assert_eq!((get(&store, "moved/c/1").as_deref(), get(&store, "a/c/1")), (Some(&b"new"[..]), None));
        assert_eq!(pinned.list_prefix(&prefix("a/")).expect("listed"), ["a/c/0", "a/c/1", "a/zarr.json"].map(key));
        // What lies elsewhere is as ever.
        assert_eq!(get(&*pinned, "b/c/0").as_deref(), Some(&b"b/c/0"[..]));
        assert!(!pinned.is_in_place().expect("known"));
        pinned.erase(&key("a/c/1")).expect("erased");
        assert_eq!(get(&store, "moved/c/1"), None);
    }

    #[test]
    fn nothing_is_made_in_a_directory_that_is_gone() {
        let folder = tempfile::tempdir().expect("a directory");
        let (store, pinned) = store(&folder);
        store.erase_prefix(&prefix("a/")).expect("erased");
        assert_eq!(get(&*pinned, "a/c/0"), None);
        let begun = Instant::now();
        let error = pinned.set_all(&key("a/c/2"), b"new").expect_err("gone");
        assert!(matches!(&error, Error::Failed { .. }), "{error:?}");
        pinned.set(&key("a/d"), b"new", &SetOptions::default()).expect_err("gone");
        pinned.begin_set(&key("a/c/3"), 0, &SetOptions::default()).expect_err("gone");
        assert!(begun.elapsed() < Duration::from_secs(5), "it was tried again");
        assert!(!folder.path().join("a").exists() && !pinned.is_in_place().expect("known"));
    }

    #[test]
    fn links_that_lead_out_of_a_pinned_directory_are_followed() {
        let folder = tempfile::tempdir().expect("a directory");
        let (_, pinned) = store(&folder);
        std::os::unix::fs::symlink("../../b/c/0", folder.path().join("a/c/5")).expect("linked");
        assert_eq!(get(&*pinned, "a/c/5").as_deref(), Some(&b"b/c/0"[..]));
        std::os::unix::fs::symlink("/etc/hostname", folder.path().join("a/c/6")).expect("linked");
        assert!(pinned.get_all(&key("a/c/6")).expect_err("leads out").is_path());
    }

    #[test]
    fn links_of_a_directory_that_got_the_name_are_not_followed() {
        let folder = tempfile::tempdir().expect("a directory");
        let (store, pinned) = store(&folder);
        store.set_all(&key("data/of_a"), b"of a").expect("set");
        store.set_all(&key("data/of_b"), b"of b").expect("set");
        for name in ["a", "b"] {
            let link = folder.path().join(name).join("c/5");
            std::os::unix::fs::symlink(format!("../../data/of_{name}"), link).expect("linked");
        }
        assert_eq!(get(&*pinned, "a/c/5").as_deref(), Some(&b"of a"[..]));
        assert!(store.exchange_prefixes(&prefix("a/"), &prefix("b/")).expect("exchanged"));
        let error = pinned.get_all(&key("a/c/5")).expect_err("another link");
        assert!(matches!(&error, Error::Failed { .. }) && !error.is_path(), "{error:?}");
        assert_eq!(get(&*pinned, "a/c/0").as_deref(), Some(&b"a/c/0"[..]));
        // Nor is it taken for a missing key where nothing is there now.
        store.erase(&key("a/c/5")).expect("erased");
        pinned.get_all(&key("a/c/5")).expect_err("no link");
    }

    #[test]
    fn a_directory_that_cannot_be_held_is_an_error() {
        let folder = tempfile::tempdir().expect("a directory");
        let (store, _) = store(&folder);
        assert!(store.pin(&prefix("none/")).expect("no error").is_none());
        assert!(store.pin(&prefix("a/zarr.json/")).expect("no error").is_none());
        std::os::unix::fs::symlink("/etc", folder.path().join("out")).expect("linked");
        let error = store.pin(&prefix("out/")).expect_err("leads out");
        assert!(error.is_path() && error.to_string().contains("out"), "{error}");
    }
}
