//! Serde implementations of data types and fill values.

use crate::{DataType, FillValue};
use serde::de::{Deserialize, Deserializer, Error as _};
use serde::ser::{Serialize, SerializeStruct, Serializer};
use zarr_json::{Map, NamedConfig, Value};

impl Serialize for DataType {
    /// Serializes the type as in a Zarr v3 document: the name alone, or an object with name and configuration.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_config().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for DataType {
    /// Deserializes the type from the form of a Zarr v3 document. Types added by [`DataTypes`](crate::DataTypes) are not known here;
    /// deserialize these as a [`NamedConfig`].
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::from_config(&NamedConfig::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

/// Data type with a fill value, for documents that hold both: the notation of a fill value depends on its data type.
///
/// It is serialized as two members, `data_type` and `fill_value`, in the notation of Zarr v3. With `#[serde(flatten)]` they can be among
/// other members.
///
/// ```
/// use zarr_dtype::{DataType, TypedFillValue};
///
/// let text = r#"{"data_type":"float32","fill_value":"NaN"}"#;
/// let typed: TypedFillValue = serde_json::from_str(text)?;
/// assert_eq!(typed.data_type, DataType::Float32);
/// assert_eq!(serde_json::to_string(&typed)?, text);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TypedFillValue {
    /// Data type of the fill value.
    pub data_type: DataType,
    /// Fill value: a value of `data_type`.
    pub fill_value: FillValue,
}

impl Serialize for TypedFillValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut members = serializer.serialize_struct("TypedFillValue", 2)?;
        members.serialize_field("data_type", &self.data_type)?;
        members.serialize_field("fill_value", &self.fill_value.to_json(&self.data_type))?;
        members.end()
    }
}

impl<'de> Deserialize<'de> for TypedFillValue {
    /// Deserializes both members, and ignores other members.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let members = Map::deserialize(deserializer)?;
        let member = |name: &str| {
            let missing = || D::Error::custom(format!("member {name:?} is missing"));
            members.get(name).ok_or_else(missing)
        };
        let config: &Value = member("data_type")?;
        let data_type = zarr_json::from_value::<DataType>(config)
            .map_err(|error| D::Error::custom(format!("/data_type: {error}")))?;
        let fill_value = FillValue::parse(&data_type, member("fill_value")?)
            .map_err(|error| D::Error::custom(format!("/fill_value: {error}")))?;
        Ok(Self { data_type, fill_value })
    }
}
