//! Lines about a conversion as a whole, in its plan and at its end.

use crate::context::Context;
use crate::object::{object, or_null};
use crate::{number, report};
use std::collections::BTreeMap;
use zarr::convert::{Action, Conversion, PlannedNode};
use zarr::dtype::DataType;
use zarr::meta::json::Map;

/// Greatest number of arrays that a line names.
const NAMED: usize = 6;
/// Greatest number of named arrays in the warning about arrays that no other software reads.
const NAMED_UNREAD: usize = 20;

/// Prints the names of arrays that keep their chunks, since the requested chunk shape has another number of dimensions.
pub(crate) fn tell_other_ranks(context: &Context, conversion: &Conversion) {
    let others = conversion.of_other_ranks();
    if others.is_empty() {
        return;
    }
    let names = some(others.iter().map(ToString::to_string).collect(), NAMED);
    let hint = "`--chunks time=10` is for all arrays with that dimension";
    context.warnings(&[format!("arrays of other numbers of dimensions are not of that shape: {names}; {hint}")]);
}

/// Warns of arrays that no other software reads after the conversion, and of consolidated metadata that is left out because of these
/// arrays.
pub(crate) fn tell_unread(context: &Context, conversion: &Conversion) {
    let mut causes: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for node in conversion.nodes() {
        for unread in &node.unread {
            causes.entry(&unread.what).or_default().push(node.source.path.to_string());
        }
    }
    let mut warnings: Vec<String> =
        causes.into_iter().map(|(what, paths)| format!("{what}: {}", some(paths, NAMED_UNREAD))).collect();
    let without: Vec<String> = conversion.unconsolidated().iter().map(ToString::to_string).collect();
    if !without.is_empty() {
        warnings.push(format!(
            "no consolidated metadata is written for {}: zarr-python 3 opens no array of a group whose consolidated metadata name a type \
             or codec that it does not have",
            some(without, NAMED)
        ));
    }
    context.warnings(&warnings);
    let is_object = |node: &PlannedNode| node.unread.iter().any(|unread| unread.name == DataType::Object.to_string());
    let is_tried = conversion.options().objects_as_strings;
    if !context.global.quiet && !is_tried && conversion.nodes().iter().any(is_object) {
        report::hint("--objects-as-strings makes strings of objects in arrays that hold only texts");
    }
}

/// Returns the first `most` names, and the number of further names.
fn some(mut names: Vec<String>, most: usize) -> String {
    let more = names.len().saturating_sub(most);
    names.truncate(most);
    if more > 0 {
        names.push(format!("{more} more"));
    }
    names.join(", ")
}

/// Returns the number of copied files that belong to no node, as part of a line: `, 2 other files`; empty if there are none.
pub(crate) fn other_files(conversion: &Conversion) -> String {
    match conversion.other_keys().len() {
        0 => String::new(),
        count => format!(", {}", number::counted(count as u64, "other file")),
    }
}

/// Returns a line about metadata of OME-Zarr that is converted to another version; empty if there is none. `is_chosen` says that the caller
/// has chosen the version.
pub(crate) fn ome_line(nodes: &[PlannedNode], is_chosen: bool) -> String {
    let Some(version) = nodes.iter().find_map(|node| node.ome) else { return String::new() };
    let groups = nodes.iter().filter(|node| node.ome.is_some()).count() as u64;
    let groups = number::counted(groups, "group");
    let hint = if is_chosen { "" } else { "; --literal leaves it as it is" };
    format!("OME-Zarr metadata of {groups} in the form of {version}{hint}\n")
}

/// Returns the facts about a converted node as JSON.
pub(crate) fn facts(node: &PlannedNode) -> Map {
    let how = match node.how {
        Action::Group => "group",
        Action::Keep => "kept",
        Action::CopyChunks => "copied",
        Action::Reencode => "recoded",
    };
    object! {
        "path": node.source.path.to_string(),
        "to": node.path.to_string(),
        "dialect": node.dialect.name(),
        "how": how,
        "region": or_null(node.region.as_ref().map(ToString::to_string)),
        "bytes": node.size,
        "notes": node.notes.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "warning": or_null(node.warning.as_deref()),
        "unread": node.unread.iter().map(|unread| unread.what.as_str()).collect::<Vec<_>>(),
    }
}
