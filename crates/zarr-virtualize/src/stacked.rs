//! Variables of several files one behind the other along a dimension that no file has.

use std::collections::BTreeSet;
use std::sync::Arc;

use zarr_array::{Options, Registry};
use zarr_compare::{ArrayDigest, DigestOptions};
use zarr_dtype::DataType;
use zarr_grid::ChunkGrid;
use zarr_hierarchy::{Error, Result};
use zarr_json::nearest_name;
use zarr_meta::{ArrayMetadata, NodePath};

use crate::nodes::{FileArray, FileNodes};
use crate::rules::refused;

/// Attributes that name other variables, which are coordinates or belong to one.
const NAMING: [&str; 4] = ["coordinates", "bounds", "climatology", "grid_mapping"];

/// Whether no variable of the file has the dimension.
///
/// # Errors
/// If one has a dimension of nearly that name, which may be meant.
pub(crate) fn is_new(file: &FileNodes<'_>, dimension: &str) -> Result<bool> {
    if file.arrays.values().any(|array| array.axis(dimension).is_some()) {
        return Ok(false);
    }
    let names = file.arrays.values().filter_map(|array| array.metadata.dimension_names.as_ref());
    let names: BTreeSet<&str> = names.flatten().flatten().map(String::as_str).collect();
    let Some(near) = nearest_name(dimension, names.iter().copied()) else { return Ok(true) };
    let known: Vec<&str> = names.into_iter().collect();
    let message = format!("found no variable with the dimension {dimension:?}, expected one of {}", known.join(", "));
    let error = Error::argument(message).at(|location| location.store = Some(file.input.name.clone()));
    Err(error.with_hint(format!("is {near:?} meant? a new dimension has a name that is less like those of the files")))
}

/// Gives variables of each file the dimension, before all others and of length 1: all but the coordinates of dimensions, and coordinates and
/// their bounds that are the same in each file.
pub(crate) fn stack(
    files: &mut [FileNodes<'_>],
    dimension: &str,
    registry: &Arc<Registry>,
    options: &Options,
) -> Result<()> {
    let Some(first) = files.first() else { return Ok(()) };
    let mut stacked = Vec::new();
    for (path, array) in &first.arrays {
        let is_same = || are_same(files, path, registry, options);
        let stays = array.is_dimension_coordinate() || (is_named(first, path) && is_same()?);
        if !stays {
            stacked.push(path.clone());
        }
    }
    for file in files {
        let name = file.input.name.clone();
        for path in &stacked {
            let Some(array) = file.arrays.get_mut(path) else { continue };
            extend(array, dimension).map_err(|what| refused(&name, path, what))?;
        }
    }
    Ok(())
}

/// Whether another variable of the group names this one as a coordinate, or as what belongs to one.
fn is_named(file: &FileNodes<'_>, path: &NodePath) -> bool {
    let names = |array: &FileArray<'_>| {
        let values = NAMING.into_iter().filter_map(|name| array.metadata.attributes.get(name)?.as_str());
        values.flat_map(str::split_whitespace).any(|name| Some(name.trim_end_matches(':')) == path.name())
    };
    file.arrays.iter().any(|(other, array)| other.parent() == path.parent() && names(array))
}

/// Whether a variable has the same elements in each file.
fn are_same(files: &[FileNodes<'_>], path: &NodePath, registry: &Arc<Registry>, options: &Options) -> Result<bool> {
    let mut expected = None;
    for file in files {
        let Some(array) = file.arrays.get(path) else { return Ok(false) };
        let array = file.open(array, registry, options)?;
        let hash = ArrayDigest::of(&array, &DigestOptions::default(), |_| {})?.hash;
        if *expected.get_or_insert(hash) != hash {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Gives an array an axis of length 1 before all others, which changes no byte of its chunks.
fn extend(array: &mut FileArray<'_>, dimension: &str) -> Result<(), String> {
    if !keeps_order(&array.metadata) {
        let codec = array.metadata.codecs.first().map(|codec| codec.name.clone()).unwrap_or_default();
        return Err(format!(
            "found the codec {codec}, expected elements in the order of their indices, whose chunks have the new dimension {dimension} too"
        ));
    }
    let Some(chunk) = array.chunk_shape() else {
        return Err("found chunks of several lengths, expected a regular grid".to_owned());
    };
    let longer = |shape: &[u64]| [&[1], shape].concat();
    let (shape, chunk) = (longer(&array.metadata.shape), longer(chunk));
    array.grid = ChunkGrid::regular(&shape, &chunk).map_err(|error| error.to_string())?;
    array.metadata.chunk_grid = array.grid.to_config();
    let names = array.metadata.dimension_names.take().unwrap_or_else(|| vec![None; array.metadata.shape.len()]);
    array.metadata.dimension_names = Some([Some(dimension.to_owned())].into_iter().chain(names).collect());
    array.metadata.shape = shape;
    array.is_stacked = true;
    Ok(())
}

/// Whether chunks have their elements in C order, as bytes or one behind the other, so that an axis of length 1 changes nothing.
fn keeps_order(metadata: &ArrayMetadata) -> bool {
    let is_variable = DataType::from_config(&metadata.data_type).is_ok_and(|data_type| data_type.is_variable());
    match metadata.codecs.as_slice() {
        [first, ..] if first.name == "bytes" => true,
        // The one codec that makes bytes of elements of any length.
        [_] => is_variable,
        _ => false,
    }
}
