//! Translation between data types and their names in metadata documents.

use crate::{BytesName, DataType, DataTypes, Error, Extension, SmallFloat, StructType, TimeUnit, Unit};
use zarr_json::{Map, NamedConfig, Value};

/// Maximum size of an element in bytes: 64 MiB. No real type comes near; the limit prevents a fill value from taking gigabytes.
pub(crate) const MAX_ITEM_SIZE: u32 = 1 << 26;

/// Types without a configuration. If a type has several names, the first one is written.
const PLAIN: &[(&str, DataType)] = &[
    ("bool", DataType::Bool),
    ("int2", DataType::Int2),
    ("int4", DataType::Int4),
    ("int8", DataType::Int8),
    ("int16", DataType::Int16),
    ("int32", DataType::Int32),
    ("int64", DataType::Int64),
    ("uint2", DataType::UInt2),
    ("uint4", DataType::UInt4),
    ("uint8", DataType::UInt8),
    ("uint16", DataType::UInt16),
    ("uint32", DataType::UInt32),
    ("uint64", DataType::UInt64),
    ("float16", DataType::Float16),
    ("bfloat16", DataType::BFloat16),
    ("float32", DataType::Float32),
    ("float64", DataType::Float64),
    ("complex_float16", DataType::ComplexFloat16),
    ("complex_bfloat16", DataType::ComplexBFloat16),
    ("complex64", DataType::Complex64),
    ("complex128", DataType::Complex128),
    ("complex_float32", DataType::Complex64),
    ("complex_float64", DataType::Complex128),
    ("string", DataType::String),
    ("v2_object", DataType::Object),
    ("bytes", DataType::Bytes { name: BytesName::Bytes }),
    ("variable_length_bytes", DataType::Bytes { name: BytesName::VariableLengthBytes }),
];

/// Names of the types with a configuration.
const CONFIGURED: [&str; 8] = [
    "numpy.datetime64",
    "numpy.timedelta64",
    "null_terminated_bytes",
    "raw_bytes",
    "fixed_length_utf32",
    "vlen-array",
    "struct",
    "structured",
];

/// Returns the names of all types of this crate except raw bits.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    let plain = PLAIN.iter().map(|(name, _)| *name);
    plain.chain(SmallFloat::ALL.into_iter().map(SmallFloat::name)).chain(CONFIGURED)
}

/// Returns the type `name` if it has no configuration; else `None`.
pub(crate) fn plain(name: &str) -> Option<DataType> {
    let plain = PLAIN.iter().find(|(known, _)| *known == name).map(|(_, data_type)| data_type.clone());
    let small = || SmallFloat::from_name(name).map(DataType::SmallFloat);
    plain
        .or_else(small)
        .or_else(|| name.strip_prefix("complex_").and_then(SmallFloat::from_name).map(DataType::SmallComplex))
}

impl DataType {
    /// Returns the data type that a metadata document names. Types defined outside of this crate are found by
    /// [`DataTypes`](crate::DataTypes).
    ///
    /// # Errors
    /// [`Error::Unknown`] for an unknown name, [`Error::Invalid`] for a configuration that does not fit the type, with a JSON pointer such
    /// as `/configuration/unit`, and [`Error::Limit`] for elements above 64 MiB.
    ///
    /// # Example
    /// ```
    /// # use zarr_dtype::{DataType, TimeUnit, Unit};
    /// # use zarr_json::{NamedConfig, json, Map};
    /// let mut configuration = Map::new();
    /// configuration.insert("unit", "ms");
    /// configuration.insert("scale_factor", 1);
    /// let data_type = DataType::from_config(&NamedConfig::with("numpy.datetime64", configuration))?;
    /// assert_eq!(data_type, DataType::DateTime64(TimeUnit::new(Unit::Millisecond)));
    /// # Ok::<(), zarr_dtype::Error>(())
    /// ```
    pub fn from_config(config: &NamedConfig) -> Result<Self, Error> {
        DataTypes::default().from_config(config)
    }

    /// Returns the data type of a field that is nested in `depth` structs.
    pub(crate) fn from_config_at(config: &NamedConfig, types: &DataTypes, depth: usize) -> Result<Self, Error> {
        let name = config.name.as_str();
        if let Some(entry) = types.get(name) {
            return Extension::new(config.clone(), (entry.build)(config, types)?).map(Self::Extension);
        }
        if let Some(data_type) = plain(name) {
            return only(config, &[]).map(|()| data_type);
        }
        match name {
            "numpy.datetime64" => time_unit(config).map(Self::DateTime64),
            "numpy.timedelta64" => time_unit(config).map(Self::TimeDelta64),
            "null_terminated_bytes" => length(config, 1).map(|len| Self::FixedBytes { len }),
            "raw_bytes" => length(config, 1).map(|len| Self::RawBytes { len }),
            "fixed_length_utf32" => length(config, 4).map(|size| Self::FixedUtf32 { len: size / 4 }),
            "vlen-array" => vlen_array(config, types, depth),
            "struct" | "structured" => StructType::from_config(config, types, depth).map(Self::Struct),
            _ => raw_bits(config).map_err(|error| match error {
                Error::Unknown { name, .. } => Error::Unknown { hint: types.hint(&name), name },
                error => error,
            }),
        }
    }

    /// Returns the name and configuration of this type in a metadata document.
    pub fn to_config(&self) -> NamedConfig {
        let with_length = |name: &str, size: u64| {
            let mut configuration = Map::new();
            configuration.insert("length_bytes", size);
            NamedConfig::with(name, configuration)
        };
        let with_unit = |name: &str, time: &TimeUnit| {
            let mut configuration = Map::new();
            configuration.insert("unit", time.unit.code());
            configuration.insert("scale_factor", time.scale);
            NamedConfig::with(name, configuration)
        };
        match self {
            Self::SmallFloat(float) => NamedConfig::new(float.name()),
            Self::SmallComplex(part) => NamedConfig::new(format!("complex_{}", part.name())),
            Self::RawBits(size) => NamedConfig::new(format!("r{}", u64::from(*size) * 8)),
            Self::FixedBytes { len } => with_length("null_terminated_bytes", u64::from(*len)),
            Self::RawBytes { len } => with_length("raw_bytes", u64::from(*len)),
            Self::FixedUtf32 { len } => with_length("fixed_length_utf32", u64::from(*len) * 4),
            Self::DateTime64(time) => with_unit("numpy.datetime64", time),
            Self::TimeDelta64(time) => with_unit("numpy.timedelta64", time),
            Self::VlenArray(inner) => {
                let mut configuration = Map::new();
                configuration.insert("data_type", inner.to_config().short_value());
                NamedConfig::with("vlen-array", configuration)
            }
            Self::Struct(fields) => fields.to_config(),
            Self::Extension(extension) => extension.config().clone(),
            plain => {
                let known = PLAIN.iter().find(|(_, known)| known == plain);
                NamedConfig::new(known.map(|(name, _)| *name).expect("every type without parameters is in PLAIN"))
            }
        }
    }
}

/// Parses `vlen-array`, whose member `data_type` is the type of the inner elements.
fn vlen_array(config: &NamedConfig, types: &DataTypes, depth: usize) -> Result<DataType, Error> {
    only(config, &["data_type"])?;
    let value = member(config, "data_type", "the data type of the inner elements")?;
    let within = |error: Error| error.within("/configuration/data_type");
    let inner = NamedConfig::from_value(value);
    let inner = inner.ok_or_else(|| within(Error::invalid(value, "a name, or an object with a name")))?;
    match DataType::from_config_at(&inner, types, depth + 1).map_err(within)? {
        inner if inner.is_variable() => Err(within(Error::invalid(value, "a data type of fixed size"))),
        inner => Ok(DataType::VlenArray(Box::new(inner))),
    }
}

/// Parses `r<bits>`: the number of bits is a multiple of eight, without leading zeros.
fn raw_bits(config: &NamedConfig) -> Result<DataType, Error> {
    let name = config.name.as_str();
    let unknown = || Error::Unknown { name: name.to_owned(), hint: None };
    let digits = name.strip_prefix('r').ok_or_else(unknown)?;
    if digits.is_empty() || digits.starts_with('0') || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(unknown());
    }
    only(config, &[])?;
    let bits: u64 = digits.parse().unwrap_or(u64::MAX);
    if !bits.is_multiple_of(8) && bits != u64::MAX {
        return Err(Error::invalid(&Value::from(name), "a number of bits that is a multiple of 8"));
    }
    size_within("", bits / 8).map(DataType::RawBits)
}

/// Returns the member `length_bytes`, which must be a positive multiple of `unit`.
fn length(config: &NamedConfig, unit: u32) -> Result<u32, Error> {
    only(config, &["length_bytes"])?;
    let value = member(config, "length_bytes", "a number of bytes")?;
    match value.as_u64() {
        Some(size) if size > 0 && size.is_multiple_of(u64::from(unit)) => {
            size_within("/configuration/length_bytes", size)
        }
        _ if unit == 1 => Err(Error::invalid(value, "a number of bytes from 1").within("/configuration/length_bytes")),
        _ => Err(Error::invalid(value, format!("a multiple of {unit} bytes")).within("/configuration/length_bytes")),
    }
}

fn size_within(pointer: &str, size: u64) -> Result<u32, Error> {
    let limit = Error::Limit { pointer: pointer.to_owned(), found: size, limit: u64::from(MAX_ITEM_SIZE) };
    u32::try_from(size).ok().filter(|&size| size <= MAX_ITEM_SIZE).ok_or(limit)
}

fn time_unit(config: &NamedConfig) -> Result<TimeUnit, Error> {
    only(config, &["unit", "scale_factor"])?;
    let unit = member(config, "unit", "a unit of time")?;
    let scale = member(config, "scale_factor", "a number of units")?;
    let known = unit.as_str().and_then(Unit::from_code);
    let codes = || Unit::CODES.map(|(_, code)| code).join(", ");
    let in_range = scale.as_i64().and_then(|scale| i32::try_from(scale).ok()).filter(|&scale| scale > 0);
    Ok(TimeUnit {
        unit: known.ok_or_else(|| Error::invalid(unit, format!("one of {}", codes())).within("/configuration/unit"))?,
        scale: in_range.map(i32::unsigned_abs).ok_or_else(|| {
            Error::invalid(scale, "an integer from 1 to 2147483647").within("/configuration/scale_factor")
        })?,
    })
}

pub(crate) fn member<'c>(config: &'c NamedConfig, name: &str, expected: &str) -> Result<&'c Value, Error> {
    config.configuration.get(name).ok_or_else(|| Error::Invalid {
        pointer: format!("/configuration/{name}"),
        found: "nothing".to_owned(),
        expected: expected.to_owned(),
    })
}

/// Checks that the configuration has no members except `names`.
pub(crate) fn only(config: &NamedConfig, names: &[&str]) -> Result<(), Error> {
    match config.configuration.iter().find(|(name, _)| !names.contains(name)) {
        Some((name, value)) => {
            let pointer = format!("/configuration/{}", name.replace('~', "~0").replace('/', "~1"));
            Err(Error::invalid(value, "no such member").within(&pointer))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zarr_json::json;

    fn parse(name: &str, configuration: Value) -> Result<DataType, Error> {
        let configuration = configuration.as_object().cloned().unwrap_or_default();
        DataType::from_config(&NamedConfig::with(name, configuration))
    }

    #[test]
    fn names_are_known() {
        for name in DataTypes::default().names() {
            assert!(!matches!(parse(name, json!({})), Err(Error::Unknown { .. })), "{name}");
        }
        assert!(DataTypes::default().names().any(|name| name == "float8_e4m3fn"));
    }

    #[test]
    fn types_come_back_from_their_configuration() {
        let check = |name: &str, configuration: Value, written: &str, item_size: usize| {
            let data_type = parse(name, configuration).unwrap();
            assert_eq!(data_type.to_config().short_value().to_string(), written);
            assert_eq!(DataType::from_config(&data_type.to_config()).unwrap(), data_type);
            assert_eq!(data_type.item_size(), item_size, "{name}");
        };
        for (name, data_type) in PLAIN {
            let written = name.replace("complex_float32", "complex64").replace("complex_float64", "complex128");
            check(name, json!(null), &format!("\"{written}\""), data_type.item_size());
        }
        for float in SmallFloat::ALL {
            check(float.name(), json!(null), &format!("\"{}\"", float.name()), 1);
            let complex = format!("complex_{}", float.name());
            check(&complex, json!(null), &format!("\"{complex}\""), 2);
        }
        check("r24", json!(null), "\"r24\"", 3);
        let of_dates =
            json!({"data_type": {"name": "numpy.datetime64", "configuration": {"unit": "D", "scale_factor": 1}}});
        check("vlen-array", of_dates.clone(), &format!(r#"{{"name":"vlen-array","configuration":{of_dates}}}"#), 16);
        check(
            "fixed_length_utf32",
            json!({"length_bytes": 20}),
            r#"{"name":"fixed_length_utf32","configuration":{"length_bytes":20}}"#,
            20,
        );
        check("raw_bytes", json!({"length_bytes": 3}), r#"{"name":"raw_bytes","configuration":{"length_bytes":3}}"#, 3);
        check(
            "null_terminated_bytes",
            json!({"length_bytes": 7}),
            r#"{"name":"null_terminated_bytes","configuration":{"length_bytes":7}}"#,
            7,
        );
        check(
            "numpy.timedelta64",
            json!({"scale_factor": 25, "unit": "s"}),
            r#"{"name":"numpy.timedelta64","configuration":{"unit":"s","scale_factor":25}}"#,
            8,
        );
    }

    #[test]
    fn errors_have_a_pointer_and_the_expected_form() {
        let check = |name: &str, configuration: Value, expected: &str| {
            assert_eq!(parse(name, configuration).unwrap_err().to_string(), expected);
        };
        check("float128", json!(null), "unknown data type float128");
        check("r08", json!(null), "unknown data type r08");
        check("r", json!(null), "unknown data type r");
        check("r12", json!(null), r#"found "r12", expected a number of bits that is a multiple of 8"#);
        check(
            "r99999999999999999999999",
            json!(null),
            "found 2305843009213693951 bytes for one element, expected at most 67108864",
        );
        check("int32", json!({"a/b": 1}), "/configuration/a~1b: found 1, expected no such member");
        check(
            "fixed_length_utf32",
            json!({"length_bytes": 6}),
            "/configuration/length_bytes: found 6, expected a multiple of 4 bytes",
        );
        check(
            "vlen-array",
            json!({"data_type": "string"}),
            "/configuration/data_type: found \"string\", expected a data type of fixed size",
        );
        check("raw_bytes", json!(null), "/configuration/length_bytes: found nothing, expected a number of bytes");
        check(
            "raw_bytes",
            json!({"length_bytes": 0}),
            "/configuration/length_bytes: found 0, expected a number of bytes from 1",
        );
        check(
            "numpy.datetime64",
            json!({"unit": "ms", "scale_factor": 0}),
            "/configuration/scale_factor: found 0, expected an integer from 1 to 2147483647",
        );
        let error = parse("numpy.datetime64", json!({"unit": "q", "scale_factor": 1})).unwrap_err();
        assert_eq!(error.within("/data_type").pointer(), "/data_type/configuration/unit");
    }
}
