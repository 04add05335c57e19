//! `zarr rename-dims`: renames dimensions.

use super::consolidated::renewing;
use super::describe;
use crate::args::NodeArgs;
use crate::context::{Context, NodeLocation};
use crate::escape;
use crate::failure::{Failure, Result};
use crate::near::{near, question};
use crate::object::object;
use clap::Args;
use std::collections::BTreeSet;
use zarr::convert::Migration;
use zarr::hierarchy::StoredNode;
use zarr::meta::ArrayMetadata;

/// Rename dimensions of an array, or of all arrays of a group.
///
/// In a group the arrays directly in it change, one after the other. A coordinate (an array with the name of its only dimension) has to
/// have the new name before: `zarr mv` renames it.
#[derive(Debug, Args)]
pub(crate) struct RenameDims {
    #[command(flatten)]
    node: NodeArgs,
    /// The old and the new name: time=t. May be given for several dimensions; time=t,t=time, in two options, exchanges names.
    #[arg(long = "dim", value_name = "OLD=NEW", required = true, value_parser = renamed)]
    dims: Vec<(String, String)>,
}

/// Array with the new names of its dimensions.
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
    let (arrays, others) = match found.node.as_array().is_some() {
        true => {
            let others = siblings(&location, &found);
            (vec![found], others)
        }
        false => (arrays(context, &location)?, Vec::new()),
    };
    // All are checked before the first is changed.
    let changes = plan(&location, &arrays, &args.dims)?;
    check_data_set(&location, &arrays, &others, &changes)?;
    context.check_writers(&location, "a change of metadata")?;
    Migration::check_settled(&location.store)?;
    let done = renewing(context, (&location.store, &location.path), || {
        let mut done = Vec::new();
        for Change { array, names } in &changes {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            done.push(zarr::hierarchy::set_dimension_names(&*location.store, array, &names)?);
        }
        Ok(done)
    })?;
    context.summary(
        || object! { ..location.facts(), "arrays": done.iter().map(describe::facts).collect::<Vec<_>>() },
        || {
            let paths: Vec<String> = done.iter().map(|array| array.path.to_string()).collect();
            format!("{}: renamed in {}\n", escape::line(&location.to_string()), escape::line(&paths.join(", ")))
        },
    )
}

/// Returns the arrays directly in a group. A broken node is an error.
fn arrays(context: &Context, location: &NodeLocation) -> Result<Vec<StoredNode>> {
    let walk = context.children(location)?;
    if let Some(error) = walk.broken.into_iter().next() {
        return Err(Failure::from(error).with_hint("nothing was changed"));
    }
    Ok(walk.nodes.into_iter().filter(|node| node.node.as_array().is_some()).collect())
}

/// Returns the other arrays in the group of `array`; none if the group cannot be listed.
fn siblings(location: &NodeLocation, array: &StoredNode) -> Vec<StoredNode> {
    let Some(parent) = array.path.parent().filter(|_| location.store.capabilities().list) else { return Vec::new() };
    let walk = zarr::hierarchy::children(&*location.store, &parent.to_string(), location.dialect);
    let nodes = walk.map(|walk| walk.nodes).unwrap_or_default();
    nodes.into_iter().filter(|node| node.node.as_array().is_some() && node.path != array.path).collect()
}

/// Array of a data set: its name, its shape, and the names of its dimensions before and after the change.
struct ArrayDimensions<'a> {
    name: &'a str,
    shape: &'a [u64],
    before: Vec<Option<&'a str>>,
    after: Vec<Option<&'a str>>,
}

impl<'a> ArrayDimensions<'a> {
    fn new(node: &'a StoredNode, changes: &'a [Change]) -> Option<Self> {
        let array: &ArrayMetadata = node.node.as_array()?;
        let names = array.dimension_names.as_deref().unwrap_or_default();
        let before: Vec<Option<&str>> = names.iter().map(Option::as_deref).collect();
        let change = changes.iter().find(|change| change.array.path == node.path);
        let after = match change {
            Some(change) => change.names.iter().map(|name| Some(name.as_str())).collect(),
            None => before.clone(),
        };
        Some(Self { name: node.path.name().unwrap_or_default(), shape: &array.shape, before, after })
    }

    /// Returns the name before and the length of each dimension that has the given name afterwards.
    fn lengths(&self, name: &str) -> Vec<(Option<&'a str>, u64)> {
        let dims = self.after.iter().zip(&self.before).zip(self.shape);
        dims.filter(|((after, _), _)| **after == Some(name)).map(|((_, before), &len)| (*before, len)).collect()
    }
}

/// Returns an error if the new names would break or change the data set: the same name for dimensions of two lengths that had different
/// names, or a coordinate without its own dimension.
fn check_data_set(
    location: &NodeLocation,
    arrays: &[StoredNode],
    others: &[StoredNode],
    changes: &[Change],
) -> Result<()> {
    let all: Vec<ArrayDimensions<'_>> =
        arrays.iter().chain(others).filter_map(|node| ArrayDimensions::new(node, changes)).collect();
    let is_coordinate = |name: &str, dims: &[Option<&str>]| matches!(dims, [Some(only)] if *only == name);
    for array in &all {
        if is_coordinate(array.name, &array.before) && !is_coordinate(array.name, &array.after) {
            let (old, new) = (array.name, array.after.first().copied().flatten().unwrap_or_default());
            let failure = Failure::usage(format!(
                "{location}: array {old} is the coordinate of dimension {old}, and would be of none"
            ));
            return Err(failure.with_hint(format!("`zarr mv` renames the array to {new} first")));
        }
    }
    let new: BTreeSet<&str> = changes.iter().flat_map(|change| change.names.iter().map(String::as_str)).collect();
    for name in new {
        let of_name: Vec<(&str, Option<&str>, u64)> = all
            .iter()
            .flat_map(|array| array.lengths(name).into_iter().map(move |(before, len)| (array.name, before, len)))
            .collect();
        if of_name.iter().all(|(_, before, _)| *before == Some(name)) {
            continue;
        }
        if let Some(array) = all.iter().find(|array| array.name == name && !is_coordinate(name, &array.after)) {
            let dims: Vec<&str> = array.after.iter().map(|name| name.unwrap_or("-")).collect();
            let message =
                format!("{location}: array {name} would have the name of a dimension and be no coordinate of it");
            return Err(Failure::usage(message).with_hint(format!("its dimensions would be ({})", dims.join(", "))));
        }
        // Different lengths of dimensions that had the same name before are not caused by the new name.
        let clash = of_name.iter().enumerate().find_map(|(index, first)| {
            let mut later = of_name.iter().skip(index + 1);
            later.find(|other| other.2 != first.2 && other.1 != first.1).map(|other| (first, other))
        });
        if let Some(((first, _, one), (second, _, other))) = clash {
            let message =
                format!("{location}: dimension {name} would have length {one} in {first} and {other} in {second}");
            return Err(Failure::usage(message).with_hint("all dimensions of one name in a group have one length"));
        }
    }
    Ok(())
}

/// Returns the arrays that change. An unknown old name is an error, and so is the same name for two dimensions of an array.
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
        let texts: Vec<&str> = new.iter().map(String::as_str).collect();
        zarr::hierarchy::check_dimension_names(array, &texts)
            .map_err(|error| error.at(|at| at.store = Some(location.store.to_string())))?;
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
