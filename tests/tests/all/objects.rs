//! Arrays of objects.

use std::sync::Arc;
use zarr_array::{Array, ErrorKind, Options};
use zarr_json::{Value, json};
use zarr_store::{Key, MemoryStore, Store, StoreExt};

/// `numpy.array(["a", None, 1.5, b"\xff"], dtype=object)` as Python pickles it by protocol 4.
const PICKLED: &[u8] = b"\x80\x04\x95\x9c\x00\x00\x00\x00\x00\x00\x00\x8c\x16numpy._core.multiarray\x94\x8c\x0c_reconstruct\x94\x93\x94\x8c\x05numpy\x94\x8c\x07ndarray\x94\x93\x94K\x00\x85\x94C\x01b\x94\x87\x94R\x94(K\x01K\x04\x85\x94h\
    \x03\x8c\x05dtype\x94\x93\x94\x8c\x02O8\x94\x89\x88\x87\x94R\x94(K\x03\x8c\x01|\x94NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK?t\x94b\x89]\x94(\x8c\x01a\x94NG?\xf8\x00\x00\x00\x00\x00\x00C\x01\xff\x94et\x94b.";

#[test]
fn pickles_are_read_only_where_that_is_asked_for() {
    let store = MemoryStore::new();
    let zarray = json!({
        "zarr_format": 2, "shape": [4], "chunks": [4], "dtype": "|O", "compressor": null, "fill_value": null, "order": "C",
        "filters": [{"id": "pickle", "protocol": 4}]
    });
    store.set_all(&Key::new(".zarray").unwrap(), zarray.to_string().as_bytes()).unwrap();
    store.set_all(&Key::new("0").unwrap(), PICKLED).unwrap();
    let store: Arc<dyn Store> = Arc::new(store);
    let error = zarr::open(&store).array().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UnknownExtension);
    assert!(error.hint().is_some_and(|hint| hint.contains("PICKLE")), "{error:?}");

    let mut registry = zarr::registry::Registry::clone(&zarr::registry::default());
    registry.codecs.add(zarr::registry::PICKLE);
    let found = zarr::hierarchy::open_node(&*store, "/", None).unwrap();
    let array = Array::from_found(&store, found, &Arc::new(registry), Options::default()).unwrap();
    let values: Vec<Value> = array.read(..).unwrap();
    assert_eq!(values, [json!("a"), json!(null), json!(1.5), json!({"$bytes": "/w=="})]);
    assert!(array.write(.., &[json!(1), json!(2), json!(3), json!(4)]).is_err(), "pickles are not written");
}
