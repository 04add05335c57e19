//! Replacing the metadata of a node that others may change at the same time.

use super::ancestors::Ancestors;
use super::merge::{conflict, merge};
use super::{order, reread};
use crate::{Error, ErrorKind, Result, jobs};
use std::collections::BTreeMap;
use zarr_meta::{Consolidated, Documents, Found, GroupMetadata, Node};
use zarr_store::{Capabilities, Job, Key, Next, Precondition, Reply, Request, Version, backoff};

/// How often a change is made again when others keep changing the documents in between.
const MAX_TRIES: u32 = 1000;

/// What is to be changed in the metadata of a node.
#[derive(Clone, Debug)]
pub(crate) enum Edit {
    /// Nothing: the node is read.
    None,
    /// From what was read to what is wanted.
    Merge { base: Box<Node>, ours: Box<Node> },
    /// As `Merge`, if the array still has the shape that was read.
    Reshape { base: Box<Node>, ours: Box<Node> },
    /// The consolidated metadata in the document of a group.
    Consolidated(Option<Box<Consolidated>>),
}

impl Edit {
    /// From what the documents of `found` say to `ours`.
    pub(crate) fn to(found: &Found, ours: Node) -> Self {
        let base = Found::read(found.dialect, found.path.clone(), &found.documents).ok().flatten();
        let base = base.map_or_else(|| found.node.clone(), |base| base.node);
        Self::Merge { base: Box::new(base), ours: Box::new(ours) }
    }

    /// As [`to`](Self::to), for a change of the shape that counts on the one that was read.
    pub(crate) fn reshape(found: &Found, ours: Node) -> Self {
        match Self::to(found, ours) {
            Self::Merge { base, ours } => Self::Reshape { base, ours },
            edit => edit,
        }
    }

    /// The node as it is to be, of one that is stored as `theirs`.
    fn apply(&self, theirs: &Node) -> Result<Node> {
        match self {
            Self::None => Ok(theirs.clone()),
            Self::Merge { base, ours } => merge(base, ours, theirs),
            Self::Reshape { base, ours } => {
                if let (Some(base), Some(ours), Some(theirs)) = (base.as_array(), ours.as_array(), theirs.as_array())
                    && theirs.shape != base.shape
                {
                    return Err(conflict(
                        "/shape",
                        Some(&theirs.shape.clone().into()),
                        Some(&ours.shape.clone().into()),
                    ));
                }
                merge(base, ours, theirs)
            }
            Self::Consolidated(copy) => match theirs {
                Node::Group(group) => {
                    Ok(Node::Group(GroupMetadata { consolidated: copy.as_deref().cloned(), ..group.clone() }))
                }
                Node::Array(_) => Err(Error::new(ErrorKind::NotFound, "found an array, expected a group")),
            },
        }
    }
}

/// Makes a change in the documents of a node: reads them as they are now, and sets those that change on the condition that they
/// are still the same; if not, begins again after a pause.
///
/// Begin ── keys ──► Read ── further keys ──► Read ── nothing to change ──► done
///   ▲                                          └──► Write ── all set ──► done
///   └──────────── Pause ◄── another was faster ──────┘
#[derive(Debug)]
pub(crate) struct Revise {
    found: Found,
    edit: Edit,
    conditional: bool,
    tries: u32,
    state: State,
}

#[derive(Debug)]
enum State {
    Begin,
    Read { asked: Vec<Key>, stored: BTreeMap<Key, Stored> },
    Write { steps: Vec<Vec<Request>>, revised: Box<Found> },
    Pause,
}

/// A document as it was read; `None` if it is not there.
type Stored = Option<(Vec<u8>, Option<Version>)>;

impl Revise {
    /// Changes the node that was `found`, in a store that is such.
    pub(crate) fn new(found: &Found, edit: Edit, capabilities: Capabilities) -> Self {
        Self { found: found.clone(), edit, conditional: capabilities.conditional, tries: 0, state: State::Begin }
    }

    /// The keys at which the node may have documents, those of the whole hierarchy included.
    fn keys(&self, known: &Documents) -> Result<Vec<Key>> {
        let Found { dialect, path, .. } = &self.found;
        let mut keys = zarr_meta::document_keys(*dialect, path, known);
        keys.extend(self.found.documents.keys().map(str::to_owned));
        keys.extend(zarr_meta::entry_key(*dialect).map(str::to_owned));
        keys.sort_unstable();
        keys.dedup();
        keys.iter().map(|key| Ok(Key::new(key)?)).collect()
    }

    fn ask(&mut self, keys: Vec<Key>, stored: BTreeMap<Key, Stored>) -> Next<Self> {
        let requests = keys.iter().cloned().map(jobs::get_document).collect();
        self.state = State::Read { asked: keys, stored };
        Next::Ask(requests)
    }

    fn read(&mut self, asked: Vec<Key>, mut stored: BTreeMap<Key, Stored>, replies: &[Reply]) -> Result<Next<Self>> {
        for (key, reply) in asked.into_iter().zip(replies) {
            let document = match reply {
                Reply::Got(Some(fetched)) => Some((fetched.part(0).to_vec(), fetched.version.clone())),
                Reply::Got(None) => None,
                _ => return Err(jobs::unfit()),
            };
            stored.insert(key, document);
        }
        let there = stored.iter().filter_map(|(key, document)| Some((key.to_string(), document.as_ref()?.0.clone())));
        let documents: Documents = there.collect();
        let further: Vec<Key> =
            self.keys(&documents)?.into_iter().filter(|key| !stored.contains_key(key.as_str())).collect();
        if !further.is_empty() {
            return Ok(self.ask(further, stored));
        }
        let theirs = match Found::read(self.found.dialect, self.found.path.clone(), &documents)? {
            Some(theirs) => theirs,
            None if self.found.implicit => self.found.clone(),
            None => {
                let error = Error::new(ErrorKind::NotFound, "another writer erased the node meanwhile");
                return Err(error.at_path(&self.found.path));
            }
        };
        self.write(theirs, &stored)
    }

    fn write(&mut self, theirs: Found, stored: &BTreeMap<Key, Stored>) -> Result<Next<Self>> {
        if matches!(self.edit, Edit::None) {
            return Ok(Next::Done(theirs));
        }
        let node = self.edit.apply(&theirs.node)?;
        let mut written = zarr_meta::documents(theirs.dialect, &theirs.path, &node, Some(&theirs.documents))?;
        let mut documents = theirs.documents.clone();
        documents.apply(&written);
        // What cannot be read back is not written.
        let mut revised = reread(theirs.dialect, &theirs.path, &documents)?;
        if self.conditional {
            // There is no condition for erasing: a document that says nothing any more stays, without members.
            for (key, value) in written.iter_mut().filter(|(_, value)| value.is_none()) {
                let empty = Some(b"{}\n".to_vec());
                let mut emptied = documents.clone();
                emptied.apply(&[(key.clone(), empty.clone())]);
                if let Ok(read) = reread(theirs.dialect, &theirs.path, &emptied)
                    && read.node == revised.node
                {
                    (*value, documents, revised) = (empty, emptied, read);
                }
            }
        }
        written.retain(|(key, value)| theirs.documents.get(key) != value.as_deref());
        let mut steps = Vec::new();
        for step in order::in_steps(theirs.dialect, &theirs.path, &documents, written) {
            let request = |(key, value): (String, Option<Vec<u8>>)| {
                let key = Key::new(&key)?;
                Ok(match value {
                    Some(value) => Request::Set { when: self.when(&key, stored), key, value },
                    None => Request::Erase { key },
                })
            };
            steps.push(step.into_iter().map(request).collect::<Result<Vec<_>>>()?);
        }
        steps.reverse();
        self.next(steps, Box::new(revised))
    }

    /// The condition that a document is as it was read.
    fn when(&self, key: &Key, stored: &BTreeMap<Key, Stored>) -> Precondition {
        match stored.get(key.as_str()) {
            _ if !self.conditional => Precondition::None,
            Some(Some((_, version))) => version.clone().map_or(Precondition::None, Precondition::Version),
            _ => Precondition::NotExists,
        }
    }

    /// Takes the next step, from the end.
    fn next(&mut self, mut steps: Vec<Vec<Request>>, revised: Box<Found>) -> Result<Next<Self>> {
        while let Some(requests) = steps.pop() {
            if !requests.is_empty() {
                self.state = State::Write { steps, revised };
                return Ok(Next::Ask(requests));
            }
        }
        Ok(Next::Done(*revised))
    }

    fn again(&mut self) -> Result<Next<Self>> {
        self.tries += 1;
        if self.tries > MAX_TRIES {
            let message = format!("others changed the metadata {MAX_TRIES} times while it was changed here");
            return Err(Error::new(ErrorKind::Conflict, message).at_path(&self.found.path));
        }
        self.state = State::Pause;
        Ok(Next::Ask(vec![Request::Pause { duration: backoff(self.tries) }]))
    }
}

impl Job for Revise {
    type Output = Found;
    type Error = Error;

    fn step(&mut self, replies: &[Reply]) -> Result<Next<Self>> {
        match std::mem::replace(&mut self.state, State::Begin) {
            State::Begin | State::Pause => {
                let keys = self.keys(&self.found.documents)?;
                Ok(self.ask(keys, BTreeMap::new()))
            }
            State::Read { asked, stored } => self.read(asked, stored, replies),
            State::Write { .. } if replies.iter().any(|reply| matches!(reply, Reply::Conflict)) => self.again(),
            State::Write { steps, revised } => self.next(steps, revised),
        }
    }
}

/// Replaces the metadata of a node, after what becomes stale by that was dropped.
#[derive(Debug)]
pub(crate) struct ReplaceNode {
    revise: Option<Box<Revise>>,
    ancestors: Option<Box<Ancestors>>,
}

impl ReplaceNode {
    pub(crate) fn new(found: &Found, edit: Edit, capabilities: Capabilities) -> Self {
        let ancestors = Ancestors::new(found, capabilities).and_of(found);
        Self { revise: Some(Box::new(Revise::new(found, edit, capabilities))), ancestors: Some(Box::new(ancestors)) }
    }

    fn revise(&mut self, replies: &[Reply]) -> Result<Next<Self>> {
        match self.revise.take() {
            Some(revise) => {
                let wait = |job: &mut Self, revise| job.revise = Some(revise);
                jobs::within(self, revise, replies, wait, |_, found| Ok(Next::Done(found)))
            }
            None => Err(Error::new(ErrorKind::Store, "a job went on after its end")),
        }
    }
}

impl Job for ReplaceNode {
    type Output = Found;
    type Error = Error;

    fn step(&mut self, replies: &[Reply]) -> Result<Next<Self>> {
        match self.ancestors.take() {
            Some(ancestors) => {
                let wait = |job: &mut Self, ancestors| job.ancestors = Some(ancestors);
                jobs::within(self, ancestors, replies, wait, |job, _| job.revise(&[]))
            }
            None => self.revise(replies),
        }
    }
}

/// Replaces the attributes of a node by `attributes`: of what others changed since the node was read, the rest stays.
pub(crate) fn set_attributes(
    found: &Found,
    attributes: zarr_meta::json::Map,
    capabilities: Capabilities,
) -> Result<ReplaceNode> {
    super::attributes(found)?;
    Ok(ReplaceNode::new(found, Edit::to(found, found.with_attributes(attributes)), capabilities))
}
