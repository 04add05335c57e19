//! The groups and data sets of a file, by their paths.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use hdf5_reader::messages::HdfMessage;
use hdf5_reader::messages::attribute::AttributeMessage;
use hdf5_reader::object_header::ObjectHeader;
use zarr_store::{Key, Result};

use crate::attributes::attributes;
use crate::fault::Refusal;
use crate::file::File;
use crate::links::{Link, Target, links};

/// Maximum number of groups and data sets of a file; an object with several paths counts once for each path.
const MAX_NODES: usize = 100_000;
/// Maximum depth of groups that lie in each other.
const MAX_DEPTH: usize = 64;
/// Maximum number of soft links that lead from one to the next.
const MAX_SOFT: usize = 16;

/// A group or a data set.
pub(crate) struct Node {
    /// The path without a slash in front; empty for the root.
    pub(crate) path: String,
    pub(crate) address: u64,
    pub(crate) header: Arc<ObjectHeader>,
    pub(crate) is_array: bool,
    /// Nodes that are one object share them.
    pub(crate) attributes: Arc<Vec<AttributeMessage>>,
}

impl Node {
    pub(crate) fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }

    pub(crate) fn attribute(&self, name: &str) -> Option<&AttributeMessage> {
        self.attributes.iter().find(|attribute| attribute.name == name)
    }
}

/// The nodes of a file, each behind its group, and what was left out.
#[derive(Default)]
pub(crate) struct Nodes {
    pub(crate) list: Vec<Node>,
    pub(crate) warnings: Vec<String>,
}

impl Nodes {
    pub(crate) fn warn(&mut self, path: &str, reason: &dyn std::fmt::Display) {
        self.warnings.push(format!("/{path}: {reason}"));
    }
}

/// A group, and those above it.
struct Above {
    address: u64,
    depth: usize,
    above: Option<Rc<Above>>,
}

struct Todo {
    path: String,
    address: u64,
    above: Option<Rc<Above>>,
}

/// All nodes that can be reached. What cannot be read is left out, with a warning.
pub(crate) fn walk(file: &File) -> Result<Nodes> {
    let mut walk = Walk { file, nodes: Nodes::default(), links: HashMap::new(), attributes: HashMap::new(), root: 0 };
    walk.root = file.root().map_err(|refusal| file.fault(&refusal))?;
    let mut todo = vec![Todo { path: String::new(), address: walk.root, above: None }];
    while let Some(next) = todo.pop() {
        if walk.nodes.list.len() >= MAX_NODES {
            return Err(file.limit(format!("found more than {MAX_NODES} groups and data sets, which is the limit")));
        }
        let is_root = next.path.is_empty();
        let path = next.path.clone();
        if let Err(refusal) = walk.visit(next, &mut todo) {
            if let Some(error) = file.source.take_failure() {
                return Err(error);
            }
            if is_root {
                return Err(file.fault(&refusal));
            }
            walk.nodes.warn(&path, &refusal);
        }
    }
    Ok(walk.nodes)
}

struct Walk<'f> {
    file: &'f File,
    nodes: Nodes,
    /// The members of groups that were looked at.
    links: HashMap<u64, Rc<Vec<Link>>>,
    /// The attributes of objects that were looked at.
    attributes: HashMap<u64, Arc<Vec<AttributeMessage>>>,
    root: u64,
}

impl Walk<'_> {
    fn visit(&mut self, Todo { path, address, above }: Todo, todo: &mut Vec<Todo>) -> Result<(), Refusal> {
        let header = self.file.header(address)?;
        let has = |is: fn(&HdfMessage) -> bool| header.messages.iter().any(is);
        let is_array = has(|message| matches!(message, HdfMessage::DataLayout(_)));
        let is_group = has(|message| {
            matches!(
                message,
                HdfMessage::SymbolTable(_) | HdfMessage::LinkInfo(_) | HdfMessage::Link(_) | HdfMessage::GroupInfo(_)
            )
        });
        if !is_array && !is_group && !path.is_empty() {
            // A type that has a name: data sets have it in their headers as well.
            if has(|message| matches!(message, HdfMessage::Datatype(_))) {
                return Ok(());
            }
            return Err(Refusal::new("found neither a group nor a data set"));
        }
        let attributes = match self.attributes.get(&address) {
            Some(known) => Arc::clone(known),
            None => {
                let found = Arc::new(attributes(self.file, &header).unwrap_or_else(|refusal| {
                    self.nodes.warn(&path, &format!("its attributes are left out: {refusal}"));
                    Vec::new()
                }));
                self.attributes.insert(address, Arc::clone(&found));
                found
            }
        };
        self.nodes.list.push(Node { path: path.clone(), address, header, is_array, attributes });
        if is_array {
            return Ok(());
        }
        let depth = above.as_ref().map_or(0, |above| above.depth + 1);
        let here = Rc::new(Above { address, depth, above });
        let members = self.members(address)?;
        for link in members.iter().rev() {
            let child = if path.is_empty() { link.name.clone() } else { format!("{path}/{}", link.name) };
            match self.target(&here, &child, link) {
                Ok(address) => todo.push(Todo { path: child, address, above: Some(Rc::clone(&here)) }),
                Err(refusal) => {
                    if self.file.source.has_failed() {
                        return Err(refusal);
                    }
                    self.nodes.warn(&child, &refusal);
                }
            }
        }
        Ok(())
    }

    fn members(&mut self, address: u64) -> Result<Rc<Vec<Link>>, Refusal> {
        if let Some(links) = self.links.get(&address) {
            return Ok(Rc::clone(links));
        }
        let header = self.file.header(address)?;
        let links = Rc::new(links(self.file, &header)?);
        self.links.insert(address, Rc::clone(&links));
        Ok(links)
    }

    /// The address that a link to a node of this path leads to.
    fn target(&mut self, group: &Rc<Above>, path: &str, link: &Link) -> Result<u64, Refusal> {
        let is_name = !link.name.is_empty() && !link.name.contains('/') && link.name != "zarr.json";
        if !is_name || Key::new(&format!("{path}/zarr.json")).is_err() {
            return Err(Refusal::new(format!("{:?} is no name of a node", link.name)));
        }
        if group.depth >= MAX_DEPTH {
            return Err(Refusal::new(format!("it lies deeper than {MAX_DEPTH} groups")));
        }
        let address = self.follow(group.address, link, 0)?;
        let mut above = Some(group);
        while let Some(group) = above {
            if group.address == address {
                return Err(Refusal::new("the link leads to a group above it"));
            }
            above = group.above.as_ref();
        }
        Ok(address)
    }

    fn follow(&mut self, group: u64, link: &Link, depth: usize) -> Result<u64, Refusal> {
        let path = match &link.target {
            Target::Hard(address) => return Ok(*address),
            Target::External(target) => {
                return Err(Refusal::new(format!("the external link to {target} is not followed")));
            }
            Target::Soft(path) => path,
        };
        if depth >= MAX_SOFT {
            return Err(Refusal::new("soft links lead to each other"));
        }
        let mut address = if path.starts_with('/') { self.root } else { group };
        for name in path.split('/').filter(|name| !name.is_empty() && *name != ".") {
            let members = self.members(address)?;
            let found = members.iter().find(|link| link.name == name);
            let found =
                found.ok_or_else(|| Refusal::new(format!("the soft link leads to {path:?}, which is not there")))?;
            address = self.follow(address, found, depth + 1)?;
        }
        Ok(address)
    }
}
