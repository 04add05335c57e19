//! The data that xarray finds in a converted store, as it finds it in a store that it wrote.

use std::sync::Arc;
use zarr::convert::Migration;
use zarr_array::{Array, NewArray};
use zarr_convert::{Action, Conversion, ConvertOptions};
use zarr_json::{Value, json};
use zarr_meta::conventions::{ARRAY_DIMENSIONS, Convention, Conventions, FILL_VALUE};
use zarr_meta::{ArrayMetadata, Dialect, StoredNode};
use zarr_store::{Key, MemoryStore, Store, StoreExt};

fn case(archive: &'static str, name: &str) -> Arc<dyn Store> {
    let cases = zarr_tests::cases(archive).unwrap();
    zarr::store::open(&cases.iter().find(|case| case.name == name).unwrap().url()).unwrap()
}

fn memory() -> Arc<dyn Store> {
    Arc::new(MemoryStore::new())
}

/// The store in another dialect, and the warnings.
fn converted(store: &Arc<dyn Store>, options: ConvertOptions) -> (Arc<dyn Store>, Vec<String>) {
    let conversion = Conversion::plan(store, &zarr::registry::default(), options).unwrap();
    let warnings = conversion.nodes().iter().filter_map(|node| node.warning.clone()).collect();
    let target = memory();
    conversion.run(&target, |_| {}).unwrap();
    (target, warnings)
}

fn to(dialect: Dialect) -> ConvertOptions {
    ConvertOptions::default().dialect(dialect)
}

fn arrays(store: &Arc<dyn Store>) -> Vec<StoredNode> {
    let nodes = zarr::hierarchy::walk(&**store, "/", None).unwrap().nodes;
    nodes.into_iter().filter(|node| node.node.as_array().is_some()).collect()
}

fn array(store: &Arc<dyn Store>, path: &str) -> ArrayMetadata {
    zarr::hierarchy::open_node(&**store, path, None).unwrap().node.as_array().unwrap().clone()
}

/// The fill value, in which numbers are equal however they are spelled, and NaN means as much to xarray as null.
fn mark(array: &ArrayMetadata) -> Value {
    let fill = array.fill_value.clone().unwrap_or_default();
    if fill.as_str() == Some("NaN") { Value::Null } else { fill.as_f64().map_or(fill, Value::from) }
}

/// The attributes in the order of their names.
fn sorted(array: &ArrayMetadata) -> Vec<(&str, &Value)> {
    // The version of xarray that wrote the data sets of version 2 stored bools as integers with this attribute.
    let mut attributes: Vec<_> = array.attributes.iter().filter(|(name, _)| *name != "dtype").collect();
    attributes.sort_by_key(|(name, _)| *name);
    attributes
}

/// xarray itself wrote the same data sets in both versions.
#[test]
fn data_sets_become_as_xarray_writes_them() {
    let mut compared = 0;
    for name in ["climate", "calendar", "groups"] {
        let (v2, v3) = (case("xarray-v2", name), case("xarray-v3", name));
        let (to_v3, warnings) = converted(&v2, to(Dialect::V3));
        assert_eq!(warnings, [""; 0], "{name}");
        let (to_v2, warnings) = converted(&v3, to(Dialect::V2));
        assert_eq!(warnings, [""; 0], "{name}");
        let (back, _) = converted(&to_v3, to(Dialect::V2));
        for node in arrays(&v3) {
            let path = node.path.to_string();
            let (wanted, found) = (node.node.as_array().unwrap(), array(&to_v3, &path));
            assert_eq!(sorted(&found), sorted(wanted), "{name}{path}");
            let (wanted, found) = (array(&v2, &path), array(&to_v2, &path));
            assert_eq!(mark(&found), mark(&wanted), "{name}{path}");
            assert_eq!(sorted(&found), sorted(&wanted), "{name}{path}");
            assert_eq!(array(&back, &path).fill_value, wanted.fill_value, "{name}{path}");
            compared += usize::from(mark(&wanted) != Value::Null);
        }
    }
    assert!(compared >= 2, "{compared} arrays have a mark");
}

/// To the letter it is for the user to know.
#[test]
fn literal_conversions_warn() {
    let (v2, v3) = (case("xarray-v2", "climate"), case("xarray-v3", "climate"));
    let (plain, warnings) = converted(&v2, to(Dialect::V3).literal(true));
    assert_eq!(
        warnings,
        ["/fill_value: -32768 no longer marks missing data to xarray, which goes by the attribute _FillValue"]
    );
    assert!(!array(&plain, "/t2m").attributes.contains_key(FILL_VALUE));
    let (plain, warnings) = converted(&v3, to(Dialect::V2).literal(true));
    assert!(warnings.iter().any(|warning| warning.contains("0 now marks missing data to xarray")), "{warnings:?}");
    assert!(array(&plain, "/t2m").attributes.contains_key(FILL_VALUE));
    let (ignored, warnings) = converted(&v3, to(Dialect::V2).conventions(Conventions::Ignore));
    assert_eq!((warnings, array(&ignored, "/t2m")), (vec![], array(&plain, "/t2m")));
}

/// netCDF's `_FillValue` is a number, which xarray refuses for floats of version 3.
#[test]
fn netcdf_becomes_what_xarray_opens() {
    let store = case("nczarr", "netcdf_4_9_0");
    let (v3, _) = converted(&store, to(Dialect::V3));
    for node in zarr::hierarchy::walk(&*v3, "/", None).unwrap().nodes {
        let is_own = |name: &str| name.to_lowercase().starts_with("_nczarr");
        assert!(!node.node.attributes().keys().any(is_own), "{}", node.path);
    }
    // The base64 of -9.5.
    assert_eq!(array(&v3, "/d").attributes.get(FILL_VALUE), Some(&json!("AAAAAAAAI8A=")));
    assert_eq!(array(&v3, "/v").attributes.get(FILL_VALUE), Some(&json!(-1)));
    // It has no names by the other convention.
    assert_eq!(array(&v3, "/g/w").attributes.get(FILL_VALUE), Some(&json!(65535)));
    let (by_other, _) = converted(&store, to(Dialect::V3).conventions(Conventions::Assume(Convention::NcZarr)));
    assert_eq!(array(&by_other, "/v"), array(&v3, "/v"));
}

/// A v3 array of 7 elements in chunks of 2, of which one is not stored.
fn with_a_hole(codecs: &str, keys: Value) -> Arc<dyn Store> {
    let store = memory();
    let new = NewArray::new(&[7], "int16").chunks(&[2]).fill(5).dimension_names(&["x"]);
    let new = new.codecs(codecs).unwrap();
    let registry = zarr::registry::default();
    let array = Array::create(&store, "/g/a", new, &registry).unwrap();
    array.write(.., &[0_i16, 1, 5, 5, 2, 3, 5]).unwrap();
    let key = Key::new("g/a/zarr.json").unwrap();
    let text = String::from_utf8(store.get_all(&key).unwrap().unwrap().to_vec()).unwrap();
    let mut document = Value::from_json(&text).unwrap();
    if let Value::Object(members) = &mut document {
        members.insert("chunk_key_encoding", keys);
    }
    store.set_all(&key, document.to_string().as_bytes()).unwrap();
    store
}

fn default_keys() -> Value {
    json!({"name": "default", "configuration": {"separator": "/"}})
}

/// Null leaves missing chunks undefined: zarr-python 2 reads memory as it was there.
#[test]
fn chunks_that_are_not_stored_are_where_the_fill_value_becomes_null() {
    for codecs in ["bytes", "bytes,zstd"] {
        let store = with_a_hole(codecs, default_keys());
        let is_stored = |store: &Arc<dyn Store>, key: &str| store.get_all(&Key::new(key).unwrap()).unwrap().is_some();
        assert!(is_stored(&store, "g/a/c/0") && !is_stored(&store, "g/a/c/1") && !is_stored(&store, "g/a/c/3"));
        let conversion = Conversion::plan(&store, &zarr::registry::default(), to(Dialect::V2)).unwrap();
        let how: Vec<_> = conversion.nodes().iter().map(|node| node.how).collect();
        assert_eq!(how, [Action::Group, Action::Group, Action::CopyChunks]);
        let target = memory();
        conversion.run(&target, |_| {}).unwrap();
        assert_eq!(array(&target, "/g/a").fill_value, None);
        assert!((0..4).all(|chunk| is_stored(&target, &format!("g/a/{chunk}"))));
        let read = Array::open(&target, "/g/a", &zarr::registry::default()).unwrap().read::<i16>(..).unwrap();
        assert_eq!(read, [0, 1, 5, 5, 2, 3, 5]);
    }
}

/// A migration leaves chunks where they are, and there may be none.
#[test]
fn a_migration_keeps_the_fill_value_of_chunks_that_are_not_stored() {
    let registry = zarr::registry::default();
    let store = with_a_hole("bytes", json!({"name": "v2", "configuration": {"separator": "."}}));
    // Chunks were written under keys of the other form.
    let rewrite = |store: &Arc<dyn Store>, elements: &[i16]| {
        let array = Array::open(store, "/g/a", &registry).unwrap();
        array.write(.., elements).unwrap();
    };
    rewrite(&store, &[0, 1, 5, 5, 2, 3, 4]);
    let migration = Migration::plan(&store, &registry, Dialect::V2).unwrap();
    let planned = migration.nodes().iter().find(|node| node.path.to_string() == "/g/a").unwrap();
    assert_eq!((planned.how, planned.target.as_array().unwrap().fill_value.clone()), (Action::Keep, Some(json!(5))));
    let warning = "/fill_value: 5 now marks missing data to xarray; before it did not, since there are chunks that are not stored";
    assert_eq!(planned.warning.as_deref(), Some(warning));
    migration.run(|_| {}).unwrap();
    let migrated = Array::open(&store, "/g/a", &registry).unwrap();
    assert_eq!(migrated.read::<i16>(..).unwrap(), [0, 1, 5, 5, 2, 3, 4]);
    // Where all are stored, nothing is missing.
    let store = with_a_hole("bytes", json!({"name": "v2", "configuration": {"separator": "."}}));
    rewrite(&store, &[0, 1, 6, 6, 2, 3, 4]);
    let migration = Migration::plan(&store, &registry, Dialect::V2).unwrap();
    let planned = migration.nodes().iter().find(|node| node.path.to_string() == "/g/a").unwrap();
    assert_eq!((planned.how, planned.target.as_array().unwrap().fill_value.clone()), (Action::Keep, None));
    assert_eq!(planned.warning, None);
}

/// xarray could not open a group of version 2 that came from one of nothing but scalars.
#[test]
fn scalars_have_names_of_no_dimensions_in_version_2() {
    let registry = zarr::registry::default();
    let create = |store: &Arc<dyn Store>, path: &str, shape: &[u64]| {
        let new = NewArray::new(shape, "int16").fill(0);
        Array::create(store, path, new, &registry).unwrap();
    };
    let store = memory();
    create(&store, "/a", &[]);
    let (v2, _) = converted(&store, to(Dialect::V2));
    assert_eq!(array(&v2, "/a").attributes.get(ARRAY_DIMENSIONS), Some(&json!([])));
    assert_eq!(array(&v2, "/a").fill_value, None);
    let (back, _) = converted(&v2, to(Dialect::V3));
    assert_eq!(array(&back, "/a").to_value(), array(&store, "/a").to_value());
    // Not in a hierarchy of arrays without names, which is none of xarray's, unless it is said to be.
    create(&store, "/b", &[3]);
    let (v2, _) = converted(&store, to(Dialect::V2));
    assert_eq!(array(&v2, "/a").attributes.get(ARRAY_DIMENSIONS), None);
    assert_eq!(array(&v2, "/a").fill_value, Some(json!(0)));
    let (v2, _) = converted(&store, to(Dialect::V2).conventions(Conventions::Assume(Convention::Xarray)));
    assert_eq!(array(&v2, "/a").attributes.get(ARRAY_DIMENSIONS), Some(&json!([])));
    assert_eq!((array(&v2, "/a").fill_value, array(&v2, "/b").fill_value), (None, None));
}

/// xarray found a `_FillValue` in version 2 that was not in version 3. NaN stays for chunks that are not stored, unless floats are scaled:
/// their data type depends on it.
#[test]
fn nan_that_marks_nothing_becomes_null_where_all_chunks_are_stored() {
    let registry = zarr::registry::default();
    let store = memory();
    for (path, scale, written) in [("/all", None, 0..4), ("/some", None, 0..2), ("/scaled", Some(0.5), 0..2)] {
        let new = NewArray::new(&[4], "float32").chunks(&[2]).dimension_names(&["x"]).fill("NaN");
        let new = scale.into_iter().fold(new, |new, scale| new.attribute("scale_factor", scale));
        let len = written.end as usize;
        Array::create(&store, path, new, &registry).unwrap().write(written, &vec![1.0_f32; len]).unwrap();
    }
    let decoded = |store: &Arc<dyn Store>| {
        let dataset = zarr::open(store).dataset().unwrap();
        let values = dataset.variables().map(|variable| variable.read().unwrap());
        values.map(|it| (it.data_type().to_string(), [0, 3].map(|at| it.text(at)))).collect::<Vec<_>>()
    };
    let (v2, _) = converted(&store, to(Dialect::V2));
    assert_eq!(array(&v2, "/all").fill_value, None);
    assert_eq!(array(&v2, "/some").fill_value, Some(json!("NaN")));
    assert_eq!(array(&v2, "/scaled").fill_value, None);
    assert_eq!(decoded(&v2), decoded(&store));
    assert_eq!(zarr::open((&v2, "/some")).array().unwrap().stored_chunks().unwrap().len(), 1);
    let migration = Migration::plan(&store, &registry, Dialect::V2).unwrap();
    let fill = |path: &str| {
        let planned = migration.nodes().iter().find(|node| node.path.to_string() == path).unwrap();
        planned.target.as_array().unwrap().fill_value.clone()
    };
    assert_eq!((fill("/all"), fill("/some")), (None, Some(json!("NaN"))));
}

/// TensorStore opens an array of version 2 whose dimensions have one name, and refuses it in version 3.
#[test]
fn dimensions_of_one_name_are_warned_of_where_documents_have_names() {
    let registry = zarr::registry::default();
    let store = memory();
    for (path, names) in [("/twice", ["x", "x"]), ("/once", ["y", "x"])] {
        let new = NewArray::new(&[2, 2], "int8").dimension_names(&names).dialect(Dialect::V2);
        Array::create(&store, path, new, &registry).unwrap();
    }
    let conversion = Conversion::plan(&store, &registry, to(Dialect::V3)).unwrap();
    let warned: Vec<_> = conversion.nodes().iter().filter(|node| node.warning.is_some()).collect();
    assert_eq!(warned.iter().map(|node| node.path.to_string()).collect::<Vec<_>>(), ["/twice"]);
    let warning = warned[0].warning.as_deref().unwrap();
    assert!(warning.starts_with("/dimension_names: two dimensions have the name \"x\""), "{warning}");
    let (_, warnings) = converted(&store, to(Dialect::V3Draft2022));
    assert_eq!(warnings, [""; 0]);
}

/// Numbers that JSON does not have are the numbers that they were, also in consolidated metadata.
#[test]
fn attributes_keep_nan_in_version_3() {
    let registry = zarr::registry::default();
    let store = memory();
    let new = NewArray::new(&[3], "float32").dimension_names(&["x"]).dialect(Dialect::V2);
    Array::create(&store, "/a", new, &registry).unwrap();
    let text = br#"{"_ARRAY_DIMENSIONS": ["x"], "missing_value": NaN, "valid_range": [-Infinity, 1.0]}"#;
    store.set_all(&Key::new("a/.zattrs").unwrap(), text).unwrap();
    zarr::hierarchy::consolidate(&*store, "/", None).unwrap();
    let (v3, warnings) = converted(&store, to(Dialect::V3));
    assert!(warnings[0].starts_with("/attributes: NaN or infinities, 2 in all, stay numbers"), "{warnings:?}");
    let (back, warnings) = converted(&v3, to(Dialect::V2));
    assert_eq!(warnings, [""; 0]);
    for store in [&v3, &back] {
        let found = array(store, "/a").attributes;
        assert_eq!(found.get("missing_value").unwrap().to_string(), "NaN");
        assert_eq!(found.get("valid_range").unwrap().to_string(), "[-Infinity,1.0]");
    }
    let (same, _) = converted(&store, to(Dialect::V2));
    assert_eq!(same.get_all(&Key::new("a/.zattrs").unwrap()).unwrap().unwrap().to_vec(), text);
    let (texts, _) = converted(&store, to(Dialect::V3).literal(true));
    assert_eq!(array(&texts, "/a").attributes.get("missing_value"), Some(&json!("NaN")));
}
