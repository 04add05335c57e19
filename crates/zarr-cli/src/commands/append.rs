//! `zarr append`: appends data sets and arrays along a dimension.

use super::consolidated::renewing;
use super::write::{Casting, Input, InputForm, appended};
use crate::args::{NodeArgs, axis_of};
use crate::context::{Context, NodeLocation};
use crate::failure::{Failure, Result};
use crate::interrupted;
use crate::object::{object, or_null};
use crate::{escape, number};
use clap::Args;
use std::path::PathBuf;
use zarr::convert::Migration;
use zarr::dataset::{Dataset, DatasetOptions, Dimension, NewDataset};
use zarr::grid::{AxisSelection, element_count};
use zarr::meta::NodePath;
use zarr::{Array, Group, Selection};

/// Greatest number of bytes of stored elements that are read and appended at once.
const PIECE: u64 = 64 << 20;

/// Append to a data set or an array along a dimension.
///
/// To a data set (a group whose arrays have names of dimensions) all variables of the dimension are appended, from another data set:
/// values are encoded as the variables are. To an array that shares no dimension with others, elements are appended from an array, a
/// file of numpy or JSON, which is checked as a whole before; elements of more than 16 MiB are kept in a temporary file meanwhile, in the
/// folder that TMPDIR names.
#[derive(Debug, Args)]
pub(crate) struct Append {
    #[command(flatten)]
    node: NodeArgs,
    /// Elements to append: the URL of a data set or an array, its path after "::", or a file (.npy, .json); `-` is standard input.
    #[arg(long, value_name = "URL|FILE")]
    from: String,
    /// The dimension: its name, or its number in an array. By default the only one, the unlimited one, or the first of an array.
    #[arg(long, value_name = "DIM")]
    along: Option<String>,
    /// The form of a file; by default according to its name, else that of numpy.
    #[arg(long = "as", value_name = "FORM")]
    form: Option<InputForm>,
    /// Cast numbers of a file of numpy to the type of the array, as numpy does by this rule.
    #[arg(long, value_name = "RULE", num_args = 0..=1, require_equals = true, default_missing_value = "same_kind")]
    cast: Option<Casting>,
}

pub(crate) fn run(context: &Context, args: &Append) -> Result<()> {
    let is_file = args.form.is_some() || args.from == "-" || has_file_name(&args.from);
    if !is_file {
        let (to, from) = (context.node_address(&args.node.url)?.0, context.node_address(&args.from)?.0);
        context.share_options(&[&to, &from])?;
    }
    let location = context.locate(&args.node)?;
    Migration::check_settled(&location.store)?;
    let found = context.node(&location)?;
    if found.node.as_array().is_none() && is_file {
        let message = format!(
            "{location}: found a group, expected an array, to which the elements of {} can be appended",
            args.from
        );
        return Err(Failure::usage(message).with_hint(context.arrays_below(&location)));
    }
    if found.node.as_array().is_none() {
        let group = Group::from_found(&location.store, found, &context.registry)?;
        let (dimension, added, size) = append_dataset(context, args, &group)?;
        return grown(context, &location, Some(dimension), added, size);
    }
    let mut array = context.array(&location)?;
    let names = array.dimension_names().unwrap_or_default();
    let axis = axis_of("--along", args.along.as_deref().unwrap_or("0"), names, array.shape().len())?;
    check_alone(context, &location, &array, axis)?;
    interrupted::leaves("what is appended lies within the shape, as `zarr info` shows it; append the rest");
    let len = |array: &Array| array.shape().get(axis).copied().unwrap_or(0);
    let (before, name) = (len(&array), array.dimension_names().and_then(|names| names.get(axis)?.clone()));
    if is_file {
        let mut input = Input::open(&PathBuf::from(&args.from))?;
        renewing(context, (&location.store, &location.path), || {
            appended(&mut array, axis, (args.form, args.cast), &args.from, &mut input)
        })?;
        return grown(context, &location, name, len(&array).saturating_sub(before), len(&array));
    }
    let source = context.array(&context.locate(&source(&args.from))?)?;
    if source.data_type() != array.data_type() {
        let (found, expected) = (source.data_type(), array.data_type());
        return Err(Failure::usage(format!("{}: elements of type {found}, expected {expected}", args.from)));
    }
    let (found, expected) = (source.shape(), array.shape());
    let is_alike = |(at, (found, expected)): (usize, (&u64, &u64))| at == axis || found == expected;
    if found.len() != expected.len() || !found.iter().zip(expected).enumerate().all(is_alike) {
        let (found, expected) = (number::tuple(found), number::tuple(expected));
        let message = format!("{}: elements of shape {found}, expected {expected} but along axis {axis}", args.from);
        return Err(Failure::usage(message));
    }
    let added = len(&source);
    renewing(context, (&location.store, &location.path), || append_array(&mut array, axis, &source))?;
    grown(context, &location, name, added, len(&array))
}

/// Appends the elements of `source` to `array` along `axis`, in pieces.
fn append_array(array: &mut Array, axis: usize, source: &Array) -> Result<()> {
    let len = |array: &Array| array.shape().get(axis).copied().unwrap_or(0);
    let added = len(source);
    let row = element_count(source.shape()).unwrap_or(u64::MAX) / added.max(1);
    let row = row.saturating_mul(source.data_type().item_size() as u64).max(1);
    // Each chunk of the source is decoded once, unless it is too large along the axis.
    let (most, chunk) = ((PIECE / row).max(1), source.part_shape().get(axis).copied().unwrap_or(1).max(1));
    let step = if chunk <= most { most - most % chunk } else { most };
    let mut appender = array.appender(axis)?.buffer_size(row.saturating_mul(added).min(PIECE));
    let mut start = 0;
    while start < added {
        let stop = added.min(start + step);
        let index = |index: u64| i64::try_from(index).unwrap_or(i64::MAX);
        let mut axes = vec![AxisSelection::All; source.shape().len()];
        axes.iter_mut().skip(axis).take(1).for_each(|it| *it = AxisSelection::range(index(start), index(stop)));
        appender.append(&source.read_data(Selection::Axes(axes))?)?;
        start = stop;
    }
    Ok(appender.finish()?)
}

/// Prints by how much the dimension has grown, and its new size.
fn grown(context: &Context, location: &NodeLocation, dimension: Option<String>, added: u64, size: u64) -> Result<()> {
    let named = dimension.clone();
    context.summary(
        || object! { ..location.facts(), "dimension": or_null(named), "added": added, "size": size },
        || {
            let (place, added, size) = (location.to_string(), number::grouped(added), number::grouped(size));
            let along = dimension.map(|name| format!(" along {name}")).unwrap_or_default();
            format!("{}: {added} appended{}, now {size}\n", escape::line(&place), escape::line(&along))
        },
    )
}

fn has_file_name(name: &str) -> bool {
    [".npy", ".json", ".csv"].iter().any(|end| name.ends_with(end))
}

/// Returns the node that the address `url` names, with a path in it or not, as arguments.
fn source(url: &str) -> NodeArgs {
    NodeArgs { url: url.to_owned(), path: "/".to_owned(), dialect: None }
}

fn open(context: &Context, group: &Group) -> Result<Dataset> {
    Ok(Dataset::open_with(group, &DatasetOptions::default().arrays(context.options()))?)
}

/// Appends a data set. Returns the name of the dimension, the number of appended indices, and the new size of the dimension.
fn append_dataset(context: &Context, args: &Append, group: &Group) -> Result<(String, u64, u64)> {
    let mut dataset = open(context, group)?;
    let location = context.locate(&source(&args.from))?;
    let found = context.node(&location)?;
    if found.node.as_array().is_some() {
        let message =
            format!("{}: found an array, expected a data set, for all variables of a dimension grow", args.from);
        return Err(Failure::usage(message));
    }
    let source = open(context, &Group::from_found(&location.store, found, &context.registry)?)?;
    let dimension = match &args.along {
        Some(name) => name.clone(),
        None => only(dataset.dimensions())?,
    };
    let known = source.dimensions().iter().find(|known| known.name == dimension);
    let Some(added) = known.map(|known| known.size) else {
        let names: Vec<&str> = source.dimensions().iter().map(|known| known.name.as_str()).collect();
        let message = format!("{}: found dimensions {}, expected {dimension}", args.from, names.join(", "));
        return Err(Failure::usage(message));
    };
    let step = step(&source, &dimension, added);
    interrupted::leaves(format!(
        "variables may have different sizes along {dimension}, which `zarr check` names: `zarr resize --shrink --dim \
         {dimension}=N` cuts them to one, and the rest can be appended"
    ));
    let mut start = 0;
    while start < added {
        let stop = added.min(start + step);
        let part = source.isel(&dimension, start..stop)?;
        let mut new = NewDataset::new().consolidated(stop == added);
        for variable in part.variables().filter(|it| it.dimensions().any(|name| name == dimension)) {
            new = new.variable(zarr::dataset::NewVariable::of(variable)?);
        }
        dataset = dataset.append(&dimension, &new)?;
        start = stop;
    }
    let size = dataset.dimensions().iter().find(|known| known.name == dimension).map_or(0, |known| known.size);
    Ok((dimension, added, size))
}

/// Returns the number of indices along `dimension` that are appended at once, so that they take at most `PIECE` bytes.
fn step(source: &Dataset, dimension: &str, added: u64) -> u64 {
    let sizes =
        source.variables().filter(|variable| variable.dimensions().any(|name| name == dimension)).map(|variable| {
            let count = element_count(&variable.shape()).unwrap_or(u64::MAX);
            count.saturating_mul(variable.stored().data_type().item_size() as u64) / added.max(1)
        });
    (PIECE / sizes.fold(0_u64, u64::saturating_add).max(1)).max(1)
}

/// Returns the dimension along which a data set grows if the arguments name none: the only unlimited dimension, or the only dimension.
fn only(dimensions: &[Dimension]) -> Result<String> {
    let unlimited: Vec<&Dimension> = dimensions.iter().filter(|dimension| dimension.is_unlimited).collect();
    match (unlimited.as_slice(), dimensions) {
        ([one], _) => Ok(one.name.clone()),
        ([], [one]) => Ok(one.name.clone()),
        _ => {
            let names: Vec<&str> = dimensions.iter().map(|dimension| dimension.name.as_str()).collect();
            let message = format!("the data set has dimensions {}", names.join(", "));
            Err(Failure::usage(message).with_hint("--along names the one to append along"))
        }
    }
}

/// Returns an error if another variable of the data set has the dimension, since only `array` would grow.
fn check_alone(context: &Context, location: &NodeLocation, array: &Array, axis: usize) -> Result<()> {
    match variable_with(context, location, array, &[axis]) {
        None => Ok(()),
        Some((name, other)) => {
            let message = format!("variable {other} has dimension {name} as well, and would not grow");
            Err(Failure::usage(message).with_hint("append a data set to the group: all variables of a dimension grow"))
        }
    }
}

/// Returns the name of the first dimension of `array` among `axes` that another variable of the data set has too, with the path of that
/// variable; `None` if there is none.
pub(super) fn variable_with(
    context: &Context,
    location: &NodeLocation,
    array: &Array,
    axes: &[usize],
) -> Option<(String, String)> {
    let all = array.dimension_names().unwrap_or_default();
    let names: Vec<&str> = axes.iter().filter_map(|&axis| all.get(axis)?.as_deref()).collect();
    let parent = array.path().parent().filter(|_| !names.is_empty())?;
    let group = Group::open(&location.store, &NodePath::to_string(&parent), &context.registry).ok()?;
    // The dimensions of arrays without a data set are unrelated.
    let dataset = open(context, &group).ok()?;
    let mut others = dataset.variables().filter(|variable| variable.stored().path() != array.path());
    others.find_map(|other| {
        let shared = other.dimensions().find(|name| names.contains(name))?.to_owned();
        Some((shared, other.name().to_owned()))
    })
}
