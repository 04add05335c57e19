//! Encoding of JSON values as bytes that does not depend on the order of members and the spelling of numbers.

use zarr_json::{Number, Value};

/// Appends the encoding of `value` to `into`. Equal values have equal encodings.
pub(crate) fn encode(value: &Value, into: &mut Vec<u8>) {
    match value {
        Value::Null => into.push(b'n'),
        Value::Bool(true) => into.push(b't'),
        Value::Bool(false) => into.push(b'f'),
        Value::Number(number) => encode_number(number, into),
        Value::String(text) => encode_text(text, into),
        Value::Array(items) => {
            into.extend_from_slice(format!("l{}:", items.len()).as_bytes());
            items.iter().for_each(|item| encode(item, into));
        }
        Value::Object(members) => {
            let mut members: Vec<(&str, &Value)> = members.iter().collect();
            members.sort_by_key(|(name, _)| *name);
            into.extend_from_slice(format!("o{}:", members.len()).as_bytes());
            for (name, value) in members {
                encode_text(name, into);
                encode(value, into);
            }
        }
    }
}

fn encode_text(text: &str, into: &mut Vec<u8>) {
    into.extend_from_slice(format!("s{}:", text.len()).as_bytes());
    into.extend_from_slice(text.as_bytes());
}

/// Appends the encoding of a number: an integer of at most 64 bits in decimal, another number as float64.
fn encode_number(number: &Number, into: &mut Vec<u8>) {
    let range = i128::from(i64::MIN)..=i128::from(u64::MAX);
    match number.to_i128().filter(|integer| range.contains(integer)) {
        Some(integer) => into.extend_from_slice(format!("i{integer};").as_bytes()),
        None => {
            let value = number.as_f64();
            let value = if value.is_nan() { f64::NAN } else { value };
            into.extend_from_slice(format!("d{:016x};", value.to_bits()).as_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded(text: &str) -> String {
        let mut bytes = Vec::new();
        encode(&Value::from_json(text).unwrap(), &mut bytes);
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn spellings_are_one() {
        assert_eq!(encoded(r#"{"b": [1, 1.0, 1e0, -0.0], "a": null}"#), "o2:s1:ans1:bl4:i1;i1;i1;i0;");
        assert_eq!(encoded("[true, false, 0.1, \"\\u00e9\\n\"]"), "l4:tfd3fb999999999999a;s3:\u{e9}\n");
        assert_eq!(encoded("[18446744073709551616, 1e300]"), "l2:d43f0000000000000;d7e37e43c8800759c;");
    }
}
