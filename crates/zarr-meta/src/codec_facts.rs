//! Table of facts about each codec for the translation of documents: names in each version, kind, and peculiarities in documents of
//! numcodecs. Each codec has one row.
//!
//! In version 3 a codec is written under the name that other software reads: the registered name, or `numcodecs.<id>` if zarr-python knows
//! the codec only under that name. A codec without a row has one name in version 3. If that name is `numcodecs.<id>`, the codec turns bytes
//! into bytes, compresses, has the `id` in version 2, and has the same configuration in both versions. A codec needs a row if it has
//! further names, or if one of these facts is false for its `id`. A test compares the rows with the entries of the codecs
//! (`zarr_codec::CodecEntry`).

/// Prefix that version 3 puts in front of the `id` of a codec of numcodecs.
pub const NUMCODECS: &str = "numcodecs.";

/// Kind of a codec, by its input and output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Codec from an array to an array.
    ArrayToArray,
    /// Codec from an array to bytes.
    ArrayToBytes,
    /// Codec from bytes to bytes.
    BytesToBytes,
}

/// Facts about one codec. The fields `object_type`, `compresses`, `types` and `form` are about documents that name the codec by its `id`.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct CodecFacts {
    /// `id` of the codec in numcodecs, used in documents of versions up to 2 and of the drafts; `None` if numcodecs lacks the codec.
    pub id: Option<&'static str>,
    /// Name of the codec that is written in version 3.
    pub v3: &'static str,
    /// Further names in version 3 that other software reads; documents with such a name keep it.
    pub kept: &'static [&'static str],
    /// Names in version 3 that are read, but replaced by `v3` when a document is written.
    pub read: &'static [&'static str],
    /// The kind of the codec: its input and its output.
    pub kind: Kind,
    /// Data type of variable length that this codec implies if it is the first filter of an object array; `None` for a codec that takes no
    /// objects.
    pub object_type: Option<&'static str>,
    /// Whether the codec compresses: if it is the last codec of an array, it becomes the compressor. A codec that does not compress is a
    /// filter at any position.
    pub compresses: bool,
    /// Way in which the configuration of the codec gives the types of its decoded and encoded elements.
    pub types: FilterTypes,
    /// Translation of the configuration between numcodecs and version 3.
    pub(crate) form: Form,
}

/// Way in which the configuration of a filter gives the types of its decoded and encoded elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FilterTypes {
    /// Elements of any type; decoded and encoded elements have the same type.
    Same,
    /// Types given by members of the configuration.
    Named(TypeMembers),
    /// Decoded elements are bools, encoded elements are `uint8`.
    Packed,
}

/// Names of the members by which a filter gives the types of its decoded and encoded elements. Without the member `encoded` both types are
/// equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TypeMembers {
    /// Name of the member with the type of decoded elements (the input when encoding).
    pub decoded: &'static str,
    /// Name of the member with the type of encoded elements (the output when encoding).
    pub encoded: &'static str,
    /// Whether zarr-python 3.4 takes the elements that the codec `bytes` decodes to be in the byte order of the filter's encoded type. If
    /// not, zarr-python takes them to be little-endian.
    pub has_order: bool,
}

impl TypeMembers {
    const OF_NUMBERS: Self = Self { decoded: "dtype", encoded: "astype", has_order: true };
    const WITHOUT_ORDER: Self = Self { has_order: false, ..Self::OF_NUMBERS };
    const OF_ASTYPE: Self = Self { decoded: "decode_dtype", encoded: "encode_dtype", has_order: true };
}

/// Translation of a configuration of numcodecs into that of version 3 and back, see `dialect/numcodecs/form.rs`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Configuration is the same in both.
    Same,
    /// Blosc: in numcodecs `shuffle` is a number, and the element size (`typesize`) is missing.
    Blosc,
    /// Gzip: numcodecs has a level -1.
    Gzip,
    /// Zstd: numcodecs has levels beyond the range of zstd.
    Zstd,
    /// CRC32C: numcodecs has a member `location`, which version 3 has only under the name `numcodecs.crc32c`.
    Crc32c,
    /// Shuffle: in numcodecs the element size has a default.
    Shuffle,
}

impl CodecFacts {
    /// Returns the names of the members that give types of elements; `None` if the configuration gives no types.
    pub fn type_members(&self) -> Option<TypeMembers> {
        match self.types {
            FilterTypes::Named(members) => Some(members),
            FilterTypes::Same | FilterTypes::Packed => None,
        }
    }

    /// Returns whether `name` is one of the names of this codec in version 3, written or only read.
    pub fn is_called(&self, name: &str) -> bool {
        self.v3 == name || self.kept.contains(&name) || self.read.contains(&name)
    }
}

/// Facts that most codecs of a kind share.
const ARRAY_TO_ARRAY: CodecFacts = CodecFacts { kind: Kind::ArrayToArray, compresses: false, ..BYTES_TO_BYTES };
const ARRAY_TO_BYTES: CodecFacts = CodecFacts { kind: Kind::ArrayToBytes, ..BYTES_TO_BYTES };
const BYTES_TO_BYTES: CodecFacts = CodecFacts {
    id: None,
    v3: "",
    kept: &[],
    read: &[],
    kind: Kind::BytesToBytes,
    object_type: None,
    compresses: true,
    types: FilterTypes::Same,
    form: Form::Same,
};

/// Codecs known by name, including codecs that this library does not implement.
#[rustfmt::skip]
pub static CODECS: &[CodecFacts] = &[
    CodecFacts { id: Some("adler32"), v3: "numcodecs.adler32", read: &["adler32"], compresses: false, ..BYTES_TO_BYTES },
    CodecFacts { id: Some("aec"), v3: "numcodecs.aec", ..BYTES_TO_BYTES },
    CodecFacts { id: Some("astype"), v3: "numcodecs.astype", read: &["astype"], types: FilterTypes::Named(TypeMembers::OF_ASTYPE), ..ARRAY_TO_ARRAY },
    CodecFacts { id: Some("base64"), v3: "numcodecs.base64", read: &["base64"], compresses: false, ..BYTES_TO_BYTES },
    CodecFacts { id: Some("bitround"), v3: "numcodecs.bitround", kept: &["bitround"], read: &["https://codec.zarrs.dev/array_to_array/bitround", "https://codec.zarrs.dev/array_to_bytes/bitround"], ..ARRAY_TO_ARRAY },
    CodecFacts { id: Some("bitshuffle"), v3: "numcodecs.bitshuffle", compresses: false, ..BYTES_TO_BYTES },
    CodecFacts { id: Some("blosc"), v3: "blosc", kept: &["numcodecs.blosc"], form: Form::Blosc, ..BYTES_TO_BYTES },
    CodecFacts { v3: "bytes", read: &["endian"], ..ARRAY_TO_BYTES },
    CodecFacts { id: Some("bz2"), v3: "numcodecs.bz2", read: &["bz2", "https://codec.zarrs.dev/bytes_to_bytes/bz2"], ..BYTES_TO_BYTES },
    CodecFacts { v3: "cast_value", ..ARRAY_TO_ARRAY },
    CodecFacts { id: Some("categorize"), v3: "numcodecs.categorize", read: &["categorize"], object_type: Some("string"), compresses: false, ..ARRAY_TO_BYTES },
    CodecFacts { v3: "conditional", ..BYTES_TO_BYTES },
    CodecFacts { id: Some("crc32"), v3: "numcodecs.crc32", read: &["crc32"], compresses: false, ..BYTES_TO_BYTES },
    CodecFacts { id: Some("crc32c"), v3: "crc32c", kept: &["numcodecs.crc32c"], compresses: false, form: Form::Crc32c, ..BYTES_TO_BYTES },
    CodecFacts { id: Some("delta"), v3: "numcodecs.delta", read: &["delta"], types: FilterTypes::Named(TypeMembers::OF_NUMBERS), ..ARRAY_TO_ARRAY },
    CodecFacts { id: Some("fixedscaleoffset"), v3: "numcodecs.fixedscaleoffset", read: &["fixedscaleoffset"], types: FilterTypes::Named(TypeMembers::OF_NUMBERS), ..ARRAY_TO_ARRAY },
    CodecFacts { id: Some("fletcher32"), v3: "numcodecs.fletcher32", read: &["fletcher32", "https://codec.zarrs.dev/bytes_to_bytes/fletcher32"], compresses: false, ..BYTES_TO_BYTES },
    CodecFacts { id: Some("gzip"), v3: "gzip", kept: &["numcodecs.gzip"], form: Form::Gzip, ..BYTES_TO_BYTES },
    CodecFacts { id: Some("jenkins_lookup3"), v3: "numcodecs.jenkins_lookup3", read: &["jenkins_lookup3"], compresses: false, ..BYTES_TO_BYTES },
    CodecFacts { id: Some("json2"), v3: "numcodecs.json2", read: &["json2"], object_type: Some("v2_object"), compresses: false, ..ARRAY_TO_BYTES },
    CodecFacts { id: Some("json"), v3: "numcodecs.json", object_type: Some("v2_object"), compresses: false, ..ARRAY_TO_BYTES },
    CodecFacts { id: Some("lz4"), v3: "numcodecs.lz4", read: &["lz4"], ..BYTES_TO_BYTES },
    CodecFacts { id: Some("lzma"), v3: "numcodecs.lzma", read: &["lzma"], ..BYTES_TO_BYTES },
    CodecFacts { id: Some("msgpack2"), v3: "numcodecs.msgpack2", read: &["msgpack2"], object_type: Some("v2_object"), compresses: false, ..ARRAY_TO_BYTES },
    CodecFacts { id: Some("msgpack"), v3: "numcodecs.msgpack", object_type: Some("v2_object"), compresses: false, ..ARRAY_TO_BYTES },
    CodecFacts { v3: "n5_default", ..ARRAY_TO_BYTES },
    CodecFacts { v3: "optional", kept: &["zarrs.optional"], ..ARRAY_TO_BYTES },
    CodecFacts { v3: "packbits", ..ARRAY_TO_BYTES },
    CodecFacts { id: Some("packbits"), v3: "numcodecs.packbits", types: FilterTypes::Packed, ..ARRAY_TO_ARRAY },
    CodecFacts { id: Some("pcodec"), v3: "numcodecs.pcodec", read: &["pcodec", "https://codec.zarrs.dev/array_to_bytes/pcodec"], ..ARRAY_TO_BYTES },
    CodecFacts { id: Some("pickle"), v3: "numcodecs.pickle", object_type: Some("v2_object"), compresses: false, ..ARRAY_TO_BYTES },
    CodecFacts { id: Some("quantize"), v3: "numcodecs.quantize", read: &["quantize"], types: FilterTypes::Named(TypeMembers::WITHOUT_ORDER), ..ARRAY_TO_ARRAY },
    CodecFacts { v3: "reshape", ..ARRAY_TO_ARRAY },
    CodecFacts { v3: "scale_offset", ..ARRAY_TO_ARRAY },
    CodecFacts { v3: "sharding_indexed", ..ARRAY_TO_BYTES },
    CodecFacts { id: Some("shuffle"), v3: "numcodecs.shuffle", read: &["shuffle"], compresses: false, form: Form::Shuffle, ..BYTES_TO_BYTES },
    CodecFacts { id: Some("szip"), v3: "numcodecs.szip", ..BYTES_TO_BYTES },
    CodecFacts { v3: "transpose", ..ARRAY_TO_ARRAY },
    CodecFacts { id: Some("vlen-array"), v3: "numcodecs.vlen-array", read: &["vlen-array"], object_type: Some("vlen-array"), compresses: false, ..ARRAY_TO_BYTES },
    CodecFacts { id: Some("vlen-bytes"), v3: "vlen-bytes", kept: &["numcodecs.vlen-bytes"], object_type: Some("bytes"), compresses: false, ..ARRAY_TO_BYTES },
    CodecFacts { id: Some("vlen-utf8"), v3: "vlen-utf8", kept: &["numcodecs.vlen-utf8"], object_type: Some("string"), compresses: false, ..ARRAY_TO_BYTES },
    CodecFacts { v3: "zarrs.squeeze", ..ARRAY_TO_ARRAY },
    CodecFacts { v3: "zarrs.vlen_v2", kept: &["https://codec.zarrs.dev/array_to_bytes/vlen_v2"], ..ARRAY_TO_BYTES },
    CodecFacts { v3: "zarrs.vlen", kept: &["https://codec.zarrs.dev/array_to_bytes/vlen"], ..ARRAY_TO_BYTES },
    CodecFacts { v3: "zfp", kept: &["zarrs.zfp", "https://codec.zarrs.dev/array_to_bytes/zfp"], ..ARRAY_TO_BYTES },
    CodecFacts { id: Some("zfpy"), v3: "numcodecs.zfpy", read: &["zfpy", "https://codec.zarrs.dev/array_to_bytes/zfpy"], ..ARRAY_TO_BYTES },
    CodecFacts { id: Some("zlib"), v3: "numcodecs.zlib", read: &["zlib"], ..BYTES_TO_BYTES },
    CodecFacts { id: Some("zstd"), v3: "zstd", kept: &["numcodecs.zstd"], form: Form::Zstd, ..BYTES_TO_BYTES },
];

/// Returns the codec that a document of version 3 calls `name`; `None` if no row has that name.
pub fn codec_named(name: &str) -> Option<&'static CodecFacts> {
    CODECS.iter().find(|codec| codec.is_called(name))
}

/// Returns the codec with the numcodecs `id`; `None` if no row has that id.
pub fn codec_of_id(id: &str) -> Option<&'static CodecFacts> {
    CODECS.iter().find(|codec| codec.id == Some(id))
}

/// Returns the version 3 name that is written for the codec `name`: `name` itself, or the written name of the codec if `name` is only read.
/// In dialects with ids of numcodecs (`has_ids`), `name` may also be an id.
pub fn written_name(name: &str, has_ids: bool) -> &str {
    if let Some(codec) = codec_of_id(name).filter(|_| has_ids) {
        return codec.v3;
    }
    match CODECS.iter().find(|codec| codec.read.contains(&name)) {
        Some(codec) => codec.v3,
        None => name,
    }
}

/// Returns the version 3 name to write for the codec `name` if its elements have type `data_type`. `numcodecs.bitround` takes integers for
/// the bits of floats, so for integers the name becomes `bitround`.
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
        for codec in CODECS {
            for name in [codec.v3].iter().chain(codec.kept).chain(codec.read) {
                assert!(seen.insert(*name), "{name}");
            }
            if let Some(id) = codec.id {
                assert_eq!(codec_of_id(id).map(|found| found.v3), Some(codec.v3));
                assert_eq!(written_name(id, true), codec.v3);
            }
        }
        let ids: BTreeSet<_> = CODECS.iter().filter_map(|codec| codec.id).collect();
        assert_eq!(ids.len(), CODECS.iter().filter(|codec| codec.id.is_some()).count());
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
