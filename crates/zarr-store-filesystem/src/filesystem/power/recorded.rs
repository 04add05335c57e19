//! Model of a file system that knows which states a loss of power may leave.

use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File};
use std::hash::{Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use super::super::FilesystemStore;
use super::super::vfs::{Directory, Kind, Stat, Vfs};

/// Access to files that records writes and syncs.
#[derive(Debug)]
pub(super) struct Recorded {
    inner: Arc<dyn Vfs>,
    disk: Mutex<Disk>,
}

/// Reproducible pseudo-random numbers.
pub(super) struct Chance(pub(super) u64);

impl Chance {
    /// Returns a number less than `end`.
    pub(super) fn below(&mut self, end: usize) -> usize {
        self.0 += 1;
        let mut hasher = DefaultHasher::new();
        self.0.hash(&mut hasher);
        usize::try_from(hasher.finish() % end as u64).expect("less than a `usize`")
    }
}

/// Identifier of a file or directory, which is never reused, unlike an inode number.
type Id = usize;

const ROOT: Id = 0;

/// Record of the calls to a file system, from which the states after a loss of power follow.
#[derive(Clone, Debug, Default)]
pub(super) struct Disk {
    /// Identifiers by device and inode.
    ids: HashMap<(u64, u64), Id>,
    nodes: Vec<Node>,
    /// Number of changes of names so far.
    time: usize,
    /// Number of syncs so far.
    pub(super) syncs: usize,
    /// Copies of the record after each change and sync since they were last taken.
    pub(super) states: Vec<Disk>,
}

/// File with its current bytes and those surely on the disk, or directory with the changes of its names.
#[derive(Clone, Debug)]
enum Node {
    File { bytes: Vec<u8>, synced: Option<Vec<u8>> },
    Directory { changes: Vec<Change>, synced: usize },
}

/// Change of the file or directory that a name stands for.
#[derive(Clone, Debug)]
struct Change {
    time: usize,
    name: String,
    node: Option<Id>,
    /// Other directory of the same change: that from which the entry came, or to which it went.
    other: Option<Id>,
}

impl Disk {
    fn add(&mut self, inode: (u64, u64), node: Node) -> Id {
        self.nodes.push(node);
        self.ids.insert(inode, self.nodes.len() - 1);
        self.nodes.len() - 1
    }

    fn name(&mut self, directory: Id, name: &str, node: Option<Id>, other: Option<Id>) {
        let time = self.time;
        if let Node::Directory { changes, .. } = &mut self.nodes[directory] {
            changes.push(Change { time, name: name.to_owned(), node, other });
        }
    }

    fn record(&mut self) {
        let state = Disk { nodes: self.nodes.clone(), time: self.time, ..Disk::default() };
        self.states.push(state);
    }

    /// Returns the file or directory that currently has a name.
    fn named(&self, directory: Id, name: &str) -> Option<Id> {
        self.names(directory, |_| true).get(name).copied()
    }

    /// Returns the names in a directory after those changes for which `counts` is true.
    fn names(&self, directory: Id, counts: impl Fn(&Change) -> bool) -> BTreeMap<String, Id> {
        let mut names = BTreeMap::new();
        let Node::Directory { changes, .. } = &self.nodes[directory] else { return names };
        for change in changes.iter().filter(|change| counts(change)) {
            match change.node {
                Some(node) => drop(names.insert(change.name.clone(), node)),
                None => drop(names.remove(&change.name)),
            }
        }
        names
    }

    /// Removes all names in a directory and in the directories below.
    fn empty(&mut self, directory: Id) {
        for (name, node) in self.names(directory, |_| true) {
            self.empty(node);
            self.name(directory, &name, None, None);
        }
    }

    fn sync(&mut self, id: Id) {
        match &mut self.nodes[id] {
            Node::File { bytes, synced } => *synced = Some(bytes.clone()),
            Node::Directory { changes, synced } => *synced = changes.last().map_or(0, |change| change.time + 1),
        }
    }

    /// Creates a state that a loss of power may leave, in an empty directory: for each directory the changes up to a random time since its
    /// last sync, for each file the synced bytes, the newest bytes, or a part of them.
    pub(super) fn lose_power(&self, chance: &mut Chance, path: &Path) {
        let cuts: Vec<(usize, usize)> = self
            .nodes
            .iter()
            .map(|node| match node {
                Node::Directory { synced, .. } => {
                    (*synced, synced + chance.below(self.time.saturating_sub(*synced) + 1))
                }
                Node::File { .. } => (0, 0),
            })
            .collect();
        self.make(chance, &cuts, ROOT, path);
    }

    /// Creates one directory of such a state. `cuts` holds, for each directory, the time up to which changes are surely on the disk, and
    /// that up to which they are in this state.
    fn make(&self, chance: &mut Chance, cuts: &[(usize, usize)], directory: Id, path: &Path) {
        let counts = |change: &Change| {
            let (here, there) = (cuts[directory], cuts[change.other.unwrap_or(directory)]);
            // Of a change of two directories there is all or nothing.
            change.time < here.0.max(there.0) || change.time < here.1.min(there.1)
        };
        for (name, id) in self.names(directory, counts) {
            let path = path.join(name);
            match &self.nodes[id] {
                Node::Directory { .. } => {
                    fs::create_dir(&path).expect("made");
                    self.make(chance, cuts, id, &path);
                }
                Node::File { bytes, synced } if synced.as_ref() == Some(bytes) => {
                    fs::write(path, bytes).expect("written")
                }
                Node::File { bytes, synced } => {
                    let bytes = match chance.below(3) {
                        0 => synced.clone().unwrap_or_default(),
                        1 => bytes.clone(),
                        _ => bytes[..chance.below(bytes.len() + 1)].to_vec(),
                    };
                    fs::write(path, bytes).expect("written");
                }
            }
        }
    }
}

impl Recorded {
    pub(super) fn over(store: &FilesystemStore) -> Arc<Self> {
        let inode = store.vfs.stat("").expect("the root").inode;
        let recorded = Self { inner: Arc::clone(&store.vfs), disk: Mutex::default() };
        assert_eq!(recorded.disk().add(inode, Node::Directory { changes: Vec::new(), synced: 0 }), ROOT);
        Arc::new(recorded)
    }

    pub(super) fn disk(&self) -> MutexGuard<'_, Disk> {
        self.disk.lock().expect("sound")
    }

    fn id(&self, directory: &Directory) -> io::Result<Id> {
        let inode = match directory {
            Directory::Path(path) => Stat::of(&fs::metadata(path)?).inode,
            #[cfg(target_os = "linux")]
            Directory::Handle(handle) => Stat::of(&File::from(handle.try_clone()?).metadata()?).inode,
        };
        Ok(self.disk().ids[&inode])
    }

    fn id_of(&self, file: &File) -> io::Result<Id> {
        let inode = Stat::of(&file.metadata()?).inode;
        Ok(self.disk().ids[&inode])
    }

    fn new_file(&self, file: &File) -> io::Result<Id> {
        let inode = Stat::of(&file.metadata()?).inode;
        Ok(self.disk().add(inode, Node::File { bytes: Vec::new(), synced: None }))
    }

    /// Records a change of names once it was made.
    fn change(&self, directory: &Directory, made: io::Result<()>, note: impl FnOnce(&mut Disk, Id)) -> io::Result<()> {
        made?;
        let id = self.id(directory)?;
        let mut disk = self.disk();
        note(&mut disk, id);
        disk.time += 1;
        disk.record();
        Ok(())
    }
}

#[deny(clippy::missing_trait_methods)]
impl Vfs for Recorded {
    fn open(&self, path: &str) -> io::Result<File> {
        self.inner.open(path)
    }

    fn open_unless_absent(&self, path: &str) -> io::Result<Option<File>> {
        self.inner.open_unless_absent(path)
    }

    fn stat(&self, path: &str) -> io::Result<Stat> {
        self.inner.stat(path)
    }

    fn read_link(&self, path: &str) -> io::Result<PathBuf> {
        self.inner.read_link(path)
    }

    fn stat_file(&self, file: &File) -> io::Result<Stat> {
        self.inner.stat_file(file)
    }

    fn open_to_lock(&self, path: &str) -> io::Result<File> {
        self.inner.open_to_lock(path)
    }

    fn open_directory(&self, path: &str) -> io::Result<File> {
        self.inner.open_directory(path)
    }

    fn lock(&self, file: &File) -> io::Result<()> {
        self.inner.lock(file)
    }

    fn try_lock(&self, file: &File) -> io::Result<bool> {
        self.inner.try_lock(file)
    }

    fn close(&self, file: File) -> io::Result<()> {
        self.inner.close(file)
    }

    fn read_at(&self, file: &File, into: &mut [u8], offset: u64) -> io::Result<usize> {
        self.inner.read_at(file, into, offset)
    }

    fn read_first(&self, file: &File, into: &mut [u8], more: &mut [u8]) -> io::Result<usize> {
        self.inner.read_first(file, into, more)
    }

    fn directory(&self, path: &str) -> io::Result<Directory> {
        self.inner.directory(path)
    }

    fn identity(&self, directory: &Directory) -> io::Result<(u64, u64)> {
        self.inner.identity(directory)
    }

    fn hold(&self, path: &str) -> io::Result<Option<Box<dyn Vfs>>> {
        self.inner.hold(path)
    }

    fn is_in_place(&self) -> io::Result<bool> {
        self.inner.is_in_place()
    }

    fn is_gone(&self) -> bool {
        self.inner.is_gone()
    }

    fn stat_name(&self, parent: &Directory, name: &str) -> io::Result<Stat> {
        self.inner.stat_name(parent, name)
    }

    fn open_name(&self, parent: &Directory, name: &str) -> io::Result<File> {
        self.inner.open_name(parent, name)
    }

    fn make_directory(&self, parent: &Directory, name: &str) -> io::Result<()> {
        let made = self.inner.make_directory(parent, name);
        let inode = match &made {
            Ok(()) => self.inner.stat_name(parent, name)?.inode,
            Err(_) => (0, 0),
        };
        self.change(parent, made, |disk, id| {
            let new = disk.add(inode, Node::Directory { changes: Vec::new(), synced: 0 });
            disk.name(id, name, Some(new), None);
        })
    }

    fn make_file(&self, parent: &Directory, name: &str) -> io::Result<File> {
        let file = self.inner.make_file(parent, name)?;
        let new = self.new_file(&file)?;
        self.change(parent, Ok(()), |disk, id| disk.name(id, name, Some(new), None))?;
        Ok(file)
    }

    fn make_unnamed(&self, parent: &Directory) -> io::Result<Option<File>> {
        let file = self.inner.make_unnamed(parent)?;
        file.as_ref().map(|file| self.new_file(file)).transpose()?;
        Ok(file)
    }

    fn give_name(&self, file: &File, parent: &Directory, name: &str) -> io::Result<()> {
        let named = self.id_of(file)?;
        self.change(parent, self.inner.give_name(file, parent, name), |disk, id| disk.name(id, name, Some(named), None))
    }

    fn write(&self, file: &File, written: &[u8]) -> io::Result<()> {
        self.inner.write(file, written)?;
        let id = self.id_of(file)?;
        if let Node::File { bytes, .. } = &mut self.disk().nodes[id] {
            bytes.extend_from_slice(written);
        }
        Ok(())
    }

    fn write_at(&self, file: &File, written: &[u8], offset: u64) -> io::Result<()> {
        self.inner.write_at(file, written, offset)?;
        let id = self.id_of(file)?;
        let start = usize::try_from(offset).expect("small");
        if let Node::File { bytes, .. } = &mut self.disk().nodes[id] {
            let end = start + written.len();
            bytes.resize(bytes.len().max(end), 0);
            bytes[start..end].copy_from_slice(written);
        }
        Ok(())
    }

    fn stamp(&self, file: &File, time: std::time::SystemTime) -> io::Result<()> {
        self.inner.stamp(file, time)
    }

    // Syncs are only noted: the model has no power to lose.
    fn sync_file(&self, file: &File) -> io::Result<()> {
        let id = self.id_of(file)?;
        let mut disk = self.disk();
        disk.sync(id);
        disk.syncs += 1;
        disk.record();
        Ok(())
    }

    fn sync_directory(&self, directory: &Directory) -> io::Result<()> {
        let id = self.id(directory)?;
        let mut disk = self.disk();
        disk.sync(id);
        disk.syncs += 1;
        disk.record();
        Ok(())
    }

    fn sync_all(&self) -> io::Result<()> {
        let mut disk = self.disk();
        (0..disk.nodes.len()).for_each(|id| disk.sync(id));
        disk.syncs += 1;
        disk.record();
        Ok(())
    }

    fn rename(&self, parent: &Directory, from: &str, to: &str) -> io::Result<()> {
        self.change(parent, self.inner.rename(parent, from, to), |disk, id| {
            let node = disk.named(id, from);
            disk.name(id, to, node, None);
            disk.name(id, from, None, None);
        })
    }

    fn link(&self, parent: &Directory, from: &str, to: &str) -> io::Result<()> {
        self.change(parent, self.inner.link(parent, from, to), |disk, id| {
            let node = disk.named(id, from);
            disk.name(id, to, node, None);
        })
    }

    fn rename_directory(&self, parent: &Directory, from: &str, to_parent: &Directory, to: &str) -> io::Result<()> {
        let there = self.id(to_parent)?;
        self.change(parent, self.inner.rename_directory(parent, from, to_parent, to), |disk, id| {
            let node = disk.named(id, from);
            disk.name(there, to, node, Some(id));
            disk.name(id, from, None, Some(there));
        })
    }

    fn exchange(&self, parent: &Directory, a: &str, other: &Directory, b: &str) -> io::Result<()> {
        let there = self.id(other)?;
        self.change(parent, self.inner.exchange(parent, a, other, b), |disk, id| {
            let nodes = (disk.named(id, a), disk.named(there, b));
            disk.name(id, a, nodes.1, Some(there));
            disk.name(there, b, nodes.0, Some(id));
        })
    }

    fn remove_file(&self, parent: &Directory, name: &str) -> io::Result<()> {
        self.change(parent, self.inner.remove_file(parent, name), |disk, id| disk.name(id, name, None, None))
    }

    fn remove_directory(&self, parent: &Directory, name: &str) -> io::Result<()> {
        self.change(parent, self.inner.remove_directory(parent, name), |disk, id| disk.name(id, name, None, None))
    }

    fn remove_tree(&self, parent: &Directory, name: &str) -> io::Result<()> {
        self.change(parent, self.inner.remove_tree(parent, name), |disk, id| {
            if let Some(node) = disk.named(id, name) {
                disk.empty(node);
            }
            disk.name(id, name, None, None);
        })
    }

    fn list(&self, path: &str, wanted: &dyn Fn(&str) -> bool) -> io::Result<Vec<(String, Kind)>> {
        self.inner.list(path, wanted)
    }
}
