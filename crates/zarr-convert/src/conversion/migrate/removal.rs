//! Removal of the metadata documents of one dialect from a store that has documents of another dialect.

use super::changes::{check_chunks, check_no_others, check_unchanged};
use super::chunks::own_chunks;
use super::end;
use super::found::{nodes, old_root};
use super::record::{MigrationState, NodeRecord, Record, Side};
use std::sync::Arc;
use zarr_hierarchy::node::same_hierarchy;
use zarr_hierarchy::{Error, ErrorKind, Result, open_stored_node};
use zarr_meta::Dialect;
use zarr_store::{Key, Store, StoreExt};

/// Hint if the last metadata of a node would be erased.
const FORCE: &str = "--force erases them nevertheless";

/// Planned removal of the documents of all nodes of one dialect from a store, like the command `zarr remove-metadata` of zarr-python.
///
/// If a [`Migration`](super::Migration) from or to that dialect is recorded, the removal ends the migration: like
/// [`Migration::finish`](super::Migration::finish) or [`undo`](super::Migration::undo), it also erases the chunks that the other
/// hierarchy does not use. Otherwise chunks and all other keys stay.
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
    /// Whether the removal fails if it would lose data that was written to the nodes, as far as that can be seen.
    is_careful: bool,
    way: Way,
    keys: Vec<Key>,
}

/// Kind of the removal.
#[derive(Debug)]
enum Way {
    /// Finishes the recorded migration, which drops the old side, or undoes it.
    End(Side, Record),
    /// Erases the old side of the first record without ending a migration. The second record is that of a migration that loses one of its
    /// sides, and is erased as well.
    Alone(Record, Option<Record>),
}

impl DocumentRemoval {
    /// Finds the documents of `dialect`; none if the store has no hierarchy of `dialect`. Erases nothing. Each node must have another
    /// node of the same kind at its path: of the other dialect of a recorded migration, or else of the other hierarchy in the store. With
    /// `force`, documents are found even if that is not so.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if a node has no other node at its path, also if the node was created after a recorded migration;
    /// [`ErrorKind::Exists`] if a migration of the store is not done, or is being finished or undone; [`ErrorKind::Conflict`] with the
    /// key of a document that was changed after its migration; the errors of reading metadata.
    pub fn plan(store: &Arc<dyn Store>, dialect: Dialect, force: bool) -> Result<Self> {
        Self::plan_with(store, dialect, force, false)
    }

    /// Plans as [`plan`](Self::plan) does, for nodes that a migration will replace. Without `force` there are two more errors:
    /// [`ErrorKind::Conflict`] with the key of a document that was changed after a recorded migration wrote it, and [`ErrorKind::Exists`]
    /// if an array has chunks that its other array has not, since they may hold data that was written to the array.
    pub(super) fn plan_replaced(store: &Arc<dyn Store>, dialect: Dialect, force: bool) -> Result<Self> {
        Self::plan_with(store, dialect, force, !force)
    }

    fn plan_with(store: &Arc<dyn Store>, dialect: Dialect, force: bool, is_careful: bool) -> Result<Self> {
        let in_store = |error: Error| error.at(|location| location.store = Some(store.to_string()));
        let way = find(&**store, dialect, force, is_careful).map_err(in_store)?;
        let keys = keys(&**store, &way).map_err(in_store)?;
        Ok(Self { store: Arc::clone(store), dialect, force, is_careful, way, keys })
    }

    /// Returns the keys of chunks that are erased with the documents.
    pub(super) fn chunks(&self) -> Result<Vec<Key>> {
        let Way::End(side, record) = &self.way else { return Ok(Vec::new()) };
        let mut keys = Vec::new();
        for entry in record.nodes() {
            keys.extend(own_chunks(&*self.store, record, entry, *side)?);
        }
        Ok(keys)
    }

    /// Returns the keys of the documents that are erased, those of the root first.
    pub fn keys(&self) -> &[Key] {
        &self.keys
    }

    /// Returns whether the record of a migration is erased with the documents.
    pub(super) fn ends_migration(&self) -> bool {
        !matches!(&self.way, Way::Alone(_, None))
    }

    /// Erases the documents, after the checks of [`plan`](Self::plan) were repeated, since others may have changed the store.
    ///
    /// # Errors
    /// The errors of [`plan`](Self::plan); [`ErrorKind::Conflict`] if another process is migrating the store; [`ErrorKind::Store`]:
    /// planning and running again erases the rest.
    pub fn run(&self) -> Result<()> {
        let store = &*self.store;
        let done = match &self.way {
            Way::End(side, _) => end::end(store, *side, || ended(store, *side, self.is_careful)),
            Way::Alone(found, _) if found.nodes().is_empty() => Ok(()),
            Way::Alone(..) => self.erase(store),
        };
        done.map_err(|error| error.at(|location| location.store = Some(self.store.to_string())))
    }

    fn erase(&self, store: &dyn Store) -> Result<()> {
        let _lock = end::lock(store)?;
        let Way::Alone(found, record) = find(store, self.dialect, self.force, self.is_careful)? else {
            let message = "the store was migrated meanwhile; nothing was erased";
            return Err(Error::new(ErrorKind::Conflict, message).with_hint("do it again"));
        };
        // The documents that stay are on the disk before others are gone.
        store.barrier()?;
        end::erase_documents(store, found.nodes(), Side::Old)?;
        store.flush()?;
        record.map_or(Ok(()), |record| record.erase(store))
    }
}

/// Finds what is to be erased, with all checks.
fn find(store: &dyn Store, dialect: Dialect, force: bool, is_careful: bool) -> Result<Way> {
    let is_side = |side: Dialect| same_hierarchy(side, dialect);
    let record = Record::read(store)?;
    if let Some(record) = record.as_ref().filter(|record| record.state != MigrationState::Done) {
        return Err(record.in_the_way());
    }
    let record = record.filter(|record| is_side(record.from) || is_side(record.to));
    let ended = record.as_ref().map(|record| {
        let side = if is_side(record.from) { Side::Old } else { Side::New };
        ended(store, side, is_careful).map(|record| Way::End(side, record))
    });
    match ended {
        Some(Err(_)) if force => {}
        Some(ended) => return ended,
        None => {}
    }
    let root = match open_stored_node(store, "/", Some(dialect)) {
        Err(error) if error.is_not_found() => {
            return Ok(Way::Alone(Record::new(dialect, dialect, Vec::new()), None));
        }
        root => root?,
    };
    if force {
        let entries = nodes(store, &root)?.iter().map(NodeRecord::alone).collect();
        return Ok(Way::Alone(Record::new(root.dialect, root.dialect, entries), record));
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
    let found = Record::new(root.dialect, other.dialect, pairs);
    if is_careful {
        check_chunks(store, Side::Old, &found)?;
    }
    Ok(Way::Alone(found, None))
}

/// Returns the recorded migration whose `side` is dropped, with all checks.
fn ended(store: &dyn Store, side: Side, is_careful: bool) -> Result<Record> {
    let record = match side {
        Side::Old => end::to_finish(store, None)?,
        Side::New => end::to_undo(store, None, true)?,
    };
    if side == Side::New {
        check_no_others(store, &record, FORCE)?;
    }
    if is_careful {
        if side == Side::New {
            check_unchanged(store, &record)?;
        }
        check_chunks(store, side, &record)?;
    }
    Ok(record)
}

/// Returns the keys of documents that are erased.
fn keys(store: &dyn Store, way: &Way) -> Result<Vec<Key>> {
    let (nodes, side) = match way {
        Way::End(side, record) => (record.nodes(), *side),
        Way::Alone(found, _) => (found.nodes(), Side::Old),
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
