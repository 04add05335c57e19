//! JSON lists as Python writes them.

mod encoding;
mod read;
mod write;

use self::encoding::Encoding;
use crate::objects::{self, Notation, Shape};
use zarr_codec::{BuildContext, CodecEntry, CodecValue, Config, Error};
use zarr_json::{Map, Value};

/// Entry of the codec `json2` for the table of codecs.
pub const JSON2: CodecEntry = CodecEntry::array_to_bytes("numcodecs.json2", |context| {
    objects::build(context, "json2", Json2::from_config(context)?.style, Shape::Stored)
})
.id("json2")
.short("json")
.only_read(&["json2"]);

/// Entry of the codec `json` of numcodecs before 0.6 for the table of codecs.
pub const JSON: CodecEntry = CodecEntry::array_to_bytes("numcodecs.json", |context| {
    objects::build(context, "json", Json::from_config(context)?.style, Shape::Implicit)
})
.id("json")
.short("numcodecs.json");

/// Defines a codec that stores objects as JSON.
macro_rules! codec {
    ($codec:ident, $entry:ident, $name:literal) => {
        #[doc = concat!("Codec `", $name, "`: objects as JSON.")]
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct $codec {
            style: Style,
        }

        impl $codec {
            /// Creates the codec with the style that Python has by default, but without spaces and with sorted names.
            pub fn new() -> Self {
                Self { style: Style::new() }
            }

            /// Sets whether all characters beyond ASCII are escaped, which is the default.
            #[must_use]
            pub fn ensure_ascii(self, ensure_ascii: bool) -> Self {
                Self { style: Style { ensure_ascii, ..self.style } }
            }

            /// Sets whether the members of objects are sorted by name, which is the default.
            #[must_use]
            pub fn sort_keys(self, sort_keys: bool) -> Self {
                Self { style: Style { sort_keys, ..self.style } }
            }

            /// Sets whether numbers may be infinite or NaN, which is the default.
            #[must_use]
            pub fn allow_nan(self, allow_nan: bool) -> Self {
                Self { style: Style { allow_nan, ..self.style } }
            }

            /// Sets line breaks, with an indentation of `spaces` spaces per level, at most 64.
            ///
            /// # Errors
            /// [`Error::Argument`] for more than 64 spaces.
            pub fn indent(self, spaces: u32) -> Result<Self, Error> {
                let spaces = $entry.in_range("indent", spaces, 0..=MAX_INDENT)?;
                Ok(Self { style: self.style.indented(" ".repeat(spaces as usize)) })
            }
        }

        impl Default for $codec {
            fn default() -> Self {
                Self::new()
            }
        }

        impl CodecValue for $codec {
            const ENTRY: CodecEntry = $entry;

            fn from_config(context: &BuildContext<'_>) -> Result<Self, Error> {
                Ok(Self { style: Style::from_config(context)? })
            }

            fn to_config(&self) -> Map {
                self.style.to_config()
            }
        }
    };
}

codec!(Json2, JSON2, "json2");
codec!(Json, JSON, "json");

/// Maximum number of spaces of an indentation.
const MAX_INDENT: u32 = 64;

/// Style of the JSON that is written.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Style {
    encoding: Encoding,
    ensure_ascii: bool,
    allow_nan: bool,
    sort_keys: bool,
    /// Indentation of lines per level; `None` writes everything on a single line.
    indent: Option<String>,
    between_items: String,
    behind_names: String,
}

impl Style {
    /// Creates the style that Python has by default, but without spaces and with sorted names.
    fn new() -> Self {
        Self {
            encoding: Encoding::Utf8,
            ensure_ascii: true,
            allow_nan: true,
            sort_keys: true,
            indent: None,
            between_items: ",".to_owned(),
            behind_names: ":".to_owned(),
        }
    }

    /// Returns the style with line breaks and indentation `indent`, and with the separators that Python uses with line breaks.
    fn indented(self, indent: String) -> Self {
        let (between_items, behind_names) = usual(true);
        let (between_items, behind_names) = (between_items.to_owned(), behind_names.to_owned());
        Self { indent: Some(indent), between_items, behind_names, ..self }
    }

    fn from_config(context: &BuildContext<'_>) -> Result<Self, Error> {
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
        let separators = config.or_none("separators", separators);
        let (between_items, behind_names) = separators.unwrap_or_else(|| usual(indent.is_some()));
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

    /// Returns the members that differ from the default.
    fn to_config(&self) -> Map {
        let separators = (self.between_items.as_str(), self.behind_names.as_str());
        let separators = (separators != usual(self.indent.is_some())).then(|| vec![separators.0, separators.1].into());
        let is_width = |indent: &str| indent.bytes().all(|byte| byte == b' ') && indent.len() <= MAX_INDENT as usize;
        let indent = |indent: &String| if is_width(indent) { indent.len().into() } else { indent.as_str().into() };
        let off = |switch: bool| (!switch).then(|| false.into());
        Map::from_some([
            ("encoding", (self.encoding != Encoding::Utf8).then(|| self.encoding.name().into())),
            ("ensure_ascii", off(self.ensure_ascii)),
            ("sort_keys", off(self.sort_keys)),
            ("indent", self.indent.as_ref().map(indent)),
            ("allow_nan", off(self.allow_nan)),
            ("separators", separators),
        ])
    }
}

/// Returns the separators that Python uses between items and after names, with or without line breaks.
fn usual(has_lines: bool) -> (&'static str, &'static str) {
    if has_lines { (", ", ": ") } else { (",", ":") }
}

/// Returns the indentation of lines from the configuration, a string or a number as in Python; `None` for no line breaks.
fn indent(config: &Config<'_>) -> Result<Option<String>, Error> {
    Ok(match config.value("indent") {
        None => None,
        Some(Value::String(text)) => Some(text.clone()),
        // To Python these are numbers.
        Some(Value::Bool(is_one)) => Some(if *is_one { " " } else { "" }.to_owned()),
        Some(value) => {
            let width = value.as_i64().filter(|width| *width <= MAX_INDENT.into());
            let width = width.ok_or_else(|| config.unexpected("indent", "a string, or an integer up to 64", value))?;
            Some(" ".repeat(usize::try_from(width).unwrap_or(0)))
        }
    })
}

impl Notation for Style {
    fn parse(&self, bytes: &[u8]) -> Result<Value, String> {
        read::list(&self.encoding.decode(bytes)?)
    }

    fn write(&self, list: &Value, out: &mut Vec<u8>) -> Result<(), String> {
        let mut text = String::new();
        self.write_value(list, 0, &mut text)?;
        self.encoding.encode(&text, out)
    }
}
