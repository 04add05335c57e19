//! `zarr resize`: changes the shape of an array.

use super::append::variable_with;
use super::consolidated::{keeping, renewing};
use super::describe;
use crate::args::{NodeArgs, axis_of};
use crate::context::{Context, NodeLocation};
use crate::escape;
use crate::failure::{Failure, Result};
use crate::interrupted;
use crate::number::{self, grouped, tuple};
use crate::object::object;
use clap::Args;
use zarr::convert::Migration;
use zarr::dataset::{Dataset, DatasetOptions};
use zarr::hierarchy::StoredNode;
use zarr::meta::json::Value;
use zarr::{Array, Group};

/// Change the shape of an array, or the sizes of dimensions of a data set.
///
/// If PATH is a group, --dim resizes all variables of the data set that have the dimension, or none of them if one cannot be resized. New elements
/// have the fill value. Chunks outside of a smaller shape are erased.
#[derive(Debug, Args)]
pub(crate) struct Resize {
    #[command(flatten)]
    node: NodeArgs,
    /// The new length of each dimension of the array, such as 365,180,360.
    #[arg(long, value_name = "SHAPE", value_parser = number::shape, required_unless_present = "dims", conflicts_with = "dims")]
    shape: Option<number::Lengths>,
    /// The new length of one dimension, such as time=24. May be given for several dimensions.
    #[arg(long = "dim", value_name = "DIM=LENGTH")]
    dims: Vec<String>,
    /// Allow a smaller length, which deletes the elements beyond the new length.
    #[arg(long)]
    shrink: bool,
    /// Resize only this array, even if other variables of its data set have the dimension and keep their size.
    #[arg(long)]
    alone: bool,
}

pub(crate) fn run(context: &Context, args: &Resize) -> Result<()> {
    let location = context.locate(&args.node)?;
    Migration::check_settled(&location.store)?;
    let found = context.node(&location)?;
    if found.node.as_group().is_some() {
        return resize_dataset(context, args, &location, found);
    }
    let mut array = context.array_of(&location, found)?;
    let before = array.shape().to_vec();
    let shape = match &args.shape {
        Some(shape) => shape.0.clone(),
        None => by_name(&args.dims, &array)?,
    };
    if shape.len() != before.len() {
        let message = format!("{location}: found shape {}, expected {} dimensions", tuple(&shape), before.len());
        return Err(Failure::usage(message).with_hint("--dim time=24 changes one of them"));
    }
    let changed = changed(args, &location, &array, &shape)?;
    // With --alone the data set is not opened, since its other variables do not matter.
    let shared = if args.alone { None } else { variable_with(context, &location, &array, &changed) };
    if let Some((name, other)) = shared {
        let message = format!("{location}: variable {other} has dimension {name} as well, and would keep its size");
        return Err(Failure::usage(message).with_hint("--alone resizes this array alone"));
    }
    context.check_writers(&location, "a change of metadata")?;
    // A resize to a smaller shape drops consolidated metadata first.
    let is_smaller = shape.iter().zip(&before).any(|(new, old)| new < old);
    let resize = || Ok(array.resize(&shape)?);
    match is_smaller {
        true => keeping(context, &[(&location.store, Some(location.path.clone()))], resize)?,
        false => renewing(context, (&location.store, &location.path), resize)?,
    }
    context.summary(
        || object! { ..describe::facts(array.found()), "shape_before": before.clone() },
        || format!("{}: {} to {}\n", escape::line(&location.to_string()), tuple(&before), tuple(&shape)),
    )
}

/// Returns the axes along which `shape` differs from the shape of the array. Fails without --shrink if an axis would become shorter.
fn changed(args: &Resize, location: &NodeLocation, array: &Array, shape: &[u64]) -> Result<Vec<usize>> {
    let mut changed = Vec::new();
    for (axis, (&new, &old)) in shape.iter().zip(array.shape()).enumerate().filter(|(_, (new, old))| new != old) {
        if new < old && !args.shrink {
            let (cut, name) = (grouped(old - new), dimension(array, axis));
            let failure = Failure::usage(format!("{location}: {cut} along {name} would be cut off"));
            return Err(failure.with_hint("--shrink cuts them off"));
        }
        changed.push(axis);
    }
    Ok(changed)
}

/// Resizes the variables of a data set that have the dimensions of --dim. Checks all variables before it changes the first.
fn resize_dataset(context: &Context, args: &Resize, location: &NodeLocation, found: StoredNode) -> Result<()> {
    if args.shape.is_some() {
        let message = "--shape is of one array, and this is a group; --dim time=24 resizes all variables of a data set";
        return Err(Failure::usage(format!("{location}: {message}")).with_hint(context.arrays_below(location)));
    }
    let group = Group::from_found(&location.store, found, &context.registry)?;
    let ignore = location.store.capabilities().list;
    let options = DatasetOptions::default().arrays(context.options()).ignore_consolidated(ignore);
    let dataset = Dataset::open_with(&group, &options)?;
    if let Some(error) = dataset.broken().first() {
        // The broken variable may have the dimension.
        return Err(Failure::from(error).with_hint("nothing was resized; `zarr resize URL PATH` resizes one array"));
    }
    let names: Vec<Option<String>> = dataset.dimensions().iter().map(|it| Some(it.name.clone())).collect();
    let sizes: Vec<u64> = dataset.dimensions().iter().map(|dimension| dimension.size).collect();
    let sizes = lengths(&args.dims, &names, &sizes)?;
    let mut resized = Vec::new();
    for variable in dataset.variables() {
        let array = variable.stored().clone();
        let mut shape = array.shape().to_vec();
        for (length, name) in shape.iter_mut().zip(array.dimension_names().unwrap_or_default()) {
            let size = names.iter().position(|known| known == name).and_then(|at| sizes.get(at));
            *length = size.copied().unwrap_or(*length);
        }
        let path = array.path().clone();
        let at = NodeLocation { store: location.store.clone(), address: location.address.clone(), path, dialect: None };
        if !changed(args, &at, &array, &shape)?.is_empty() {
            resized.push((at, array, shape));
        }
    }
    context.check_writers(location, "a change of metadata")?;
    let is_smaller = |(_, array, shape): &(NodeLocation, Array, Vec<u64>)| {
        shape.iter().zip(array.shape()).any(|(new, old)| new < old)
    };
    let drops = resized.iter().any(is_smaller);
    interrupted::leaves("some variables may have the new size; the same command resizes the others");
    let (mut facts, mut text) = (Vec::new(), String::new());
    let resize = || {
        for (at, mut array, shape) in resized {
            let before = array.shape().to_vec();
            array.resize(&shape)?;
            facts.push(Value::from(object! { ..describe::facts(array.found()), "shape_before": before.clone() }));
            text.push_str(&format!("{}: {} to {}\n", escape::line(&at.to_string()), tuple(&before), tuple(&shape)));
        }
        Ok(())
    };
    match drops {
        true => keeping(context, &[(&location.store, Some(location.path.clone()))], resize)?,
        false => renewing(context, (&location.store, &location.path), resize)?,
    }
    context.summary(|| object! { ..location.facts(), "resized": facts }, || text)
}

/// Returns the name of the dimension of `axis` for messages; `dimension N` if it has no name.
fn dimension(array: &Array, axis: usize) -> String {
    let name = array.dimension_names().and_then(|names| names.get(axis)?.clone());
    name.unwrap_or_else(|| format!("dimension {axis}"))
}

/// Returns the shape of an array with the new lengths of `dims`, the values of --dim, which name dimensions by name or number.
fn by_name(dims: &[String], array: &Array) -> Result<Vec<u64>> {
    lengths(dims, array.dimension_names().unwrap_or_default(), array.shape())
}

/// Returns `shape`, the lengths of the dimensions `names`, with the new lengths of `dims`, the values of --dim.
fn lengths(dims: &[String], names: &[Option<String>], shape: &[u64]) -> Result<Vec<u64>> {
    let mut shape = shape.to_vec();
    let mut done = Vec::new();
    for text in dims {
        let expected = || Failure::usage(format!("--dim {text}: expected a dimension and its length, as time=24"));
        let (name, length) = text.split_once('=').ok_or_else(expected)?;
        let length = match number::shape(length).map(|lengths| lengths.0).as_deref() {
            Ok(&[length]) => length,
            _ => return Err(expected()),
        };
        let axis = axis_of("--dim", name, names, shape.len())?;
        if done.contains(&axis) {
            return Err(Failure::usage(format!("dimension {name} is given more than once")));
        }
        done.push(axis);
        if let Some(len) = shape.get_mut(axis) {
            *len = length;
        }
    }
    Ok(shape)
}
