//! Creating a node, and replacing its metadata.

use super::{EraseBroken, EraseNode, OpenNode, Probed, reread};
use crate::{Error, ErrorKind, Result, jobs};
use zarr_meta::{Dialect, Documents, Found, GroupMetadata, Node, NodePath};
use zarr_store::{Job, Key, Next, Precondition, Reply, Request};

/// Turns changes of documents into requests.
pub(crate) fn changes(documents: Vec<(String, Option<Vec<u8>>)>) -> Result<Vec<Request>> {
    let request = |(key, value): (String, Option<Vec<u8>>)| {
        let key = Key::new(&key)?;
        Ok(match value {
            Some(value) => Request::Set { key, value, when: Precondition::None },
            None => Request::Erase { key },
        })
    };
    documents.into_iter().map(request).collect()
}

/// The groups above a node, from the nearest to the root: which are not there, and what in them a change makes stale.
#[derive(Debug)]
pub(crate) struct Ancestors {
    node: NodePath,
    dialect: Dialect,
    /// Documents of the node, among them those of the whole hierarchy.
    known: Documents,
    open: Option<OpenNode>,
    above: Above,
}

/// What is to be done above a node that changes.
#[derive(Debug, Default)]
pub(crate) struct Above {
    /// Groups that are not there, the nearest first.
    missing: Vec<NodePath>,
    /// Writes that drop what the change makes stale.
    pub(crate) stale: Vec<Request>,
}

impl Ancestors {
    pub(crate) fn new(found: &Found) -> Self {
        let (node, dialect) = (found.path.clone(), found.dialect);
        let known = found.documents.clone();
        let open = node.parent().map(|path| OpenNode::new(path, Some(dialect), false).knowing(&known));
        Self { node, dialect, known, open, above: Above::default() }
    }
}

impl Job for Ancestors {
    type Output = Above;
    type Error = Error;

    fn step(&mut self, mut replies: &[Reply]) -> Result<Next<Self>> {
        while let Some(open) = &mut self.open {
            let path = open.path().clone();
            match open.go_on(std::mem::take(&mut replies))? {
                Probed::Asks(requests) => return Ok(Next::Ask(requests)),
                Probed::NotFound(_) => self.above.missing.push(path.clone()),
                Probed::Found(found) if found.node.as_array().is_some() => {
                    let message = format!("{path} is an array, expected a group");
                    return Err(Error::argument(message).at(|place| place.path = Some(self.node.to_string())));
                }
                // Consolidated metadata is a copy that a change of the hierarchy makes stale: it is dropped, not left wrong.
                Probed::Found(found) => {
                    self.above.stale.extend(changes(zarr_meta::consolidated::without_consolidated(&found)?)?);
                }
            }
            let open = |path| OpenNode::new(path, Some(self.dialect), false).knowing(&self.known);
            self.open = path.parent().map(open);
        }
        Ok(Next::Done(std::mem::take(&mut self.above)))
    }
}

impl Above {
    /// Writes of the groups that are missing, a step for each, the outermost last: to be taken from the end, so that no node is
    /// ever without the groups above it.
    fn create_missing(&self, dialect: Dialect) -> Result<Vec<Vec<Request>>> {
        // Where a node implies the groups above it, writing them would be in the way of others who create nodes at the same time.
        if dialect.implies_groups() {
            return Ok(Vec::new());
        }
        let group = Node::Group(GroupMetadata::default());
        let create = |path| changes(zarr_meta::documents(dialect, path, &group, None)?);
        self.missing.iter().map(create).collect()
    }
}

/// Replaces the metadata of a node that was found: the job, and what will be found then.
pub(crate) fn replace(found: &Found, node: &Node) -> Result<(ChangeNode, Found)> {
    let written = zarr_meta::documents(found.dialect, &found.path, node, Some(&found.documents))?;
    let mut documents = found.documents.clone();
    documents.apply(&written);
    let replaced = reread(found.dialect, &found.path, &documents)?;
    let mut ancestors = Ancestors::new(found);
    // Where the copy lies in a document of its own, it has one of this group, too.
    if zarr_meta::consolidated::document_key(found).is_some() {
        ancestors.above.stale.extend(changes(zarr_meta::consolidated::without_consolidated(found)?)?);
    }
    let job = ChangeNode {
        written: changes(written)?,
        create_missing: false,
        found: replaced.clone(),
        node: node.clone(),
        state: Change::Above(Box::new(ancestors)),
    };
    Ok((job, replaced))
}

/// Creates a node, and groups above it where there are none.
pub(crate) fn create(path: NodePath, dialect: Dialect, node: &Node, overwrite: bool) -> Result<ChangeNode> {
    dialect.check_path(&path)?;
    let (written, found) = new_documents(dialect, &path, node, &Documents::new())?;
    let state = Change::Here { open: Box::new(OpenNode::new(path, None, false)), overwrite };
    Ok(ChangeNode { written: changes(written)?, create_missing: true, found, node: node.clone(), state })
}

type Changes = Vec<(String, Option<Vec<u8>>)>;

/// The documents of a new node in a hierarchy that has the document `entry` for all of them, and the node as it will be found.
fn new_documents(dialect: Dialect, path: &NodePath, node: &Node, entry: &Documents) -> Result<(Changes, Found)> {
    let written = zarr_meta::documents(dialect, path, node, Some(entry).filter(|entry| !entry.is_empty()))?;
    let mut documents = entry.clone();
    documents.apply(&written);
    // What cannot be read back is not written.
    let found = reread(dialect, path, &documents)?;
    Ok((written, found))
}

/// Writes the documents of a node, after what stands in the way is gone and what is above it is looked at.
///
/// Here ── something, to be replaced ──► Erase or EraseBroken ──► Entry ──► Above ──► Groups ── written ──► Done
///   └──── nothing ──────────────────────────────────────────────────────────┘
///
/// `Entry` is for dialects in which one document is for the whole hierarchy: a new node has to fit in.
#[derive(Debug)]
pub(crate) struct ChangeNode {
    written: Vec<Request>,
    create_missing: bool,
    found: Found,
    node: Node,
    state: Change,
}

#[derive(Debug)]
enum Change {
    Here { open: Box<OpenNode>, overwrite: bool },
    Erase(Box<EraseNode>),
    EraseBroken(Box<EraseBroken>),
    Entry,
    Above(Box<Ancestors>),
    Groups(Vec<Vec<Request>>),
    Done,
}

impl ChangeNode {
    /// Says whether the store can list. If so, an array is not put where a group is implied by nodes below, which would never be
    /// found again.
    pub(crate) fn on_store(mut self, can_list: bool) -> Self {
        if let Change::Here { open, overwrite } = &mut self.state
            && (self.node.as_array().is_some() || *overwrite)
            && self.found.dialect.implies_groups()
        {
            **open = OpenNode::new(self.found.path.clone(), None, can_list);
        }
        self
    }

    /// The node as it will be found.
    pub(crate) fn found(&self) -> &Found {
        &self.found
    }

    /// Looks at what is above, and begins with what is to be done there.
    fn above(&mut self, ancestors: Box<Ancestors>, replies: &[Reply]) -> Result<Next<Self>> {
        let wait = |job: &mut Self, ancestors| job.state = Change::Above(ancestors);
        jobs::within(self, ancestors, replies, wait, |job, above| {
            let dialect = job.found.dialect;
            let mut steps = if job.create_missing { above.create_missing(dialect)? } else { Vec::new() };
            steps.push(above.stale);
            Ok(job.groups(steps))
        })
    }

    /// Whether a node that has no document may get this one: a group, or the root where it is implied by the document that is for
    /// the whole hierarchy, in which there need not be a node.
    fn may_be_told(&self, there: &Found) -> bool {
        let is_bare_root = there.path.is_root() && zarr_meta::entry_key(there.dialect).is_some();
        let fits = there.implicit && there.dialect == self.found.dialect;
        fits && (self.node.as_group().is_some() || is_bare_root)
    }

    /// Takes the next of the steps that come before the node itself.
    fn groups(&mut self, mut steps: Vec<Vec<Request>>) -> Next<Self> {
        while let Some(requests) = steps.pop() {
            if !requests.is_empty() {
                self.state = Change::Groups(steps);
                return Next::Ask(requests);
            }
        }
        self.node()
    }

    /// The dialect of the hierarchy, if the node would be a stranger there.
    fn foreign(&self, open: &OpenNode) -> Option<Dialect> {
        open.dialect().filter(|dialect| *dialect != self.found.dialect && !self.found.path.is_root())
    }

    /// Erases what is in the way.
    fn erase<J: Job<Output = (), Error = Error>>(
        &mut self,
        erase: Box<J>,
        state: fn(Box<J>) -> Change,
        replies: &[Reply],
    ) -> Result<Next<Self>> {
        jobs::within(self, erase, replies, |job, erase| job.state = state(erase), |job, ()| job.entry())
    }

    /// Looks at the document that is for the whole hierarchy.
    fn entry(&mut self) -> Result<Next<Self>> {
        match zarr_meta::entry_key(self.found.dialect).filter(|_| self.create_missing) {
            None => self.above(Box::new(Ancestors::new(&self.found)), &[]),
            Some(key) => {
                self.state = Change::Entry;
                Ok(Next::Ask(vec![Request::get(Key::new(key)?)]))
            }
        }
    }

    /// Makes the node fit into the hierarchy that is there.
    fn fit_in(&mut self, replies: &[Reply]) -> Result<Next<Self>> {
        let (path, dialect) = (self.found.path.clone(), self.found.dialect);
        if let (Some(key), Some(Reply::Got(Some(entry)))) = (zarr_meta::entry_key(dialect), replies.first()) {
            let entry = [(key.to_owned(), entry.part(0).to_vec())].into_iter().collect();
            zarr_meta::fit_in(&mut self.node, dialect, &entry);
            let (written, found) = new_documents(dialect, &path, &self.node, &entry)?;
            self.written = changes(written)?;
            self.found = found;
        }
        self.above(Box::new(Ancestors::new(&self.found)), &[])
    }

    fn node(&mut self) -> Next<Self> {
        self.state = Change::Done;
        if self.written.is_empty() {
            return Next::Done(self.found.clone());
        }
        Next::Ask(std::mem::take(&mut self.written))
    }
}

impl Job for ChangeNode {
    type Output = Found;
    type Error = Error;

    fn step(&mut self, replies: &[Reply]) -> Result<Next<Self>> {
        let path = self.found.path.clone();
        match std::mem::replace(&mut self.state, Change::Done) {
            Change::Here { mut open, overwrite } => match open.go_on(replies) {
                Ok(Probed::Asks(requests)) => {
                    self.state = Change::Here { open, overwrite };
                    Ok(Next::Ask(requests))
                }
                Ok(_) if let Some(dialect) = self.foreign(&open) => {
                    let message = format!("the hierarchy is of dialect {dialect}, not {}", self.found.dialect);
                    Err(Error::argument(message).at(|place| place.path = Some(path.to_string())))
                }
                Ok(Probed::NotFound(_)) => self.entry(),
                // A broken node may be replaced, too.
                Err(error) if overwrite && error.kind() != ErrorKind::Store => {
                    let job = EraseBroken::new(path, self.found.dialect);
                    self.erase(Box::new(job), Change::EraseBroken, &[])
                }
                Ok(Probed::Found(found)) if overwrite => {
                    self.erase(Box::new(EraseNode::alone(*found)), Change::Erase, &[])
                }
                Ok(Probed::Found(found)) if self.may_be_told(&found) => self.entry(),
                Ok(Probed::Found(found)) => {
                    let kind = if found.node.as_array().is_some() { "an array" } else { "a group" };
                    Err(Error::new(ErrorKind::Exists, format!("there is {kind} already"))
                        .at(|place| place.path = Some(path.to_string())))
                }
                Err(error) => Err(error),
            },
            Change::Erase(job) => self.erase(job, Change::Erase, replies),
            Change::EraseBroken(job) => self.erase(job, Change::EraseBroken, replies),
            Change::Entry => self.fit_in(replies),
            Change::Above(ancestors) => self.above(ancestors, replies),
            Change::Groups(steps) => Ok(self.groups(steps)),
            Change::Done => Ok(Next::Done(self.found.clone())),
        }
    }
}
