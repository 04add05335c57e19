//! The names of codecs: what people type, what documents of each version say, and what is read.
//!
//! A codec of version 3 goes by the name that other software reads: the registered one, or `numcodecs.<id>` where zarr-python has it
//! by that alone. What is not here is known by the name that its author gave it.

/// What stands in version 3 in front of the `id` of a codec of numcodecs.
pub const NUMCODECS: &str = "numcodecs.";

/// What a codec turns into what.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Chunks into chunks.
    ArrayToArray,
    /// Chunks into bytes.
    ArrayToBytes,
    /// Bytes into bytes.
    BytesToBytes,
}

/// The names of one codec.
#[derive(Clone, Copy, Debug)]
pub struct CodecName {
    /// What people type: of several codecs of one kind, such as `json2` and `json`, the one that is written today has the short name.
    pub typed: &'static str,
    /// The `id` in documents up to version 2 and of the drafts: that of numcodecs.
    pub id: Option<&'static str>,
    /// What is written in version 3.
    pub v3: &'static str,
    /// Other names in version 3 that other software reads. They stay as they are.
    pub kept: &'static [&'static str],
    /// Names in version 3 that are only read.
    pub read: &'static [&'static str],
    /// The members that can be typed behind the name, in this order, with the JSON of what is written if they are not.
    pub arguments: &'static [(&'static str, Option<&'static str>)],
    /// What it turns into what.
    pub kind: Kind,
}

impl CodecName {
    /// Whether a document of version 3 may call it so.
    pub fn is_called(&self, name: &str) -> bool {
        self.v3 == name || self.kept.contains(&name) || self.read.contains(&name)
    }
}

/// All codecs that are known by name, those that this library lacks among them.
#[rustfmt::skip]
pub static CODEC_NAMES: &[CodecName] = &[
    CodecName { typed: "adler32", id: Some("adler32"), v3: "numcodecs.adler32", kept: &[], read: &["adler32"], arguments: &[("location", None)], kind: Kind::BytesToBytes },
    CodecName { typed: "aec", id: Some("aec"), v3: "numcodecs.aec", kept: &[], read: &[], arguments: &[], kind: Kind::BytesToBytes },
    CodecName { typed: "astype", id: Some("astype"), v3: "numcodecs.astype", kept: &[], read: &["astype"], arguments: &[("encode_dtype", None)], kind: Kind::ArrayToArray },
    CodecName { typed: "base64", id: Some("base64"), v3: "numcodecs.base64", kept: &[], read: &["base64"], arguments: &[], kind: Kind::BytesToBytes },
    CodecName { typed: "bitround", id: Some("bitround"), v3: "numcodecs.bitround", kept: &["bitround"], read: &[], arguments: &[("keepbits", None)], kind: Kind::ArrayToArray },
    CodecName { typed: "bitshuffle", id: Some("bitshuffle"), v3: "numcodecs.bitshuffle", kept: &[], read: &[], arguments: &[], kind: Kind::BytesToBytes },
    CodecName { typed: "blosc", id: Some("blosc"), v3: "blosc", kept: &["numcodecs.blosc"], read: &[], arguments: &[("cname", Some("\"lz4\"")), ("clevel", Some("5")), ("shuffle", Some("\"shuffle\"")), ("blocksize", Some("0"))], kind: Kind::BytesToBytes },
    CodecName { typed: "bytes", id: None, v3: "bytes", kept: &[], read: &["endian"], arguments: &[("endian", Some("\"little\""))], kind: Kind::ArrayToBytes },
    CodecName { typed: "bz2", id: Some("bz2"), v3: "numcodecs.bz2", kept: &[], read: &["bz2"], arguments: &[("level", Some("1"))], kind: Kind::BytesToBytes },
    CodecName { typed: "cast_value", id: None, v3: "cast_value", kept: &[], read: &[], arguments: &[("data_type", None)], kind: Kind::ArrayToArray },
    CodecName { typed: "categorize", id: Some("categorize"), v3: "numcodecs.categorize", kept: &[], read: &["categorize"], arguments: &[], kind: Kind::ArrayToBytes },
    CodecName { typed: "conditional", id: None, v3: "conditional", kept: &[], read: &[], arguments: &[], kind: Kind::BytesToBytes },
    CodecName { typed: "crc32", id: Some("crc32"), v3: "numcodecs.crc32", kept: &[], read: &["crc32"], arguments: &[("location", None)], kind: Kind::BytesToBytes },
    CodecName { typed: "crc32c", id: Some("crc32c"), v3: "crc32c", kept: &["numcodecs.crc32c"], read: &[], arguments: &[], kind: Kind::BytesToBytes },
    CodecName { typed: "delta", id: Some("delta"), v3: "numcodecs.delta", kept: &[], read: &["delta"], arguments: &[("astype", None)], kind: Kind::ArrayToArray },
    CodecName { typed: "fixedscaleoffset", id: Some("fixedscaleoffset"), v3: "numcodecs.fixedscaleoffset", kept: &[], read: &["fixedscaleoffset"], arguments: &[("offset", None), ("scale", None), ("astype", None)], kind: Kind::ArrayToArray },
    CodecName { typed: "fletcher32", id: Some("fletcher32"), v3: "numcodecs.fletcher32", kept: &[], read: &["fletcher32"], arguments: &[], kind: Kind::BytesToBytes },
    CodecName { typed: "gzip", id: Some("gzip"), v3: "gzip", kept: &["numcodecs.gzip"], read: &[], arguments: &[("level", Some("5"))], kind: Kind::BytesToBytes },
    CodecName { typed: "jenkins_lookup3", id: Some("jenkins_lookup3"), v3: "numcodecs.jenkins_lookup3", kept: &[], read: &["jenkins_lookup3"], arguments: &[("initval", None)], kind: Kind::BytesToBytes },
    CodecName { typed: "json", id: Some("json2"), v3: "numcodecs.json2", kept: &[], read: &["json2"], arguments: &[], kind: Kind::ArrayToBytes },
    CodecName { typed: "numcodecs.json", id: Some("json"), v3: "numcodecs.json", kept: &[], read: &[], arguments: &[], kind: Kind::ArrayToBytes },
    CodecName { typed: "lz4", id: Some("lz4"), v3: "numcodecs.lz4", kept: &[], read: &["lz4"], arguments: &[("acceleration", Some("1"))], kind: Kind::BytesToBytes },
    CodecName { typed: "lzma", id: Some("lzma"), v3: "numcodecs.lzma", kept: &[], read: &["lzma"], arguments: &[("format", None), ("check", None), ("preset", None)], kind: Kind::BytesToBytes },
    CodecName { typed: "msgpack", id: Some("msgpack2"), v3: "numcodecs.msgpack2", kept: &[], read: &["msgpack2"], arguments: &[], kind: Kind::ArrayToBytes },
    CodecName { typed: "numcodecs.msgpack", id: Some("msgpack"), v3: "numcodecs.msgpack", kept: &[], read: &[], arguments: &[], kind: Kind::ArrayToBytes },
    CodecName { typed: "n5_default", id: None, v3: "n5_default", kept: &[], read: &[], arguments: &[], kind: Kind::ArrayToBytes },
    CodecName { typed: "optional", id: None, v3: "optional", kept: &["zarrs.optional"], read: &[], arguments: &[], kind: Kind::ArrayToBytes },
    CodecName { typed: "packbits", id: None, v3: "packbits", kept: &[], read: &[], arguments: &[("padding_encoding", None)], kind: Kind::ArrayToBytes },
    CodecName { typed: "numcodecs.packbits", id: Some("packbits"), v3: "numcodecs.packbits", kept: &[], read: &[], arguments: &[], kind: Kind::ArrayToArray },
    CodecName { typed: "pcodec", id: Some("pcodec"), v3: "numcodecs.pcodec", kept: &[], read: &["pcodec"], arguments: &[("level", Some("8"))], kind: Kind::ArrayToBytes },
    CodecName { typed: "pickle", id: Some("pickle"), v3: "numcodecs.pickle", kept: &[], read: &[], arguments: &[], kind: Kind::ArrayToBytes },
    CodecName { typed: "quantize", id: Some("quantize"), v3: "numcodecs.quantize", kept: &[], read: &["quantize"], arguments: &[("digits", None), ("astype", None)], kind: Kind::ArrayToArray },
    CodecName { typed: "reshape", id: None, v3: "reshape", kept: &[], read: &[], arguments: &[], kind: Kind::ArrayToArray },
    CodecName { typed: "scale_offset", id: None, v3: "scale_offset", kept: &[], read: &[], arguments: &[("offset", None), ("scale", None)], kind: Kind::ArrayToArray },
    CodecName { typed: "sharding_indexed", id: None, v3: "sharding_indexed", kept: &[], read: &[], arguments: &[], kind: Kind::ArrayToBytes },
    CodecName { typed: "shuffle", id: Some("shuffle"), v3: "numcodecs.shuffle", kept: &[], read: &["shuffle"], arguments: &[("elementsize", None)], kind: Kind::BytesToBytes },
    CodecName { typed: "szip", id: Some("szip"), v3: "numcodecs.szip", kept: &[], read: &[], arguments: &[], kind: Kind::BytesToBytes },
    CodecName { typed: "transpose", id: None, v3: "transpose", kept: &[], read: &[], arguments: &[], kind: Kind::ArrayToArray },
    CodecName { typed: "vlen-array", id: Some("vlen-array"), v3: "numcodecs.vlen-array", kept: &[], read: &["vlen-array"], arguments: &[("dtype", None)], kind: Kind::ArrayToBytes },
    CodecName { typed: "vlen-bytes", id: Some("vlen-bytes"), v3: "vlen-bytes", kept: &["numcodecs.vlen-bytes"], read: &[], arguments: &[], kind: Kind::ArrayToBytes },
    CodecName { typed: "vlen-utf8", id: Some("vlen-utf8"), v3: "vlen-utf8", kept: &["numcodecs.vlen-utf8"], read: &[], arguments: &[], kind: Kind::ArrayToBytes },
    CodecName { typed: "zarrs.vlen", id: None, v3: "zarrs.vlen", kept: &["https://codec.zarrs.dev/array_to_bytes/vlen"], read: &[], arguments: &[], kind: Kind::ArrayToBytes },
    CodecName { typed: "zfp", id: None, v3: "zfp", kept: &["zarrs.zfp", "https://codec.zarrs.dev/array_to_bytes/zfp"], read: &[], arguments: &[], kind: Kind::ArrayToBytes },
    CodecName { typed: "zfpy", id: Some("zfpy"), v3: "numcodecs.zfpy", kept: &[], read: &["zfpy"], arguments: &[], kind: Kind::ArrayToBytes },
    CodecName { typed: "zlib", id: Some("zlib"), v3: "numcodecs.zlib", kept: &[], read: &["zlib"], arguments: &[("level", Some("1"))], kind: Kind::BytesToBytes },
    CodecName { typed: "zstd", id: Some("zstd"), v3: "zstd", kept: &["numcodecs.zstd"], read: &[], arguments: &[("level", Some("0")), ("checksum", Some("false"))], kind: Kind::BytesToBytes },
];

/// The codec that people call `name`, or that a document of version 3 does.
pub fn codec_typed(name: &str) -> Option<&'static CodecName> {
    let typed = CODEC_NAMES.iter().find(|codec| codec.typed == name);
    typed.or_else(|| codec_named(name))
}

/// The codec that a document of version 3 calls `name`.
pub fn codec_named(name: &str) -> Option<&'static CodecName> {
    CODEC_NAMES.iter().find(|codec| codec.is_called(name))
}

/// The codec of an `id` of numcodecs.
pub fn codec_of_id(id: &str) -> Option<&'static CodecName> {
    CODEC_NAMES.iter().find(|codec| codec.id == Some(id))
}

/// The name in the vocabulary of version 3 that is written for `name`: another one if that is only read. In dialects that have ids
/// of numcodecs (`has_ids`), an id is that codec.
pub fn written_name(name: &str, has_ids: bool) -> &str {
    if let Some(codec) = codec_of_id(name).filter(|_| has_ids) {
        return codec.v3;
    }
    match CODEC_NAMES.iter().find(|codec| codec.read.contains(&name)) {
        Some(codec) => codec.v3,
        None => name,
    }
}

/// The name that is written for a codec of version 3 in front of elements of a data type. `bitround` of numcodecs is for floats: it
/// takes the bits of integers for these.
pub fn name_for<'a>(name: &'a str, data_type: &str) -> &'a str {
    let is_float = matches!(data_type, "float16" | "float32" | "float64");
    if name == "numcodecs.bitround" && !is_float { "bitround" } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_name_is_of_one_codec() {
        let mut seen = BTreeSet::new();
        for codec in CODEC_NAMES {
            for name in [codec.v3].iter().chain(codec.kept).chain(codec.read) {
                assert!(seen.insert(*name), "{name}");
            }
            assert!(codec_typed(codec.typed).is_some_and(|found| found.v3 == codec.v3), "{}", codec.typed);
            if let Some(id) = codec.id {
                assert_eq!(codec_of_id(id).map(|found| found.v3), Some(codec.v3));
                assert_eq!(written_name(id, true), codec.v3);
            }
        }
        let ids: BTreeSet<_> = CODEC_NAMES.iter().filter_map(|codec| codec.id).collect();
        assert_eq!(ids.len(), CODEC_NAMES.iter().filter(|codec| codec.id.is_some()).count());
    }

    #[test]
    fn what_is_only_read_is_written_otherwise() {
        assert_eq!(written_name("lz4", false), "numcodecs.lz4");
        assert_eq!(written_name("bitround", false), "bitround");
        assert_eq!(
            (written_name("packbits", false), written_name("packbits", true)),
            ("packbits", "numcodecs.packbits")
        );
        assert_eq!(written_name("mine", true), "mine");
    }
}
