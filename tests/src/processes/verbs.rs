//! Operations that change a hierarchy in several steps, the states that readers may see after an interruption, and the final states.

use super::Result;
use super::array_state::{ArrayState, COLUMNS, element};
use std::path::Path;
use std::sync::Arc;
use zarr::codec::View;
use zarr::convert::{Conversion, ConvertOptions, Migration, MigrationState};
use zarr::store::{Bytes, FilesystemStore, Key, MemoryStore, Prefix, StoreExt};
use zarr::{Dialect, ErrorKind, Group, NewArray, NewGroup, Store};
use zarr_json::Map;

/// Number of rows of a chunk or shard.
const CHUNK_ROWS: u64 = 6;

/// Number of rows that are appended, or by which an array grows or shrinks: more than a chunk, and no multiple of it.
const MORE_ROWS: u64 = CHUNK_ROWS + 2;

/// Operation that changes a hierarchy in several steps, named after the verb of the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verb {
    /// `rm` of an array.
    Remove,
    /// `rm` of a group of two arrays.
    RemoveGroup,
    /// `create --overwrite` of an array.
    Overwrite,
    /// `mv` of a group of two arrays.
    Move,
    /// `mv --overwrite` of a group of two arrays onto a group of two other arrays.
    MoveOver,
    /// Appending rows while chunks beyond the shape are stored.
    Append,
    /// Resizing to fewer rows.
    Shrink,
    /// Resizing to more rows while chunks beyond the shape are stored.
    Grow,
    /// `attrs --set`.
    Attributes,
    /// `convert` of a group of two arrays into other chunks in another store.
    Convert,
    /// `convert --resume` of a group of two arrays, in small slabs.
    Resume,
    /// `migrate` into another dialect.
    Migrate,
    /// `migrate --finish`.
    Finish,
    /// `migrate --undo`.
    Undo,
}

pub(super) const VERBS: [(&str, Verb); 14] = [
    ("remove", Verb::Remove),
    ("remove_group", Verb::RemoveGroup),
    ("overwrite", Verb::Overwrite),
    ("move", Verb::Move),
    ("move_over", Verb::MoveOver),
    ("append", Verb::Append),
    ("shrink", Verb::Shrink),
    ("grow", Verb::Grow),
    ("attributes", Verb::Attributes),
    ("convert", Verb::Convert),
    ("resume", Verb::Resume),
    ("migrate", Verb::Migrate),
    ("finish", Verb::Finish),
    ("undo", Verb::Undo),
];

impl Verb {
    /// Returns whether all changes of the verb are on the disk when it returns.
    pub(super) fn ends_with_a_flush(self) -> bool {
        matches!(
            self,
            Self::Move | Self::MoveOver | Self::Convert | Self::Resume | Self::Migrate | Self::Finish | Self::Undo
        )
    }
}

/// Storage of the arrays: dialect, and chunks or shards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    V2,
    V3,
    Sharded,
}

pub(super) const LAYOUTS: [(&str, Layout); 3] = [("v2", Layout::V2), ("v3", Layout::V3), ("sharded", Layout::Sharded)];

/// Verb, and the arrays on which it works.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scenario {
    pub(super) verb: Verb,
    pub(super) layout: Layout,
    /// Number of chunks of each array.
    pub(super) chunks: u64,
}

/// Stores of a scenario.
#[derive(Clone, Debug)]
pub(super) struct Stores {
    /// Store that all verbs use.
    pub(super) main: Arc<dyn Store>,
    /// Store to which a conversion writes.
    pub(super) target: Arc<dyn Store>,
}

impl Stores {
    /// Returns empty stores in memory.
    pub(super) fn in_memory() -> Self {
        Self { main: Arc::new(MemoryStore::new()), target: Arc::new(MemoryStore::new()) }
    }

    /// Creates stores in directories of a folder.
    pub(super) fn in_folder(folder: &Path) -> Result<Self> {
        let open = |name: &str| -> Result<Arc<dyn Store>> { Ok(Arc::new(FilesystemStore::create(folder.join(name))?)) };
        Ok(Self { main: open("main")?, target: open("target")? })
    }
}

/// All keys and values of a store.
pub(super) type Contents = Vec<(Key, Bytes)>;

pub(super) fn contents(store: &Arc<dyn Store>) -> Result<Contents> {
    let keys = store.list_prefix(&Prefix::root())?;
    keys.into_iter().map(|key| Ok((key.clone(), store.get_all(&key)?.ok_or("a listed key is gone")?))).collect()
}

pub(super) fn keys(contents: &Contents) -> Vec<&str> {
    contents.iter().map(|(key, _)| key.as_str()).collect()
}

fn elements(generation: u64, rows: u64) -> Vec<i32> {
    (0..rows * COLUMNS).map(|index| element(generation, index)).collect()
}

impl Scenario {
    /// Parses a scenario from its names on a command line.
    pub(super) fn parse(verb: &str, layout: &str, chunks: &str) -> Result<Self> {
        let verb = VERBS.iter().find(|(name, _)| *name == verb).ok_or("no such verb")?.1;
        let layout = LAYOUTS.iter().find(|(name, _)| *name == layout).ok_or("no such layout")?.1;
        Ok(Self { verb, layout, chunks: chunks.parse()? })
    }

    fn dialect(self) -> Dialect {
        if self.layout == Layout::V2 { Dialect::V2 } else { Dialect::V3 }
    }

    /// Returns the dialect to which migrations convert.
    fn other_dialect(self) -> Dialect {
        if self.layout == Layout::V2 { Dialect::V3 } else { Dialect::V2 }
    }

    /// Returns the number of rows of the arrays, which is no multiple of a chunk.
    fn rows(self) -> u64 {
        self.chunks * CHUNK_ROWS - 1
    }

    /// Returns the description of an array of a generation, which is stored in an attribute.
    fn new_array(self, generation: u64, rows: u64) -> Result<NewArray> {
        let new = NewArray::new(&[rows, COLUMNS], "int32").dialect(self.dialect()).fill(0);
        let new = new.attribute("generation", generation);
        let chunk = [CHUNK_ROWS, COLUMNS];
        Ok(match self.layout {
            Layout::V2 => new.chunks(&chunk).codecs("zstd")?,
            Layout::V3 => new.chunks(&chunk).codecs("bytes")?,
            Layout::Sharded => new.chunks(&[3, 2]).shards(&chunk).codecs("bytes")?,
        })
    }

    /// Creates a group of two arrays of a generation.
    pub(super) fn make_group(self, store: &Arc<dyn Store>, path: &str, generation: u64) -> Result<()> {
        let new = NewGroup::default().dialect(self.dialect());
        Group::create(store, path, new, &zarr::registry::default())?;
        for name in ["a", "b"] {
            let array =
                zarr::create((store, &format!("{path}/{name}"))).array(self.new_array(generation, self.rows())?)?;
            array.write(.., &elements(generation, self.rows()))?;
        }
        Ok(())
    }

    /// Checks that a complete group of two arrays of generation 1 is at `path`.
    pub(super) fn check_group(self, store: &Arc<dyn Store>, path: &str) -> Result<()> {
        for name in ["a", "b"] {
            let path = format!("{path}/{name}");
            let seen = ArrayState::at(store, &path, None);
            if !seen.holds(1, self.rows(), self.rows()) {
                return Err(format!("{path}: {seen}").into());
            }
        }
        Ok(())
    }

    /// Creates the nodes that the verb needs, in empty stores.
    pub(super) fn prepare(self, stores: &Stores) -> Result<()> {
        let store = &stores.main;
        self.make_group(store, "/g", 1)?;
        match self.verb {
            Verb::MoveOver => self.make_group(store, "/h", 9)?,
            Verb::Append | Verb::Grow => self.leave_beyond(store)?,
            Verb::Finish | Verb::Undo => {
                Migration::plan(store, &zarr::registry::default(), self.other_dialect())?.run(|_| {})?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Stores chunks with rows beyond the shape of the array, like an interrupted append or an older version of the library.
    fn leave_beyond(self, store: &Arc<dyn Store>) -> Result<()> {
        let other: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let larger = self.rows() + 2 * MORE_ROWS;
        let array = zarr::create((&other, "/g/a")).array(self.new_array(1, larger)?)?;
        array.write((..self.rows(), ..), &elements(1, self.rows()))?;
        array.write((self.rows().., ..), &vec![-7; ((larger - self.rows()) * COLUMNS) as usize])?;
        let documents: Vec<&str> = array.found().documents.iter().map(|(key, _)| key).collect();
        for (key, value) in contents(&other)? {
            if key.as_str().starts_with("g/a/") && !documents.contains(&key.as_str()) {
                store.set_all(&key, &value)?;
            }
        }
        Ok(())
    }

    /// Runs the verb.
    pub(super) fn run(self, stores: &Stores) -> Result<(), zarr::Error> {
        self.run_with(stores, matches!(self.verb, Verb::Overwrite | Verb::MoveOver))
    }

    /// Runs the verb; `overwrite` replaces existing nodes.
    fn run_with(self, stores: &Stores, overwrite: bool) -> Result<(), zarr::Error> {
        let (store, registry) = (&stores.main, zarr::registry::default());
        match self.verb {
            Verb::Remove => zarr::hierarchy::erase_node(&**store, &zarr::hierarchy::open_node(&**store, "/g/a", None)?),
            Verb::RemoveGroup => {
                zarr::hierarchy::erase_node(&**store, &zarr::hierarchy::open_node(&**store, "/g", None)?)
            }
            Verb::Overwrite => {
                let new = self.new_array(2, self.rows()).map_err(|error| zarr::Error::argument(error.to_string()))?;
                zarr::create((store, "/g/a")).array(new.overwrite(overwrite)).map(drop)
            }
            Verb::Move | Verb::MoveOver => {
                zarr::convert::Transfer::of(store, "/g").to("/h").overwrite(overwrite).move_all(&registry)
            }
            Verb::Append => {
                let mut array = zarr::open((store, "/g/a")).array()?;
                let from = array.shape()[0] * COLUMNS;
                let bytes: Vec<u8> =
                    (from..from + MORE_ROWS * COLUMNS).flat_map(|index| element(1, index).to_ne_bytes()).collect();
                array.append(0, View::new(&bytes, 4, &[MORE_ROWS as usize, COLUMNS as usize])?)
            }
            Verb::Shrink => zarr::open((store, "/g/a")).array()?.resize(&[self.rows() - MORE_ROWS, COLUMNS]),
            Verb::Grow => zarr::open((store, "/g/a")).array()?.resize(&[self.rows() + MORE_ROWS, COLUMNS]),
            Verb::Attributes => {
                let mut array = zarr::open((store, "/g/a")).array()?;
                let mut attributes = array.attributes()?.clone();
                attributes.insert("units", "K");
                array.set_attributes(attributes)
            }
            Verb::Convert => {
                let chunks = (self.layout != Layout::Sharded).then(|| vec![4, COLUMNS]);
                let options = ConvertOptions::default().chunks(chunks).overwrite(overwrite);
                Conversion::plan(store, &registry, options)?.run(&stores.target, |_| {})
            }
            Verb::Resume => {
                let chunks = (self.layout != Layout::Sharded).then(|| vec![4, COLUMNS]);
                // A few chunks.
                let memory = 24 * CHUNK_ROWS * COLUMNS * 4;
                let options = ConvertOptions::default().chunks(chunks).memory(memory).overwrite(overwrite).resume(true);
                Conversion::plan(store, &registry, options)?.run(&stores.target, |_| {})
            }
            Verb::Migrate => Migration::plan(store, &registry, self.other_dialect())?.run(|_| {}),
            Verb::Finish => Migration::finish(store, Some(self.other_dialect())),
            Verb::Undo => Migration::undo(store, Some(self.other_dialect())),
        }
    }

    /// Repeats the verb after an interruption, like its user would: with the same arguments, then with `--overwrite` if an error hints at
    /// it. An error that there is nothing to do is no fault.
    pub(super) fn rerun(self, stores: &Stores) -> Result<bool> {
        let again = match self.run(stores) {
            Err(error)
                if error.kind() == ErrorKind::Exists
                    && matches!(self.verb, Verb::Move | Verb::Convert | Verb::Resume) =>
            {
                self.run_with(stores, true)
            }
            done => done,
        };
        match again {
            Err(error) if error.is_not_found() => match self.verb {
                Verb::Remove | Verb::RemoveGroup | Verb::Move | Verb::MoveOver | Verb::Finish | Verb::Undo => Ok(true),
                _ => Err(error.into()),
            },
            // The rest of the source may be less than the moved node.
            Err(error) if error.kind() == ErrorKind::Exists && matches!(self.verb, Verb::Move | Verb::MoveOver) => {
                Ok(false)
            }
            Err(error) if self.verb == Verb::Migrate => match Migration::state(&stores.main)? {
                Some(MigrationState::Done) => Ok(true),
                _ => Err(error.into()),
            },
            done => Ok(done.map(|()| true)?),
        }
    }

    /// Returns the faults in the state after an interruption. Each array must be in its old or new state, or be unreadable.
    pub(super) fn faults_when_interrupted(self, stores: &Stores) -> Vec<String> {
        let (rows, store) = (self.rows(), &stores.main);
        let mut faults = Vec::new();
        let mut check = |store: &Arc<dyn Store>, path: &str, dialect, holds: &dyn Fn(&ArrayState) -> bool| {
            let seen = ArrayState::at(store, path, dialect);
            if !holds(&seen) {
                faults.push(format!("{path}: {seen}"));
            }
        };
        let whole = |seen: &ArrayState| seen.holds(1, rows, rows);
        let or_unfinished = |seen: &ArrayState| seen.is_unfinished() || whole(seen);
        for name in ["a", "b"] {
            let (path, moved) = (format!("/g/{name}"), format!("/h/{name}"));
            let is_a = name == "a";
            match self.verb {
                Verb::Remove if is_a => check(store, &path, None, &or_unfinished),
                Verb::RemoveGroup => check(store, &path, None, &or_unfinished),
                Verb::Overwrite if is_a => {
                    check(store, &path, None, &|seen| or_unfinished(seen) || seen.holds(2, rows, 0))
                }
                Verb::Move | Verb::MoveOver => {
                    check(store, &path, None, &or_unfinished);
                    check(store, &moved, None, &|seen| {
                        or_unfinished(seen) || self.verb == Verb::MoveOver && seen.holds(9, rows, rows)
                    });
                    let at_new = whole(&ArrayState::at(store, &moved, None));
                    check(store, &path, None, &|seen| at_new || whole(seen));
                }
                Verb::Append if is_a => {
                    let more = rows + MORE_ROWS;
                    check(store, &path, None, &|seen| whole(seen) || seen.holds(1, more, more));
                }
                Verb::Shrink if is_a => {
                    let fewer = rows - MORE_ROWS;
                    check(store, &path, None, &|seen| whole(seen) || seen.holds(1, fewer, fewer));
                }
                Verb::Grow if is_a => {
                    check(store, &path, None, &|seen| whole(seen) || seen.holds(1, rows + MORE_ROWS, rows));
                }
                Verb::Convert | Verb::Resume => {
                    check(store, &path, None, &whole);
                    check(&stores.target, &path, None, &or_unfinished);
                }
                Verb::Migrate => {
                    check(store, &path, None, &whole);
                    check(store, &path, Some(self.dialect()), &whole);
                    check(store, &path, Some(self.other_dialect()), &or_unfinished);
                }
                Verb::Finish | Verb::Undo => {
                    check(store, &path, None, &whole);
                    let dropped = if self.verb == Verb::Finish { self.dialect() } else { self.other_dialect() };
                    check(store, &path, Some(dropped), &or_unfinished);
                }
                // The verb does not change these arrays, or they stay readable throughout.
                _ => check(store, &path, None, &whole),
            }
        }
        faults
    }

    /// Returns the faults in the state after the verb was repeated.
    pub(super) fn faults_after_rerun(self, stores: &Stores) -> Vec<String> {
        let (rows, store) = (self.rows(), &stores.main);
        let mut faults = Vec::new();
        let mut check = |store: &Arc<dyn Store>, path: &str, holds: &dyn Fn(&ArrayState) -> bool| {
            let seen = ArrayState::at(store, path, None);
            if !holds(&seen) {
                faults.push(format!("{path}: {seen}"));
            }
        };
        let whole = |seen: &ArrayState| seen.holds(1, rows, rows);
        let gone = |seen: &ArrayState| matches!(seen, ArrayState::Missing);
        match self.verb {
            Verb::Remove | Verb::RemoveGroup => {
                check(store, "/g/a", &gone);
                // Elements of the old array must not appear in a new array.
                match self.new_array(2, rows).and_then(|new| Ok(zarr::create((store, "/g/a")).array(new)?)) {
                    Ok(_) => check(store, "/g/a", &|seen| seen.holds(2, rows, 0)),
                    Err(error) => faults.push(format!("created again: {error}")),
                }
            }
            Verb::Overwrite => check(store, "/g/a", &|seen| seen.holds(2, rows, 0)),
            Verb::Move | Verb::MoveOver => {
                for path in ["/h/a", "/h/b"] {
                    check(store, path, &whole);
                }
                check(store, "/g/a", &gone);
                check(store, "/g/b", &gone);
                match Prefix::new("g/").and_then(|prefix| store.list_prefix(&prefix)) {
                    Ok(left) if left.is_empty() => {}
                    left => faults.push(format!("left of /g: {left:?}")),
                }
            }
            Verb::Append => {
                // A user does not know whether the verb was done before the interruption.
                let more = |times: u64| rows + times * MORE_ROWS;
                check(store, "/g/a", &|seen| [1, 2].map(more).into_iter().any(|rows| seen.holds(1, rows, rows)));
            }
            Verb::Shrink => {
                let fewer = rows - MORE_ROWS;
                check(store, "/g/a", &|seen| seen.holds(1, fewer, fewer));
                match zarr::open((store, "/g/a")).array().and_then(|mut array| array.resize(&[rows, COLUMNS])) {
                    Ok(()) => check(store, "/g/a", &|seen| seen.holds(1, rows, fewer)),
                    Err(error) => faults.push(format!("grown again: {error}")),
                }
            }
            Verb::Grow => check(store, "/g/a", &|seen| seen.holds(1, rows + MORE_ROWS, rows)),
            Verb::Attributes => check(store, "/g/a", &whole),
            Verb::Convert | Verb::Resume => {
                ["/g/a", "/g/b"].iter().for_each(|path| check(&stores.target, path, &whole));
            }
            Verb::Migrate | Verb::Finish | Verb::Undo => {
                ["/g/a", "/g/b"].iter().for_each(|path| check(store, path, &whole));
            }
        }
        let checked = match self.verb {
            Verb::Resume => self.check_keys(stores, |stores| &stores.target),
            Verb::Finish | Verb::Undo => self.check_keys(stores, |stores| &stores.main),
            _ => Ok(()),
        };
        if let Err(error) = checked {
            faults.push(error.to_string());
        }
        faults
    }

    /// Checks that a store has the same keys as after the verb without an interruption.
    fn check_keys(self, stores: &Stores, store: fn(&Stores) -> &Arc<dyn Store>) -> Result<()> {
        let undisturbed = Stores::in_memory();
        self.prepare(&undisturbed)?;
        self.run(&undisturbed)?;
        let (found, expected) = (contents(store(stores))?, contents(store(&undisturbed))?);
        let (found, expected) = (keys(&found), keys(&expected));
        let apart = |of: &[&str], other: &[&str]| -> Vec<String> {
            of.iter().filter(|key| !other.contains(key)).map(|&key| key.to_owned()).collect()
        };
        let (left, missing) = (apart(&found, &expected), apart(&expected, &found));
        if found == expected { Ok(()) } else { Err(format!("keys left: {left:?}, missing: {missing:?}").into()) }
    }

    /// Writes all chunks of all arrays, and all documents, once more, so that each directory is written to.
    pub(super) fn write_more(self, stores: &Stores) -> Result<()> {
        for store in [&stores.main, &stores.target] {
            for path in ["/g/a", "/g/b", "/h/a", "/h/b"] {
                let Ok(mut array) = zarr::open((store, path)).array() else { continue };
                let Ok(elements) = array.read::<i32>(..) else { continue };
                array.write(.., &elements)?;
                array.set_attributes(more(array.attributes()?))?;
            }
            for path in ["/", "/g", "/h"] {
                if let Ok(mut group) = zarr::open((store, path)).group() {
                    group.set_attributes(more(group.attributes()?))?;
                }
            }
        }
        Ok(())
    }
}

fn more(attributes: &Map) -> Map {
    let mut attributes = attributes.clone();
    attributes.insert("more", true);
    attributes
}
