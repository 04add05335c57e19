//! MessagePack lists.

mod read;
mod write;

use crate::objects::{self, Notation, Shape};
use zarr_codec::{BuildContext, CodecEntry, CodecValue, Error};
use zarr_json::{Map, Value};

/// Entry of the codec `msgpack2` for the table of codecs.
pub const MSGPACK2: CodecEntry = CodecEntry::array_to_bytes("numcodecs.msgpack2", |context| {
    objects::build(context, "msgpack2", MsgPack2::from_config(context)?.style, Shape::Stored)
})
.id("msgpack2")
.short("msgpack")
.only_read(&["msgpack2"]);

/// Entry of the codec `msgpack` of numcodecs before 0.6 for the table of codecs.
pub const MSGPACK: CodecEntry = CodecEntry::array_to_bytes("numcodecs.msgpack", |context| {
    objects::build(context, "msgpack", MsgPack::from_config(context)?.style, Shape::Implicit)
})
.id("msgpack")
.short("numcodecs.msgpack");

/// Defines a codec that stores objects as MessagePack, with separate types for strings and bytes or a single type.
macro_rules! codec {
    ($codec:ident, $entry:ident, $name:literal, $use_bin_type:literal, $read:path) => {
        #[doc = concat!("Codec `", $name, "`: objects as MessagePack.")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $codec {
            style: Style,
        }

        impl $codec {
            /// Creates the codec with floats of 64 bits.
            pub fn new() -> Self {
                Self { style: Style { use_bin_type: $use_bin_type, use_single_float: false, raw: false } }
            }

            /// Sets whether floats are stored in 32 bits.
            #[must_use]
            pub fn use_single_float(self, use_single_float: bool) -> Self {
                Self { style: Style { use_single_float, ..self.style } }
            }

            /// Sets whether strings are read as bytes.
            #[must_use]
            pub fn raw(self, raw: bool) -> Self {
                Self { style: Style { raw, ..self.style } }
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
                Ok(Self { style: $read(context)? })
            }

            fn to_config(&self) -> Map {
                self.style.to_config($use_bin_type)
            }
        }
    };
}

codec!(MsgPack2, MSGPACK2, "msgpack2", true, Style::from_config);
codec!(MsgPack, MSGPACK, "msgpack", false, Style::from_old_config);

/// Style of the MessagePack that is written, and the type of strings that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Style {
    /// Whether bytes have a type different from strings.
    use_bin_type: bool,
    /// Whether floats are of 32 bits.
    use_single_float: bool,
    /// Whether strings are read as bytes.
    raw: bool,
}

impl Style {
    fn from_config(context: &BuildContext<'_>) -> Result<Self, Error> {
        let config = context.config;
        Ok(Self {
            use_bin_type: config.or_default("use_bin_type", config.bool("use_bin_type"), true),
            use_single_float: config.or_default("use_single_float", config.bool("use_single_float"), false),
            raw: config.bool("raw")?.unwrap_or(false),
        })
    }

    /// Reads the configuration of numcodecs before 0.6, when MessagePack had no type for bytes.
    fn from_old_config(context: &BuildContext<'_>) -> Result<Self, Error> {
        if let Some(encoding) = context.config.text("encoding")?
            && !encoding.eq_ignore_ascii_case("utf-8")
        {
            return Err(context.config.unexpected("encoding", "\"utf-8\"", &Value::from(encoding)));
        }
        Ok(Self { use_bin_type: false, ..Self::from_config(context)? })
    }

    /// Returns the members that differ from the default.
    fn to_config(self, use_bin_type: bool) -> Map {
        let other = |switch: bool, default: bool| (switch != default).then(|| switch.into());
        Map::from_some([
            ("use_bin_type", other(self.use_bin_type, use_bin_type)),
            ("use_single_float", other(self.use_single_float, false)),
            ("raw", other(self.raw, false)),
        ])
    }
}

impl Notation for Style {
    fn parse(&self, bytes: &[u8]) -> Result<Value, String> {
        read::list(bytes, self.raw)
    }

    fn write(&self, list: &Value, out: &mut Vec<u8>) -> Result<(), String> {
        self.write_value(list, out)
    }
}
