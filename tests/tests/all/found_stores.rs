//! Stores as other software writes them, in forms that some readers do not take.

use std::sync::Arc;
use zarr::convert::{Conversion, ConvertOptions};
use zarr::dataset::{DataTree, Dataset};
use zarr::store::{Key, MemoryStore, Store, StoreExt};
use zarr_array::Array;
use zarr_json::{Value, json};
use zarr_meta::Dialect;

fn bytes(hexadecimal: &str) -> Vec<u8> {
    let digit = |digit: u8| (digit as char).to_digit(16).unwrap() as u8;
    hexadecimal.as_bytes().as_chunks::<2>().0.iter().map(|[high, low]| digit(*high) << 4 | digit(*low)).collect()
}

/// A store of these documents, and of chunks in hexadecimal.
fn store(documents: &[(&str, Value)], chunks: &[(&str, &str)]) -> Arc<dyn Store> {
    let store = MemoryStore::new();
    for (key, document) in documents {
        store.set_all(&Key::new(key).unwrap(), document.to_string().as_bytes()).unwrap();
    }
    for (key, chunk) in chunks {
        store.set_all(&Key::new(key).unwrap(), &bytes(chunk)).unwrap();
    }
    Arc::new(store)
}

/// An array of version 2 in one chunk.
fn v2(shape: &[u64], dtype: Value, filters: Value, compressor: Value) -> Value {
    json!({
        "zarr_format": 2, "shape": (shape.to_vec()), "chunks": (shape.to_vec()), "dtype": dtype, "filters": filters,
        "compressor": compressor, "fill_value": null, "order": "C"
    })
}

/// An array of version 3 of four elements in one shard of two inner chunks.
fn sharded(data_type: Value, fill: &str, serializer: Value) -> Value {
    json!({
        "zarr_format": 3, "node_type": "array", "shape": [4], "data_type": data_type, "fill_value": fill, "attributes": {},
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [4]}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "codecs": [{"name": "sharding_indexed", "configuration": {
            "chunk_shape": [2], "codecs": [serializer], "index_location": "end",
            "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}]
        }}]
    })
}

fn open(store: &Arc<dyn Store>, path: &str) -> Array {
    zarr::open((store, path)).array().unwrap()
}

fn values(array: &Array) -> Vec<Value> {
    let data = array.read_data(..).unwrap();
    (0..data.len()).map(|index| data.json(index)).collect()
}

/// numcodecs writes differences of another type in version 3, too.
#[test]
fn differences_of_a_smaller_type_are_summed_up() {
    let document = json!({
        "zarr_format": 3, "node_type": "array", "shape": [6], "data_type": "int32", "fill_value": 0, "attributes": {},
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [6]}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "codecs": [{"name": "numcodecs.delta", "configuration": {"dtype": "<i4", "astype": "<i2"}},
                   {"name": "bytes", "configuration": {"endian": "little"}}]
    });
    let source = store(&[("zarr.json", document)], &[("c/0", "640001000200ffff0800ecff")]);
    let due = [100, 101, 103, 102, 110, 90];
    assert_eq!(open(&source, "/").read::<i32>(..).unwrap(), due);
    for dialect in [Dialect::V2, Dialect::V3] {
        let target: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let options = ConvertOptions::default().dialect(dialect);
        Conversion::plan(&source, &zarr::registry::default(), options).unwrap().run(&target, |_| {}).unwrap();
        assert_eq!(open(&target, "/").read::<i32>(..).unwrap(), due, "{dialect}");
    }
}

/// Strings are stored as GDAL writes them.
#[test]
fn texts_of_fixed_and_variable_length_are_in_shards() {
    let little = json!({"name": "bytes", "configuration": {"endian": "little"}});
    let wide = json!({"name": "fixed_length_utf32", "configuration": {"length_bytes": 16}});
    let narrow = json!({"name": "null_terminated_bytes", "configuration": {"length_bytes": 3}});
    let store = store(
        &[
            ("u/zarr.json", sharded(wide, "", little)),
            ("s/zarr.json", sharded(narrow, "", json!({"name": "bytes"}))),
            ("v/zarr.json", sharded(json!("string"), "none", json!({"name": "vlen-utf8"}))),
        ],
        &[
            (
                "u/c/0",
                "61000000000000000000000000000000b2030000b30300000000000000000000000000000000000000000000000000006400000064000000640000006400000000000000000000002000000000000000200000000000000020000000000000004a7c67a5",
            ),
            (
                "s/c/0",
                "780000000000797a006162630000000000000000060000000000000006000000000000000600000000000000589b908d",
            ),
            (
                "v/c/0",
                "0200000000000000010000007800000000000000000d00000000000000ffffffffffffffffffffffffffffffff417c45bf",
            ),
        ],
    );
    assert_eq!(values(&open(&store, "/u")), ["a", "βγ", "", "dddd"].map(Value::from));
    // Bytes are base64 in JSON.
    assert_eq!(values(&open(&store, "/s")), ["eA==", "", "eXo=", "YWJj"].map(Value::from));
    assert_eq!(values(&open(&store, "/v")), ["", "x", "none", "none"].map(Value::from));
}

/// As HRRR-Zarr has it: the array two groups below its coordinates, groups above without a document.
#[test]
fn an_array_lies_below_the_groups_of_its_coordinates() {
    let dimensions = |names: &[&str]| json!({"_ARRAY_DIMENSIONS": (names.to_vec())});
    let blosc = json!({"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1, "blocksize": 0});
    let [x, y] = ["projection_x_coordinate", "projection_y_coordinate"];
    let at = |name: &str, document: &str| format!("surface/TMP/{name}/{document}");
    let coordinate = || v2(&[2], json!("<f8"), Value::Null, Value::Null);
    let documents = [
        ("surface/TMP/.zgroup".to_owned(), json!({"zarr_format": 2})),
        ("surface/TMP/surface/.zgroup".to_owned(), json!({"zarr_format": 2})),
        (at(x, ".zarray"), coordinate()),
        (at(x, ".zattrs"), dimensions(&[x])),
        (at(y, ".zarray"), coordinate()),
        (at(y, ".zattrs"), dimensions(&[y])),
        (at("surface/TMP", ".zarray"), v2(&[2, 2], json!("<f2"), Value::Null, blosc)),
        (at("surface/TMP", ".zattrs"), dimensions(&[y, x])),
    ];
    let documents = documents.each_ref().map(|(key, document)| (key.as_str(), document.clone()));
    let chunks = [
        ("surface/TMP/projection_x_coordinate/0", "0000000000000000000000000070a740"),
        ("surface/TMP/projection_y_coordinate/0", "000000000000f03f000000000072a740"),
        ("surface/TMP/surface/TMP/0.0", "02013302080000000800000018000000455c4a5c007e605c"),
    ];
    let store = store(&documents, &chunks);
    let array = open(&store, "/surface/TMP/surface/TMP");
    // The shortest decimals of half precision.
    let found: Vec<Option<f64>> = values(&array).iter().map(Value::as_f64).collect();
    assert_eq!(found, [Some(273.2), Some(274.5), None, Some(280.0)]);
    // The data set of the group has the coordinates of the groups above.
    let root = zarr::open(&store).group().unwrap();
    let tree = DataTree::open(&root).unwrap();
    let paths: Vec<String> = tree.iter().map(|(path, _)| path.to_owned()).collect();
    assert!(paths.iter().any(|path| path.ends_with("surface/TMP/surface")), "{paths:?}");
    let dataset = Dataset::open(&zarr::open((&store, "/surface/TMP/surface")).group().unwrap()).unwrap();
    assert!(dataset.variable("TMP").is_ok());
}

/// As Zarr.jl writes vectors of vectors.
#[test]
fn lists_come_back_out_of_blosc() {
    let blosc = json!({"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1, "blocksize": 0});
    let mut document = v2(&[4], json!("|O"), json!([{"id": "vlen-array", "dtype": "<i8"}]), blosc);
    if let Value::Object(members) = &mut document {
        members.insert("dimension_separator", ".");
    }
    let chunk = "020133014c0000004c0000005c000000040000001800000001000000000000000300000000000000050000000000000008000000040000000000000018000000070000000000000009000000000000000e0000000000000000000000";
    let store = store(&[(".zarray", document)], &[("0", chunk)]);
    assert_eq!(values(&open(&store, "/")), [json!([1, 3, 5]), json!([4]), json!([7, 9, 14]), json!([])]);
}

#[test]
fn fields_keep_their_byte_order_in_version_3() {
    let dtype = json!([["flux", ">f4"], ["mask", ">i4"], ["q", "|u1"]]);
    let source = store(
        &[(".zarray", v2(&[2], dtype, Value::Null, Value::Null))],
        &[("0", "3fc00000fffffffe034020000000011170ff")],
    );
    let due = [json!({"flux": 1.5, "mask": (-2), "q": 3}), json!({"flux": 2.5, "mask": 70000, "q": 255})];
    let same = |found: &[Value]| found.iter().zip(&due).all(|(found, due)| found.semantically_eq(due));
    assert!(same(&values(&open(&source, "/"))));
    let target: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let options = ConvertOptions::default().dialect(Dialect::V3);
    Conversion::plan(&source, &zarr::registry::default(), options).unwrap().run(&target, |_| {}).unwrap();
    let array = open(&target, "/");
    assert!(same(&values(&array)));
    // Where chunks are copied as they are, the codec says their byte order.
    let stored = target.get_all(&Key::new("c/0").unwrap()).unwrap().unwrap();
    let is_copied = stored[..] == bytes("3fc00000fffffffe034020000000011170ff")[..];
    let endian = array.metadata().codecs[0].configuration.get("endian").cloned();
    assert_eq!(endian, Some(json!(if is_copied { "big" } else { "little" })));
}

/// As kerchunk puts the filters of HDF5 into documents.
#[test]
fn a_compressor_stands_among_the_filters() {
    let filters = json!([{"id": "shuffle", "elementsize": 4}, {"id": "zlib", "level": 4}]);
    let chunk =
        "789c63787161c7828e8208070d811f0f4e6c98d1901160c1c0cccecd2f2c2e2dafacaea567646665e7e4e6c540240000584a0d0d";
    let source = store(&[(".zarray", v2(&[4, 5], json!("<i4"), filters, Value::Null))], &[("0.0", chunk)]);
    let due: Vec<i32> = (0..20).map(|number| number * 1000).collect();
    assert_eq!(open(&source, "/").read::<i32>(..).unwrap(), due);
    let target: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let options = ConvertOptions::default().dialect(Dialect::V3);
    Conversion::plan(&source, &zarr::registry::default(), options).unwrap().run(&target, |_| {}).unwrap();
    assert_eq!(open(&target, "/").read::<i32>(..).unwrap(), due);
}

#[test]
fn frames_of_zstd_need_no_size_and_may_be_several() {
    let mut document = v2(&[4, 4], json!("|u1"), Value::Null, json!({"id": "zstd", "level": 3}));
    if let Value::Object(members) = &mut document {
        members.insert("dimension_separator", "/");
    }
    for chunk in [
        "28b52ffd0000450000100505010032c002",
        "28b52ffd00003900000505050505050528b52ffd0000490000050505050505050505",
        // A frame to be skipped in front.
        "502a4d180500000068656c6c6f28b52ffd0000450000100505010032c002",
    ] {
        let store = store(&[(".zarray", document.clone())], &[("0/0", chunk)]);
        assert_eq!(open(&store, "/").read::<u8>(..).unwrap(), [5; 16], "{chunk}");
    }
}

/// A folder zipped by macOS, with its own files beside, and a file of zarr-python in which a chunk was written twice.
#[test]
fn zip_files_have_folders_on_top_and_values_twice() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, zip: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, zip).unwrap();
        path
    };
    let top = write("top.zip", include_bytes!("found_stores/top.zip"));
    let twice = write("twice.zip", include_bytes!("found_stores/twice.zip"));
    let open = |path: &std::path::Path, node: &str| {
        let array = zarr::open(format!("zip:{}::{node}", path.display()).as_str()).array().unwrap();
        values(&array).iter().map(|value| value.as_i64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(open(&top, "/ESP.zarr/a"), [1, 2, 3, 4]);
    assert_eq!(open(&twice, "/a"), [1, 2, 3, 4]);
}
