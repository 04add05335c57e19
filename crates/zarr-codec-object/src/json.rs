//! Lists in JSON, as Python writes it.

mod encoding;
mod read;
mod write;

use self::encoding::Encoding;
use crate::objects::{self, Notation, Shape};
use zarr_codec::{BuildContext, CodecEntry, Error};
use zarr_json::Value;

/// Codec `json2`, for the table of codecs.
pub const JSON2: CodecEntry = CodecEntry::array_to_bytes("numcodecs.json2", |context| {
    objects::build(context, "json2", Json::from_context(context)?, Shape::Stored)
})
.id("json2")
.short("json")
.only_read(&["json2"]);

/// Codec `json` of numcodecs before 0.6, for the table of codecs.
pub const JSON: CodecEntry = CodecEntry::array_to_bytes("numcodecs.json", |context| {
    objects::build(context, "json", Json::from_context(context)?, Shape::Implicit)
})
.id("json")
.short("numcodecs.json");

/// How JSON is written.
#[derive(Clone, Debug)]
struct Json {
    encoding: Encoding,
    ensure_ascii: bool,
    allow_nan: bool,
    sort_keys: bool,
    /// The indentation of lines for each level; `None`: there are no lines.
    indent: Option<String>,
    between_items: String,
    behind_names: String,
}

impl Json {
    fn from_context(context: &BuildContext<'_>) -> Result<Self, Error> {
        let config = context.config;
        let encoding = match config.text("encoding")? {
            None => Encoding::Utf8,
            Some(name) => Encoding::named(name)
                .ok_or_else(|| config.unexpected("encoding", Encoding::KNOWN, &Value::from(name)))?,
        };
        // These matter to Python's own objects and checks only.
        for member in ["skipkeys", "check_circular", "strict"] {
            config.bool(member)?;
        }
        let indent = match config.value("indent") {
            None => None,
            Some(Value::String(text)) => Some(text.clone()),
            // To Python these are numbers.
            Some(Value::Bool(is_one)) => Some(if *is_one { " " } else { "" }.to_owned()),
            Some(value) => {
                let width = value.as_i64().filter(|width| *width <= 64);
                let width =
                    width.ok_or_else(|| config.unexpected("indent", "a string, or an integer up to 64", value))?;
                Some(" ".repeat(usize::try_from(width).unwrap_or(0)))
            }
        };
        let (between_items, behind_names) = match config.value("separators") {
            None if indent.is_some() => (", ", ": "),
            None => (",", ":"),
            Some(value) => match value.as_array() {
                Some([Value::String(items), Value::String(names)]) => (items.as_str(), names.as_str()),
                _ => return Err(config.unexpected("separators", "an array of two strings", value)),
            },
        };
        Ok(Self {
            encoding,
            ensure_ascii: config.bool("ensure_ascii")?.unwrap_or(true),
            allow_nan: config.bool("allow_nan")?.unwrap_or(true),
            sort_keys: config.bool("sort_keys")?.unwrap_or(true),
            indent,
            between_items: between_items.to_owned(),
            behind_names: behind_names.to_owned(),
        })
    }
}

impl Notation for Json {
    fn parse(&self, bytes: &[u8]) -> Result<Value, String> {
        read::list(&self.encoding.decode(bytes)?)
    }

    fn write(&self, list: &Value, out: &mut Vec<u8>) -> Result<(), String> {
        let mut text = String::new();
        self.write_value(list, 0, &mut text)?;
        self.encoding.encode(&text, out)
    }
}
