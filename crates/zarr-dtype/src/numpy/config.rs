//! Translation between types of numpy and names of data types.

use super::{NumpyField, NumpyType};
use crate::structure::config;
use crate::{DataType, TimeUnit, Unit};
use zarr_json::{NamedConfig, Value, json};

impl NumpyType {
    /// Returns the name and configuration of the data type. Objects, whose type depends on their codec, give `v2_object`.
    pub fn to_config(&self) -> NamedConfig {
        let with_length = |name: &str, size: u64| {
            NamedConfig::with(name, [("length_bytes".to_owned(), Value::from(size))].into_iter().collect())
        };
        match self {
            Self::Number(number) => number.to_config(),
            Self::Time { is_span: true, unit } => DataType::TimeDelta64(*unit).to_config(),
            Self::Time { is_span: false, unit } => DataType::DateTime64(*unit).to_config(),
            Self::Bytes(size) => with_length("null_terminated_bytes", *size),
            Self::Text(len) => with_length("fixed_length_utf32", len.saturating_mul(4)),
            Self::Raw(size) => with_length("raw_bytes", *size),
            Self::Object => NamedConfig::new("v2_object"),
            Self::Struct(fields) => {
                config::to_config(fields.iter().map(|field| (&*field.name, field.numpy.to_config(), &*field.shape)))
            }
        }
    }

    /// Returns the number or bool with the data type name `name`; `None` if neither numpy nor TensorStore has it.
    pub fn named(name: &str) -> Option<Self> {
        let known = crate::name::plain(name)?;
        let is_none = |known: &DataType| {
            matches!(known, DataType::SmallComplex(_) | DataType::ComplexFloat16 | DataType::ComplexBFloat16)
        };
        (known.class().is_some() && !is_none(&known)).then_some(Self::Number(known))
    }

    /// Returns the numpy type for the data type that a document names: the inverse of [`to_config`](Self::to_config).
    /// [`Object`](Self::Object) for types of variable length; `None` for types that numpy and TensorStore lack.
    pub fn from_config(data_type: &NamedConfig) -> Option<Self> {
        from_named(data_type)
    }
}

fn from_named(data_type: &NamedConfig) -> Option<NumpyType> {
    let configuration = &data_type.configuration;
    let length = || configuration.get("length_bytes").and_then(Value::as_u64);
    let name = data_type.name.as_str();
    if let Some(number) = NumpyType::named(name) {
        return Some(number);
    }
    Some(match name {
        "numpy.datetime64" | "numpy.timedelta64" => {
            let unit = configuration.get("unit")?.as_str()?;
            let scale = configuration.get("scale_factor").map_or(Some(1), Value::as_u64)?;
            NumpyType::Time {
                is_span: name == "numpy.timedelta64",
                unit: TimeUnit { unit: Unit::from_code(unit)?, scale: u32::try_from(scale).ok()? },
            }
        }
        "null_terminated_bytes" => NumpyType::Bytes(length()?),
        "raw_bytes" => NumpyType::Raw(length()?),
        "fixed_length_utf32" => NumpyType::Text(length().filter(|size| size.is_multiple_of(4))? / 4),
        "string" | "bytes" | "variable_length_bytes" | "v2_object" | "vlen-array" => NumpyType::Object,
        "struct" => {
            let fields = configuration.get("fields")?.as_array()?;
            NumpyType::Struct(fields.iter().map(field).collect::<Option<_>>()?)
        }
        // The older name, with lists of name and type.
        "structured" => {
            let fields = configuration.get("fields")?.as_array()?;
            let field = |value: &Value| match value.as_array()? {
                [name, data_type] => field(&json!({"name": (name.clone()), "data_type": (data_type.clone())})),
                _ => None,
            };
            NumpyType::Struct(fields.iter().map(field).collect::<Option<_>>()?)
        }
        name => {
            let bits: u64 = name.strip_prefix('r')?.parse().ok()?;
            NumpyType::Raw(bits.is_multiple_of(8).then_some(bits / 8)?)
        }
    })
}

fn field(value: &Value) -> Option<NumpyField> {
    let name = value.get("name")?.as_str()?.to_owned();
    let data_type = value.get("data_type")?;
    let (data_type, shape) = match (data_type.get("name").and_then(Value::as_str), data_type.get("configuration")) {
        (Some(config::ARRAY), Some(configuration)) => {
            let shape = configuration.get("shape")?.as_array()?.iter().map(Value::as_u64).collect::<Option<_>>()?;
            (configuration.get("data_type")?, shape)
        }
        _ => (data_type, Vec::new()),
    };
    let numpy = from_named(&NamedConfig::from_value(data_type)?)?;
    (numpy != NumpyType::Object).then_some(NumpyField { name, numpy, shape })
}
