//! Erasing of a node with all keys below it.

mod owned;

use super::{Ancestors, DropUnfinished};
use crate::chunk_keys::ChunkKeys;
use crate::hierarchy::WalkJob;
use crate::jobs::{Operation, in_steps};
use crate::{EraseProgress, IntoFlow, Result, Walk};
use owned::{DocumentKeys, EraseScope, OwnedKeys};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use zarr_drive::Io;
use zarr_meta::{Dialect, Documents, NodePath, StoredNode};
use zarr_store::{Capabilities, Key, Listing, Prefix, Reply, Request};

/// Erases a node: first the documents, then the chunks, so that an interrupted erase leaves no array that reads fill values for erased
/// chunks. The documents of the node come after the documents of nodes below it, so that an interrupted erase can be repeated. If the node
/// was moved, its own documents come first, so that no reader takes the rest of it for the whole.
///
/// All keys under the path of a node belong to the node. The root is the directory of the store, which may have other
/// files: there only keys of nodes are erased. If the node was moved, only the keys that were copied are erased, so that values that were
/// created meanwhile stay.
#[derive(Debug)]
pub struct EraseNode {
    found: StoredNode,
    capabilities: Capabilities,
    scope: EraseScope,
    /// Keys to erase, if they are known from a walk.
    owned: OwnedKeys,
    /// Whether the groups above are read, and keys of unfinished changes erased.
    looks_around: bool,
    /// Whether the journals of conversions to the node are kept.
    keeps_journals: bool,
}

impl EraseNode {
    /// Erases the node `found` in a store with these capabilities.
    pub fn new(found: StoredNode, capabilities: Capabilities) -> Self {
        let scope = if found.path.is_root() { EraseScope::Nodes } else { EraseScope::Path };
        let owned = OwnedKeys::default();
        Self { found, capabilities, scope, owned, looks_around: true, keeps_journals: false }
    }

    /// Keeps the journals of conversions to the node: a conversion that goes on is erasing the node.
    #[must_use]
    pub fn keeping_journals(self) -> Self {
        Self { keeps_journals: true, ..self }
    }

    /// Erases the source of a move: the documents and chunks of the nodes of `walk`, whose first node was moved. `None` if the walk has no
    /// nodes.
    pub fn moved(walk: &Walk, capabilities: Capabilities) -> Option<Self> {
        let found = walk.nodes.first()?.clone();
        let owned = OwnedKeys::of_nodes(walk, found.dialect, EraseScope::Keys);
        Some(Self { scope: EraseScope::Keys, owned, ..Self::new(found, capabilities) })
    }

    /// Erases a node that is replaced by a new one; the caller reads the groups above.
    pub(crate) fn alone(found: StoredNode, capabilities: Capabilities) -> Self {
        Self { looks_around: false, ..Self::new(found, capabilities) }
    }

    /// Erases the node, and calls `report` with the progress; `report` may cancel.
    ///
    /// # Errors
    /// [`ErrorKind::Cancelled`](crate::ErrorKind::Cancelled); the errors of the store.
    pub(crate) async fn report(
        self,
        io: &Io,
        report: impl Fn(EraseProgress) -> ControlFlow<()> + Send + Sync,
    ) -> Result<()> {
        let capabilities = self.capabilities;
        let steps = self.look_around(io).await?.steps(io).await?;
        let keys = steps.iter().map(|step| step.len() as u64).sum();
        let mut steps = in_order(steps, capabilities).into_iter().peekable();
        if steps.peek().is_some() {
            report(EraseProgress::Begin(keys)).into_result()?;
        }
        while let Some(step) = steps.next() {
            let erased = step.iter().filter(|request| !matches!(request, Request::Barrier)).count() as u64;
            io.change(step).await?;
            let flow = if erased > 0 { report(EraseProgress::Done(erased)) } else { ControlFlow::Continue(()) };
            // After the last step nothing is left to cancel.
            if steps.peek().is_some() {
                flow.into_result()?;
            }
        }
        Ok(())
    }

    /// Checks that the node may be erased, erases the keys of unfinished changes, and drops the consolidated metadata of groups above,
    /// which becomes stale. A second call does nothing.
    pub(crate) async fn look_around(self, io: &Io) -> Result<Self> {
        if !self.looks_around {
            return Ok(self);
        }
        let above = || Ancestors::of_erased(&self.found, self.capabilities);
        if !self.keeps_journals {
            above().only_checking().run(io).await?;
            DropUnfinished::new(&self.found.path, self.capabilities).run(io).await?;
        }
        above().run(io).await?;
        Ok(Self { looks_around: false, ..self })
    }

    /// Finds the keys of the node. Returns the requests that erase them, in steps: documents, then other keys.
    async fn steps(mut self, io: &Io) -> Result<Vec<Vec<Request>>> {
        match self.scope {
            EraseScope::Path => self.owned = OwnedKeys::of_node(&self.found),
            EraseScope::Nodes => {
                let walk = WalkJob::new(self.found.clone(), None, true).run(io).await?;
                self.owned = OwnedKeys::of_nodes(&walk, self.found.dialect, self.scope);
            }
            EraseScope::Keys => {}
        }
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
        let mut replies = io.ask(requests.collect::<Result<_>>()?).await.into_iter();
        let keys =
            replies.by_ref().take(prefixes.len()).map(Reply::into_keys).collect::<zarr_store::Result<Vec<_>>>()?;
        let groups = replies.map(Reply::into_listing).collect::<zarr_store::Result<Vec<_>>>()?;
        self.order(keys.into_iter().flatten(), &groups)
    }

    /// Sorts the listed keys into steps of requests: documents, then other keys.
    fn order(mut self, listed: impl Iterator<Item = Key>, groups: &[Listing]) -> Result<Vec<Vec<Request>>> {
        let owned = &mut self.owned;
        owned.add_unfinished(groups, self.capabilities.exchanges)?;
        let is_document = DocumentKeys::new(self.found.dialect, &self.found.documents);
        let mut rest = BTreeSet::new();
        for key in listed {
            if !owned.has(&key) {
                continue;
            }
            let is_known = owned.documents.values().any(|keys| keys.contains(key.as_str()));
            match is_document.rank(&key).filter(|_| !is_known) {
                None if is_known => {}
                Some(rank) => drop(owned.documents.entry(rank).or_default().insert(key.to_string())),
                None => drop(rest.insert(key)),
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
        Ok(steps)
    }
}

/// Maximum number of keys that are erased at the same time.
const BATCH: usize = 512;

/// Inserts barriers between steps, so that a loss of power keeps their order, and splits steps into batches.
fn in_order(mut steps: Vec<Vec<Request>>, capabilities: Capabilities) -> Vec<Vec<Request>> {
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
    batches
}

/// Erases a node that cannot be read, with all keys below it, as if it were a node of `dialect`: documents first. At the root, which may
/// have other files, only documents are erased.
#[derive(Debug)]
pub struct EraseBroken {
    path: NodePath,
    dialect: Dialect,
    capabilities: Capabilities,
}

impl EraseBroken {
    /// Erases the node at `path` as if it were a node of `dialect`.
    #[must_use]
    pub fn new(path: NodePath, dialect: Dialect, capabilities: Capabilities) -> Self {
        Self { path, dialect, capabilities }
    }

    /// Keys at which the node may have documents. Keys of the oldest dialects are left out, since other files may have such names.
    fn documents(&self) -> Result<BTreeSet<Key>> {
        let none = Documents::new();
        let dialects = Dialect::ALL.into_iter().filter(|dialect| !dialect.holds_one_array());
        let keys = dialects.flat_map(|dialect| zarr_meta::document_keys(dialect, &self.path, &none));
        keys.map(|key| Ok(Key::new(&key)?)).collect()
    }

    /// Prefixes below which all keys are erased.
    fn prefixes(&self) -> Result<Vec<Prefix>> {
        if self.path.is_root() {
            return Ok(Vec::new());
        }
        let prefixes = zarr_meta::owned(self.dialect, &self.path, &Documents::new()).prefixes;
        prefixes.iter().map(|prefix| Ok(Prefix::new(prefix)?)).collect()
    }

    /// Requests that erase, in this order, the documents of the node, the documents of nodes below, and other keys.
    fn steps(&self, listed: impl Iterator<Item = Key>) -> Result<Vec<Vec<Request>>> {
        let (known, own) = (Documents::new(), self.documents()?);
        let is_document = DocumentKeys::new(self.dialect, &known);
        let mut others: BTreeMap<usize, BTreeSet<Key>> = BTreeMap::new();
        for key in listed.filter(|key| !own.contains(key)) {
            others.entry(is_document.rank(&key).unwrap_or(usize::MAX)).or_default().insert(key);
        }
        let erase = |keys: BTreeSet<Key>| keys.into_iter().map(|key| Request::Erase { key }).collect();
        let mut steps: Vec<Vec<Request>> = std::iter::once(own).chain(others.into_values()).map(erase).collect();
        if self.capabilities.erases_at_once {
            steps.extend(self.prefixes()?.into_iter().map(|prefix| vec![Request::ErasePrefix { prefix }]));
        }
        Ok(in_order(steps, self.capabilities))
    }
}

impl Operation for EraseBroken {
    type Output = ();

    async fn run(self, io: &Io) -> Result<()> {
        // Prefixes that vanish at once need not be listed.
        let prefixes = if self.capabilities.erases_at_once { Vec::new() } else { self.prefixes()? };
        let listed = io.list_all(prefixes).await?.into_iter().flatten();
        in_steps(io, self.steps(listed)?).await.map(drop)
    }
}

impl Operation for EraseNode {
    type Output = ();

    async fn run(self, io: &Io) -> Result<()> {
        self.report(io, |_| ControlFlow::Continue(())).await
    }
}
