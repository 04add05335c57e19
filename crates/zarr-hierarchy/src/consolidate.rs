//! Consolidated metadata: written, looked at, and dropped.

use crate::hierarchy::{WalkJob, in_store};
use crate::node::{Edit, OnlyCopied, ReadNewest, RenewCopies, Revise, made_without_copies, parse_path};
use crate::{Error, ErrorKind, Result, Walk, jobs, open_node, open_node_async};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use zarr_json::{Map, Value};
use zarr_meta::consolidated::{self, FoundCopy};
use zarr_meta::{Consolidated, Dialect, Documents, NodePath, StoredNode};
use zarr_store::{
    AsyncStore, Capabilities, Conflicts, Job, Key, Next, Precondition, Reply, Request, Store, StoreExt, run, run_async,
};

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
    run_on(store, open_node(store, path, dialect)?, Verb::Write).map(|done| done.nodes)
}

/// As [`consolidate`], on a store that does not block.
///
/// # Errors
/// As [`consolidate`].
pub async fn consolidate_async(store: &dyn AsyncStore, path: &str, dialect: Option<Dialect>) -> Result<u64> {
    run_on_async(store, open_node_async(store, path, dialect).await?, Verb::Write).await.map(|done| done.nodes)
}

/// Compares the consolidated metadata of the group at `path` with the nodes below it; `None` if it has none.
///
/// # Errors
/// As [`consolidate`].
pub fn staleness(store: &dyn Store, path: &str, dialect: Option<Dialect>) -> Result<Option<Staleness>> {
    run_on(store, open_node(store, path, dialect)?, Verb::Compare).map(|done| done.staleness)
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
    run_on_async(store, open_node_async(store, path, dialect).await?, Verb::Compare).await.map(|done| done.staleness)
}

/// Drops the consolidated metadata of the group at `path`, if it has any.
///
/// # Errors
/// [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) if there is no group; [`ErrorKind::Argument`](crate::ErrorKind::Argument) if it has
/// the only documents of nodes; [`ErrorKind::Store`](crate::ErrorKind::Store).
pub fn drop_consolidated(store: &dyn Store, path: &str, dialect: Option<Dialect>) -> Result<()> {
    run_on(store, open_node(store, path, dialect)?, Verb::Drop).map(drop)
}

/// As [`drop_consolidated`], on a store that does not block.
///
/// # Errors
/// As [`drop_consolidated`].
pub async fn drop_consolidated_async(store: &dyn AsyncStore, path: &str, dialect: Option<Dialect>) -> Result<()> {
    run_on_async(store, open_node_async(store, path, dialect).await?, Verb::Drop).await.map(drop)
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
    let job = RenewCopies::new(nodes.to_vec(), store.capabilities());
    run(store, job).map_err(|error| in_store(store, made_without_copies(error)))
}

/// As [`renew_copies`], on a store that does not block.
///
/// # Errors
/// As [`renew_copies`].
pub async fn renew_copies_async(store: &dyn AsyncStore, nodes: &[StoredNode]) -> Result<Vec<NodePath>> {
    let job = RenewCopies::new(nodes.to_vec(), store.capabilities());
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

fn run_on(store: &dyn Store, found: StoredNode, verb: Verb) -> Result<Outcome> {
    let path = found.path.to_string();
    let job = ConsolidateJob::new(found, verb, store.capabilities());
    run(store, job).map_err(|error| in_store(store, error.at(|location| location.path = Some(path))))
}

async fn run_on_async(store: &dyn AsyncStore, found: StoredNode, verb: Verb) -> Result<Outcome> {
    let path = found.path.to_string();
    let job = ConsolidateJob::new(found, verb, store.capabilities());
    run_async(store, job).await.map_err(|error| in_store(store, error.at(|location| location.path = Some(path))))
}

/// How often a copy is made again when others replace it in between.
const MAX_TRIES: u32 = 100;
/// The time for all of them: each walks through the whole hierarchy.
const PATIENCE: Duration = Duration::from_secs(600);

/// The operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verb {
    Write,
    Compare,
    Drop,
}

/// What an operation found.
#[derive(Debug, Default)]
struct Outcome {
    /// How many nodes the copy is of that was written, the group included.
    nodes: u64,
    /// How a copy differs that was compared.
    staleness: Option<Staleness>,
}

/// Walks the nodes, and then writes, compares or drops.
///
/// Begin ── a document of its own ──► Before ── to be written ──► Walk ──► Set ──► done, or replaced meanwhile: Pause, Before ...
///   │                                  └── to be dropped ──► Check ──► Set ──► done
///   ├── to be written or compared ──► Walk ──► Revise ──► done, or compared, or replaced meanwhile: Pause, Newest, Walk ...
///   └── to be dropped ──► Check ──► Revise ──► done
#[derive(Debug)]
struct ConsolidateJob {
    group: StoredNode,
    verb: Verb,
    capabilities: Capabilities,
    /// The condition for the document that the copy goes to.
    when: Precondition,
    conflicts: Conflicts,
    /// Whether a copy that was cut off was asked for as a whole.
    asked_whole: bool,
    done: Outcome,
    state: State,
}

#[derive(Debug)]
enum State {
    Begin,
    /// The document is read.
    Before,
    Walk(Box<WalkJob>),
    Check(Box<OnlyCopied>),
    Set,
    Pause,
    /// The group is read again.
    Newest(Box<ReadNewest>),
    Revise(Box<Revise>),
}

impl ConsolidateJob {
    fn new(group: StoredNode, verb: Verb, capabilities: Capabilities) -> Self {
        let (when, done) = (Precondition::None, Outcome::default());
        Self {
            group,
            verb,
            capabilities,
            when,
            conflicts: Conflicts::new(MAX_TRIES).patience(PATIENCE),
            asked_whole: false,
            done,
            state: State::Begin,
        }
    }

    fn begin(&mut self) -> Result<Next<Self>> {
        if self.group.node.as_array().is_some() {
            return Err(Error::new(ErrorKind::NotFound, "found an array, expected a group"));
        }
        let key = consolidated::document_key(&self.group).map(|key| Key::new(&key)).transpose()?;
        match (self.verb, key) {
            (Verb::Write, Some(_)) if !self.capabilities.conditional => self.begin_walk(),
            (_, Some(key)) => {
                self.state = State::Before;
                Ok(Next::Ask(vec![jobs::get_document(key)]))
            }
            (Verb::Write, None) => self.begin_walk(),
            (Verb::Compare | Verb::Drop, None) => match self.inside().cloned() {
                None => Ok(self.end()),
                Some(_) if self.verb == Verb::Compare => self.begin_walk(),
                Some(copy) => self.begin_check(Some(copy)),
            },
        }
    }

    /// The consolidated metadata in the group's own document.
    fn inside(&self) -> Option<&Consolidated> {
        self.group.node.as_group()?.consolidated.as_ref()
    }

    /// The document of consolidated metadata was read.
    fn before(&mut self, replies: &[Reply]) -> Result<Next<Self>> {
        let Some(Reply::Got(fetched)) = replies.first() else { return Err(jobs::unfit()) };
        match (self.verb, fetched) {
            (Verb::Write, Some(fetched)) => {
                self.when = fetched.version.clone().map_or(Precondition::None, Precondition::Version);
                self.begin_walk()
            }
            (Verb::Write, None) => {
                self.when = Precondition::NotExists;
                self.begin_walk()
            }
            (Verb::Compare, Some(_)) => self.begin_walk(),
            (Verb::Compare | Verb::Drop, None) => Ok(self.end()),
            (Verb::Drop, Some(fetched)) => {
                let key = consolidated::document_key(&self.group).unwrap_or_default();
                if !self.asked_whole && consolidated::is_cut_off(&key, fetched.part(0)) {
                    (self.asked_whole, self.state) = (true, State::Before);
                    return Ok(Next::Ask(vec![jobs::get_whole_document(Key::new(&key)?)]));
                }
                // Of a document that cannot be read nobody has the nodes.
                let copy = Consolidated::parse_document(self.group.dialect, &key, fetched.part(0));
                self.begin_check(copy.ok().flatten())
            }
        }
    }

    /// Looks whether documents would be lost.
    fn begin_check(&mut self, copy: Option<Consolidated>) -> Result<Next<Self>> {
        let copies: Vec<_> = copy.map(|copy| self.found_copy(copy)).into_iter().collect();
        self.check(Box::new(OnlyCopied::new(&copies, None, &[], self.capabilities)), &[])
    }

    fn found_copy(&self, copy: Consolidated) -> FoundCopy {
        let has_document = !self.group.implicit && !self.group.documents.are_copies();
        FoundCopy::new(self.group.dialect, self.group.path.clone(), has_document, copy)
    }

    fn check(&mut self, check: Box<OnlyCopied>, replies: &[Reply]) -> Result<Next<Self>> {
        let wait = |job: &mut Self, check| job.state = State::Check(check);
        jobs::within(self, check, replies, wait, |job, ()| match consolidated::document_key(&job.group) {
            Some(key) => {
                job.state = State::Set;
                Ok(Next::Ask(vec![Request::Erase { key: Key::new(&key)? }]))
            }
            None => job.revise(Edit::WithoutConsolidated),
        })
    }

    fn begin_walk(&mut self) -> Result<Next<Self>> {
        let walk = WalkJob::new(self.group.clone(), None, true).stored_only(self.verb == Verb::Compare);
        self.walk(Box::new(walk), &[])
    }

    fn walk(&mut self, walk: Box<WalkJob>, replies: &[Reply]) -> Result<Next<Self>> {
        jobs::within(self, walk, replies, |job, walk| job.state = State::Walk(walk), Self::walked)
    }

    fn revise(&mut self, edit: Edit) -> Result<Next<Self>> {
        self.go_on(Box::new(Revise::new(&self.group, edit, self.capabilities)), &[])
    }

    fn go_on(&mut self, revise: Box<Revise>, replies: &[Reply]) -> Result<Next<Self>> {
        let wait = |job: &mut Self, revise| job.state = State::Revise(revise);
        match jobs::within(self, revise, replies, wait, |job, _| Ok(job.end())) {
            Err(error) if self.verb == Verb::Write && error.kind() == ErrorKind::Conflict => self.again(),
            done => done,
        }
    }

    /// The group is read again: the nodes are, only after the copy that a new one may replace.
    fn newest(&mut self, read: Box<ReadNewest>, replies: &[Reply]) -> Result<Next<Self>> {
        jobs::within(
            self,
            read,
            replies,
            |job, read| job.state = State::Newest(read),
            |job, newest| {
                job.group = newest.found;
                job.begin()
            },
        )
    }

    fn end(&mut self) -> Next<Self> {
        Next::Done(std::mem::take(&mut self.done))
    }

    /// The writes, or the result.
    fn walked(&mut self, mut walk: Walk) -> Result<Next<Self>> {
        if let Some(error) = walk.broken.into_iter().next() {
            return Err(error);
        }
        if self.verb == Verb::Write && walk.nodes.iter().any(|node| node.documents.are_copies()) {
            self.keep_copied(&mut walk.nodes, walk.consolidated.clone());
        }
        let group = &self.group;
        let collected = Consolidated::collect(group.dialect, &group.path, &walk.nodes)?;
        if self.verb == Verb::Compare {
            if let (None, Some(error)) = (&walk.consolidated, walk.bad_copies.into_iter().next()) {
                return Err(error);
            }
            self.done.staleness = walk.consolidated.map(|copy| compare(group, &copy, &collected));
            return Ok(self.end());
        }
        // A group without a document has nothing to copy.
        let copied = walk.nodes.iter().filter(|node| node.path == group.path || !node.implicit);
        self.done.nodes = copied.count() as u64;
        match consolidated::document_key(group) {
            Some(key) => {
                self.state = State::Set;
                let (key, value, when) = (Key::new(&key)?, collected.to_v2(), self.when.clone());
                Ok(Next::Ask(vec![jobs::set_document(key, value, when, true)]))
            }
            None => {
                let before = self.inside().cloned().map(Box::new);
                self.revise(Edit::Consolidated { before, copy: Box::new(collected) })
            }
        }
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

    /// Others replaced the copy while this one was made.
    fn again(&mut self) -> Result<Next<Self>> {
        let Some(duration) = self.conflicts.again() else {
            let message = format!("others replaced the consolidated metadata {} while it was made", self.conflicts);
            return Err(Error::new(ErrorKind::Conflict, message));
        };
        self.state = State::Pause;
        Ok(Next::Ask(vec![Request::Pause { duration }]))
    }
}

impl Job for ConsolidateJob {
    type Output = Outcome;
    type Error = Error;

    fn step(&mut self, replies: &[Reply]) -> Result<Next<Self>> {
        match std::mem::replace(&mut self.state, State::Begin) {
            State::Begin => self.begin(),
            State::Pause => self.newest(Box::new(ReadNewest::new(&self.group)), &[]),
            State::Newest(read) => self.newest(read, replies),
            State::Before => self.before(replies),
            State::Walk(walk) => self.walk(walk, replies),
            State::Check(check) => self.check(check, replies),
            State::Set if matches!(replies.first(), Some(Reply::Conflict)) => self.again(),
            State::Set => Ok(self.end()),
            State::Revise(revise) => self.go_on(revise, replies),
        }
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
