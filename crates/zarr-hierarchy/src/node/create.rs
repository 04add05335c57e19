//! Creation of a node.

mod documents;
#[cfg(test)]
mod tests;

use super::ancestors::{Above, Ancestors, DroppedConsolidated, create_missing};
use super::exchange::exchange;
use super::hints::in_the_way;
use super::leftovers::Leftovers;
use super::{DropUnfinished, EraseBroken, EraseNode, ListNode, OpenNode, is_one_prefix, order};
use crate::hierarchy::WalkJob;
use crate::jobs::{Made, Operation, TakeLock, in_steps};
use crate::{Error, ErrorKind, Result, jobs};
use documents::Changes;
use std::collections::BTreeSet;
use zarr_drive::Io;
use zarr_meta::{Dialect, Documents, Node, NodePath, StoredNode};
use zarr_store::{Capabilities, Conflicts, Key, Lock, Precondition, Request};

/// Maximum number of times that a creator waits for the deciding document of another writer's node whose other documents exist.
const MAX_LOOKS: u32 = 8;
/// Maximum number of attempts to create a node.
const MAX_TRIES: u32 = 100;

/// Prepares the creation of a node at `path`, and of missing groups above it. If `overwrite` is set, an existing node is erased; otherwise
/// it is an error.
///
/// # Errors
/// [`ErrorKind::NotExpressible`] if the dialect cannot express the node; [`ErrorKind::Path`] if it allows no node at `path`.
pub fn create(
    path: NodePath,
    dialect: Dialect,
    node: &Node,
    overwrite: bool,
    capabilities: Capabilities,
) -> Result<CreateNode> {
    dialect.check_path(&path)?;
    let (written, found) = documents::of_new(dialect, &path, node, &Documents::new())?;
    let dropped = DroppedConsolidated::default();
    Ok(CreateNode { written, found, node: node.clone(), overwrite, capabilities, dropped })
}

/// Operation that creates a node: erases the node that is replaced, reads the groups above and writes the documents of the new node. The
/// deciding document is written last, and only if it does not exist: if two writers create the same node, one of them gets the error that
/// the node exists.
///
/// If the store exchanges prefixes, and all keys of the old node and of the new node are under the path, the two are exchanged.
#[derive(Debug)]
pub struct CreateNode {
    written: Changes,
    found: StoredNode,
    node: Node,
    overwrite: bool,
    capabilities: Capabilities,
    dropped: DroppedConsolidated,
}

/// Node at the path of the new node.
#[derive(Debug)]
enum There {
    /// No node; unfinished conversions to the path may have left keys.
    Nothing,
    Node(Box<StoredNode>),
    Broken,
}

impl CreateNode {
    /// Returns the new node as it will be found.
    pub fn found(&self) -> &StoredNode {
        &self.found
    }

    /// Adds to `dropped` the groups above whose consolidated metadata is dropped for a node that is new. If a node is replaced, further
    /// consolidated metadata is dropped that is not added.
    #[must_use]
    pub fn noting(self, dropped: &DroppedConsolidated) -> Self {
        Self { dropped: dropped.clone(), ..self }
    }
}

impl Operation for CreateNode {
    type Output = StoredNode;

    async fn run(mut self, io: &Io) -> Result<StoredNode> {
        // If the store can list, no node is put in an implicit group whose nodes would not be found again: below an array,
        // or by documents of another dialect.
        let mut open = OpenNode::new(self.found.path.clone(), None, self.capabilities.list);
        let there = match open.find(io).await {
            Ok(None) => There::Nothing,
            Ok(Some(found)) => There::Node(Box::new(found)),
            // A broken node may be replaced, too.
            Err(error) if self.overwrite && error.is_of_broken_node() => There::Broken,
            Err(error) => return Err(error),
        };
        let mut leftovers = LeftoverSearch { is_clear: self.overwrite, empty: Vec::new() };
        if matches!(there, There::Nothing) {
            leftovers.empty = open.empty();
        }
        let mut exchanged = None;
        if self.overwrite {
            exchanged = self.make_room(io, there).await?;
        } else if let There::Node(there) = there {
            self.fill(io, *there).await?;
        }
        let mut conflicts = Conflicts::new(MAX_TRIES);
        loop {
            self.fit_in(io).await?;
            let above = self.groups_above().run(io).await?;
            if self.make_groups(io, &above.missing).await? {
                if let Some(old) = exchanged.take() {
                    if exchange(io, &self.found, self.written.clone()).await? {
                        return self.list(io, above).await;
                    }
                    self.erase(io, There::Node(old)).await?;
                    continue;
                }
                // The lock is held until the node is in the lists of its group.
                let mut lock = None;
                if self.write(io, &mut leftovers, conflicts.count(), &mut lock).await? {
                    return self.list(io, above).await;
                }
            }
            // Another writer was faster, or a document of another node exists.
            let Some(duration) = conflicts.again() else {
                let message = format!("others changed the documents {conflicts} while the node was created");
                return Err(Error::new(ErrorKind::Conflict, message).at_path(&self.found.path));
            };
            leftovers.empty.clear();
            io.pause(duration).await?;
        }
    }
}

/// Facts that save a search for chunks which an erased array left behind.
struct LeftoverSearch {
    /// Whether unfinished changes of the node were dropped already.
    is_clear: bool,
    /// Prefixes whose listings were empty when the node was searched: no chunks are left there.
    empty: Vec<String>,
}

impl CreateNode {
    fn groups_above(&self) -> Ancestors {
        let ancestors = Ancestors::new(&self.found, self.capabilities).making_groups().noting(&self.dropped);
        if self.overwrite { ancestors.replaced() } else { ancestors }
    }

    /// Erases the existing node and the keys of unfinished changes. A node that is to be exchanged with the new one is not erased but
    /// returned.
    async fn make_room(&self, io: &Io, there: There) -> Result<Option<Box<StoredNode>>> {
        self.groups_above().only_checking().run(io).await?;
        DropUnfinished::new(&self.found.path, self.capabilities).run(io).await?;
        match there {
            There::Node(found) if self.may_exchange(&found) => return Ok(Some(found)),
            there => self.erase(io, there).await?,
        }
        Ok(None)
    }

    fn may_exchange(&self, there: &StoredNode) -> bool {
        let lies_below = |dialect| is_one_prefix(dialect, &self.found.path);
        let Capabilities { exchanges, list, .. } = self.capabilities;
        exchanges && list && lies_below(there.dialect) && lies_below(self.found.dialect)
    }

    async fn erase(&self, io: &Io, there: There) -> Result<()> {
        match there {
            There::Nothing => return Ok(()),
            There::Node(found) => EraseNode::alone(*found, self.capabilities).run(io).await?,
            There::Broken => {
                let path = self.found.path.clone();
                EraseBroken::new(path, self.found.dialect, self.capabilities).run(io).await?;
            }
        }
        // Old keys are erased before new ones are set.
        io.change(vec![Request::Barrier]).await?;
        Ok(())
    }

    /// Checks that an existing node that is not to be replaced is implicit and may get the documents of the new node: an implicit group, or
    /// a root that only the entry point document implies, since a hierarchy need not have a node there.
    async fn fill(&mut self, io: &Io, there: StoredNode) -> Result<()> {
        let fits = there.implicit && there.dialect == self.found.dialect;
        let is_entry_root = there.path.is_root() && zarr_meta::entry_point_key(there.dialect).is_some();
        match fits {
            true if self.node.as_group().is_some() => self.keep_attributes(&there),
            true if is_entry_root && self.capabilities.list => self.check_below(io, there).await,
            true if is_entry_root => Ok(()),
            _ => Err(in_the_way(&there)),
        }
    }

    /// Keeps the attributes of an implicit group. If the new group has other attributes, the creation is an error.
    fn keep_attributes(&mut self, there: &StoredNode) -> Result<()> {
        let attributes = super::attributes(there)?;
        if attributes.is_empty() {
            return Ok(());
        }
        if !self.node.attributes().is_empty() && self.node.attributes() != attributes {
            let error = Error::new(ErrorKind::Exists, "there is a group already, which has attributes");
            return Err(error.with_hint("change its attributes instead").at_path(&there.path));
        }
        attributes.clone_into(self.node.attributes_mut());
        (self.written, self.found) = documents::of_new(self.found.dialect, &there.path, &self.node, &there.documents)?;
        Ok(())
    }

    /// Checks that no node exists below the root: an array must not have nodes below it.
    async fn check_below(&self, io: &Io, root: StoredNode) -> Result<()> {
        let walk = WalkJob::new(root, Some(1), true).run(io).await?;
        match &walk.nodes[..] {
            [root, _, ..] => Err(in_the_way(root)),
            _ if !walk.broken.is_empty() => {
                Err(in_the_way(&StoredNode::implicit(self.found.dialect, NodePath::root())))
            }
            _ => Ok(()),
        }
    }

    /// Adapts the node to the existing hierarchy, in a dialect with one document for the whole hierarchy.
    async fn fit_in(&mut self, io: &Io) -> Result<()> {
        let dialect = self.found.dialect;
        let Some(key) = zarr_meta::entry_point_key(dialect) else { return Ok(()) };
        if let [Some(entry)] = &io.get(vec![jobs::get_whole_document(Key::new(key)?)]).await?[..] {
            let entry = [(key.to_owned(), entry.part(0).to_vec())].into_iter().collect();
            zarr_meta::fit_in(&mut self.node, dialect, &entry);
            let path = self.found.path.clone();
            (self.written, self.found) = documents::of_new(dialect, &path, &self.node, &entry)?;
        }
        Ok(())
    }

    /// Creates the missing groups above. Returns `false` if another writer created one of them meanwhile: it may be an array.
    async fn make_groups(&self, io: &Io, missing: &[NodePath]) -> Result<bool> {
        for group in create_missing(missing, self.found.dialect, self.capabilities)?.into_iter().rev() {
            if !io.change(group).await? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Writes the documents one after another, each on the condition that it does not exist. Returns `false` if another writer is creating
    /// the node. `lock` receives the lock if one is needed.
    async fn write(
        &self,
        io: &Io,
        leftovers: &mut LeftoverSearch,
        tries: u32,
        lock: &mut Option<Lock>,
    ) -> Result<bool> {
        let keys = self.document_keys()?;
        // With several documents, no single document decides between two writers that create the node at the same time.
        let one_decides = keys.len() < 2;
        if !one_decides {
            *lock = Some(TakeLock::new(order::creation_lock_prefix(&self.found)?).run(io).await?);
        }
        self.erase_leftovers(io, leftovers, lock).await?;
        let seen = if one_decides { Some(Vec::new()) } else { self.look(io, keys, tries).await? };
        let Some(seen) = seen else { return Ok(false) };
        match in_steps(io, documents::steps(&self.found, &self.written, &seen, self.capabilities)?).await? {
            Made::All => Ok(true),
            Made::Conflict { in_last: true } => Err(self.exists()),
            Made::Conflict { in_last: false } => Ok(false),
        }
    }

    /// Keys of documents that the node may have, except those that stay unchanged. The document of the whole hierarchy belongs to no node:
    /// it is neither taken for a document of an unfinished node nor erased.
    fn document_keys(&self) -> Result<Vec<Key>> {
        let StoredNode { dialect, path, documents, .. } = &self.found;
        let keys = zarr_meta::document_keys(*dialect, path, documents);
        let entry = zarr_meta::entry_point_key(*dialect);
        let keys = keys.into_iter().chain(self.found.own_documents().map(str::to_owned));
        let is_written = |key: &str| self.written.iter().any(|(written, _)| written == key);
        let stays = |key: &str| Some(key) == entry || (documents.contains(key) && !is_written(key));
        let keys: BTreeSet<String> = keys.filter(|key| !stays(key)).collect();
        keys.iter().map(|key| Ok(Key::new(key)?)).collect()
    }

    /// Erases leftover values under the chunk keys of a new array.
    async fn erase_leftovers(&self, io: &Io, search: &mut LeftoverSearch, lock: &mut Option<Lock>) -> Result<()> {
        if self.node.as_array().is_none() || !self.capabilities.list {
            return Ok(());
        }
        let leftovers = Leftovers::new(&self.found, self.overwrite)?;
        if leftovers.lie_below(&search.empty) {
            return Ok(());
        }
        if !std::mem::replace(&mut search.is_clear, true) {
            // The erased chunks may be chunks of an unfinished conversion, whose journal records that they exist.
            DropUnfinished::new(&self.found.path, self.capabilities).run(io).await?;
        }
        leftovers.erase(io, lock).await
    }

    /// Reads the documents that the node may have, if a dialect has several. Returns the keys of existing documents, each with the
    /// condition that it stays unchanged. `None`: another writer's node lacks its deciding document, which is waited for. If the
    /// deciding document does not appear, all other documents are the rest of an unfinished or partly erased node, and are replaced.
    async fn look(&self, io: &Io, keys: Vec<Key>, tries: u32) -> Result<Option<Vec<(Key, Precondition)>>> {
        let mut there = self.found.documents.clone();
        there.apply(&self.written.iter().map(|(key, _)| (key.clone(), None)).collect::<Vec<_>>());
        let mut seen = Vec::new();
        let documents = io.get(keys.iter().cloned().map(Request::get).collect()).await?;
        for (key, fetched) in keys.into_iter().zip(documents) {
            if let Some(fetched) = fetched {
                there.insert(key.as_str(), fetched.part(0));
                seen.push((key, fetched.version.map_or(Precondition::None, Precondition::Version)));
            }
        }
        match StoredNode::read(self.found.dialect, self.found.path.clone(), &there) {
            _ if seen.is_empty() => Ok(Some(seen)),
            Ok(Some(found)) if !found.implicit => Err(self.exists()),
            _ if tries < MAX_LOOKS => Ok(None),
            _ => Ok(Some(seen)),
        }
    }

    fn exists(&self) -> Error {
        Error::new(ErrorKind::Exists, "another writer created this node meanwhile").at_path(&self.found.path)
    }

    /// Adds the created node to the lists of the nearest existing group above it, if that group has lists. If groups were created as well,
    /// the outermost of them is added.
    async fn list(self, io: &Io, above: Above) -> Result<StoredNode> {
        if above.has_lists {
            let (path, is_array) = match above.missing.last() {
                Some(group) => (group.clone(), false),
                None => (self.found.path.clone(), self.node.as_array().is_some()),
            };
            ListNode::new(path, is_array, true, self.capabilities).run(io).await?;
        }
        Ok(self.found)
    }
}
