//! Traversal of the groups and data sets of a file, and of those in other files to which its external links lead.

use std::collections::{HashMap, VecDeque};
use std::rc::Rc;
use std::sync::Arc;

use hdf5_reader::messages::HdfMessage;
use hdf5_reader::messages::attribute::AttributeMessage;
use hdf5_reader::object_header::ObjectHeader;
use zarr_store::{Key, Result};

use crate::attributes::attributes;
use crate::fault::Refusal;
use crate::files::{FileId, Files, ObjectId};
use crate::links::{Link, Target, links};
use crate::without_attributes::header;

/// Maximum number of groups and data sets of a file. An object with several paths counts once for each path.
const MAX_NODES: usize = 100_000;
/// Maximum nesting depth of groups.
const MAX_DEPTH: usize = 64;
/// Maximum number of soft and external links in a chain.
const MAX_SOFT: usize = 16;

/// Maximum number of links of a file. The links of a group with several paths count once for each path.
const MAX_LINKS: usize = 1 << 20;
/// Maximum number of bytes of all paths of a file together.
const MAX_PATHS: usize = 128 << 20;
/// Maximum number of path components that all soft and external links resolve.
const MAX_STEPS: usize = 1 << 20;
/// Maximum number of links to other files that are left out because of limits; further links are not followed at all.
const MAX_LEFT_OUT: usize = 16;
/// Maximum number of warnings about a file; further warnings are only counted.
const MAX_WARNINGS: usize = 10_000;
/// Maximum number of bytes of all warnings about a file; further warnings are only counted.
const MAX_WARNED: usize = 16 << 20;

/// Group or data set of the file under one of its paths.
pub(crate) struct Node {
    /// Path without a leading slash; empty for the root group.
    pub(crate) path: String,
    pub(crate) id: ObjectId,
    pub(crate) header: Arc<ObjectHeader>,
    pub(crate) is_array: bool,
    /// Whether a link to another file leads to the node, so that it may be left out.
    pub(crate) is_far: bool,
    /// Attributes of the object, which the nodes of all its paths share.
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

/// All nodes of a file, each after its parent group, and warnings about parts that were left out.
#[derive(Default)]
pub(crate) struct Nodes {
    pub(crate) list: Vec<Node>,
    pub(crate) warnings: Warnings,
}

/// Warnings about parts of a file that are left out, limited in number and bytes.
#[derive(Default)]
pub(crate) struct Warnings {
    list: Vec<String>,
    bytes: usize,
    /// Number of warnings that exceeded the limits and are not in `list`.
    more: usize,
}

impl Warnings {
    /// Returns the state of the list, for [`Warnings::reset`].
    fn mark(&self) -> (usize, usize, usize) {
        (self.list.len(), self.bytes, self.more)
    }

    /// Removes the warnings since [`Warnings::mark`] returned `mark`.
    fn reset(&mut self, mark: (usize, usize, usize)) {
        self.list.truncate(mark.0);
        (self.bytes, self.more) = (mark.1, mark.2);
    }

    pub(crate) fn add(&mut self, path: &str, reason: &dyn std::fmt::Display) {
        if self.list.len() >= MAX_WARNINGS || self.bytes + path.len() > MAX_WARNED {
            self.more += 1;
            return;
        }
        let text = format!("/{path}: {reason}");
        self.bytes += text.len();
        self.list.push(text);
    }

    /// Returns the warnings, followed by a message with the number of warnings that exceeded the limits.
    pub(crate) fn into_texts(self) -> impl Iterator<Item = String> {
        let more = (self.more > 0).then(|| format!("{} more parts of the file are left out", self.more));
        self.list.into_iter().chain(more)
    }
}

/// Group with its ancestors, to detect links to an ancestor.
struct Above {
    id: ObjectId,
    depth: usize,
    above: Option<Rc<Above>>,
}

struct Todo {
    path: String,
    id: ObjectId,
    above: Option<Rc<Above>>,
}

/// Link from a group to an object of another file.
struct FarLink {
    /// Path of the node that the object becomes.
    path: String,
    group: Rc<Above>,
    /// Links of the group, of which that at `index` is this one.
    links: Rc<Vec<Link>>,
    index: usize,
}

/// Returns all nodes that links from the root group reach: first those that the file has itself, then those of other files. Unreadable nodes
/// are left out, with a warning, and so are links to other files with whose nodes a limit would be exceeded.
pub(crate) fn walk(files: &mut Files) -> Result<Nodes> {
    let first = Arc::clone(files.first());
    let mut walk = Walk::new(files, false);
    walk.own(FileId::FIRST)?.map_err(|limit| first.limit(limit))?;
    walk.is_far = true;
    // Links of links come last, so that few nodes of many files come before many nodes of few.
    while let Some(next) = walk.far.pop_front() {
        walk.mount(next)?;
    }
    Ok(walk.nodes)
}

/// Returns the nodes of the file `id` to which hard links of it lead, as many as the limits allow.
pub(crate) fn nodes_of(files: &mut Files, id: FileId) -> Result<Nodes> {
    let mut walk = Walk::new(files, true);
    // Nodes beyond a limit have no names of dimensions.
    let _ = walk.own(id)?;
    Ok(walk.nodes)
}

struct Walk<'f> {
    files: &'f mut Files,
    nodes: Nodes,
    /// Links of the groups that were read.
    links: HashMap<ObjectId, Rc<Vec<Link>>>,
    /// Attributes of the objects that were read.
    attributes: HashMap<ObjectId, Arc<Vec<AttributeMessage>>>,
    /// Objects of `attributes`, in the order in which they were read.
    read: Vec<ObjectId>,
    /// Reasons why objects are unreadable.
    refused: HashMap<ObjectId, Refusal>,
    /// Number of links so far, limited by [`MAX_LINKS`].
    seen: usize,
    /// Number of bytes of paths so far, limited by [`MAX_PATHS`].
    paths: usize,
    /// Number of path components of links resolved so far, limited by [`MAX_STEPS`].
    steps: usize,
    /// Whether only hard links are followed.
    is_hard: bool,
    /// Whether the nodes are those of other files, or of the first one behind them.
    is_far: bool,
    /// Links to other files that were not followed yet.
    far: VecDeque<FarLink>,
    /// Number of links to other files that were left out because of a limit.
    left_out: usize,
}

impl<'f> Walk<'f> {
    fn new(files: &'f mut Files, is_hard: bool) -> Self {
        Walk {
            files,
            nodes: Nodes::default(),
            links: HashMap::new(),
            attributes: HashMap::new(),
            read: Vec::new(),
            refused: HashMap::new(),
            seen: 0,
            paths: 0,
            steps: 0,
            is_hard,
            is_far: false,
            far: VecDeque::new(),
            left_out: 0,
        }
    }

    /// Visits the objects of `file` that its root group leads to. The inner error is a limit that is exceeded.
    fn own(&mut self, file: FileId) -> Result<Result<(), String>> {
        let opened = Arc::clone(self.files.get(file));
        let root = self.root(file).map_err(|refusal| opened.fault(&refusal))?;
        self.visit_all(Todo { path: String::new(), id: root, above: None })
    }

    /// Visits the object of another file to which `link` leads, and those below. If a limit would be exceeded, all of them are left out.
    fn mount(&mut self, FarLink { path, group, links, index }: FarLink) -> Result<()> {
        let Some(link) = links.get(index) else { return Ok(()) };
        let found = match self.left_out < MAX_LEFT_OUT {
            true => self.target(&group, &path, link),
            false => Err(Refusal::new(format!(
                "{MAX_LEFT_OUT} links to other files exceed limits, so no further one is followed"
            ))),
        };
        if let Some(error) = self.files.take_failure() {
            return Err(error);
        }
        let id = match found {
            Ok(id) => id,
            Err(refusal) => {
                self.nodes.warnings.add(&path, &refusal);
                return Ok(());
            }
        };
        let (nodes, far) = (self.nodes.list.len(), self.far.len());
        let (seen, paths, warnings, read) = (self.seen, self.paths, self.nodes.warnings.mark(), self.read.len());
        if let Err(limit) = self.visit_all(Todo { path: path.clone(), id, above: Some(group) })? {
            self.nodes.list.truncate(nodes);
            self.far.truncate(far);
            self.nodes.warnings.reset(warnings);
            // Attributes are read again for another path, since the warnings about them are gone.
            for id in self.read.drain(read..) {
                self.attributes.remove(&id);
            }
            (self.seen, self.paths) = (seen, paths);
            self.left_out += 1;
            self.nodes.warnings.add(&path, &format!("the link to another file is not followed: {limit}"));
        }
        Ok(())
    }

    /// Visits an object and those below, without links to other files. The inner error is a limit that is exceeded.
    fn visit_all(&mut self, first: Todo) -> Result<Result<(), String>> {
        let mut todo = vec![first];
        while let Some(next) = todo.pop() {
            if self.nodes.list.len() >= MAX_NODES {
                return Ok(Err(format!("found more than {MAX_NODES} groups and data sets, which is the limit")));
            }
            let is_root = next.path.is_empty();
            let (path, id) = (next.path.clone(), next.id);
            if let Err(refusal) = self.visit(next, &mut todo) {
                if let Some(error) = self.files.take_failure() {
                    return Err(error);
                }
                if is_root {
                    return Err(self.files.get(id.file).fault(&refusal));
                }
                self.nodes.warnings.add(&path, &self.files.message(id.file, &refusal));
                self.refused.insert(id, refusal);
            }
            if self.seen > MAX_LINKS {
                return Ok(Err(format!("found more than {MAX_LINKS} links, which is the limit")));
            }
            if self.paths > MAX_PATHS {
                return Ok(Err(format!("found paths of more than {MAX_PATHS} bytes, which is the limit")));
            }
            if self.is_far
                && let Err(limit) = self.files.check_cached()
            {
                return Ok(Err(limit));
            }
        }
        Ok(Ok(()))
    }

    fn root(&self, file: FileId) -> Result<ObjectId, Refusal> {
        Ok(ObjectId { file, address: self.files.get(file).root()? })
    }

    fn visit(&mut self, Todo { path, id, above }: Todo, todo: &mut Vec<Todo>) -> Result<(), Refusal> {
        if let Some(refusal) = self.refused.get(&id) {
            return Err(refusal.clone());
        }
        let file = Arc::clone(self.files.get(id.file));
        let header = header(&file, id.address)?;
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
        let attributes = match self.attributes.get(&id) {
            Some(known) => Arc::clone(known),
            None => {
                let (files, warnings) = (&*self.files, &mut self.nodes.warnings);
                let mut warn = |text: String| warnings.add(&path, &files.message(id.file, &text));
                let found = attributes(&file, id.address, &header, &mut warn);
                let found = Arc::new(found.unwrap_or_else(|refusal| {
                    warn(format!("its attributes are left out: {refusal}"));
                    Vec::new()
                }));
                self.attributes.insert(id, Arc::clone(&found));
                self.read.push(id);
                found
            }
        };
        self.nodes.list.push(Node { path: path.clone(), id, header, is_array, is_far: self.is_far, attributes });
        if is_array {
            return Ok(());
        }
        let depth = above.as_ref().map_or(0, |above| above.depth + 1);
        let here = Rc::new(Above { id, depth, above });
        let members = self.members(id)?;
        let mut far = VecDeque::new();
        for (index, link) in members.iter().enumerate().rev() {
            if self.is_hard && !matches!(link.target, Target::Hard(_)) {
                continue;
            }
            let child = if path.is_empty() { link.name.clone() } else { format!("{path}/{}", link.name) };
            self.seen += 1;
            self.paths = self.paths.saturating_add(child.len());
            if self.seen > MAX_LINKS || self.paths > MAX_PATHS {
                break;
            }
            let far_link = |path| FarLink { path, group: Rc::clone(&here), links: Rc::clone(&members), index };
            if matches!(link.target, Target::External { .. }) {
                far.push_front(far_link(child));
                continue;
            }
            match self.target(&here, &child, link) {
                // A soft link through an external one.
                Ok(other) if other.file != id.file => far.push_front(far_link(child)),
                Ok(id) => todo.push(Todo { path: child, id, above: Some(Rc::clone(&here)) }),
                Err(refusal) => {
                    if self.files.has_failed() {
                        return Err(refusal);
                    }
                    self.nodes.warnings.add(&child, &refusal);
                }
            }
        }
        self.far.append(&mut far);
        Ok(())
    }

    fn members(&mut self, id: ObjectId) -> Result<Rc<Vec<Link>>, Refusal> {
        if let Some(refusal) = self.refused.get(&id) {
            return Err(refusal.clone());
        }
        if let Some(links) = self.links.get(&id) {
            return Ok(Rc::clone(links));
        }
        let file = self.files.get(id.file);
        let found = header(file, id.address).and_then(|header| links(file, &header));
        let links = Rc::new(found.inspect_err(|refusal| {
            self.refused.insert(id, refusal.clone());
        })?);
        self.links.insert(id, Rc::clone(&links));
        Ok(links)
    }

    /// Returns the target of `link` from `group`, which becomes the node at `path`. Refuses links to an ancestor, names that
    /// no Zarr node can have, and too deep nodes.
    fn target(&mut self, group: &Rc<Above>, path: &str, link: &Link) -> Result<ObjectId, Refusal> {
        let is_name = !link.name.is_empty() && !link.name.contains('/') && link.name != "zarr.json";
        if !is_name || Key::new(&format!("{path}/zarr.json")).is_err() {
            return Err(Refusal::new(format!("{:?} is no name of a node", link.name)));
        }
        if group.depth >= MAX_DEPTH {
            return Err(Refusal::new(format!("it lies deeper than {MAX_DEPTH} groups")));
        }
        let id = self.follow(group.id, link, 0)?;
        let mut above = Some(group);
        while let Some(group) = above {
            if group.id == id {
                return Err(Refusal::new("the link leads to a group above it"));
            }
            above = group.above.as_ref();
        }
        Ok(id)
    }

    fn follow(&mut self, group: ObjectId, link: &Link, depth: usize) -> Result<ObjectId, Refusal> {
        if depth >= MAX_SOFT {
            let kind = if matches!(link.target, Target::Soft(_)) { "soft links" } else { "links" };
            return Err(Refusal::new(format!("{kind} lead to each other")));
        }
        match &link.target {
            Target::Hard(address) => Ok(ObjectId { file: group.file, address: *address }),
            Target::Soft(path) => {
                let start = if path.starts_with('/') { self.root(group.file)? } else { group };
                let missing = |path: &str| format!("the soft link leads to {path:?}, which is not there");
                self.object(start, path, depth, ("soft links", &missing))
            }
            Target::External { file, path } => {
                let other = self.files.named(group.file, file)?;
                let start = self.root(other).map_err(|refusal| self.refusal(other, &refusal))?;
                let missing = |path: &str| format!("the external link leads to {path:?} in {file}, which is not there");
                self.object(start, path, depth, ("links", &missing))
            }
        }
    }

    /// Returns a reason that names the file `id`, unless it is the first one.
    fn refusal(&self, id: FileId, refusal: &Refusal) -> Refusal {
        Refusal::new(self.files.message(id, refusal))
    }

    /// Returns the object at `path` from the group `start`. `missing` is the reason if it is not there; `kind` says in messages which links
    /// lead to it.
    fn object(
        &mut self,
        start: ObjectId,
        path: &str,
        depth: usize,
        (kind, missing): (&str, &dyn Fn(&str) -> String),
    ) -> Result<ObjectId, Refusal> {
        let mut id = start;
        for name in path.split('/').filter(|name| !name.is_empty() && *name != ".") {
            self.steps += 1;
            if self.steps > MAX_STEPS {
                return Err(Refusal::new(format!("the {kind} of the file take more than {MAX_STEPS} steps")));
            }
            let members = self.members(id).map_err(|refusal| self.refusal(id.file, &refusal))?;
            let found = members.binary_search_by(|link| link.name.as_str().cmp(name)).ok();
            let found = found.and_then(|found| members.get(found));
            let found = found.ok_or_else(|| Refusal::new(missing(path)))?;
            id = self.follow(id, found, depth + 1)?;
        }
        Ok(id)
    }
}
