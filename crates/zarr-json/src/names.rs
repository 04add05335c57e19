//! Well-known names of members of metadata documents.

/// Returns `name` as a static string if it is a well-known name, so that it takes no memory; else `None`.
pub(crate) fn well_known(name: &str) -> Option<&'static str> {
    let of_this_length: &[&'static str] = match name.len() {
        2 => &["id"],
        4 => &["name", "kind"],
        5 => &["shape", "dtype", "order", "cname", "level", "units"],
        6 => &["codecs", "chunks", "endian", "clevel"],
        7 => &["filters", "shuffle"],
        8 => &["metadata", "typesize", "checksum"],
        9 => &["node_type", "data_type", "separator", "blocksize", "long_name"],
        10 => &["fill_value", "chunk_grid", "compressor", "attributes"],
        11 => &["zarr_format", "chunk_shape"],
        12 => &["index_codecs"],
        13 => &["configuration"],
        14 => &["index_location"],
        15 => &["dimension_names", "must_understand"],
        17 => &["_ARRAY_DIMENSIONS"],
        18 => &["chunk_key_encoding"],
        19 => &["dimension_separator"],
        20 => &["storage_transformers"],
        21 => &["consolidated_metadata"],
        _ => &[],
    };
    of_this_length.iter().copied().find(|known| *known == name)
}
