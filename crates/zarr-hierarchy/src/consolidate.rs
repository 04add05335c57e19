//! Consolidated metadata: writing, comparing with the nodes, dropping.
//!
//! Opening a group never compares consolidated metadata with the nodes: readers that use it trust it. Only [`staleness`] compares it.
//!
//! Operations that create, replace, shrink or erase a node first drop the consolidated metadata of the groups above, which would be wrong
//! (`node/ancestors.rs`). A change after which old metadata still reads the same values updates the consolidated metadata afterwards
//! (`node/renew_consolidated.rs`). Comparisons are of the meaning of documents, not of their bytes, since other software writes consolidated
//! metadata from its own model.

use crate::hierarchy::{Facts, WalkJob, in_store, on, on_async, open};
use crate::jobs::Operation;
use crate::node::{
    Edit, ReadNewest, RenewConsolidated, check_only_consolidated, made_without_consolidated, parse_path, revise,
};
use crate::{Error, ErrorKind, Result, Walk, jobs, open_node};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use zarr_drive::{Io, run, run_async};
use zarr_json::{Map, Value};
use zarr_meta::consolidated::{self, FoundConsolidated};
use zarr_meta::{Consolidated, Dialect, Documents, NodePath, StoredNode};
use zarr_store::{AsyncStore, Capabilities, Conflicts, Key, Precondition, Request, Store, StoreExt};

/// Differences between the consolidated metadata of a group and the nodes below the group. Consolidated metadata is up to date if all lists
/// are empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Staleness {
    /// Paths of nodes that exist and are missing in the consolidated metadata.
    pub missing: Vec<NodePath>,
    /// Paths of nodes in the consolidated metadata that do not exist.
    pub gone: Vec<NodePath>,
    /// Paths of nodes whose metadata or attributes differ from the consolidated metadata.
    pub changed: Vec<NodePath>,
}

impl Staleness {
    /// Whether the consolidated metadata differs from the nodes.
    pub fn is_stale(&self) -> bool {
        !(self.missing.is_empty() && self.gone.is_empty() && self.changed.is_empty())
    }
}

/// Writes consolidated metadata of the group at `path`: the metadata of the group and of all nodes below it, with which readers open these
/// nodes without one request per node. Consolidated metadata is a document `.zmetadata` in v2, and a member of the group's document in v3.
/// Returns the number of nodes whose metadata was included.
///
/// Software other than this library that changes a node below leaves the consolidated metadata stale, and opening a group never
/// compares consolidated metadata with the nodes; see [`staleness`]. Changes that other writers make at the same time may be missed, too:
/// consolidate hierarchies that nobody changes.
///
/// # Errors
/// [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) if there is no group; the first error of a broken node below, in
/// which case nothing is written; [`ErrorKind::UnsupportedVersion`](crate::ErrorKind::UnsupportedVersion) for a dialect without
/// consolidated metadata; [`ErrorKind::Store`](crate::ErrorKind::Store).
///
/// # Example
/// ```
/// use zarr_hierarchy::{consolidate, staleness};
/// use zarr_store::{Key, MemoryStore, Store, StoreExt};
///
/// let store = MemoryStore::new();
/// let group = br#"{"zarr_format": 3, "node_type": "group"}"#;
/// for key in ["zarr.json", "a/zarr.json", "a/b/zarr.json"] {
///     store.set_all(&Key::new(key)?, group)?;
/// }
/// assert_eq!(staleness(&store, "/", None)?, None);
/// assert_eq!(consolidate(&store, "/", None)?, 3);
/// assert!(!staleness(&store, "/", None)?.unwrap().is_stale());
/// # Ok::<(), zarr_hierarchy::Error>(())
/// ```
pub fn consolidate(store: &dyn Store, path: &str, dialect: Option<Dialect>) -> Result<u64> {
    let done = on(store, |io, facts| with_copy(io, facts, path, dialect, Consolidation::write));
    done.map_err(|error| of_group(error, path))
}

/// Async form of [`consolidate`]: writes consolidated metadata of the group at `path`.
///
/// # Errors
/// The errors of [`consolidate`].
pub async fn consolidate_async(store: &dyn AsyncStore, path: &str, dialect: Option<Dialect>) -> Result<u64> {
    let done = on_async(store, |io, facts| with_copy(io, facts, path, dialect, Consolidation::write)).await;
    done.map_err(|error| of_group(error, path))
}

/// Compares the consolidated metadata of the group at `path` with the documents of the nodes below it; `None` if the group has no
/// consolidated metadata. Opening a group does not compare them: this function is the only check.
///
/// # Errors
/// The errors of [`consolidate`].
pub fn staleness(store: &dyn Store, path: &str, dialect: Option<Dialect>) -> Result<Option<Staleness>> {
    let done = on(store, |io, facts| with_copy(io, facts, path, dialect, Consolidation::compare));
    done.map_err(|error| of_group(error, path))
}

/// Async form of [`staleness`]: compares the consolidated metadata of the group at `path` with the nodes below it.
///
/// # Errors
/// The errors of [`staleness`].
pub async fn staleness_async(
    store: &dyn AsyncStore,
    path: &str,
    dialect: Option<Dialect>,
) -> Result<Option<Staleness>> {
    let done = on_async(store, |io, facts| with_copy(io, facts, path, dialect, Consolidation::compare)).await;
    done.map_err(|error| of_group(error, path))
}

/// Removes the consolidated metadata of the group at `path`, if the group has any.
///
/// # Errors
/// [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) if there is no group; [`ErrorKind::Argument`](crate::ErrorKind::Argument) if the
/// consolidated metadata has the only documents of nodes; [`ErrorKind::Store`](crate::ErrorKind::Store).
pub fn drop_consolidated(store: &dyn Store, path: &str, dialect: Option<Dialect>) -> Result<()> {
    let done = on(store, |io, facts| with_copy(io, facts, path, dialect, Consolidation::drop));
    done.map_err(|error| of_group(error, path))
}

/// Async form of [`drop_consolidated`]: removes the consolidated metadata of the group at `path`.
///
/// # Errors
/// The errors of [`drop_consolidated`].
pub async fn drop_consolidated_async(store: &dyn AsyncStore, path: &str, dialect: Option<Dialect>) -> Result<()> {
    let done = on_async(store, |io, facts| with_copy(io, facts, path, dialect, Consolidation::drop)).await;
    done.map_err(|error| of_group(error, path))
}

/// Updates the entries of `nodes`, which were changed, in the consolidated metadata of the groups at and above them. Each document is set
/// once, on the condition that nobody else changed it meanwhile, so that readers of consolidated metadata see all changes at once.
/// Functions that change a node call this by themselves, except for arrays that are opened with the option
/// [`consolidated_later`](https://docs.rs/zarr-array/latest/zarr_array/struct.Options.html#structfield.consolidated_later). Returns the
/// groups whose consolidated metadata is now up to date for `nodes`. In stores without conditional sets, the consolidated metadata is
/// dropped.
///
/// # Errors
/// [`ErrorKind::Store`](crate::ErrorKind::Store), also if consolidated metadata would have to be dropped that has the only documents of
/// nodes. The nodes are changed in any case.
pub fn renew_consolidated(store: &dyn Store, nodes: &[StoredNode]) -> Result<Vec<NodePath>> {
    let job = RenewConsolidated::new(nodes.to_vec(), store.capabilities()).job();
    run(store, job).map_err(|error| in_store(store, made_without_consolidated(error)))
}

/// Async form of [`renew_consolidated`]: updates the entries of `nodes` in the consolidated metadata of the groups at and above them.
///
/// # Errors
/// The errors of [`renew_consolidated`].
pub async fn renew_consolidated_async(store: &dyn AsyncStore, nodes: &[StoredNode]) -> Result<Vec<NodePath>> {
    let job = RenewConsolidated::new(nodes.to_vec(), store.capabilities()).job();
    run_async(store, job).await.map_err(|error| in_store(store, made_without_consolidated(error)))
}

/// Returns the groups at and above `path` that have consolidated metadata, the deepest group first. Creating, replacing, shrinking or
/// erasing a node at `path` makes this metadata stale, and the functions that do so drop it. Groups that are missing or unreadable are left
/// out.
///
/// # Errors
/// [`ErrorKind::Store`](crate::ErrorKind::Store); [`ErrorKind::Path`](crate::ErrorKind::Path).
pub fn consolidated_above(store: &dyn Store, path: &str) -> Result<Vec<NodePath>> {
    let path = parse_path(path).map_err(|error| in_store(store, error))?;
    let mut found = Vec::new();
    for group in std::iter::successors(Some(path), NodePath::parent) {
        let node = match open_node(store, &group.to_string(), None) {
            Ok(node) => node,
            Err(error) if error.kind() == ErrorKind::Store => return Err(error),
            Err(_) => continue,
        };
        let is_consolidated = match consolidated::document_key(&node) {
            Some(key) => store.exists(&Key::new(&key)?).map_err(|error| in_store(store, error.into()))?,
            None => node.node.as_group().is_some_and(|group| group.consolidated.is_some()),
        };
        if is_consolidated {
            found.push(group);
        }
    }
    Ok(found)
}

/// Compares `copy`, the consolidated metadata of `group`, with `nodes`. Nodes that are not below the group are ignored.
///
/// # Errors
/// If the dialect has no consolidated metadata, or if the nodes are not of one dialect.
pub fn compare_consolidated(group: &StoredNode, copy: &Consolidated, nodes: &[StoredNode]) -> Result<Staleness> {
    let collected = Consolidated::collect(group.dialect, &group.path, nodes)?;
    Ok(compare(group, copy, &collected))
}

/// Adds the path of the group to an error. A failed request ends the operation before the operation adds the path.
fn of_group(error: Error, path: &str) -> Error {
    error.at(|location| location.path = Some(path.to_owned()))
}

/// Opens the group at `path` and calls `verb` with its consolidated metadata.
async fn with_copy<T, F: Future<Output = Result<T>>>(
    io: Io,
    facts: Facts,
    path: &str,
    dialect: Option<Dialect>,
    verb: impl FnOnce(Consolidation, Io) -> F,
) -> Result<T> {
    let group = open(io.clone(), facts, path, dialect, None).await?;
    let path = group.path.clone();
    verb(Consolidation { group, capabilities: facts.capabilities }, io).await.map_err(|error| error.at_path(&path))
}

/// Maximum number of attempts to write consolidated metadata when other writers replace it meanwhile.
const MAX_TRIES: u32 = 100;
/// Maximum total duration of the attempts; each attempt walks the whole hierarchy.
const PATIENCE: Duration = Duration::from_secs(600);

/// Maximum number of additional comparisons after the first consolidated metadata of a group was written.
const MAX_LOOKS: u32 = 5;

/// Result of one attempt to write consolidated metadata.
enum Written {
    /// Nothing was written: another writer replaced the document meanwhile.
    Replaced,
    /// The group had no consolidated metadata before, and now has the given number of nodes. Writers that changed a node meanwhile saw no
    /// consolidated metadata to update or drop.
    First(u64),
    /// The group had consolidated metadata before its nodes were read, and now has the given number of nodes. Writers that change a node
    /// later update or drop it, so that the conditional set fails.
    Again(u64),
}

/// Consolidated metadata of a group that is to be written, compared or dropped.
#[derive(Debug)]
struct Consolidation {
    group: StoredNode,
    capabilities: Capabilities,
}

impl Consolidation {
    /// Writes the consolidated metadata from the present nodes. Returns the number of nodes.
    async fn write(mut self, io: Io) -> Result<u64> {
        let mut conflicts = Conflicts::new(MAX_TRIES).patience(PATIENCE);
        let mut looks = 0;
        // A group without a document of its own, which only consolidated metadata has, is not read again.
        let has_document = !self.group.implicit && !self.group.documents.are_consolidated();
        loop {
            match self.write_once(&io, looks > 0).await? {
                Written::First(_) if looks < MAX_LOOKS && has_document => looks += 1,
                Written::First(nodes) | Written::Again(nodes) => return Ok(nodes),
                Written::Replaced => {
                    let Some(duration) = conflicts.again() else {
                        let message =
                            format!("others replaced the consolidated metadata {conflicts} while it was made");
                        return Err(Error::new(ErrorKind::Conflict, message));
                    };
                    io.pause(duration).await?;
                }
            }
            // The group is read again before the nodes, so that its consolidated metadata is older than the nodes.
            self.group = ReadNewest::new(&self.group).run(&io).await?.found;
        }
    }

    /// Makes one attempt to write the consolidated metadata. If `again`, nothing is written unless the stored consolidated metadata differs
    /// from the nodes.
    async fn write_once(&self, io: &Io, again: bool) -> Result<Written> {
        let key = self.key()?;
        // The condition for the document of consolidated metadata, and whether there was any that other writers would have updated.
        let (when, had_copy) = match &key {
            Some(key) if self.capabilities.conditional => {
                match &io.get(vec![jobs::get_document(key.clone())]).await?[..] {
                    [Some(fetched)] => match fetched.version.clone() {
                        Some(version) => (Precondition::Version(version), true),
                        None => (Precondition::None, false),
                    },
                    _ => (Precondition::NotExists, false),
                }
            }
            Some(_) => (Precondition::None, false),
            None => (Precondition::None, self.capabilities.conditional && self.inside().is_some()),
        };
        let mut walk = self.walk(io, false).await?;
        if walk.nodes.iter().any(|node| node.documents.are_consolidated()) {
            self.keep_copied(&mut walk.nodes, walk.consolidated.take());
        }
        let collected = Consolidated::collect(self.group.dialect, &self.group.path, &walk.nodes)?;
        // An implicit group has no document to include.
        let copied = walk.nodes.iter().filter(|node| node.path == self.group.path || !node.implicit);
        let nodes = copied.count() as u64;
        let is_same = |copy: &Consolidated| !compare(&self.group, copy, &collected).is_stale();
        if again && walk.consolidated.as_ref().is_some_and(is_same) {
            return Ok(Written::Again(nodes));
        }
        drop(walk);
        let is_written = match key {
            Some(key) => io.change(vec![jobs::set_document(key, collected.to_v2(), when, true)]).await?,
            None => {
                let before = self.inside().cloned().map(Box::new);
                let edit = Edit::Consolidated { before, copy: Box::new(collected) };
                match revise(io, &self.group, &edit, self.capabilities).await {
                    Err(error) if error.kind() == ErrorKind::Conflict => false,
                    revised => revised.map(|_| true)?,
                }
            }
        };
        Ok(match (is_written, had_copy) {
            (false, _) => Written::Replaced,
            (true, false) => Written::First(nodes),
            (true, true) => Written::Again(nodes),
        })
    }

    /// Compares the consolidated metadata with the nodes; `None` if the group has none.
    async fn compare(self, io: Io) -> Result<Option<Staleness>> {
        let is_there = match self.key()? {
            Some(key) => matches!(&io.get(vec![jobs::get_document(key)]).await?[..], [Some(_)]),
            None => self.inside().is_some(),
        };
        if !is_there {
            return Ok(None);
        }
        let walk = self.walk(&io, true).await?;
        let collected = Consolidated::collect(self.group.dialect, &self.group.path, &walk.nodes)?;
        match (walk.consolidated, walk.bad_consolidated.into_iter().next()) {
            (None, Some(error)) => Err(error),
            (copy, _) => Ok(copy.map(|copy| compare(&self.group, &copy, &collected))),
        }
    }

    /// Drops the consolidated metadata if the group has any, after a check that no document would be lost.
    async fn drop(self, io: Io) -> Result<()> {
        let Some(key) = self.key()? else {
            let Some(copy) = self.inside().cloned() else { return Ok(()) };
            self.check(&io, Some(copy)).await?;
            return revise(&io, &self.group, &Edit::WithoutConsolidated, self.capabilities).await.map(drop);
        };
        let document = io.get(vec![jobs::get_document(key.clone())]).await?.pop().flatten();
        let Some(mut document) = document else { return Ok(()) };
        if consolidated::is_cut_off(key.as_str(), document.part(0)) {
            let whole = io.get(vec![jobs::get_whole_document(key.clone())]).await?.pop().flatten();
            let Some(whole) = whole else { return Ok(()) };
            document = whole;
        }
        // A document that cannot be read has no nodes that could be lost.
        let copy = Consolidated::parse_document(self.group.dialect, key.as_str(), document.part(0));
        drop(document);
        self.check(&io, copy.ok().flatten()).await?;
        io.change(vec![Request::Erase { key }]).await?;
        Ok(())
    }

    /// Checks that `copy` does not have the only documents of any node.
    async fn check(&self, io: &Io, copy: Option<Consolidated>) -> Result<()> {
        let copies: Vec<_> = copy.map(|copy| self.found_consolidated(copy)).into_iter().collect();
        check_only_consolidated(io, copies, None, &[], self.capabilities).await
    }

    /// Key of the document of consolidated metadata; `None` if consolidated metadata is a member of the group's document.
    fn key(&self) -> Result<Option<Key>> {
        if self.group.node.as_array().is_some() {
            return Err(Error::new(ErrorKind::NotFound, "found an array, expected a group"));
        }
        Ok(consolidated::document_key(&self.group).map(|key| Key::new(&key)).transpose()?)
    }

    /// Consolidated metadata in the group's own document; `None` if there is none.
    fn inside(&self) -> Option<&Consolidated> {
        self.group.node.as_group()?.consolidated.as_ref()
    }

    fn found_consolidated(&self, copy: Consolidated) -> FoundConsolidated {
        let has_document = !self.group.implicit && !self.group.documents.are_consolidated();
        FoundConsolidated::new(self.group.dialect, self.group.path.clone(), has_document, copy)
    }

    /// Walks the group and all nodes below it; returns the first error of a broken node.
    async fn walk(&self, io: &Io, is_stored_only: bool) -> Result<Walk> {
        let mut walk = WalkJob::new(self.group.clone(), None, true).stored_only(is_stored_only).run(io).await?;
        if walk.broken.is_empty() { Ok(walk) } else { Err(walk.broken.remove(0)) }
    }

    /// Adds to `nodes` the nodes that only the consolidated metadata `copy` has, if the documents of some are missing: nodes without values
    /// may be among them, like nodes that were erased.
    fn keep_copied(&self, nodes: &mut Vec<StoredNode>, copy: Option<Consolidated>) {
        let copied = copy.map(|copy| self.found_consolidated(copy).nodes_below(&self.group.path)).unwrap_or_default();
        let known: BTreeSet<NodePath> =
            nodes.iter().filter(|node| !node.implicit).map(|node| node.path.clone()).collect();
        let more: Vec<StoredNode> = copied.into_iter().filter(|node| !known.contains(&node.path)).collect();
        nodes.retain(|node| more.iter().all(|copied| copied.path != node.path));
        nodes.extend(more);
        nodes.sort_by(|a, b| a.path.cmp(&b.path));
    }
}

/// Compares the meaning of documents in consolidated metadata `copy` and `now`, node by node.
fn compare(group: &StoredNode, copy: &Consolidated, now: &Consolidated) -> Staleness {
    let values = |from: &Consolidated| -> BTreeMap<NodePath, Value> {
        let nodes = from.nodes(&group.path).into_iter();
        nodes.map(|(path, documents)| (path.clone(), meaning(group.dialect, path, &documents))).collect()
    };
    let (copy, now) = (values(copy), values(now));
    let lacks = |of: &BTreeMap<NodePath, Value>, from: &BTreeMap<NodePath, Value>| {
        of.keys().filter(|path| !from.contains_key(path)).cloned().collect()
    };
    let differs = |(path, value): (&NodePath, &Value)| {
        copy.get(path).filter(|it| !it.semantically_eq(value)).map(|_| path.clone())
    };
    Staleness {
        missing: lacks(&now, &copy),
        gone: lacks(&copy, &now),
        changed: now.iter().filter_map(differs).collect(),
    }
}

/// Meaning of the documents of a node, for comparison: the node as it is read, or the parsed documents if the node cannot be read.
fn meaning(dialect: Dialect, path: NodePath, documents: &Documents) -> Value {
    let read =
        StoredNode::read(dialect, path, documents).ok().flatten().filter(|found| found.attributes_error.is_none());
    let Some(found) = read else {
        let text = |bytes: &[u8]| Value::from_json(std::str::from_utf8(bytes).unwrap_or_default()).unwrap_or_default();
        return Value::Object(documents.iter().map(|(key, bytes)| (key.to_owned(), text(bytes))).collect());
    };
    let mut meaning = Map::new();
    meaning.insert("node", found.node.to_canonical_value(found.dialect));
    meaning.insert("dialect", found.dialect.name());
    Value::Object(meaning)
}
