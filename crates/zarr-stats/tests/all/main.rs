//! Tests of statistics, usage, maps and measurements, compared with plain loops and with numpy.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod advise;
mod cancelled;
mod codecs;
mod exact;
mod information;
mod kinds;
mod layout;
mod numbers;
mod numpy_vectors;
mod rounding;
mod unlisted;

use std::sync::Arc;
use zarr_array::{Array, NewArray, Registry, Store};
use zarr_store::MemoryStore;

fn registry() -> Arc<Registry> {
    let mut registry = Registry::default();
    let all = [
        zarr_codec_bytes::CODECS,
        zarr_codec_checksum::CODECS,
        zarr_codec_gzip::CODECS,
        zarr_codec_numeric::CODECS,
        zarr_codec_sharding::CODECS,
        zarr_codec_vlen::CODECS,
        zarr_codec_zstd::CODECS,
    ];
    all.into_iter().flatten().for_each(|entry| registry.codecs.add(*entry));
    registry.defaults.serializer = Some(|data_type, order| {
        let name = if data_type.is_variable() { "vlen-utf8" } else { "bytes" };
        let mut codec = zarr_json::NamedConfig::new(name);
        if !data_type.is_variable() && data_type.item_size() > 1 {
            let endian = if order == zarr_dtype::ByteOrder::Big { "big" } else { "little" };
            codec.configuration.insert("endian", endian);
        }
        codec
    });
    registry.defaults.shard = Some(|chunks, codecs| {
        let list = |codecs: &[zarr_json::NamedConfig]| {
            zarr_json::Value::from(codecs.iter().map(|codec| codec.to_value()).collect::<Vec<_>>())
        };
        let mut shard = zarr_json::NamedConfig::new("sharding_indexed");
        shard.configuration.insert("chunk_shape", chunks.to_vec());
        shard.configuration.insert("codecs", list(codecs));
        let mut bytes = zarr_json::NamedConfig::new("bytes");
        bytes.configuration.insert("endian", "little");
        shard.configuration.insert("index_codecs", list(&[bytes, zarr_json::NamedConfig::new("crc32c")]));
        shard
    });
    Arc::new(registry)
}

fn memory() -> Arc<dyn Store> {
    Arc::new(MemoryStore::new())
}

fn create(store: &Arc<dyn Store>, path: &str, new: NewArray) -> Array {
    Array::create(store, path, new, &registry()).unwrap()
}
