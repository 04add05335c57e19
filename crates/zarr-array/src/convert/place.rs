//! The place that a conversion writes to: what is there already, and documents.

use super::{Conversion, Planned};
use crate::node::reread;
use crate::{Error, ErrorKind, Result, Walk, open_node, walk};
use std::sync::Arc;
use zarr_meta::{Consolidated, Dialect, Found, Node, NodePath, consolidated};
use zarr_store::{Key, Precondition, Prefix, Store};

/// What is there already and stays: groups above an array that is added.
#[derive(Debug, Default)]
pub(super) struct Place {
    kept: Vec<NodePath>,
}

impl Place {
    /// Whether the group at `path` is there and stays.
    pub(super) fn is_there(&self, path: &NodePath) -> bool {
        self.kept.contains(path)
    }
}

/// Makes sure that nothing is in the way, or erases it if that is allowed.
pub(super) fn prepare(target: &Arc<dyn Store>, conversion: &Conversion) -> Result<Place> {
    let overwrite = conversion.options.overwrite;
    let Some(array) = &conversion.options.array else {
        clear(target, &NodePath::root(), overwrite)?;
        return Ok(Place::default());
    };
    let dialect = conversion.nodes.first().map(|node| node.dialect);
    let mut place = Place::default();
    for path in array.ancestors() {
        let found = match open_node(&**target, &path.to_string(), None) {
            Ok(found) if !found.implicit => found,
            Ok(_) => continue,
            Err(error) if error.is_not_found() => continue,
            Err(error) => return Err(error),
        };
        let at = |error: Error| error.at(|place| place.path = Some(path.to_string()));
        if found.node.as_array().is_some() {
            return Err(at(Error::argument("found an array, expected a group")));
        }
        if dialect.is_some_and(|dialect| !same_hierarchy(dialect, found.dialect)) {
            let message = format!("the hierarchy there is of dialect {}, not of the one to be written", found.dialect);
            return Err(at(Error::argument(message)));
        }
        // A copy of all metadata would not know the new array.
        apply(target, consolidated::without_consolidated(&found)?)?;
        place.kept.push(path);
    }
    clear(target, array, overwrite)?;
    Ok(place)
}

/// Whether nodes of both dialects may lie in one hierarchy.
fn same_hierarchy(a: Dialect, b: Dialect) -> bool {
    let is_v3 = |dialect| matches!(dialect, Dialect::V3 | Dialect::V3Of2023);
    a == b || (is_v3(a) && is_v3(b))
}

fn is_v2(dialect: Dialect) -> bool {
    dialect == Dialect::V2
}

/// Makes sure that there is no node at `path`. What is no part of a node is never erased.
fn clear(target: &Arc<dyn Store>, path: &NodePath, overwrite: bool) -> Result<()> {
    let found = match open_node(&**target, &path.to_string(), None) {
        Err(error) if error.is_not_found() => {
            let prefix = Prefix::new(&path.key_prefix())?;
            let listing = if target.capabilities().list { target.list_dir(&prefix)? } else { Default::default() };
            if overwrite || (listing.keys.is_empty() && listing.prefixes.is_empty()) {
                return Ok(());
            }
            return Err(exists(path, "there are other files already", "--overwrite writes between them"));
        }
        found => found,
    };
    if !overwrite {
        let what = match &found {
            Ok(found) if found.node.as_array().is_some() => "there is an array already",
            Ok(_) => "there is a group already",
            Err(_) => "there is a broken node already",
        };
        return Err(exists(path, what, "--overwrite replaces it, with all that lies below it"));
    }
    erase(target, path, found.ok())
}

/// Erases the nodes at `path` and below. Anything may lie beside them (the folder may be a home directory): of groups only
/// documents are erased, of arrays what lies under their keys.
fn erase(target: &Arc<dyn Store>, path: &NodePath, found: Option<Found>) -> Result<()> {
    const DOCUMENTS: [&str; 5] = ["zarr.json", ".zarray", ".zgroup", ".zattrs", consolidated::V2_KEY];
    let known = |path: &NodePath| -> Result<()> {
        DOCUMENTS.iter().try_for_each(|name| Ok(target.erase(&Key::new(&format!("{}{name}", path.key_prefix()))?)?))
    };
    let below = match &found {
        Some(found) => walk(&**target, &path.to_string(), Some(found.dialect))?,
        None => Walk::default(),
    };
    // The innermost first: an interrupted erase leaves a hierarchy that can be erased.
    for node in below.nodes.iter().rev() {
        let chunks = node.chunk_prefix();
        match &node.node {
            Node::Array(_) if chunks.is_empty() => super::copy::erase_chunks(&**target, node)?,
            Node::Array(_) => target.erase_prefix(&Prefix::new(&chunks)?)?,
            Node::Group(_) => {}
        }
        node.own_documents().try_for_each(|key| Ok::<_, Error>(target.erase(&Key::new(key)?)?))?;
        known(&node.path)?;
    }
    // Documents that cannot be read would be found instead of new ones.
    for broken in below.broken.iter().filter_map(|error| NodePath::parse(error.location().path.as_deref()?).ok()) {
        known(&broken)?;
    }
    known(path)
}

fn exists(path: &NodePath, message: &str, hint: &str) -> Error {
    let error = Error::new(ErrorKind::Exists, message).with_hint(hint);
    error.at(|place| place.path = Some(path.to_string()))
}

/// The documents of a node to be written.
#[derive(Debug)]
pub(super) struct Documents {
    changes: Vec<(String, Option<Vec<u8>>)>,
    found: Found,
}

impl Documents {
    pub(super) fn new(planned: &Planned) -> Result<Self> {
        let path = &planned.source.path;
        let changes = zarr_meta::documents(planned.dialect, path, &planned.target, None)?;
        let mut documents = zarr_meta::Documents::new();
        documents.apply(&changes);
        let found = reread(planned.dialect, path, &documents)?;
        Ok(Self { changes, found })
    }

    /// The node as it will be found.
    pub(super) fn found(&self) -> &Found {
        &self.found
    }

    pub(super) fn write(self, target: &Arc<dyn Store>) -> Result<()> {
        apply(target, self.changes)
    }
}

fn apply(target: &Arc<dyn Store>, changes: Vec<(String, Option<Vec<u8>>)>) -> Result<()> {
    for (key, bytes) in changes {
        let key = Key::new(&key)?;
        match bytes {
            Some(bytes) => drop(target.set(&key, &bytes, &Precondition::None)?),
            None => target.erase(&key)?,
        }
    }
    Ok(())
}

/// Writes consolidated metadata of all that lies below a group.
pub(super) fn consolidate(target: &Arc<dyn Store>, path: &NodePath) -> Result<()> {
    let nodes = walk(&**target, &path.to_string(), None)?.nodes;
    let Some(root) = nodes.first() else { return Ok(()) };
    let collected = Consolidated::collect(root.dialect, path, &nodes)?;
    if is_v2(root.dialect) {
        let key = Key::new(&format!("{}{}", path.key_prefix(), consolidated::V2_KEY))?;
        return Ok(target.set(&key, &collected.to_v2(), &Precondition::None).map(drop)?);
    }
    let Node::Group(group) = &root.node else { return Ok(()) };
    let mut group = group.clone();
    group.consolidated = Some(collected);
    apply(target, zarr_meta::documents(root.dialect, path, &Node::Group(group), Some(&root.documents))?)
}
