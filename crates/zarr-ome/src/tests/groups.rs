//! Tests of plates, wells and labels.

use crate::{ImageLabel, Listed, Metadata, Plate, Version, Well};
use zarr_json::{Map, Value, json};

fn changed(document: &Value, at: &str, value: Value) -> Map {
    let mut members = document.as_object().unwrap().clone();
    members.set_pointer(at, value).unwrap();
    members
}

fn faults(attributes: &Map) -> Vec<String> {
    let metadata = Metadata::find(attributes, Some("labels")).unwrap();
    let lists = [
        Plate::read(&metadata).map(|plate| plate.faults),
        Well::read(&metadata).map(|well| well.faults),
        ImageLabel::read(&metadata).map(|label| label.faults),
        Listed::labels(&metadata).map(|listed| listed.faults),
    ];
    lists.into_iter().flatten().flatten().map(|fault| fault.to_string()).collect()
}

/// Returns a plate of 2 rows, 3 columns and 3 wells.
fn plate() -> Value {
    let well = |path: &str, row: u64, column: u64| json!({"path": path, "rowIndex": row, "columnIndex": column});
    json!({"ome": {"version": "0.5", "plate": {
        "name": "p",
        "field_count": 4,
        "acquisitions": [{"id": 0, "name": "first", "maximumfieldcount": 2, "starttime": 5, "endtime": 7}, {"id": 3}],
        "rows": [{"name": "A"}, {"name": "B"}],
        "columns": [{"name": "1"}, {"name": "2"}, {"name": "3"}],
        "wells": [(well("A/1", 0, 0)), (well("B/1", 1, 0)), (well("B/3", 1, 2))]
    }}})
}

#[test]
fn faults_of_plates_have_their_place() {
    assert_eq!(faults(plate().as_object().unwrap()), [""; 0]);
    for (at, value, expected) in [
        ("", json!(3), "an object"),
        ("/rows", json!([]), "at least one item"),
        ("/rows", json!({}), "an array"),
        ("/columns/0", json!({}), "this member"),
        ("/rows/1/name", json!("A"), "a name that no other of rows has"),
        ("/columns/1/name", json!("2-b"), "a name of letters and digits"),
        ("/columns/1/name", json!(""), "a name of letters and digits"),
        ("/columns/1/name", json!(2), "a string"),
        ("/wells", json!([]), "at least one item"),
        ("/wells/0", json!("A/1"), "an object"),
        ("/wells/0/path", json!("A1"), "the name of a row, / and the name of a column"),
        ("/wells/0/path", json!("p/A/1"), "the name of a row, / and the name of a column"),
        ("/wells/0/path", json!("1/A"), "\"A/1\", the row and the column of its indices"),
        ("/wells/1/path", json!("A/1"), "a path that no other well has"),
        ("/wells/0/rowIndex", json!(1), "the row and the column of its indices"),
        ("/wells/2/columnIndex", json!(3), "an index below 3"),
        ("/wells/2/columnIndex", json!(-1), "an integer, 0 or more"),
        ("/wells/2/columnIndex", json!("2"), "an integer, 0 or more"),
        ("/field_count", json!(0), "an integer, 1 or more"),
        ("/name", json!(1), "a string"),
        ("/acquisitions", json!({}), "an array"),
        ("/acquisitions/0", json!({"name": "x"}), "this member"),
        ("/acquisitions/1/id", json!(0), "an id that no other acquisition has"),
        ("/acquisitions/1/id", json!(-3), "an integer, 0 or more"),
        ("/acquisitions/1/id", json!(0.5), "an integer, 0 or more"),
        ("/acquisitions/0/maximumfieldcount", json!(0), "an integer, 1 or more"),
        ("/acquisitions/0/starttime", json!(-1), "an integer, 0 or more"),
        ("/acquisitions/0/endtime", json!(1.5), "an integer, 0 or more"),
    ] {
        let found = faults(&changed(&plate(), &format!("/ome/plate{at}"), value.clone()));
        let place = format!("/attributes/ome/plate{at}");
        let is_due = |fault: &String| fault.starts_with(&place) || at.ends_with("Index");
        assert!(found.iter().any(|fault| fault.ends_with(expected) && is_due(fault)), "{at} {value}: {found:?}");
    }
    // Examples of valid plates of 0.4 and 0.6 have the column first.
    for (version, count) in [("0.5", 0), ("0.6", 1)] {
        let swapped = changed(&plate(), "/ome/plate/wells/0/path", json!("1/A"));
        let swapped = changed(&Value::Object(swapped), "/ome/version", json!(version));
        let plate = Plate::read(&Metadata::find(&swapped, None).unwrap()).unwrap();
        assert_eq!((plate.deviations.len(), plate.faults.len()), (count, 1 - count), "{version}");
    }
}

#[test]
fn faults_of_wells_and_labels_have_their_place() {
    let well = json!({"well": {"images": [{"path": "0", "acquisition": 0}, {"path": "1"}]}});
    let labels = json!({"ome": {"version": "0.5", "labels": ["cells", "a/b"]}});
    let values = |values: [u64; 2]| json!([{"label-value": (values[0]), "rgba": [0, 128, 255, 1]}, {"label-value": (values[1])}]);
    let label = json!({"image-label": {"colors": (values([1, 2])), "properties": (values([1, 2])), "source": {"image": "../../"}}});
    for (document, at, value, expected) in [
        (&well, "/well/images", json!([]), "at least one item"),
        (&well, "/well/images/1/path", json!("0"), "a path that no other image of the well has"),
        (&well, "/well/images/1/path", json!("a_b"), "a name of letters and digits"),
        (&well, "/well/images/1", json!({}), "this member"),
        (&well, "/well/images/0/acquisition", json!("0"), "an integer"),
        (&labels, "/ome/labels", json!("cells"), "an array"),
        (&labels, "/ome/labels/1", json!(1), "a string"),
        (&label, "/image-label/colors", json!([]), "at least one item"),
        (&label, "/image-label/colors", (values([1, 1])), "a value that no other of colors has"),
        (&label, "/image-label/colors/0", json!({"rgba": [0, 0, 0, 0]}), "this member"),
        (&label, "/image-label/colors/0/label-value", json!(1.5), "an integer"),
        (&label, "/image-label/colors/0/rgba", json!([0, 0, 0]), "4 integers: red, green, blue and alpha"),
        (&label, "/image-label/colors/0/rgba/2", json!(256), "an integer from 0 to 255"),
        (&label, "/image-label/properties", json!([]), "at least one item"),
        (&label, "/image-label/properties", (values([4, 4])), "a value that no other of properties has"),
        (&label, "/image-label/properties/1", json!({"class": "x"}), "this member"),
        (&label, "/image-label/source", json!("../../"), "an object"),
        (&label, "/image-label/source/image", json!(1), "a string"),
    ] {
        assert_eq!(faults(document.as_object().unwrap()), [""; 0], "{document}");
        let found = faults(&changed(document, at, value.clone()));
        let is_due = |fault: &String| fault.starts_with(&format!("/attributes{at}")) && fault.ends_with(expected);
        assert!(found.iter().any(is_due), "{at} {value}: {found:?}");
    }
    // Since 0.6 names of images must be names of Zarr.
    for (version, path, count) in
        [("0.6", "0_a-b.image", 0), ("0.5", "0_a-b.image", 1), ("0.6", "..", 1), ("0.6", "__a", 1), ("0.6", "a/b", 1)]
    {
        let well = json!({"ome": {"version": version, "well": {"images": [{"path": path}]}}});
        assert_eq!(faults(well.as_object().unwrap()).len(), count, "{version} {path}");
    }
}

/// Checks that an image replaces the metadata of an image of its levels alone.
#[test]
fn a_new_image_never_replaces_metadata_of_others() {
    let image = crate::NewImage::new("yx").unwrap().level("0", &[1.0; 2]).unwrap();
    let into = |attributes: &Value, version| image.written_into(attributes.as_object().unwrap(), None, version);
    let plate = json!({"rows": [], "columns": [], "wells": []});
    let axes = json!([{"name": "y", "type": "space"}, {"name": "x", "type": "space"}]);
    let level = |path: &str| json!({"path": (path), "coordinateTransformations": [{"type": "scale", "scale": [2, 2]}]});
    let of = |paths: &[&str]| {
        let levels = Value::Array(paths.iter().map(|path| level(path)).collect());
        json!({"axes": (axes.clone()), "datasets": (levels)})
    };
    for (version, there, pointer) in [
        (Version::V04, json!({"plate": (plate.clone())}), "/attributes/plate"),
        (Version::V05, json!({"ome": {"plate": (plate)}}), "/attributes/ome/plate"),
        (Version::V06, json!({"ome": {"version": "0.6", "scene": {}}}), "/attributes/ome/scene"),
        (Version::V05, json!({"ome": {"version": "0.5", "multiscales": [1]}}), "/attributes/ome/multiscales/0"),
        (Version::V05, json!({"ome": {"version": "0.5", "multiscales": [(of(&["0", "1"]))]}}), "/attributes"),
        (Version::V05, json!({"ome": {"version": "0.5", "multiscales": [(of(&["0"])), (of(&["0"]))]}}), "/attributes"),
        (Version::V05, json!({"ome": "x"}), "/attributes/ome"),
        (Version::V04, json!({"multiscales": {"layout": []}}), "/attributes/multiscales"),
        (Version::V04, json!({"multiscales": [{"type": "reduce"}]}), "/attributes/multiscales"),
    ] {
        let error = into(&there, version).unwrap_err();
        assert_eq!(error.kind(), crate::ErrorKind::Exists, "{there}");
        assert_eq!(error.location().pointer.as_deref(), Some(pointer), "{there}: {error}");
    }
    let display = json!({"channels": []});
    let old = json!({"note": 1, "multiscales": [(of(&["0"]))], "omero": (display.clone())});
    let new =
        json!({"note": 1, "ome": {"mine": 1, "version": "0.5", "multiscales": [(of(&["0"]))], "omero": (display)}});
    for (there, version) in [(old, Version::V04), (new, Version::V05)] {
        let mut expected = image.attributes(version).unwrap();
        expected.insert("note", 1);
        if version == Version::V05 {
            expected.set_pointer("/ome/mine", Value::from(1)).unwrap();
        }
        let found = Value::Object(into(&there, version).unwrap());
        assert!(found.semantically_eq(&Value::Object(expected)), "{found}");
    }
}

#[test]
fn colours_of_labels_are_those_that_keep_the_rules() {
    let colors = json!([
        {"label-value": 7, "rgba": [0, 128, 255, 1]}, {"label-value": 8, "rgba": [0, 256, 0, 255]},
        {"label-value": 9, "rgba": "red"}, {"label-value": 10}
    ]);
    let label = json!({"image-label": {"colors": colors}});
    let read = ImageLabel::read(&Metadata::find(label.as_object().unwrap(), None).unwrap()).unwrap();
    assert_eq!((read.colors.as_slice(), read.faults.len()), (&[(7, [0, 128, 255, 1])][..], 2));
}

#[test]
fn wells_stand_where_their_indices_or_their_paths_say() {
    let place = |well: Value| {
        let plate = json!({"ome": {"version": "0.5", "plate": {
            "rows": [{"name": "A"}, {"name": "B"}], "columns": [{"name": "1"}, {"name": "2"}, {"name": "3"}], "wells": [well]
        }}});
        let plate = Plate::read(&Metadata::find(plate.as_object().unwrap(), None).unwrap()).unwrap();
        (plate.wells[0].row, plate.wells[0].column)
    };
    assert_eq!(place(json!({"path": "B/3", "rowIndex": 1, "columnIndex": 2})), (Some(1), Some(2)));
    assert_eq!(place(json!({"path": "B/3"})), (Some(1), Some(2)));
    assert_eq!(place(json!({"path": "B/3", "rowIndex": 5, "columnIndex": 0})), (Some(1), Some(0)));
    assert_eq!(place(json!({"path": "C", "columnIndex": 9})), (None, None));
}
