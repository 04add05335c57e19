//! What both benchmarks share: arrays in memory and in files, and ways that take turns.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Instant;
use tempfile::TempDir;
use zarr_array::{Array, NewArray, Options, Registry, Store};
use zarr_store::{FilesystemStore, Key, MemoryStore, Prefix};

pub(crate) const LITTLE: &str = r#"{"name":"bytes","configuration":{"endian":"little"}}"#;

pub(crate) fn registry() -> Arc<Registry> {
    let mut registry = Registry::default();
    for entry in [
        zarr_codec_bytes::ENTRY,
        zarr_codec_transpose::ENTRY,
        zarr_codec_sharding::ENTRY,
        zarr_codec_blosc::ENTRY,
        zarr_codec_zstd::ENTRY,
        zarr_codec_checksum::CRC32C,
    ] {
        registry.codecs.add(entry);
    }
    Arc::new(registry)
}

/// Calls `measure` with an array of 2-byte elements in memory and in files, if the arguments of the program ask for it. One
/// thread reads it. It is a smooth field with some noise.
pub(crate) fn each(name: &str, shape: &[u64], chunks: &[u64], codecs: &str, measure: impl Fn(&str, &Array, &[Key])) {
    let folder = TempDir::new().expect("a directory");
    let files = FilesystemStore::create(folder.path()).expect("a directory");
    let stores: [(&str, Arc<dyn Store>); 2] = [("memory", Arc::new(MemoryStore::new())), ("files", Arc::new(files))];
    for (place, store) in stores {
        let name = format!("{name}, {place}");
        let mut parts = std::env::args().skip(1).filter(|argument| !argument.starts_with('-'));
        if !parts.all(|part| name.contains(&part)) {
            continue;
        }
        let options = Options { threads: NonZeroUsize::new(1), ..Options::default() };
        let new = NewArray::new(shape, "uint16").chunks(chunks).options(options);
        let new = new.codecs_text(&format!("[{codecs}]")).expect("codecs");
        let array = Array::create(&store, "/", new, &registry()).expect("an array");
        let wave = |i: u64| (i as f64 / 900.0).sin() * 300.0 + 400.0 + ((i * i) % 13) as f64;
        let elements: Vec<u16> = (0..shape.iter().product()).map(|i| wave(i) as u16).collect();
        array.write(.., &elements).expect("writes");
        let mut keys = store.list_prefix(&Prefix::root()).expect("lists");
        keys.retain(|key| key.as_str().starts_with("c/"));
        measure(&name, &array, &keys);
    }
}

/// Seconds that each of two ways took at least, in several runs in turn of `times` each.
pub(crate) fn best(times: usize, mut ours: impl FnMut(), mut plain: impl FnMut()) -> [f64; 2] {
    let mut best = [f64::MAX; 2];
    for _ in 0..9 {
        let start = Instant::now();
        (0..times).for_each(|_| ours());
        best[0] = best[0].min(start.elapsed().as_secs_f64() / times as f64);
        let start = Instant::now();
        (0..times).for_each(|_| plain());
        best[1] = best[1].min(start.elapsed().as_secs_f64() / times as f64);
    }
    best
}
