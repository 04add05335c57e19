//! Laws of elements that were read: they must be elements of their data type.

use zarr_array::ArrayData;
use zarr_dtype::{DataType, FillValue, Layout, Scalar};
use zarr_json::{Number, Value};

/// Greatest size in bytes of an element that the limits of the campaign allow.
const MAX_SIZE: usize = 32 << 20;

/// Checks all elements.
pub(in crate::fuzz) fn check(data: &ArrayData) {
    let Some(elements) = data.variable() else { return fixed(data.data_type(), data.items()) };
    let mut size = 0_usize;
    for element in elements {
        variable(data.data_type(), element);
        size = size.saturating_add(element.len());
    }
    // References may share bytes, but references of one chunk do not.
    assert!(size <= MAX_SIZE, "{size} bytes of elements, more than the limits allow");
}

fn variable(data_type: &DataType, element: &[u8]) {
    match data_type {
        DataType::String => assert!(std::str::from_utf8(element).is_ok(), "a string that is not UTF-8"),
        DataType::VlenArray(item) => {
            assert_eq!(element.len() % item.item_size().max(1), 0, "a part of an item of {item}");
            fixed(item, element);
        }
        DataType::Object if !element.is_empty() => {
            let value = Value::from_json(&String::from_utf8_lossy(element));
            assert!(value.is_ok(), "an object that is no JSON: {value:?}");
        }
        _ => {}
    }
}

fn fixed(data_type: &DataType, items: &[u8]) {
    layout(data_type, &data_type.layout(), items);
}

fn layout(data_type: &DataType, of: &Layout, items: &[u8]) {
    match of {
        Layout::Fixed { scalar, .. } => {
            let good: fn(i8) -> bool = match scalar {
                Scalar::Bool => |byte| byte == 0 || byte == 1,
                Scalar::I2 => |byte| (-2..=1).contains(&byte),
                Scalar::I4 => |byte| (-8..=7).contains(&byte),
                Scalar::U2 => |byte| (0..=3).contains(&byte),
                Scalar::U4 => |byte| (0..=15).contains(&byte),
                _ => return,
            };
            let bad = items.iter().find(|byte| !good(byte.cast_signed()));
            assert!(bad.is_none(), "byte {bad:?} in an element of {data_type}");
        }
        Layout::Struct { fields, size } => {
            for item in items.chunks_exact((*size).max(1)) {
                for field in fields.iter() {
                    let part = item.get(field.offset..field.offset + field.size()).expect("a field inside its struct");
                    layout(data_type, &field.layout, part);
                }
            }
        }
        _ => {}
    }
}

/// Checks a point in time, or a duration, that is parsed from a string.
pub(in crate::fuzz) fn time(data_type: &DataType, text: &str) {
    match data_type {
        DataType::DateTime64(unit) => {
            if let Some(count) = unit.parse_date(text) {
                let printed = unit.date_text(count);
                assert_eq!(unit.parse_date(&printed), Some(count), "{text} as {data_type} is printed as {printed}");
            }
        }
        DataType::TimeDelta64(unit) => {
            if let Some(count) = unit.parse_delta(text) {
                let printed = unit.delta_text(count);
                assert_eq!(unit.parse_delta(&printed), Some(count), "{text} as {data_type} is printed as {printed}");
            }
        }
        _ => {}
    }
}

/// Checks a fill value against the JSON from which it was read.
pub(in crate::fuzz) fn fill(data_type: &DataType, from: &Value, parsed: &FillValue) {
    let bytes = parsed.bytes();
    if data_type.is_variable() {
        return variable(data_type, bytes);
    }
    assert_eq!(bytes.len(), data_type.item_size(), "the bytes of a fill value of {data_type}");
    fixed(data_type, bytes);
    let is_integer = matches!(data_type.layout(), Layout::Fixed { scalar, count: 1 }
        if !matches!(scalar, Scalar::Bool | Scalar::F16 | Scalar::BF16 | Scalar::F32 | Scalar::F64));
    let plain = !matches!(data_type, DataType::SmallFloat(_) | DataType::FixedUtf32 { .. } | DataType::Extension(_));
    if let (true, true, Some(due)) = (is_integer, plain, from.as_number().and_then(Number::to_i128)) {
        let printed = parsed.to_json(data_type);
        let found = printed.as_number().and_then(Number::to_i128);
        let is_nat = printed.as_str() == Some("NaT") && due == i128::from(i64::MIN);
        assert!(found == Some(due) || is_nat, "{from} for an element of {data_type} is read as {printed}");
    }
}
