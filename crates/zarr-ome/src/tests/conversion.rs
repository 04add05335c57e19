//! Tests of conversions between versions.

use super::{newest, old};
use crate::{ErrorKind, to_v04, to_v05};
use zarr_json::{Value, json};

/// Returns attributes with all members that may name the version in 0.4.
fn all_members() -> Value {
    let Value::Object(mut members) = old() else { panic!("an object") };
    members.insert("note", "x");
    members.set_pointer("/omero/version", json!("0.4")).unwrap();
    members.insert("image-label", json!({"colors": [], "version": "0.4"}));
    members.insert("plate", json!({"rows": [], "columns": [], "wells": [], "version": "0.4"}));
    members.insert("well", json!({"images": [{"path": "0"}], "version": "0.4"}));
    members.insert("bioformats2raw.layout", 3_u64);
    members.insert("labels", json!(["a"]));
    Value::Object(members)
}

#[test]
fn versions_become_each_other() {
    let old = all_members();
    let old = old.as_object().unwrap();
    let new = to_v05(old, Some("labels")).unwrap().unwrap();
    assert_eq!(new.keys().collect::<Vec<_>>(), ["ome", "note"]);
    let text = Value::Object(new.clone()).to_string();
    assert_eq!(text.matches("version").count(), 1, "{text}");
    assert_eq!(Value::Object(new.clone()).pointer("/ome/version"), Some(&json!("0.5")));
    let back = to_v04(&new, Some("labels")).unwrap().unwrap();
    assert!(Value::Object(back.clone()).semantically_eq(&Value::Object(old.clone())), "{}", Value::Object(back));
    // A second conversion finds nothing to convert.
    assert_eq!(to_v05(&new, None).unwrap(), None);
    assert_eq!(to_v04(old, None).unwrap(), None);
    assert_eq!(to_v05(json!({"multiscales": {"layout": []}, "plate": 3}).as_object().unwrap(), None).unwrap(), None);
}

#[test]
fn members_that_are_not_known_stay_in_their_place() {
    let new = json!({"ome": {"version": "0.5", "well": {"images": []}, "creator": "x"}, "a": 1});
    let old = to_v04(new.as_object().unwrap(), None).unwrap().unwrap();
    let expected = json!({"well": {"images": [], "version": "0.4"}, "ome": {"creator": "x"}, "a": 1});
    assert!(Value::Object(old.clone()).semantically_eq(&expected), "{}", Value::Object(old));
    let back = to_v05(&old, None).unwrap().unwrap();
    assert!(Value::Object(back.clone()).semantically_eq(&new), "{}", Value::Object(back));
}

#[test]
fn what_cannot_become_the_other_version_is_an_error() {
    for (attributes, kind) in [
        (json!({"multiscales": [{"version": "0.3", "axes": ["y", "x"]}]}), ErrorKind::UnsupportedVersion),
        (json!({"well": {"images": [], "version": "x"}}), ErrorKind::InvalidMetadata),
        (json!({"well": {"images": []}, "ome": 3}), ErrorKind::NotExpressible),
    ] {
        assert_eq!(to_v05(attributes.as_object().unwrap(), None).unwrap_err().kind(), kind, "{attributes}");
    }
    for (attributes, kind) in [
        (newest(), ErrorKind::NotExpressible),
        (json!({"ome": {"version": "0.9", "well": {}}}), ErrorKind::UnsupportedVersion),
        (json!({"ome": {"version": "0.5", "well": {}}, "well": 1}), ErrorKind::NotExpressible),
    ] {
        assert_eq!(to_v04(attributes.as_object().unwrap(), None).unwrap_err().kind(), kind, "{attributes}");
    }
}

/// Checks versions that others derive: SpatialData writes versions of its own, and reads no others.
#[test]
fn versions_that_others_derive_keep_the_rest_of_their_text() {
    let level = json!({"path": "0", "coordinateTransformations": [{"type": "scale", "scale": [1.0, 1.0]}]});
    let axes = json!([{"name": "y", "type": "space"}, {"name": "x", "type": "space"}]);
    let image = json!([{"axes": (axes), "datasets": [(level)]}]);
    for (new, old) in [("0.5-dev-spatialdata", "0.4-dev-spatialdata"), ("0.5", "0.4"), ("0.5.dev1", "0.4")] {
        let attributes = json!({"ome": {"version": (new), "multiscales": (image.clone())}});
        let converted = to_v04(attributes.as_object().unwrap(), None).unwrap().unwrap();
        let said = converted.get("multiscales").unwrap().pointer("/0/version").and_then(|version| version.as_str());
        assert_eq!(said, Some(old));
        let back = to_v05(&converted, None).unwrap().unwrap();
        let said = back.get("ome").unwrap().get("version").and_then(|version| version.as_str());
        assert_eq!(said, Some(if new.contains('-') { new } else { "0.5" }));
    }
}
