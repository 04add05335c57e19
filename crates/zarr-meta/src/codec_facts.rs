//! Facts of each codec for the translation of documents: its names in each version, its kind, and what is its own in documents of
//! numcodecs. It is one row for each.
//!
//! A codec of version 3 goes by the name that other software reads: the registered one, or `numcodecs.<id>` where zarr-python has it
//! by that alone. A codec that is not in the table has one name in version 3; if that is `numcodecs.<id>`, it turns bytes into bytes,
//! compresses, has the `id` in version 2, and the same configuration in both. A codec needs a row for other names, and for an `id` of
//! which anything else is true. A test compares the rows with the entries of the codecs (`zarr_codec::CodecEntry`).

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

/// The facts of one codec. Those from `object_type` on are about documents that have it by its `id`.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct CodecFacts {
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
    /// The data type of variable length that it stands for as the first filter of objects; `None` for a codec that takes no objects.
    pub object_type: Option<&'static str>,
    /// Whether it compresses, so that the last codec of an array is its compressor. Others are filters, wherever they are.
    pub compresses: bool,
    /// The way in which its configuration says the types of the elements in front of it and behind it.
    pub types: FilterTypes,
    /// The translation of its configuration.
    pub(crate) form: Form,
}

/// The way in which the configuration of a filter says the types of the elements in front of it and behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FilterTypes {
    /// Elements of any type on both sides, the same on each.
    Same,
    /// Types that members of the configuration name.
    Named(TypeMembers),
    /// Bools in front of the filter, `uint8` behind it.
    Packed,
}

/// The members in which a filter names the types in front of it and behind it; without the second one they are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TypeMembers {
    /// The member of the type in front.
    pub decoded: &'static str,
    /// The member of the type behind.
    pub encoded: &'static str,
    /// Whether zarr-python 3.4 takes the elements that `bytes` decodes for elements in the order of the type behind the filter.
    /// If not, it takes them for little-endian ones.
    pub has_order: bool,
}

impl TypeMembers {
    const OF_NUMBERS: Self = Self { decoded: "dtype", encoded: "astype", has_order: true };
    const WITHOUT_ORDER: Self = Self { has_order: false, ..Self::OF_NUMBERS };
    const OF_ASTYPE: Self = Self { decoded: "decode_dtype", encoded: "encode_dtype", has_order: true };
}

/// The translation of the configuration of numcodecs into that of version 3, and back: `dialect/numcodecs/form.rs`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// As it is.
    Same,
    /// `shuffle` is a number, and the size of elements is not there.
    Blosc,
    /// There is a level -1.
    Gzip,
    /// There are levels beyond those of zstd.
    Zstd,
    /// There is a member `location`, which version 3 has by the name of numcodecs alone.
    Crc32c,
    /// The size of elements has a default.
    Shuffle,
}

impl CodecFacts {
    /// The members in which it names types of elements.
    pub fn type_members(&self) -> Option<TypeMembers> {
        match self.types {
            FilterTypes::Named(members) => Some(members),
            FilterTypes::Same | FilterTypes::Packed => None,
        }
    }

    /// Whether a document of version 3 may call it so.
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

/// The codecs that are known by name, with the codecs that this library lacks.
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

/// The codec that a document of version 3 calls `name`.
pub fn codec_named(name: &str) -> Option<&'static CodecFacts> {
    CODECS.iter().find(|codec| codec.is_called(name))
}

/// The codec of an `id` of numcodecs.
pub fn codec_of_id(id: &str) -> Option<&'static CodecFacts> {
    CODECS.iter().find(|codec| codec.id == Some(id))
}

/// The name in the vocabulary of version 3 that is written for `name`: another one if that is only read. In dialects that have ids
/// of numcodecs (`has_ids`), an id is that codec.
pub fn written_name(name: &str, has_ids: bool) -> &str {
    if let Some(codec) = codec_of_id(name).filter(|_| has_ids) {
        return codec.v3;
    }
    match CODECS.iter().find(|codec| codec.read.contains(&name)) {
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
