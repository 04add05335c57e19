//! Nodes as jobs: finding, creating, replacing and erasing one.

use crate::jobs::All;
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

/// Replaces the metadata of a node that was found: the job, and what will be found then.
pub(crate) fn replace(found: &Found, node: &Node) -> Result<(All, Found)> {
    let written = zarr_meta::documents(found.dialect, &found.path, node, Some(&found.documents))?;
    let mut documents = found.documents.clone();
    documents.apply(&written);
    let replaced = reread(found.dialect, &found.path, &documents)?;
    Ok((All::new(changes(written)?), replaced))
}

/// Creates a node, and groups above it where there are none.
///
/// Start ── wants what is there ──► Here ── something, to be replaced ──► Below ── erases ──► Above ── wants the groups above,
/// one after another from the nearest ──► writes documents, outermost first ──► done
#[derive(Debug)]
pub(crate) struct CreateNode {
    documents: Documents,
    written: Vec<(String, Option<Vec<u8>>)>,
    found: Found,
    overwrite: bool,
    state: Create,
}

#[derive(Debug)]
enum Create {
    Here(OpenNode),
    Below,
    Erased,
    Above { open: OpenNode, missing: Vec<NodePath>, stale: Vec<Request> },
    Written,
}

impl CreateNode {
    pub(crate) fn new(path: NodePath, dialect: Dialect, node: &Node, overwrite: bool) -> Result<Self> {
        dialect.check_path(&path)?;
        let written = zarr_meta::documents(dialect, &path, node, None)?;
        let mut documents = Documents::new();
        documents.apply(&written);
        // What cannot be read back is not written.
        let found = reread(dialect, &path, &documents)?;
        let state = Create::Here(OpenNode::new(path, None, false));
        Ok(Self { documents, written, found, overwrite, state })
    }

    /// The node as it will be found.
    pub(crate) fn found(&self) -> &Found {
        &self.found
    }

    fn above(&mut self, path: Option<NodePath>, missing: Vec<NodePath>, stale: Vec<Request>) -> Result<Next<Self>> {
        let dialect = self.found.dialect;
        if let Some(path) = path {
            let mut open = OpenNode::new(path, Some(dialect), false);
            let next = open.go_on(&[])?;
            return self.at_ancestor(open, next, missing, stale);
        }
        // Outermost first, so that no node is ever without the groups above it; the node itself last.
        let mut requests = stale;
        for path in missing.iter().rev() {
            let group = Node::Group(GroupMetadata::default());
            requests.extend(changes(zarr_meta::documents(dialect, path, &group, None)?)?);
        }
        requests.extend(changes(std::mem::take(&mut self.written))?);
        self.state = Create::Written;
        Ok(Next::Ask(requests))
    }

    fn at_ancestor(
        &mut self,
        open: OpenNode,
        probed: Probed,
        mut missing: Vec<NodePath>,
        mut stale: Vec<Request>,
    ) -> Result<Next<Self>> {
        let path = open.path().clone();
        match probed {
            Probed::Asks(requests) => {
                self.state = Create::Above { open, missing, stale };
                return Ok(Next::Ask(requests));
            }
            Probed::NotFound(_) => missing.push(path.clone()),
            Probed::Found(found) => {
                if found.node.as_array().is_some() {
                    let message = format!("{path} is an array, expected a group");
                    return Err(Error::argument(message).at(|place| place.path = Some(self.found.path.to_string())));
                }
                stale.extend(drop_consolidated(&found)?);
            }
        }
        self.above(path.parent(), missing, stale)
    }
}

/// Consolidated metadata is a copy that a change of the hierarchy makes stale: it is dropped, not left wrong.
fn drop_consolidated(group: &Found) -> Result<Vec<Request>> {
    let dropped = zarr_meta::consolidated::without_consolidated(group)?;
    changes(dropped)
}

impl Job for CreateNode {
    type Output = Found;
    type Error = Error;

    fn step(&mut self, replies: &[Reply]) -> Result<Next<Self>> {
        let path = self.found.path.clone();
        match std::mem::replace(&mut self.state, Create::Written) {
            Create::Here(mut open) => match open.go_on(replies) {
                Ok(Probed::Asks(requests)) => {
                    self.state = Create::Here(open);
                    Ok(Next::Ask(requests))
                }
                Ok(Probed::NotFound(_)) => self.above(path.parent(), Vec::new(), Vec::new()),
                // A broken node may be replaced, too.
                Ok(Probed::Found(_)) | Err(_) if self.overwrite => {
                    self.state = Create::Below;
                    Ok(Next::Ask(vec![Request::ListAll { prefix: Prefix::new(&path.key_prefix())? }]))
                }
                Ok(Probed::Found(found)) => {
                    let kind = if found.node.as_array().is_some() { "an array" } else { "a group" };
                    Err(Error::new(ErrorKind::Exists, format!("there is {kind} already"))
                        .at(|place| place.path = Some(path.to_string())))
                }
                Err(error) => Err(error),
            },
            Create::Below => {
                let keys = match replies.first() {
                    Some(Reply::Keys(keys)) => keys.clone(),
                    _ => Vec::new(),
                };
                self.state = Create::Erased;
                Ok(Next::Ask(keys.into_iter().map(|key| Request::Erase { key }).collect()))
            }
            Create::Erased => self.above(path.parent(), Vec::new(), Vec::new()),
            Create::Above { mut open, missing, stale } => {
                let probed = open.go_on(replies)?;
                self.at_ancestor(open, probed, missing, stale)
            }
            Create::Written => {
                let mut found = self.found.clone();
                found.documents = std::mem::take(&mut self.documents);
                Ok(Next::Done(found))
            }
        }
    }
}

/// Erases a node: all keys below it, its documents last, so that an interrupted erase leaves a node that can be erased.
#[derive(Debug)]
pub(crate) struct EraseNode {
    found: Found,
    listed: bool,
}

impl EraseNode {
    pub(crate) fn new(found: Found) -> Self {
        Self { found, listed: false }
    }
}

impl Job for EraseNode {
    type Output = ();
    type Error = Error;

    fn step(&mut self, replies: &[Reply]) -> Result<Next<Self>> {
        if !self.listed {
            self.listed = true;
            let prefix = Prefix::new(&self.found.path.key_prefix())?;
            return Ok(Next::Ask(vec![Request::ListAll { prefix }]));
        }
        if let Some(Reply::Keys(keys)) = replies.first() {
            let is_document = |key: &Key| self.found.documents.get(key.as_str()).is_some();
            let (documents, mut order): (Vec<_>, Vec<_>) = keys.iter().cloned().partition(is_document);
            order.extend(documents);
            if !order.is_empty() {
                return Ok(Next::Ask(order.into_iter().map(|key| Request::Erase { key }).collect()));
            }
        }
        Ok(Next::Done(()))
    }
}
