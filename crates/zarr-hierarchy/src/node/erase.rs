//! Erasing a node and all that lies below it.

mod owned;

pub use owned::MIGRATION_RECORD;

use super::{Ancestors, DropUnfinished};
use crate::chunk_keys::ChunkKeys;
use crate::hierarchy::WalkJob;
use crate::jobs::InSteps;
use crate::{Error, Result, Walk, jobs};
use owned::{DocumentKeys, EraseScope, OwnedKeys};
use std::collections::{BTreeMap, BTreeSet};
use zarr_meta::{Dialect, Documents, NodePath, StoredNode};
use zarr_store::{Capabilities, Job, Key, Next, Prefix, Reply, Request};

/// Erases a node: documents first, and chunks when there is no document any more that shows them. An erase that is
/// interrupted leaves no array that reads fill values for erased chunks. The node's own documents come after the
/// documents of the nodes below, so that it can be repeated as long as there are any; but they come first where the
/// node was moved, so that no reader takes the rest of it for the whole.
///
/// Check ─► Unfinished ─► Ancestors ─► Walk ── the root: the keys of its nodes ──► List ── keys ──► Steps: documents, then chunks ──► Done
///                         (other nodes begin at List, or need no listing where a prefix vanishes at once)
///
/// All that lies under the path of a node is the node's. The root is the folder that the store lies in, which may hold
/// anything: there only keys of nodes are erased, and so it is where the node was moved: a value that was not copied,
/// be it created meanwhile, is not erased.
#[derive(Debug)]
pub struct EraseNode {
    found: StoredNode,
    capabilities: Capabilities,
    scope: EraseScope,
    owned: OwnedKeys,
    /// Whether the journals of conversions to the node stay.
    keeps_journals: bool,
    /// How many keys are to be erased, once that is known.
    keys: Option<u64>,
    state: State,
}

#[derive(Debug)]
enum State {
    Begin,
    /// Whether consolidated metadata of the groups above may be dropped.
    Check(Box<Ancestors>),
    Unfinished(Box<DropUnfinished>),
    Ancestors(Box<Ancestors>),
    Own,
    Walk(Box<WalkJob>),
    /// Of the listings, so many are of all keys below a prefix; the others are of groups.
    List {
        all: usize,
    },
    Steps(Box<InSteps>),
}

impl EraseNode {
    /// Erases a node of a store that is such.
    pub fn new(found: StoredNode, capabilities: Capabilities) -> Self {
        let scope = if found.path.is_root() { EraseScope::Nodes } else { EraseScope::Path };
        let owned = OwnedKeys::default();
        Self { found, capabilities, scope, owned, keeps_journals: false, keys: None, state: State::Begin }
    }

    /// Keeps the journals of conversions to the node: it is erased by one of them, which goes on.
    #[must_use]
    pub fn keeping_journals(self) -> Self {
        Self { keeps_journals: true, ..self }
    }

    /// To erase the source of a move: the documents of the nodes that a walk found, and their chunks. The first node is
    /// the moved one.
    pub fn moved(walk: &Walk, capabilities: Capabilities) -> Option<Self> {
        let found = walk.nodes.first()?.clone();
        let owned = OwnedKeys::of_nodes(walk, found.dialect, EraseScope::Keys);
        Some(Self { scope: EraseScope::Keys, owned, ..Self::new(found, capabilities) })
    }

    /// To erase the node in the way of one whose ancestors are looked at in any case.
    pub(crate) fn alone(found: StoredNode, capabilities: Capabilities) -> Self {
        Self { state: State::Own, ..Self::new(found, capabilities) }
    }

    /// How many keys are erased; keys that vanish with a prefix at once count as one. `None` until that is known, as
    /// long as nothing is erased.
    pub(crate) fn keys(&self) -> Option<u64> {
        self.keys
    }

    /// Looks, before anything is erased, whether the node may be.
    fn check(&mut self, ancestors: Box<Ancestors>, replies: &[Reply]) -> Result<Next<Self>> {
        let wait = |job: &mut Self, ancestors| job.state = State::Check(ancestors);
        jobs::within(self, ancestors, replies, wait, |job, _| {
            let drop = DropUnfinished::new(&job.found.path, job.capabilities);
            job.unfinished(Box::new(drop), &[])
        })
    }

    /// Erases what unfinished changes have left: before chunks go that a journal says are there.
    fn unfinished(&mut self, drop: Box<DropUnfinished>, replies: &[Reply]) -> Result<Next<Self>> {
        let wait = |job: &mut Self, drop| job.state = State::Unfinished(drop);
        jobs::within(self, drop, replies, wait, |job, ()| job.begin_above())
    }

    fn begin_above(&mut self) -> Result<Next<Self>> {
        let ancestors = Ancestors::of_erased(&self.found, self.capabilities);
        self.above(Box::new(ancestors), &[])
    }

    /// Drops the consolidated metadata above, which becomes stale.
    fn above(&mut self, ancestors: Box<Ancestors>, replies: &[Reply]) -> Result<Next<Self>> {
        let wait = |job: &mut Self, ancestors| job.state = State::Ancestors(ancestors);
        jobs::within(self, ancestors, replies, wait, |job, _| job.own())
    }

    /// Finds the keys of the node.
    fn own(&mut self) -> Result<Next<Self>> {
        match self.scope {
            EraseScope::Path => self.owned = OwnedKeys::of_node(&self.found),
            EraseScope::Nodes => return self.walk(Box::new(WalkJob::new(self.found.clone(), None, true)), &[]),
            EraseScope::Keys => {}
        }
        self.list()
    }

    /// Looks for the nodes below, and then for all that belongs to them.
    fn walk(&mut self, walk: Box<WalkJob>, replies: &[Reply]) -> Result<Next<Self>> {
        let wait = |job: &mut Self, walk| job.state = State::Walk(walk);
        jobs::within(self, walk, replies, wait, |job, walk| {
            job.owned = OwnedKeys::of_nodes(&walk, job.found.dialect, job.scope);
            job.list()
        })
    }

    fn list(&mut self) -> Result<Next<Self>> {
        let among = self.owned.chunks.iter().flat_map(ChunkKeys::prefixes);
        // Prefixes that vanish at once need not be listed.
        let listed = self.owned.prefixes.iter().filter(|_| !self.capabilities.erases_at_once);
        let mut prefixes: BTreeSet<String> = listed.cloned().chain(among.map(str::to_owned)).collect();
        if self.capabilities.list {
            prefixes.extend(self.owned.journals.clone());
        } else {
            self.owned.groups.clear();
        }
        let list = |prefix: &String| -> Result<Request> { Ok(Request::ListAll { prefix: Prefix::new(prefix)? }) };
        let of_group = |prefix: &String| -> Result<Request> { Ok(Request::List { prefix: Prefix::new(prefix)? }) };
        let requests = prefixes.iter().map(list).chain(self.owned.groups.keys().map(of_group));
        let requests = requests.collect::<Result<Vec<_>>>()?;
        if requests.is_empty() {
            return self.listed(&[], &[]);
        }
        self.state = State::List { all: prefixes.len() };
        Ok(Next::Ask(requests))
    }

    /// Erases documents, and then the rest.
    fn listed(&mut self, replies: &[Reply], groups: &[Reply]) -> Result<Next<Self>> {
        let owned = &mut self.owned;
        owned.add_unfinished(groups, self.capabilities.exchanges)?;
        let is_document = DocumentKeys::new(self.found.dialect, &self.found.documents);
        let mut rest = BTreeSet::new();
        for reply in replies {
            let Reply::Keys(keys) = reply else { return Err(jobs::unfit()) };
            for key in keys {
                if !owned.has(key) {
                    continue;
                }
                let is_known = owned.documents.values().any(|keys| keys.contains(key.as_str()));
                match is_document.rank(key).filter(|_| !is_known) {
                    None if is_known => {}
                    Some(rank) => drop(owned.documents.entry(rank).or_default().insert(key.to_string())),
                    None => drop(rest.insert(key.clone())),
                }
            }
        }
        let mut done = BTreeSet::new();
        let mut steps = Vec::new();
        for keys in std::mem::take(&mut owned.documents).into_values() {
            // Keys under a prefix that vanishes at once go with it.
            let goes = |key: &&String| self.capabilities.erases_at_once && owned.has_prefix(key);
            let keys: Vec<String> = keys.iter().filter(|key| !goes(key)).cloned().collect();
            let mut step = Vec::new();
            for text in keys {
                let key = Key::new(&text)?;
                rest.remove(&key);
                if done.insert(text) {
                    step.push(Request::Erase { key });
                }
            }
            steps.push(step);
        }
        if self.capabilities.erases_at_once {
            // One after another: documents may lie under the first, and chunks under the second.
            for prefix in &owned.prefixes {
                steps.push(vec![Request::ErasePrefix { prefix: Prefix::new(prefix)? }]);
            }
        }
        steps.push(rest.into_iter().map(|key| Request::Erase { key }).collect());
        let replacements = std::mem::take(&mut owned.replacements).into_iter();
        steps.push(replacements.map(|prefix| Request::ErasePrefix { prefix }).collect());
        self.keys = Some(steps.iter().map(|step| step.len() as u64).sum());
        self.erase(Box::new(in_order(steps, self.capabilities)), &[])
    }

    fn erase(&mut self, steps: Box<InSteps>, replies: &[Reply]) -> Result<Next<Self>> {
        let wait = |job: &mut Self, steps| job.state = State::Steps(steps);
        jobs::within(self, steps, replies, wait, |_, _| Ok(Next::Done(())))
    }
}

/// So many keys are erased at the same time at most.
const BATCH: usize = 512;

/// Steps whose order a loss of power keeps as well.
fn in_order(mut steps: Vec<Vec<Request>>, capabilities: Capabilities) -> InSteps {
    steps.retain(|step| !step.is_empty());
    let barriers = steps.len().saturating_sub(1) * usize::from(capabilities.durable);
    let mut barriers = (0..barriers).map(|_| vec![Request::Barrier]);
    let steps = steps.into_iter().flat_map(|step| [Some(step), barriers.next()]).flatten();
    let mut batches = Vec::new();
    for mut step in steps {
        while step.len() > BATCH {
            let rest = step.split_off(BATCH);
            batches.push(std::mem::replace(&mut step, rest));
        }
        batches.push(step);
    }
    InSteps::new(batches)
}

/// Erases a node that cannot be read, and all that lies below it, as if it were of some dialect: documents first. At the root,
/// where anything may lie, only documents.
///
/// Listings, where prefixes do not vanish at once ──► Steps: its documents, documents of nodes below, the rest ──► Done
#[derive(Debug)]
pub struct EraseBroken {
    path: NodePath,
    dialect: Dialect,
    capabilities: Capabilities,
    is_listed: bool,
    steps: Option<InSteps>,
}

impl EraseBroken {
    /// Of the node at `path`, as if it were of `dialect`.
    #[must_use]
    pub fn new(path: NodePath, dialect: Dialect, capabilities: Capabilities) -> Self {
        Self { path, dialect, capabilities, is_listed: false, steps: None }
    }

    /// The keys at which it may have documents. The keys of the oldest dialects are words that a file may have for a
    /// name.
    fn documents(&self) -> Result<BTreeSet<Key>> {
        let none = Documents::new();
        let dialects = Dialect::ALL.into_iter().filter(|dialect| !dialect.holds_one_array());
        let keys = dialects.flat_map(|dialect| zarr_meta::document_keys(dialect, &self.path, &none));
        keys.map(|key| Ok(Key::new(&key)?)).collect()
    }

    /// Prefixes below which everything goes.
    fn prefixes(&self) -> Result<Vec<Prefix>> {
        if self.path.is_root() {
            return Ok(Vec::new());
        }
        let prefixes = zarr_meta::owned(self.dialect, &self.path, &Documents::new()).prefixes;
        prefixes.iter().map(|prefix| Ok(Prefix::new(prefix)?)).collect()
    }

    fn steps(&self, listed: &[Reply]) -> Result<InSteps> {
        let (known, own) = (Documents::new(), self.documents()?);
        let is_document = DocumentKeys::new(self.dialect, &known);
        let mut others: BTreeMap<usize, BTreeSet<String>> = BTreeMap::new();
        for reply in listed {
            let Reply::Keys(keys) = reply else { return Err(jobs::unfit()) };
            for key in keys.iter().filter(|key| !own.contains(*key)) {
                let rank = is_document.rank(key).unwrap_or(usize::MAX);
                others.entry(rank).or_default().insert(key.to_string());
            }
        }
        let mut steps = vec![own.into_iter().map(|key| Request::Erase { key }).collect()];
        for keys in others.into_values() {
            steps.push(keys.iter().map(|key| Ok(Request::Erase { key: Key::new(key)? })).collect::<Result<_>>()?);
        }
        if self.capabilities.erases_at_once {
            steps.extend(self.prefixes()?.into_iter().map(|prefix| vec![Request::ErasePrefix { prefix }]));
        }
        Ok(in_order(steps, self.capabilities))
    }
}

impl Job for EraseBroken {
    type Output = ();
    type Error = Error;

    fn step(&mut self, replies: &[Reply]) -> Result<Next<Self>> {
        if let Some(steps) = &mut self.steps {
            return Ok(match steps.step(replies)? {
                Next::Ask(requests) | Next::FetchInto(requests) => Next::Ask(requests),
                Next::Done(_) => Next::Done(()),
                Next::Fork(_) => return Err(jobs::unfit()),
            });
        }
        if !std::mem::replace(&mut self.is_listed, true) && !self.capabilities.erases_at_once {
            let prefixes = self.prefixes()?;
            if !prefixes.is_empty() {
                return Ok(Next::Ask(prefixes.into_iter().map(|prefix| Request::ListAll { prefix }).collect()));
            }
        }
        self.steps = Some(self.steps(replies)?);
        self.step(&[])
    }
}

impl Job for EraseNode {
    type Output = ();
    type Error = Error;

    fn step(&mut self, replies: &[Reply]) -> Result<Next<Self>> {
        match std::mem::replace(&mut self.state, State::Begin) {
            State::Begin if self.keeps_journals => self.begin_above(),
            State::Begin => {
                let ancestors = Ancestors::of_erased(&self.found, self.capabilities).only_checking();
                self.check(Box::new(ancestors), &[])
            }
            State::Check(ancestors) => self.check(ancestors, replies),
            State::Unfinished(drop) => self.unfinished(drop, replies),
            State::Ancestors(ancestors) => self.above(ancestors, replies),
            State::Own => self.own(),
            State::Walk(walk) => self.walk(walk, replies),
            State::List { all } => match replies.split_at_checked(all) {
                Some((keys, groups)) => self.listed(keys, groups),
                None => Err(jobs::unfit()),
            },
            State::Steps(steps) => self.erase(steps, replies),
        }
    }
}
