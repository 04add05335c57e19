//! Conventions laid over version 2: dimension names by xarray and by NCZarr.
//!
//! Version 2 has no dimension names of its own. xarray stores them as an attribute:
//!
//! ```json
//! {"_ARRAY_DIMENSIONS": ["time", "lat", "lon"]}
//! ```
//!
//! NCZarr (netCDF-C) names dimensions by path, in members of `.zarray` or `.zattrs` that changed their names over time:
//! `_NCZARR_ARRAY {"dimrefs": ["/y", "/x"]}` before 4.9.3, `_nczarr_array {"dimension_references": ["/y", "/x"]}` since.
//! The attributes stay as they are stored.

use crate::json::{Map, Value};
use crate::{ArrayMetadata, Dialect};

/// The attribute by which xarray names dimensions in version 2.
pub const ARRAY_DIMENSIONS: &str = "_ARRAY_DIMENSIONS";

/// Where dimension names come from if not from the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Convention {
    /// The attribute `_ARRAY_DIMENSIONS`.
    Xarray,
    /// The dimension references of NCZarr.
    NcZarr,
}

/// The dimension names that an array of version 2 with these attributes and further members of `.zarray` has by
/// convention; `None` if there are none or not one for each of the `rank` dimensions.
pub fn dimension_names(attributes: &Map, extra: &Map, rank: usize) -> Option<(Vec<String>, Convention)> {
    let fits = |names: &Vec<String>| names.len() == rank;
    let xarray = attributes.get(ARRAY_DIMENSIONS).and_then(texts).filter(fits);
    if let Some(names) = xarray {
        return Some((names, Convention::Xarray));
    }
    let references = [(attributes, "_nczarr_array"), (extra, "_nczarr_array"), (extra, "_NCZARR_ARRAY")]
        .into_iter()
        .filter_map(|(map, name)| map.get(name))
        .find_map(|array| array.get("dimension_references").or_else(|| array.get("dimrefs")))
        .and_then(texts)
        .filter(fits)?;
    let last = |path: String| path.rsplit('/').next().unwrap_or_default().to_owned();
    Some((references.into_iter().map(last).collect(), Convention::NcZarr))
}

/// Whether arrays of the dialect have dimension names by convention, since it has none of its own.
pub(crate) const fn hold_in(dialect: Dialect) -> bool {
    !matches!(dialect, Dialect::V3Of2023 | Dialect::V3)
}

/// Sets the dimension names of an array of version 2 to what its attributes now say.
///
/// To be called after its attributes were changed: the names are not stored elsewhere.
pub fn refresh(array: &mut ArrayMetadata) -> Option<Convention> {
    let found = dimension_names(&array.attributes, &array.extra, array.shape.len());
    let (names, convention) = found.map_or((None, None), |(names, convention)| (Some(names), Some(convention)));
    array.dimension_names = names.map(|names| names.into_iter().map(Some).collect());
    convention
}

fn texts(list: &Value) -> Option<Vec<String>> {
    list.as_array()?.iter().map(|item| item.as_str().map(str::to_owned)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    fn names(attributes: Value, extra: Value, rank: usize) -> Option<(Vec<String>, Convention)> {
        dimension_names(attributes.as_object().unwrap(), extra.as_object().unwrap(), rank)
    }

    #[test]
    fn every_spelling() {
        let yx = || vec!["y".to_owned(), "x".to_owned()];
        let xarray = json!({"_ARRAY_DIMENSIONS": ["y", "x"]});
        assert_eq!(names(xarray.clone(), json!({}), 2), Some((yx(), Convention::Xarray)));
        assert_eq!(names(xarray, json!({}), 1), None);
        let new = json!({"_nczarr_array": {"dimension_references": ["/g/y", "/x"], "storage": "chunked"}});
        assert_eq!(names(new, json!({}), 2), Some((yx(), Convention::NcZarr)));
        let old = json!({"_NCZARR_ARRAY": {"dimrefs": ["/y", "/x"], "storage": "chunked"}});
        assert_eq!(names(json!({}), old, 2), Some((yx(), Convention::NcZarr)));
        assert_eq!(names(json!({"_ARRAY_DIMENSIONS": ["y", 1]}), json!({}), 2), None);
        assert_eq!(names(json!({}), json!({}), 0), None);
    }
}
