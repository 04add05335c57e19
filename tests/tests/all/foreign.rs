//! Stores of other software as they were written, whole, whose documents say something else than the specifications do.

use std::sync::Arc;
use zarr_meta::Dialect;
use zarr_store::{Key, MemoryStore, Store, StoreExt};

fn store(values: &[(&str, &[u8])]) -> Arc<dyn Store> {
    let store = MemoryStore::new();
    for (key, value) in values {
        store.set_all(&Key::new(key).unwrap(), value).unwrap();
    }
    Arc::new(store)
}

/// netCDF-C 4.10.1 by netCDF4-python 1.7.5, `#mode=nczarr,file`, `createVariable("v", "i4", ("y", "x"), chunksizes=(2, 2), zlib=True)`.
#[test]
fn netcdf_shuffles_by_the_size_of_elements_and_says_0() {
    let store = store(&[
        (
            "v/.zarray",
            br#"{"zarr_format": 2, "shape": [2,3], "dtype": "<i4", "chunks": [2,2], "fill_value": -2147483647, "order": "C", "compressor": {"id": "zlib", "level": 4}, "filters": [{"id": "shuffle", "elementsize": 0}]}"#,
        ),
        ("v/.zattrs", br#"{"_ARRAY_DIMENSIONS": ["y","x"], "_nczarr_array": {"dimension_references": ["/y","/x"], "storage": "chunked"}}"#),
        ("v/0.0", b"x^cx\xb1c\x01\x0337?\x03\x14\x00\x00 \xee\x02^"),
        ("v/0.1", b"x^\xbb\xc0\xd8\xc1\xc8\xce \xcc\x00\x06\x0d\x0c\x0d\x00\x17\xae\x02u"),
    ]);
    let array = zarr::open((&store, "/v")).array().unwrap();
    assert_eq!(array.read::<i32>(..).unwrap(), [0, 1000, 2000, 3000, 4000, 5000]);
    // Chunks are written shuffled the same way.
    array.write((.., 1), &[-1, -2]).unwrap();
    assert_eq!(array.read::<i32>(..).unwrap(), [0, -1, 2000, 3000, -2, 5000]);
}

/// GDAL 3.12.2 by rasterio, `FORMAT=ZARR_V2, COMPRESS=ZSTD, BLOCKSIZE=2,4`.
#[test]
fn gdal_writes_options_as_they_are_spelled() {
    let store = store(&[
        (
            "g/.zarray",
            br#"{"chunks":[2,4],"compressor":{"id":"zstd","level":13,"checksum":"NO"},"dtype":"<i2","fill_value":null,"filters":null,"order":"C","shape":[3,4],"zarr_format":2}"#,
        ),
        ("g/0.0", b"(\xb5/\xfd \x10\x81\x00\x00\x00\x00d\x00\xc8\x00,\x01\x90\x01\xf4\x01X\x02\xbc\x02"),
        ("g/1.0", b"(\xb5/\xfd \x10\x81\x00\x00 \x03\x84\x03\xe8\x03L\x04\x00\x00\x00\x00\x00\x00\x00\x00"),
    ]);
    let array = zarr::open((&store, "/g")).array().unwrap();
    assert_eq!(array.read::<i16>(..).unwrap(), (0..12).map(|i| i * 100).collect::<Vec<_>>());
}

/// GDAL 3.12.2 by rasterio, `FORMAT=ZARR_V3, BLOCKSIZE=2,4`; of the two chunks the second was all zero, and is not stored.
#[test]
fn gdal_leaves_out_chunks_of_zeros_where_the_fill_value_is_null() {
    let document = br#"{"zarr_format":3,"node_type":"array","shape":[3,4],"data_type":"int16",
        "chunk_grid":{"name":"regular","configuration":{"chunk_shape":[2,4]}},
        "chunk_key_encoding":{"name":"default","configuration":{"separator":"\/"}},"fill_value":null,
        "codecs":[{"name":"bytes","configuration":{"endian":"little"}}],"attributes":{},"dimension_names":["Y","X"]}"#;
    let store =
        store(&[("g/zarr.json", document), ("g/c/0/0", b"\x00\x00d\x00\xc8\x00,\x01\x90\x01\xf4\x01X\x02\xbc\x02")]);
    let array = zarr::open((&store, "/g")).array().unwrap();
    let values: Vec<i16> = (0..8).map(|i| i * 100).chain([0; 4]).collect();
    assert_eq!(array.read::<i16>(..).unwrap(), values);
    assert_eq!(array.dialect(), Dialect::V3);
}
