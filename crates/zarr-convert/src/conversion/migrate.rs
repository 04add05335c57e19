//! Conversion of a hierarchy in its own store: new documents are written beside the old documents, which stay until they are dropped.

mod changes;
mod checks;
mod chunks;
mod end;
mod found;
mod record;
mod removal;

pub use record::MigrationState;
pub use removal::DocumentRemoval;

use self::checks::{check_keys, check_unused, dropped};
use self::found::{nodes, old_root};
use self::record::{NodeRecord, Record, Side};
use super::destination::NodeDocuments;
use super::hierarchy::Hierarchy;
use super::progress::Reporter;
use super::target::TargetNode;
use super::work::Work;
use super::{
    Action, Conversion, ConvertOptions, IntoFlow, PlannedNode, Progress, plan, readable_copies, rechunk, strings,
    target,
};
use std::collections::BTreeSet;
use std::sync::Arc;
use zarr_array::Registry;
use zarr_hierarchy::chunk_keys::{ChunkKeys, ChunkLocation, other_locations};
use zarr_hierarchy::jobs::document_options;
use zarr_hierarchy::{Error, ErrorKind, Result, consolidate, open_stored_node};
use zarr_json::NamedConfig;
use zarr_meta::{ArrayMetadata, Dialect, Node, NodePath, StoredNode};
use zarr_store::{Key, Precondition, Store, StoreExt};

/// A conversion of a whole hierarchy into another dialect in its own store.
///
/// If the new dialect can express the same chunks under the same keys, only documents are written. Otherwise chunks are copied, or
/// decoded and encoded again, to other keys. Existing values are not changed: until [`finish`](Self::finish) drops the old documents,
/// readers of both dialects find their hierarchy, and [`undo`](Self::undo) drops the new documents instead. Writers have to wait
/// until the migration is finished or undone: both hierarchies may share chunks, but not shape and attributes. Finishing detects
/// changed documents of the old hierarchy. It does not detect changed chunks of old arrays whose new arrays have chunks under other
/// keys.
///
/// A record in the store, under the key `.zmigration`, names the old and new documents and chunks, and the state of the migration.
/// Repeating an interrupted operation completes it. Other software ignores the record, except that zarr-python 3 warns about it when
/// it lists members, as about documents of another version.
///
/// ```
/// # use std::sync::Arc;
/// use zarr_array::{Array, Dialect, NewArray, Registry, Store};
/// use zarr_convert::Migration;
/// # let mut registry = Registry::default();
/// # registry.codecs.add(zarr_codec_bytes::BYTES);
/// # let registry = Arc::new(registry);
/// let store: Arc<dyn Store> = Arc::new(zarr_store::MemoryStore::new());
/// let new = NewArray::new(&[2], "int8").codecs("bytes")?.dialect(Dialect::V2);
/// Array::create(&store, "/a", new, &registry)?.write(.., &[1_i8, 2])?;
///
/// Migration::plan(&store, &registry, Dialect::V3)?.run(|_| {})?;
/// let array = Array::open(&store, "/a", &registry)?;
/// assert_eq!((array.dialect(), array.read::<i8>(..)?), (Dialect::V3, vec![1, 2]));
/// Migration::finish(&store, None)?;
/// # Ok::<(), zarr_hierarchy::Error>(())
/// ```
#[derive(Debug)]
pub struct Migration {
    conversion: Conversion,
    record: Record,
    /// Record of an interrupted migration that this one begins again.
    interrupted: Option<Record>,
    /// Existing documents of the new dialect that are dropped first.
    replaced: Option<DocumentRemoval>,
    /// Number of chunks that are dropped with the `replaced` documents.
    replaced_chunks: usize,
}

impl Migration {
    /// Plans the migration of all nodes in `store` to `dialect`. Writes nothing. An interrupted migration is begun again.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if there is no hierarchy of another dialect; [`ErrorKind::Exists`] if nodes of `dialect` already exist, or
    /// another migration is recorded; [`ErrorKind::NotExpressible`] if `dialect` cannot express a node, or other values have the keys of
    /// its documents; the errors of reading metadata.
    pub fn plan(store: &Arc<dyn Store>, registry: &Arc<Registry>, dialect: Dialect) -> Result<Self> {
        Self::plan_with(store, registry, dialect, ConvertOptions::default())
    }

    /// Plans as [`plan`](Self::plan) does, with options about members that the dialect cannot express, about how arrays are read and
    /// written, and about memory. Options about nodes, chunks, codecs, parts and interruptions are ignored.
    ///
    /// # Errors
    /// The errors of [`plan`](Self::plan).
    pub fn plan_with(
        store: &Arc<dyn Store>,
        registry: &Arc<Registry>,
        dialect: Dialect,
        options: ConvertOptions,
    ) -> Result<Self> {
        Self::plan_over(store, registry, dialect, options, None)
    }

    /// Plans as [`plan_with`](Self::plan_with) does, but accepts existing nodes of `dialect`: [`run`](Self::run) first drops them, as
    /// [`DocumentRemoval`] does with `force`, and their chunks that the old arrays do not use. An obstacle to the migration is reported
    /// before anything is dropped.
    ///
    /// # Errors
    /// The errors of [`plan_with`](Self::plan_with) and [`DocumentRemoval::plan`]. Without `force` also [`ErrorKind::Conflict`] if a
    /// document was changed after a recorded migration wrote it (with its key), and [`ErrorKind::Exists`] if an array of `dialect` has
    /// chunks that the old array has not, since they may hold newer data.
    pub fn plan_replacing(
        store: &Arc<dyn Store>,
        registry: &Arc<Registry>,
        dialect: Dialect,
        options: ConvertOptions,
        force: bool,
    ) -> Result<Self> {
        let replaced = match Self::state(store)? {
            // To begin an interrupted one again drops what it wrote.
            Some(MigrationState::Running) => None,
            _ => Some(DocumentRemoval::plan_replaced(store, dialect, force)?)
                .filter(|removal| !removal.keys().is_empty()),
        };
        Self::plan_over(store, registry, dialect, options, replaced)
    }

    fn plan_over(
        store: &Arc<dyn Store>,
        registry: &Arc<Registry>,
        dialect: Dialect,
        options: ConvertOptions,
        replaced: Option<DocumentRemoval>,
    ) -> Result<Self> {
        let ConvertOptions { memory, carry, literal, objects_as_strings, conventions, options, .. } = options;
        let plain = ConvertOptions::default();
        let options = plain
            .dialect(dialect)
            .memory(memory)
            .carry(carry)
            .literal(literal)
            .objects_as_strings(objects_as_strings)
            .conventions(conventions)
            .options(options);
        let in_store = |error: Error| error.at(|location| location.store = Some(store.to_string()));
        let ends = replaced.as_ref().is_some_and(DocumentRemoval::ends_migration);
        let interrupted = Record::read(&**store).map_err(in_store)?.filter(|_| !ends);
        let root = match &interrupted {
            None => old_root(&**store, dialect).map_err(in_store)?,
            Some(record) if record.state == MigrationState::Running && record.to == dialect => {
                open_stored_node(&**store, "/", Some(record.from))?
            }
            Some(record) => return Err(in_store(record.in_the_way())),
        };
        let dropped = dropped(replaced.as_ref());
        let mut chunks = BTreeSet::new();
        if let Some(removal) = &replaced {
            chunks.extend(removal.chunks().map_err(in_store)?);
        }
        let begun: BTreeSet<&NodePath> = interrupted.iter().flat_map(Record::nodes).map(NodeRecord::path).collect();
        let found = nodes(&**store, &root)?;
        let hierarchy = Hierarchy::of(&found);
        let taken: BTreeSet<String> =
            found.iter().flat_map(|node| node.documents.iter().map(|(key, _)| key.to_owned())).collect();
        let (mut planned, mut consolidate, mut entries) = (Vec::new(), Vec::new(), Vec::new());
        for found in found {
            let found = options.options.as_read(found);
            let path = found.path.clone();
            let at = |error: Error| {
                error.at(|location| (location.store, location.path) = (Some(store.to_string()), Some(path.to_string())))
            };
            if plan::is_consolidated(store, &found)? && dialect.may_consolidate(&found.path) {
                consolidate.push(found.path.clone());
            }
            let node = in_place(store, found, dialect, &hierarchy, registry, &options).map_err(at)?;
            let documents = NodeDocuments::new(&node, &zarr_meta::Documents::new()).map_err(at)?;
            if !begun.contains(&path) {
                check_unused(&**store, &node, &dropped).map_err(at)?;
            }
            check_keys(&**store, &node, documents.found(), &taken).map_err(at)?;
            if replaced.is_some() && has_new_chunks(&node) {
                chunks.extend(chunks::chunks_without(&**store, documents.found(), &node.source).map_err(at)?);
            }
            entries.push(NodeRecord::new(&node.source, documents.found()));
            planned.push(node);
        }
        consolidate.reverse();
        let (consolidate, unconsolidated) = readable_copies(consolidate, &planned);
        let record = Record::new(root.dialect, dialect, entries);
        let (source, registry) = (Arc::clone(store), Arc::clone(registry));
        let conversion = Conversion {
            source,
            registry,
            options,
            nodes: planned,
            consolidate,
            unconsolidated,
            left_out: Vec::new(),
            others: Vec::new(),
            refused: Vec::new(),
        };
        Ok(Self { conversion, record, interrupted, replaced, replaced_chunks: chunks.len() })
    }

    /// Returns the planned nodes, sorted by path.
    pub fn nodes(&self) -> &[PlannedNode] {
        self.conversion.nodes()
    }

    /// Returns the keys of documents of the new dialect that [`run`](Self::run) erases first; empty unless it
    /// [replaces](Self::plan_replacing) nodes.
    pub fn replaced(&self) -> &[Key] {
        self.replaced.as_ref().map_or(&[], DocumentRemoval::keys)
    }

    /// Returns the number of chunks that [`run`](Self::run) erases with the [`replaced`](Self::replaced) documents: chunks of arrays of the
    /// new dialect that no old array uses.
    pub fn replaced_chunks(&self) -> usize {
        self.replaced_chunks
    }

    /// Returns the underlying conversion, with its cost.
    pub fn conversion(&self) -> &Conversion {
        &self.conversion
    }

    /// Writes new chunks, unless they are the old chunks, and new documents. The documents of the root are written last, so that a reader
    /// who opens the root before still finds the old hierarchy. Documents and chunks of an interrupted run are dropped first.
    ///
    /// # Errors
    /// The errors of reading and writing arrays. The old hierarchy is then complete: planning and running again completes the migration,
    /// and [`undo`](Self::undo) drops the new documents and chunks. [`ErrorKind::Exists`] if another process has begun a migration
    /// meanwhile; [`ErrorKind::Conflict`] if another process is migrating the store (as far as its locks reach), or has erased, moved or
    /// replaced a node meanwhile; [`ErrorKind::Cancelled`] if `progress` cancels.
    pub fn run<F: IntoFlow>(&self, progress: impl Fn(Progress<'_>) -> F + Sync) -> Result<()> {
        self.run_reporting(&Reporter::new(&|event| progress(event).into_flow()))
    }

    /// Writes the new documents, and no chunks, to another store. They describe the chunks that lie beside the old documents. The source is
    /// not changed.
    ///
    /// # Errors
    /// [`ErrorKind::NotExpressible`] if the chunks of an array would have to be written again (with its path); [`ErrorKind::Exists`] if
    /// `target` has a node of the new dialect. In both cases nothing is written. [`ErrorKind::Store`].
    pub fn write_documents(&self, target: &Arc<dyn Store>) -> Result<()> {
        self.write_documents_over(target, None)
    }

    /// Writes the new documents as [`write_documents`](Self::write_documents) does, but first erases documents of the new dialect in
    /// `target`, as [`DocumentRemoval`] does with `force`. An obstacle to writing is reported before anything is erased.
    ///
    /// # Errors
    /// The errors of [`write_documents`](Self::write_documents), and for erased documents those of
    /// [`plan_replacing`](Self::plan_replacing).
    pub fn write_documents_replacing(&self, target: &Arc<dyn Store>, force: bool) -> Result<()> {
        self.write_documents_over(target, Some(&DocumentRemoval::plan_replaced(target, self.record.to, force)?))
    }

    fn write_documents_over(&self, target: &Arc<dyn Store>, replaced: Option<&DocumentRemoval>) -> Result<()> {
        let in_target = |error: Error| error.at(|location| location.store = Some(target.to_string()));
        let dropped = dropped(replaced);
        let mut documents = Vec::new();
        for planned in self.nodes().iter().rev() {
            if has_new_chunks(planned) {
                let message = format!("{} cannot express the chunks as they are", planned.dialect);
                let error = Error::new(ErrorKind::NotExpressible, message).at_path(&planned.path);
                return Err(error.with_hint("migrate in place, or convert, both of which write other chunks"));
            }
            check_unused(&**target, planned, &dropped).map_err(in_target)?;
            if !planned.is_implied() {
                documents.push(NodeDocuments::new(planned, &zarr_meta::Documents::new())?);
            }
        }
        replaced.map_or(Ok(()), DocumentRemoval::run)?;
        let mut entry = None;
        let entry_point_key = zarr_meta::entry_point_key(self.record.to);
        for node in documents {
            entry = node.write_without(entry_point_key, target).map_err(in_target)?.or(entry);
        }
        write_entry(entry_point_key.zip(entry), &**target).map_err(in_target)?;
        target.flush().map_err(|error| in_target(error.into()))
    }

    fn run_reporting(&self, reporter: &Reporter<'_>) -> Result<()> {
        let Self { conversion, record, interrupted, replaced, .. } = self;
        let store = &conversion.source;
        let in_store = |error: Error| error.at(|location| location.store = Some(store.to_string()));
        if let Some(replaced) = replaced {
            end::check_as_planned(&**store, record, false).map_err(in_store)?;
            replaced.run()?;
        }
        let _lock = end::lock(&**store).map_err(in_store)?;
        let sources = conversion.nodes().iter().map(|planned| &planned.source);
        let _arrays = end::lock_arrays(&**store, sources).map_err(in_store)?;
        // Somebody may have appended since it was planned.
        end::check_as_planned(&**store, record, replaced.is_some()).map_err(in_store)?;
        let mut record = record.clone();
        if let Some(before) = interrupted {
            // If another process has completed the migration, the record has changed, and this write fails before erasures.
            let before = before.clone().write(&**store, MigrationState::Running).map_err(in_store)?;
            end::erase_side(&**store, &before, Side::New).map_err(in_store)?;
            record = before.with_nodes(record.into_nodes());
        }
        let record = record.write(&**store, MigrationState::Running).map_err(in_store)?;
        let mut written = Vec::new();
        for planned in conversion.nodes().iter().rev() {
            reporter.begin(planned)?;
            let documents = NodeDocuments::new(planned, &zarr_meta::Documents::new())?;
            let work = Work::unrecorded(reporter);
            if has_new_chunks(planned) {
                // Leftover chunks of an earlier array would be read as chunks of the new array where it stores none.
                for key in chunks::chunks_without(&**store, documents.found(), &planned.source).map_err(in_store)? {
                    store.erase(&key).map_err(|error| in_store(error.into()))?;
                }
            }
            match planned.how {
                Action::Group if planned.is_implied() => continue,
                Action::Group => {}
                Action::Keep => reporter.done(planned.size)?,
                Action::CopyChunks | Action::Reencode => {
                    conversion.write_chunks(planned, documents.found(), store, &work)?;
                }
            }
            written.push(documents);
        }
        // Chunks are on the disk before there is a node that shows them.
        store.barrier().map_err(|error| in_store(error.into()))?;
        // The document that says the dialect of all nodes would hide the old ones.
        let entry_point_key = zarr_meta::entry_point_key(record.to);
        let mut entry = None;
        let sources = || conversion.nodes().iter().map(|planned| &planned.source);
        for documents in written {
            if documents.found().path.is_root() {
                // From then on readers find the new hierarchy.
                end::check_there(&**store, sources()).map_err(in_store)?;
            }
            entry = documents.write_without(entry_point_key, store).map_err(in_store)?.or(entry);
        }
        write_entry(entry_point_key.zip(entry), &**store).map_err(in_store)?;
        // Whoever takes a node away after this takes its new documents along.
        end::check_there(&**store, sources()).map_err(in_store)?;
        for group in &conversion.consolidate {
            consolidate(&**store, &group.to_string(), Some(record.to))?;
        }
        store.flush().map_err(|error| in_store(error.into()))?;
        let record = end::with_new_hashes(&**store, record).map_err(in_store)?;
        record.write(&**store, MigrationState::Done).map_err(in_store)?;
        // Where values appear at a flush, as in a zip file, the record has to appear as well.
        store.flush().map_err(|error| in_store(error.into()))
    }

    /// Returns the state of the migration that is recorded in `store`; `None` if none is recorded.
    ///
    /// # Errors
    /// [`ErrorKind::UnsupportedVersion`] if the record has a later version; other errors if the record is broken; [`ErrorKind::Store`].
    pub fn state(store: &Arc<dyn Store>) -> Result<Option<MigrationState>> {
        let record =
            Record::read(&**store).map_err(|error| error.at(|location| location.store = Some(store.to_string())))?;
        Ok(record.map(|record| record.state))
    }

    /// Checks that `store` may be changed: no migration of the store is running, being finished or being undone, or was interrupted in such
    /// a state. Otherwise written values could be dropped with the old or new documents.
    ///
    /// # Errors
    /// [`ErrorKind::Exists`] if there is such a migration; the errors of [`state`](Self::state).
    pub fn check_settled(store: &Arc<dyn Store>) -> Result<()> {
        let in_store = |error: Error| error.at(|location| location.store = Some(store.to_string()));
        match Record::read(&**store).map_err(in_store)? {
            Some(record) if record.state != MigrationState::Done => Err(in_store(record.in_the_way())),
            _ => Ok(()),
        }
    }

    /// Drops the old documents, and old chunks that are not chunks of the new arrays, after a check that each old node has a new node at
    /// its path. `dialect` is the new dialect; it is needed only for a migration without a record.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if no migration is recorded and `dialect` is `None`, or if an old node has no new node;
    /// [`ErrorKind::Exists`] if the migration is not done or is being undone; [`ErrorKind::Argument`] if `dialect` is not the recorded one.
    /// In these cases nothing is erased. [`ErrorKind::Conflict`] if a document of an old node was changed after its migration (with its
    /// key), or if another process is migrating the store. [`ErrorKind::Store`]: finishing again drops the rest.
    pub fn finish(store: &Arc<dyn Store>, dialect: Option<Dialect>) -> Result<()> {
        let in_store = |error: Error| error.at(|location| location.store = Some(store.to_string()));
        end::finish(&**store, dialect).map_err(in_store)
    }

    /// Drops the new documents of a migration, complete or not, and new chunks that are not chunks of the old arrays, after a check that
    /// each old node exists. `dialect` is the new dialect; it is needed only for a migration without a record. Fails if data was written to
    /// the new hierarchy after the migration, as far as changed documents and chunks under new keys show;
    /// [`undo_with_changes`](Self::undo_with_changes) drops such data.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if no migration is recorded and `dialect` is `None`, or if an old node is gone; [`ErrorKind::Exists`] if the
    /// migration is being finished, or if an array has got new chunks (with its path); [`ErrorKind::Argument`] if `dialect` is not the
    /// recorded one. In these cases nothing is erased. [`ErrorKind::Conflict`] if a new document was changed (with its key), or if another
    /// process is migrating the store. [`ErrorKind::Store`]: undoing again drops the rest.
    pub fn undo(store: &Arc<dyn Store>, dialect: Option<Dialect>) -> Result<()> {
        let in_store = |error: Error| error.at(|location| location.store = Some(store.to_string()));
        end::undo(&**store, dialect, true).map_err(in_store)
    }

    /// Undoes a migration as [`undo`](Self::undo) does, but also drops data that was written to the new hierarchy after the migration, and
    /// new nodes whose old nodes are gone.
    ///
    /// # Errors
    /// The errors of [`undo`](Self::undo), except those about changes.
    pub fn undo_with_changes(store: &Arc<dyn Store>, dialect: Option<Dialect>) -> Result<()> {
        let in_store = |error: Error| error.at(|location| location.store = Some(store.to_string()));
        end::undo(&**store, dialect, false).map_err(in_store)
    }
}

/// Writes the document that tells the dialect of all nodes; `None` does nothing.
fn write_entry(entry: Option<(&str, Vec<u8>)>, store: &dyn Store) -> Result<()> {
    let Some((key, document)) = entry else { return Ok(()) };
    store.set(&Key::new(key)?, &document, &document_options(Precondition::None, true))?;
    Ok(())
}

/// Returns whether the chunks of an array are copied or encoded again.
fn has_new_chunks(planned: &PlannedNode) -> bool {
    matches!(planned.how, Action::CopyChunks | Action::Reencode)
}

/// Plans the new node for the old node `found`.
fn in_place(
    store: &Arc<dyn Store>,
    found: StoredNode,
    dialect: Dialect,
    hierarchy: &Hierarchy,
    registry: &Arc<Registry>,
    options: &ConvertOptions,
) -> Result<PlannedNode> {
    found.attributes().map_err(|error| Error::from(error.clone()))?;
    let hierarchy = plan::looked_up(hierarchy, &**store, &found, dialect)?;
    let are_texts = strings::are_all_texts(store, &found, registry, options)?;
    // Where chunks stay, and some are not stored, the fill value is what these are.
    for hierarchy in [&hierarchy, &hierarchy.keeping_fill()].into_iter().filter(|_| !are_texts) {
        if let Some(planned) = kept(store, &found, dialect, hierarchy, registry, options)? {
            return Ok(planned);
        }
    }
    plan::planned(store, found, &hierarchy, registry, options, are_texts)
}

/// Plans a new node that uses the existing chunks; `None` if they are not valid chunks of the new array.
fn kept(
    store: &Arc<dyn Store>,
    found: &StoredNode,
    dialect: Dialect,
    hierarchy: &Hierarchy,
    registry: &Arc<Registry>,
    options: &ConvertOptions,
) -> Result<Option<PlannedNode>> {
    let (found, members) = target::with_known_members(found.clone(), registry, &options.options.limits);
    let found = &found;
    let Node::Array(array) = &found.node else { return Ok(None) };
    let TargetNode { node, notes, warning, unread, ome } =
        target::target(found, dialect, hierarchy, options, registry)?;
    let notes = members.into_iter().chain(notes).collect();
    let Node::Array(mut kept) = node else { return Ok(None) };
    kept.chunk_key_encoding = actual_keys(&**store, found, array)?;
    if !target::same_form(array, &kept) {
        return Ok(None);
    }
    let size = plan::size_of(&kept, dialect, &registry.data_types);
    let (source, path, target, how) = (found.clone(), found.path.clone(), Node::Array(kept), Action::Keep);
    let planned = PlannedNode { source, path, target, dialect, how, region: None, notes, warning, unread, ome, size };
    let Ok(documents) = NodeDocuments::new(&planned, &zarr_meta::Documents::new()) else { return Ok(None) };
    let new = documents.found();
    let stays = new.chunk_prefix() == found.chunk_prefix()
        && (target::missing_may_stay(found, new)
            || (!rechunk::is_sharded(array) && plan::are_all_stored(&**store, found)?));
    Ok(stays.then_some(planned))
}

/// Returns the chunk key encoding that the stored chunks really have, if the metadata leaves it open.
fn actual_keys(store: &dyn Store, found: &StoredNode, array: &ArrayMetadata) -> Result<NamedConfig> {
    let prefix = found.chunk_prefix();
    let others = other_locations(found, &prefix, array.shape.len())?;
    let stored = if others.is_empty() { None } else { ChunkKeys::new(found)?.stored(store)?.into_iter().next() };
    let Some((key, chunk)) = stored else { return Ok(array.chunk_key_encoding.clone()) };
    let spelled = |location: &ChunkLocation| {
        let mut text = location.prefix.clone();
        location.keys.write_key(&chunk, &mut text);
        text == key.as_str()
    };
    let other = others.iter().find(|location| location.prefix == prefix && spelled(location));
    Ok(other.map_or_else(|| array.chunk_key_encoding.clone(), |location| location.keys.to_config()))
}
