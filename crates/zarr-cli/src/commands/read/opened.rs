//! Data sets of which variables are read: how they are opened, and coordinates of them that cannot be opened.

use crate::failure::{Exit, Failure, Result};
use std::collections::BTreeSet;
use zarr::Group;
use zarr::dataset::{Dataset, DatasetOptions, Variable};
use zarr::meta::json::Value;

/// Opens a group as a data set for the variables `names`, or for all if there are no names. If other arrays of the group form no data set,
/// for example without names of dimensions, the data set has the variables and the coordinates of their dimensions alone, and the second
/// value is the error about the others.
pub(super) fn open(
    group: &Group,
    names: &[&str],
    options: &DatasetOptions,
) -> Result<(Dataset, Option<zarr::Error>), zarr::Error> {
    match Dataset::open_with(group, options) {
        Err(error) if !names.is_empty() => match Dataset::open_variables(group, names, options) {
            Ok(dataset) => Ok((dataset, Some(error))),
            // The error about a name that is wrong helps more than that about another array.
            Err(own) if own.is_not_found() => Err(own),
            Err(_) => Err(error),
        },
        found => Ok((found?, None)),
    }
}

/// Returns the names of the dimensions of some variables, or of all variables if there are no names.
pub(super) fn dimensions_of(dataset: &Dataset, names: &[String]) -> Result<Vec<String>> {
    let variables: Vec<&Variable> = match names {
        [] => dataset.variables().collect(),
        names => names.iter().map(|name| dataset.variable(name)).collect::<Result<_, _>>()?,
    };
    let mut found: Vec<String> = Vec::new();
    for dimension in variables.into_iter().flat_map(Variable::dimensions) {
        if found.iter().all(|known| known != dimension) {
            found.push(dimension.to_owned());
        }
    }
    Ok(found)
}

/// Returns the error of a coordinate that cannot be opened, if its labels are selected.
pub(super) fn broken_coordinate(dataset: &Dataset, text: &str) -> Result<()> {
    let Some((name, _)) = text.split_once('=') else { return Ok(()) };
    match dataset.fault(name.trim()) {
        None => Ok(()),
        Some(error) => {
            let mut failure = Failure::data("coordinate", format!("coordinate {}: {error}", name.trim()));
            failure.exit = Exit::Data;
            Err(failure.with_hint("--isel selects by index"))
        }
    }
}

/// Checks that labels of the dimensions of the variables `names` can be opened where there are any: a column would have indices in their
/// place.
pub(super) fn check_labels(dataset: &Dataset, names: &[String]) -> Result<()> {
    for name in dimensions_of(dataset, names)? {
        if let Some(error) = dataset.fault(&name) {
            let mut failure = Failure::from(error);
            failure.line = format!("coordinate {name}: {}", failure.line);
            let hint = format!("--isel {name}=0 takes one index of {name}, for which a table needs no labels");
            return Err(failure.with_hint(hint));
        }
    }
    Ok(())
}

/// Returns why arrays that could be columns beside the variables `names` are left out: the coordinates that the group or a variable names
/// and those of the dimensions `before`, which the variables had before a selection; or all arrays if there are no names.
pub(super) fn left_out(dataset: &Dataset, names: &[String], before: &[String]) -> Result<Vec<String>> {
    let text = |error: &zarr::Error| format!("left out, for it cannot be opened: {error}");
    if names.is_empty() {
        return Ok(dataset.faults().map(text).collect());
    }
    let mut named: BTreeSet<String> = before.iter().cloned().collect();
    let group = dataset.group().attributes().ok();
    let variables = dataset.variables().filter_map(|variable| variable.stored().attributes().ok());
    for attributes in group.into_iter().chain(variables) {
        let coordinates = attributes.get("coordinates").and_then(Value::as_str).unwrap_or_default();
        named.extend(coordinates.split_whitespace().map(str::to_owned));
    }
    Ok(named.iter().filter_map(|name| dataset.fault(name)).map(text).collect())
}
