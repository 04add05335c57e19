//! Data type `optional`.

use std::sync::Arc;
use zarr_dtype::{DataType, DataTypeEntry, DataTypes, Error, ExtensionType, Field, StructType, print};
use zarr_json::{Map, NamedConfig, Value};

/// Names of the data type and of the codec.
pub const NAMES: &[&str] = &["optional", "zarrs.optional"];

/// Entry of the data type `optional` for the table of data types.
pub const DATA_TYPE: DataTypeEntry = DataTypeEntry::new(NAMES, build);

/// Names of the fields of an element in memory.
const FIELDS: [&str; 2] = ["present", "value"];

fn build(config: &NamedConfig, types: &DataTypes) -> Result<Arc<dyn ExtensionType>, Error> {
    let members = &config.configuration;
    if let Some((name, value)) = members.iter().find(|(name, _)| !matches!(*name, "name" | "configuration")) {
        return Err(Error::invalid(value, "no such member").within(&format!("/configuration/{name}")));
    }
    let inner = NamedConfig::from_value(&Value::Object(Map::clone(members)));
    let expected = "a data type: its name, and its configuration if it has one";
    let whole = || Error::invalid(&Value::Object(Map::clone(members)), expected).within("/configuration");
    let inner = types.from_config(&inner.ok_or_else(whole)?).map_err(|error| error.within("/configuration"))?;
    if inner.is_variable() {
        let found = Value::from(inner.to_string());
        return Err(Error::invalid(&found, "a data type of fixed size").within("/configuration/name"));
    }
    let [present, value] = FIELDS;
    let fields = StructType::new(vec![Field::new(present, DataType::Bool), Field::new(value, inner.clone())]);
    Ok(Arc::new(Optional { inner, fields: fields? }))
}

/// Returns the data type of present values, or `None` if `storage` is not the type in which elements of `optional` lie in memory.
pub fn value_type(storage: &DataType) -> Option<&DataType> {
    let DataType::Struct(fields) = storage else { return None };
    match fields.fields() {
        [present, value] if [present.name.as_str(), value.name.as_str()] == FIELDS && value.shape.is_empty() => {
            (present.data_type == DataType::Bool && present.shape.is_empty()).then_some(&value.data_type)
        }
        _ => None,
    }
}

#[derive(Debug)]
struct Optional {
    inner: DataType,
    fields: StructType,
}

impl Optional {
    /// Returns the value of an element, or `None` for a missing element.
    fn value<'e>(&self, element: &'e [u8]) -> Option<&'e [u8]> {
        let (present, value) = element.split_first()?;
        (*present != 0).then_some(value)
    }
}

impl ExtensionType for Optional {
    fn storage(&self) -> DataType {
        DataType::Struct(self.fields.clone())
    }

    fn to_json(&self, element: &[u8]) -> Value {
        let value = self.value(element).map(|value| print::to_json(&self.inner, value, None));
        value.map_or(Value::Null, |value| Value::Array(vec![value]))
    }

    fn parse(&self, value: &Value) -> Result<Vec<u8>, Error> {
        match value {
            Value::Null => Ok(vec![0; self.fields.item_size()]),
            Value::Array(items) if items.len() == 1 => {
                let value = items.first().unwrap_or(&Value::Null);
                let value = print::parse(&self.inner, value).map_err(|error| error.within("/0"))?;
                Ok([&[1], value.as_slice()].concat())
            }
            _ => Err(Error::invalid(value, "null, or an array of one value")),
        }
    }

    fn to_text(&self, element: &[u8]) -> String {
        let value = self.value(element).map(|value| print::to_text(&self.inner, value, None));
        value.unwrap_or_else(|| "null".to_owned())
    }
}
