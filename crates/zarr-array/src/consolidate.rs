//! Consolidated metadata: written, looked at, and dropped.

use crate::hierarchy::{WalkJob, in_store};
use crate::node::changes;
use crate::{Error, ErrorKind, Result, Walk, jobs, open_node, open_node_async};
use std::collections::BTreeMap;
use zarr_meta::json::Value;
use zarr_meta::{Consolidated, Dialect, Found, Node, NodePath};
use zarr_store::{AsyncStore, Job, Key, Next, Precondition, Reply, Request, Store, run, run_async};

/// How consolidated metadata differs from the nodes that it is a copy of. All empty: it is as if just made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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
/// them without asking for each. In v2 that is a document `.zmetadata`, in v3 a member of the group's document.
///
/// Whoever changes a node below without this library leaves it stale; see [`staleness`].
///
/// # Errors
/// [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) if there is no group; the first error of a node below that is broken, in
/// which case nothing is written; [`ErrorKind::UnsupportedVersion`](crate::ErrorKind::UnsupportedVersion) for a dialect that has
/// none; [`ErrorKind::Store`](crate::ErrorKind::Store).
///
/// # Example
/// ```
/// # use std::sync::Arc;
/// use zarr_array::{Group, NewGroup, Registry, Store, consolidate, staleness};
/// # let registry = Arc::new(Registry::default());
/// let store: Arc<dyn Store> = Arc::new(zarr_store::MemoryStore::new());
/// Group::create(&store, "/a/b", NewGroup::default(), &registry)?;
/// assert_eq!(staleness(&*store, "/", None)?, None);
/// consolidate(&*store, "/", None)?;
/// assert!(!staleness(&*store, "/", None)?.unwrap().is_stale());
/// # Ok::<(), zarr_array::Error>(())
/// ```
pub fn consolidate(store: &dyn Store, path: &str, dialect: Option<Dialect>) -> Result<()> {
    run_on(store, open_node(store, path, dialect)?, Verb::Write).map(drop)
}

/// As [`consolidate`], on a store that does not block.
///
/// # Errors
/// As [`consolidate`].
pub async fn consolidate_async(store: &dyn AsyncStore, path: &str, dialect: Option<Dialect>) -> Result<()> {
    run_on_async(store, open_node_async(store, path, dialect).await?, Verb::Write).await.map(drop)
}

/// Compares the consolidated metadata of the group at `path` with the nodes below it; `None` if it has none.
///
/// # Errors
/// As [`consolidate`].
pub fn staleness(store: &dyn Store, path: &str, dialect: Option<Dialect>) -> Result<Option<Staleness>> {
    run_on(store, open_node(store, path, dialect)?, Verb::Compare)
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
    run_on_async(store, open_node_async(store, path, dialect).await?, Verb::Compare).await
}

/// Drops the consolidated metadata of the group at `path`, if it has any.
///
/// # Errors
/// [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) if there is no group; [`ErrorKind::Store`](crate::ErrorKind::Store).
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

fn run_on(store: &dyn Store, found: Found, verb: Verb) -> Result<Option<Staleness>> {
    let path = found.path.to_string();
    let job = ConsolidateJob::new(found, verb);
    run(store, job).map_err(|error| in_store(store, error.at(|place| place.path = Some(path))))
}

async fn run_on_async(store: &dyn AsyncStore, found: Found, verb: Verb) -> Result<Option<Staleness>> {
    let path = found.path.to_string();
    let job = ConsolidateJob::new(found, verb);
    run_async(store, job).await.map_err(|error| in_store(store, error.at(|place| place.path = Some(path))))
}

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verb {
    Write,
    Compare,
    Drop,
}

/// Walks the nodes, and then writes, compares or drops.
#[derive(Debug)]
struct ConsolidateJob {
    group: Found,
    verb: Verb,
    walk: Option<Box<WalkJob>>,
}

impl ConsolidateJob {
    fn new(group: Found, verb: Verb) -> Self {
        let walk = (verb != Verb::Drop).then(|| Box::new(WalkJob::new(group.clone(), None, true)));
        Self { group, verb, walk }
    }

    /// What to write, or the answer.
    fn walked(&mut self, walk: Walk) -> Result<Next<Self>> {
        if let Some(error) = walk.broken.into_iter().next() {
            return Err(error);
        }
        let group = &self.group;
        let collected = Consolidated::collect(group.dialect, &group.path, &walk.nodes)?;
        if self.verb == Verb::Compare {
            if let (None, Some(error)) = (&walk.consolidated, walk.bad_copies.into_iter().next()) {
                return Err(error);
            }
            return Ok(Next::Done(walk.consolidated.map(|copy| compare(&group.path, &copy, &collected))));
        }
        let requests = match (zarr_meta::consolidated::document_key(group), &group.node) {
            (Some(key), _) => {
                vec![Request::Set { key: Key::new(&key)?, value: collected.to_v2(), when: Precondition::None }]
            }
            (None, Node::Group(metadata)) => {
                let mut metadata = metadata.clone();
                metadata.consolidated = Some(collected);
                let node = Node::Group(metadata);
                changes(zarr_meta::documents(group.dialect, &group.path, &node, Some(&group.documents))?)?
            }
            (None, Node::Array(_)) => Vec::new(),
        };
        Ok(Next::Ask(requests))
    }
}

impl Job for ConsolidateJob {
    type Output = Option<Staleness>;
    type Error = Error;

    fn step(&mut self, replies: &[Reply]) -> Result<Next<Self>> {
        if self.group.node.as_array().is_some() {
            return Err(Error::new(ErrorKind::NotFound, "found an array, expected a group"));
        }
        if let Some(walk) = self.walk.take() {
            return jobs::within(self, walk, replies, |job, walk| job.walk = Some(walk), Self::walked);
        }
        if self.verb == Verb::Drop && replies.is_empty() {
            let requests = changes(zarr_meta::consolidated::without_consolidated(&self.group)?)?;
            return Ok(if requests.is_empty() { Next::Done(None) } else { Next::Ask(requests) });
        }
        Ok(Next::Done(None))
    }
}

/// Compares by what documents mean, node by node.
fn compare(group: &NodePath, copy: &Consolidated, now: &Consolidated) -> Staleness {
    let values = |from: &Consolidated| -> BTreeMap<NodePath, Value> {
        let documents = |documents: zarr_meta::Documents| {
            let parsed = documents.iter().map(|(key, bytes)| {
                let text = std::str::from_utf8(bytes).unwrap_or_default();
                (key.to_owned(), Value::from_json(text).unwrap_or_default())
            });
            Value::Object(parsed.filter(|(_, value)| *value != Value::Object(Default::default())).collect())
        };
        from.nodes(group).into_iter().map(|(path, found)| (path, documents(found))).collect()
    };
    let (copy, now) = (values(copy), values(now));
    let lacks = |of: &BTreeMap<NodePath, Value>, from: &BTreeMap<NodePath, Value>| {
        of.keys().filter(|path| !from.contains_key(path)).cloned().collect()
    };
    let differs =
        |(path, value): (&NodePath, &Value)| copy.get(path).filter(|it| !it.same(value)).map(|_| path.clone());
    Staleness {
        missing: lacks(&now, &copy),
        gone: lacks(&copy, &now),
        changed: now.iter().filter_map(differs).collect(),
    }
}
