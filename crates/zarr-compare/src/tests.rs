//! Tests of digests and comparisons of small arrays in memory.

mod decoding;
mod differences;
mod digests;
mod laws;
mod regions;
mod unlisted;
mod vectors;

use crate::{Digest, DigestOptions};
use std::sync::Arc;
use zarr_array::{Array, ArrayData, NewArray, Registry};
use zarr_store::{MemoryStore, Store};

fn registry() -> Arc<Registry> {
    let mut registry = Registry::default();
    registry.codecs.add(zarr_codec_bytes::BYTES);
    registry.codecs.add(zarr_codec_packbits::PACKBITS);
    registry.codecs.add(zarr_codec_transpose::TRANSPOSE);
    for entries in
        [zarr_codec_optional::CODECS, zarr_codec_sharding::CODECS, zarr_codec_vlen::CODECS, zarr_codec_zstd::CODECS]
    {
        entries.iter().for_each(|entry| registry.codecs.add(*entry));
    }
    registry.data_types.add(zarr_codec_optional::DATA_TYPE);
    Arc::new(registry)
}

fn memory() -> Arc<dyn Store> {
    Arc::new(MemoryStore::new())
}

/// Creates an array at the root of a new store.
fn array(new: NewArray, data: &ArrayData) -> Array {
    let array = Array::create(&memory(), "/", new, &registry()).unwrap();
    array.write(.., data).unwrap();
    array
}

fn digest(array: &Array, options: &DigestOptions) -> Digest {
    Digest::of(array.store(), "/", &registry(), options, |_| {}).unwrap()
}

fn hash(array: &Array) -> String {
    digest(array, &DigestOptions::default()).hash.to_string()
}
