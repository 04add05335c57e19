//! Copies of nodes in consolidated metadata, which are exchanged for newer ones.

use super::ancestors::Ancestors;
use super::newest::ReadNewest;
use crate::{Error, ErrorKind, Result, jobs};
use std::collections::BTreeMap;
use zarr_meta::consolidated;
use zarr_meta::{Consolidated, Dialect, Documents, Node, NodePath, StoredNode};
use zarr_store::{Capabilities, Conflicts, Fetched, Job, Key, Next, Precondition, Reply, Request};

/// How often copies are made again when others replace them in between.
const MAX_TRIES: u32 = 100;

/// Puts nodes that have changed into the consolidated metadata of the groups at and above them, as far as these have some: each document by
/// one set, on the condition that nobody else changed it meanwhile. A reader finds the old copies or the new ones at any time, and those of
/// several nodes change at once. Gives the groups whose copies are up to date.
///
/// Copies are dropped if they cannot be read, in stores without conditions, and where others keep replacing them.
///
/// Copies are read before nodes, and both once more after a set, until nothing differs: whoever changes a node in between reads the copy after it
/// was set here, or is found by that look. So the last copy is that of the last change.
///
/// Read ── none, or as the nodes are ──► done
///  ▲▲ └──► Nodes ──► Set ── all set ─┐
///  │└────────────────────────────────┘
///  └─ Pause ◄─────────┘ another was faster, and too often: Drop ──► done
#[derive(Debug)]
pub struct RenewCopies {
    nodes: Vec<StoredNode>,
    places: Vec<Place>,
    capabilities: Capabilities,
    /// Sets of copies, which others broke or which have to be looked at once more.
    conflicts: Conflicts,
    /// The copies, and the documents in which they cannot be read.
    copies: Vec<Copied>,
    unreadable: Vec<Key>,
    /// The error of a group that cannot be read, and may have copies in its document.
    unread_group: Option<Error>,
    state: State,
}

/// Where consolidated metadata of a group may be.
#[derive(Clone, Debug)]
struct Place {
    dialect: Dialect,
    group: NodePath,
    key: Key,
    /// Whether it is a document of its own.
    is_apart: bool,
}

/// Consolidated metadata as they were read.
#[derive(Debug)]
struct Copied {
    place: Place,
    copy: Consolidated,
    /// The group that has them in its document.
    within: Option<Box<StoredNode>>,
    when: Precondition,
}

#[derive(Debug)]
enum State {
    Begin,
    Read,
    /// Jobs that read nodes, and how many replies each of them waits for.
    Nodes(Vec<Reading>),
    Set,
    Drop(Box<Ancestors>),
    Done,
}

/// A node that is read.
#[derive(Debug)]
struct Reading {
    read: ReadNewest,
    asked: usize,
    /// `None` as well if others erased it meanwhile.
    found: Option<StoredNode>,
}

impl RenewCopies {
    /// The copies of nodes that were found or changed before, in a store that is such.
    #[must_use]
    pub fn new(nodes: Vec<StoredNode>, capabilities: Capabilities) -> Self {
        let mut places = BTreeMap::new();
        for node in &nodes {
            // A group is part of its own copy only where that is a document of its own.
            let own = node.node.as_group().and_then(|_| Place::of(node.dialect, node.path.clone()));
            let above = std::iter::successors(node.path.parent(), NodePath::parent);
            let above = above.filter_map(|group| Place::of(node.dialect, group));
            for place in own.filter(|own| own.is_apart).into_iter().chain(above) {
                places.entry(place.key.clone()).or_insert(place);
            }
        }
        let (places, copies) = (places.into_values().collect(), Vec::new());
        Self {
            nodes,
            places,
            capabilities,
            conflicts: Conflicts::new(MAX_TRIES),
            copies,
            unreadable: Vec::new(),
            unread_group: None,
            state: State::Begin,
        }
    }

    fn begin(&mut self) -> Result<Next<Self>> {
        if self.places.is_empty() || self.nodes.is_empty() {
            return Ok(Next::Done(Vec::new()));
        }
        if !self.capabilities.conditional {
            return self.drop_next();
        }
        self.state = State::Read;
        Ok(Next::Ask(self.places.iter().map(|place| jobs::get_whole_document(place.key.clone())).collect()))
    }

    fn read(&mut self, replies: &[Reply]) -> Result<Next<Self>> {
        self.copies.clear();
        self.unreadable.clear();
        self.unread_group = None;
        for (place, reply) in self.places.iter().zip(replies) {
            let Reply::Got(fetched) = reply else { return Err(jobs::unfit()) };
            let Some(fetched) = fetched else { continue };
            match (place.read(fetched), place.is_apart) {
                (Ok(Some(copied)), _) => self.copies.push(copied),
                // Other software may read it, and take it for true.
                (Ok(None), true) => self.unreadable.push(place.key.clone()),
                (Ok(None), false) => {}
                (Err(error), _) if place.may_have_copies(fetched) => {
                    self.unread_group = Some(error.at_path(&place.group));
                }
                (Err(_), _) => {}
            }
        }
        if replies.len() != self.places.len() {
            return Err(jobs::unfit());
        }
        if self.copies.is_empty() {
            return self.set(&[]);
        }
        let reading = |node| Reading { read: ReadNewest::new(node), asked: 0, found: None };
        self.nodes(self.nodes.iter().map(reading).collect(), &[])
    }

    /// Reads all nodes at the same time.
    fn nodes(&mut self, mut nodes: Vec<Reading>, replies: &[Reply]) -> Result<Next<Self>> {
        let is_begun = matches!(replies, [_, ..]);
        let (mut replies, mut requests) = (replies, Vec::new());
        for node in &mut nodes {
            if is_begun && node.asked == 0 {
                continue;
            }
            let own = replies.split_off(..node.asked).ok_or_else(jobs::unfit)?;
            node.asked = 0;
            match node.read.step(own) {
                Ok(Next::Ask(more) | Next::FetchInto(more)) => {
                    node.asked = more.len();
                    requests.extend(more);
                }
                Ok(Next::Done(newest)) => node.found = Some(newest.found),
                Ok(Next::Fork(_)) => return Err(Error::internal("a job that is a part of another one forked")),
                // Whoever erased it dropped its copies.
                Err(error) if error.is_not_found() => {}
                Err(error) => return Err(error),
            }
        }
        if requests.is_empty() {
            return self.set(&nodes.into_iter().filter_map(|node| node.found).collect::<Vec<_>>());
        }
        self.state = State::Nodes(nodes);
        Ok(Next::Ask(requests))
    }

    fn set(&mut self, nodes: &[StoredNode]) -> Result<Next<Self>> {
        let mut requests: Vec<Request> = self.unreadable.iter().cloned().map(|key| Request::Erase { key }).collect();
        for copied in &mut self.copies {
            requests.extend(copied.renewed(nodes)?);
        }
        if requests.is_empty() {
            return self.end();
        }
        self.state = State::Set;
        Ok(Next::Ask(requests))
    }

    fn end(&mut self) -> Result<Next<Self>> {
        match self.unread_group.take() {
            Some(error) => Err(error),
            None => {
                Ok(Next::Done(std::mem::take(&mut self.copies).into_iter().map(|copied| copied.place.group).collect()))
            }
        }
    }

    /// Whoever has set a copy reads it and the nodes once more: another who changed a node before the set may have found the copy as it was
    /// to be, and set none.
    fn look_again(&mut self) -> Result<Next<Self>> {
        match self.conflicts.again() {
            Some(_) => self.begin(),
            None => self.give_up(),
        }
    }

    /// Others replaced a copy while it was made.
    fn again(&mut self) -> Result<Next<Self>> {
        let Some(duration) = self.conflicts.again() else { return self.give_up() };
        self.state = State::Begin;
        Ok(Next::Ask(vec![Request::Pause { duration }]))
    }

    /// Drops copies that others keep replacing.
    fn give_up(&mut self) -> Result<Next<Self>> {
        self.copies.clear();
        self.drop_next()
    }

    /// Drops the copies of one node after another: those above several of them are gone after the first.
    fn drop_next(&mut self) -> Result<Next<Self>> {
        match self.nodes.pop() {
            Some(node) => self.drop(Box::new(Ancestors::new(&node, self.capabilities).with_own_copy(&node)), &[]),
            None => self.end(),
        }
    }

    fn drop(&mut self, ancestors: Box<Ancestors>, replies: &[Reply]) -> Result<Next<Self>> {
        let wait = |job: &mut Self, ancestors| job.state = State::Drop(ancestors);
        jobs::within(self, ancestors, replies, wait, |job, _| job.drop_next())
    }
}

impl Place {
    fn of(dialect: Dialect, group: NodePath) -> Option<Self> {
        if !dialect.may_consolidate(&group) {
            return None;
        }
        let apart = consolidated::document_key(&StoredNode::implicit(dialect, group.clone()));
        let is_apart = apart.is_some();
        let key = apart.or_else(|| zarr_meta::document_keys(dialect, &group, &Documents::new()).into_iter().next())?;
        Some(Self { dialect, group, key: Key::new(&key).ok()?, is_apart })
    }

    /// Whether a document that cannot be read has copies for others.
    fn may_have_copies(&self, fetched: &Fetched) -> bool {
        !self.is_apart && zarr_json::begins_in(fetched.part(0), &["consolidated_metadata"])
    }

    /// The consolidated metadata in a document; `None` if there are none, or a document of their own that cannot be read.
    ///
    /// # Errors
    /// If the document of the group cannot be read: others may read it, with copies that are old now.
    fn read(&self, fetched: &Fetched) -> Result<Option<Copied>> {
        let when = fetched.version.clone().map_or(Precondition::None, Precondition::Version);
        let place = self.clone();
        if self.is_apart {
            let copy = Consolidated::parse_document(self.dialect, self.key.as_str(), fetched.part(0)).ok().flatten();
            return Ok(copy.map(|copy| Copied { place, copy, within: None, when }));
        }
        let documents: Documents = [(self.key.to_string(), fetched.part(0).to_vec())].into_iter().collect();
        let Some(group) = StoredNode::read(self.dialect, self.group.clone(), &documents)? else { return Ok(None) };
        let copy = group.node.as_group().and_then(|group| group.consolidated.clone());
        Ok(copy.map(|copy| Copied { place, copy, within: Some(Box::new(group)), when }))
    }
}

impl Copied {
    /// Renews the copies of the nodes at and below the group, and gives the request that sets them if they were others.
    fn renewed(&mut self, nodes: &[StoredNode]) -> Result<Option<Request>> {
        let Self { place: Place { dialect, group, key, .. }, copy, within, when } = self;
        let mut is_changed = false;
        for node in nodes.iter().filter(|node| node.path.is_within(group)) {
            is_changed |= copy.renew(*dialect, group, node)?;
        }
        if !is_changed {
            return Ok(None);
        }
        let set = |value| jobs::set_document(key.clone(), value, when.clone(), true);
        let Some(found) = within else { return Ok(Some(set(copy.to_v2()))) };
        let Node::Group(mut node) = found.node.clone() else { return Ok(None) };
        node.consolidated = Some(copy.clone());
        let written = zarr_meta::documents(found.dialect, group, &Node::Group(node), Some(&found.documents))?;
        Ok(written.into_iter().find(|(written, _)| written == key.as_str()).and_then(|(_, value)| value).map(set))
    }
}

impl Job for RenewCopies {
    type Output = Vec<NodePath>;
    type Error = Error;

    fn step(&mut self, replies: &[Reply]) -> Result<Next<Self>> {
        match std::mem::replace(&mut self.state, State::Done) {
            State::Begin => self.begin(),
            State::Read => self.read(replies),
            State::Nodes(nodes) => self.nodes(nodes, replies),
            State::Set => match jobs::any_conflict(replies)? {
                false => self.look_again(),
                true => self.again(),
            },
            State::Drop(ancestors) => self.drop(ancestors, replies),
            State::Done => Err(jobs::went_on()),
        }
    }
}

/// The error of a change that is made, and whose copies are not renewed. No kind of error says that the change may be made again.
pub(crate) fn made_without_copies(error: Error) -> Error {
    let is_unanswered = matches!(error.kind(), ErrorKind::Store | ErrorKind::Cancelled | ErrorKind::Internal);
    let error = if is_unanswered { error } else { error.with_kind(ErrorKind::Store) };
    error.with_hint("the change itself is made, and only consolidated metadata of groups above is not up to date: consolidate again")
}
