//! Erasing a node and all that lies below it.

use super::change::Ancestors;
use crate::chunk_keys::Keys;
use crate::hierarchy::WalkJob;
use crate::{Error, Result, Walk, jobs};
use std::collections::BTreeSet;
use zarr_meta::{Dialect, Documents, Found, NodePath};
use zarr_store::{Job, Key, Next, Prefix, Reply, Request};

/// Erases a node: the chunks below it first, its documents last, so that an interrupted erase leaves a node that can be
/// erased again.
///
/// Walk ── the root: what is of its nodes ──► List ── keys ──► Below ── erased ──► Documents ──► Erased ──► Above ──► Done
///   (other nodes begin at List)
///
/// All that lies under the path of a node is the node's. The root is the folder that the store lies in, which may hold
/// anything: there only what belongs to nodes is erased, and so it is where the node was moved, so that nothing is erased that
/// was not copied.
#[derive(Debug)]
pub(crate) struct EraseNode {
    found: Found,
    /// Whether to look at the groups above, whose consolidated metadata becomes stale.
    above: bool,
    extent: Extent,
    belongings: Belongings,
    state: State,
}

/// How much is taken to be a node's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extent {
    /// All under its path.
    Path,
    /// What belongs to nodes, and all under the paths of arrays.
    Nodes,
    /// Documents and chunks, of one dialect.
    Keys,
}

#[derive(Debug)]
enum State {
    Begin,
    Walk(Box<WalkJob>),
    Below,
    Documents,
    Erased,
    Above(Box<Ancestors>),
    Done,
}

/// What is to be erased.
#[derive(Debug, Default)]
struct Belongings {
    /// Prefixes below which everything goes.
    prefixes: BTreeSet<String>,
    /// Arrays whose chunks lie among other things.
    chunks: Vec<Keys>,
    documents: BTreeSet<String>,
}

impl EraseNode {
    pub(crate) fn new(found: Found) -> Self {
        let extent = if found.path.is_root() { Extent::Nodes } else { Extent::Path };
        Self { found, above: true, extent, belongings: Belongings::default(), state: State::Begin }
    }

    /// To erase what was moved: nothing that is no document and no chunk.
    pub(crate) fn moved(found: Found) -> Self {
        Self { extent: Extent::Keys, ..Self::new(found) }
    }

    /// To erase what is in the way of a node whose ancestors are looked at in any case.
    pub(crate) fn alone(found: Found) -> Self {
        Self { above: false, ..Self::new(found) }
    }

    fn list(&mut self) -> Result<Next<Self>> {
        self.state = State::Below;
        let among = self.belongings.chunks.iter().flat_map(Keys::prefixes);
        let prefixes: BTreeSet<&str> = self.belongings.prefixes.iter().map(String::as_str).chain(among).collect();
        let list = |prefix: &&str| Ok(Request::ListAll { prefix: Prefix::new(prefix)? });
        let requests = prefixes.iter().map(list).collect::<Result<Vec<_>>>()?;
        if requests.is_empty() { self.step(&[]) } else { Ok(Next::Ask(requests)) }
    }

    /// Looks for the nodes below, and then for all that belongs to them.
    fn walk(&mut self, walk: Box<WalkJob>, replies: &[Reply]) -> Result<Next<Self>> {
        jobs::within(
            self,
            walk,
            replies,
            |job, walk| job.state = State::Walk(walk),
            |job, walk| {
                job.belongings = Belongings::of_nodes(&walk, job.found.dialect, job.extent);
                job.list()
            },
        )
    }

    /// Drops what becomes stale above.
    fn above(&mut self, ancestors: Box<Ancestors>, replies: &[Reply]) -> Result<Next<Self>> {
        let wait = |job: &mut Self, ancestors| job.state = State::Above(ancestors);
        jobs::within(self, ancestors, replies, wait, |_, above| {
            Ok(if above.stale.is_empty() { Next::Done(()) } else { Next::Ask(above.stale) })
        })
    }

    fn ask_erase(&mut self, keys: BTreeSet<Key>, then: State) -> Result<Next<Self>> {
        self.state = then;
        if keys.is_empty() {
            return self.step(&[]);
        }
        Ok(Next::Ask(keys.into_iter().map(|key| Request::Erase { key }).collect()))
    }
}

impl Belongings {
    /// All below the path of a node.
    fn of_node(found: &Found) -> Self {
        let owned = found.owned();
        let mut documents: BTreeSet<String> = owned.keys.into_iter().collect();
        documents.extend(found.own_documents().map(str::to_owned));
        Self { prefixes: owned.prefixes.into_iter().collect(), documents, ..Self::default() }
    }

    /// What belongs to each of the nodes.
    fn of_nodes(walk: &Walk, dialect: Dialect, extent: Extent) -> Self {
        let mut belongings = Self::default();
        let none = Documents::new();
        for found in &walk.nodes {
            belongings.documents.extend(found.own_documents().map(str::to_owned));
            belongings.documents.extend(zarr_meta::consolidated::document_key(found));
            // Documents of version 2 beside those of version 3, and the other way around, would be found again.
            let beside =
                [Dialect::V2, Dialect::V3].into_iter().filter(|_| extent == Extent::Nodes && is_plain(dialect));
            belongings.documents.extend(beside.flat_map(|other| zarr_meta::document_keys(other, &found.path, &none)));
            if found.node.as_array().is_none() {
                continue;
            }
            let prefix = found.chunk_prefix();
            match Keys::new(found) {
                Ok(keys) if extent == Extent::Keys || prefix.is_empty() => belongings.chunks.push(keys),
                // Keys of a form that is not known cannot be told from those of anything else.
                Err(_) if prefix.is_empty() => {}
                _ => drop(belongings.prefixes.insert(prefix)),
            }
        }
        for broken in walk.broken.iter().filter_map(|error| NodePath::parse(error.location().path.as_deref()?).ok()) {
            // Documents that cannot be read would be in the way of others, and chunks would become theirs.
            belongings.documents.extend(zarr_meta::document_keys(dialect, &broken, &none));
            if !broken.is_root() {
                belongings.prefixes.extend(zarr_meta::owned(dialect, &broken, &none).prefixes);
            }
        }
        belongings
    }

    /// Whether a key that is no document's is to be erased.
    fn has(&self, key: &Key) -> bool {
        self.prefixes.iter().any(|prefix| key.as_str().starts_with(prefix.as_str()))
            || self.chunks.iter().any(|chunks| chunks.chunk_at(key).is_some())
    }
}

/// Whether the documents of nodes lie below their paths.
fn is_plain(dialect: Dialect) -> bool {
    matches!(dialect, Dialect::V2 | Dialect::V3 | Dialect::V3Of2023)
}

/// Erases a node that cannot be read, and all that lies below it, as if it were of some dialect. At the root, where anything
/// may lie, only documents.
#[derive(Debug)]
pub(crate) struct EraseBroken {
    path: NodePath,
    dialect: Dialect,
    step: usize,
}

impl EraseBroken {
    pub(crate) fn new(path: NodePath, dialect: Dialect) -> Self {
        Self { path, dialect, step: 0 }
    }

    /// The keys at which it may have documents. Those of the oldest dialects are words that a file may have for a name.
    fn documents(&self) -> Result<Vec<Key>> {
        let none = Documents::new();
        let dialects = Dialect::ALL.into_iter().filter(|dialect| *dialect > Dialect::V1);
        let keys = dialects.flat_map(|dialect| zarr_meta::document_keys(dialect, &self.path, &none));
        keys.map(|key| Ok(Key::new(&key)?)).collect()
    }
}

impl Job for EraseBroken {
    type Output = ();
    type Error = Error;

    fn step(&mut self, replies: &[Reply]) -> Result<Next<Self>> {
        self.step += 1;
        let owned = zarr_meta::owned(self.dialect, &self.path, &Documents::new());
        match self.step {
            1 if !self.path.is_root() => {
                let list = |prefix: &String| Ok(Request::ListAll { prefix: Prefix::new(prefix)? });
                Ok(Next::Ask(owned.prefixes.iter().map(list).collect::<Result<_>>()?))
            }
            1 | 2 => {
                self.step = 2;
                let listed = |reply: &Reply| if let Reply::Keys(keys) = reply { keys.clone() } else { Vec::new() };
                let mut keys: BTreeSet<Key> = replies.iter().flat_map(listed).collect();
                keys.extend(self.documents()?);
                Ok(Next::Ask(keys.into_iter().map(|key| Request::Erase { key }).collect()))
            }
            _ => Ok(Next::Done(())),
        }
    }
}

impl Job for EraseNode {
    type Output = ();
    type Error = Error;

    fn step(&mut self, replies: &[Reply]) -> Result<Next<Self>> {
        match std::mem::replace(&mut self.state, State::Done) {
            State::Begin if self.extent != Extent::Path => {
                self.walk(Box::new(WalkJob::new(self.found.clone(), None, true)), &[])
            }
            State::Begin => {
                self.belongings = Belongings::of_node(&self.found);
                self.list()
            }
            State::Walk(walk) => self.walk(walk, replies),
            State::Below => {
                let keys = |reply: &Reply| if let Reply::Keys(keys) = reply { keys.clone() } else { Vec::new() };
                let listed: BTreeSet<Key> = replies.iter().flat_map(keys).collect();
                let is_other = |key: &Key| !self.belongings.documents.contains(key.as_str());
                let below = listed.into_iter().filter(|key| is_other(key) && self.belongings.has(key)).collect();
                self.ask_erase(below, State::Documents)
            }
            State::Documents => {
                let keys = std::mem::take(&mut self.belongings.documents);
                let keys = keys.iter().map(|key| Ok(Key::new(key)?)).collect::<Result<_>>()?;
                self.ask_erase(keys, if self.above { State::Erased } else { State::Done })
            }
            State::Erased => self.above(Box::new(Ancestors::new(&self.found)), &[]),
            State::Above(ancestors) => self.above(ancestors, replies),
            State::Done => Ok(Next::Done(())),
        }
    }
}
