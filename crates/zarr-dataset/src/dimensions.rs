//! Names of the dimensions of arrays, and their sizes, on which all arrays of a group must agree.

use crate::attribute::invalid;
use crate::{Error, ErrorKind, Result};
use std::collections::BTreeMap;
use zarr_array::Array;
use zarr_json::{Map, Value};

/// Dimension of a data set.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Dimension {
    /// Name of the dimension.
    pub name: String,
    /// Number of elements along the dimension.
    pub size: u64,
    /// Whether the dimension may grow, according to NCZarr.
    pub is_unlimited: bool,
}

/// Axis of a stored array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Axis {
    /// Dimension of the given name.
    Named(String),
    /// Single element of a scalar of NCZarr, which has no dimensions.
    Scalar,
    /// Characters of strings.
    Characters,
}

/// Attribute with the names of dimensions in Zarr v2, as xarray writes it.
pub(crate) const ARRAY_DIMENSIONS: &str = "_ARRAY_DIMENSIONS";

/// Returns the axes of an array. Dimensions without names are numbered (`dim_0`) if `number_dimensions`, and an error otherwise.
///
/// # Errors
/// [`ErrorKind::InvalidMetadata`] if dimensions have no names and are not numbered, with the attribute that should have the names.
pub(crate) fn axes(array: &Array, number_dimensions: bool) -> Result<Vec<Axis>> {
    let rank = array.shape().len();
    if is_scalar_of_nczarr(array) {
        return Ok(vec![Axis::Scalar]);
    }
    let names = array.dimension_names().filter(|names| names.len() == rank && names.iter().all(Option::is_some));
    if let Some(names) = names {
        let names = names.iter().flatten().cloned();
        return Ok(names.map(Axis::Named).collect());
    }
    if rank == 0 || number_dimensions {
        let known = |axis: usize| array.dimension_names().and_then(|names| names.get(axis).cloned().flatten());
        return Ok((0..rank).map(|axis| Axis::Named(known(axis).unwrap_or_else(|| format!("dim_{axis}")))).collect());
    }
    let expected = format!("a list of {rank} names of dimensions");
    let hint = "names can be numbered: dim_0, dim_1...";
    if array.dialect().has_dimension_names() {
        let found = array.dimension_names().map_or_else(
            || "none".to_owned(),
            |names| {
                Value::from(
                    names.iter().map(|name| name.as_deref().map_or(Value::Null, Value::from)).collect::<Vec<_>>(),
                )
                .excerpt()
            },
        );
        let error = Error::new(ErrorKind::InvalidMetadata, format!("found {found}, expected {expected}"));
        return Err(error.at(|location| location.pointer = Some("/dimension_names".to_owned())).with_hint(hint));
    }
    let found = array.attributes()?.get(ARRAY_DIMENSIONS).map_or_else(|| "none".to_owned(), Value::excerpt);
    Err(invalid(ARRAY_DIMENSIONS, &found, &expected).with_hint(hint))
}

/// Whether NCZarr says that the array, of one element, is a scalar.
fn is_scalar_of_nczarr(array: &Array) -> bool {
    let metadata = array.metadata();
    let members = [
        (&metadata.attributes, "_nczarr_array"),
        (&metadata.extra, "_nczarr_array"),
        (&metadata.extra, "_NCZARR_ARRAY"),
    ];
    let member = members.into_iter().find_map(|(map, name)| map.get(name));
    let is_scalar = member.is_some_and(|member| {
        member.get("storage").and_then(Value::as_str) == Some("scalar")
            || member.get("scalar").and_then(Value::as_u64) == Some(1)
    });
    is_scalar && array.shape() == [1]
}

/// Returns the attributes of the user: without those of xarray and NCZarr. `_ARRAY_DIMENSIONS` is left out only if documents of `dialect`
/// have no names of dimensions.
pub(crate) fn of_user(attributes: &Map, dialect: zarr_meta::Dialect) -> Map {
    let is_internal = |name: &str| {
        (name == ARRAY_DIMENSIONS && !dialect.has_dimension_names())
            || name.get(..3).is_some_and(|start| start.eq_ignore_ascii_case("_nc"))
    };
    let kept = attributes.iter().filter(|(name, _)| !is_internal(name));
    Map::from_unique(kept.map(|(name, value)| (name.to_owned(), value.clone())))
}

/// Returns the dimensions that NCZarr lists in a group, including dimensions that no variable has.
pub(crate) fn listed(attributes: &Map, extra: &Map) -> Vec<Dimension> {
    let members = [(attributes, "_nczarr_group"), (extra, "_nczarr_group"), (extra, "_NCZARR_GROUP")];
    let lists = members.into_iter().find_map(|(map, name)| map.get(name));
    let lists =
        lists.and_then(|group| group.get("dimensions").or_else(|| group.get("dims"))).and_then(Value::as_object);
    let dimension = |(name, value): (&str, &Value)| {
        let size = value.as_u64().or_else(|| value.get("size")?.as_u64())?;
        let is_unlimited =
            value.get("unlimited").is_some_and(|flag| flag.as_u64() == Some(1) || flag.as_bool() == Some(true));
        Some(Dimension { name: name.to_owned(), size, is_unlimited })
    };
    lists.into_iter().flat_map(Map::iter).filter_map(dimension).collect()
}

/// Sizes of the dimensions of all arrays that were added.
#[derive(Debug, Default)]
pub(crate) struct Sizes {
    /// Order of appearance, size, and first array with the dimension; by the name of the dimension.
    known: BTreeMap<String, (usize, u64, String)>,
}

impl Sizes {
    /// Adds the dimensions of the array of `variable`.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidMetadata`] if a dimension has two sizes.
    pub(crate) fn add(&mut self, variable: &str, axes: &[Axis], shape: &[u64]) -> Result<()> {
        for (axis, &size) in axes.iter().zip(shape) {
            let Axis::Named(name) = axis else { continue };
            let next = self.known.len();
            let (_, known, owner) = self.known.entry(name.clone()).or_insert_with(|| (next, size, variable.to_owned()));
            if *known != size {
                let message = format!("dimension {name} has {size} elements in {variable}, but {known} in {owner}");
                return Err(Error::new(ErrorKind::InvalidMetadata, message));
            }
        }
        Ok(())
    }

    /// Returns the dimensions in the order of appearance, followed by dimensions that only the group lists.
    pub(crate) fn finish(self, listed: &[Dimension]) -> Vec<Dimension> {
        let mut dimensions: Vec<(usize, Dimension)> = self
            .known
            .into_iter()
            .map(|(name, (order, size, _))| {
                let is_unlimited = listed.iter().any(|dimension| dimension.name == name && dimension.is_unlimited);
                (order, Dimension { name, size, is_unlimited })
            })
            .collect();
        dimensions.sort_by_key(|(order, _)| *order);
        let mut dimensions: Vec<Dimension> = dimensions.into_iter().map(|(_, dimension)| dimension).collect();
        for dimension in listed {
            if dimensions.iter().all(|known| known.name != dimension.name) {
                dimensions.push(dimension.clone());
            }
        }
        dimensions
    }
}
