//! Tests of findings in small stores of OME-Zarr, in the version of each format.

use crate::{CheckOptions, Event, Level, check};
use std::sync::Arc;
use zarr_array::{Array, Group, NewArray, NewGroup, Registry, Store};
use zarr_json::{Map, Value, json};
use zarr_meta::{Dialect, NodePath};
use zarr_store::MemoryStore;

/// Groups with attributes in the form of version 0.5, and arrays with shape and data type, with the dimensions y and x.
#[derive(Clone)]
struct Sample {
    groups: Vec<(&'static str, Value)>,
    arrays: Vec<(&'static str, [u64; 2], &'static str)>,
}

fn image() -> Value {
    let axis = |name: &str| json!({"name": name, "type": "space"});
    let level = |path: &str, scale: u64| json!({"path": path, "coordinateTransformations": [{"type": "scale", "scale": [scale, scale]}]});
    json!({"axes": [(axis("y")), (axis("x"))], "datasets": [(level("0", 1)), (level("1", 2))]})
}

fn ome(member: &str, value: Value) -> Value {
    let mut members = Map::new();
    members.insert("version", "0.5");
    members.insert(member, value);
    json!({"ome": members})
}

/// Plate of two wells, one of them with two images, and an image with a list of labels.
fn sample() -> Sample {
    let images = || ome("multiscales", json!([(image())]));
    let mut labels = images();
    if let Value::Object(members) = &mut labels {
        let values =
            json!({"colors": [{"label-value": 1, "rgba": [0, 0, 0, 255]}], "properties": [{"label-value": 1}]});
        members.set_pointer("/ome/image-label", values).unwrap();
    }
    let well = |path: &str, row: u64, column: u64| json!({"path": path, "rowIndex": row, "columnIndex": column});
    let plate = json!({
        "rows": [{"name": "A"}, {"name": "B"}], "columns": [{"name": "1"}, {"name": "2"}], "field_count": 2,
        "acquisitions": [{"id": 0, "maximumfieldcount": 1}, {"id": 1}],
        "wells": [(well("A/1", 0, 0)), (well("B/2", 1, 1))]
    });
    let field = |path: &str, acquisition: u64| json!({"path": path, "acquisition": acquisition});
    let groups = vec![
        ("/", ome("bioformats2raw.layout", json!(3))),
        ("/OME", ome("series", json!(["image"]))),
        ("/image", images()),
        ("/image/labels", ome("labels", json!(["cells"]))),
        ("/image/labels/cells", labels),
        ("/plate", ome("plate", plate)),
        ("/plate/A", json!({})),
        ("/plate/A/1", ome("well", json!({"images": [(field("0", 0)), (field("1", 1))]}))),
        ("/plate/A/1/0", images()),
        ("/plate/A/1/1", images()),
        ("/plate/B", json!({})),
        ("/plate/B/2", ome("well", json!({"images": [(field("0", 1))]}))),
        ("/plate/B/2/0", images()),
    ];
    let level = |path: &'static str| (path, if path.ends_with('0') { [8, 8] } else { [4, 4] }, "uint8");
    let arrays = [
        "/image/0",
        "/image/1",
        "/image/labels/cells/0",
        "/image/labels/cells/1",
        "/plate/A/1/0/0",
        "/plate/A/1/0/1",
        "/plate/A/1/1/0",
        "/plate/A/1/1/1",
        "/plate/B/2/0/0",
        "/plate/B/2/0/1",
    ];
    Sample { groups, arrays: arrays.into_iter().map(level).collect() }
}

impl Sample {
    /// Replaces a value in the attributes of a group. `at` is a JSON pointer in the form of version 0.5.
    fn with(mut self, path: &str, at: &str, value: Value) -> Self {
        let found = self.groups.iter_mut().find(|group| group.0 == path).unwrap();
        let Value::Object(members) = &mut found.1 else { panic!("an object") };
        members.set_pointer(at, value).unwrap();
        self
    }

    fn without(mut self, path: &str) -> Self {
        self.groups.retain(|group| !group.0.starts_with(path));
        self.arrays.retain(|array| !array.0.starts_with(path));
        self
    }

    /// Findings of a check in a store of `dialect`, each as its code and its pointer in the document.
    fn findings(&self, dialect: Dialect) -> Vec<(String, String)> {
        let own = |attributes: &Map, name: Option<&str>| match dialect.is_v2() {
            // What cannot be said by 0.4 stays.
            true => zarr_ome::to_v04(attributes, name).unwrap().unwrap_or_else(|| attributes.clone()),
            false => attributes.clone(),
        };
        self.checked(dialect, own)
    }

    fn checked(&self, dialect: Dialect, own: impl Fn(&Map, Option<&str>) -> Map) -> Vec<(String, String)> {
        let mut registry = Registry::default();
        registry.codecs.add(zarr_codec_bytes::BYTES);
        let registry = Arc::new(registry);
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        for (path, attributes) in &self.groups {
            let of_node = NodePath::parse(path).unwrap();
            let attributes = own(attributes.as_object().unwrap(), of_node.name());
            let new = NewGroup::new().dialect(dialect).attributes(attributes);
            Group::create(&store, path, new, &registry).unwrap();
        }
        for (path, shape, data_type) in &self.arrays {
            let new = NewArray::new(shape, *data_type).codecs("bytes").unwrap().dialect(dialect);
            let new = if dialect.is_v2() { new } else { new.dimension_names(&["y", "x"]) };
            Array::create(&store, path, new, &registry).unwrap();
        }
        let mut found = Vec::new();
        check(&store, "/", &registry, &CheckOptions::default().level(Level::Documents), |event| {
            if let Event::Finding(finding) = event {
                let pointer = finding.pointer.clone().unwrap_or_default();
                found.push((format!("{} {}", finding.code, finding.path.unwrap_or_default()), pointer));
            }
        })
        .unwrap();
        found
    }
}

#[test]
fn sound_groups_have_no_findings() {
    for dialect in [Dialect::V2, Dialect::V3] {
        assert_eq!(sample().findings(dialect), [], "{dialect}");
        assert_eq!(sample().with("/", "/ome/version", json!("0.5")).findings(dialect), []);
    }
}

#[test]
fn each_fault_is_found_at_its_place() {
    let wells = "/ome/plate/wells";
    for (path, at, value, code) in [
        ("/", "/ome/bioformats2raw.layout", json!(2), "bad-image /"),
        ("/OME", "/ome/series/0", json!("images"), "missing-image /OME"),
        ("/OME", "/ome/series", json!(["image", 0]), "bad-labels /OME"),
        ("/image/labels", "/ome/labels/0", json!("nuclei"), "missing-image /image/labels"),
        ("/image/labels", "/ome/labels", json!(["cells", 1]), "bad-labels /image/labels"),
        ("/image/labels/cells", "/ome/image-label/colors/0/rgba/0", json!(-1), "bad-labels /image/labels/cells"),
        ("/image/labels/cells", "/ome/image-label/properties", json!([]), "bad-labels /image/labels/cells"),
        ("/plate", "/ome/plate/rows/1/name", json!("A"), "bad-plate /plate"),
        ("/plate", "/ome/plate/columns", json!([]), "bad-plate /plate"),
        ("/plate", &format!("{wells}/0/path"), json!("B/1"), "bad-plate /plate"),
        ("/plate", &format!("{wells}/1/rowIndex"), json!(2), "bad-plate /plate"),
        ("/plate", "/ome/plate/acquisitions/0/starttime", json!(-1), "bad-plate /plate"),
        ("/plate", "/ome/plate/acquisitions/1/id", json!(7), "bad-plate /plate/A/1"),
        ("/plate", "/ome/plate/field_count", json!(1), "field-count /plate/A/1"),
        ("/plate/A/1", "/ome/well/images", json!([]), "bad-plate /plate/A/1"),
        ("/plate/A/1", "/ome/well/images/1/path", json!("0"), "bad-plate /plate/A/1"),
        ("/plate/A/1", "/ome/well/images/1/path", json!("7"), "missing-image /plate/A/1"),
        ("/plate/A/1", "/ome/well/images/1/acquisition", json!(0), "field-count /plate/A/1"),
        ("/plate/A/1", "/ome/well/images/1", json!({"path": "1"}), "bad-plate /plate/A/1"),
        ("/plate/B/2", "/ome", json!({"version": "0.5"}), "missing-well /plate"),
        ("/image", "/ome/multiscales/0/axes/1/type", json!("time"), "image-deviation /image"),
        (
            "/image",
            "/ome/multiscales/0/datasets/0/coordinateTransformations/0/type",
            json!("affine"),
            "bad-image /image",
        ),
        ("/image", "/ome/multiscales/0/axes/0/name", json!("z"), "level-names /image"),
    ] {
        for dialect in [Dialect::V2, Dialect::V3] {
            // Version 2 has no names of dimensions to compare.
            if dialect.is_v2() && code.starts_with("level-names") {
                continue;
            }
            let found = sample().with(path, at, value.clone()).findings(dialect);
            assert!(found.iter().any(|finding| finding.0 == code), "{dialect}: {at} {value}: {found:?}");
        }
    }
}

#[test]
fn what_is_not_there_is_found() {
    for (path, code, at) in [
        ("/plate/B", "missing-well /plate", "/attributes/ome/plate/wells/1/path"),
        ("/plate/A/1/1", "missing-image /plate/A/1", "/attributes/ome/well/images/1/path"),
        ("/image/labels/cells", "missing-image /image/labels", "/attributes/ome/labels/0"),
        ("/image/1", "missing-level /image", "/attributes/ome/multiscales/0/datasets/1/path"),
    ] {
        let found = sample().without(path).findings(Dialect::V3);
        assert_eq!(found, [(code.to_owned(), at.to_owned())], "{path}");
        let old = sample().without(path).findings(Dialect::V2);
        assert_eq!(old, [(code.to_owned(), at.replace("/attributes/ome", ""))], "{path}");
    }
}

#[test]
fn labels_are_integers() {
    let mut floats = sample();
    floats.arrays.iter_mut().filter(|array| array.0.contains("labels")).for_each(|array| array.2 = "float32");
    let found = floats.findings(Dialect::V3);
    assert!(found.len() == 2 && found.iter().all(|finding| finding.0 == "label-type /image/labels/cells"), "{found:?}");
    assert_eq!(found[1].1, "/attributes/ome/multiscales/0/datasets/1/path");
}

/// Metadata of each version in the format of the other version is a finding.
#[test]
fn versions_go_with_formats() {
    for (dialect, is_old) in [(Dialect::V3, true), (Dialect::V2, false)] {
        let found = sample().checked(dialect, |attributes, name| match is_old {
            true => zarr_ome::to_v04(attributes, name).unwrap().unwrap_or_else(|| attributes.clone()),
            false => attributes.clone(),
        });
        let of_images: Vec<&str> = found.iter().map(|finding| finding.0.as_str()).collect();
        let groups =
            ["/", "/OME", "/image", "/image/labels", "/image/labels/cells", "/plate", "/plate/A/1", "/plate/A/1/0"];
        for group in groups {
            assert!(of_images.contains(&format!("image-version {group}").as_str()), "{dialect} {group}: {of_images:?}");
        }
        assert!(of_images.iter().all(|finding| finding.starts_with("image-version ")), "{of_images:?}");
    }
    let found = sample().with("/image", "/ome/version", Value::Null).findings(Dialect::V3);
    assert_eq!(found, [("bad-image /image".to_owned(), "/attributes/ome".to_owned())]);
}

/// Metadata of GeoZarr and of pyramids of maps gives no findings.
#[test]
fn other_conventions_are_no_faulty_images() {
    let layout = json!({"multiscales": {"layout": [{"asset": "a"}]}, "zarr_conventions": [{"name": "multiscales"}]});
    let maps = json!({"multiscales": [{"datasets": [{"path": "0"}, {"path": "1"}], "type": "reduce", "metadata": {"version": "1"}}]});
    for attributes in [layout, maps] {
        let sample = Sample { groups: vec![("/", attributes)], arrays: Vec::new() };
        for dialect in [Dialect::V2, Dialect::V3] {
            assert_eq!(sample.findings(dialect), [], "{dialect}");
        }
    }
}
