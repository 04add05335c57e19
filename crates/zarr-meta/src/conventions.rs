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
//! A scalar of NCZarr is stored as one element of a dimension `_scalar_`, to which nothing refers. The attributes stay as they are stored.
//!
//! To xarray the fill value of version 2 marks missing data, in version 3 the attribute `_FillValue` does: see
//! [`missing_data()`]. Drafts of version 3 are read in one way or the other: see [`Dialect::fill_value_marks_missing`].

pub(crate) mod missing_data;

pub use missing_data::{missing_data, missing_data_difference};
pub use zarr_cf::fill::FILL_VALUE;

use crate::{ArrayMetadata, Dialect, GroupMetadata};
use zarr_json::{Map, Value};

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

/// Which convention a conversion takes nodes to follow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Conventions {
    /// The one by which the dimensions of an array are named.
    #[default]
    Detect,
    /// None.
    Ignore,
    /// This one.
    Assume(Convention),
}

/// Dimension names by a convention.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Named {
    /// The names, one for each dimension, and the convention that they come from.
    pub(crate) names: Option<(Vec<String>, Convention)>,
    /// The fault of the attribute [`ARRAY_DIMENSIONS`], if it is there and names no dimensions.
    pub(crate) deviation: Option<String>,
}

/// The dimension names that an array of version 2 with these attributes and further members of `.zarray` has by
/// convention; `None` if there are none or not one for each of the `rank` dimensions.
pub fn dimension_names(attributes: &Map, extra: &Map, rank: usize) -> Option<(Vec<String>, Convention)> {
    named(attributes, extra, rank, Convention::Xarray).names
}

/// The same with the reason why the attribute names no dimensions. `first`: the convention that counts where there are names by
/// both.
fn named(attributes: &Map, extra: &Map, rank: usize, first: Convention) -> Named {
    let mut named = Named::default();
    match attributes.get(ARRAY_DIMENSIONS).map(|attribute| names_of(attribute, rank)) {
        Some(Ok(names)) => named.names = Some((names, Convention::Xarray)),
        Some(Err(deviation)) => named.deviation = Some(deviation),
        None => {}
    }
    if named.names.is_none() || first == Convention::NcZarr {
        let references = references(attributes, extra, rank).map(|names| (names, Convention::NcZarr));
        named.names = references.or(named.names);
    }
    named
}

/// The names in the attribute [`ARRAY_DIMENSIONS`], or why it has none.
fn names_of(attribute: &Value, rank: usize) -> Result<Vec<String>, String> {
    let no = |found: String| Err(format!("{found}, expected a name for each of {rank} dimensions; it names none"));
    match (attribute.as_array(), texts(attribute)) {
        (None, _) => no(attribute.excerpt()),
        (Some(_), None) => no(attribute.excerpt()),
        (Some(_), Some(names)) if names.len() != rank => no(format!("{} names", names.len())),
        (Some(_), Some(names)) => Ok(names),
    }
}

/// The dimension that netCDF-C gives the one element of a scalar, where it names dimensions for xarray as well.
const SCALAR: &str = "_scalar_";

/// The paths of the dimensions that NCZarr names for an array, such as `/group/x`: of dimension `x` of the group `/group`. `None` if it
/// names none, or not one for each dimension.
pub fn dimension_references(attributes: &Map, extra: &Map, rank: usize) -> Option<Vec<String>> {
    let (_, references) = referred(attributes, extra)?;
    texts(references).filter(|references| references.len() == rank)
}

/// The last names in the dimension references of NCZarr.
fn references(attributes: &Map, extra: &Map, rank: usize) -> Option<Vec<String>> {
    let (array, references) = referred(attributes, extra)?;
    let references = texts(references)?;
    if references.is_empty() && rank == 1 && is_scalar(array) {
        return Some(vec![SCALAR.to_owned()]);
    }
    let last = |path: String| path.rsplit('/').next().unwrap_or_default().to_owned();
    (references.len() == rank).then(|| references.into_iter().map(last).collect())
}

/// The member of NCZarr of an array, and its dimension references.
fn referred<'m>(attributes: &'m Map, extra: &'m Map) -> Option<(&'m Value, &'m Value)> {
    let members = [(attributes, "_nczarr_array"), (extra, "_nczarr_array"), (extra, "_NCZARR_ARRAY")];
    let mut found = members.into_iter().filter_map(|(map, name)| map.get(name));
    found.find_map(|array| Some((array, array.get("dimension_references").or_else(|| array.get("dimrefs"))?)))
}

/// Whether a member of NCZarr says that its array is a scalar.
fn is_scalar(array: &Value) -> bool {
    array.get("storage").and_then(Value::as_str) == Some("scalar")
        || array.get("scalar").and_then(Value::as_u64) == Some(1)
}

/// Whether a member or an attribute of this name is netCDF-C's own: `_NCZARR_ATTR`, `_nczarr_array`...
pub(crate) fn is_nczarr(name: &str) -> bool {
    name.get(..7).is_some_and(|start| start.eq_ignore_ascii_case("_nczarr"))
}

/// Whether arrays of the dialect have dimension names by convention, since it has none of its own.
pub(crate) fn hold_in(dialect: Dialect) -> bool {
    !dialect.has_dimension_names()
}

/// Sets the dimension names of an array of version 2 to the names in its attributes.
///
/// To be called after its attributes were changed: the names are not stored elsewhere.
pub fn refresh(array: &mut ArrayMetadata) -> Option<Convention> {
    set_names(array, Convention::Xarray).0
}

/// As [`refresh`], with the names by `first` if there are names by several conventions.
pub fn refresh_by(array: &mut ArrayMetadata, first: Convention) -> Option<Convention> {
    set_names(array, first).0
}

/// Sets the dimension names of an array that is read, and returns where they come from, and what is wrong with the attribute
/// [`ARRAY_DIMENSIONS`].
pub(crate) fn read_names(array: &mut ArrayMetadata) -> (Option<Convention>, Option<String>) {
    set_names(array, Convention::Xarray)
}

fn set_names(array: &mut ArrayMetadata, first: Convention) -> (Option<Convention>, Option<String>) {
    let Named { names, deviation } = named(&array.attributes, &array.extra, array.shape.len(), first);
    let (names, convention) = names.map_or((None, None), |(names, convention)| (Some(names), Some(convention)));
    array.dimension_names = names.map(|names| names.into_iter().map(Some).collect());
    (convention, deviation)
}

/// Adds the node `name` to the lists that NCZarr keeps of the nodes in a group, or takes it out. Whether that changes something; it
/// does not where the group has no such lists.
pub fn list_child(group: &mut GroupMetadata, name: &str, is_array: bool, is_there: bool) -> bool {
    let mut changed = false;
    for (map, member) in [(&mut group.attributes, "_nczarr_group"), (&mut group.extra, "_NCZARR_GROUP")] {
        let Some(Value::Object(lists)) = map.get(member) else { continue };
        let mut changed_lists = lists.clone();
        // A node that is there is none of the other kind.
        let of_other_kind = is_there.then_some((!is_array, false));
        for (of_arrays, is_listed) in std::iter::once((is_array, is_there)).chain(of_other_kind) {
            let Some((list, items)) = list_of(lists, of_arrays) else { continue };
            let mut items = items.to_vec();
            match (items.iter().position(|item| item.as_str() == Some(name)), is_listed) {
                (None, true) => items.push(Value::from(name)),
                (Some(index), false) => drop(items.remove(index)),
                _ => continue,
            }
            changed_lists.insert(list, items);
        }
        if changed_lists == *lists {
            continue;
        }
        let lists = changed_lists;
        map.insert(member, lists);
        changed = true;
    }
    changed
}

/// Gives a dimension that NCZarr lists in a group with the length `before` another one. Whether that changes something; it does not where
/// the group lists no such dimension.
pub fn resize_dimension(group: &mut GroupMetadata, name: &str, before: u64, now: u64) -> bool {
    let GroupMetadata { attributes, extra, .. } = group;
    let mut changed = false;
    for (map, member) in [(attributes, "_nczarr_group"), (&mut *extra, "_NCZARR_GROUP")] {
        let Some(Value::Object(lists)) = map.get(member) else { continue };
        let mut lists = lists.clone();
        for list in ["dimensions", "dims"] {
            let Some(Value::Object(dimensions)) = lists.get(list) else { continue };
            let mut dimensions = dimensions.clone();
            // Old versions have the length alone.
            match dimensions.get(name) {
                Some(Value::Object(members)) if members.get("size").and_then(Value::as_u64) == Some(before) => {
                    let mut members = members.clone();
                    members.insert("size", now);
                    dimensions.insert(name, members);
                }
                Some(length) if length.as_u64() == Some(before) => {
                    dimensions.insert(name, now);
                }
                _ => continue,
            }
            lists.insert(list, dimensions);
            changed = true;
        }
        map.insert(member, lists);
    }
    changed
}

/// Whether NCZarr lists a dimension of this name and length in a group.
pub fn lists_dimension(group: &GroupMetadata, name: &str, len: u64) -> bool {
    let maps = [group.attributes.get("_nczarr_group"), group.extra.get("_NCZARR_GROUP")];
    let lists = maps.into_iter().flatten().flat_map(|lists| [lists.get("dimensions"), lists.get("dims")]);
    let mut known = lists.flatten().filter_map(|dimensions| dimensions.get(name));
    known.any(|dimension| dimension.as_u64().or_else(|| dimension.get("size")?.as_u64()) == Some(len))
}

/// The lists that NCZarr keeps of the nodes in a group: each of arrays or (if not `is_array`) of groups, with the names in it.
pub fn child_lists(group: &GroupMetadata) -> Vec<(bool, Vec<&str>)> {
    let maps = [group.attributes.get("_nczarr_group"), group.extra.get("_NCZARR_GROUP")];
    let lists = maps.into_iter().flatten().filter_map(Value::as_object);
    let of = |lists, is_array| list_of(lists, is_array).map(|(_, items)| (is_array, items));
    let both = lists.flat_map(|lists| [of(lists, true), of(lists, false)]).flatten();
    both.map(|(is_array, items)| (is_array, items.iter().filter_map(Value::as_str).collect())).collect()
}

/// The list of arrays, or else of groups, with its name: old versions have other ones.
fn list_of(lists: &Map, is_array: bool) -> Option<(&'static str, &[Value])> {
    let names: &[&'static str] = if is_array { &["arrays", "vars"] } else { &["groups"] };
    names.iter().find_map(|name| Some((*name, lists.get(name)?.as_array()?)))
}

fn texts(list: &Value) -> Option<Vec<String>> {
    list.as_array()?.iter().map(|item| item.as_str().map(str::to_owned)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use zarr_json::json;

    fn names(attributes: Value, extra: Value, rank: usize) -> Option<(Vec<String>, Convention)> {
        dimension_names(attributes.as_object().unwrap(), extra.as_object().unwrap(), rank)
    }

    #[test]
    fn dimensions_of_a_group_get_other_lengths() {
        let attributes =
            json!({"_nczarr_group": {"dimensions": {"x": {"size": 4, "unlimited": 1}, "y": 4}, "arrays": []}});
        let extra = json!({"_NCZARR_GROUP": {"dims": {"x": 4}}});
        let mut group = GroupMetadata {
            attributes: attributes.as_object().unwrap().clone(),
            extra: extra.as_object().unwrap().clone(),
            ..GroupMetadata::default()
        };
        assert!(!resize_dimension(&mut group, "x", 5, 2) && !resize_dimension(&mut group, "z", 4, 2));
        let listed = [("x", 4), ("x", 5), ("y", 4), ("z", 4)].map(|(name, len)| lists_dimension(&group, name, len));
        assert_eq!(listed, [true, false, true, false]);
        assert!(resize_dimension(&mut group, "x", 4, 2));
        let expected =
            json!({"_nczarr_group": {"dimensions": {"x": {"size": 2, "unlimited": 1}, "y": 4}, "arrays": []}});
        assert_eq!(&group.attributes, expected.as_object().unwrap());
        assert_eq!(&group.extra, json!({"_NCZARR_GROUP": {"dims": {"x": 2}}}).as_object().unwrap());
    }

    #[test]
    fn lists_of_a_group() {
        let attributes = json!({"_nczarr_group": {"dimensions": {}, "arrays": ["a"], "groups": []}});
        let extra = json!({"_NCZARR_GROUP": {"dims": {}, "vars": [], "groups": ["g"]}});
        let mut group = GroupMetadata {
            attributes: attributes.as_object().unwrap().clone(),
            extra: extra.as_object().unwrap().clone(),
            ..GroupMetadata::default()
        };
        assert!(list_child(&mut group, "b", true, true) && list_child(&mut group, "g", false, false));
        let lists = (group.attributes.get("_nczarr_group").unwrap(), group.extra.get("_NCZARR_GROUP").unwrap());
        assert_eq!(lists.0.to_string(), r#"{"dimensions":{},"arrays":["a","b"],"groups":[]}"#);
        assert_eq!(lists.1.to_string(), r#"{"dims":{},"vars":["b"],"groups":[]}"#);
        assert!(!list_child(&mut group, "b", true, true) && !list_child(&mut group, "x", false, false));
        assert!(!list_child(&mut GroupMetadata::default(), "b", true, true));
        let all = [(true, vec!["a", "b"]), (false, vec![]), (true, vec!["b"]), (false, vec![])];
        assert_eq!(child_lists(&group), all);
        assert!(child_lists(&GroupMetadata::default()).is_empty());
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
        let paths = |attributes: Value| dimension_references(attributes.as_object().unwrap(), &Map::new(), 2);
        let new = json!({"_nczarr_array": {"dimension_references": ["/g/y", "/x"]}});
        assert_eq!(paths(new), Some(vec!["/g/y".to_owned(), "/x".to_owned()]));
        assert_eq!(paths(json!({"_nczarr_array": {"dimension_references": ["/x"]}})), None);
        assert_eq!(names(json!({"_ARRAY_DIMENSIONS": ["y", 1]}), json!({}), 2), None);
        assert_eq!(names(json!({}), json!({}), 0), None);
    }
}
