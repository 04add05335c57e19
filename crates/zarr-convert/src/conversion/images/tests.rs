//! Tests of OME-Zarr images in conversions between Zarr v2 and v3.

use crate::{Conversion, ConvertOptions, Migration};
use proptest::prelude::*;
use std::sync::Arc;
use zarr_array::{Array, Group, NewArray, NewGroup, Registry, Store};
use zarr_json::{Map, Value, json};
use zarr_meta::Dialect;
use zarr_meta::conventions::{Convention, Conventions};
use zarr_ome::Version;
use zarr_store::{MemoryStore, StoreExt};

fn registry() -> Arc<Registry> {
    let mut registry = Registry::default();
    registry.codecs.add(zarr_codec_bytes::BYTES);
    Arc::new(registry)
}

fn images(version: &str) -> Value {
    let axis = |name: &str| json!({"name": name, "type": "space"});
    let level = |path: &str| json!({"path": path, "coordinateTransformations": [{"type": "scale", "scale": [1, 1]}]});
    json!([{"axes": [(axis("y")), (axis("x"))], "datasets": [(level("0")), (level("1"))], "version": version}])
}

/// Returns a store with a group that has `attributes`, and two levels with one stored chunk each.
fn store(dialect: Dialect, attributes: Value, names: Option<&[&str]>) -> Arc<dyn Store> {
    let (store, registry): (Arc<dyn Store>, _) = (Arc::new(MemoryStore::new()), registry());
    let group = NewGroup::new().dialect(dialect).attributes(attributes.as_object().unwrap().clone());
    Group::create(&store, "/", group, &registry).unwrap();
    for path in ["/0", "/1"] {
        let new = NewArray::new(&[4, 4], "uint8").chunks(&[2, 2]).codecs("bytes").unwrap().dialect(dialect).fill(0);
        let new = names.map_or(new.clone(), |names| new.dimension_names(names));
        Array::create(&store, path, new, &registry).unwrap().write((..2, ..2), &[1_u8, 2, 3, 4]).unwrap();
    }
    store
}

fn converted(source: &Arc<dyn Store>, options: ConvertOptions) -> (Arc<dyn Store>, Conversion) {
    let target: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let conversion = Conversion::plan(source, &registry(), options).unwrap();
    conversion.run(&target, |_| {}).unwrap();
    (target, conversion)
}

fn attributes(store: &Arc<dyn Store>) -> Value {
    Value::Object(Group::open(store, "/", &registry()).unwrap().attributes().unwrap().clone())
}

/// Returns the dimension names, the attributes and the elements of the level at `path`.
fn level(store: &Arc<dyn Store>, path: &str) -> (Option<Vec<String>>, String, Vec<u8>) {
    let array = Array::open(store, path, &registry()).unwrap();
    let names = array.dimension_names().map(|names| names.iter().flatten().cloned().collect());
    (names, Value::Object(array.attributes().unwrap().clone()).to_string(), array.read::<u8>(..).unwrap())
}

fn to(dialect: Dialect) -> ConvertOptions {
    ConvertOptions::default().dialect(dialect)
}

fn yx() -> Option<Vec<String>> {
    Some(vec!["y".to_owned(), "x".to_owned()])
}

#[test]
fn images_have_the_version_of_the_format() {
    let old = json!({"note": 1, "multiscales": (images("0.4"))});
    let source = store(Dialect::V2, old.clone(), None);
    let (new, conversion) = converted(&source, to(Dialect::V3));
    let changed: Vec<_> = conversion.nodes().iter().map(|node| node.ome).collect();
    assert_eq!(changed, [Some(Version::V05), None, None]);
    assert_eq!(conversion.nodes()[0].notes.len(), 1);
    let attributes_of_new = attributes(&new);
    assert_eq!(attributes_of_new.pointer("/ome/version"), Some(&json!("0.5")));
    assert_eq!(attributes_of_new.as_object().unwrap().keys().collect::<Vec<_>>(), ["note", "ome"]);
    let (names, of_level, elements) = level(&new, "/1");
    assert_eq!((names, of_level.as_str()), (yx(), "{}"));
    let (back, _) = converted(&new, to(Dialect::V2));
    assert!(attributes(&back).semantically_eq(&old), "{}", attributes(&back));
    assert_eq!(level(&back, "/1"), (None, "{}".to_owned(), elements));
    // The fill value marks nothing as missing, and chunks that are not stored stay so.
    assert_eq!(
        back.list_prefix(&zarr_store::Prefix::root()).unwrap().len(),
        source.list_prefix(&zarr_store::Prefix::root()).unwrap().len()
    );
    assert_eq!(Array::open(&back, "/0", &registry()).unwrap().metadata().fill_value, Some(json!(0)));
}

#[test]
fn a_migration_writes_the_version_of_the_format() {
    let store = store(Dialect::V2, json!({"multiscales": (images("0.4"))}), None);
    let migration = Migration::plan(&store, &registry(), Dialect::V3).unwrap();
    assert_eq!(migration.nodes()[0].ome, Some(Version::V05));
    migration.run(|_| {}).unwrap();
    Migration::finish(&store, None).unwrap();
    assert_eq!(attributes(&store).pointer("/ome/multiscales/0/version"), None);
    assert_eq!((attributes(&store).get("multiscales"), level(&store, "/0").0), (None, yx()));
}

#[test]
fn to_the_letter_metadata_stay() {
    let old = json!({"multiscales": (images("0.4"))});
    let source = store(Dialect::V2, old.clone(), None);
    for options in [to(Dialect::V3).literal(true), to(Dialect::V3).conventions(Conventions::Ignore), to(Dialect::V2)] {
        let (new, conversion) = converted(&source, options);
        assert_eq!((attributes(&new), level(&new, "/0").0), (old.clone(), None));
        assert!(conversion.nodes().iter().all(|node| node.ome.is_none() && node.warning.is_none()));
    }
}

#[test]
fn names_of_dimensions_that_are_there_stay() {
    let source = store(Dialect::V2, json!({"multiscales": (images("0.4"))}), Some(&["a", "b"]));
    let (new, _) = converted(&source, to(Dialect::V3));
    assert_eq!(level(&new, "/0").0, Some(vec!["a".to_owned(), "b".to_owned()]));
    // Names of version 3 that are not those of the axes, and names that a caller takes to be xarray's.
    let new =
        |names| store(Dialect::V3, json!({"ome": {"version": "0.5", "multiscales": (images("0.5"))}}), Some(names));
    let (other, _) = converted(&new(&["a", "b"]), to(Dialect::V2));
    assert_eq!(level(&other, "/0").1, r#"{"_ARRAY_DIMENSIONS":["a","b"]}"#);
    let assumed = to(Dialect::V2).conventions(Conventions::Assume(Convention::Xarray));
    assert_eq!(level(&converted(&new(&["y", "x"]), assumed).0, "/0").0, yx());
    assert_eq!(level(&converted(&new(&["y", "x"]), to(Dialect::V2)).0, "/0").0, None);
}

#[test]
fn versions_that_have_no_other_form_stay_with_a_warning() {
    let next = json!({"ome": {"version": "0.6", "scene": {"coordinateTransformations": [{"type": "identity"}]}}});
    let other = json!({"multiscales": (images("0.4")), "ome": 1});
    for (from, attributes_of, expected) in [
        (Dialect::V2, json!({"multiscales": (images("0.3"))}), "found version \"0.3\""),
        (Dialect::V2, other, "found an attribute ome already, 1"),
        (Dialect::V3, next, "OME-Zarr 0.4 cannot hold it"),
    ] {
        let source = store(from, attributes_of.clone(), None);
        let to = to(if from == Dialect::V2 { Dialect::V3 } else { Dialect::V2 });
        let (target, conversion) = converted(&source, to);
        assert_eq!(attributes(&target), attributes_of);
        let warning = conversion.nodes()[0].warning.as_deref().unwrap();
        assert!(
            warning.starts_with("/attributes: OME-Zarr metadata stays as it is") && warning.contains(expected),
            "{warning}"
        );
    }
    // Other conventions, and groups that have none, are no reason for a word.
    for attributes_of in [json!({"multiscales": {"layout": []}}), json!({"plate": 3}), json!({})] {
        let (target, conversion) = converted(&store(Dialect::V2, attributes_of.clone(), None), to(Dialect::V3));
        assert_eq!(attributes(&target), attributes_of);
        assert!(conversion.nodes().iter().all(|node| node.warning.is_none() && node.ome.is_none()));
    }
}

fn members() -> impl Strategy<Value = Map> {
    let version = "0.4";
    let all = vec![
        ("multiscales", images(version)),
        ("omero", json!({"channels": [], "version": version})),
        ("image-label", json!({"version": version, "colors": [{"label-value": 1}]})),
        ("plate", json!({"rows": [], "version": version})),
        ("well", json!({"images": [{"path": "0"}], "version": version})),
        ("bioformats2raw.layout", json!(3)),
        ("labels", json!(["a"])),
        ("note", json!({"version": 3})),
        ("nothing", Value::Null),
    ];
    let count = all.len();
    proptest::sample::subsequence(all, 0..=count)
        .prop_shuffle()
        .prop_map(|members| members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn metadata_are_the_same_there_and_back(members in members()) {
        let old = Value::Object(members);
        let source = store(Dialect::V2, old.clone(), None);
        let (new, _) = converted(&source, to(Dialect::V3));
        let (back, _) = converted(&new, to(Dialect::V2));
        prop_assert!(attributes(&back).semantically_eq(&old), "{}\n{}", old, attributes(&back));
        prop_assert_eq!(level(&back, "/0"), level(&source, "/0"));
        let carried = to(Dialect::V3).carry(true);
        prop_assert!(attributes(&converted(&source, carried).0).semantically_eq(&attributes(&new)));
    }
}
