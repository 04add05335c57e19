//! Consolidated metadata: written, looked at, and dropped.
//!
//! Whatever makes, erases or cuts off a node first drops the consolidated metadata of the groups above, which would be wrong
//! (`node/ancestors.rs`). A change that leaves what was there exchanges the copies afterwards (`node/copies.rs`). Whether a copy is
//! stale is asked of the meaning of documents, not of their text, since other software copies them from its own model.

use crate::hierarchy::{Facts, WalkJob, in_store, on, on_async, open};
use crate::jobs::Operation;
use crate::node::{Edit, ReadNewest, RenewCopies, check_only_copied, made_without_copies, parse_path, revise};
use crate::{Error, ErrorKind, Result, Walk, jobs, open_node};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use zarr_drive::{Io, run, run_async};
use zarr_json::{Map, Value};
use zarr_meta::consolidated::{self, FoundCopy};
use zarr_meta::{Consolidated, Dialect, Documents, NodePath, StoredNode};
use zarr_store::{AsyncStore, Capabilities, Conflicts, Key, Precondition, Request, Store, StoreExt};

/// How consolidated metadata differs from the nodes that it is a copy of. All empty: it is as if just made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Staleness {
    /// Nodes that are there, and not in the copy.
    pub missing: Vec<NodePath>,
    /// Nodes in the copy that are not there.
    pub gone: Vec<NodePath>,
    /// Nodes whose metadata or attributes are others now.
    pub changed: Vec<NodePath>,
}

impl Staleness {
    /// Whether the copy says something else than the nodes.
    pub fn is_stale(&self) -> bool {
        !(self.missing.is_empty() && self.gone.is_empty() && self.changed.is_empty())
    }
}

/// Writes consolidated metadata of the group at `path`: copies of the metadata of all nodes below it, with which a reader opens
/// them without asking for each. In v2 that is a document `.zmetadata`, in v3 a member of the group's document. Returns the number of
/// nodes: the group, and those below whose metadata were copied.
///
/// Whoever changes a node below without this library leaves it stale; see [`staleness`]. So may changes that others make at the
/// same time: this is for hierarchies that rest.
///
/// # Errors
/// [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) if there is no group; the first error of a node below that is broken, in
/// which case nothing is written; [`ErrorKind::UnsupportedVersion`](crate::ErrorKind::UnsupportedVersion) for a dialect that has
/// none; [`ErrorKind::Store`](crate::ErrorKind::Store).
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
    let done = on(store, |io, facts| with_copy(io, facts, path, dialect, CopyOf::write));
    done.map_err(|error| of_group(error, path))
}

/// As [`consolidate`], on a store that does not block.
///
/// # Errors
/// As [`consolidate`].
pub async fn consolidate_async(store: &dyn AsyncStore, path: &str, dialect: Option<Dialect>) -> Result<u64> {
    let done = on_async(store, |io, facts| with_copy(io, facts, path, dialect, CopyOf::write)).await;
    done.map_err(|error| of_group(error, path))
}

/// Compares the consolidated metadata of the group at `path` with the nodes below it; `None` if it has none.
///
/// # Errors
/// As [`consolidate`].
pub fn staleness(store: &dyn Store, path: &str, dialect: Option<Dialect>) -> Result<Option<Staleness>> {
    let done = on(store, |io, facts| with_copy(io, facts, path, dialect, CopyOf::compare));
    done.map_err(|error| of_group(error, path))
}

/// As [`staleness`], on a store that does not block.
///
/// # Errors
/// As [`staleness`].
pub async fn staleness_async(
    store: &dyn AsyncStore,
    path: &str,
    dialect: Option<Dialect>,
) -> Result<Option<Staleness>> {
    let done = on_async(store, |io, facts| with_copy(io, facts, path, dialect, CopyOf::compare)).await;
    done.map_err(|error| of_group(error, path))
}

/// Drops the consolidated metadata of the group at `path`, if it has any.
///
/// # Errors
/// [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) if there is no group; [`ErrorKind::Argument`](crate::ErrorKind::Argument) if it has
/// the only documents of nodes; [`ErrorKind::Store`](crate::ErrorKind::Store).
pub fn drop_consolidated(store: &dyn Store, path: &str, dialect: Option<Dialect>) -> Result<()> {
    let done = on(store, |io, facts| with_copy(io, facts, path, dialect, CopyOf::drop));
    done.map_err(|error| of_group(error, path))
}

/// As [`drop_consolidated`], on a store that does not block.
///
/// # Errors
/// As [`drop_consolidated`].
pub async fn drop_consolidated_async(store: &dyn AsyncStore, path: &str, dialect: Option<Dialect>) -> Result<()> {
    let done = on_async(store, |io, facts| with_copy(io, facts, path, dialect, CopyOf::drop)).await;
    done.map_err(|error| of_group(error, path))
}

/// Puts nodes that were changed into the consolidated metadata of the groups at and above them, where these have some: each document by one
/// set, on the condition that nobody else changes it meanwhile, so that readers by consolidated metadata see all changes at once. Functions
/// that change a node do so by themselves; of an array it is left to this where
/// [`consolidated_later`](https://docs.rs/zarr-array/latest/zarr_array/struct.Options.html#structfield.consolidated_later) says so.
/// Gives the groups whose consolidated metadata has these nodes now. In stores without conditional sets it is dropped.
///
/// # Errors
/// [`ErrorKind::Store`](crate::ErrorKind::Store), also if it would be dropped and has the only documents of nodes: the nodes are changed in any case.
pub fn renew_copies(store: &dyn Store, nodes: &[StoredNode]) -> Result<Vec<NodePath>> {
    let job = RenewCopies::new(nodes.to_vec(), store.capabilities()).job();
    run(store, job).map_err(|error| in_store(store, made_without_copies(error)))
}

/// As [`renew_copies`], on a store that does not block.
///
/// # Errors
/// As [`renew_copies`].
pub async fn renew_copies_async(store: &dyn AsyncStore, nodes: &[StoredNode]) -> Result<Vec<NodePath>> {
    let job = RenewCopies::new(nodes.to_vec(), store.capabilities()).job();
    run_async(store, job).await.map_err(|error| in_store(store, made_without_copies(error)))
}

/// The groups at `path` and above that have consolidated metadata, the deepest first: a node that is made, replaced or erased at `path`, or
/// made smaller, makes it stale, and the functions that do so drop it. Groups that are missing or cannot be read have none.
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

/// Compares `copy`, consolidated metadata of `group`, with `nodes`: those below the group, and others, which do not count.
///
/// # Errors
/// If the nodes cannot be brought together, for a dialect that has no consolidated metadata.
pub fn compare_consolidated(group: &StoredNode, copy: &Consolidated, nodes: &[StoredNode]) -> Result<Staleness> {
    let collected = Consolidated::collect(group.dialect, &group.path, nodes)?;
    Ok(compare(group, copy, &collected))
}

/// The error with the path of the group, which an operation does not add that a failed request has ended.
fn of_group(error: Error, path: &str) -> Error {
    error.at(|location| location.path = Some(path.to_owned()))
}

/// Does something with the consolidated metadata of the group at `path`.
async fn with_copy<T, F: Future<Output = Result<T>>>(
    io: Io,
    facts: Facts,
    path: &str,
    dialect: Option<Dialect>,
    verb: impl FnOnce(CopyOf, Io) -> F,
) -> Result<T> {
    let group = open(io.clone(), facts, path, dialect, None).await?;
    let path = group.path.clone();
    verb(CopyOf { group, capabilities: facts.capabilities }, io).await.map_err(|error| error.at_path(&path))
}

/// How often a copy is made again when others replace it in between.
const MAX_TRIES: u32 = 100;
/// The time for all of them: each walks through the whole hierarchy.
const PATIENCE: Duration = Duration::from_secs(600);

/// How often the nodes are looked at once more where there was no copy before.
const MAX_LOOKS: u32 = 5;

/// The result of an attempt to write consolidated metadata, with the number of its nodes.
enum Written {
    /// Others replaced it meanwhile.
    Replaced,
    /// There was no copy before: who changed a node since it was looked at knew of none that had to be exchanged or dropped.
    First(u64),
    /// There was a copy before the nodes were looked at: who changes one of them afterwards exchanges or drops it, so that no other is set
    /// then.
    Again(u64),
}

/// The consolidated metadata of a group, to be written, compared or dropped.
#[derive(Debug)]
struct CopyOf {
    group: StoredNode,
    capabilities: Capabilities,
}

impl CopyOf {
    /// Writes it again, with the nodes as they are. Returns the number of nodes.
    async fn write(mut self, io: Io) -> Result<u64> {
        let mut conflicts = Conflicts::new(MAX_TRIES).patience(PATIENCE);
        let mut looks = 0;
        // A group that only a copy has is not read again: there is no document of its own.
        let has_document = !self.group.implicit && !self.group.documents.are_copies();
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
            // The group is read again: the nodes are, only after the copy that a new one may replace.
            self.group = ReadNewest::new(&self.group).run(&io).await?.found;
        }
    }

    /// Writes it; where it was looked at `again`, only if it is not as the nodes are.
    async fn write_once(&self, io: &Io, again: bool) -> Result<Written> {
        let key = self.key()?;
        // The condition for the document that the copy goes to, and whether there was a copy that another would have exchanged.
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
        if walk.nodes.iter().any(|node| node.documents.are_copies()) {
            self.keep_copied(&mut walk.nodes, walk.consolidated.take());
        }
        let collected = Consolidated::collect(self.group.dialect, &self.group.path, &walk.nodes)?;
        // A group without a document has nothing to copy.
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

    /// Compares it with the nodes; `None` if there is none.
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
        match (walk.consolidated, walk.bad_copies.into_iter().next()) {
            (None, Some(error)) => Err(error),
            (copy, _) => Ok(copy.map(|copy| compare(&self.group, &copy, &collected))),
        }
    }

    /// Drops it, if there is some, after a look whether documents would be lost.
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
        // Of a document that cannot be read nobody has the nodes.
        let copy = Consolidated::parse_document(self.group.dialect, key.as_str(), document.part(0));
        drop(document);
        self.check(&io, copy.ok().flatten()).await?;
        io.change(vec![Request::Erase { key }]).await?;
        Ok(())
    }

    /// Looks whether documents would be lost with the copy.
    async fn check(&self, io: &Io, copy: Option<Consolidated>) -> Result<()> {
        let copies: Vec<_> = copy.map(|copy| self.found_copy(copy)).into_iter().collect();
        check_only_copied(io, copies, None, &[], self.capabilities).await
    }

    /// The key of the document that it is, if it is one of its own.
    fn key(&self) -> Result<Option<Key>> {
        if self.group.node.as_array().is_some() {
            return Err(Error::new(ErrorKind::NotFound, "found an array, expected a group"));
        }
        Ok(consolidated::document_key(&self.group).map(|key| Key::new(&key)).transpose()?)
    }

    /// The consolidated metadata in the group's own document.
    fn inside(&self) -> Option<&Consolidated> {
        self.group.node.as_group()?.consolidated.as_ref()
    }

    fn found_copy(&self, copy: Consolidated) -> FoundCopy {
        let has_document = !self.group.implicit && !self.group.documents.are_copies();
        FoundCopy::new(self.group.dialect, self.group.path.clone(), has_document, copy)
    }

    /// The group and all nodes below it, none of which may be broken.
    async fn walk(&self, io: &Io, is_stored_only: bool) -> Result<Walk> {
        let mut walk = WalkJob::new(self.group.clone(), None, true).stored_only(is_stored_only).run(io).await?;
        if walk.broken.is_empty() { Ok(walk) } else { Err(walk.broken.remove(0)) }
    }

    /// Takes the other nodes of the copy along, where some are nowhere else: those without a value may be as well as those that were erased.
    fn keep_copied(&self, nodes: &mut Vec<StoredNode>, copy: Option<Consolidated>) {
        let copied = copy.map(|copy| self.found_copy(copy).nodes_below(&self.group.path)).unwrap_or_default();
        let known: BTreeSet<NodePath> =
            nodes.iter().filter(|node| !node.implicit).map(|node| node.path.clone()).collect();
        let more: Vec<StoredNode> = copied.into_iter().filter(|node| !known.contains(&node.path)).collect();
        nodes.retain(|node| more.iter().all(|copied| copied.path != node.path));
        nodes.extend(more);
        nodes.sort_by(|a, b| a.path.cmp(&b.path));
    }
}

/// Compares the meaning of documents, node by node.
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

/// The meaning of the documents of a node: the node as it is read, and as far as it cannot be read, the documents
/// themselves.
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
