//! Kinds of codecs, by their names.

use pyo3::prelude::*;
use zarr::codec::Kind;

/// Returns the kind that zarr-python gives the codec of each name: `"filters"`, `"serializer"` or `"compressors"`. An unknown codec counts
/// as one from bytes to bytes, like most codecs.
#[pyfunction]
pub(crate) fn codec_kinds(names: Vec<String>) -> Vec<&'static str> {
    let registry = zarr::registry::default();
    let kind = |name: &String| match registry.codecs.get(name).map(zarr::codec::CodecEntry::kind) {
        Some(Kind::ArrayToArray) => "filters",
        Some(Kind::ArrayToBytes) => "serializer",
        Some(Kind::BytesToBytes) | None => "compressors",
    };
    names.iter().map(kind).collect()
}
