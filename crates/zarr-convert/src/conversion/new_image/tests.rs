//! Tests of arrays that become images.

use crate::{Conversion, ConvertOptions};
use std::sync::Arc;
use zarr_array::{Array, Group, NewArray, NewGroup, Registry, Store};
use zarr_hierarchy::{ErrorKind, Result};
use zarr_json::{Value, json};
use zarr_meta::{Dialect, NodePath};
use zarr_ome::{Multiscales, NewImage, Version};
use zarr_store::{MemoryStore, StoreExt};

fn registry() -> Arc<Registry> {
    let mut registry = Registry::default();
    registry.codecs.add(zarr_codec_bytes::BYTES);
    Arc::new(registry)
}

/// Returns a store with an array at a path.
fn source(path: &str, dialect: Dialect) -> Arc<dyn Store> {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let new = NewArray::new(&[2, 4, 6], "uint16").chunks(&[1, 2, 3]).codecs("bytes").unwrap().dialect(dialect);
    let elements: Vec<u16> = (0..48).collect();
    Array::create(&store, path, new, &registry()).unwrap().write(.., &elements).unwrap();
    store
}

fn image() -> NewImage {
    let image = NewImage::new("cyx").unwrap().scales("y=0.5um,x=0.25um").unwrap();
    image.level("0", &[1.0; 3]).unwrap()
}

fn run(source: &Arc<dyn Store>, target: &Arc<dyn Store>, options: ConvertOptions) -> Result<()> {
    Conversion::plan(source, &registry(), options)?.run(target, |_| {})
}

fn target() -> Arc<dyn Store> {
    Arc::new(MemoryStore::new())
}

fn attributes(store: &Arc<dyn Store>) -> Value {
    Value::Object(Group::open(store, "/", &registry()).unwrap().attributes().unwrap().clone())
}

#[test]
fn an_array_becomes_level_0_of_an_image() {
    for (version, dialect) in [(Version::V04, Dialect::V2), (Version::V05, Dialect::V3), (Version::V06, Dialect::V3)] {
        for from in [Dialect::V2, Dialect::V3] {
            let (source, target) = (source("/", from), target());
            run(&source, &target, ConvertOptions::default().image(image()).ome_version(version)).unwrap();
            let array = Array::open(&target, "/0", &registry()).unwrap();
            assert_eq!(array.read::<u16>(..).unwrap(), (0..48).collect::<Vec<u16>>());
            assert_eq!(array.dialect(), dialect);
            let names = array.dimension_names().map(|names| names.iter().flatten().cloned().collect::<Vec<_>>());
            let expected = (dialect == Dialect::V3).then(|| ["c", "y", "x"].map(str::to_owned).to_vec());
            assert_eq!(names, expected);
            let read = Multiscales::read(attributes(&target).as_object().unwrap()).unwrap().unwrap();
            assert_eq!((read.version, read.deviations.len()), (version, 0));
            assert_eq!(read.images[0].levels[0].scale, [1.0, 0.5, 0.25]);
            let last = if dialect == Dialect::V2 { "0/1/1/1" } else { "0/c/1/1/1" };
            assert!(target.exists(&zarr_store::Key::new(last).unwrap()).unwrap(), "{last}");
        }
    }
}

#[test]
fn an_array_of_a_group_becomes_an_image_at_a_path() {
    let (source, target) = (source("/a/b", Dialect::V3), target());
    let node = NodePath::parse("/a/b").unwrap();
    let to = NodePath::parse("/images/b").unwrap();
    let options = ConvertOptions::default().image(image()).node(node).to(to);
    run(&source, &target, options.clone()).unwrap();
    let group = Group::open(&target, "/images/b", &registry()).unwrap();
    assert_eq!(group.attributes().unwrap().get("ome").unwrap().get("version").unwrap().as_str(), Some("0.5"));
    // Again only if it may be replaced; and never beside other levels.
    assert_eq!(run(&source, &target, options.clone()).unwrap_err().kind(), ErrorKind::Exists);
    run(&source, &target, options.clone().overwrite(true)).unwrap();
    let more = image().level("1", &[1.0, 2.0, 2.0]).unwrap().attributes(Version::V05).unwrap();
    let mut group = Group::open(&target, "/images/b", &registry()).unwrap();
    group.set_attributes(more).unwrap();
    let error = run(&source, &target, options.overwrite(true)).unwrap_err();
    assert!(error.to_string().contains("found an image of the levels 0, 1, expected no image"), "{error}");
}

/// Checks that metadata in the group of a new image is never lost: that of others is an error, that of the image itself is replaced.
#[test]
fn metadata_of_others_is_kept() {
    let images = |members: Value| json!({"ome": (members)});
    let plate = json!({"version": "0.5", "plate": {"rows": [], "columns": [], "wells": []}});
    let layout = json!({"layout": [{"asset": "0"}]});
    let flawed = json!([{"version": "0.3", "datasets": [{"path": "0"}]}]);
    let labels = json!({"version": "0.5", "multiscales": [], "image-label": {}});
    let cases = [
        (Dialect::V3, images(plate), "found plate of OME-Zarr"),
        (Dialect::V3, images(json!({"version": "0.5", "bioformats2raw.layout": 3})), "found bioformats2raw.layout"),
        (Dialect::V3, images(labels), "found image-label of OME-Zarr"),
        (Dialect::V3, json!({"ome": 1}), "found an attribute ome of another convention"),
        (Dialect::V2, json!({"multiscales": (flawed)}), "found faulty metadata of an image"),
        (Dialect::V2, json!({"multiscales": (layout)}), "found an attribute multiscales of another convention"),
        (Dialect::V2, json!({"well": {"images": []}}), "found well of OME-Zarr"),
    ];
    for (dialect, there, expected) in cases {
        let target = target();
        let new = there
            .as_object()
            .unwrap()
            .iter()
            .fold(NewGroup::new(), |new, (name, value)| new.attribute(name, value.clone()));
        Group::create(&target, "/", new.dialect(dialect), &registry()).unwrap();
        let version = if dialect == Dialect::V2 { Version::V04 } else { Version::V05 };
        let options = ConvertOptions::default().image(image()).ome_version(version).overwrite(true);
        let error = run(&source("/", dialect), &target, options).unwrap_err();
        assert!(error.kind() == ErrorKind::Exists && error.to_string().contains(expected), "{error}");
        assert!(attributes(&target).semantically_eq(&there), "{expected}");
        assert!(Array::open(&target, "/0", &registry()).is_err(), "{expected}");
    }
    for (dialect, version) in [(Dialect::V2, Version::V04), (Dialect::V3, Version::V05), (Dialect::V3, Version::V06)] {
        let (source, target) = (source("/", dialect), target());
        let window = || zarr_ome::document::Window::new(0.0, 1.0);
        let options = |image: NewImage| ConvertOptions::default().image(image).ome_version(version).overwrite(true);
        run(&source, &target, options(image().channel("a", window()).channel("b", window()))).unwrap();
        let mut group = Group::open(&target, "/", &registry()).unwrap();
        let mut more = group.attributes().unwrap().clone();
        more.insert("note", 1);
        group.set_attributes(more).unwrap();
        run(&source, &target, options(image())).unwrap();
        let mut expected = image().attributes(version).unwrap();
        expected.insert("note", 1);
        assert!(attributes(&target).semantically_eq(&Value::Object(expected)), "{}", attributes(&target));
    }
}

#[test]
fn a_region_becomes_an_image() {
    let (source, target) = (source("/", Dialect::V3), target());
    let region = zarr_grid::Region::from_ranges(&[0..1, 1..4, 0..6]);
    let regions = std::collections::BTreeMap::from([(NodePath::root(), region)]);
    let window = zarr_ome::document::Window::new(0.0, 1.0);
    let image = image().region(&[(0, 1), (1, 1), (0, 1)]).unwrap().channel("a", window.clone());
    let options = |image: NewImage| ConvertOptions::default().image(image).regions(regions.clone());
    run(&source, &target, options(image.clone())).unwrap();
    let read = Multiscales::read(attributes(&target).as_object().unwrap()).unwrap().unwrap();
    assert_eq!(read.images[0].levels[0].translation, [0.0, 0.5, 0.0]);
    let error = Conversion::plan(&source, &registry(), options(image.channel("b", window))).map(drop).unwrap_err();
    assert!(error.to_string().contains("found 2 channels, expected 1"), "{error}");
}

#[test]
fn what_is_no_image_is_refused() {
    let message = |path: &str, options: ConvertOptions| {
        let target = target();
        let error = run(&source(path, Dialect::V3), &target, options).unwrap_err();
        assert_eq!(target.list_prefix(&zarr_store::Prefix::root()).unwrap().len(), 0);
        error.to_string()
    };
    let with = |image: NewImage| ConvertOptions::default().image(image);
    let flat = NewImage::new("yx").unwrap().level("0", &[1.0; 2]).unwrap();
    assert!(message("/", with(flat)).contains("found 3 dimensions, expected 2 as the axes y, x"));
    assert!(message("/a", with(image())).contains("found a group, expected an array"));
    let window = zarr_ome::document::Window::new(0.0, 1.0);
    assert!(message("/", with(image().channel("a", window))).contains("found 1 channels, expected 2"));
    let versions = ConvertOptions::default().ome_version(Version::V06);
    assert!(
        message("/a", versions).contains("found no group with metadata of OME-Zarr, expected one to convert to 0.6")
    );
    let v2 = with(image()).dialect(Dialect::V2).ome_version(Version::V05);
    assert!(message("/", v2).contains("OME-Zarr 0.5 in dialect v2, expected dialect v3"));
}

#[test]
fn versions_of_an_image_are_chosen() {
    let (source, first) = (source("/", Dialect::V3), target());
    run(&source, &first, ConvertOptions::default().image(image())).unwrap();
    let (newest, oldest) = (target(), target());
    run(&first, &newest, ConvertOptions::default().ome_version(Version::V06)).unwrap();
    let version = attributes(&newest).pointer("/ome/version").cloned();
    assert_eq!(version, Some(json!("0.6")));
    run(&newest, &oldest, ConvertOptions::default().ome_version(Version::V04)).unwrap();
    let back = target();
    run(&oldest, &back, ConvertOptions::default().dialect(Dialect::V3)).unwrap();
    assert!(attributes(&back).semantically_eq(&attributes(&first)), "{}", attributes(&back));
    assert_eq!(Array::open(&back, "/0", &registry()).unwrap().read::<u16>((1, 3, 4..)).unwrap(), [46, 47]);
}

#[test]
fn what_a_version_cannot_hold_is_an_error_or_left_out() {
    let turn = json!({"type": "identity", "input": {"name": "a", "path": "a"}, "output": {"name": "b"}});
    let scene = json!({"version": "0.6", "scene": {"coordinateTransformations": [(turn)]}});
    let source = target();
    Group::create(&source, "/", NewGroup::new().attribute("ome", scene).attribute("note", 1), &registry()).unwrap();
    let options = ConvertOptions::default().ome_version(Version::V05);
    let error = run(&source, &target(), options.clone()).unwrap_err();
    assert!(
        error.kind() == ErrorKind::NotExpressible && error.to_string().contains("/attributes/ome/scene"),
        "{error}"
    );
    let plan = Conversion::plan(&source, &registry(), options.ome_losses(true)).unwrap();
    assert!(plan.nodes()[0].notes.iter().any(|note| note.is_loss && note.pointer == "/attributes/ome/scene"));
    let target = target();
    plan.run(&target, |_| {}).unwrap();
    assert!(attributes(&target).semantically_eq(&json!({"note": 1, "ome": {"version": "0.5"}})));
}
