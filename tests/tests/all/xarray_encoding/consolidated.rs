//! The section *Compatibility and Reading*, on consolidated metadata.

use super::*;
use zarr::dataset::DatasetOptions;
use zarr::hierarchy::{consolidate, staleness};
use zarr::{Group, NewArray};

fn case(archive: &'static str, name: &str) -> Arc<dyn Store> {
    let cases = zarr_tests::cases(archive).unwrap();
    zarr::store::open(&cases.iter().find(|case| case.name == name).unwrap().url()).unwrap()
}

fn new(dialect: Dialect) -> NewDataset {
    let new = NewDataset::new().dialect(dialect).variable(variable("x", &["x"], [1, 2]));
    new.variable(variable("v", &["x"], [0.5, 1.5])).attribute("title", "t")
}

/// The document of the copy, and the pointer to it.
fn copy(dialect: Dialect) -> (&'static str, &'static str) {
    if dialect.is_v3() { ("zarr.json", "/consolidated_metadata/metadata") } else { (".zmetadata", "/metadata") }
}

fn is_consolidated(store: &Arc<dyn Store>, dialect: Dialect) -> bool {
    let (key, pointer) = copy(dialect);
    is_there(store, key) && document(store, key).pointer(pointer).is_some()
}

fn is_stale(store: &Arc<dyn Store>) -> bool {
    staleness(&**store, "/", None).unwrap().unwrap().is_stale()
}

/// Compatibility and Reading: consolidated metadata is written by default, the document `.zmetadata` in version 2, a member of the
/// group's document in version 3.
// clause: xarray-24
#[test]
fn metadata_is_consolidated_by_default() {
    for dialect in BOTH {
        let store = memory();
        create(&store, new(dialect));
        let (key, pointer) = copy(dialect);
        let metadata = member(&store, key, pointer);
        let expected = match dialect.is_v3() {
            true => vec!["v", "x"],
            false => vec![".zattrs", ".zgroup", "v/.zarray", "v/.zattrs", "x/.zarray", "x/.zattrs"],
        };
        let mut found = names(metadata.as_object().unwrap());
        found.sort_unstable();
        assert_eq!(found, expected);
        assert!(!is_stale(&store));
        if !dialect.is_v3() {
            assert_eq!(member(&store, ".zmetadata", "/zarr_consolidated_format"), json!(1));
        }
    }
}

/// Compatibility and Reading: consolidated metadata is read where it is there, so that one document is enough.
// clause: xarray-24
#[test]
fn consolidated_metadata_is_read() {
    for dialect in BOTH {
        let counted = Arc::new(zarr_store::Counted::new(MemoryStore::new()));
        let store: Arc<dyn Store> = Arc::<zarr_store::Counted<MemoryStore>>::clone(&counted);
        create(&store, new(dialect));
        let requests = |ignore: bool| {
            let group = zarr::open(&store).group().unwrap();
            let (gets, lists) = (counted.counts().gets, counted.counts().lists);
            let options = DatasetOptions::default().ignore_consolidated(ignore);
            assert_eq!(Dataset::open_with(&group, &options).unwrap().variables().count(), 2);
            (counted.counts().gets - gets, counted.counts().lists - lists)
        };
        let (gets, lists) = requests(false);
        assert!(gets <= 1 && lists == 0, "{gets} gets, {lists} lists");
        let (gets, lists) = requests(true);
        assert!(gets >= 2 && lists >= 1, "{gets} gets, {lists} lists");
    }
    for (archive, name) in [("xarray-v2", "climate"), ("xarray-v3", "climate"), ("xarray-v3", "calendar")] {
        let store = case(archive, name);
        let by_nodes = DatasetOptions::default().ignore_consolidated(true);
        let by_nodes = Dataset::open_with(&zarr::open(&store).group().unwrap(), &by_nodes).unwrap();
        let by_copy = open(&store);
        assert_eq!(by_copy.overview().to_string(), by_nodes.overview().to_string(), "{archive} {name}");
        assert!(by_copy.variables().count() > 0);
    }
}

/// Compatibility and Reading: consolidated metadata is not needed.
// clause: xarray-25
#[test]
fn consolidated_metadata_is_not_needed() {
    for dialect in BOTH {
        let store = memory();
        let dataset = create(&store, new(dialect).consolidated(false));
        assert!(!is_consolidated(&store, dialect));
        assert_eq!(texts(&dataset, "v"), ["0.5", "1.5"]);
        let dataset = dataset.append("x", &new(dialect).consolidated(false)).unwrap();
        assert!(!is_consolidated(&store, dialect));
        assert_eq!(texts(&dataset, "v"), ["0.5", "1.5", "0.5", "1.5"]);
    }
    for archive in ["xarray-v2", "xarray-v3"] {
        assert!(open(&case(archive, "times_unconsolidated")).variables().count() > 0);
    }
}

/// Compatibility and Reading: appending and updating consolidate again, so that no size or variable is missed.
// clause: xarray-36
#[test]
fn changes_of_data_sets_consolidate_again() {
    for dialect in BOTH {
        let store = memory();
        let grown = create(&store, new(dialect)).append("x", &new(dialect)).unwrap();
        assert!(is_consolidated(&store, dialect) && !is_stale(&store));
        let extra = NewDataset::new().variable(variable("w", &["x"], [1, 2, 3, 4])).attribute("more", 1);
        let updated = grown.update(&extra).unwrap();
        assert!(is_consolidated(&store, dialect) && !is_stale(&store));
        assert_eq!((updated.variables().count(), names(updated.attributes())), (3, vec!["title", "more"]));
        assert_eq!(open(&store).dimensions()[0].size, 4);
    }
}

/// Compatibility and Reading: changes of nodes below drop the copy rather than leave it stale; a copy that others left stale is told,
/// and can be ignored.
#[test]
fn copies_are_not_left_stale() {
    for dialect in BOTH {
        let store = memory();
        create(&store, new(dialect));
        let array = NewArray::new(&[2], "int8").dimension_names(&["x"]);
        zarr::create((&store, "/w")).array(array).unwrap();
        assert!(!is_consolidated(&store, dialect));
        assert_eq!(open(&store).variables().count(), 3);
        consolidate(&*store, "/", None).unwrap();
        zarr::open((&store, "/w")).array().unwrap().erase().unwrap();
        assert!(!is_consolidated(&store, dialect) && open(&store).variables().count() == 2);
        // Others change documents without a look at the copy.
        consolidate(&*store, "/", None).unwrap();
        let key = if dialect.is_v3() { "v/zarr.json" } else { "v/.zarray" };
        let mut array = document(&store, key);
        if let Value::Object(members) = &mut array {
            members.insert("shape", json!([3]));
        }
        put(&store, key, &array);
        assert!(is_stale(&store));
        assert_eq!(open(&store).variable("v").unwrap().shape(), [2]);
        let options = DatasetOptions::default().ignore_consolidated(true);
        let error = Dataset::open_with(&Group::open(&store, "/", &zarr::registry::default()).unwrap(), &options);
        assert!(error.unwrap_err().message().contains("dimension x has"));
    }
}

/// Compatibility and Reading: the copies that zarr-python writes for xarray are not stale, in its order and with its members.
// clause: xarray-35
#[test]
fn copies_of_zarr_python_are_up_to_date() {
    for (archive, name) in
        [("xarray-v2", "climate"), ("xarray-v2", "calendar"), ("xarray-v3", "climate"), ("xarray-v3", "calendar")]
    {
        let found = staleness(&*case(archive, name), "/", None).unwrap().unwrap();
        assert!(!found.is_stale(), "{archive} {name}: {found:?}");
    }
    // Its version 3 keeps an empty member of groups, which is in no `.zgroup` of version 2.
    let store = memory();
    create(&store, new(Dialect::V2));
    put(
        &store,
        ".zgroup",
        &json!({"zarr_format": 2, "consolidated_metadata": {"kind": "inline", "must_understand": false, "metadata": {}}}),
    );
    assert!(!is_stale(&store));
    assert_eq!(open(&store).variables().count(), 2);
}

/// Compatibility and Reading: a data set stays readable by xarray as it is converted: `_FillValue` of version 3 is the fill value of
/// version 2, which is null where nothing is missing, and the other way around.
// clause: xarray-26, xarray-27
#[test]
fn conversions_keep_marks_of_missing_data() {
    for [from, to] in [[Dialect::V2, Dialect::V3], [Dialect::V3, Dialect::V2]] {
        let store = memory();
        let marked = |name: &str| variable(name, &["x"], [1.0_f32, f32::NAN]);
        let new = NewDataset::new().dialect(from).variable(variable("x", &["x"], numpy_times("<M8[D]", &[0, 1])));
        let new =
            new.variable(marked("packed").stored_as("int16").encoding("_FillValue", 0).encoding("scale_factor", 1.0));
        let new = new.variable(variable("plain", &["x"], [0, 5])).variable(variable("flag", &["x"], [false, true]));
        let new =
            new.variable(variable("text", &["x"], ["", "a"])).variable(marked("float").encoding("_FillValue", -9.5));
        let before = create(&store, new);
        let there = converted(&store, to);
        let after = open(&there);
        for name in ["x", "packed", "plain", "flag", "text", "float"] {
            let (one, other) = (before.variable(name).unwrap(), after.variable(name).unwrap());
            assert_eq!(
                (texts(&before, name), one.data_type().unwrap()),
                (texts(&after, name), other.data_type().unwrap())
            );
            assert_eq!(one.attributes(), other.attributes(), "{name}");
        }
        assert_eq!(texts(&after, "packed"), ["1.0", "NaN"]);
        let old = if from.is_v2() { &store } else { &there };
        let new = if from.is_v2() { &there } else { &store };
        for (name, expected) in
            [("packed", json!(0)), ("plain", Value::Null), ("flag", Value::Null), ("text", Value::Null)]
        {
            assert_eq!(member(old, &format!("{name}/.zarray"), "/fill_value"), expected, "{from} {name}");
            assert_eq!(member(new, &format!("{name}/zarr.json"), "/attributes/_FillValue"), expected, "{from} {name}");
        }
        assert!(member(old, "float/.zarray", "/fill_value").semantically_eq(&json!(-9.5)));
        assert_eq!(member(new, "float/zarr.json", "/attributes/_FillValue"), json!("AAAAAAAAI8A="));
        assert_eq!(member(old, "float/.zattrs", "/_FillValue"), Value::Null);
    }
}

/// Compatibility and Reading: attributes keep their values, in copies and data sets too: numbers that JSON does not have, which Python
/// writes, and the order and kind of all.
// clause: xarray-29
#[test]
fn attributes_keep_their_values() {
    let text = r#"{"title":"t","range":[-Infinity,Infinity],"none":NaN,"float":1.0,"int":1,"large":18446744073709551615,"nested":{"a":[null,true]}}"#;
    let attributes = zarr_json::parse(text.as_bytes(), zarr_json::ParseOptions::ALL).unwrap().value;
    let v = attributes.as_object().unwrap().iter();
    let v = v.fold(variable("v", &["x"], [1]), |v, (name, value)| v.attribute(name, value.clone()));
    let new = || NewDataset::new().variable(v.clone()).attributes(attributes.as_object().unwrap().clone());
    let old = memory();
    let first = create(&old, new().dialect(Dialect::V2));
    let copied = create(&memory(), NewDataset::of(&first).unwrap().dialect(Dialect::V2));
    let there = converted(&old, Dialect::V3);
    let back = converted(&there, Dialect::V2);
    for dataset in [first, copied, open(&there), open(&back), open(&converted(&there, Dialect::V3))] {
        assert_eq!(Value::from(dataset.attributes().clone()).to_string(), text);
        assert_eq!(Value::from(dataset.variable("v").unwrap().attributes().clone()).to_string(), text);
    }
    // New documents of version 3 are JSON: who writes them says what such numbers are to become.
    let store = memory();
    let error = zarr::create(&store).dataset(new().dialect(Dialect::V3)).unwrap_err();
    assert!(error.message().contains("expected numbers that JSON has"), "{error}");
    assert_eq!(error.location().pointer.as_deref(), Some("/attributes/range"));
    assert!(!is_there(&store, "zarr.json"));
}
