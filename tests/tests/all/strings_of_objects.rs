//! Arrays of objects become arrays of strings exactly where all elements are strings.

use proptest::prelude::*;
use std::sync::Arc;
use zarr::convert::{Conversion, ConvertOptions, Migration};
use zarr::store::{Key, MemoryStore, Store, StoreExt};
use zarr_array::Array;
use zarr_json::{Value, json};
use zarr_meta::{Dialect, readers};

/// An array of version 2 of these objects, in chunks of two.
fn write(elements: &[Value], id: &str, fill: &Value) -> Arc<dyn Store> {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let document = json!({
        "zarr_format": 2, "shape": [(elements.len())], "chunks": [2], "dtype": "|O", "filters": [{"id": id}],
        "compressor": {"id": "zlib", "level": 1}, "fill_value": (fill.clone()), "order": "C"
    });
    store.set_all(&Key::new(".zarray").unwrap(), document.to_string().as_bytes()).unwrap();
    let array = zarr::open(&store).array().unwrap();
    array.write(.., elements).unwrap();
    store
}

fn values(array: &Array) -> Vec<Value> {
    let data = array.read_data(..).unwrap();
    (0..data.len()).map(|index| data.json(index)).collect()
}

fn element() -> impl Strategy<Value = Value> {
    prop_oneof![
        8 => "[a-zé\"\\\\]{0,4}".prop_map(Value::from),
        1 => Just(Value::Null),
        1 => (0_i64..9).prop_map(Value::from),
        1 => Just(json!(["a"])),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn objects_are_strings_where_all_are_texts(
        elements in prop::collection::vec(element(), 1..6),
        id in prop::sample::select(vec!["json2", "msgpack2"]),
        fill in prop::sample::select(vec![json!(null), json!(""), json!("a"), json!(0)]),
        dialect in prop::sample::select(vec![Dialect::V2, Dialect::V3]),
        in_place: bool,
    ) {
        let source = write(&elements, id, &fill);
        let registry = zarr::registry::default();
        let before = values(&zarr::open(&source).array().unwrap());
        let options = ConvertOptions::default().objects_as_strings(true);
        let array = if in_place && dialect == Dialect::V3 {
            Migration::plan_with(&source, &registry, dialect, options).unwrap().run(|_| {}).unwrap();
            zarr::open(&source).dialect(dialect).array().unwrap()
        } else {
            let target: Arc<dyn Store> = Arc::new(MemoryStore::new());
            Conversion::plan(&source, &registry, options.dialect(dialect)).unwrap().run(&target, |_| {}).unwrap();
            zarr::open(&target).array().unwrap()
        };
        prop_assert_eq!(values(&array), before.clone());
        let is_strings = before.iter().all(|value| value.as_str().is_some());
        prop_assert_eq!(array.data_type().to_string(), if is_strings { "string" } else { "v2_object" });
        let unread = readers::unread(array.metadata(), dialect);
        prop_assert_eq!(unread.is_empty(), is_strings || dialect == Dialect::V2, "{:?}", unread);
    }
}
