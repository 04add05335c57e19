//! Canonical names of data types, independent of the dialect.

use zarr_dtype::DataType;
use zarr_json::{Value, json};

/// Returns the data type as JSON, which is equal for all names of one type.
pub(crate) fn canonical(data_type: &DataType) -> Value {
    match data_type {
        // Bytes without a meaning have two names, and so have byte strings of any length.
        DataType::RawBits(size) | DataType::RawBytes { len: size } => Value::from(format!("r{}", u64::from(*size) * 8)),
        DataType::Bytes { .. } => Value::from("bytes"),
        DataType::VlenArray(inner) => json!({"name": "vlen-array", "configuration": {"data_type": (canonical(inner))}}),
        DataType::Struct(fields) => {
            let field = |field: &zarr_dtype::Field| {
                let shape = Value::from(field.shape.clone());
                json!({"name": (Value::from(field.name.as_str())), "data_type": (canonical(&field.data_type)), "shape": shape})
            };
            let fields: Vec<Value> = fields.fields().iter().map(field).collect();
            json!({"name": "struct", "configuration": {"fields": (Value::Array(fields))}})
        }
        other => other.to_config().short_value(),
    }
}

/// Returns whether elements of two types are stored in the same form, so that equal bytes are equal elements.
pub(crate) fn same_storage(a: &DataType, b: &DataType) -> bool {
    let (a, b) = (a.storage(), b.storage());
    a == b || canonical(a).semantically_eq(&canonical(b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use zarr_dtype::{BytesName, Field, StructType, TimeUnit, Unit};

    #[test]
    fn types_have_one_name() {
        let check = |data_type: DataType, expected: &str| assert_eq!(canonical(&data_type).to_string(), expected);
        check(DataType::Float32, "\"float32\"");
        check(DataType::Complex64, "\"complex64\"");
        check(DataType::RawBits(3), "\"r24\"");
        check(DataType::RawBytes { len: 3 }, "\"r24\"");
        assert!(same_storage(&DataType::RawBits(3), &DataType::RawBytes { len: 3 }));
        assert!(!same_storage(&DataType::RawBits(3), &DataType::RawBytes { len: 4 }));
        check(DataType::Bytes { name: BytesName::VariableLengthBytes }, "\"bytes\"");
        check(
            DataType::DateTime64(TimeUnit { unit: Unit::Second, scale: 25 }),
            r#"{"name":"numpy.datetime64","configuration":{"unit":"s","scale_factor":25}}"#,
        );
        check(
            DataType::VlenArray(Box::new(DataType::RawBytes { len: 1 })),
            r#"{"name":"vlen-array","configuration":{"data_type":"r8"}}"#,
        );
        let fields = vec![Field::new("b", DataType::RawBytes { len: 2 }), Field::array("a", DataType::Int16, &[3])];
        check(
            DataType::Struct(StructType::new(fields).unwrap()),
            concat!(
                r#"{"name":"struct","configuration":{"fields":[{"name":"b","data_type":"r16","shape":[]},"#,
                r#"{"name":"a","data_type":"int16","shape":[3]}]}}"#
            ),
        );
    }
}
