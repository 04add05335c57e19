//! `zarr rename-dims`: other names for dimensions.

use super::describe;
use crate::args::NodeArgs;
use crate::context::{Context, NodeLocation};
use crate::failure::{Failure, Result};
use crate::near::{near, question};
use crate::object::object;
use crate::{escape, report};
use clap::Args;
use std::collections::BTreeSet;
use zarr::convert::Migration;
use zarr::hierarchy::StoredNode;
use zarr::meta::conventions::{ARRAY_DIMENSIONS, dimension_names};

/// Rename dimensions of an array, or of all arrays of a group.
///
/// In a group the arrays directly in it change, one after the other. A coordinate keeps its own name: `zarr mv` renames it.
#[derive(Debug, Args)]
pub(crate) struct RenameDims {
    #[command(flatten)]
    node: NodeArgs,
    /// The old and the new name: time=t. May be given for several dimensions; time=t,t=time, in two options, exchanges names.
    #[arg(long = "dim", value_name = "OLD=NEW", required = true, value_parser = renamed)]
    dims: Vec<(String, String)>,
}

/// An array with the new names of its dimensions.
struct Change {
    array: StoredNode,
    names: Vec<String>,
}

fn renamed(text: &str) -> Result<(String, String), String> {
    let names = text.split_once('=').filter(|(old, new)| !old.is_empty() && !new.is_empty());
    names.map(|(old, new)| (old.to_owned(), new.to_owned())).ok_or_else(|| "expected OLD=NEW, as time=t".to_owned())
}

pub(crate) fn run(context: &Context, args: &RenameDims) -> Result<()> {
    let location = context.locate(&args.node)?;
    let found = context.node_with_warnings(&location)?;
    let arrays = match found.node.as_array().is_some() {
        true => vec![found],
        false => arrays(context, &location)?,
    };
    // All are checked before the first is changed.
    let changes = plan(&location, &arrays, &args.dims)?;
    context.check_writers(&location, "a change of metadata")?;
    Migration::check_settled(&location.store)?;
    let mut done = Vec::new();
    for Change { array, names } in &changes {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        done.push(zarr::hierarchy::set_dimension_names(&*location.store, array, &names)?);
    }
    for (old, new) in args.dims.iter().filter(|_| !context.global.quiet) {
        if arrays.iter().any(|array| array.path.name() == Some(old)) {
            report::hint(&format!("array {old} keeps its name; `zarr mv` renames it to {new}"));
        }
    }
    context.summary(
        || object! { ..location.facts(), "arrays": done.iter().map(describe::facts).collect::<Vec<_>>() },
        || {
            let paths: Vec<String> = done.iter().map(|array| array.path.to_string()).collect();
            format!("{}: renamed in {}\n", escape::line(&location.to_string()), escape::line(&paths.join(", ")))
        },
    )
}

/// The arrays directly in a group, none of them broken.
fn arrays(context: &Context, location: &NodeLocation) -> Result<Vec<StoredNode>> {
    let walk = context.children(location)?;
    if let Some(error) = walk.broken.into_iter().next() {
        return Err(Failure::from(error).with_hint("nothing was changed"));
    }
    Ok(walk.nodes.into_iter().filter(|node| node.node.as_array().is_some()).collect())
}

/// Whether an array has the references of NCZarr, which would keep the old names.
fn has_references(found: &StoredNode) -> bool {
    let Some(array) = found.node.as_array() else { return false };
    let mut attributes = array.attributes.clone();
    attributes.remove(ARRAY_DIMENSIONS);
    dimension_names(&attributes, &array.extra, array.shape.len()).is_some()
}

/// The arrays that change. Each old name has to be there, and no array may get a name twice.
fn plan(location: &NodeLocation, arrays: &[StoredNode], dims: &[(String, String)]) -> Result<Vec<Change>> {
    let mut known = BTreeSet::new();
    let mut changes = Vec::new();
    for array in arrays {
        let names = array.node.as_array().and_then(|array| array.dimension_names.clone()).unwrap_or_default();
        known.extend(names.iter().flatten().cloned());
        let is_meant = |name: &Option<String>| dims.iter().any(|(old, _)| name.as_ref() == Some(old));
        if !names.iter().any(is_meant) {
            continue;
        }
        let at = || format!("{}: {}", location.store, array.path);
        if has_references(array) {
            let failure = Failure::usage(format!("{}: NCZarr names the dimensions by references to its groups", at()));
            return Err(failure.with_hint("netCDF-C renames them; zarr convert writes an array without references"));
        }
        let mut new = Vec::new();
        for name in names {
            let Some(name) = name else {
                let failure = Failure::usage(format!("{}: a dimension has no name", at()));
                return Err(failure.with_hint("zarr attrs --dims names all of them"));
            };
            let name = dims.iter().find(|(old, _)| *old == name).map_or(name, |(_, new)| new.clone());
            if new.contains(&name) {
                return Err(Failure::usage(format!("{}: two dimensions would have the name {name:?}", at())));
            }
            new.push(name);
        }
        changes.push(Change { array: array.clone(), names: new });
    }
    match dims.iter().find(|(old, _)| !known.contains(old)) {
        None => Ok(changes),
        Some((old, _)) => {
            let names: Vec<&str> = known.iter().map(String::as_str).collect();
            let expected = if names.is_empty() { "no dimension has a name".to_owned() } else { names.join(", ") };
            let failure = Failure::usage(format!("{location}: found no dimension {old}: {expected}"));
            Err(match near(old, names) {
                Some(near) => failure.with_hint(question(near)),
                None => failure,
            })
        }
    }
}
