//! Translation of members that have a meaning to xarray or netCDF-C into their form in another version.

use super::Note;
use crate::conventions::missing_data::{Coding, MISSING_VALUE, is_between_forms, items};
use crate::conventions::{FILL_VALUE, hold_in, is_nczarr};
use crate::{ArrayMetadata, Dialect, Node};
use zarr_dtype::{DataType, FillValue};
use zarr_json::pointer::escaped;
use zarr_json::{Map, Value};

/// Conversion that preserves the meaning of a node in its dialect of origin.
#[derive(Clone, Copy, Debug)]
pub(super) struct Translation {
    pub(super) from: Dialect,
    /// Whether the fill value and the attribute `_FillValue` are left unchanged.
    pub(super) keeps_fill: bool,
    /// Whether all chunks are stored, so that no element is read from the fill value.
    pub(super) all_stored: bool,
}

impl Translation {
    /// Changes the members of a node so that it has the same meaning in the dialect `to`.
    pub(super) fn translate(self, node: &mut Node, to: Dialect, notes: &mut Vec<Note>) {
        if self.from == to {
            return;
        }
        if to.is_v3() && !self.from.is_v3() {
            without_nczarr(node, notes);
        }
        let Node::Array(array) = node else { return };
        // xarray demands names of every array where attributes have them. In version 3 there are none of no dimensions.
        if hold_in(to) && array.shape.is_empty() {
            array.dimension_names.get_or_insert_default();
        }
        match to.fill_value_marks_missing() {
            _ if self.keeps_fill || !is_between_forms(self.from, to) => {}
            true => mark_by_fill_value(array, self.all_stored, notes),
            false => mark_by_attribute(array, notes),
        }
    }

    /// Sets the fill value that an array had in the dialect `to` before it was carried, if fill values of `to` do not mark missing data.
    pub(super) fn restore_fill(self, node: &mut Node, to: Dialect, fill: Value) {
        if to.fill_value_marks_missing() || !is_between_forms(self.from, to) {
            return;
        }
        let Node::Array(array) = node else { return };
        let data_type = DataType::from_config(&array.data_type).ok();
        if data_type.is_some_and(|data_type| FillValue::parse(&data_type, &fill).is_ok()) {
            array.fill_value = Some(fill);
        }
    }
}

/// Removes the members and attributes of a node that are private to netCDF-C.
fn without_nczarr(node: &mut Node, notes: &mut Vec<Note>) {
    let mut clear = |members: &mut Map, prefix: &str| {
        let names: Vec<String> = members.keys().filter(|name| is_nczarr(name)).map(str::to_owned).collect();
        for name in names {
            members.remove(&name);
            let what = "left out; NCZarr has it in version 2 alone";
            notes.push(Note::change(format!("{prefix}/{}", escaped(&name)), what));
        }
    };
    clear(node.attributes_mut(), "/attributes");
    match node {
        Node::Array(array) => clear(&mut array.extra, ""),
        Node::Group(group) => clear(&mut group.extra, ""),
    }
}

/// Converts the mark of missing data to the attribute of version 3, for a conversion from version 2 to 3 or between similar dialects. The
/// mark is the fill value, or without one the attribute.
fn mark_by_attribute(array: &mut ArrayMetadata, notes: &mut Vec<Note>) {
    let coding = Coding::of(&array.data_type);
    // Beside a fill value xarray takes no notice of the attribute.
    let attribute = array.attributes.get(FILL_VALUE).cloned();
    let (encoded, marks) = match (&array.fill_value, &attribute) {
        (Some(fill), _) => (coding.encode(fill), vec![fill.clone()]),
        (None, Some(attribute)) => {
            let marks = items(attribute);
            let only = if let [mark] = marks { Some(coding.plain(mark).unwrap_or_else(|| mark.clone())) } else { None };
            (only.and_then(|mark| coding.encode(&mark)), marks.to_vec())
        }
        (None, None) => return,
    };
    let pointer = format!("/attributes/{FILL_VALUE}");
    if let Some(encoded) = encoded {
        if attribute.as_ref() != Some(&encoded) {
            notes.push(Note::change(pointer, format!("{} is written, to mark missing data", encoded.excerpt())));
            array.attributes.insert(FILL_VALUE, encoded);
        }
        return;
    }
    if array.attributes.remove(FILL_VALUE).is_some() {
        notes.push(Note::change(pointer, "left out; xarray decodes none of this type in version 3"));
    }
    let is_comparable = |mark: &Value| match coding {
        Coding::Text => mark.as_str().is_some(),
        Coding::Float(_) | Coding::Complex(_) | Coding::Plain(_) => mark.as_number().is_some(),
        // Bytes are never equal to a string.
        Coding::Undecoded(_) | Coding::Unmasked => false,
    };
    add_missing_values(&mut array.attributes, marks.into_iter().filter(is_comparable), notes);
}

fn add_missing_values(attributes: &mut Map, marks: impl Iterator<Item = Value>, notes: &mut Vec<Note>) {
    let mut values = attributes.get(MISSING_VALUE).map(|missing| items(missing).to_vec()).unwrap_or_default();
    let before = values.len();
    for mark in marks {
        if !values.iter().any(|value| value.semantically_eq(&mark)) {
            values.push(mark);
        }
    }
    if values.len() > before {
        let value = one_or_list(values);
        let what = format!("{} is written, to mark missing data", value.excerpt());
        notes.push(Note::change(format!("/attributes/{MISSING_VALUE}"), what));
        attributes.insert(MISSING_VALUE, value);
    }
}

fn one_or_list(mut values: Vec<Value>) -> Value {
    match (values.len(), values.pop()) {
        (1, Some(value)) => value,
        (_, last) => Value::Array(values.into_iter().chain(last).collect()),
    }
}

/// Attributes that scale values. xarray scales floats to float64, unless NaN marks missing data.
const SCALING: [&str; 2] = ["scale_factor", "add_offset"];

/// Converts the attribute that marks missing data to the fill value (null if nothing is missing), for a conversion from version 3 to 2 or
/// between similar dialects.
fn mark_by_fill_value(array: &mut ArrayMetadata, all_stored: bool, notes: &mut Vec<Note>) {
    let coding = Coding::of(&array.data_type);
    let mark = match array.attributes.get(FILL_VALUE) {
        Some(attribute) => coding.decode(attribute).inspect(|_| {
            array.attributes.remove(FILL_VALUE);
            notes.push(Note::change(format!("/attributes/{FILL_VALUE}"), "becomes the fill value"));
        }),
        None => taken_from_missing_values(array, &coding, notes),
    };
    // NaN is missing whatever the metadata say: chunks that are not stored may stay so. Of scaled floats the data type depends on a mark.
    let is_nan = |fill: &Value| matches!(coding, Coding::Float(_)) && fill.as_str() == Some("NaN");
    let is_scaled = SCALING.iter().any(|name| array.attributes.contains_key(name));
    if mark.is_none() && !all_stored && !is_scaled && array.fill_value.as_ref().is_some_and(is_nan) {
        return;
    }
    if let Some(fill) = &array.fill_value
        && !mark.as_ref().is_some_and(|mark| mark.semantically_eq(fill))
    {
        let what = match &mark {
            Some(mark) => format!("{} becomes {}, which marks missing data", fill.excerpt(), mark.excerpt()),
            None => format!("{} becomes null, since no data are missing", fill.excerpt()),
        };
        notes.push(Note::change("/fill_value", what));
    }
    array.fill_value = mark;
}

/// Returns the fill value of strings, and removes it from the attribute [`MISSING_VALUE`], if it is there (`mark_by_attribute` writes it
/// there).
fn taken_from_missing_values(array: &mut ArrayMetadata, coding: &Coding, notes: &mut Vec<Note>) -> Option<Value> {
    let fill = array.fill_value.clone().filter(|_| *coding == Coding::Text)?;
    let mut values = items(array.attributes.get(MISSING_VALUE)?).to_vec();
    let at = values.iter().position(|value| value.semantically_eq(&fill))?;
    values.remove(at);
    let pointer = format!("/attributes/{MISSING_VALUE}");
    notes.push(Note::change(pointer, format!("{} becomes the fill value", fill.excerpt())));
    match values.is_empty() {
        true => drop(array.attributes.remove(MISSING_VALUE)),
        false => drop(array.attributes.insert(MISSING_VALUE, one_or_list(values))),
    }
    Some(fill)
}
