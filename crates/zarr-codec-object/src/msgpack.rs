//! Lists in MessagePack.

mod read;
mod write;

use crate::objects::{self, Notation, Shape};
use zarr_codec::{BuildContext, CodecEntry, Error};
use zarr_json::Value;

/// Codec `msgpack2`, for the table of codecs.
pub const MSGPACK2: CodecEntry = CodecEntry::array_to_bytes("numcodecs.msgpack2", |context| {
    objects::build(context, "msgpack2", MsgPack::from_context(context)?, Shape::Stored)
})
.id("msgpack2")
.short("msgpack")
.only_read(&["msgpack2"]);

/// Codec `msgpack` of numcodecs before 0.6, for the table of codecs.
pub const MSGPACK: CodecEntry = CodecEntry::array_to_bytes("numcodecs.msgpack", |context| {
    if let Some(encoding) = context.config.text("encoding")?
        && !encoding.eq_ignore_ascii_case("utf-8")
    {
        return Err(context.config.unexpected("encoding", "\"utf-8\"", &Value::from(encoding)));
    }
    // Its time knew no type for bytes.
    let notation = MsgPack { use_bin_type: false, ..MsgPack::from_context(context)? };
    objects::build(context, "msgpack", notation, Shape::Implicit)
})
.id("msgpack")
.short("numcodecs.msgpack");

/// How MessagePack is written, and the type of its texts.
#[derive(Clone, Debug)]
struct MsgPack {
    /// Bytes have a type of their own, other than texts.
    use_bin_type: bool,
    /// Floats are of 32 bits.
    use_single_float: bool,
    /// Texts are read as bytes.
    raw: bool,
}

impl MsgPack {
    fn from_context(context: &BuildContext<'_>) -> Result<Self, Error> {
        let config = context.config;
        Ok(Self {
            use_bin_type: config.or_default("use_bin_type", config.bool("use_bin_type"), true),
            use_single_float: config.or_default("use_single_float", config.bool("use_single_float"), false),
            raw: config.bool("raw")?.unwrap_or(false),
        })
    }
}

impl Notation for MsgPack {
    fn parse(&self, bytes: &[u8]) -> Result<Value, String> {
        read::list(bytes, self.raw)
    }

    fn write(&self, list: &Value, out: &mut Vec<u8>) -> Result<(), String> {
        self.write_value(list, out)
    }
}
