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
    open: Option<OpenNode>,
    missing: Vec<NodePath>,
    stale: Vec<Request>,
}

impl Ancestors {
    fn new(node: NodePath, dialect: Dialect) -> Self {
        let open = node.parent().map(|path| OpenNode::new(path, Some(dialect), false));
        Self { node, dialect, open, missing: Vec::new(), stale: Vec::new() }
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
            self.open = path.parent().map(|path| OpenNode::new(path, Some(self.dialect), false));
        }
        Ok(None)
    }

    /// Writes of the groups that are missing, outermost first, so that no node is ever without the groups above it.
    fn create_missing(&mut self) -> Result<Vec<Request>> {
        let mut requests = Vec::new();
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
        state: Change::Above(Box::new(Ancestors::new(found.path.clone(), found.dialect))),
    };
    Ok((job, replaced))
}

/// Creates a node, and groups above it where there are none.
pub(crate) fn create(path: NodePath, dialect: Dialect, node: &Node, overwrite: bool) -> Result<ChangeNode> {
    dialect.check_path(&path)?;
    let written = zarr_meta::documents(dialect, &path, node, None)?;
    let mut documents = Documents::new();
    documents.apply(&written);
    // What cannot be read back is not written.
    let found = reread(dialect, &path, &documents)?;
    let state = Change::Here { open: OpenNode::new(path, None, false), overwrite };
    Ok(ChangeNode { written: changes(written)?, create_missing: true, found, state })
}

/// Writes the documents of a node, after what stands in the way is gone and what is above it is looked at.
///
/// Here ── something, to be replaced ──► Below ── erased ──► Above ── missing groups ──► Node ── written ──► Done
///   └──── nothing ────────────────────────────────────────────┘
#[derive(Debug)]
pub(crate) struct ChangeNode {
    written: Vec<Request>,
    create_missing: bool,
    found: Found,
    state: Change,
}

#[derive(Debug)]
enum Change {
    Here { open: OpenNode, overwrite: bool },
    Below,
    Erased,
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
        let ancestors = Ancestors::new(path.clone(), self.found.dialect);
        match std::mem::replace(&mut self.state, Change::Done) {
            Change::Here { mut open, overwrite } => match open.go_on(replies) {
                Ok(Probed::Asks(requests)) => {
                    self.state = Change::Here { open, overwrite };
                    Ok(Next::Ask(requests))
                }
                Ok(Probed::NotFound(_)) => self.above(ancestors, &[]),
                // A broken node may be replaced, too.
                Ok(Probed::Found(_)) | Err(_) if overwrite => {
                    self.state = Change::Below;
                    Ok(Next::Ask(vec![Request::ListAll { prefix: Prefix::new(&path.key_prefix())? }]))
                }
                Ok(Probed::Found(found)) => {
                    let kind = if found.node.as_array().is_some() { "an array" } else { "a group" };
                    Err(Error::new(ErrorKind::Exists, format!("there is {kind} already"))
                        .at(|place| place.path = Some(path.to_string())))
                }
                Err(error) => Err(error),
            },
            Change::Below => match replies.first() {
                Some(Reply::Keys(keys)) if !keys.is_empty() => {
                    self.state = Change::Erased;
                    Ok(Next::Ask(keys.iter().map(|key| Request::Erase { key: key.clone() }).collect()))
                }
                _ => self.above(ancestors, &[]),
            },
            Change::Erased => self.above(ancestors, &[]),
            Change::Above(ancestors) => self.above(*ancestors, replies),
            Change::Node => Ok(self.node()),
            Change::Done => Ok(Next::Done(self.found.clone())),
        }
    }
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
                let prefix = Prefix::new(&self.found.path.key_prefix())?;
                Ok(Next::Ask(vec![Request::ListAll { prefix }]))
            }
            Erase::Below => {
                let keys = match replies.first() {
                    Some(Reply::Keys(keys)) => keys.clone(),
                    _ => Vec::new(),
                };
                let is_document = |key: &Key| self.found.documents.get(key.as_str()).is_some();
                let (documents, others) = keys.into_iter().partition(is_document);
                self.ask_erase(others, Erase::Documents(documents))
            }
            Erase::Documents(documents) => {
                let ancestors = Ancestors::new(self.found.path.clone(), self.found.dialect);
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
