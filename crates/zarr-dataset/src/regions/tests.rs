use super::*;
use zarr_array::{NewArray, NewGroup};
use zarr_store::MemoryStore;

fn registry() -> Arc<Registry> {
    let mut registry = Registry::default();
    zarr_codec_bytes::CODECS.iter().for_each(|entry| registry.codecs.add(*entry));
    Arc::new(registry)
}

fn create(group: &Group, name: &str, shape: &[u64], names: &[&str]) -> zarr_array::Array {
    let new = NewArray::new(shape, "int32").dimension_names(names).codecs("bytes").unwrap();
    group.create_array(name, new).unwrap()
}

/// Creates a tree: `/` has the coordinate `time`, `t` along `time` and a scalar; `/ocean` has the coordinate `depth`, and `s` along `depth`
/// and `time`.
fn tree() -> Arc<dyn Store> {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let root = Group::create(&store, "/", NewGroup::new(), &registry()).unwrap();
    create(&root, "time", &[4], &["time"]).write(.., &[10, 20, 30, 40]).unwrap();
    create(&root, "t", &[4], &["time"]);
    create(&root, "scalar", &[], &[]);
    let ocean = root.create_group("ocean", NewGroup::new()).unwrap();
    create(&ocean, "depth", &[3], &["depth"]).write(.., &[5, 50, 500]).unwrap();
    create(&ocean, "s", &[3, 4], &["depth", "time"]);
    store
}

fn regions(selection: &DimensionSelection, path: &str) -> Result<Vec<String>> {
    let options = DatasetOptions::default();
    let regions = selection.regions(&tree(), &NodePath::parse(path).unwrap(), &registry(), &options)?;
    Ok(regions.iter().map(|(path, region)| format!("{path} {region}")).collect())
}

#[test]
fn labels_are_those_of_the_groups_above() {
    let selection = DimensionSelection::default().sel("time", Labels::between(20, 30));
    assert_eq!(regions(&selection, "/").unwrap(), ["/ocean/s [0:3, 1:3]", "/t [1:3]", "/time [1:3]"]);
    assert_eq!(regions(&selection, "/ocean").unwrap(), ["/ocean/s [0:3, 1:3]"]);
    assert_eq!(regions(&selection, "/ocean/s").unwrap(), ["/ocean/s [0:3, 1:3]"]);
    let both = selection.isel("depth", AxisSelection::Index(-1));
    assert_eq!(regions(&both, "/ocean").unwrap(), ["/ocean/depth [2:3]", "/ocean/s [2:3, 1:3]"]);
    let one = DimensionSelection::default().sel("time", 40);
    assert_eq!(regions(&one, "/t").unwrap(), ["/t [3:4]"]);
}

/// Creates the store of [`tree`] and, at `path`, an array with a codec that the registry does not know.
fn with_unknown(path: &str, shape: &str, names: &str) -> Arc<dyn Store> {
    let store = tree();
    let document = format!(
        r#"{{"zarr_format": 3, "node_type": "array", "shape": {shape}, "data_type": "int32", "fill_value": 0,
        "chunk_grid": {{"name": "regular", "configuration": {{"chunk_shape": {shape}}}}}, "dimension_names": {names},
        "chunk_key_encoding": {{"name": "default"}}, "codecs": [{{"name": "bytes"}}, {{"name": "nobody.knows"}}]}}"#
    );
    let key = zarr_store::Key::new(&format!("{path}/zarr.json")).unwrap();
    zarr_store::StoreExt::set_all(&*store, &key, document.as_bytes()).unwrap();
    store
}

#[test]
fn arrays_of_unknown_codecs_have_regions() {
    let store = with_unknown("ocean/w", "[3, 4]", r#"["depth", "time"]"#);
    let regions = |selection: &DimensionSelection, path: &str| {
        let path = NodePath::parse(path).unwrap();
        selection.regions(&store, &path, &registry(), &DatasetOptions::default())
    };
    let selection = DimensionSelection::default().sel("time", Labels::between(20, 30)).isel("depth", 1);
    let region = Region::from_ranges(&[1..2, 1..3]);
    let whole = regions(&selection, "/").unwrap();
    assert_eq!(whole[&NodePath::parse("/ocean/w").unwrap()], region);
    assert_eq!(whole[&NodePath::parse("/ocean/s").unwrap()], region);
    let alone = regions(&DimensionSelection::default().isel("depth", 2), "/ocean/w").unwrap();
    assert_eq!(alone[&NodePath::parse("/ocean/w").unwrap()], Region::from_ranges(&[2..3, 0..4]));
    assert!(regions(&DimensionSelection::default().isel("depht", 2), "/ocean/w").is_err());
}

#[test]
fn what_is_wrong_with_arrays_that_are_left_out_does_not_count() {
    // Another size of a dimension: no data set.
    let store = with_unknown("ocean/w", "[9]", r#"["depth"]"#);
    create(&Group::open(&store, "/ocean", &registry()).unwrap(), "v", &[9], &["depth"]);
    let selection = DimensionSelection::default().sel("depth", 50);
    let regions = |selection: DimensionSelection| {
        let regions = selection.regions(&store, &NodePath::root(), &registry(), &DatasetOptions::default());
        regions.map(|regions| regions.keys().map(ToString::to_string).collect::<Vec<_>>())
    };
    assert!(regions(selection.clone()).is_err());
    let left = ["/ocean/v", "/ocean/w"].map(|path| NodePath::parse(path).unwrap()).to_vec();
    assert!(regions(selection.clone().exclude(vec![left[0].clone()])).is_err());
    assert_eq!(regions(selection.clone().exclude(left.clone())).unwrap(), ["/ocean/depth", "/ocean/s"]);
    let chosen = vec![NodePath::parse("/ocean/s").unwrap()];
    assert_eq!(regions(selection.clone().arrays(Some(chosen))).unwrap(), ["/ocean/s"]);
    // Labels are looked up in a coordinate that is left out.
    let both = [left, vec![NodePath::parse("/ocean/depth").unwrap()]].concat();
    assert_eq!(regions(selection.exclude(both)).unwrap(), ["/ocean/s"]);
}

#[test]
fn what_no_box_has_is_an_error() {
    let error = |selection: DimensionSelection| regions(&selection, "/").unwrap_err().message().to_owned();
    let isel = |indices: AxisSelection| DimensionSelection::default().isel("time", indices);
    assert_eq!(
        error(isel(AxisSelection::Indices(vec![0, 1, 3]))),
        "dimension time: found a list that is not evenly apart, expected a range: a region is a box of elements"
    );
    assert!(error(isel(AxisSelection::Range { start: None, stop: None, step: -1 })).contains("backwards"));
    assert_eq!(error(isel(AxisSelection::Index(4))), "dimension time: index 4 is out of bounds for 4 elements");
    let even = isel(AxisSelection::Indices(vec![1, 3]));
    assert_eq!(regions(&even, "/time").unwrap(), ["/time [1:4:2]"]);
    let error = |name: &str| regions(&DimensionSelection::default().isel(name, AxisSelection::Index(0)), "/");
    let error = error("tme").unwrap_err();
    assert_eq!(error.message(), "found no dimension tme: expected one of depth, time");
    assert_eq!(error.hint(), Some("is \"time\" meant?"));
    let twice = isel(AxisSelection::Index(0)).sel("time", 10);
    assert_eq!(regions(&twice, "/").unwrap_err().message(), "dimension time is selected more than once");
}

#[test]
fn arrays_of_no_data_set_have_regions_by_index() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let root = Group::create(&store, "/", NewGroup::new(), &registry()).unwrap();
    // Two sizes of a dimension, and no names: no data set.
    create(&root, "a", &[4, 2], &["x", "y"]);
    create(&root, "b", &[6], &["x"]);
    root.create_array("c", NewArray::new(&[3], "int8").codecs("bytes").unwrap()).unwrap();
    let selection = DimensionSelection::default().isel("x", AxisSelection::range(1, 5));
    let regions = |selection: &DimensionSelection| {
        selection.regions(&store, &NodePath::root(), &registry(), &DatasetOptions::default())
    };
    let found = regions(&selection).unwrap();
    let found: Vec<String> = found.iter().map(|(path, region)| format!("{path} {region}")).collect();
    assert_eq!(found, ["/a [1:4, 0:2]", "/b [1:5]"]);
    assert!(regions(&DimensionSelection::default().sel("x", 1)).is_err());
}
