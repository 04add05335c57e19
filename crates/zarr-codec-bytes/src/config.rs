//! The configuration: the byte order.

use zarr_codec::{BuildContext, Error};
use zarr_dtype::{ByteOrder, Layout};
use zarr_json::{Map, NamedConfig, Value};

/// The configuration of codec `bytes`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BytesConfig {
    /// The byte order, if the metadata has one: of all numbers, or of each field of a struct.
    pub endian: Option<ByteOrder>,
}

impl BytesConfig {
    /// Reads the configuration.
    ///
    /// # Errors
    /// [`Error::Metadata`] for any `endian` but `"little"` and `"big"`, and for a `field_endian` that lacks the order of a
    /// field or is there for elements that are no structs.
    pub fn from_context(context: &BuildContext<'_>) -> Result<Self, Error> {
        let config = context.config;
        let fields = config.value("field_endian");
        let endian = match (config.value("endian"), fields) {
            (None, None) => return Ok(Self::default()),
            (Some(_), Some(value)) => {
                return Err(config.unexpected("field_endian", "`endian` or this, not both", value));
            }
            (Some(value), None) => match value.as_str().and_then(word) {
                Some(order) => order,
                None => return Err(config.unexpected("endian", "\"little\" or \"big\"", value)),
            },
            (None, Some(value)) => {
                match value.as_array().and_then(|_| order(value)).filter(|order| order.fits(&context.element.layout()))
                {
                    Some(order) => order,
                    None => return Err(config.unexpected("field_endian", "the byte order of each field", value)),
                }
            }
        };
        Ok(Self { endian: Some(endian) })
    }

    /// The codec as metadata has it, for elements of `layout`. One order for all fields is said as such, none where elements
    /// have none.
    ///
    /// ```
    /// # use zarr_codec_bytes::BytesConfig;
    /// # use zarr_dtype::{ByteOrder, DataType};
    /// let config = BytesConfig { endian: Some(ByteOrder::Big) };
    /// let codec = config.to_config(&DataType::Int16.layout());
    /// assert_eq!(codec.to_value().to_string(), r#"{"name":"bytes","configuration":{"endian":"big"}}"#);
    /// assert_eq!(config.to_config(&DataType::Int8.layout()).short_value().to_string(), r#""bytes""#);
    /// ```
    pub fn to_config(&self, layout: &Layout) -> NamedConfig {
        let mut configuration = Map::new();
        if layout.has_byte_order() {
            let order = self.order();
            match order.uniform() {
                Some(order) => configuration.insert("endian", value(order)),
                None => configuration.insert("field_endian", value(&order)),
            };
        }
        NamedConfig::with("bytes", configuration)
    }

    /// The byte order; little where the metadata has none.
    pub fn order(&self) -> ByteOrder {
        self.endian.clone().unwrap_or(ByteOrder::Little)
    }
}

fn word(text: &str) -> Option<ByteOrder> {
    match text {
        "little" => Some(ByteOrder::Little),
        "big" => Some(ByteOrder::Big),
        _ => None,
    }
}

/// `"little"`, `"big"`, `null` for types without a byte order, or a list of these for the fields of a struct. Text that
/// was parsed as JSON nests so deep at most that this may call itself.
fn order(value: &Value) -> Option<ByteOrder> {
    match value {
        Value::Null => Some(ByteOrder::Irrelevant),
        Value::String(text) => word(text),
        Value::Array(fields) => fields.iter().map(order).collect::<Option<_>>().map(ByteOrder::Fields),
        _ => None,
    }
}

/// The inverse of [`order`].
fn value(order: &ByteOrder) -> Value {
    match order {
        ByteOrder::Little => Value::from("little"),
        ByteOrder::Big => Value::from("big"),
        ByteOrder::Irrelevant => Value::Null,
        ByteOrder::Fields(fields) => Value::Array(fields.iter().map(value).collect()),
    }
}
