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
//!
//! To xarray the fill value of version 2 marks missing data. In version 3 the attribute `_FillValue` does, which is written like
//! the fill value, but floats as base64 of a little-endian `f64`.

use crate::dialect::typestr;
use crate::{ArrayMetadata, Dialect, GroupMetadata};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use zarr_dtype::{Class, FillValue, NumpyType};
use zarr_json::{Map, Value};

/// The attribute by which xarray names dimensions in version 2.
pub const ARRAY_DIMENSIONS: &str = "_ARRAY_DIMENSIONS";

/// The attribute by which xarray marks missing data in version 3.
pub const FILL_VALUE: &str = "_FillValue";

/// The value that the attribute [`FILL_VALUE`] has to have in version 3 for the fill value of an array to mark missing
/// data to xarray; `None` if it has no fill value, or is of a type for which xarray has no such attribute.
pub fn missing_data(array: &ArrayMetadata) -> Option<Value> {
    let value = array.fill_value.as_ref()?;
    let dtype = match array.data_type.name.as_str() {
        "string" => return value.as_str().map(Value::from),
        _ => typestr::from_model(&array.data_type).ok()?,
    };
    match &dtype {
        NumpyType::Number(number) if number.class() == Some(Class::Float) && dtype.is_of_numpy() => {
            // As the type has it, which may be less exact than the number in the document.
            let fill = FillValue::parse(number, value).ok()?;
            let float = number.to_f64(fill.bytes())?;
            let float = if float.is_nan() { f64::NAN } else { float };
            Some(Value::from(STANDARD.encode(float.to_le_bytes())))
        }
        NumpyType::Number(number) if matches!(number.class(), Some(Class::Bool | Class::Signed | Class::Unsigned)) => {
            Some(value.clone())
        }
        NumpyType::Bytes(_) | NumpyType::Text(_) => Some(value.clone()),
        _ => None,
    }
}

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
pub(crate) fn hold_in(dialect: Dialect) -> bool {
    !dialect.is_v3()
}

/// Sets the dimension names of an array of version 2 to the names in its attributes.
///
/// To be called after its attributes were changed: the names are not stored elsewhere.
pub fn refresh(array: &mut ArrayMetadata) -> Option<Convention> {
    let found = dimension_names(&array.attributes, &array.extra, array.shape.len());
    let (names, convention) = found.map_or((None, None), |(names, convention)| (Some(names), Some(convention)));
    array.dimension_names = names.map(|names| names.into_iter().map(Some).collect());
    convention
}

/// Adds the node `name` to the lists that NCZarr keeps of the nodes in a group, or takes it out. Whether that changes something; it
/// does not where the group has no such lists.
pub fn list_child(group: &mut GroupMetadata, name: &str, is_array: bool, is_there: bool) -> bool {
    let mut changed = false;
    for (map, member) in [(&mut group.attributes, "_nczarr_group"), (&mut group.extra, "_NCZARR_GROUP")] {
        let Some(Value::Object(lists)) = map.get(member) else { continue };
        let mut lists = lists.clone();
        let names: &[&str] = if is_array { &["arrays", "vars"] } else { &["groups"] };
        let Some(list) = names.iter().find(|list| lists.get(list).is_some_and(|list| list.as_array().is_some())) else {
            continue;
        };
        let mut items = lists.get(list).and_then(Value::as_array).unwrap_or_default().to_vec();
        let listed = items.iter().position(|item| item.as_str() == Some(name));
        match (listed, is_there) {
            (None, true) => items.push(Value::from(name)),
            (Some(index), false) => drop(items.remove(index)),
            _ => continue,
        }
        lists.insert(*list, items);
        map.insert(member, lists);
        changed = true;
    }
    changed
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
    }

    #[test]
    fn missing_data_as_xarray_writes_it() {
        let of = |data_type: &str, fill: Value| {
            let text = format!(
                r#"{{"zarr_format":2,"shape":[],"chunks":[],"dtype":"{data_type}","fill_value":{fill},"order":"C","compressor":null,"filters":null}}"#
            );
            let documents = [(".zarray".to_owned(), text.into_bytes())].into_iter().collect();
            let rules = crate::dialect::table::rules(Dialect::V2);
            let parsed = rules.parse(&crate::NodePath::root(), &documents).unwrap().unwrap();
            missing_data(parsed.node.as_array().unwrap())
        };
        assert_eq!(of("<f4", json!("NaN")), Some(json!("AAAAAAAA+H8=")));
        assert_eq!(of(">f8", json!(-999)), Some(json!("AAAAAAA4j8A=")));
        assert_eq!(of("<f4", json!(0.1)), Some(Value::from(STANDARD.encode(f64::from(0.1_f32).to_le_bytes()))));
        assert_eq!(of("<f8", json!("-Infinity")), Some(Value::from(STANDARD.encode(f64::NEG_INFINITY.to_le_bytes()))));
        assert_eq!(of("<i2", json!(-32768)), Some(json!(-32768)));
        assert_eq!(of("|b1", json!(true)), Some(json!(true)));
        assert_eq!(of("|S2", json!("YWI=")), Some(json!("YWI=")));
        assert_eq!(of("<i2", json!(null)), None);
        assert_eq!(of("<c8", json!([1.0, 0.0])), None);
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
