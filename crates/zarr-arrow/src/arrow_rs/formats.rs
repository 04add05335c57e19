//! Types of arrow-rs for format strings of the C data interface.

use crate::schema::Field;
use arrow_schema::{ArrowError, DataType, TimeUnit};
use std::sync::Arc;

/// Converts the name and the type of a column or of a part of it.
pub(super) fn field(field: &Field) -> Result<arrow_schema::Field, ArrowError> {
    Ok(arrow_schema::Field::new(field.name(), data_type(field)?, field.is_nullable()))
}

fn data_type(field: &Field) -> Result<DataType, ArrowError> {
    let indices_or_values = by_format(field)?;
    Ok(match field.dictionary() {
        None => indices_or_values,
        Some(values) => DataType::Dictionary(Box::new(indices_or_values), Box::new(data_type(values)?)),
    })
}

fn by_format(field: &Field) -> Result<DataType, ArrowError> {
    Ok(match field.format() {
        "b" => DataType::Boolean,
        "c" => DataType::Int8,
        "C" => DataType::UInt8,
        "s" => DataType::Int16,
        "S" => DataType::UInt16,
        "i" => DataType::Int32,
        "I" => DataType::UInt32,
        "l" => DataType::Int64,
        "L" => DataType::UInt64,
        "e" => DataType::Float16,
        "f" => DataType::Float32,
        "g" => DataType::Float64,
        "vu" => DataType::Utf8View,
        "vz" => DataType::BinaryView,
        "U" => DataType::LargeUtf8,
        "Z" => DataType::LargeBinary,
        "tss:" => DataType::Timestamp(TimeUnit::Second, None),
        "tsm:" => DataType::Timestamp(TimeUnit::Millisecond, None),
        "tsu:" => DataType::Timestamp(TimeUnit::Microsecond, None),
        "tsn:" => DataType::Timestamp(TimeUnit::Nanosecond, None),
        "tDs" => DataType::Duration(TimeUnit::Second),
        "tDm" => DataType::Duration(TimeUnit::Millisecond),
        "tDu" => DataType::Duration(TimeUnit::Microsecond),
        "tDn" => DataType::Duration(TimeUnit::Nanosecond),
        "+s" => DataType::Struct(field.children().iter().map(self::field).collect::<Result<Vec<_>, _>>()?.into()),
        "+r" => {
            let [ends, values] = field.children() else { return Err(unknown(field)) };
            // Runs of arrow-rs have values that may be null, whatever these are.
            let (ends, values) = (self::field(ends)?, self::field(values)?.with_nullable(true));
            DataType::RunEndEncoded(Arc::new(ends), Arc::new(values))
        }
        format => {
            let number = |prefix: &str| format.strip_prefix(prefix).and_then(|number| number.parse::<i32>().ok());
            match (number("w:"), number("+w:"), field.children()) {
                (Some(len), ..) => DataType::FixedSizeBinary(len),
                (_, Some(len), [items]) => DataType::FixedSizeList(Arc::new(self::field(items)?), len),
                _ => return Err(unknown(field)),
            }
        }
    })
}

fn unknown(field: &Field) -> ArrowError {
    ArrowError::SchemaError(format!("column {}: found the format {}, which is unknown", field.name(), field.format()))
}
