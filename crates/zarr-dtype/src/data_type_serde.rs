//! Data types and fill values as parts of documents, by serde.

use crate::{DataType, FillValue};
use serde::de::{Deserialize, Deserializer, Error as _};
use serde::ser::{Serialize, SerializeStruct, Serializer};
use zarr_json::{Map, NamedConfig, Value};

impl Serialize for DataType {
    /// As a document of Zarr v3 has it: the name alone, or an object with a name and a configuration.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_config().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for DataType {
    /// As a document of Zarr v3 has it. Types that are added by [`DataTypes`](crate::DataTypes) are not known here;
    /// they are read as a [`NamedConfig`].
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::from_config(&NamedConfig::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

/// A data type with a fill value, for documents that hold both: the notation of a fill value depends on its type.
///
/// Two members, `data_type` and `fill_value`, in the notation of Zarr v3; `#[serde(flatten)]` puts them among others.
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
    /// The data type.
    pub data_type: DataType,
    /// A value of that type.
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
    /// Other members are left out.
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

#[cfg(test)]
mod tests {
    use super::*;
    use zarr_json::{from_value, json, to_value};

    #[test]
    fn types_and_fill_values_come_back() {
        let fields = json!([{"name": "a", "data_type": "int16"}, {"name": "b", "data_type": "float64"}]);
        let cases = [
            (json!("int64"), json!(-9_007_199_254_740_993_i64)),
            (json!("uint64"), json!(u64::MAX)),
            (json!("complex64"), json!([1.5, "-Infinity"])),
            (json!("string"), json!("x")),
            (json!({"name": "numpy.datetime64", "configuration": {"unit": "ns", "scale_factor": 1}}), json!("NaT")),
            (json!({"name": "struct", "configuration": {"fields": fields}}), json!({"a": 1, "b": "NaN"})),
        ];
        for (data_type, fill_value) in cases {
            let value = json!({"data_type": data_type, "fill_value": fill_value});
            let typed: TypedFillValue = from_value(&value).unwrap_or_else(|error| panic!("{value}: {error}"));
            let again: TypedFillValue = from_value(&to_value(&typed).unwrap()).unwrap();
            assert_eq!(again, typed);
            assert_eq!(to_value(&typed).unwrap().get("data_type"), value.get("data_type"));
        }
    }

    #[test]
    fn errors_name_the_member() {
        for (text, expected) in [
            (r#"{"fill_value":0}"#, "member \"data_type\" is missing"),
            (r#"{"data_type":"int8","fill_value":300}"#, "/fill_value"),
            (r#"{"data_type":"int9","fill_value":3}"#, "int9"),
        ] {
            let error = from_value::<TypedFillValue>(&Value::from_json(text).unwrap()).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
