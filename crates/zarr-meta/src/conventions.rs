//! Dimension names of version 2 by the conventions of xarray and NCZarr.
//!
//! Version 2 has no dimension names of its own. xarray stores them as an attribute:
//!
//! ```json
//! {"_ARRAY_DIMENSIONS": ["time", "lat", "lon"]}
//! ```
//!
//! NCZarr (netCDF-C) names dimensions by path, in a member of `.zarray` or `.zattrs` whose name changed over time: `_NCZARR_ARRAY
//! {"dimrefs": ["/y", "/x"]}` before 4.9.3, `_nczarr_array {"dimension_references": ["/y", "/x"]}` since. NCZarr stores a scalar as an
//! array of one element with the dimension `_scalar_`, which `dimrefs` does not list. The attributes are not changed.
//!
//! xarray takes the fill value of version 2 as the mark of missing data, but in version 3 the attribute `_FillValue`: see
//! [`missing_data()`]. For the drafts of version 3 see [`Dialect::fill_value_marks_missing`].

pub(crate) mod missing_data;

pub use missing_data::{missing_data, missing_data_difference};
pub use zarr_cf::fill::FILL_VALUE;

use crate::{ArrayMetadata, Dialect, GroupMetadata};
use zarr_json::{Map, Value};

/// Attribute in which xarray stores the dimension names of a version 2 array.
pub const ARRAY_DIMENSIONS: &str = "_ARRAY_DIMENSIONS";

/// Convention that gives dimension names to arrays of formats without dimension names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Convention {
    /// Convention of xarray: the attribute `_ARRAY_DIMENSIONS` names the dimensions.
    Xarray,
    /// Convention of NCZarr: dimension references in the NCZarr member name the dimensions.
    NcZarr,
}

/// Choice of the convention that a conversion assumes for nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Conventions {
    /// Convention that names the dimensions of the array, detected for each array.
    #[default]
    Detect,
    /// No convention: dimension names are not looked for.
    Ignore,
    /// Given convention for all arrays.
    Assume(Convention),
}

/// Result of the search for dimension names by a convention.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Named {
    /// Dimension names, one for each dimension, and their convention; `None` if no convention names all dimensions.
    pub(crate) names: Option<(Vec<String>, Convention)>,
    /// Description of the fault if the attribute [`ARRAY_DIMENSIONS`] exists but names no dimensions.
    pub(crate) deviation: Option<String>,
}

/// Returns the dimension names of a version 2 array by convention, from its `attributes` and the further members `extra` of its `.zarray`;
/// `None` if there is not exactly one name for each of the `rank` dimensions.
pub fn dimension_names(attributes: &Map, extra: &Map, rank: usize) -> Option<(Vec<String>, Convention)> {
    named(attributes, extra, rank, Convention::Xarray).names
}

/// Finds the dimension names of an array by convention, and the fault of [`ARRAY_DIMENSIONS`] if there is one. If both conventions give
/// names, those of `first` count.
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

/// Returns the dimension names in the value of [`ARRAY_DIMENSIONS`], or a description of why the value names none.
fn names_of(attribute: &Value, rank: usize) -> Result<Vec<String>, String> {
    let no = |found: String| Err(format!("{found}, expected a name for each of {rank} dimensions; it names none"));
    match (attribute.as_array(), texts(attribute)) {
        (None, _) => no(attribute.excerpt()),
        (Some(_), None) => no(attribute.excerpt()),
        (Some(_), Some(names)) if names.len() != rank => no(format!("{} names", names.len())),
        (Some(_), Some(names)) => Ok(names),
    }
}

/// Name of the dimension that netCDF-C gives to the one element of a scalar if it also names dimensions for xarray.
const SCALAR: &str = "_scalar_";

/// Returns the paths of an array's dimensions as NCZarr stores them, such as `/group/x` for dimension `x` of the group `/group`; `None`
/// unless there is one path for each of the `rank` dimensions.
pub fn dimension_references(attributes: &Map, extra: &Map, rank: usize) -> Option<Vec<String>> {
    let (_, references) = referred(attributes, extra)?;
    texts(references).filter(|references| references.len() == rank)
}

/// Returns the names of an array's dimensions: the last part of each NCZarr dimension reference; `_scalar_` for a scalar.
fn references(attributes: &Map, extra: &Map, rank: usize) -> Option<Vec<String>> {
    let (array, references) = referred(attributes, extra)?;
    let references = texts(references)?;
    if references.is_empty() && rank == 1 && is_scalar(array) {
        return Some(vec![SCALAR.to_owned()]);
    }
    let last = |path: String| path.rsplit('/').next().unwrap_or_default().to_owned();
    (references.len() == rank).then(|| references.into_iter().map(last).collect())
}

/// Returns the NCZarr member of an array, and the dimension references in it.
fn referred<'m>(attributes: &'m Map, extra: &'m Map) -> Option<(&'m Value, &'m Value)> {
    let members = [(attributes, "_nczarr_array"), (extra, "_nczarr_array"), (extra, "_NCZARR_ARRAY")];
    let mut found = members.into_iter().filter_map(|(map, name)| map.get(name));
    found.find_map(|array| Some((array, array.get("dimension_references").or_else(|| array.get("dimrefs"))?)))
}

/// Returns whether `array`, the NCZarr member of an array, declares a scalar.
fn is_scalar(array: &Value) -> bool {
    array.get("storage").and_then(Value::as_str) == Some("scalar")
        || array.get("scalar").and_then(Value::as_u64) == Some(1)
}

/// Returns whether `name` is a member or attribute that netCDF-C keeps for itself: `_NCZARR_ATTR`, `_nczarr_array`..
pub(crate) fn is_nczarr(name: &str) -> bool {
    name.get(..7).is_some_and(|start| start.eq_ignore_ascii_case("_nczarr"))
}

/// Returns whether arrays of the dialect get dimension names from a convention, since the dialect stores none.
pub(crate) fn hold_in(dialect: Dialect) -> bool {
    !dialect.has_dimension_names()
}

/// Sets the dimension names of an array of version 2 to the names in its attributes.
///
/// Call this function after the attributes of the array were changed: the names are stored nowhere else.
pub fn refresh(array: &mut ArrayMetadata) -> Option<Convention> {
    set_names(array, Convention::Xarray).0
}

/// Sets the dimension names of an array of version 2 to the names in its attributes. If both conventions give names, those of `first`
/// count. Returns the convention used.
pub fn refresh_by(array: &mut ArrayMetadata, first: Convention) -> Option<Convention> {
    set_names(array, first).0
}

/// Sets the dimension names of an array that was read from version 2. Returns their convention, and the fault of the attribute
/// [`ARRAY_DIMENSIONS`] if there is one.
pub(crate) fn read_names(array: &mut ArrayMetadata) -> (Option<Convention>, Option<String>) {
    set_names(array, Convention::Xarray)
}

fn set_names(array: &mut ArrayMetadata, first: Convention) -> (Option<Convention>, Option<String>) {
    let Named { names, deviation } = named(&array.attributes, &array.extra, array.shape.len(), first);
    let (names, convention) = names.map_or((None, None), |(names, convention)| (Some(names), Some(convention)));
    array.dimension_names = names.map(|names| names.into_iter().map(Some).collect());
    (convention, deviation)
}

/// Adds the node `name` to the lists of child nodes that NCZarr keeps in a group, or removes it if not `is_there`. Returns whether a list
/// changed; false if the group has no such lists.
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

/// Changes the length of the dimension `name` in the lists that NCZarr keeps in a group from `before` to `now`. Returns whether a list
/// changed; false if the group lists no dimension of that name and length.
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

/// Returns whether NCZarr lists a dimension with this `name` and length `len` in the group.
pub fn lists_dimension(group: &GroupMetadata, name: &str, len: u64) -> bool {
    let maps = [group.attributes.get("_nczarr_group"), group.extra.get("_NCZARR_GROUP")];
    let lists = maps.into_iter().flatten().flat_map(|lists| [lists.get("dimensions"), lists.get("dims")]);
    let mut known = lists.flatten().filter_map(|dimensions| dimensions.get(name));
    known.any(|dimension| dimension.as_u64().or_else(|| dimension.get("size")?.as_u64()) == Some(len))
}

/// Returns the lists of child nodes that NCZarr keeps in a group. Each item is a flag (true: list of arrays, false: list of groups) and the
/// names in the list.
pub fn child_lists(group: &GroupMetadata) -> Vec<(bool, Vec<&str>)> {
    let maps = [group.attributes.get("_nczarr_group"), group.extra.get("_NCZARR_GROUP")];
    let lists = maps.into_iter().flatten().filter_map(Value::as_object);
    let of = |lists, is_array| list_of(lists, is_array).map(|(_, items)| (is_array, items));
    let both = lists.flat_map(|lists| [of(lists, true), of(lists, false)]).flatten();
    both.map(|(is_array, items)| (is_array, items.iter().filter_map(Value::as_str).collect())).collect()
}

/// Returns the list of arrays (or of groups if not `is_array`), and the member name of the list, which differs in old versions of NCZarr.
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
