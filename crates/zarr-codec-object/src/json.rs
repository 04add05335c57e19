//! Lists in JSON, as Python writes it.

mod encoding;
mod read;
mod write;

use self::encoding::Encoding;
use crate::objects::{self, Notation, Shape};
use zarr_codec::{BuildContext, CodecEntry, Config, Error};
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
            config.or_none(member, config.bool(member));
        }
        let indent = config.or_none("indent", indent(config));
        let separators = match config.value("separators").map(|value| (value, value.as_array())) {
            None => Ok(None),
            Some((_, Some([Value::String(items), Value::String(names)]))) => Ok(Some((items.as_str(), names.as_str()))),
            Some((value, _)) => Err(config.unexpected("separators", "an array of two strings", value)),
        };
        let usual = if indent.is_some() { (", ", ": ") } else { (",", ":") };
        let (between_items, behind_names) = config.or_none("separators", separators).unwrap_or(usual);
        let switch = |member| config.or_default(member, config.bool(member), true);
        Ok(Self {
            encoding,
            ensure_ascii: switch("ensure_ascii"),
            allow_nan: switch("allow_nan"),
            sort_keys: switch("sort_keys"),
            indent,
            between_items: between_items.to_owned(),
            behind_names: behind_names.to_owned(),
        })
    }
}

/// The indentation of lines, which Python takes as a text or a number.
fn indent(config: &Config<'_>) -> Result<Option<String>, Error> {
    Ok(match config.value("indent") {
        None => None,
        Some(Value::String(text)) => Some(text.clone()),
        // To Python these are numbers.
        Some(Value::Bool(is_one)) => Some(if *is_one { " " } else { "" }.to_owned()),
        Some(value) => {
            let width = value.as_i64().filter(|width| *width <= 64);
            let width = width.ok_or_else(|| config.unexpected("indent", "a string, or an integer up to 64", value))?;
            Some(" ".repeat(usize::try_from(width).unwrap_or(0)))
        }
    })
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
