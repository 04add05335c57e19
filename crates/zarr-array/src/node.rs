//! Nodes as jobs: finding, creating, replacing and erasing one.

use crate::{Error, ErrorKind, Result};
use zarr_meta::json::Map;
use zarr_meta::{Dialect, Documents, Found, GroupMetadata, Node, NodePath, Probe, ProbeStep};
use zarr_store::{ByteRange, Job, Key, Next, Precondition, Prefix, Reply, Request};

/// Finds the node at a path: asks for the documents that each dialect would have there.
#[derive(Debug)]
pub(crate) struct OpenNode {
    probe: Probe,
    path: NodePath,
    asked: Vec<String>,
    begun: bool,
}

/// How far a probe got with what it was given.
pub(crate) enum Probed {
    Asks(Vec<Request>),
    Found(Box<Found>),
    NotFound(Vec<String>),
}

impl OpenNode {
    pub(crate) fn new(path: NodePath, dialect: Option<Dialect>, can_list: bool) -> Self {
        Self { probe: Probe::new(path.clone(), dialect).can_list(can_list), path, asked: Vec::new(), begun: false }
    }

    /// Gives documents that were read before, so that those that are for the whole hierarchy are not asked for again.
    pub(crate) fn knowing(self, documents: &Documents) -> Self {
        Self { probe: self.probe.knowing(documents), ..self }
    }

    /// The dialect, as far as it is known by now.
    fn dialect(&self) -> Option<Dialect> {
        self.probe.dialect()
    }

    pub(crate) fn path(&self) -> &NodePath {
        &self.path
    }

    /// Goes on with replies to what was asked last.
    pub(crate) fn go_on(&mut self, replies: &[Reply]) -> Result<Probed> {
        let step = if !self.begun {
            self.begun = true;
            self.probe.step(&[])?
        } else if let Some(Reply::Listing(listing)) = replies.first() {
            let keys = listing.keys.iter().map(Key::as_str).chain(listing.prefixes.iter().map(Prefix::as_str));
            self.probe.step(&keys.map(|key| (key.to_owned(), None)).collect::<Vec<_>>())?
        } else {
            let value = |reply: &Reply| match reply {
                Reply::Got(Some(fetched)) => Some(fetched.part(0).to_vec()),
                _ => None,
            };
            let got: Vec<_> = self.asked.drain(..).zip(replies.iter().map(value)).collect();
            self.probe.step(&got)?
        };
        Ok(match step {
            ProbeStep::Need(keys) => {
                let request = |key: &String| Ok(Request::Get { key: Key::new(key)?, ranges: vec![ByteRange::Full] });
                let requests = keys.iter().map(request).collect::<Result<_>>()?;
                self.asked = keys;
                Probed::Asks(requests)
            }
            ProbeStep::List { prefix } => Probed::Asks(vec![Request::List { prefix: Prefix::new(&prefix)? }]),
            ProbeStep::Found(found) => Probed::Found(found),
            ProbeStep::NotFound { tried } => Probed::NotFound(tried),
        })
    }
}

/// Nothing is at a path: says what was tried.
pub(crate) fn not_found(path: &NodePath, tried: &[String]) -> Error {
    let tried = if tried.is_empty() { String::new() } else { format!(" (tried {})", tried.join(", ")) };
    Error::new(ErrorKind::NotFound, format!("no array and no group here{tried}"))
        .at(|place| place.path = Some(path.to_string()))
}

impl Job for OpenNode {
    type Output = Found;
    type Error = Error;

    fn step(&mut self, replies: &[Reply]) -> Result<Next<Self>> {
        let path = self.path.clone();
        let probed = self.go_on(replies).map_err(|error| error.at(|place| place.path = Some(path.to_string())))?;
        match probed {
            Probed::Asks(requests) => Ok(Next::Ask(requests)),
            Probed::Found(found) => Ok(Next::Done(*found)),
            Probed::NotFound(tried) => Err(not_found(&path, &tried)),
        }
    }
}

/// The attributes of a node, or why they cannot be read.
pub(crate) fn attributes(found: &Found) -> Result<&Map> {
    found.attributes().map_err(|error| error.clone().into())
}

/// Parses `text` as the path of a node.
pub(crate) fn parse_path(text: &str) -> Result<NodePath> {
    Ok(NodePath::parse(text)?)
}

/// Turns changes of documents into requests.
fn changes(documents: Vec<(String, Option<Vec<u8>>)>) -> Result<Vec<Request>> {
    let request = |(key, value): (String, Option<Vec<u8>>)| {
        let key = Key::new(&key)?;
        Ok(match value {
            Some(value) => Request::Set { key, value, when: Precondition::None },
            None => Request::Erase { key },
        })
    };
    documents.into_iter().map(request).collect()
}

/// Parses documents that are about to be written, as they will be read.
pub(crate) fn reread(dialect: Dialect, path: &NodePath, documents: &Documents) -> Result<Found> {
    let mut probe = Probe::new(path.clone(), Some(dialect)).can_list(false);
    let mut step = probe.step(&[])?;
    loop {
        match step {
            ProbeStep::Found(found) => return Ok(*found),
            ProbeStep::Need(keys) => {
                let got: Vec<_> =
                    keys.into_iter().map(|key| (key.clone(), documents.get(&key).map(<[u8]>::to_vec))).collect();
                step = probe.step(&got)?;
            }
            ProbeStep::List { .. } => step = probe.step(&[])?,
            ProbeStep::NotFound { tried } => return Err(not_found(path, &tried)),
        }
    }
}

/// The groups above a node, from the nearest to the root: which are not there, and what in them a change makes stale.
#[derive(Debug)]
struct Ancestors {
    node: NodePath,
    dialect: Dialect,
    /// Documents of the node, among them those of the whole hierarchy.
    known: Documents,
    open: Option<OpenNode>,
    missing: Vec<NodePath>,
    stale: Vec<Request>,
}

impl Ancestors {
    fn new(found: &Found) -> Self {
        let (node, dialect) = (found.path.clone(), found.dialect);
        let known = found.documents.clone();
        let open = node.parent().map(|path| OpenNode::new(path, Some(dialect), false).knowing(&known));
        Self { node, dialect, known, open, missing: Vec::new(), stale: Vec::new() }
    }

    /// Goes on with replies to what was asked last; `None`: all have been looked at.
    fn go_on(&mut self, mut replies: &[Reply]) -> Result<Option<Vec<Request>>> {
        while let Some(open) = &mut self.open {
            let path = open.path().clone();
            match open.go_on(std::mem::take(&mut replies))? {
                Probed::Asks(requests) => return Ok(Some(requests)),
                Probed::NotFound(_) => self.missing.push(path.clone()),
                Probed::Found(found) if found.node.as_array().is_some() => {
                    let message = format!("{path} is an array, expected a group");
                    return Err(Error::argument(message).at(|place| place.path = Some(self.node.to_string())));
                }
                // Consolidated metadata is a copy that a change of the hierarchy makes stale: it is dropped, not left wrong.
                Probed::Found(found) => {
                    self.stale.extend(changes(zarr_meta::consolidated::without_consolidated(&found)?)?);
                }
            }
            let open = |path| OpenNode::new(path, Some(self.dialect), false).knowing(&self.known);
            self.open = path.parent().map(open);
        }
        Ok(None)
    }

    /// Writes of the groups that are missing, outermost first, so that no node is ever without the groups above it.
    fn create_missing(&mut self) -> Result<Vec<Request>> {
        let mut requests = Vec::new();
        // Where a node implies the groups above it, writing them would be in the way of others who create nodes at the same time.
        if self.dialect.implies_groups() {
            return Ok(requests);
        }
        for path in std::mem::take(&mut self.missing).iter().rev() {
            let group = Node::Group(GroupMetadata::default());
            requests.extend(changes(zarr_meta::documents(self.dialect, path, &group, None)?)?);
        }
        Ok(requests)
    }
}

/// Replaces the metadata of a node that was found: the job, and what will be found then.
pub(crate) fn replace(found: &Found, node: &Node) -> Result<(ChangeNode, Found)> {
    let written = zarr_meta::documents(found.dialect, &found.path, node, Some(&found.documents))?;
    let mut documents = found.documents.clone();
    documents.apply(&written);
    let replaced = reread(found.dialect, &found.path, &documents)?;
    let job = ChangeNode {
        written: changes(written)?,
        create_missing: false,
        found: replaced.clone(),
        node: node.clone(),
        state: Change::Above(Box::new(Ancestors::new(found))),
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
/// Here ── something, to be replaced ──► Below ── erased ──► Entry ──► Above ── missing groups ──► Node ── written ──► Done
///   └──── nothing ────────────────────────────────────────────┘
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
    Below(Vec<String>),
    Erased,
    Entry,
    Above(Box<Ancestors>),
    Node,
    Done,
}

impl ChangeNode {
    /// The node as it will be found.
    pub(crate) fn found(&self) -> &Found {
        &self.found
    }

    fn above(&mut self, mut ancestors: Ancestors, replies: &[Reply]) -> Result<Next<Self>> {
        if let Some(requests) = ancestors.go_on(replies)? {
            self.state = Change::Above(Box::new(ancestors));
            return Ok(Next::Ask(requests));
        }
        let mut requests = std::mem::take(&mut ancestors.stale);
        if self.create_missing {
            requests.extend(ancestors.create_missing()?);
        }
        if requests.is_empty() {
            return Ok(self.node());
        }
        self.state = Change::Node;
        Ok(Next::Ask(requests))
    }

    /// The dialect of the hierarchy, if the node would be a stranger there.
    fn foreign(&self, open: &OpenNode) -> Option<Dialect> {
        open.dialect().filter(|dialect| *dialect != self.found.dialect && !self.found.path.is_root())
    }

    /// Erases what is in the way: everything below the node that is there, and its documents.
    fn erase(&mut self, there: Option<&Found>) -> Result<Next<Self>> {
        let owned = match there {
            Some(found) => found.owned(),
            // One that is broken: in the dialect of the one that takes its place.
            None => zarr_meta::owned(self.found.dialect, &self.found.path, &self.found.documents),
        };
        self.state = Change::Below(owned.keys);
        Ok(Next::Ask(list_all(&owned.prefixes)?))
    }

    /// Looks at the document that is for the whole hierarchy.
    fn entry(&mut self) -> Result<Next<Self>> {
        match zarr_meta::entry_key(self.found.dialect).filter(|_| self.create_missing) {
            None => self.above(Ancestors::new(&self.found), &[]),
            Some(key) => {
                self.state = Change::Entry;
                Ok(Next::Ask(vec![Request::Get { key: Key::new(key)?, ranges: vec![ByteRange::Full] }]))
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
        self.above(Ancestors::new(&self.found), &[])
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
                Err(_) if overwrite => self.erase(None),
                Ok(Probed::Found(found)) if overwrite => self.erase(Some(&found)),
                // A group that has no document gets one.
                Ok(Probed::Found(found)) if found.implicit && found.dialect == self.found.dialect => self.entry(),
                Ok(Probed::Found(found)) => {
                    let kind = if found.node.as_array().is_some() { "an array" } else { "a group" };
                    Err(Error::new(ErrorKind::Exists, format!("there is {kind} already"))
                        .at(|place| place.path = Some(path.to_string())))
                }
                Err(error) => Err(error),
            },
            Change::Below(beside) => {
                let mut keys = listed(replies);
                keys.extend(beside.iter().map(|key| Key::new(key)).collect::<Result<Vec<_>, _>>()?);
                if keys.is_empty() {
                    return self.entry();
                }
                self.state = Change::Erased;
                Ok(Next::Ask(keys.into_iter().map(|key| Request::Erase { key }).collect()))
            }
            Change::Erased => self.entry(),
            Change::Entry => self.fit_in(replies),
            Change::Above(ancestors) => self.above(*ancestors, replies),
            Change::Node => Ok(self.node()),
            Change::Done => Ok(Next::Done(self.found.clone())),
        }
    }
}

/// Requests for all keys below prefixes.
fn list_all(prefixes: &[String]) -> Result<Vec<Request>> {
    prefixes.iter().map(|prefix| Ok(Request::ListAll { prefix: Prefix::new(prefix)? })).collect()
}

/// The keys in the replies to listings.
fn listed(replies: &[Reply]) -> Vec<Key> {
    let keys = |reply: &Reply| if let Reply::Keys(keys) = reply { keys.clone() } else { Vec::new() };
    replies.iter().flat_map(keys).collect()
}

/// Erases a node: all keys below it first, its documents last, so that an interrupted erase leaves a node that can be erased
/// again.
///
/// List ── all keys ──► Below ── erased ──► Documents ── erased ──► Above ── stale copies dropped ──► Done
#[derive(Debug)]
pub(crate) struct EraseNode {
    found: Found,
    state: Erase,
}

#[derive(Debug)]
enum Erase {
    List,
    Below,
    Documents(Vec<Key>),
    Above(Box<Ancestors>),
    Done,
}

impl EraseNode {
    pub(crate) fn new(found: Found) -> Self {
        Self { found, state: Erase::List }
    }

    fn ask_erase(&mut self, keys: Vec<Key>, then: Erase) -> Result<Next<Self>> {
        self.state = then;
        if keys.is_empty() {
            return self.step(&[]);
        }
        Ok(Next::Ask(keys.into_iter().map(|key| Request::Erase { key }).collect()))
    }
}

impl Job for EraseNode {
    type Output = ();
    type Error = Error;

    fn step(&mut self, replies: &[Reply]) -> Result<Next<Self>> {
        match std::mem::replace(&mut self.state, Erase::Done) {
            Erase::List => {
                self.state = Erase::Below;
                Ok(Next::Ask(list_all(&self.found.owned().prefixes)?))
            }
            Erase::Below => {
                let is_document = |key: &Key| self.found.documents.get(key.as_str()).is_some();
                let (mut documents, others): (Vec<Key>, _) = listed(replies).into_iter().partition(is_document);
                for key in self.found.owned().keys {
                    documents.push(Key::new(&key)?);
                }
                self.ask_erase(others, Erase::Documents(documents))
            }
            Erase::Documents(documents) => {
                let ancestors = Ancestors::new(&self.found);
                self.ask_erase(documents, Erase::Above(Box::new(ancestors)))
            }
            Erase::Above(mut ancestors) => {
                // The replies to the last erasures are none of the ancestors'.
                let replies = if matches!(replies.first(), Some(Reply::Erased)) { &[] } else { replies };
                if let Some(requests) = ancestors.go_on(replies)? {
                    self.state = Erase::Above(ancestors);
                    return Ok(Next::Ask(requests));
                }
                Ok(if ancestors.stale.is_empty() { Next::Done(()) } else { Next::Ask(ancestors.stale) })
            }
            Erase::Done => Ok(Next::Done(())),
        }
    }
}
