//! The data that xarray finds in a converted store, as it finds it in a store that it wrote.

use std::sync::Arc;
use zarr_convert::{Conversion, ConvertOptions};
use zarr_json::json;
use zarr_meta::Dialect;
use zarr_meta::conventions::FILL_VALUE;
use zarr_store::{MemoryStore, Store};

fn case(archive: &'static str, name: &str) -> Arc<dyn Store> {
    let cases = zarr_tests::cases(archive).unwrap();
    zarr::store::open(&cases.iter().find(|case| case.name == name).unwrap().url()).unwrap()
}

fn converted(store: &Arc<dyn Store>, dialect: Dialect, fill_value_attribute: bool) -> (Arc<dyn Store>, Vec<String>) {
    let options = ConvertOptions::default().dialect(dialect).fill_value_attribute(fill_value_attribute);
    let conversion = Conversion::plan(store, &zarr::registry::default(), options).unwrap();
    let warnings = conversion.nodes().iter().filter_map(|node| node.warning.clone()).collect();
    let target: Arc<dyn Store> = Arc::new(MemoryStore::new());
    conversion.run(&target, |_| {}).unwrap();
    (target, warnings)
}

#[test]
fn missing_data_stays_missing() {
    let (v2, v3) = (case("xarray-v2", "climate"), case("xarray-v3", "climate"));
    let (kept, warnings) = converted(&v2, Dialect::V3, true);
    assert_eq!(warnings, [""; 0]);
    // xarray itself wrote the same data set in both versions.
    let mut compared = 0;
    for node in
        zarr::hierarchy::walk(&*v3, "/", None).unwrap().nodes.iter().filter(|node| node.node.as_array().is_some())
    {
        let written = node.node.attributes().get(FILL_VALUE);
        let found = zarr::hierarchy::open_node(&*kept, &node.path.to_string(), None).unwrap();
        assert_eq!(found.node.attributes().get(FILL_VALUE), written, "{}", node.path);
        compared += usize::from(written.is_some());
    }
    assert!(compared > 3);
    // Without the option it is for the user to know.
    let (plain, warnings) = converted(&v2, Dialect::V3, false);
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(!zarr::hierarchy::open_node(&*plain, "/t2m", None).unwrap().node.attributes().contains_key(FILL_VALUE));
    // On the way back the fill value says it again.
    let (back, warnings) = converted(&kept, Dialect::V2, true);
    let t2m = zarr::hierarchy::open_node(&*back, "/t2m", None).unwrap();
    assert!(!t2m.node.attributes().contains_key(FILL_VALUE));
    assert_eq!(t2m.node.as_array().unwrap().fill_value, Some(json!(-32768)));
    assert!(warnings.iter().all(|warning| !warning.contains("-32768")), "{warnings:?}");
}
