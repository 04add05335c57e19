//! The codecs of this build: the one table that a new codec is added to.

use std::sync::{Arc, LazyLock};
use zarr_array::{Defaults, Registry};
use zarr_codec::CodecEntry;
use zarr_dtype::{ByteOrder, DataType, DataTypeEntry, Layout, npy_descr};
use zarr_meta::NamedConfig;
use zarr_meta::codec_names::name_for;
use zarr_meta::json::{Map, Value};

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
        registry.defaults = Defaults {
            serializer: Some(serializer),
            compressor: Some(compressor),
            shard: Some(shard),
            complete: Some(complete),
        };
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
    for entry in DATA_TYPES {
        registry.data_types.add(*entry);
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
    #[cfg(feature = "reshape")]
    &[zarr_codec_reshape::ENTRY],
    #[cfg(feature = "n5")]
    &[zarr_codec_n5::ENTRY],
    #[cfg(feature = "gzip")]
    &[zarr_codec_gzip::GZIP, zarr_codec_gzip::ZLIB],
    #[cfg(feature = "zstd")]
    &[zarr_codec_zstd::ENTRY],
    #[cfg(feature = "blosc")]
    &[zarr_codec_blosc::ENTRY],
    #[cfg(feature = "lz4")]
    &[zarr_codec_lz4::ENTRY],
    #[cfg(feature = "bz2")]
    &[zarr_codec_bz2::ENTRY],
    #[cfg(feature = "lzma")]
    &[zarr_codec_lzma::ENTRY],
    #[cfg(feature = "shuffle")]
    &[zarr_codec_shuffle::ENTRY],
    #[cfg(feature = "base64")]
    &[zarr_codec_base64::ENTRY],
    #[cfg(feature = "pcodec")]
    &[zarr_codec_pcodec::ENTRY],
    #[cfg(feature = "zfp")]
    &[zarr_codec_zfp::ZFP, zarr_codec_zfp::ZFPY],
    #[cfg(feature = "checksum")]
    &[
        zarr_codec_checksum::CRC32C,
        zarr_codec_checksum::CRC32,
        zarr_codec_checksum::ADLER32,
        zarr_codec_checksum::FLETCHER32,
        zarr_codec_checksum::JENKINS_LOOKUP3,
    ],
    #[cfg(feature = "numeric")]
    &[
        zarr_codec_numeric::ASTYPE,
        zarr_codec_numeric::BITROUND,
        zarr_codec_numeric::CAST_VALUE,
        zarr_codec_numeric::DELTA,
        zarr_codec_numeric::FIXED_SCALE_OFFSET,
        zarr_codec_numeric::QUANTIZE,
        zarr_codec_numeric::SCALE_OFFSET,
    ],
    #[cfg(feature = "packbits")]
    &[zarr_codec_packbits::PACKBITS, zarr_codec_packbits::NUMCODECS_PACKBITS],
    #[cfg(feature = "vlen")]
    &[
        zarr_codec_vlen::VLEN_UTF8,
        zarr_codec_vlen::VLEN_BYTES,
        zarr_codec_vlen::VLEN_ARRAY,
        zarr_codec_vlen::ZARRS_VLEN,
    ],
    #[cfg(feature = "conditional")]
    &[zarr_codec_conditional::ENTRY],
    #[cfg(feature = "view")]
    &[zarr_codec_view::ENTRY],
    #[cfg(feature = "optional")]
    &[zarr_codec_optional::ENTRY],
    #[cfg(feature = "categorize")]
    &[zarr_codec_categorize::CATEGORIZE],
    #[cfg(feature = "object")]
    &[zarr_codec_object::JSON2, zarr_codec_object::JSON, zarr_codec_object::MSGPACK2, zarr_codec_object::MSGPACK],
];

/// The data types that are not those of `zarr-dtype`.
static DATA_TYPES: &[DataTypeEntry] = &[
    #[cfg(feature = "optional")]
    zarr_codec_optional::DATA_TYPE,
];

/// Where codecs come from that this build may lack.
static ELSEWHERE: &[(&str, &str)] = &[
    ("blosc", "enable feature `blosc`"),
    ("crc32c", "enable feature `checksum`"),
    ("gzip", "enable feature `gzip`"),
    ("numcodecs.zlib", "enable feature `gzip`"),
    ("numcodecs.lz4", "enable feature `lz4`"),
    ("bitround", "enable feature `numeric`"),
    ("cast_value", "enable feature `numeric`"),
    ("numcodecs.astype", "enable feature `numeric`"),
    ("numcodecs.bitround", "enable feature `numeric`"),
    ("numcodecs.delta", "enable feature `numeric`"),
    ("numcodecs.fixedscaleoffset", "enable feature `numeric`"),
    ("numcodecs.packbits", "enable feature `packbits`"),
    ("numcodecs.quantize", "enable feature `numeric`"),
    ("conditional", "enable feature `conditional`"),
    ("n5_default", "enable feature `n5`"),
    ("optional", "enable feature `optional`"),
    ("zarrs.optional", "enable feature `optional`"),
    ("zarrs.vlen", "enable feature `vlen`"),
    ("packbits", "enable feature `packbits`"),
    ("reshape", "enable feature `reshape`"),
    ("scale_offset", "enable feature `numeric`"),
    ("numcodecs.base64", "enable feature `base64`"),
    ("numcodecs.bz2", "enable feature `bz2`"),
    ("numcodecs.lzma", "enable feature `lzma`"),
    ("numcodecs.pcodec", "enable feature `pcodec`"),
    ("numcodecs.shuffle", "enable feature `shuffle`"),
    ("numcodecs.zfpy", "enable feature `zfp`"),
    ("zfp", "enable feature `zfp`"),
    ("sharding_indexed", "enable feature `sharding`"),
    ("vlen-utf8", "enable feature `vlen`"),
    ("vlen-bytes", "enable feature `vlen`"),
    ("numcodecs.vlen-array", "enable feature `vlen`"),
    ("numcodecs.categorize", "enable feature `categorize`"),
    ("numcodecs.json", "enable feature `object`"),
    ("numcodecs.json2", "enable feature `object`"),
    ("numcodecs.msgpack", "enable feature `object`"),
    ("numcodecs.msgpack2", "enable feature `object`"),
    ("array_view", "enable feature `view`"),
    ("zstd", "enable feature `zstd`"),
    (
        "numcodecs.pickle",
        "pickles are programs; those of plain values are read where `zarr::PICKLE` is added to the codecs",
    ),
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
            // Types that numpy lacks have none to be named; the codec says so.
            let dtype = npy_descr(item).unwrap_or_default();
            let big = order == ByteOrder::Big && item.layout().has_byte_order();
            let dtype = if big { dtype.replacen('<', ">", 1) } else { dtype };
            NamedConfig::with("numcodecs.vlen-array", [("dtype".to_owned(), Value::from(dtype))].into_iter().collect())
        }
        (_, Layout::Variable { utf8: true }) => NamedConfig::new("vlen-utf8"),
        (_, Layout::Variable { utf8: false }) => NamedConfig::new("vlen-bytes"),
        (_, layout) => zarr_codec_bytes::BytesConfig { endian: Some(order) }.to_config(&layout),
    }
}

/// The members that the specifications of these codecs demand, with the values that zarr-python gives them.
fn complete(mut codec: NamedConfig, data_type: &DataType) -> NamedConfig {
    codec.name = name_for(&codec.name, &data_type.to_config().name).to_owned();
    let members = match codec.name.as_str() {
        "bytes" if needs_endian(&codec, data_type) => vec![("endian", Value::from("little"))],
        "gzip" => vec![("level", Value::from(5))],
        "zstd" => vec![("level", Value::from(0)), ("checksum", Value::from(false))],
        // zarr-python adds some of these types and not others.
        "numcodecs.delta" | "numcodecs.fixedscaleoffset" | "numcodecs.quantize" => {
            npy_descr(data_type).map(|descr| ("dtype", Value::from(descr))).into_iter().collect()
        }
        "numcodecs.astype" => {
            npy_descr(data_type).map(|descr| ("decode_dtype", Value::from(descr))).into_iter().collect()
        }
        "numcodecs.shuffle" => {
            vec![("elementsize", Value::from(if data_type.is_variable() { 1 } else { data_type.item_size() }))]
        }
        "blosc" => vec![
            ("cname", Value::from("zstd")),
            ("clevel", Value::from(5)),
            ("shuffle", Value::from(if data_type.item_size() == 1 { "bitshuffle" } else { "shuffle" })),
            ("typesize", Value::from(if data_type.is_variable() { 1 } else { data_type.item_size() })),
            ("blocksize", Value::from(0)),
        ],
        _ => Vec::new(),
    };
    for (name, value) in members {
        if !codec.configuration.contains_key(name) {
            codec.configuration.insert(name, value);
        }
    }
    codec
}

/// Structs of version 2 may have an order for each field instead.
fn needs_endian(codec: &NamedConfig, data_type: &DataType) -> bool {
    data_type.layout().has_byte_order() && !codec.configuration.contains_key("field_endian")
}

/// As zarr-python 3 and netCDF do: zstd with its usual level, or gzip where zstd is not in this build.
fn compressor(data_type: &DataType) -> Vec<NamedConfig> {
    let name = match () {
        () if cfg!(feature = "zstd") => "zstd",
        () if cfg!(feature = "gzip") => "gzip",
        () => return Vec::new(),
    };
    vec![complete(NamedConfig::new(name), data_type)]
}

fn shard(chunks: &[u64], codecs: &[NamedConfig]) -> NamedConfig {
    let list = |codecs: &[NamedConfig]| codecs.iter().map(NamedConfig::to_value).collect::<Vec<_>>();
    let mut configuration = Map::new();
    configuration.insert("chunk_shape", chunks.to_vec());
    configuration.insert("codecs", list(codecs));
    let mut index = vec![complete(NamedConfig::new("bytes"), &DataType::UInt64)];
    if cfg!(feature = "checksum") {
        index.push(NamedConfig::new("crc32c"));
    }
    configuration.insert("index_codecs", list(&index));
    configuration.insert("index_location", "end");
    NamedConfig::with("sharding_indexed", configuration)
}
