//! Attributes as Rust types, in every dialect that has attributes.

use serde::{Deserialize, Serialize};
use std::sync::Arc;
use zarr::json::{Number, Value};
use zarr::prelude::*;
use zarr::{AsyncArray, Dialect};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Attributes {
    units: String,
    id: u64,
    exact: Number,
    ranges: Vec<[f32; 2]>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    encoding: Option<Encoding>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Encoding {
    scale: f64,
}

fn attributes() -> Attributes {
    Attributes {
        units: "K".to_owned(),
        id: u64::MAX,
        exact: Number::parse("1.50e2").unwrap(),
        ranges: vec![[0.1, 1e30], [-0.0, 7.0]],
        encoding: Some(Encoding { scale: 0.1 }),
    }
}

#[test]
fn attributes_come_back_in_every_dialect() {
    for dialect in Dialect::ALL.into_iter().filter(|dialect| !dialect.holds_one_array()) {
        let store = zarr::store::create("memory:").unwrap();
        let new = NewArray::new(&[4], "int16").dialect(dialect);
        let Ok(mut array) = zarr::create((&store, "/g/a")).array(new) else { continue };
        array.set_attributes_from(&attributes()).unwrap();
        let mut array = zarr::open((&store, "/g/a")).array().unwrap();
        assert_eq!(array.attributes_as::<Attributes>().unwrap(), attributes(), "{dialect}");
        assert_eq!(array.attributes().unwrap().get("exact").unwrap().to_string(), "1.50e2", "{dialect}");

        assert_eq!(array.attribute::<f64>("/encoding/scale").unwrap(), Some(0.1));
        assert_eq!(array.attribute::<f64>("/encoding/offset").unwrap(), None);
        array.set_attribute("/encoding/scale", &0.5).unwrap();
        array.set_attribute("note", "x/y").unwrap();
        assert!(array.remove_attribute("/ranges").unwrap() && !array.remove_attribute("ranges").unwrap());
        let array = zarr::open((&store, "/g/a")).array().unwrap();
        assert_eq!(array.attribute::<Encoding>("encoding").unwrap(), Some(Encoding { scale: 0.5 }));
        assert_eq!(array.attribute::<Value>("note").unwrap(), Some("x/y".into()));
        let names: Vec<&str> = array.attributes().unwrap().keys().collect();
        assert_eq!(names, ["units", "id", "exact", "encoding", "note"], "{dialect}");
    }
}

#[test]
fn errors_name_the_node_and_the_attribute() {
    let store = zarr::store::create("memory:").unwrap();
    let mut array = zarr::create((&store, "/a")).array(NewArray::new(&[4], "int16")).unwrap();
    array.set_attributes_from(&attributes()).unwrap();
    array.set_attribute("/ranges/1", "none").unwrap();
    let error = array.attributes_as::<Attributes>().unwrap_err().to_string();
    assert_eq!(error, r#"memory:: /a: /attributes/ranges/1: found string "none", expected an array of length 2"#);
    let error = array.attribute::<u8>("id").unwrap_err().to_string();
    assert_eq!(error, "memory:: /a: /attributes/id: found 18446744073709551615, expected u8");
    let error = array.set_attribute("/none/x", &1).unwrap_err().to_string();
    assert!(error.contains("/a") && error.contains("/none"), "{error}");
    let error = array.set_attributes_from(&[1, 2]).unwrap_err().to_string();
    assert!(error.contains("found an array, expected a struct or a map"), "{error}");
    assert_eq!(array.attribute::<u64>("id").unwrap(), Some(u64::MAX), "nothing was changed");
}

#[test]
fn groups_and_arrays_that_do_not_block_have_the_same() {
    let store = zarr::store::create("memory:").unwrap();
    let mut group = zarr::create((&store, "/g")).group(NewGroup::default()).unwrap();
    group.set_attributes_from(&attributes()).unwrap();
    group.set_attribute("title", "a group").unwrap();
    let group = zarr::open((&store, "/g")).group().unwrap();
    assert_eq!(group.attributes_as::<Attributes>().unwrap(), attributes());
    assert_eq!(group.attribute::<String>("title").unwrap().as_deref(), Some("a group"));

    let store: Arc<dyn zarr::AsyncStore> = Arc::new(zarr::store::SyncAsAsync::new(store));
    zarr::store::block_on(async {
        let registry = zarr::registry::default();
        let mut array = AsyncArray::create(&store, "/a", NewArray::new(&[2], "int8"), &registry).await.unwrap();
        array.set_attributes_from(&attributes()).await.unwrap();
        array.set_attribute("title", "an array").await.unwrap();
        assert!(array.remove_attribute("encoding").await.unwrap());
        let array = AsyncArray::open(&store, "/a", &registry).await.unwrap();
        let expected = Attributes { encoding: None, ..attributes() };
        assert_eq!(array.attributes_as::<Attributes>().unwrap(), expected);
        assert_eq!(array.attribute::<String>("title").unwrap().as_deref(), Some("an array"));
    });
}
