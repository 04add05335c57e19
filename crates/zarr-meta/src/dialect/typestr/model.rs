//! Between types of numpy and the data types of the model.

use super::{Dtype, Endian, Field, NUMBERS, UNITS};
use crate::dialect::codecs;
use crate::error::{Error, ErrorKind, Result};
use crate::json::{Map, Value};
use crate::{NamedConfig, json};

impl Dtype {
    /// The data type in the model. That of objects depends on their codec and is not known here: `v2_object`.
    pub(crate) fn data_type(&self) -> NamedConfig {
        let with_length = |name: &str, size: u64| {
            NamedConfig::with(name, [("length_bytes".to_owned(), Value::from(size))].into_iter().collect())
        };
        match self {
            Self::Number(number) => NamedConfig::new(number.name),
            Self::Time { is_span, unit, scale } => {
                let mut configuration = Map::new();
                configuration.insert("unit", *unit);
                configuration.insert("scale_factor", *scale);
                NamedConfig::with(if *is_span { "numpy.timedelta64" } else { "numpy.datetime64" }, configuration)
            }
            Self::Bytes(size) => with_length("null_terminated_bytes", *size),
            Self::Text(len) => with_length("fixed_length_utf32", len.saturating_mul(4)),
            Self::Raw(size) => with_length("raw_bytes", *size),
            Self::Object => NamedConfig::new("v2_object"),
            Self::Struct(fields) => {
                let field = |field: &Field| {
                    let mut data_type = field.dtype.data_type().short_value();
                    if !field.shape.is_empty() {
                        let shape = Value::from(field.shape.clone());
                        data_type =
                            json!({"name": "subarray", "configuration": {"data_type": data_type, "shape": shape}});
                    }
                    json!({"name": (field.name.as_str()), "data_type": data_type})
                };
                let fields = Value::Array(fields.iter().map(field).collect());
                NamedConfig::with("struct", [("fields".to_owned(), fields)].into_iter().collect())
            }
        }
    }

    /// The codec `bytes` that stores elements in this byte order.
    pub(crate) fn bytes_codec(&self, endian: &Endian) -> NamedConfig {
        if !self.is_wide() {
            return codecs::bytes(None);
        }
        match endian.uniform() {
            Some(word) => codecs::bytes(Some(word)),
            None => {
                let fields = endian.to_value();
                NamedConfig::with("bytes", [("field_endian".to_owned(), fields)].into_iter().collect())
            }
        }
    }

    /// The byte order in which a codec `bytes` of this configuration stores elements.
    pub(crate) fn endian(&self, configuration: &Map) -> Result<Endian> {
        if let Some(fields) = configuration.get("field_endian") {
            let unknown = || {
                let pointer = "/configuration/field_endian";
                Error::new(ErrorKind::NotExpressible, pointer, fields.excerpt(), "a byte order for each field")
            };
            return Endian::from_value(fields).ok_or_else(unknown);
        }
        match configuration.get("endian").map(Value::as_str) {
            None | Some(Some("little")) => Ok(Endian::all(self, "little")),
            Some(Some("big")) => Ok(Endian::all(self, "big")),
            _ => Err(Error::new(ErrorKind::NotExpressible, "/configuration/endian", "no byte order", "little or big")),
        }
    }
}

/// The type of numpy for a data type of the model: the inverse of [`Dtype::data_type`].
///
/// `Dtype::Object` for those of variable length.
pub(crate) fn from_model(data_type: &NamedConfig) -> Result<Dtype> {
    let no = || {
        let found = data_type.short_value().excerpt();
        Error::new(ErrorKind::NotExpressible, "", format!("data type {found}"), "a type of numpy")
    };
    from_named(data_type).ok_or_else(no)
}

/// As [`from_model`], without the types that TensorStore adds to version 2.
pub(crate) fn from_model_of_numpy(data_type: &NamedConfig) -> Result<Dtype> {
    let dtype = from_model(data_type)?;
    if dtype.is_of_numpy() {
        return Ok(dtype);
    }
    let found = format!("data type {}", data_type.short_value().excerpt());
    Err(Error::new(ErrorKind::NotExpressible, "", found, "a type of numpy"))
}

fn from_named(data_type: &NamedConfig) -> Option<Dtype> {
    let configuration = &data_type.configuration;
    let length = || configuration.get("length_bytes").and_then(Value::as_u64);
    let name = match data_type.name.as_str() {
        "complex_float32" => "complex64",
        "complex_float64" => "complex128",
        name => name,
    };
    if let Some(number) = NUMBERS.iter().find(|number| number.name == name) {
        return Some(Dtype::Number(number));
    }
    Some(match name {
        "numpy.datetime64" | "numpy.timedelta64" => {
            let unit = configuration.get("unit")?.as_str()?;
            let scale = configuration.get("scale_factor").map_or(Some(1), Value::as_u64)?;
            Dtype::Time {
                is_span: name == "numpy.timedelta64",
                unit: UNITS.into_iter().find(|known| *known == unit)?,
                scale: u32::try_from(scale).ok()?,
            }
        }
        "null_terminated_bytes" => Dtype::Bytes(length()?),
        "raw_bytes" => Dtype::Raw(length()?),
        "fixed_length_utf32" => Dtype::Text(length().filter(|size| size.is_multiple_of(4))? / 4),
        "string" | "bytes" | "variable_length_bytes" | "v2_object" | "vlen-array" => Dtype::Object,
        "struct" => {
            let fields = configuration.get("fields")?.as_array()?;
            Dtype::Struct(fields.iter().map(field).collect::<Option<_>>()?)
        }
        // The older name, with lists of name and type.
        "structured" => {
            let fields = configuration.get("fields")?.as_array()?;
            let field = |value: &Value| match value.as_array()? {
                [name, data_type] => field(&json!({"name": (name.clone()), "data_type": (data_type.clone())})),
                _ => None,
            };
            Dtype::Struct(fields.iter().map(field).collect::<Option<_>>()?)
        }
        name => {
            let bits: u64 = name.strip_prefix('r')?.parse().ok()?;
            Dtype::Raw(bits.is_multiple_of(8).then_some(bits / 8)?)
        }
    })
}

fn field(value: &Value) -> Option<Field> {
    let name = value.get("name")?.as_str()?.to_owned();
    let data_type = value.get("data_type")?;
    let (data_type, shape) = match (data_type.get("name").and_then(Value::as_str), data_type.get("configuration")) {
        (Some("subarray"), Some(configuration)) => {
            let shape = configuration.get("shape")?.as_array()?.iter().map(Value::as_u64).collect::<Option<_>>()?;
            (configuration.get("data_type")?, shape)
        }
        _ => (data_type, Vec::new()),
    };
    let dtype = from_named(&NamedConfig::from_value(data_type)?)?;
    (dtype != Dtype::Object).then_some(Field { name, dtype, shape })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pointer::At;

    #[test]
    fn there_and_back() {
        for value in [
            json!("<f8"),
            json!("|b1"),
            json!(">U3"),
            json!("|S4"),
            json!("|V3"),
            json!("<M8[25s]"),
            json!("bfloat16"),
            json!([["a", "<i4"], ["b", ">f8", [2, 3]], ["c", [["x", "|u1"], ["y", ">u2"]]]]),
            json!([["a", ">i4"], ["b", "|S3"]]),
        ] {
            let (dtype, endian) = Dtype::parse(&At::root(&value)).unwrap();
            assert_eq!(from_model(&dtype.data_type()).unwrap(), dtype);
            assert_eq!(dtype.endian(&dtype.bytes_codec(&endian).configuration).unwrap(), endian, "{value}");
        }
    }

    #[test]
    fn names_of_version_3() {
        let data_type = |value: Value| Dtype::parse(&At::root(&value)).unwrap().0.data_type().short_value().to_string();
        assert_eq!(data_type(json!("|V3")), r#"{"name":"raw_bytes","configuration":{"length_bytes":3}}"#);
        assert_eq!(data_type(json!("<U3")), r#"{"name":"fixed_length_utf32","configuration":{"length_bytes":12}}"#);
        let fields = r#"{"name":"struct","configuration":{"fields":[{"name":"a","data_type":"int32"}]}}"#;
        assert_eq!(data_type(json!([["a", "<i4"]])), fields);
        let old = json!({"name": "structured", "configuration": {"fields": [["a", "int32"]]}});
        let old = from_model(&NamedConfig::from_value(&old).unwrap()).unwrap();
        assert_eq!(old, Dtype::parse(&At::root(&json!([["a", "<i4"]]))).unwrap().0);
        assert_eq!(from_model(&NamedConfig::new("r7")).unwrap_err().kind(), ErrorKind::NotExpressible);
    }
}
