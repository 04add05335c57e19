//! Writing type strings and lists of fields.

use super::{NumpyField, NumpyType, letter};
use crate::{ByteOrder, TimeUnit, Unit};
use zarr_json::Value;

impl NumpyType {
    /// Returns the type string or list of fields in the byte order `endian`: the inverse of [`parse`](Self::parse).
    pub fn to_value(&self, endian: &ByteOrder) -> Value {
        let order = match endian {
            ByteOrder::Little => '<',
            ByteOrder::Big => '>',
            _ => '|',
        };
        match (self, endian) {
            (Self::Number(number), _) => match letter(number) {
                Some(letter) => Value::from(format!("{order}{letter}{}", number.item_size())),
                None => Value::from(number.to_config().name),
            },
            (Self::Time { is_span, unit: TimeUnit { unit, scale } }, _) => {
                let letter = if *is_span { 'm' } else { 'M' };
                let count = if *scale == 1 { String::new() } else { scale.to_string() };
                // numpy writes the generic unit without brackets, and so without its scale, which zarr-python adds.
                let is_bare = *unit == Unit::Generic && *scale == 1;
                let unit = if is_bare { String::new() } else { format!("[{count}{unit}]") };
                Value::from(format!("{order}{letter}8{unit}"))
            }
            (Self::Bytes(size), _) => Value::from(format!("|S{size}")),
            (Self::Text(len), _) => Value::from(format!("{order}U{len}")),
            (Self::Raw(size), _) => Value::from(format!("|V{size}")),
            (Self::Object, _) => Value::from("|O"),
            (Self::Struct(fields), endian) => {
                let item = |(index, field): (usize, &NumpyField)| {
                    let endian = match endian {
                        ByteOrder::Fields(fields) => fields.get(index),
                        _ => None,
                    };
                    let numpy = field.numpy.to_value(endian.unwrap_or(&ByteOrder::Irrelevant));
                    let mut item = vec![Value::from(field.name.as_str()), numpy];
                    if !field.shape.is_empty() {
                        item.push(Value::from(field.shape.clone()));
                    }
                    Value::Array(item)
                };
                Value::Array(fields.iter().enumerate().map(item).collect())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zarr_json::pointer::At;

    #[test]
    fn the_scale_of_times_without_a_unit_is_kept() {
        for text in ["<M8", "<m8", ">m8[2generic]", "<M8[2147483647generic]", "<M8[25s]"] {
            let (numpy, order) = NumpyType::parse(&At::root(&Value::from(text))).unwrap();
            assert_eq!(numpy.to_value(&order), Value::from(text));
        }
    }
}
