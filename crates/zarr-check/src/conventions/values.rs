//! Checks of attributes by which values are decoded: packing, missing data, flags.

use crate::attributes::AttributeDocuments;
use crate::sink::Sink;
use crate::{Code, Finding};
use std::collections::HashSet;
use zarr_array::Array;
use zarr_cf::encoding::{Encoding, FillPlace, factor};
use zarr_json::{Map, Value};
use zarr_meta::StoredNode;

/// Greatest number of attributes with an invalid value that are reported of one array.
const MOST: usize = 8;

/// Attributes of numbers, each with the count of its numbers.
const NUMBERS: [(&str, usize); 5] =
    [("scale_factor", 1), ("add_offset", 1), ("valid_min", 1), ("valid_max", 1), ("valid_range", 2)];

/// Checks the attributes of an array by which its values are decoded. `array` is the opened array; `None` if it cannot be opened.
pub(super) fn check(found: &StoredNode, array: Option<&Array>, sink: &Sink<'_>) {
    let attributes = found.node.attributes();
    let places = AttributeDocuments::new(found);
    let find = |code, attribute: &str, message: String| {
        sink.find(places.at(Finding::new(code, message), &format!("/attributes/{attribute}")));
    };
    let mut reported = HashSet::new();
    for (attribute, message) in array.map(|array| undecoded(array, attributes)).unwrap_or_default() {
        find(Code::BadEncoding, &attribute, message);
        reported.insert(attribute);
    }
    for (attribute, count) in NUMBERS {
        let Some(value) = attributes.get(attribute).filter(|_| !reported.contains(attribute)) else { continue };
        if let Err(expected) = numbers(attribute, count, value) {
            find(Code::BadEncoding, attribute, format!("found {}, expected {expected}", value.excerpt()));
        }
    }
    for (attribute, message) in flags(attributes) {
        find(Code::BadFlags, attribute, message);
    }
}

/// Attributes of the encoding that cannot be decoded, each with a message.
fn undecoded(array: &Array, attributes: &Map) -> Vec<(String, String)> {
    let fill = array.metadata().fill_value.is_some().then(|| array.fill_value());
    let place = match array.dialect().fill_value_marks_missing() {
        true => FillPlace::FillValue(fill),
        false => FillPlace::Attribute,
    };
    let (mut left, mut faults) = (attributes.clone(), Vec::new());
    while faults.len() < MOST {
        let Err(error) = Encoding::take(array.data_type(), place, &mut left.clone()) else { break };
        // The next error is that of another attribute.
        if left.remove(&error.attribute).is_none() {
            break;
        }
        // Units are checked by themselves.
        if !matches!(error.attribute.as_str(), "units" | "calendar") {
            let message = format!("found {}, expected {}", error.found, error.expected);
            faults.push((error.attribute, message));
        }
    }
    faults
}

/// Checks the value of an attribute of `count` numbers. Returns what was expected otherwise.
fn numbers(attribute: &str, count: usize, value: &Value) -> Result<(), &'static str> {
    if count == 1 {
        let number = factor(attribute, value).map_err(|_| "a number")?.to_f64();
        return match attribute {
            "scale_factor" if number == 0.0 || !number.is_finite() => Err("a finite number other than 0"),
            "add_offset" if !number.is_finite() => Err("a finite number"),
            _ => Ok(()),
        };
    }
    let limits: Option<Vec<f64>> = value.as_array().and_then(|list| list.iter().map(Value::as_f64).collect());
    match limits.as_deref() {
        Some(&[least, most]) if least <= most => Ok(()),
        _ => Err("two numbers, the smaller one first"),
    }
}

/// Faults of the attributes that describe flags, each with a message.
fn flags(attributes: &Map) -> Vec<(&'static str, String)> {
    let list = |name: &str| match attributes.get(name) {
        Some(Value::Array(items)) => Some(items.clone()),
        // Some write a single flag without a list.
        Some(value) => Some(vec![value.clone()]),
        None => None,
    };
    let meanings = attributes.get("flag_meanings");
    let words = meanings.and_then(Value::as_str).map(|text| text.split_whitespace().count());
    let (values, masks) = (list("flag_values"), list("flag_masks"));
    let mut faults = Vec::new();
    if let (Some(meanings), None) = (meanings, words) {
        faults.push(("flag_meanings", format!("found {}, expected words, one for each flag", meanings.excerpt())));
    }
    if meanings.is_some() && values.is_none() && masks.is_none() {
        faults.push(("flag_meanings", "found no flag_values and no flag_masks, expected one of them".to_owned()));
    }
    for (name, items) in [("flag_values", &values), ("flag_masks", &masks)] {
        let Some(items) = items else { continue };
        match words {
            None if meanings.is_none() => {
                faults.push((name, "found no flag_meanings, expected a word for each".into()))
            }
            Some(words) if words != items.len() => {
                faults.push((name, format!("found {}, expected {words}, as many as flag_meanings", items.len())));
            }
            _ => {}
        }
        if items.iter().any(|item| item.as_number().is_none() && item.as_str().is_none()) {
            faults.push((name, "found an item that is no number, expected values of the data type".to_owned()));
        }
    }
    // With masks a value may occur for each mask.
    if let (Some(values), None) = (&values, &masks) {
        let mut seen = HashSet::new();
        if let Some(twice) = values.iter().map(Value::to_string).find(|value| !seen.insert(value.clone())) {
            faults.push(("flag_values", format!("found {twice} twice, expected each value once")));
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;
    use zarr_json::json;

    #[test]
    fn flags_belong_together() {
        let of = |attributes: Value| -> Vec<&'static str> {
            flags(attributes.as_object().unwrap()).into_iter().map(|(name, _)| name).collect()
        };
        assert!(of(json!({"flag_values": [0, 1], "flag_meanings": "good bad"})).is_empty());
        assert!(of(json!({"flag_masks": [1, 1, 2], "flag_values": [0, 1, 2], "flag_meanings": "a b c"})).is_empty());
        assert!(of(json!({"flag_values": 1, "flag_meanings": "land"})).is_empty());
        assert_eq!(of(json!({"flag_values": [0, 1], "flag_meanings": "good"})), ["flag_values"]);
        assert_eq!(of(json!({"flag_values": [1, 1], "flag_meanings": "a b"})), ["flag_values"]);
        assert_eq!(of(json!({"flag_masks": [1, 2]})), ["flag_masks"]);
        assert_eq!(of(json!({"flag_meanings": "a b"})), ["flag_meanings"]);
        assert_eq!(of(json!({"flag_meanings": ["a", "b"], "flag_values": [0, 1]})), ["flag_meanings"]);
    }

    #[test]
    fn numbers_are_finite_and_in_order() {
        for (attribute, count, value, is_right) in [
            ("scale_factor", 1, json!(0.1), true),
            ("scale_factor", 1, json!([0.1]), true),
            ("scale_factor", 1, json!(0), false),
            ("add_offset", 1, json!("1"), false),
            ("valid_range", 2, json!([0, 10]), true),
            ("valid_range", 2, json!([10, 0]), false),
            ("valid_range", 2, json!([10]), false),
        ] {
            assert_eq!(numbers(attribute, count, &value).is_ok(), is_right, "{attribute} {value}");
        }
    }
}
