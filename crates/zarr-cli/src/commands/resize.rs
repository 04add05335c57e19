//! `zarr resize`: changes the shape of an array.

use super::append::variable_with;
use super::consolidated::{keeping, renewing};
use super::describe;
use crate::args::{NodeArgs, axis_of};
use crate::context::Context;
use crate::escape;
use crate::failure::{Failure, Result};
use crate::number::{self, grouped, tuple};
use crate::object::object;
use clap::Args;
use zarr::Array;
use zarr::convert::Migration;

/// Change the shape of an array.
///
/// Elements that a larger shape adds are the fill value. Chunks that lie outside of a smaller shape are erased.
#[derive(Debug, Args)]
pub(crate) struct Resize {
    #[command(flatten)]
    node: NodeArgs,
    /// The new length of each dimension: 365,180,360.
    #[arg(long, value_name = "SHAPE", value_parser = number::shape, required_unless_present = "dims", conflicts_with = "dims")]
    shape: Option<number::Lengths>,
    /// The new length of one dimension: time=24. May be given for several dimensions.
    #[arg(long = "dim", value_name = "DIM=LENGTH")]
    dims: Vec<String>,
    /// Make dimensions smaller as well, which cuts off elements.
    #[arg(long)]
    shrink: bool,
    /// Resize the array also where other variables of its data set have the dimension, and stay as they are.
    #[arg(long)]
    alone: bool,
}

pub(crate) fn run(context: &Context, args: &Resize) -> Result<()> {
    let location = context.locate(&args.node)?;
    Migration::check_settled(&location.store)?;
    let mut array = context.array(&location)?;
    let before = array.shape().to_vec();
    let shape = match &args.shape {
        Some(shape) => shape.0.clone(),
        None => by_name(&args.dims, &array)?,
    };
    if shape.len() != before.len() {
        let message = format!("{location}: found shape {}, expected {} dimensions", tuple(&shape), before.len());
        return Err(Failure::usage(message).with_hint("--dim time=24 changes one of them"));
    }
    let mut changed = Vec::new();
    for (axis, (&new, &old)) in shape.iter().zip(&before).enumerate().filter(|(_, (new, old))| new != old) {
        if new < old && !args.shrink {
            let (cut, name) = (grouped(old - new), dimension(&array, axis));
            let failure = Failure::usage(format!("{location}: {cut} along {name} would be cut off"));
            return Err(failure.with_hint("--shrink cuts them off"));
        }
        changed.push(axis);
    }
    // The data set is opened only if its other variables count.
    let shared = if args.alone { None } else { variable_with(context, &location, &array, &changed) };
    if let Some((name, other)) = shared {
        let message = format!("{location}: variable {other} has dimension {name} as well, and would keep its size");
        return Err(Failure::usage(message).with_hint("--alone resizes this array alone"));
    }
    context.check_writers(&location, "a change of metadata")?;
    // A smaller shape drops consolidated metadata first.
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

/// Returns the name of a dimension, or `dimension N` if it has no name.
fn dimension(array: &Array, axis: usize) -> String {
    let name = array.dimension_names().and_then(|names| names.get(axis)?.clone());
    name.unwrap_or_else(|| format!("dimension {axis}"))
}

/// Returns the shape of an array, with the lengths that `dims` gives some dimensions by their names or numbers.
fn by_name(dims: &[String], array: &Array) -> Result<Vec<u64>> {
    let mut shape = array.shape().to_vec();
    let mut done = Vec::new();
    for text in dims {
        let expected = || Failure::usage(format!("--dim {text}: expected a dimension and its length, as time=24"));
        let (name, length) = text.split_once('=').ok_or_else(expected)?;
        let length = match number::shape(length).map(|lengths| lengths.0).as_deref() {
            Ok(&[length]) => length,
            _ => return Err(expected()),
        };
        let axis = axis_of("--dim", name, array.dimension_names().unwrap_or_default(), shape.len())?;
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
