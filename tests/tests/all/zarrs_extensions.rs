//! Experiments of the crate zarrs, by the names that it writes.

use std::sync::Arc;
use zarr::convert::{Conversion, ConvertOptions};
use zarr::store::{Key, MemoryStore, Store, StoreExt};
use zarr_array::{Array, ErrorKind};
use zarr_json::{Value, json};

/// An array of six `int32` with other members than usual.
fn document(members: Value) -> Value {
    let mut document = json!({
        "zarr_format": 3, "node_type": "array", "shape": [6], "data_type": "int32", "fill_value": 0,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [6]}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}], "attributes": {}
    });
    let Value::Object(all) = &mut document else { unreachable!() };
    for (name, value) in members.as_object().unwrap().iter() {
        all.insert(name, value.clone());
    }
    document
}

fn bytes(elements: &[i32]) -> Vec<u8> {
    elements.iter().flat_map(|element| element.to_le_bytes()).collect()
}

fn store(document: &Value, chunks: &[(&str, Vec<u8>)]) -> Arc<dyn Store> {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    store.set_all(&Key::new("zarr.json").unwrap(), document.to_string().as_bytes()).unwrap();
    for (key, chunk) in chunks {
        store.set_all(&Key::new(key).unwrap(), chunk).unwrap();
    }
    store
}

fn open(store: &Arc<dyn Store>) -> Array {
    zarr::open(store).array().unwrap()
}

#[test]
fn chunks_that_end_with_the_array_are_read_and_written() {
    let grid = json!({"name": "zarrs.regular_bounded", "configuration": {"chunk_shape": [4]}});
    let document = document(json!({"chunk_grid": (grid.clone())}));
    let store = store(&document, &[("c/0", bytes(&[0, 1, 2, 3])), ("c/1", bytes(&[4, 5]))]);
    let mut array = open(&store);
    assert_eq!(array.read::<i32>(..).unwrap(), [0, 1, 2, 3, 4, 5]);
    assert_eq!(array.read::<i32>((3..5,)).unwrap(), [3, 4]);
    array.write(3.., &[30, 40, 50]).unwrap();
    assert_eq!(store.get_all(&Key::new("c/1").unwrap()).unwrap().unwrap().to_vec(), bytes(&[40, 50]));
    // The chunk at the edge would have another shape.
    let error = array.resize(&[8]).unwrap_err();
    assert!(error.kind() == ErrorKind::Argument && error.to_string().contains("multiples of 4"), "{error}");

    // A copy has the grid by its name, and other chunks are usual ones.
    let registry = zarr::registry::default();
    let convert = |options: ConvertOptions| {
        let target: Arc<dyn Store> = Arc::new(MemoryStore::new());
        Conversion::plan(&store, &registry, options).unwrap().run(&target, |_| {}).unwrap();
        let array = open(&target);
        assert_eq!(array.read::<i32>(..).unwrap(), [0, 1, 2, 30, 40, 50]);
        array.metadata().chunk_grid.to_value()
    };
    assert!(convert(ConvertOptions::default()).semantically_eq(&grid));
    assert_eq!(convert(ConvertOptions::default().chunks(vec![4])).get("name"), Some(&json!("regular")));
}

#[test]
fn even_chunks_that_end_with_the_array_can_become_more() {
    let grid = json!({"name": "zarrs.regular_bounded", "configuration": {"chunk_shape": [3]}});
    let store = store(&document(json!({"chunk_grid": (grid.clone())})), &[("c/0", bytes(&[0, 1, 2]))]);
    let mut array = open(&store);
    array.resize(&[9]).unwrap();
    assert_eq!(open(&store).read::<i32>(..).unwrap(), [0, 1, 2, 0, 0, 0, 0, 0, 0]);
    assert!(array.metadata().chunk_grid.to_value().semantically_eq(&grid));
    assert!(array.resize(&[8]).is_err());
}

#[test]
fn keys_with_a_suffix_are_found() {
    let keys = json!({"name": "zarrs.default_suffix", "configuration": {"separator": ".", "suffix": ".bin"}});
    let store =
        store(&document(json!({"chunk_key_encoding": (keys.clone())})), &[("c.0.bin", bytes(&[0, 1, 2, 3, 4, 5]))]);
    let mut array = open(&store);
    assert_eq!(array.read::<i32>(..).unwrap(), [0, 1, 2, 3, 4, 5]);
    array.resize(&[7]).unwrap();
    array.write(6.., &[6]).unwrap();
    assert!(store.exists(&Key::new("c.1.bin").unwrap()).unwrap());
    assert_eq!(open(&store).metadata().chunk_key_encoding.to_value(), keys);
}

#[test]
fn codecs_are_known_by_the_names_of_zarrs() {
    let squeeze = json!([{"name": "zarrs.squeeze", "configuration": {}}, {"name": "bytes", "configuration": {"endian": "little"}}]);
    let grid = json!({"name": "regular", "configuration": {"chunk_shape": [1, 6]}});
    let squeezed = document(json!({"shape": [1, 6], "chunk_grid": grid, "codecs": squeeze}));
    let squeezed = store(&squeezed, &[("c/0/0", bytes(&[0, 1, 2, 3, 4, 5]))]);
    assert_eq!(open(&squeezed).read::<i32>((0, 2..4)).unwrap(), [2, 3]);

    // A count, and each element behind its length.
    let texts = [&2_u32.to_le_bytes()[..], &1_u32.to_le_bytes(), b"a", &3_u32.to_le_bytes(), b"bcd"].concat();
    let grid = json!({"name": "regular", "configuration": {"chunk_shape": [2]}});
    for name in ["zarrs.vlen_v2", "https://codec.zarrs.dev/array_to_bytes/vlen_v2"] {
        for (data_type, fill) in [("string", json!("")), ("bytes", json!([]))] {
            let members = json!({
                "shape": [2], "chunk_grid": (grid.clone()), "data_type": data_type, "fill_value": fill, "codecs": [{"name": name}]
            });
            let store = store(&document(members), &[("c/0", texts.clone())]);
            let elements = open(&store).read_data(..).unwrap();
            assert_eq!(elements.variable().unwrap().collect::<Vec<_>>(), [&b"a"[..], b"bcd"]);
        }
    }

    let bitround = "https://codec.zarrs.dev/array_to_array/bitround";
    let codecs = json!([{"name": bitround, "configuration": {"keepbits": 10}}, {"name": "bytes", "configuration": {"endian": "little"}}]);
    let chunk = [0_f32, 1.0, 2.0, 3.0, 4.0, 5.0].iter().flat_map(|element| element.to_le_bytes()).collect();
    let store_of = store(&document(json!({"data_type": "float32", "codecs": codecs})), &[("c/0", chunk)]);
    assert_eq!(open(&store_of).read::<f32>(4..).unwrap(), [4.0, 5.0]);

    let codecs = json!([{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "zarrs.gdeflate", "configuration": {"level": 1}}]);
    let error = zarr::open(&store(&document(json!({"codecs": codecs})), &[])).array().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UnknownExtension);
    assert!(
        error.to_string().contains("zarrs.gdeflate") && error.hint().is_some_and(|hint| hint.contains("GDeflate")),
        "{error:?}"
    );
}
