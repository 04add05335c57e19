//! Findings in the documents of nodes.

use crate::hierarchy::Hierarchy;
use crate::sink::Sink;
use crate::{Code, Finding};
use std::collections::HashSet;
use zarr_hierarchy::{Error, ErrorKind, Walk, compare_consolidated};
use zarr_meta::{Consolidated, Documents, Node, NodePath, StoredNode, Warning, conventions};

/// Code of an error for an array whose documents are valid, but which cannot be opened.
pub(crate) fn code_of_open(error: &Error) -> Code {
    match error.kind() {
        // The documents have been read: what is too large is a chunk, or the index of a shard.
        ErrorKind::Limit => Code::ChunkOverLimit,
        _ => code_of(error),
    }
}

/// Code of an error in a document.
pub(crate) fn code_of(error: &Error) -> Code {
    match error.kind() {
        ErrorKind::InvalidJson => Code::InvalidJson,
        ErrorKind::UnknownMember => Code::UnknownMember,
        ErrorKind::UnknownExtension => Code::UnknownExtension,
        ErrorKind::UnsupportedVersion => Code::UnsupportedVersion,
        ErrorKind::Path => Code::UnsafeName,
        ErrorKind::Limit => Code::TooLarge,
        ErrorKind::Store => Code::Unreadable,
        _ => Code::InvalidDocument,
    }
}

/// Code of an error in consolidated metadata.
pub(crate) fn code_of_copy(error: &Error) -> Code {
    // Names that lead out of the hierarchy were not written by mistake: that is not to be repaired unseen.
    if error.kind() == ErrorKind::Path { Code::UnsafeName } else { Code::BadConsolidated }
}

/// Reports the findings of a walk that concern no valid node: broken nodes, bad consolidated metadata, nodes below arrays.
pub(crate) fn of_walk(walk: &Walk, sink: &Sink<'_>) {
    walk.broken.iter().for_each(|error| sink.find(Finding::of(code_of(error), error)));
    walk.bad_consolidated.iter().for_each(|error| sink.find(Finding::of(code_of_copy(error), error)));
    for node in &walk.below_arrays {
        sink.find(below_array(&node.path, node.document_key().unwrap_or_default()));
    }
}

/// Finding for a document of a node below an array.
pub(crate) fn below_array(path: &NodePath, key: &str) -> Finding {
    let message = "a document of a node below an array, which cannot have nodes";
    Finding::new(Code::NodeBelowArray, message).at_path(path).at_key(key)
}

/// Reports the deviations of one node. `warnings` are the warnings of its documents and of its codecs.
pub(crate) fn of_node(found: &StoredNode, warnings: &[Warning], sink: &Sink<'_>) {
    // The document of the whole hierarchy is judged with the root, and names below.
    let is_of_others = |warning: &Warning| {
        let entry = zarr_meta::entry_point_key(found.dialect);
        let is_name = warning.pointer.is_empty() && warning.key == found.path.as_relative();
        !found.path.is_root() && (is_name || Some(warning.key.as_str()) == entry)
    };
    for warning in warnings.iter().filter(|warning| !is_of_others(warning)) {
        let code = if warning.hides.is_some() { Code::HiddenNode } else { Code::Deviation };
        let mut finding = Finding::new(code, &warning.what).at_path(&found.path);
        finding.key = Some(warning.key.clone()).filter(|key| !key.is_empty());
        finding.pointer = Some(warning.pointer.clone()).filter(|pointer| !pointer.is_empty());
        sink.find(finding);
    }
    if let Some(error) = &found.attributes_error {
        sink.find(Finding::of(Code::BrokenAttributes, &Error::from(error.clone())).at_path(&found.path));
    }
    if let Some(error) = &found.fallback {
        sink.find(Finding::of(Code::FallbackType, &Error::from(error.clone())).at_path(&found.path));
    }
    if found.implicit && !found.dialect.implies_groups() && !found.dialect.holds_one_array() {
        let message = format!("a group of {} without a document of its own", found.dialect);
        sink.find(Finding::new(Code::ImplicitGroup, message).at_path(&found.path));
    }
    // Names above are those of other nodes.
    let own = found.path.name().map(|name| NodePath::root().join(name));
    if let Some(Ok(own)) = own {
        let odd = |what: String| sink.find(Finding::new(Code::OddName, what).at_path(&found.path));
        match found.dialect.check_path(&own) {
            Ok(warnings) => warnings.into_iter().for_each(|warning| odd(warning.what)),
            Err(error) => odd(Error::from(error).message().to_owned()),
        }
    }
}

/// Checks the lists of the nodes in a group that NCZarr stores in the group.
pub(crate) fn lists(hierarchy: &Hierarchy, sink: &Sink<'_>) {
    for group in &hierarchy.nodes {
        let Node::Group(metadata) = &group.node else { continue };
        let lists = conventions::child_lists(metadata);
        if lists.is_empty() {
            continue;
        }
        let children: Vec<&StoredNode> = hierarchy.children(&group.path).collect();
        let listed: Vec<(bool, HashSet<&str>)> =
            lists.iter().map(|(is_array, names)| (*is_array, names.iter().copied().collect())).collect();
        for child in &children {
            let (Some(name), is_array) = (child.path.name(), child.node.as_array().is_some()) else { continue };
            if listed.iter().any(|(of_arrays, names)| *of_arrays == is_array && !names.contains(name)) {
                let message = format!("{name:?} is missing in the list of NCZarr in the group");
                sink.find(Finding::new(Code::UnlistedNode, message).at_path(&child.path));
            }
        }
        let names: HashSet<&str> = children.iter().filter_map(|node| node.path.name()).collect();
        for name in lists.iter().flat_map(|(_, listed)| listed).filter(|name| !names.contains(*name)) {
            let message = format!("the list of NCZarr names {name:?}, and there is no such node");
            let mut finding = Finding::new(Code::MissingNode, message).at_path(&group.path);
            finding.key = group.document_key().map(str::to_owned);
            sink.find(finding);
        }
    }
}

/// Advice for consolidated metadata that has documents which are nowhere else in the store.
const ONLY_IN_COPY: &str = "Restore the documents that are missing from the copy, which `--repair` leaves as it is. If they are meant to be gone, write \
    the copy again: `zarr consolidate`.";

/// Paths of nodes of which consolidated metadata has documents that are nowhere else in the store: the node does not exist, or lacks one of
/// its documents. Broken nodes do not count, since their documents exist.
pub(crate) fn only_in_copy<'n>(
    group: &NodePath,
    copy: &Consolidated,
    nodes: impl IntoIterator<Item = &'n StoredNode>,
    is_broken: impl Fn(&NodePath) -> bool,
) -> Vec<NodePath> {
    let stored: HashSet<&str> = nodes.into_iter().flat_map(|node| node.documents.keys()).collect();
    let is_lost = |documents: &Documents| documents.keys().any(|key| !stored.contains(key));
    let copied = copy.nodes(group).into_iter().filter(|(path, documents)| is_lost(documents) && !is_broken(path));
    copied.map(|(path, _)| path).collect()
}

/// Compares the consolidated metadata of a group with the nodes below the group, and reports differences.
pub(crate) fn copy(hierarchy: &Hierarchy, group: &StoredNode, copy: &Consolidated, key: &str, sink: &Sink<'_>) {
    let alike = |node: &&StoredNode| node.dialect == group.dialect || (node.dialect.is_v3() && group.dialect.is_v3());
    let nodes: Vec<StoredNode> = hierarchy.within(&group.path).filter(alike).cloned().collect();
    let stale = match compare_consolidated(group, copy, &nodes) {
        Ok(stale) => stale,
        Err(error) => return sink.find(Finding::of(Code::BadConsolidated, &error).at_path(&group.path).at_key(key)),
    };
    let named = |what: &str, paths: &[NodePath]| {
        let known = paths.iter().filter(|path| !hierarchy.is_broken(path)).map(ToString::to_string);
        let names: Vec<String> = known.collect();
        let more = names.len().saturating_sub(3);
        let first = names.iter().take(3).cloned().collect::<Vec<_>>().join(", ");
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        (!names.is_empty()).then(|| format!("{first}{more} {what}"))
    };
    let parts = [
        named("missing in the consolidated metadata", &stale.missing),
        named("only in the consolidated metadata", &stale.gone),
        named("changed since", &stale.changed),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if !parts.is_empty() {
        let mut finding = Finding::new(Code::StaleConsolidated, parts.join("; ")).at_path(&group.path).at_key(key);
        if !only_in_copy(&group.path, copy, &nodes, |path| hierarchy.is_broken(path)).is_empty() {
            finding.advice = ONLY_IN_COPY.to_owned();
        }
        sink.find(finding);
    }
}

/// Reports consolidated metadata of an unknown kind.
pub(crate) fn unknown_copy(group: &StoredNode, key: &str, sink: &Sink<'_>) {
    let message = "consolidated metadata of an unknown kind, which no reader takes";
    sink.find(Finding::new(Code::UnknownConsolidated, message).at_path(&group.path).at_key(key));
}

/// Checks the consolidated metadata that groups have in their own documents.
pub(crate) fn copies_inside(hierarchy: &Hierarchy, sink: &Sink<'_>) {
    for found in &hierarchy.nodes {
        let (Node::Group(group), Some(key)) = (&found.node, found.document_key()) else { continue };
        match &group.consolidated {
            Some(inside) => copy(hierarchy, found, inside, key, sink),
            None if group.extra.get("consolidated_metadata").is_some_and(|copy| !copy.is_null()) => {
                unknown_copy(found, key, sink);
            }
            None => {}
        }
    }
}
