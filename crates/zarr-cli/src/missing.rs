//! Hints about a node that does not exist or is of the other kind: they name what is found at the path instead, or a similar name.

use crate::context::{Context, NodeLocation};
use crate::failure::Failure;
use crate::hints::by_options;
use crate::near::{near, question};
use crate::number::grouped;
use zarr::convert::{Conversion, Migration};
use zarr::grid::ChunkKeyEncoding;
use zarr::hierarchy::StoredNode;
use zarr::meta::{Node, NodePath};
use zarr::store::{Key, Prefix, StoreExt, StoreKind, signature_of_store};

/// Greatest number of nodes of a group that a hint names.
const NAMED: usize = 8;
/// Suffixes of files that are read as stores.
const FILES: [&str; 7] = [".nc", ".nc4", ".h5", ".hdf5", ".he5", ".zip", ".ozx"];

impl Context {
    /// Returns a hint that names the arrays in a group, or its groups if there are no arrays.
    pub(crate) fn arrays_below(&self, location: &NodeLocation) -> String {
        let nodes = if location.store.capabilities().list {
            self.children(location).map(|walk| walk.nodes).unwrap_or_default()
        } else {
            Vec::new()
        };
        let names = |is_array: bool| {
            let of_kind = nodes.iter().filter(|node| node.node.as_array().is_some() == is_array);
            let names: Vec<&str> = of_kind.filter_map(|node| node.path.name()).collect();
            some(&names)
        };
        let tree = format!("`zarr tree {location}` shows what is below", location = location.argument());
        match (names(true), names(false)) {
            (Some(arrays), _) => format!("it has the arrays {arrays}"),
            (None, Some(groups)) => format!("it has no arrays, and the groups {groups}: {tree}"),
            (None, None) => tree,
        }
    }

    /// Warns of an interrupted or running conversion to the node or to a group above it, and of an interrupted migration. Remote stores are
    /// skipped, since each look is a request.
    pub(crate) fn warn_of_unfinished(&self, location: &NodeLocation) {
        if location.store.access_profile().kind == StoreKind::Remote {
            return;
        }
        let migration = Migration::check_settled(&location.store).err().map(|error| told(&error));
        let unfinished = location.unfinished().into_iter().chain(migration);
        self.warnings(&unfinished.map(|text| format!("{location}: {text}")).collect::<Vec<_>>());
    }
}

/// Returns the first of `names`, and the number of further names; `None` without names.
fn some(names: &[&str]) -> Option<String> {
    let first = names.get(..NAMED).unwrap_or(names).join(", ");
    match names.len() {
        0 => None,
        len if len > NAMED => Some(format!("{first}, ... and {} more", grouped((len - NAMED) as u64))),
        _ => Some(first),
    }
}

/// Returns the message of an error about unfinished work, with its hint. A hint about options names the verb that began the work.
fn told(error: &zarr::Error) -> String {
    match error.hint().map(by_options) {
        Some(hint) if hint.starts_with("--") => {
            format!("{}: the same `zarr convert` or `zarr cp` with {hint}", error.message())
        }
        Some(hint) => format!("{}: {hint}", error.message()),
        None => error.message().to_owned(),
    }
}

impl NodeLocation {
    /// Returns the address and the path of the node, as arguments of the command.
    pub(crate) fn argument(&self) -> String {
        match self.path.is_root() {
            true => self.address.to_string(),
            false => format!("{} {}", self.address, self.path),
        }
    }

    /// Converts an error about the node to a failure. If the node does not exist, the failure hints at what is found instead, or at a node
    /// of a similar name.
    pub(crate) fn with_near(&self, error: zarr::Error) -> Failure {
        let is_missing = error.is_not_found();
        let failure = Failure::from(error);
        if !is_missing || failure.hint.is_some() {
            return failure;
        }
        if failure.message == "found an array, expected a group" {
            return failure.with_hint(self.of_array());
        }
        let unlisted = || {
            let hint = "the store cannot list: a group that has no document, only nodes below it, is not found";
            (!self.path.is_root() && !self.store.capabilities().list).then(|| hint.to_owned())
        };
        let near = || self.near().map(|near| question(&near));
        let here = || self.here();
        match self.unfinished().or_else(|| self.other()).or_else(near).or_else(unlisted).or_else(here) {
            Some(hint) => failure.with_hint(hint),
            None => failure,
        }
    }

    /// Returns a hint for an array that was given where a group is expected.
    pub(crate) fn of_array(&self) -> String {
        let above = self.path.parent().map(|above| if above.is_root() { String::new() } else { format!(" {above}") });
        let group = above.map(|above| format!("; the group that it lies in is {}{above}", self.address));
        format!("`zarr read {}` prints the array{}", self.argument(), group.unwrap_or_default())
    }

    /// Returns a message about an interrupted or running conversion to the node or to a group above it; `None` if there is none.
    fn unfinished(&self) -> Option<String> {
        let mut targets = std::iter::successors(Some(self.path.clone()), NodePath::parent);
        targets.find_map(|path| match Conversion::check_settled(&*self.store, &path) {
            Err(error) if !matches!(error.kind(), zarr::ErrorKind::Store) => Some(told(&error)),
            _ => None,
        })
    }

    /// Returns a hint about what is found instead of the node: a store of another format, or a key of the store.
    fn other(&self) -> Option<String> {
        if self.path.is_root() {
            let signature = signature_of_store(&*self.store)?;
            return Some(format!("this is {}: {}", signature.what, signature.hint));
        }
        let key = Key::new(self.path.as_relative()).ok()?;
        let node_at = |path: NodePath| {
            let node = zarr::hierarchy::open_node(&*self.store, &path.to_string(), self.dialect);
            node.ok().filter(|node| !node.implicit)
        };
        let above = std::iter::successors(self.path.parent(), NodePath::parent).find_map(node_at)?;
        let (path, is_array) = (&above.path, above.node.as_array().is_some());
        if let Some(what) = part_of(&above, &key) {
            return Some(format!("that is {what} of {path}, not a node"));
        }
        let is_there = self.store.exists(&key).unwrap_or(false);
        match (is_there, is_array) {
            (true, _) => Some(format!("that is a file of {path}, not a node")),
            (false, true) => Some(format!("{path} is an array: no nodes are below it")),
            (false, false) => None,
        }
    }

    /// Names the things that are there, where no node is.
    fn here(&self) -> Option<String> {
        if !self.store.capabilities().list {
            return None;
        }
        if !self.path.is_root() {
            return Some(format!("`zarr tree {}` shows the nodes that are there", self.address));
        }
        let listing = self.store.list_dir(&Prefix::root()).ok()?;
        let names: Vec<&str> = listing.keys.iter().map(Key::as_str).collect();
        let folders = listing.prefixes.iter().filter_map(|prefix| prefix.name());
        let is_file = |name: &&str| FILES.iter().any(|suffix| name.to_ascii_lowercase().ends_with(suffix));
        match names.iter().copied().find(is_file) {
            Some(file) => Some(format!(
                "files of other formats are stores of their own: `zarr tree {}/{file}`",
                self.address.to_string().trim_end_matches('/')
            )),
            None => match some(&names.iter().copied().chain(folders).collect::<Vec<_>>()) {
                Some(names) => Some(format!("it has {names}, and no document of Zarr")),
                None => Some(format!("nothing is there: `zarr create {} NAME` makes an array", self.address)),
            },
        }
    }

    /// The path of a node whose name is near the first name of the path that does not exist.
    fn near(&self) -> Option<String> {
        let mut group = NodePath::root();
        for name in self.path.names() {
            let walk = zarr::hierarchy::children(&*self.store, &group.to_string(), self.dialect).ok()?;
            let names = || walk.nodes.iter().filter_map(|node| node.path.name());
            if !names().any(|known| known == name) {
                return Some(group.join(near(name, names())?).ok()?.to_string());
            }
            group = group.join(name).ok()?;
        }
        None
    }
}

/// Returns which part of `node` has the key: a document, consolidated metadata, or a chunk; `None` if no part has it.
fn part_of(node: &StoredNode, key: &Key) -> Option<String> {
    let key = key.as_str();
    if node.own_documents().any(|document| document == key) {
        return Some("the document".to_owned());
    }
    if zarr::meta::consolidated::document_key(node).is_some_and(|document| document == key) {
        return Some("the consolidated metadata".to_owned());
    }
    let Node::Array(array) = &node.node else { return None };
    let keys = ChunkKeyEncoding::from_config(&array.chunk_key_encoding).ok()?;
    let chunk = keys.parse_key(key.strip_prefix(node.chunk_prefix().as_str())?, array.shape.len())?;
    Some(format!("the key of chunk {chunk:?}"))
}
