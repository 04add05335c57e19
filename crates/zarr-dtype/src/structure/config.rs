//! Structs in metadata documents.

use super::{Field, MAX_DEPTH, StructType};
use crate::name::{member, only};
use crate::{DataType, DataTypes, Error};
use zarr_json::{Map, NamedConfig, Value, json};

/// Name of the type of fields that are arrays, which numpy has and Zarr v3 lacks.
pub(crate) const ARRAY: &str = "subarray";

impl StructType {
    /// Parses the struct of a metadata document: `struct` with `{"fields": [{"name": .., "data_type": ..}]}`, or the older `structured`
    /// with `{"fields": [[name, data type]]}`.
    pub(crate) fn from_config(config: &NamedConfig, types: &DataTypes, depth: usize) -> Result<Self, Error> {
        only(config, &["fields"])?;
        let value = member(config, "fields", "an array of fields")?;
        let Some(items) = value.as_array() else {
            return Err(Error::invalid(value, "an array of fields").within("/configuration/fields"));
        };
        if depth >= MAX_DEPTH {
            return Err(Error::invalid(value, "structs that are at most 32 deep").within("/configuration/fields"));
        }
        let is_old = config.name == "structured";
        let field = |(index, item): (usize, &Value)| {
            let parsed = if is_old { old_field(item, types, depth) } else { field(item, types, depth) };
            parsed.map_err(|error| error.within(&format!("/configuration/fields/{index}")))
        };
        Self::new(items.iter().enumerate().map(field).collect::<Result<_, _>>()?)
    }

    /// Returns the name and configuration of this struct in a metadata document.
    pub(crate) fn to_config(&self) -> NamedConfig {
        to_config(self.fields().iter().map(|field| (field.name.as_str(), field.data_type.to_config(), &*field.shape)))
    }
}

/// Returns the name and configuration in a metadata document of a struct with these fields: names, types and shapes.
pub(crate) fn to_config<'f>(fields: impl Iterator<Item = (&'f str, NamedConfig, &'f [u64])>) -> NamedConfig {
    let field = |(name, data_type, shape): (&str, NamedConfig, &[u64])| {
        let mut data_type = data_type.short_value();
        if !shape.is_empty() {
            let shape = Value::from(shape.to_vec());
            data_type = json!({"name": ARRAY, "configuration": {"data_type": data_type, "shape": shape}});
        }
        json!({"name": name, "data_type": data_type})
    };
    let mut configuration = Map::new();
    configuration.insert("fields", Value::Array(fields.map(field).collect()));
    NamedConfig::with("struct", configuration)
}

/// Parses a field `{"name": .., "data_type": ..}`.
fn field(item: &Value, types: &DataTypes, depth: usize) -> Result<Field, Error> {
    let expected = "an object with `name` and `data_type`";
    match (item.get("name"), item.get("data_type"), item.as_object().map(Map::len)) {
        (Some(name), Some(data_type), Some(2)) => named_field(name, data_type, ["/name", "/data_type"], types, depth),
        _ => Err(Error::invalid(item, expected)),
    }
}

/// Parses a field `[name, data type]`, as zarr-python 3.1 writes it.
fn old_field(item: &Value, types: &DataTypes, depth: usize) -> Result<Field, Error> {
    match item.as_array() {
        Some([name, data_type]) => named_field(name, data_type, ["/0", "/1"], types, depth),
        _ => Err(Error::invalid(item, "an array of name and data type")),
    }
}

fn named_field(
    name: &Value,
    data_type: &Value,
    [in_name, in_type]: [&str; 2],
    types: &DataTypes,
    depth: usize,
) -> Result<Field, Error> {
    let text = name.as_str().ok_or_else(|| Error::invalid(name, "a string").within(in_name))?;
    let (data_type, shape) = field_type(data_type, types, depth).map_err(|error| error.within(in_type))?;
    Ok(Field { name: text.to_owned(), data_type, shape })
}

/// Returns the data type of a field, and its shape; the shape is empty unless the field is an array.
fn field_type(value: &Value, types: &DataTypes, depth: usize) -> Result<(DataType, Vec<u64>), Error> {
    let config = named(value)?;
    if config.name != ARRAY {
        return Ok((DataType::from_config_at(&config, types, depth + 1)?, Vec::new()));
    }
    only(&config, &["data_type", "shape"])?;
    let item = member(&config, "data_type", "a data type")?;
    let data_type = named(item).and_then(|item| DataType::from_config_at(&item, types, depth + 1));
    let data_type = data_type.map_err(|error| error.within("/configuration/data_type"))?;
    let shape = member(&config, "shape", "an array of lengths")?;
    let lengths: Option<Vec<u64>> = shape.as_array().and_then(|lengths| lengths.iter().map(Value::as_u64).collect());
    let expected = || Error::invalid(shape, "an array of lengths").within("/configuration/shape");
    Ok((data_type, lengths.ok_or_else(expected)?))
}

fn named(value: &Value) -> Result<NamedConfig, Error> {
    NamedConfig::from_value(value).ok_or_else(|| Error::invalid(value, "a name, or an object with a name"))
}
