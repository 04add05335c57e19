//! Arrays in memory and in files, for the benchmarks `shards` and `slabs`.

use std::num::NonZeroUsize;
use std::sync::Arc;
use tempfile::TempDir;
use zarr_array::{Array, NewArray, Options, Registry, Store};
use zarr_store::{Key, MemoryStore, Prefix, StoreExt};
use zarr_store_filesystem::FilesystemStore;

pub(crate) const LITTLE: &str = r#"{"name":"bytes","configuration":{"endian":"little"}}"#;

pub(crate) fn registry() -> Arc<Registry> {
    let mut registry = Registry::default();
    for entry in [
        zarr_codec_bytes::BYTES,
        zarr_codec_transpose::TRANSPOSE,
        zarr_codec_sharding::SHARDING_INDEXED,
        zarr_codec_blosc::BLOSC,
        zarr_codec_zstd::ZSTD,
        zarr_codec_checksum::CRC32C,
    ] {
        registry.codecs.add(entry);
    }
    Arc::new(registry)
}

/// Calls `measure` with an array of 2-byte elements in memory and with the same array in files, if the arguments of the program select the
/// benchmark `name`. The array is a smooth field with some noise, and one thread reads it.
pub(crate) fn each(name: &str, shape: &[u64], chunks: &[u64], codecs: &str, measure: impl Fn(&str, &Array, &[Key])) {
    let folder = TempDir::new().expect("a directory");
    let files = FilesystemStore::create(folder.path()).expect("a directory");
    let stores: [(&str, Arc<dyn Store>); 2] = [("memory", Arc::new(MemoryStore::new())), ("files", Arc::new(files))];
    for (index, store) in stores {
        let name = format!("{name}, {index}");
        if !zarr_bench_protocol::wanted(&name) {
            continue;
        }
        let options = Options::default().threads(NonZeroUsize::new(1));
        let new = NewArray::new(shape, "uint16").chunks(chunks).options(options);
        let new = new.codecs(format!("[{codecs}]")).expect("codecs");
        let array = Array::create(&store, "/", new, &registry()).expect("an array");
        let wave = |i: u64| (i as f64 / 900.0).sin() * 300.0 + 400.0 + ((i * i) % 13) as f64;
        let elements: Vec<u16> = (0..shape.iter().product()).map(|i| wave(i) as u16).collect();
        array.write(.., &elements).expect("writes");
        let mut keys = store.list_prefix(&Prefix::root()).expect("lists");
        keys.retain(|key| key.as_str().starts_with("c/"));
        measure(&name, &array, &keys);
    }
}
