//! Children of a group: a page of them with their documents, or the number of all nodes below.

use super::answer::ApiAnswer;
use crate::address::Query;
use crate::nodes::{Nodes, NodesBelow};
use crate::request_error::RequestError;
use std::thread;
use zarr_hierarchy::node::REPLACEMENTS;
use zarr_json::{Map, Value, json};
use zarr_meta::{DETECTION_KEYS, Dialect, Documents, Node, NodePath, StoredNode, facts};
use zarr_store::{ByteRange, GetOptions, Key, Prefix, Store, StoreExt, StoreKind};

/// Greatest and default number of nodes in a page.
const PAGE: usize = 500;
/// Greatest number of broken nodes that an answer names.
const NAMED: usize = 20;
/// Number of concurrent requests for documents in remote stores.
const AT_ONCE: usize = 16;
/// Greatest number of paths below a group that are looked at to count its nodes.
const COUNTED: usize = 10_000;

/// Returns the nodes directly below a group, for at most `limit` of the possible paths, beginning at position `offset`. Reads only the
/// documents of these nodes.
pub(super) fn children(nodes: &Nodes, query: &Query) -> Result<ApiAnswer, RequestError> {
    let opened = nodes.open(query.path())?;
    let offset: usize = query.number("offset", 0)?;
    let limit = query.number("limit", PAGE)?.clamp(1, PAGE);
    let list = nodes.list(&opened.found.path.to_string(), offset > 0, || {
        below(nodes, &opened.found, || are_at_paths(nodes, &opened.found))
    })?;
    let (found, broken): (Vec<StoredNode>, Vec<String>) = match &*list {
        NodesBelow::Paths(paths) => {
            let end = offset.saturating_add(limit).min(paths.len());
            open_all(nodes, paths.get(offset..end).unwrap_or_default())
        }
        NodesBelow::Nodes(found, broken) => {
            let is_last = offset.saturating_add(limit) >= found.len();
            (
                found.iter().skip(offset).take(limit).cloned().collect(),
                if is_last { broken.clone() } else { Vec::new() },
            )
        }
    };
    let next = offset.saturating_add(limit);
    let named = broken.iter().take(NAMED).map(|text| Value::from(text.as_str()));
    Ok(ApiAnswer::Json(json!({
        "path": (opened.found.path.to_string()),
        "total": (list.len()),
        "offset": offset,
        "next": (if next < list.len() { Value::from(next) } else { Value::Null }),
        "nodes": (Value::Array(found.iter().map(|node| Value::from(brief(node))).collect())),
        "broken_total": (broken.len()),
        "broken": (Value::Array(named.collect())),
    })))
}

/// Returns whether the keys below the group tell the paths of its nodes: the store lists, and documents of the dialect lie at the paths of
/// their nodes.
fn are_at_paths(nodes: &Nodes, group: &StoredNode) -> Result<bool, RequestError> {
    Ok(nodes.store.capabilities().list && group.dialect.has_documents_at_paths() && !has_other_dialects(nodes)?)
}

/// Finds the children of a node: only their paths if a listing tells them, otherwise the nodes.
fn below(
    nodes: &Nodes,
    group: &StoredNode,
    are_at_paths: impl FnOnce() -> Result<bool, RequestError>,
) -> Result<NodesBelow, RequestError> {
    if group.node.as_array().is_some() {
        return Ok(NodesBelow::Paths(Vec::new()));
    }
    if are_at_paths()? {
        return paths(nodes, group.dialect, &group.path).map(NodesBelow::Paths);
    }
    let walk = zarr_hierarchy::children(&*nodes.store, &group.path.to_string(), nodes.dialect)?;
    let broken = walk.broken.iter().chain(&walk.bad_consolidated).map(ToString::to_string).collect();
    Ok(NodesBelow::Nodes(walk.nodes, broken))
}

/// Returns the paths directly below a group at which there may be nodes of `dialect`: first those with documents, then those of possible
/// implicit groups.
fn paths(nodes: &Nodes, dialect: Dialect, group: &NodePath) -> Result<Vec<NodePath>, RequestError> {
    let prefix = zarr_meta::listing_prefix(dialect, group);
    let listing = nodes.store.list_dir(&Prefix::new(&prefix)?)?;
    let keys: Vec<&str> = listing.keys.iter().map(Key::as_str).collect();
    let prefixes: Vec<&str> = listing.prefixes.iter().map(Prefix::as_str).collect();
    let found = zarr_meta::children(dialect, group, &keys, &prefixes, &Documents::new());
    let paths = found.candidates.into_iter().chain(found.maybe_implicit);
    Ok(paths.filter(|path| path.name() != Some(REPLACEMENTS)).collect())
}

/// Returns the number of paths directly below a group that a walk looks at; 0 if the store cannot list.
fn walked(nodes: &Nodes, group: &StoredNode) -> Result<usize, RequestError> {
    if !nodes.store.capabilities().list {
        return Ok(0);
    }
    let of_dialect = paths(nodes, group.dialect, &group.path)?.len();
    // Nodes of other dialects may lie beside those of one that has its documents elsewhere.
    let beside = match group.dialect.has_documents_at_paths() {
        true => 0,
        false => paths(nodes, Dialect::V3, &group.path)?.len(),
    };
    Ok(of_dialect.saturating_add(beside))
}

/// Returns whether the store has nodes of dialects whose documents are not at their paths, and those nodes are to be shown.
fn has_other_dialects(nodes: &Nodes) -> Result<bool, RequestError> {
    if nodes.dialect.is_some() {
        return Ok(false);
    }
    let whole = |name: &&str| nodes.store.get(&Key::new(name)?, &[ByteRange::Full], &GetOptions::default());
    let mut documents = Documents::new();
    for (name, fetched) in DETECTION_KEYS.iter().zip(each(&*nodes.store, &DETECTION_KEYS, whole)) {
        if let Some(fetched) = fetched? {
            documents.insert(*name, fetched.part(0));
        }
    }
    Ok(!zarr_meta::detected_dialects(&documents).is_empty())
}

/// Opens the nodes at `paths`. Returns the nodes that exist, and messages for those that cannot be opened.
fn open_all(nodes: &Nodes, paths: &[NodePath]) -> (Vec<StoredNode>, Vec<String>) {
    let open = |path: &NodePath| zarr_hierarchy::open_node(&*nodes.store, &path.to_string(), nodes.dialect);
    let (mut found, mut broken) = (Vec::new(), Vec::new());
    for (path, node) in paths.iter().zip(each(&*nodes.store, paths, open)) {
        match node {
            Ok(node) => found.push(node),
            Err(error) if error.is_not_found() => {}
            Err(error) => broken.push(error.at_path(path).with_causes()),
        }
    }
    (found, broken)
}

/// Calls `work` for each of `things`; concurrently if the store is remote.
fn each<T: Sync, R: Send>(store: &dyn Store, things: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    if store.access_profile().kind != StoreKind::Remote {
        return things.iter().map(work).collect();
    }
    let work = &work;
    thread::scope(|scope| {
        let parts = things.chunks(things.len().div_ceil(AT_ONCE).max(1));
        let threads: Vec<_> =
            parts.map(|part| scope.spawn(move || part.iter().map(work).collect::<Vec<R>>())).collect();
        let ended = |thread: thread::ScopedJoinHandle<'_, Vec<R>>| match thread.join() {
            Ok(results) => results,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        threads.into_iter().flat_map(ended).collect()
    })
}

/// Returns the facts about a node that the tree of the page shows.
fn brief(found: &StoredNode) -> Map {
    let mut brief = facts(found);
    for name in ["attributes", "codecs", "fill_value", "implicit"] {
        brief.remove(name);
    }
    brief.insert("name", found.path.name().unwrap_or("/"));
    if let Some(units) = found.node.attributes().get("units").and_then(Value::as_str) {
        brief.insert("units", units);
    }
    brief
}

/// Adds the numbers of arrays and groups below a group, and the names of its children, to `facts`.
///
/// # Errors
/// If there are too many nodes below for one answer.
pub(super) fn add_counts(nodes: &Nodes, group: &StoredNode, facts: &mut Map) -> Result<(), RequestError> {
    let (mut arrays, mut groups, mut names) = (0, 0, Vec::new());
    let mut left = vec![group.clone()];
    // Directories without a node are looked at as well.
    let mut looked_at = 0_usize;
    let mut look_at = |paths: usize| {
        looked_at = looked_at.saturating_add(paths);
        if looked_at <= COUNTED {
            return Ok(());
        }
        let message = format!("{}: found more than {COUNTED} directories and nodes below it", group.path);
        Err(RequestError::too_much(message).with_hint("zarr info counts the nodes"))
    };
    let are_at_paths = are_at_paths(nodes, group)?;
    while let Some(above) = left.pop() {
        let are_at_paths = are_at_paths && above.dialect.has_documents_at_paths();
        // What is not listed here is opened as it is found.
        let opened = if are_at_paths { 0 } else { walked(nodes, &above)? };
        look_at(opened)?;
        let list = below(nodes, &above, || Ok(are_at_paths))?;
        let found = match &list {
            NodesBelow::Paths(paths) => paths.len(),
            NodesBelow::Nodes(found, broken) => found.len().saturating_add(broken.len()),
        };
        look_at(found.saturating_sub(opened))?;
        let found = match list {
            NodesBelow::Paths(paths) => open_all(nodes, &paths).0,
            NodesBelow::Nodes(found, _) => found,
        };
        for node in found {
            if above.path == group.path {
                names.extend(node.path.name().map(Value::from));
            }
            match node.node {
                Node::Array(_) => arrays += 1,
                Node::Group(_) => {
                    groups += 1;
                    left.push(node);
                }
            }
        }
    }
    facts.insert("arrays", arrays);
    facts.insert("groups", groups);
    facts.insert("children", Value::Array(names));
    Ok(())
}
