//! The codecs of this build: the one table that a new codec is added to.

use std::sync::{Arc, LazyLock};
use zarr_array::{Defaults, Registry};
use zarr_codec::CodecEntry;
use zarr_dtype::{DataType, Layout};
use zarr_meta::NamedConfig;
use zarr_meta::json::Map;

/// Everything that the features of this build bring. Shared: made once.
///
/// To add a codec of your own, take a copy and pass it on:
///
/// ```
/// # const MINE: zarr::codec::CodecEntry = zarr::codec::CodecEntry { names: &["mine"], build: |_| unreachable!() };
/// use std::sync::Arc;
/// let mut registry = zarr::Registry::clone(&zarr::registry());
/// registry.codecs.add(MINE);
/// let registry = Arc::new(registry);
/// assert!(registry.codecs.get("mine").is_some());
/// ```
pub fn registry() -> Arc<Registry> {
    static REGISTRY: LazyLock<Arc<Registry>> = LazyLock::new(|| {
        let mut registry = registry_without_defaults();
        registry.defaults = Defaults { serializer: Some(serializer), compressor: Some(compressor), shard: Some(shard) };
        Arc::new(registry)
    });
    Arc::clone(&REGISTRY)
}

/// The codecs of this build, without any that new arrays get unasked.
pub fn registry_without_defaults() -> Registry {
    let mut registry = Registry::default();
    for entry in CODECS.iter().copied().flatten() {
        registry.codecs.add(*entry);
    }
    for (name, hint) in ELSEWHERE {
        if registry.codecs.get(name).is_none() {
            registry.codecs.add_hint(name, hint);
        }
    }
    registry
}

/// The codecs of each crate.
static CODECS: &[&[CodecEntry]] = &[
    &[zarr_codec_bytes::ENTRY, zarr_codec_transpose::ENTRY],
    #[cfg(feature = "sharding")]
    &[zarr_codec_sharding::ENTRY],
    #[cfg(feature = "gzip")]
    &[zarr_codec_gzip::GZIP, zarr_codec_gzip::ZLIB],
    #[cfg(feature = "zstd")]
    &[zarr_codec_zstd::ENTRY],
    #[cfg(feature = "blosc")]
    &[zarr_codec_blosc::ENTRY],
    #[cfg(feature = "lz4")]
    &[zarr_codec_lz4::ENTRY],
    #[cfg(feature = "checksum")]
    &[
        zarr_codec_checksum::CRC32C,
        zarr_codec_checksum::CRC32,
        zarr_codec_checksum::ADLER32,
        zarr_codec_checksum::FLETCHER32,
        zarr_codec_checksum::JENKINS_LOOKUP3,
    ],
    #[cfg(feature = "vlen")]
    &[zarr_codec_vlen::VLEN_UTF8, zarr_codec_vlen::VLEN_BYTES],
];

/// Where codecs come from that this build may lack.
static ELSEWHERE: &[(&str, &str)] = &[
    ("blosc", "enable feature `blosc`"),
    ("crc32c", "enable feature `checksum`"),
    ("gzip", "enable feature `gzip`"),
    ("numcodecs.zlib", "enable feature `gzip`"),
    ("numcodecs.lz4", "enable feature `lz4`"),
    ("sharding_indexed", "enable feature `sharding`"),
    ("vlen-utf8", "enable feature `vlen`"),
    ("vlen-bytes", "enable feature `vlen`"),
    ("zstd", "enable feature `zstd`"),
    ("numcodecs.pickle", "pickled objects are refused: decoding them would run code from the data"),
];

fn endian(data_type: &DataType) -> Map {
    let mut configuration = Map::new();
    if data_type.layout().scalar().is_some_and(|scalar| scalar.size() > 1) {
        configuration.insert("endian", "little");
    }
    configuration
}

fn serializer(data_type: &DataType) -> NamedConfig {
    match data_type.layout() {
        Layout::Variable { utf8: true } => NamedConfig::new("vlen-utf8"),
        Layout::Variable { utf8: false } => NamedConfig::new("vlen-bytes"),
        _ => NamedConfig::with("bytes", endian(data_type)),
    }
}

/// As zarr-python 3 and netCDF do: zstd with its usual level, or gzip where zstd is not in this build.
fn compressor(_: &DataType) -> Vec<NamedConfig> {
    let mut configuration = Map::new();
    if cfg!(feature = "zstd") {
        configuration.insert("level", 0);
        configuration.insert("checksum", false);
        vec![NamedConfig::with("zstd", configuration)]
    } else if cfg!(feature = "gzip") {
        configuration.insert("level", 5);
        vec![NamedConfig::with("gzip", configuration)]
    } else {
        Vec::new()
    }
}

fn shard(chunks: &[u64], codecs: &[NamedConfig]) -> NamedConfig {
    let list = |codecs: &[NamedConfig]| codecs.iter().map(NamedConfig::to_value).collect::<Vec<_>>();
    let mut configuration = Map::new();
    configuration.insert("chunk_shape", chunks.to_vec());
    configuration.insert("codecs", list(codecs));
    let mut index = vec![NamedConfig::with("bytes", endian(&DataType::UInt64))];
    if cfg!(feature = "checksum") {
        index.push(NamedConfig::new("crc32c"));
    }
    configuration.insert("index_codecs", list(&index));
    configuration.insert("index_location", "end");
    NamedConfig::with("sharding_indexed", configuration)
}
