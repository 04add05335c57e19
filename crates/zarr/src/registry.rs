//! Codecs and data types of this build: the table to which a new codec is added.

use std::sync::{Arc, LazyLock};
pub use zarr_array::{Defaults, MakeShard, Registry};
use zarr_codec::CodecEntry;
use zarr_dtype::{ByteOrder, DataType, DataTypeEntry, Layout, npy_descr};
use zarr_json::{Map, NamedConfig, Value};

#[cfg(feature = "object")]
pub use zarr_codec_object::PICKLE;

/// Returns the registry with all codecs and data types of this build. It is created once and shared.
///
/// To add your own codec, clone the registry, add the codec, and pass the clone to functions that take a registry:
///
/// ```
/// # const MINE: zarr::codec::CodecEntry = zarr::codec::CodecEntry::bytes_to_bytes("mine", |_| unreachable!());
/// use std::sync::Arc;
/// let mut registry = zarr::registry::Registry::clone(&zarr::registry::default());
/// registry.codecs.add(MINE);
/// let registry = Arc::new(registry);
/// assert!(registry.codecs.get("mine").is_some());
/// ```
pub fn default() -> Arc<Registry> {
    static REGISTRY: LazyLock<Arc<Registry>> = LazyLock::new(|| {
        let mut registry = without_defaults();
        registry.defaults.serializer = Some(serializer);
        registry.defaults.compressor = Some(compressor);
        registry.defaults.shard = Some(shard);
        Arc::new(registry)
    });
    Arc::clone(&REGISTRY)
}

/// Returns a registry with the codecs of this build but without default codecs for new arrays. Codecs that are given are still completed
/// with the members that their specifications require.
pub fn without_defaults() -> Registry {
    let mut registry = Registry::default();
    for entry in CODECS.iter().copied().flatten() {
        registry.codecs.add(*entry);
    }
    for entry in DATA_TYPES {
        registry.data_types.add(*entry);
    }
    for (name, hint) in HINTS.iter().chain(&[PICKLE_HINT, GDEFLATE_HINT]) {
        if registry.codecs.get(name).is_none() {
            registry.codecs.add_hint(name, hint);
        }
    }
    for name in ["optional", "zarrs.optional"].into_iter().filter(|_| !cfg!(feature = "optional")) {
        registry.data_types.add_hint(name, "enable feature `optional`");
    }
    registry
}

/// Lists the codecs of each crate, with the feature that adds them, and their names in documents of Zarr v3 for hints in builds without the
/// feature.
macro_rules! codecs {
    ($($feature:literal $krate:ident [$($name:literal)*])*) => {
        static CODECS: &[&[CodecEntry]] = &[
            zarr_codec_bytes::CODECS,
            zarr_codec_transpose::CODECS,
            $(#[cfg(feature = $feature)] $krate::CODECS,)*
        ];

        static HINTS: &[(&str, &str)] = &[$($(($name, concat!("enable feature `", $feature, "`")),)*)*];
    };
}

codecs! {
    "sharding" zarr_codec_sharding ["sharding_indexed"]
    "reshape" zarr_codec_reshape ["reshape" "zarrs.squeeze"]
    "n5" zarr_codec_n5 ["n5_default"]
    "gzip" zarr_codec_gzip ["gzip" "numcodecs.zlib"]
    "zstd" zarr_codec_zstd ["zstd"]
    "blosc" zarr_codec_blosc ["blosc"]
    "lz4" zarr_codec_lz4 ["numcodecs.lz4"]
    "bz2" zarr_codec_bz2 ["numcodecs.bz2"]
    "lzma" zarr_codec_lzma ["numcodecs.lzma"]
    "shuffle" zarr_codec_shuffle ["numcodecs.shuffle"]
    "base64" zarr_codec_base64 ["numcodecs.base64"]
    "pcodec" zarr_codec_pcodec ["numcodecs.pcodec"]
    "zfp" zarr_codec_zfp ["zfp" "numcodecs.zfpy"]
    "checksum" zarr_codec_checksum
        ["crc32c" "numcodecs.crc32" "numcodecs.adler32" "numcodecs.fletcher32" "numcodecs.jenkins_lookup3"]
    "numeric" zarr_codec_numeric
        ["numcodecs.astype" "numcodecs.bitround" "bitround" "cast_value" "numcodecs.delta" "numcodecs.fixedscaleoffset"
         "numcodecs.quantize" "scale_offset"]
    "packbits" zarr_codec_packbits ["packbits" "numcodecs.packbits"]
    "vlen" zarr_codec_vlen ["vlen-utf8" "vlen-bytes" "numcodecs.vlen-array" "zarrs.vlen" "zarrs.vlen_v2"]
    "conditional" zarr_codec_conditional ["conditional"]
    "array-view" zarr_codec_view ["array_view"]
    "optional" zarr_codec_optional ["optional" "zarrs.optional"]
    "categorize" zarr_codec_categorize ["numcodecs.categorize"]
    "object" zarr_codec_object ["numcodecs.json2" "numcodecs.json" "numcodecs.msgpack2" "numcodecs.msgpack"]
}

/// Name and hint for pickles, which no build decodes by default.
const PICKLE_HINT: (&str, &str) = (
    "numcodecs.pickle",
    "pickles are programs; pickles of plain values are read where `zarr::registry::PICKLE` is added to the codecs",
);

/// Name and hint for a codec that no build has.
const GDEFLATE_HINT: (&str, &str) =
    ("zarrs.gdeflate", "GDeflate, an experiment of the crate zarrs, which decodes it with its feature `gdeflate`");

/// Data types of crates other than `zarr-dtype`.
static DATA_TYPES: &[DataTypeEntry] = &[
    #[cfg(feature = "optional")]
    zarr_codec_optional::DATA_TYPE,
];

fn serializer(data_type: &DataType, order: ByteOrder) -> NamedConfig {
    #[cfg(feature = "optional")]
    if let DataType::Extension(own) = data_type
        && zarr_codec_optional::NAMES.contains(&own.name())
        && let Some(value) = zarr_codec_optional::value_type(own.storage())
    {
        let mask = if cfg!(feature = "packbits") { "packbits" } else { "bytes" };
        let list = |codec: NamedConfig| Value::from(vec![codec.to_value()]);
        let mut configuration = Map::new();
        configuration.insert("mask_codecs", list(NamedConfig::new(mask)));
        configuration.insert("data_codecs", list(serializer(value, order)));
        return NamedConfig::with(own.name(), configuration);
    }
    let data_type = data_type.storage();
    match (data_type, data_type.layout()) {
        (DataType::Object, _) => NamedConfig::new("numcodecs.json2"),
        (DataType::VlenArray(item), _) => {
            // Types that numpy lacks have no name here: the codec refuses the empty name.
            let dtype = npy_descr(item).unwrap_or_default();
            let big = order == ByteOrder::Big && item.layout().has_byte_order();
            let dtype = if big { dtype.replacen('<', ">", 1) } else { dtype };
            NamedConfig::with("numcodecs.vlen-array", [("dtype".to_owned(), Value::from(dtype))].into_iter().collect())
        }
        (_, Layout::Variable { utf8: true }) => NamedConfig::new("vlen-utf8"),
        (_, Layout::Variable { utf8: false }) => NamedConfig::new("vlen-bytes"),
        (_, layout) => zarr_codec_bytes::Bytes::new(order).to_config_of(&layout),
    }
}

/// Returns a codec of this build with the members of its configuration that the specification requires.
fn completed(name: &str, data_type: &DataType) -> NamedConfig {
    let mut codec = NamedConfig::new(name);
    if let Some(entry) = CODECS.iter().copied().flatten().find(|entry| entry.name == name) {
        entry.complete(&mut codec, data_type);
    }
    codec
}

/// Returns the default compressor, like zarr-python 3 and netCDF: zstd with its usual level, or gzip if zstd is not in this build.
fn compressor(data_type: &DataType) -> Vec<NamedConfig> {
    let name = match () {
        () if cfg!(feature = "zstd") => "zstd",
        () if cfg!(feature = "gzip") => "gzip",
        () => return Vec::new(),
    };
    vec![completed(name, data_type)]
}

fn shard(chunks: &[u64], codecs: &[NamedConfig]) -> NamedConfig {
    let list = |codecs: &[NamedConfig]| codecs.iter().map(NamedConfig::to_value).collect::<Vec<_>>();
    let mut configuration = Map::new();
    configuration.insert("chunk_shape", chunks.to_vec());
    configuration.insert("codecs", list(codecs));
    let mut index = vec![completed("bytes", &DataType::UInt64)];
    if cfg!(feature = "checksum") {
        index.push(NamedConfig::new("crc32c"));
    }
    configuration.insert("index_codecs", list(&index));
    configuration.insert("index_location", "end");
    NamedConfig::with("sharding_indexed", configuration)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    #[cfg(not(feature = "bz2"))]
    fn codecs_of_other_builds_name_their_feature() {
        let new = crate::NewArray::new(&[2], "float32").codecs(r#"["bytes", "numcodecs.bz2"]"#).unwrap();
        let error = crate::create("memory:").array(new).unwrap_err();
        assert!(error.to_string().contains("feature `bz2`"), "{error}");
        assert_eq!((error.kind(), error.hint()), (crate::ErrorKind::UnknownExtension, Some("enable feature `bz2`")));
    }

    #[test]
    #[cfg(not(feature = "optional"))]
    fn data_types_of_other_builds_name_their_feature() {
        let new = crate::NewArray::new(&[2], r#"{"name": "zarrs.optional", "configuration": {"name": "uint8"}}"#);
        let error = crate::create("memory:").array(new).unwrap_err();
        assert!(error.to_string().contains("feature `optional`"), "{error}");
        assert_eq!(error.hint(), Some("enable feature `optional`"));
    }

    #[test]
    fn hints_have_the_names_that_are_written() {
        let hints: BTreeSet<&str> = HINTS.iter().map(|(name, _)| *name).collect();
        for entry in default().codecs.iter().filter(|entry| !["bytes", "transpose"].contains(&entry.name)) {
            assert!(hints.contains(entry.name), "registry.rs: add {:?} to the line of its crate", entry.name);
        }
        #[cfg(feature = "full")]
        for name in hints {
            assert!(default().codecs.get(name).is_some(), "registry.rs: no codec is called {name:?}");
        }
    }
}
