//! The names of codecs in documents of each version, which a translation of a document needs.
//!
//! A codec of version 3 goes by the name that other software reads: the registered one, or `numcodecs.<id>` where zarr-python has it
//! by that alone. A codec that is not in the table has one name in version 3; if that is `numcodecs.<id>`, it turns bytes into bytes,
//! and has the `id` in version 2. A codec needs a row for other names, and for an `id` of another kind. A test compares the rows with
//! the entries of the codecs (`zarr_codec::CodecEntry`).

/// The prefix that version 3 puts in front of the `id` of a codec of numcodecs.
pub const NUMCODECS: &str = "numcodecs.";

/// The kind of a codec: its input and its output.
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
pub struct CodecNames {
    /// The `id` in documents up to version 2 and of the drafts: that of numcodecs.
    pub id: Option<&'static str>,
    /// The name written in version 3.
    pub v3: &'static str,
    /// Other names in version 3 that other software reads. They stay as they are.
    pub kept: &'static [&'static str],
    /// Names in version 3 that are only read.
    pub read: &'static [&'static str],
    /// The kind of the codec: its input and its output.
    pub kind: Kind,
}

impl CodecNames {
    /// Whether a document of version 3 may call it so.
    pub fn is_called(&self, name: &str) -> bool {
        self.v3 == name || self.kept.contains(&name) || self.read.contains(&name)
    }
}

/// The codecs that are known by name, with the codecs that this library lacks.
#[rustfmt::skip]
pub static CODEC_NAMES: &[CodecNames] = &[
    CodecNames { id: Some("adler32"), v3: "numcodecs.adler32", kept: &[], read: &["adler32"], kind: Kind::BytesToBytes },
    CodecNames { id: Some("aec"), v3: "numcodecs.aec", kept: &[], read: &[], kind: Kind::BytesToBytes },
    CodecNames { id: Some("astype"), v3: "numcodecs.astype", kept: &[], read: &["astype"], kind: Kind::ArrayToArray },
    CodecNames { id: Some("base64"), v3: "numcodecs.base64", kept: &[], read: &["base64"], kind: Kind::BytesToBytes },
    CodecNames { id: Some("bitround"), v3: "numcodecs.bitround", kept: &["bitround"], read: &["https://codec.zarrs.dev/array_to_array/bitround", "https://codec.zarrs.dev/array_to_bytes/bitround"], kind: Kind::ArrayToArray },
    CodecNames { id: Some("bitshuffle"), v3: "numcodecs.bitshuffle", kept: &[], read: &[], kind: Kind::BytesToBytes },
    CodecNames { id: Some("blosc"), v3: "blosc", kept: &["numcodecs.blosc"], read: &[], kind: Kind::BytesToBytes },
    CodecNames { id: None, v3: "bytes", kept: &[], read: &["endian"], kind: Kind::ArrayToBytes },
    CodecNames { id: Some("bz2"), v3: "numcodecs.bz2", kept: &[], read: &["bz2", "https://codec.zarrs.dev/bytes_to_bytes/bz2"], kind: Kind::BytesToBytes },
    CodecNames { id: None, v3: "cast_value", kept: &[], read: &[], kind: Kind::ArrayToArray },
    CodecNames { id: Some("categorize"), v3: "numcodecs.categorize", kept: &[], read: &["categorize"], kind: Kind::ArrayToBytes },
    CodecNames { id: None, v3: "conditional", kept: &[], read: &[], kind: Kind::BytesToBytes },
    CodecNames { id: Some("crc32"), v3: "numcodecs.crc32", kept: &[], read: &["crc32"], kind: Kind::BytesToBytes },
    CodecNames { id: Some("crc32c"), v3: "crc32c", kept: &["numcodecs.crc32c"], read: &[], kind: Kind::BytesToBytes },
    CodecNames { id: Some("delta"), v3: "numcodecs.delta", kept: &[], read: &["delta"], kind: Kind::ArrayToArray },
    CodecNames { id: Some("fixedscaleoffset"), v3: "numcodecs.fixedscaleoffset", kept: &[], read: &["fixedscaleoffset"], kind: Kind::ArrayToArray },
    CodecNames { id: Some("fletcher32"), v3: "numcodecs.fletcher32", kept: &[], read: &["fletcher32", "https://codec.zarrs.dev/bytes_to_bytes/fletcher32"], kind: Kind::BytesToBytes },
    CodecNames { id: Some("gzip"), v3: "gzip", kept: &["numcodecs.gzip"], read: &[], kind: Kind::BytesToBytes },
    CodecNames { id: Some("jenkins_lookup3"), v3: "numcodecs.jenkins_lookup3", kept: &[], read: &["jenkins_lookup3"], kind: Kind::BytesToBytes },
    CodecNames { id: Some("json2"), v3: "numcodecs.json2", kept: &[], read: &["json2"], kind: Kind::ArrayToBytes },
    CodecNames { id: Some("json"), v3: "numcodecs.json", kept: &[], read: &[], kind: Kind::ArrayToBytes },
    CodecNames { id: Some("lz4"), v3: "numcodecs.lz4", kept: &[], read: &["lz4"], kind: Kind::BytesToBytes },
    CodecNames { id: Some("lzma"), v3: "numcodecs.lzma", kept: &[], read: &["lzma"], kind: Kind::BytesToBytes },
    CodecNames { id: Some("msgpack2"), v3: "numcodecs.msgpack2", kept: &[], read: &["msgpack2"], kind: Kind::ArrayToBytes },
    CodecNames { id: Some("msgpack"), v3: "numcodecs.msgpack", kept: &[], read: &[], kind: Kind::ArrayToBytes },
    CodecNames { id: None, v3: "n5_default", kept: &[], read: &[], kind: Kind::ArrayToBytes },
    CodecNames { id: None, v3: "optional", kept: &["zarrs.optional"], read: &[], kind: Kind::ArrayToBytes },
    CodecNames { id: None, v3: "packbits", kept: &[], read: &[], kind: Kind::ArrayToBytes },
    CodecNames { id: Some("packbits"), v3: "numcodecs.packbits", kept: &[], read: &[], kind: Kind::ArrayToArray },
    CodecNames { id: Some("pcodec"), v3: "numcodecs.pcodec", kept: &[], read: &["pcodec", "https://codec.zarrs.dev/array_to_bytes/pcodec"], kind: Kind::ArrayToBytes },
    CodecNames { id: Some("pickle"), v3: "numcodecs.pickle", kept: &[], read: &[], kind: Kind::ArrayToBytes },
    CodecNames { id: Some("quantize"), v3: "numcodecs.quantize", kept: &[], read: &["quantize"], kind: Kind::ArrayToArray },
    CodecNames { id: None, v3: "reshape", kept: &[], read: &[], kind: Kind::ArrayToArray },
    CodecNames { id: None, v3: "scale_offset", kept: &[], read: &[], kind: Kind::ArrayToArray },
    CodecNames { id: None, v3: "sharding_indexed", kept: &[], read: &[], kind: Kind::ArrayToBytes },
    CodecNames { id: Some("shuffle"), v3: "numcodecs.shuffle", kept: &[], read: &["shuffle"], kind: Kind::BytesToBytes },
    CodecNames { id: Some("szip"), v3: "numcodecs.szip", kept: &[], read: &[], kind: Kind::BytesToBytes },
    CodecNames { id: None, v3: "transpose", kept: &[], read: &[], kind: Kind::ArrayToArray },
    CodecNames { id: Some("vlen-array"), v3: "numcodecs.vlen-array", kept: &[], read: &["vlen-array"], kind: Kind::ArrayToBytes },
    CodecNames { id: Some("vlen-bytes"), v3: "vlen-bytes", kept: &["numcodecs.vlen-bytes"], read: &[], kind: Kind::ArrayToBytes },
    CodecNames { id: Some("vlen-utf8"), v3: "vlen-utf8", kept: &["numcodecs.vlen-utf8"], read: &[], kind: Kind::ArrayToBytes },
    CodecNames { id: None, v3: "zarrs.squeeze", kept: &[], read: &[], kind: Kind::ArrayToArray },
    CodecNames { id: None, v3: "zarrs.vlen_v2", kept: &["https://codec.zarrs.dev/array_to_bytes/vlen_v2"], read: &[], kind: Kind::ArrayToBytes },
    CodecNames { id: None, v3: "zarrs.vlen", kept: &["https://codec.zarrs.dev/array_to_bytes/vlen"], read: &[], kind: Kind::ArrayToBytes },
    CodecNames { id: None, v3: "zfp", kept: &["zarrs.zfp", "https://codec.zarrs.dev/array_to_bytes/zfp"], read: &[], kind: Kind::ArrayToBytes },
    CodecNames { id: Some("zfpy"), v3: "numcodecs.zfpy", kept: &[], read: &["zfpy", "https://codec.zarrs.dev/array_to_bytes/zfpy"], kind: Kind::ArrayToBytes },
    CodecNames { id: Some("zlib"), v3: "numcodecs.zlib", kept: &[], read: &["zlib"], kind: Kind::BytesToBytes },
    CodecNames { id: Some("zstd"), v3: "zstd", kept: &["numcodecs.zstd"], read: &[], kind: Kind::BytesToBytes },
];

/// The codec that a document of version 3 calls `name`.
pub fn codec_named(name: &str) -> Option<&'static CodecNames> {
    CODEC_NAMES.iter().find(|codec| codec.is_called(name))
}

/// The codec of an `id` of numcodecs.
pub fn codec_of_id(id: &str) -> Option<&'static CodecNames> {
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
            if let Some(id) = codec.id {
                assert_eq!(codec_of_id(id).map(|found| found.v3), Some(codec.v3));
                assert_eq!(written_name(id, true), codec.v3);
            }
        }
        let ids: BTreeSet<_> = CODEC_NAMES.iter().filter_map(|codec| codec.id).collect();
        assert_eq!(ids.len(), CODEC_NAMES.iter().filter(|codec| codec.id.is_some()).count());
    }

    #[test]
    fn names_that_are_only_read_are_not_written() {
        assert_eq!(written_name("lz4", false), "numcodecs.lz4");
        assert_eq!(written_name("bitround", false), "bitround");
        assert_eq!(
            (written_name("packbits", false), written_name("packbits", true)),
            ("packbits", "numcodecs.packbits")
        );
        assert_eq!(written_name("mine", true), "mine");
    }
}
