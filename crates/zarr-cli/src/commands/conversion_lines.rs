//! Lines about a conversion, beside those of its nodes: in its plan and when it is done.

use crate::context::Context;
use crate::number;
use zarr::convert::{Conversion, PlannedNode};

/// So many arrays are named.
const NAMED: usize = 6;

/// Names the arrays that keep their chunks, since the shape that is asked for has another number of dimensions.
pub(crate) fn tell_other_ranks(context: &Context, conversion: &Conversion) {
    let others = conversion.of_other_ranks();
    if others.is_empty() {
        return;
    }
    let mut names: Vec<String> = others.iter().take(NAMED).map(ToString::to_string).collect();
    if others.len() > NAMED {
        names.push(format!("{} more", others.len() - NAMED));
    }
    let hint = "`--chunks time=10` is for all arrays with that dimension";
    context.warnings(&[format!(
        "arrays of other numbers of dimensions are not of that shape: {}; {hint}",
        names.join(", ")
    )]);
}

/// The files of no node that are copied, for a line: `, 2 other files`, or nothing.
pub(crate) fn other_files(conversion: &Conversion) -> String {
    match conversion.other_keys().len() {
        0 => String::new(),
        count => format!(", {}", number::counted(count as u64, "other file")),
    }
}

/// A line about metadata of OME-Zarr that become those of another version; nothing if none do.
pub(crate) fn ome_line(nodes: &[PlannedNode]) -> String {
    let Some(version) = nodes.iter().find_map(|node| node.ome) else { return String::new() };
    let groups = nodes.iter().filter(|node| node.ome.is_some()).count() as u64;
    let groups = number::counted(groups, "group");
    format!("OME-Zarr metadata of {groups} in the form of {version}; --literal leaves it as it is\n")
}
