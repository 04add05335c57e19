//! The metadata documents of one dialect, dropped from a store that has those of another.

use super::record::{Entry, MigrationState, Record, Side};
use super::{end, nodes, old_root};
use std::sync::Arc;
use zarr_hierarchy::node::same_hierarchy;
use zarr_hierarchy::{Error, ErrorKind, Result, open_node};
use zarr_meta::Dialect;
use zarr_store::{Key, Store, StoreExt};

/// A hint where the last metadata of a node would be erased.
const FORCE: &str = "--force erases them nevertheless";

/// The documents of all nodes of one dialect in a store, which are to be erased, as the command `zarr remove-metadata` of zarr-python
/// does.
///
/// Where a [`Migration`](super::Migration) from or to that dialect is recorded, it is the end of that: as
/// [`Migration::finish`](super::Migration::finish) or [`undo`](super::Migration::undo) it erases the chunks, too, that the other hierarchy
/// does not use. Else chunks and all other keys stay.
///
/// ```
/// # use std::sync::Arc;
/// use zarr_array::{Array, Dialect, NewArray, Registry, Store};
/// use zarr_convert::DocumentRemoval;
/// # let mut registry = Registry::default();
/// # registry.codecs.add(zarr_codec_bytes::BYTES);
/// # let registry = Arc::new(registry);
/// let store: Arc<dyn Store> = Arc::new(zarr_store::MemoryStore::new());
/// let new = NewArray::new(&[2], "int8").codecs("bytes")?.dialect(Dialect::V2);
/// Array::create(&store, "/a", new, &registry)?;
///
/// // There is no document of another dialect instead.
/// assert!(DocumentRemoval::plan(&store, Dialect::V2, false).is_err());
/// let removal = DocumentRemoval::plan(&store, Dialect::V2, true)?;
/// assert!(removal.keys().iter().any(|key| key.as_str() == "a/.zarray"));
/// removal.run()?;
/// assert!(Array::open(&store, "/a", &registry).is_err());
/// # Ok::<(), zarr_hierarchy::Error>(())
/// ```
#[derive(Debug)]
pub struct DocumentRemoval {
    store: Arc<dyn Store>,
    dialect: Dialect,
    force: bool,
    way: Way,
    keys: Vec<Key>,
}

/// How documents are erased.
#[derive(Debug)]
enum Way {
    /// By finishing the migration that is recorded, which has these nodes.
    Finish(Vec<Entry>),
    /// By undoing it.
    Undo(Vec<Entry>),
    /// Alone, those of the old side of these nodes; the record of a migration that has lost one of its sides is erased with them.
    Alone(Vec<Entry>, Option<Record>),
}

impl DocumentRemoval {
    /// Finds the documents of `dialect`; none if there is no hierarchy of it. Nothing is erased. Each node has to have another one at its
    /// path, of the same kind and of the dialect that the record of a migration has, else of the other hierarchy in the store; with `force`
    /// documents are found where that is not so as well.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if a node has no other one; [`ErrorKind::Exists`] if a migration of the store is not done, or is being
    /// finished or undone; [`ErrorKind::Conflict`] naming a document that was changed since it was migrated; the errors of reading metadata.
    pub fn plan(store: &Arc<dyn Store>, dialect: Dialect, force: bool) -> Result<Self> {
        let in_store = |error: Error| error.at(|location| location.store = Some(store.to_string()));
        let way = find(&**store, dialect, force).map_err(in_store)?;
        let keys = keys(&**store, &way).map_err(in_store)?;
        Ok(Self { store: Arc::clone(store), dialect, force, way, keys })
    }

    /// The keys of the documents, those of the root first.
    pub fn keys(&self) -> &[Key] {
        &self.keys
    }

    /// Whether the record of a migration goes with them.
    pub(super) fn ends_migration(&self) -> bool {
        !matches!(&self.way, Way::Alone(_, None))
    }

    /// Erases them, after what [`plan`](Self::plan) checks was checked again: others may have changed the store.
    ///
    /// # Errors
    /// As [`plan`](Self::plan); [`ErrorKind::Conflict`] if somebody else migrates the store right now; [`ErrorKind::Store`]: to plan and
    /// run again erases the rest.
    pub fn run(&self) -> Result<()> {
        let store = &*self.store;
        let done = match &self.way {
            Way::Finish(_) => end::finish(store, None),
            Way::Undo(_) => end::undo(store, None),
            Way::Alone(nodes, _) if nodes.is_empty() => Ok(()),
            Way::Alone(..) => self.erase(store),
        };
        done.map_err(|error| error.at(|location| location.store = Some(self.store.to_string())))
    }

    fn erase(&self, store: &dyn Store) -> Result<()> {
        let _lock = end::lock(store)?;
        let Way::Alone(nodes, record) = find(store, self.dialect, self.force)? else {
            let message = "the store was migrated meanwhile; nothing was erased";
            return Err(Error::new(ErrorKind::Conflict, message).with_hint("do it again"));
        };
        // The documents that stay are on the disk before others are gone.
        store.barrier()?;
        end::erase_documents(store, &nodes, Side::Old)?;
        store.flush()?;
        record.map_or(Ok(()), |record| record.erase(store))
    }
}

/// What has to be done, with all checks.
fn find(store: &dyn Store, dialect: Dialect, force: bool) -> Result<Way> {
    let is_side = |side: Dialect| same_hierarchy(side, dialect);
    let record = Record::read(store)?;
    if let Some(record) = record.as_ref().filter(|record| record.state != MigrationState::Done) {
        return Err(record.in_the_way());
    }
    let record = record.filter(|record| is_side(record.from) || is_side(record.to));
    let ended = record.as_ref().map(|record| match is_side(record.from) {
        true => end::to_finish(store, None).map(|record| Way::Finish(record.into_nodes())),
        false => end::to_undo(store, None).map(|record| Way::Undo(record.into_nodes())),
    });
    match ended {
        Some(Err(_)) if force => {}
        Some(ended) => return ended,
        None => {}
    }
    let root = match open_node(store, "/", Some(dialect)) {
        Err(error) if error.is_not_found() => return Ok(Way::Alone(Vec::new(), None)),
        root => root?,
    };
    if force {
        let nodes = nodes(store, &root)?;
        return Ok(Way::Alone(nodes.iter().map(Entry::alone).collect(), record));
    }
    let other = old_root(store, dialect).map_err(|error| match error.is_not_found() {
        true => {
            let message = format!("found no other metadata, without which that of {dialect} cannot be removed");
            Error::new(ErrorKind::NotFound, message).with_hint(FORCE).at_path(&root.path)
        }
        false => error,
    })?;
    let pairs = end::with_new(store, &root, other.dialect, FORCE)?;
    // Keys that both have are of neither.
    Ok(Way::Alone(Record::new(dialect, other.dialect, pairs).into_nodes(), None))
}

/// The keys that will be gone.
fn keys(store: &dyn Store, way: &Way) -> Result<Vec<Key>> {
    let (nodes, side) = match way {
        Way::Finish(nodes) | Way::Alone(nodes, _) => (nodes, Side::Old),
        Way::Undo(nodes) => (nodes, Side::New),
    };
    let mut keys = Vec::new();
    for name in nodes.iter().flat_map(|entry| entry.keys(side)) {
        let key = Key::new(name)?;
        // A group need not have a copy of all metadata.
        if store.exists(&key)? {
            keys.push(key);
        }
    }
    Ok(keys)
}
