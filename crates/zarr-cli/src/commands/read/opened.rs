//! Data sets of which variables are read: how they are opened, and coordinates of them that cannot be opened.

use crate::failure::{Exit, Failure, Result};
use zarr::Group;
use zarr::dataset::{Dataset, DatasetOptions};
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

/// Returns the names of the dimensions of some variables, or of the whole data set if there are no names.
pub(super) fn dimensions_of(dataset: &Dataset, names: &[String]) -> Result<Vec<String>> {
    if names.is_empty() {
        return Ok(dataset.dimensions().iter().map(|dimension| dimension.name.clone()).collect());
    }
    let mut found: Vec<String> = Vec::new();
    for name in names {
        for dimension in dataset.variable(name)?.dimensions() {
            if found.iter().all(|known| known != dimension) {
                found.push(dimension.to_owned());
            }
        }
    }
    Ok(found)
}

/// Returns why the array called `name` is no variable of a data set; `None` if it is one, or if there is none.
pub(super) fn fault_of<'d>(dataset: &'d Dataset, name: &str) -> Option<&'d zarr::Error> {
    let is_it = |error: &&zarr::Error| {
        let path = error.location().path.as_deref();
        path.and_then(|path| path.rsplit('/').next()) == Some(name)
    };
    dataset.broken().iter().find(is_it)
}

/// Returns the error of a coordinate that cannot be opened, if its labels are selected.
pub(super) fn broken_coordinate(dataset: &Dataset, text: &str) -> Result<()> {
    let Some((name, _)) = text.split_once('=') else { return Ok(()) };
    match fault_of(dataset, name.trim()) {
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
        let has_labels = dataset.variables().any(|variable| variable.name() == name);
        if let Some(error) = fault_of(dataset, &name).filter(|_| !has_labels) {
            let mut failure = Failure::from(error);
            failure.line = format!("coordinate {name}: {}", failure.line);
            let hint = format!("--isel {name}=0 takes one index of {name}, for which a table needs no labels");
            return Err(failure.with_hint(hint));
        }
    }
    Ok(())
}

/// Returns why arrays that would be columns beside the variables `names` are left out: coordinates that these name, or all arrays if there
/// are no names.
pub(super) fn left_out(dataset: &Dataset, names: &[String]) -> Result<Vec<String>> {
    let text = |error: &zarr::Error| format!("left out, for it cannot be opened: {error}");
    if names.is_empty() {
        return Ok(dataset.broken().iter().map(text).collect());
    }
    let mut found = Vec::new();
    for name in names {
        let attributes = dataset.variable(name)?.stored().attributes()?;
        let coordinates = attributes.get("coordinates").and_then(Value::as_str).unwrap_or_default();
        found.extend(coordinates.split_whitespace().filter_map(|name| fault_of(dataset, name)).map(text));
    }
    found.sort();
    found.dedup();
    Ok(found)
}
