//! Codec `bytes` with its configuration: the byte order.

use crate::codec::BytesCodec;
use std::sync::Arc;
use zarr_codec::{BuildContext, CodecEntry, CodecValue, Error, add_missing};
use zarr_dtype::{ByteOrder, DataType, Layout};
use zarr_json::{Map, NamedConfig, Value};

/// Entry of the codec `bytes` for the table of codecs.
pub const BYTES: CodecEntry = CodecEntry::array_to_bytes("bytes", |context| {
    let (codec, element) = (Bytes::from_config(context)?, context.element);
    Ok(Arc::new(BytesCodec::new(&codec.order(), &element.data_type, element.layout())?))
})
.only_read(&["endian"])
.arguments(&[("endian", Some("\"little\""))])
.complete_with(complete);

/// Entry of the codec of this crate for the table of codecs.
pub const CODECS: &[CodecEntry] = &[BYTES];

/// Adds the default byte order to a configuration, unless it has an order for each field, as for structs of version 2.
fn complete(codec: &mut NamedConfig, data_type: &DataType) {
    if data_type.layout().has_byte_order() && !codec.configuration.contains_key("field_endian") {
        add_missing(codec, [("endian", "little".into())]);
    }
}

/// Codec `bytes`: the elements of a chunk in C order, in a byte order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bytes {
    /// Byte order of all numbers, or of each field of a struct; `None` if the metadata has none.
    endian: Option<ByteOrder>,
}

impl Bytes {
    /// Creates the codec for little-endian numbers.
    pub fn little_endian() -> Self {
        Self::new(ByteOrder::Little)
    }

    /// Creates the codec for big-endian numbers.
    pub fn big_endian() -> Self {
        Self::new(ByteOrder::Big)
    }

    /// Creates the codec with a byte order: of all numbers, or of each field of a struct.
    pub fn new(order: ByteOrder) -> Self {
        Self { endian: Some(order) }
    }

    /// Returns the codec as in metadata, for elements of `layout`. Equal orders of all fields are written as one order; elements without a
    /// byte order get none.
    ///
    /// ```
    /// # use zarr_codec_bytes::Bytes;
    /// # use zarr_dtype::DataType;
    /// let codec = Bytes::big_endian().to_config_of(&DataType::Int16.layout());
    /// assert_eq!(codec.to_value().to_string(), r#"{"name":"bytes","configuration":{"endian":"big"}}"#);
    /// let codec = Bytes::big_endian().to_config_of(&DataType::Int8.layout());
    /// assert_eq!(codec.short_value().to_string(), r#""bytes""#);
    /// ```
    pub fn to_config_of(&self, layout: &Layout) -> NamedConfig {
        let members = if layout.has_byte_order() { members(&self.order()) } else { Map::new() };
        NamedConfig::with(BYTES.name, members)
    }

    /// Returns the byte order; little-endian if the metadata has none.
    fn order(&self) -> ByteOrder {
        self.endian.clone().unwrap_or(ByteOrder::Little)
    }
}

impl CodecValue for Bytes {
    const ENTRY: CodecEntry = BYTES;

    /// Reads the configuration. Fails for an `endian` other than `"little"` and `"big"`, and for a `field_endian` that lacks a field or
    /// belongs to elements that are no structs.
    fn from_config(context: &BuildContext<'_>) -> Result<Self, Error> {
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

    fn to_config(&self) -> Map {
        self.endian.as_ref().map_or_else(Map::new, members)
    }
}

fn members(order: &ByteOrder) -> Map {
    match order.uniform() {
        Some(order) => Map::from([("endian", value(order))]),
        None => Map::from([("field_endian", value(order))]),
    }
}

fn word(text: &str) -> Option<ByteOrder> {
    match text {
        "little" => Some(ByteOrder::Little),
        "big" => Some(ByteOrder::Big),
        _ => None,
    }
}

/// Parses a byte order: `"little"`, `"big"`, `null` for types without a byte order, or a list of these for the fields of a struct. The
/// recursion is safe, since the depth of parsed JSON is limited.
fn order(value: &Value) -> Option<ByteOrder> {
    match value {
        Value::Null => Some(ByteOrder::Irrelevant),
        Value::String(text) => word(text),
        Value::Array(fields) => fields.iter().map(order).collect::<Option<_>>().map(ByteOrder::Fields),
        _ => None,
    }
}

/// Returns a byte order as JSON: the inverse of [`order`].
fn value(order: &ByteOrder) -> Value {
    match order {
        ByteOrder::Little => Value::from("little"),
        ByteOrder::Big => Value::from("big"),
        ByteOrder::Irrelevant => Value::Null,
        ByteOrder::Fields(fields) => Value::Array(fields.iter().map(value).collect()),
    }
}
