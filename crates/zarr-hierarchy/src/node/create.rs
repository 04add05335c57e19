//! Creating a node.

mod documents;

use super::ancestors::{Above, Ancestors, DroppedCopies, create_missing};
use super::exchange::ExchangeNode;
use super::hints::in_the_way;
use super::leftovers::Leftovers;
use super::{DropUnfinished, EraseBroken, EraseNode, ListNode, OpenNode, Probed, is_one_prefix, order};
use crate::hierarchy::WalkJob;
use crate::jobs::{InSteps, Made, TakeLock};
use crate::{Error, ErrorKind, Result, jobs};
use documents::Changes;
use std::collections::BTreeSet;
use zarr_meta::{Dialect, Documents, Node, NodePath, StoredNode};
use zarr_store::{Capabilities, Conflicts, Job, Key, Lock, Next, Precondition, Reply, Request};

/// How often a creator looks again for the node of another, of which a document is there and the deciding one is not.
const MAX_LOOKS: u32 = 8;
/// How often it begins again in all.
const MAX_TRIES: u32 = 100;

/// Creates a node in a store with these capabilities, and the groups above it that are missing. A node that is there is erased if
/// `overwrite` is set; otherwise it is an error.
///
/// # Errors
/// [`ErrorKind::NotExpressible`] if the dialect cannot say the node; [`ErrorKind::Path`] if it has no node at such a path.
pub fn create(
    path: NodePath,
    dialect: Dialect,
    node: &Node,
    overwrite: bool,
    capabilities: Capabilities,
) -> Result<CreateNode> {
    dialect.check_path(&path)?;
    let (written, found) = documents::of_new(dialect, &path, node, &Documents::new())?;
    // If the store can list, no node is put in an implicit group whose nodes would not be found again: below an array,
    // or by documents of another dialect.
    let state = Change::Here(Box::new(OpenNode::new(path, None, capabilities.list)));
    Ok(CreateNode {
        written,
        found,
        node: node.clone(),
        overwrite,
        there: None,
        capabilities,
        conflicts: Conflicts::new(MAX_TRIES),
        empty: Vec::new(),
        is_clear: false,
        listed: None,
        lock: None,
        dropped: DroppedCopies::default(),
        state,
    })
}

/// Writes the documents of a new node, after the node in the way is erased and the groups above were looked at. The
/// document that decides is written last, and only if there is none: of two that create the same node, one gets the
/// error that it exists.
///
/// Here ── to be replaced ──► Above ──► Unfinished ── something ──► Erase or EraseBroken, Barrier ──► Entry ──► Ancestors ──► Groups ──► Lock ──► Leftovers ──► Look ──► Write ──► List
///   ├──── not ───────────────────┴──────── nothing ──────────────────────────────────────────┘
///   └──── not, an array at a root without documents ──► Below ── nothing ──► Entry
///
/// Where the store exchanges prefixes, and the old node and the new one lie under the path:
///
/// Here ──► Above ──► Unfinished ──► Ancestors ──► Groups ──► Exchange ── declined ──► Erase, and so on
///
/// Where another is faster, or a document of another node is there: Pause, and then again from Entry.
///
/// `Entry` is for dialects in which one document is for the whole hierarchy: a new node has to fit in.
#[derive(Debug)]
pub struct CreateNode {
    written: Changes,
    found: StoredNode,
    node: Node,
    overwrite: bool,
    /// What is to be replaced.
    there: Option<There>,
    capabilities: Capabilities,
    conflicts: Conflicts,
    /// Prefixes that had nothing below them when the node was looked for: no chunks are left there.
    empty: Vec<String>,
    /// Whether unfinished changes of the node were dropped.
    is_clear: bool,
    /// The node to be entered in the lists of the group above it: its path, and whether it is an array.
    listed: Option<(NodePath, bool)>,
    /// Held where creators have to exclude each other.
    lock: Option<Lock>,
    dropped: DroppedCopies,
    state: Change,
}

/// What is in the way.
#[derive(Debug)]
enum There {
    /// No node, but maybe what unfinished conversions to the path have left.
    Nothing,
    /// It is exchanged for the new one.
    Exchanged(Box<StoredNode>),
    Erased(Box<StoredNode>),
    Broken,
}

#[derive(Debug)]
enum Change {
    Here(Box<OpenNode>),
    /// Whether there are nodes below a root that is to become an array.
    Below(Box<WalkJob>),
    /// Whether consolidated metadata of the groups above may be dropped.
    Above(Box<Ancestors>),
    Unfinished(Box<DropUnfinished>),
    Exchange(Box<ExchangeNode>),
    Erase(Box<EraseNode>),
    EraseBroken(Box<EraseBroken>),
    Barrier,
    Entry,
    Ancestors(Box<Ancestors>),
    Groups(Vec<Vec<Request>>),
    Lock(Box<TakeLock>),
    Leftovers(Box<Leftovers>),
    /// Whether there are documents of a node that others create, or that was erased in part.
    Look(Vec<Key>),
    Pause,
    Write(Box<InSteps>),
    List(Box<ListNode>),
    Done,
}

impl CreateNode {
    /// The node as it will be found.
    pub fn found(&self) -> &StoredNode {
        &self.found
    }

    /// Notes the groups above whose consolidated metadata is dropped for a node that is new. For one that is replaced others are dropped with it.
    #[must_use]
    pub fn noting(self, dropped: &DroppedCopies) -> Self {
        Self { dropped: dropped.clone(), ..self }
    }

    /// Looks at the groups above, and begins with their changes.
    fn ancestors(&mut self, ancestors: Box<Ancestors>, replies: &[Reply]) -> Result<Next<Self>> {
        let wait = |job: &mut Self, ancestors| job.state = Change::Ancestors(ancestors);
        jobs::within(self, ancestors, replies, wait, |job, Above { missing, has_lists, .. }| {
            // If groups are made as well, it is the one in the group that is there.
            job.listed = has_lists.then(|| match missing.last() {
                Some(group) => (group.clone(), false),
                None => (job.found.path.clone(), job.node.as_array().is_some()),
            });
            let steps = create_missing(&missing, job.found.dialect, job.capabilities)?;
            job.groups(steps)
        })
    }

    fn begin_ancestors(&mut self) -> Result<Next<Self>> {
        let ancestors = self.groups_above();
        self.ancestors(ancestors, &[])
    }

    fn groups_above(&self) -> Box<Ancestors> {
        let ancestors = Ancestors::new(&self.found, self.capabilities).making_groups().noting(&self.dropped);
        Box::new(if self.overwrite { ancestors.replaced() } else { ancestors })
    }

    /// Goes on where a node is there that is not to be replaced. If it is implicit it may get the documents of this one: a group, or
    /// the root where the entry point document implies it, since that hierarchy need not have a node.
    fn document(&mut self, there: StoredNode) -> Result<Next<Self>> {
        let fits = there.implicit && there.dialect == self.found.dialect;
        let is_entry_root = there.path.is_root() && zarr_meta::entry_point_key(there.dialect).is_some();
        match fits {
            true if self.node.as_group().is_some() => self.keep_attributes(&there),
            true if is_entry_root && self.capabilities.list => {
                self.below(Box::new(WalkJob::new(there, Some(1), true)), &[])
            }
            true if is_entry_root => self.entry(),
            _ => Err(in_the_way(&there)),
        }
    }

    /// Keeps the attributes that an implicit group has: the new group has these, or none are given to it.
    fn keep_attributes(&mut self, there: &StoredNode) -> Result<Next<Self>> {
        let attributes = super::attributes(there)?;
        if attributes.is_empty() {
            return self.entry();
        }
        if !self.node.attributes().is_empty() && self.node.attributes() != attributes {
            let error = Error::new(ErrorKind::Exists, "there is a group already, which has attributes");
            return Err(error.with_hint("change its attributes instead").at_path(&there.path));
        }
        attributes.clone_into(self.node.attributes_mut());
        (self.written, self.found) = documents::of_new(self.found.dialect, &there.path, &self.node, &there.documents)?;
        self.entry()
    }

    /// Looks for nodes below the root, which an array may not have.
    fn below(&mut self, walk: Box<WalkJob>, replies: &[Reply]) -> Result<Next<Self>> {
        let wait = |job: &mut Self, walk| job.state = Change::Below(walk);
        jobs::within(self, walk, replies, wait, |job, walk| match &walk.nodes[..] {
            [root, _, ..] => Err(in_the_way(root)),
            _ if !walk.broken.is_empty() => Err(in_the_way(&StoredNode::implicit(job.found.dialect, NodePath::root()))),
            _ => job.entry(),
        })
    }

    /// Takes the next of the steps that come before the node itself.
    fn groups(&mut self, mut steps: Vec<Vec<Request>>) -> Result<Next<Self>> {
        while let Some(requests) = steps.pop() {
            if !requests.is_empty() {
                self.state = Change::Groups(steps);
                return Ok(Next::Ask(requests));
            }
        }
        if matches!(self.there, Some(There::Exchanged(_))) {
            let exchange = ExchangeNode::new(&self.found, self.written.clone())?;
            return self.exchange(Box::new(exchange), &[]);
        }
        if self.document_keys().len() < 2 {
            return self.begin_leftovers();
        }
        // No single document decides between two that create the node at the same time.
        self.take_lock(Box::new(TakeLock::new(order::creation_lock_prefix(&self.found)?)), &[])
    }

    /// The keys at which the node may have documents, but those that stay as they are. The document that is for the whole hierarchy is
    /// no node's: at the root, too, it is neither looked for as the rest of another node, nor erased as one.
    fn document_keys(&self) -> BTreeSet<String> {
        let StoredNode { dialect, path, documents, .. } = &self.found;
        let keys = zarr_meta::document_keys(*dialect, path, documents);
        let entry = zarr_meta::entry_point_key(*dialect);
        let keys = keys.into_iter().chain(self.found.own_documents().map(str::to_owned));
        let is_written = |key: &str| self.written.iter().any(|(written, _)| written == key);
        let stays = |key: &str| Some(key) == entry || (documents.contains(key) && !is_written(key));
        keys.filter(|key| !stays(key)).collect()
    }

    fn take_lock(&mut self, take: Box<TakeLock>, replies: &[Reply]) -> Result<Next<Self>> {
        let wait = |job: &mut Self, take| job.state = Change::Lock(take);
        jobs::within(self, take, replies, wait, |job, lock| {
            job.lock = Some(lock);
            job.begin_leftovers()
        })
    }

    fn begin_leftovers(&mut self) -> Result<Next<Self>> {
        if self.node.as_array().is_none() || !self.capabilities.list {
            return self.look();
        }
        let leftovers = Leftovers::new(&self.found, self.overwrite, self.lock.clone())?;
        if leftovers.lie_below(&self.empty) {
            return self.look();
        }
        if !self.is_clear {
            // Chunks that are erased may be those of a conversion, whose journal says that they are there.
            return self.drop_unfinished();
        }
        self.leftovers(Box::new(leftovers), &[])
    }

    /// Erases the values under the keys that the array's chunks will have.
    fn leftovers(&mut self, leftovers: Box<Leftovers>, replies: &[Reply]) -> Result<Next<Self>> {
        let wait = |job: &mut Self, leftovers| job.state = Change::Leftovers(leftovers);
        jobs::within(self, leftovers, replies, wait, |job, lock| {
            job.lock = lock;
            job.look()
        })
    }

    /// Replaces the node in the way.
    fn replace(&mut self, there: There) -> Result<Next<Self>> {
        self.there = Some(match there {
            There::Erased(found) if self.may_exchange(&found) => There::Exchanged(found),
            there => there,
        });
        let above = Box::new(self.groups_above().only_checking());
        self.above(above, &[])
    }

    fn above(&mut self, above: Box<Ancestors>, replies: &[Reply]) -> Result<Next<Self>> {
        let wait = |job: &mut Self, above| job.state = Change::Above(above);
        jobs::within(self, above, replies, wait, |job, _| job.drop_unfinished())
    }

    fn drop_unfinished(&mut self) -> Result<Next<Self>> {
        self.is_clear = true;
        self.unfinished(Box::new(DropUnfinished::new(&self.found.path, self.capabilities)), &[])
    }

    fn may_exchange(&self, there: &StoredNode) -> bool {
        let lies_below = |dialect| is_one_prefix(dialect, &self.found.path);
        let Capabilities { exchanges, list, .. } = self.capabilities;
        exchanges && list && lies_below(there.dialect) && lies_below(self.found.dialect)
    }

    /// Erases what unfinished changes have left.
    fn unfinished(&mut self, drop: Box<DropUnfinished>, replies: &[Reply]) -> Result<Next<Self>> {
        let wait = |job: &mut Self, drop| job.state = Change::Unfinished(drop);
        jobs::within(self, drop, replies, wait, |job, ()| match job.there {
            Some(There::Exchanged(_)) => job.entry(),
            Some(_) => job.erase_there(),
            None => job.begin_leftovers(),
        })
    }

    fn exchange(&mut self, exchange: Box<ExchangeNode>, replies: &[Reply]) -> Result<Next<Self>> {
        let wait = |job: &mut Self, exchange| job.state = Change::Exchange(exchange);
        jobs::within(self, exchange, replies, wait, |job, is_exchanged| match is_exchanged {
            true => job.list(),
            false => job.erase_there(),
        })
    }

    fn erase_there(&mut self) -> Result<Next<Self>> {
        match self.there.take() {
            Some(There::Exchanged(found) | There::Erased(found)) => {
                self.erase(Box::new(EraseNode::alone(*found, self.capabilities)), Change::Erase, &[])
            }
            Some(There::Broken) => {
                let job = EraseBroken::new(self.found.path.clone(), self.found.dialect, self.capabilities);
                self.erase(Box::new(job), Change::EraseBroken, &[])
            }
            Some(There::Nothing) | None => self.entry(),
        }
    }

    /// Erases the node in the way.
    fn erase<J: Job<Output = (), Error = Error>>(
        &mut self,
        erase: Box<J>,
        state: fn(Box<J>) -> Change,
        replies: &[Reply],
    ) -> Result<Next<Self>> {
        jobs::within(
            self,
            erase,
            replies,
            |job, erase| job.state = state(erase),
            |job, ()| {
                // Old keys are erased before new ones are set.
                job.state = Change::Barrier;
                Ok(Next::Ask(vec![Request::Barrier]))
            },
        )
    }

    /// Looks at the document that is for the whole hierarchy.
    fn entry(&mut self) -> Result<Next<Self>> {
        match zarr_meta::entry_point_key(self.found.dialect) {
            None => self.begin_ancestors(),
            Some(key) => {
                self.state = Change::Entry;
                Ok(Next::Ask(vec![jobs::get_whole_document(Key::new(key)?)]))
            }
        }
    }

    /// Makes the node fit into the hierarchy that is there.
    fn fit_in(&mut self, replies: &[Reply]) -> Result<Next<Self>> {
        let (path, dialect) = (self.found.path.clone(), self.found.dialect);
        let entry = match replies {
            [Reply::Got(entry)] => entry.as_ref(),
            _ => return Err(jobs::unfit()),
        };
        if let Some((key, entry)) = zarr_meta::entry_point_key(dialect).zip(entry) {
            let entry = [(key.to_owned(), entry.part(0).to_vec())].into_iter().collect();
            zarr_meta::fit_in(&mut self.node, dialect, &entry);
            let (written, found) = documents::of_new(dialect, &path, &self.node, &entry)?;
            (self.written, self.found) = (written, found);
        }
        self.begin_ancestors()
    }

    /// Writes the documents, one after another: each if it is not there, or is as it was `seen`. Documents that the new
    /// node does not have are erased before.
    fn begin_write(&mut self, seen: &[(&Key, Precondition)]) -> Result<Next<Self>> {
        let steps = documents::steps(&self.found, &self.written, seen, self.capabilities)?;
        self.write(Box::new(InSteps::new(steps)), &[])
    }

    fn write(&mut self, steps: Box<InSteps>, replies: &[Reply]) -> Result<Next<Self>> {
        let wait = |job: &mut Self, steps| job.state = Change::Write(steps);
        jobs::within(self, steps, replies, wait, |job, made| match made {
            Made::All => job.list(),
            Made::Conflict { in_last: true } => Err(job.exists()),
            Made::Conflict { in_last: false } => job.wait(),
        })
    }

    /// Enters what was made in the lists of the group above, where it has some.
    fn list(&mut self) -> Result<Next<Self>> {
        match self.listed.take() {
            Some((path, is_array)) => {
                self.go_on_listing(Box::new(ListNode::new(path, is_array, true, self.capabilities)), &[])
            }
            None => Ok(Next::Done(self.found.clone())),
        }
    }

    fn go_on_listing(&mut self, list: Box<ListNode>, replies: &[Reply]) -> Result<Next<Self>> {
        let wait = |job: &mut Self, list| job.state = Change::List(list);
        jobs::within(self, list, replies, wait, |job, ()| Ok(Next::Done(job.found.clone())))
    }

    /// Waits for another, who creates the node or the document that is for the whole hierarchy.
    fn wait(&mut self) -> Result<Next<Self>> {
        let Some(duration) = self.conflicts.again() else {
            let message = format!("others changed the documents {} while the node was created", self.conflicts);
            return Err(Error::new(ErrorKind::Conflict, message).at_path(&self.found.path));
        };
        (self.state, self.lock) = (Change::Pause, None);
        self.empty.clear();
        Ok(Next::Ask(vec![Request::Pause { duration }]))
    }

    fn exists(&self) -> Error {
        Error::new(ErrorKind::Exists, "another writer created this node meanwhile").at_path(&self.found.path)
    }

    /// Looks at the documents that the node may have, where it may have several.
    fn look(&mut self) -> Result<Next<Self>> {
        let texts = self.document_keys();
        if texts.len() < 2 {
            return self.begin_write(&[]);
        }
        let keys = texts.iter().map(|key| Ok(Key::new(key)?)).collect::<Result<Vec<_>>>()?;
        let requests = keys.iter().cloned().map(Request::get).collect();
        self.state = Change::Look(keys);
        Ok(Next::Ask(requests))
    }

    /// Waits for the document that decides where another is there. If it does not come, the other is the rest of a node
    /// that was never finished, or erased in part, and is replaced.
    fn looked(&mut self, keys: &[Key], replies: &[Reply]) -> Result<Next<Self>> {
        let mut there = self.found.documents.clone();
        there.apply(&self.written.iter().map(|(key, _)| (key.clone(), None)).collect::<Vec<_>>());
        let mut seen = Vec::new();
        for (key, reply) in keys.iter().zip(replies) {
            let Reply::Got(fetched) = reply else { return Err(jobs::unfit()) };
            if let Some(fetched) = fetched {
                there.insert(key.as_str(), fetched.part(0));
                let when = fetched.version.clone().map_or(Precondition::None, Precondition::Version);
                seen.push((key, when));
            }
        }
        let StoredNode { dialect, path, .. } = &self.found;
        match StoredNode::read(*dialect, path.clone(), &there) {
            _ if seen.is_empty() => self.begin_write(&[]),
            Ok(Some(found)) if !found.implicit => Err(self.exists()),
            _ if self.conflicts.count() < MAX_LOOKS => self.wait(),
            _ => self.begin_write(&seen),
        }
    }
}

impl Job for CreateNode {
    type Output = StoredNode;
    type Error = Error;

    fn step(&mut self, replies: &[Reply]) -> Result<Next<Self>> {
        match std::mem::replace(&mut self.state, Change::Done) {
            Change::Here(mut open) => match open.go_on(replies) {
                Ok(Probed::Asks(requests)) => {
                    self.state = Change::Here(open);
                    Ok(Next::Ask(requests))
                }
                Ok(Probed::NotFound(_)) => {
                    self.empty = open.empty();
                    if self.overwrite { self.replace(There::Nothing) } else { self.entry() }
                }
                // A broken node may be replaced, too.
                Err(error) if self.overwrite && error.kind() != ErrorKind::Store => self.replace(There::Broken),
                Ok(Probed::Found(found)) if self.overwrite => self.replace(There::Erased(found)),
                Ok(Probed::Found(found)) => self.document(*found),
                Err(error) => Err(error),
            },
            Change::Below(walk) => self.below(walk, replies),
            Change::Above(above) => self.above(above, replies),
            Change::Unfinished(drop) => self.unfinished(drop, replies),
            Change::Exchange(exchange) => self.exchange(exchange, replies),
            Change::Erase(job) => self.erase(job, Change::Erase, replies),
            Change::EraseBroken(job) => self.erase(job, Change::EraseBroken, replies),
            Change::Barrier => self.entry(),
            Change::Entry => self.fit_in(replies),
            Change::Ancestors(ancestors) => self.ancestors(ancestors, replies),
            Change::Groups(steps) => match jobs::any_conflict(replies)? {
                false => self.groups(steps),
                // Somebody else was faster, and may have made an array.
                true => self.wait(),
            },
            Change::Lock(take) => self.take_lock(take, replies),
            Change::Leftovers(leftovers) => self.leftovers(leftovers, replies),
            Change::Look(keys) => self.looked(&keys, replies),
            // The document that is for the whole hierarchy may be there by now.
            Change::Pause => self.entry(),
            Change::Write(steps) => self.write(steps, replies),
            Change::List(list) => self.go_on_listing(list, replies),
            Change::Done => Ok(Next::Done(self.found.clone())),
        }
    }
}
