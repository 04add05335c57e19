//! Differences between documents: facts of data, and facts of layout, which do not change the value of any element.

use crate::fold::Fold;
use crate::{attributes, data_type};
use zarr_array::element_spec;
use zarr_codec::ElementSpec;
use zarr_dtype::DataTypes;
use zarr_json::pointer::escaped;
use zarr_json::{Map, Value};
use zarr_meta::conventions::{FILL_VALUE, missing_data_difference};
use zarr_meta::{ArrayMetadata, StoredNode};

/// Value that differs between the documents of two nodes.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Fact {
    /// JSON pointer into a document of version 3 (for older dialects: into the document converted to version 3), or into the attributes.
    /// `/dialect` stands for the dialect, which is no member.
    pub pointer: String,
    /// Value of the first node; `None` if the member is missing.
    pub first: Option<Value>,
    /// Value of the second node; `None` if the member is missing.
    pub second: Option<Value>,
    /// Whether the value only concerns the layout.
    pub is_layout: bool,
}

/// Document members that determine how elements are stored.
const LAYOUT: [&str; 4] = ["chunk_grid", "chunk_key_encoding", "codecs", "storage_transformers"];

/// Returns the document members that differ. Data types and fill values are compared by meaning if the data types are known, otherwise by
/// their JSON values.
pub(super) fn facts(a: &StoredNode, b: &StoredNode, types: &DataTypes, equal_nan: bool) -> Vec<Fact> {
    let mut facts = Vec::new();
    let mut add = |pointer: &str, first: Option<Value>, second: Option<Value>, is_layout: bool| {
        facts.push(Fact { pointer: pointer.to_owned(), first, second, is_layout });
    };
    if a.dialect != b.dialect {
        add("/dialect", Some(Value::from(a.dialect.name())), Some(Value::from(b.dialect.name())), true);
    }
    let kind = |node: &StoredNode| Value::from(if node.node.as_array().is_some() { "array" } else { "group" });
    let (Some(first), Some(second)) = (a.node.as_array(), b.node.as_array()) else {
        if kind(a) != kind(b) {
            add("/node_type", Some(kind(a)), Some(kind(b)), false);
        }
        return facts;
    };
    if first.shape != second.shape {
        add("/shape", Some(Value::from(first.shape.clone())), Some(Value::from(second.shape.clone())), false);
    }
    let spec = |array: &ArrayMetadata, node: &StoredNode| element_spec(array, node.dialect, types).ok();
    let specs = spec(first, a).zip(spec(second, b));
    let same_type = match &specs {
        Some((a, b)) => data_type::canonical(&a.data_type).semantically_eq(&data_type::canonical(&b.data_type)),
        None => first.data_type.to_value().semantically_eq(&second.data_type.to_value()),
    };
    if !same_type {
        add("/data_type", Some(first.data_type.short_value()), Some(second.data_type.short_value()), false);
    }
    if !same_fill(first, second, specs.as_ref(), equal_nan) {
        let value = |array: &ArrayMetadata| Some(array.fill_value.clone().unwrap_or_default());
        let is_layout = mark_the_same(a, b) && (first.fill_value.is_none() || second.fill_value.is_none());
        add("/fill_value", value(first), value(second), is_layout);
    }
    let (a_names, b_names) = (attributes::names(first), attributes::names(second));
    if a_names != b_names {
        let names = |names: Option<&[Option<String>]>| {
            let name = |name: &Option<String>| name.as_deref().map_or(Value::Null, Value::from);
            names.map(|names| Value::Array(names.iter().map(name).collect()))
        };
        add("/dimension_names", names(a_names), names(b_names), false);
    }
    let (a, b) = (a.node.to_canonical_value(a.dialect), b.node.to_canonical_value(b.dialect));
    for member in LAYOUT {
        differences(a.get(member), b.get(member), &format!("/{member}"), true, &mut facts);
    }
    facts
}

/// Returns whether missing chunks of both arrays read as the same elements.
fn same_fill(
    a: &ArrayMetadata,
    b: &ArrayMetadata,
    specs: Option<&(ElementSpec, ElementSpec)>,
    equal_nan: bool,
) -> bool {
    match specs.filter(|(a, b)| data_type::same_storage(&a.data_type, &b.data_type)) {
        Some((a, b)) => {
            let fold = Fold { nan: equal_nan, zero: false };
            fold.are_same(&a.data_type, a.fill.bytes(), b.fill.bytes())
        }
        // Of other types the numbers in documents are compared.
        None => a.fill_value.clone().unwrap_or_default().semantically_eq(&b.fill_value.clone().unwrap_or_default()),
    }
}

/// Returns whether one array marks missing data by its fill value and the other by an attribute, so that xarray treats the same elements as
/// missing.
fn mark_the_same(a: &StoredNode, b: &StoredNode) -> bool {
    let arrays = a.node.as_array().zip(b.node.as_array());
    arrays.is_some_and(|(first, second)| {
        a.dialect.fill_value_marks_missing() != b.dialect.fill_value_marks_missing()
            && missing_data_difference((first, a.dialect), (second, b.dialect)).is_none()
    })
}

/// Returns the attributes that differ. An attribute that marks missing data only concerns the layout if the other dialect marks missing
/// data by its fill value.
pub(super) fn attributes(a: &StoredNode, b: &StoredNode) -> Vec<Fact> {
    let (first, second) = (attributes::attributes(&a.node), attributes::attributes(&b.node));
    let mut facts = Vec::new();
    of_members(&first, &second, "", false, &mut facts);
    let own = format!("/{FILL_VALUE}");
    for fact in facts.iter_mut().filter(|fact| fact.pointer == own) {
        fact.is_layout = mark_the_same(a, b) && (fact.first.is_none() || fact.second.is_none());
    }
    facts
}

/// Adds the differences within two JSON values, each with its pointer, to `facts`. The order of members and the spelling of numbers do not
/// matter.
fn differences(a: Option<&Value>, b: Option<&Value>, pointer: &str, is_layout: bool, facts: &mut Vec<Fact>) {
    match (a, b) {
        (None, None) => {}
        (Some(a), Some(b)) if a.semantically_eq(b) => {}
        (Some(Value::Object(a)), Some(Value::Object(b))) => of_members(a, b, pointer, is_layout, facts),
        (Some(Value::Array(a)), Some(Value::Array(b))) if a.len() == b.len() => {
            for (index, (a, b)) in a.iter().zip(b).enumerate() {
                differences(Some(a), Some(b), &format!("{pointer}/{index}"), is_layout, facts);
            }
        }
        _ => facts.push(Fact { pointer: pointer.to_owned(), first: a.cloned(), second: b.cloned(), is_layout }),
    }
}

fn of_members(a: &Map, b: &Map, pointer: &str, is_layout: bool, facts: &mut Vec<Fact>) {
    let others = b.keys().filter(|name| !a.contains_key(name));
    for name in a.keys().chain(others) {
        differences(a.get(name), b.get(name), &format!("{pointer}/{}", escaped(name)), is_layout, facts);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_have_pointers() {
        let parse = |text: &str| Value::from_json(text).unwrap();
        let (a, b) = (
            parse(r#"{"x": [1, 2.0], "y/z": {"u": 1}, "w": 1}"#),
            parse(r#"{"y/z": {"u": 2, "v": null}, "x": [1.0, 2]}"#),
        );
        let mut facts = Vec::new();
        differences(Some(&a), Some(&b), "", false, &mut facts);
        let found: Vec<_> =
            facts.iter().map(|fact| (fact.pointer.as_str(), fact.first.clone(), fact.second.clone())).collect();
        let number = |number: u64| Some(Value::from(number));
        assert_eq!(
            found,
            [("/y~1z/u", number(1), number(2)), ("/y~1z/v", None, Some(Value::Null)), ("/w", number(1), None)]
        );
        facts.clear();
        differences(Some(&parse("[1, 2]")), Some(&parse("[1, 2, 3]")), "/l", false, &mut facts);
        assert_eq!(facts.len(), 1);
        assert_eq!(facts[0].pointer, "/l");
    }
}
