//! Tests of places of regions.

use crate::{Conversion, ConvertOptions};
use std::collections::BTreeMap;
use std::sync::Arc;
use zarr_array::{Array, Group, NewArray, NewGroup, Registry, Store};
use zarr_geo::{Crs, Georeference, Registration, Transform};
use zarr_grid::Region;
use zarr_json::Map;
use zarr_meta::{Dialect, NodePath};
use zarr_store::MemoryStore;

fn registry() -> Arc<Registry> {
    let mut registry = Registry::default();
    zarr_codec_bytes::CODECS.iter().for_each(|entry| registry.codecs.add(*entry));
    Arc::new(registry)
}

fn scene() -> Georeference {
    let transform = Transform([10.0, 0.0, 500_000.0, 0.0, -10.0, 5_000_000.0]);
    Georeference::new().crs(Crs::epsg(32633)).dimensions("y", "x").transform(transform).shape(8, 6)
}

fn written(georeference: &Georeference) -> Map {
    let mut attributes = Map::new();
    georeference.write(&mut attributes).unwrap();
    attributes
}

/// Converts a group with the array `a(t, y, x)` of shape `[2, 8, 6]`, of which a region is taken. Returns what the array and the group say
/// then.
fn converted(
    of_group: &Georeference,
    of_array: &Georeference,
    region: Region,
    options: ConvertOptions,
) -> [Option<Georeference>; 2] {
    let (store, registry): (Arc<dyn Store>, _) = (Arc::new(MemoryStore::new()), registry());
    Group::create(&store, "/", NewGroup::new().attributes(written(of_group)), &registry).unwrap();
    let new = NewArray::new(&[2, 8, 6], "uint8").codecs("bytes").unwrap().dimension_names(&["t", "y", "x"]);
    Array::create(&store, "/a", new.attributes(written(of_array)), &registry).unwrap();
    let options = options.regions(BTreeMap::from([(NodePath::parse("/a").unwrap(), region)]));
    let conversion = Conversion::plan(&store, &registry, options).unwrap();
    let target: Arc<dyn Store> = Arc::new(MemoryStore::new());
    conversion.run(&target, |_| {}).unwrap();
    let group = Group::open(&target, "/", &registry).unwrap();
    let array = group.array("a").unwrap();
    [array.attributes().unwrap(), group.attributes().unwrap()].map(Georeference::read)
}

#[test]
fn a_region_is_placed_where_it_lies() {
    let region = || Region::from_ranges(&[0..2, 2..4, 3..6]);
    for dialect in [Dialect::V2, Dialect::V3] {
        let options = ConvertOptions::default().dialect(dialect);
        let [array, group] = converted(&scene(), &scene(), region(), options).map(Option::unwrap);
        assert!(array.faults.is_empty() && array.shape == Some([2, 3]), "{array:?}");
        assert_eq!(array.extent(), Some([500_030.0, 4_999_960.0, 500_060.0, 4_999_980.0]));
        assert_eq!((group.crs, group.transform, group.bbox, group.shape), (array.crs, None, None, None));
    }
    let points = scene().registration(Registration::Node);
    let [array, _] = converted(&Georeference::new(), &points, region(), ConvertOptions::default());
    assert_eq!(array.unwrap().extent(), Some([500_030.0, 4_999_970.0, 500_050.0, 4_999_980.0]));
}

#[test]
fn what_is_not_cut_stays_and_what_cannot_be_moved_goes() {
    let times = Region::from_ranges(&[0..1, 0..8, 0..6]);
    let [array, group] = converted(&scene(), &scene(), times, ConvertOptions::default()).map(Option::unwrap);
    assert_eq!((array.extent(), group.extent()), (scene().extent(), scene().extent()));
    let mut nameless = scene();
    nameless.dimensions = None;
    let region = Region::from_ranges(&[0..2, 0..8, 0..3]);
    let pyramid = nameless.clone().pyramid(&[("a", [8, 6]), ("b", [4, 3])]);
    let [array, group] = converted(&pyramid, &nameless, region, ConvertOptions::default()).map(Option::unwrap);
    assert_eq!((array.transform, array.bbox, array.shape), (None, None, None));
    assert!(group.levels.iter().all(|level| level.transform.is_none() && level.shape.is_none()), "{group:?}");
}

#[test]
fn dimensions_of_the_group_are_those_of_its_arrays() {
    let mut nameless = scene();
    nameless.dimensions = None;
    let names = Georeference::new().dimensions("y", "x");
    let region = Region::from_ranges(&[0..2, 2..4, 3..6]);
    let [array, group] = converted(&names, &nameless, region, ConvertOptions::default()).map(Option::unwrap);
    assert_eq!((array.shape, &array.dimensions), (Some([2, 3]), &None));
    assert_eq!(array.computed_extent(), Some([500_030.0, 4_999_960.0, 500_060.0, 4_999_980.0]));
    assert_eq!(group.dimensions, names.dimensions);
}

#[test]
fn groups_between_an_array_and_the_names_of_its_dimensions_stay() {
    let (store, registry): (Arc<dyn Store>, _) = (Arc::new(MemoryStore::new()), registry());
    let mut nameless = scene();
    nameless.dimensions = None;
    let names = Georeference::new().dimensions("y", "x");
    Group::create(&store, "/", NewGroup::new().attributes(written(&names)), &registry).unwrap();
    Group::create(&store, "/g", NewGroup::new().attributes(written(&nameless)), &registry).unwrap();
    let new = NewArray::new(&[2, 8, 6], "uint8").codecs("bytes").unwrap().dimension_names(&["t", "y", "x"]);
    Array::create(&store, "/g/a", new.attributes(written(&nameless)), &registry).unwrap();
    for (region, is_cut) in [([0..1, 0..8, 0..6], false), ([0..2, 0..8, 0..3], true)] {
        let regions = BTreeMap::from([(NodePath::parse("/g/a").unwrap(), Region::from_ranges(&region))]);
        let conversion = Conversion::plan(&store, &registry, ConvertOptions::default().regions(regions)).unwrap();
        let target: Arc<dyn Store> = Arc::new(MemoryStore::new());
        conversion.run(&target, |_| {}).unwrap();
        let group = Group::open(&target, "/g", &registry).unwrap();
        let array = Georeference::read(group.array("a").unwrap().attributes().unwrap()).unwrap();
        let group = Georeference::read(group.attributes().unwrap()).unwrap();
        assert_eq!((group.transform.is_none(), group.bbox.is_none(), group.shape.is_none()), (is_cut, is_cut, is_cut));
        assert_eq!(array.shape, Some([8, if is_cut { 3 } else { 6 }]));
    }
}

#[test]
fn options_give_places_to_nodes() {
    let moved = scene().crs(Crs::epsg(3035)).region([0, 0], [1, 1], [8, 3]);
    let path = |text: &str| NodePath::parse(text).unwrap();
    let places = BTreeMap::from([(path("/a"), moved.clone()), (path("/"), moved.clone())]);
    let options = ConvertOptions::default().georeferences(places);
    let region = Region::from_ranges(&[0..2, 0..8, 0..3]);
    for mut found in converted(&scene(), &scene(), region, options).map(Option::unwrap) {
        assert!(found.faults.is_empty());
        found.bbox = None;
        assert_eq!(found, moved);
    }
}
