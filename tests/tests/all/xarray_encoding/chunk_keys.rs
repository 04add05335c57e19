//! The section *Chunk Key Encoding*.

use super::*;
use zarr::NewArray;

fn create_with(separator: char, dialect: Dialect) -> Arc<dyn Store> {
    let store = memory();
    let values: Vec<f64> = (0..42 * 100).map(f64::from).collect();
    let var1 = variable("var1", &["dim_0", "dim_1"], ([42, 100], &values)).chunks(&[42, 50]).separator(separator);
    create(&store, NewDataset::new().dialect(dialect).variable(var1));
    store
}

/// Chunk Key Encoding: the separator of version 2 can be chosen. The example of the section: `(42, 100)` elements in chunks of
/// `(42, 50)` and `V2ChunkKeyEncoding(separator="/")`.
// clause: xarray-39
#[test]
fn v2_is_written_with_the_separator_of_the_example() {
    let store = create_with('/', Dialect::V2);
    assert!(is_there(&store, "var1/0/0") && is_there(&store, "var1/0/1") && !is_there(&store, "var1/0.0"));
    assert_eq!(member(&store, "var1/.zarray", "/dimension_separator"), json!("/"));
    assert_eq!(member(&store, "var1/.zarray", "/chunks"), json!([42, 50]));
}

/// Chunk Key Encoding: both separators are written in both versions.
// clause: xarray-40
#[test]
fn both_separators_are_written_in_both_versions() {
    let keys = [
        (Dialect::V2, '/', "var1/0/1"),
        (Dialect::V2, '.', "var1/0.1"),
        (Dialect::V3, '/', "var1/c/0/1"),
        (Dialect::V3, '.', "var1/c.0.1"),
    ];
    for (dialect, separator, key) in keys {
        let store = create_with(separator, dialect);
        assert!(is_there(&store, key), "{key}");
        let values: Vec<f64> = open(&store).variable("var1").unwrap().read().unwrap().to_vec().unwrap();
        assert_eq!((values.len(), values[4199]), (4200, 4199.0));
    }
}

/// Chunk Key Encoding: when reading, the encoding of keys is found automatically. Version 3 has the keys of version 2 as well.
// clause: xarray-41
#[test]
fn the_encoding_of_keys_is_found_when_reading() {
    for (name, separator, key) in [("v2", "/", "t/0/1"), ("v2", ".", "t/0.1"), ("default", ".", "t/c.0.1")] {
        let store = group(Dialect::V3);
        let new = NewArray::new(&[1, 2], "int32").chunks(&[1, 1]).dimension_names(&["y", "x"]).codecs("bytes").unwrap();
        zarr::create((&store, "/t")).array(new).unwrap();
        let mut array = document(&store, "t/zarr.json");
        if let Value::Object(members) = &mut array {
            members.insert("chunk_key_encoding", json!({"name": name, "configuration": {"separator": separator}}));
        }
        put(&store, "t/zarr.json", &array);
        store.set_all(&Key::new(key).unwrap(), &7_i32.to_le_bytes()).unwrap();
        assert_eq!(texts(&open(&store), "t"), ["0", "7"]);
        // Parts that are written later have the same keys.
        open(&store).isel("x", 0).unwrap().variable("t").unwrap().write([5]).unwrap();
        assert!(is_there(&store, &key.replace('1', "0")));
    }
    // Documents of version 2 without the member, which came later.
    let store = group(Dialect::V2);
    v2(&store, "t", ("<i4", &[1, 2]), Value::Null, &json!({"_ARRAY_DIMENSIONS": ["y", "x"]}), &[1, 2]);
    assert!(is_there(&store, "t/0.0"));
    assert_eq!(texts(&open(&store), "t"), ["1", "2"]);
}
