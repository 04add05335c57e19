//! Finding nodes.

use super::store::Store;
use zarr_meta::{Copies, Dialect, ErrorKind, MAX_DOCUMENT_SIZE, NodePath, Probe, ProbeStep};

const GROUP3: &str = r#"{"zarr_format":3,"node_type":"group"}"#;
const GROUP2: &str = r#"{"zarr_format":2}"#;

#[test]
fn the_self_contained_dialects_are_asked_for_at_once() {
    let mut probe = Probe::new(NodePath::parse("/a").unwrap(), None);
    let ProbeStep::Need(keys) = probe.step(&[]).unwrap() else { unreachable!() };
    assert_eq!(keys, ["a/zarr.json", "a/.zarray", "a/.zgroup", "a/.zattrs"]);
    let mut probe = Probe::new(NodePath::root(), Some(Dialect::V2));
    let ProbeStep::Need(keys) = probe.step(&[]).unwrap() else { unreachable!() };
    assert_eq!(keys, [".zarray", ".zgroup", ".zattrs"]);
}

#[test]
fn the_newest_dialect_may_be_asked_for_alone() {
    let probe = || Probe::new(NodePath::parse("/a").unwrap(), None).newest_first(true);
    let mut asked = probe();
    let ProbeStep::Need(keys) = asked.step(&[]).unwrap() else { unreachable!() };
    assert_eq!(keys, ["a/zarr.json"]);
    let ProbeStep::Need(keys) = asked.step(&[("a/zarr.json".to_owned(), None)]).unwrap() else { unreachable!() };
    assert_eq!(keys, ["a/.zarray", "a/.zgroup", "a/.zattrs"]);
    let store =
        Store::with(&[("a/zarr.json", GROUP3), ("a/.zgroup", GROUP2), ("b/.zgroup", GROUP2), ("b/.zattrs", "{}")]);
    let found = store.run(probe()).unwrap();
    assert!(matches!(found, ProbeStep::Found(found) if found.dialect == Dialect::V3 && found.warnings.is_empty()));
    let probe = Probe::new(NodePath::parse("/b").unwrap(), None).newest_first(true);
    let found = store.run(probe).unwrap();
    assert!(
        matches!(found, ProbeStep::Found(found) if found.dialect == Dialect::V2 && found.documents.contains("b/.zattrs"))
    );
    let none = Probe::new(NodePath::parse("/c").unwrap(), None).newest_first(true).can_list(false);
    assert!(
        matches!(store.run(none).unwrap(), ProbeStep::NotFound { tried } if tried.contains(&"c/.zgroup".to_owned()))
    );
}

#[test]
fn an_expected_group_comes_with_its_consolidated_metadata() {
    let need = |probe: &mut Probe, got: &[(String, Option<Vec<u8>>)]| match probe.step(got).unwrap() {
        ProbeStep::Need(keys) => keys,
        step => panic!("{step:?}"),
    };
    let none = |keys: &[String]| keys.iter().map(|key| (key.clone(), None)).collect::<Vec<_>>();
    let a = || NodePath::parse("/a").unwrap();
    let mut probe = Probe::new(a(), None).newest_first(true).can_list(false).expecting_group(Copies::Trusted);
    let keys = need(&mut probe, &[]);
    assert_eq!(keys, ["a/zarr.json"]);
    let keys = need(&mut probe, &none(&keys));
    assert_eq!(keys, ["a/.zgroup", "a/.zattrs", "a/.zmetadata"]);
    let keys = need(&mut probe, &none(&keys));
    assert_eq!(keys, ["a/.zarray"]);
    // The documents of other dialects.
    let keys = need(&mut probe, &none(&keys));
    assert!(keys.contains(&"zarr.json".to_owned()), "{keys:?}");
    let ProbeStep::NotFound { tried } = probe.step(&none(&keys)).unwrap() else { unreachable!() };
    assert!(tried.contains(&"a/.zarray".to_owned()) && !tried.contains(&"a/.zmetadata".to_owned()), "{tried:?}");

    let copy =
        r#"{"zarr_consolidated_format": 1, "metadata": {".zgroup": {"zarr_format": 2}, ".zattrs": {"of": "copy"}}}"#;
    let store = Store::with(&[("a/.zgroup", GROUP2), ("a/.zattrs", r#"{"of": "group"}"#), ("a/.zmetadata", copy)]);
    for (dialect, copies, of) in [
        (None, Copies::Read, "group"),
        (None, Copies::Trusted, "group"),
        (Some(Dialect::V2), Copies::Read, "group"),
        (Some(Dialect::V2), Copies::Trusted, "copy"),
    ] {
        let probe = Probe::new(a(), dialect).newest_first(true).expecting_group(copies);
        let ProbeStep::Found(found) = store.run(probe).unwrap() else { unreachable!() };
        assert_eq!(found.attributes().unwrap().get("of").and_then(|of| of.as_str()), Some(of));
        assert_eq!(found.consolidated_beside().unwrap().unwrap().unwrap().documents.len(), 2);
        assert!(found.without_copies().consolidated_beside().is_none());
    }
    // Where it was not asked for, nobody knows whether it is there.
    assert!(store.found("/a").consolidated_beside().is_none());
}

#[test]
fn the_newer_dialect_wins_unless_one_is_given() {
    let store = Store::with(&[("zarr.json", GROUP3), (".zgroup", GROUP2)]);
    let found = store.found("/");
    assert_eq!(found.dialect, Dialect::V3);
    assert_eq!(found.warnings[0].key, ".zgroup");
    assert_eq!(store.probe("/", Some(Dialect::V2)).unwrap().unwrap().dialect, Dialect::V2);
}

#[test]
fn a_broken_document_is_an_error_and_no_reason_to_look_further() {
    let store = Store::with(&[("zarr.json", "{"), (".zgroup", GROUP2)]);
    assert_eq!(store.probe("/", None).unwrap_err().kind(), ErrorKind::InvalidJson);
    let large = " ".repeat(MAX_DOCUMENT_SIZE + 1);
    assert_eq!(Store::with(&[("zarr.json", &large)]).probe("/", None).unwrap_err().kind(), ErrorKind::Limit);
}

#[test]
fn documents_below_imply_groups() {
    let store = Store::with(&[("a/b/.zgroup", GROUP2), ("c/d/e/zarr.json", GROUP3), ("f/x.txt", "")]);
    for (path, dialect) in [("/a", Dialect::V2), ("/c", Dialect::V3), ("/c/d", Dialect::V3)] {
        let found = store.found(path);
        assert!(found.implicit && found.dialect == dialect && found.documents.is_empty(), "{path}");
        assert!(found.node.as_group().is_some());
    }
    assert!(store.found("/").implicit);
    assert!(!store.found("/a/b").implicit);
    assert!(store.probe("/f", None).unwrap().is_none());
    assert!(store.probe("/a", Some(Dialect::V3)).unwrap().is_none());
    let unlistable = Probe::new(NodePath::parse("/a").unwrap(), None).can_list(false);
    let ProbeStep::NotFound { tried } = store.run(unlistable).unwrap() else { unreachable!() };
    assert!(tried.contains(&"a/zarr.json".to_owned()) && tried.contains(&"a/.zgroup".to_owned()));
    // The root of a hierarchy of another dialect implies no group of this one.
    let draft = r#"{"zarr_format":"https://purl.org/zarr/spec/core/3.0"}"#;
    assert!(Store::with(&[("a/b/zarr.json", draft)]).probe("/a", None).unwrap().is_none());
}

#[test]
fn a_search_ends() {
    let mut probe = Probe::new(NodePath::root(), Some(Dialect::V3));
    let mut got = Vec::new();
    for step in 0.. {
        assert!(step < 2000);
        got = match probe.step(&got).unwrap() {
            ProbeStep::Need(keys) => keys.into_iter().map(|key| (key, None)).collect(),
            ProbeStep::List { prefix } => vec![(format!("{prefix}a/"), None), (format!("{prefix}b/"), None)],
            ProbeStep::NotFound { .. } => break,
            ProbeStep::Found(found) => unreachable!("{found:?}"),
        }
    }
}

// clause: v1-6
#[test]
fn versions_that_are_not_read_are_named() {
    for (key, text, part) in [
        ("__zmeta__", "(dp0\nS'shape'", "pickle"),
        ("meta", r#"{"zarr_format": 9}"#, "expected 1"),
        ("zarr.json", r#"{"zarr_format": 4}"#, "expected 3"),
        ("zarr.json", r#"{"zarr_format": "https://purl.org/zarr/spec/core/4.0"}"#, "expected 3"),
    ] {
        let error = Store::with(&[(key, text)]).probe("/", None).unwrap_err();
        assert_eq!((error.kind(), error.key()), (ErrorKind::UnsupportedVersion, Some(key)));
        assert!(error.to_string().contains(part), "{error}");
    }
}

#[test]
fn names_to_be_written() {
    let check = |dialect: Dialect, path: &str| dialect.check_path(&NodePath::parse(path).unwrap());
    assert!(check(Dialect::V3, "/a/b").unwrap().is_empty());
    assert_eq!(check(Dialect::V3, "/é").unwrap().len(), 1);
    assert_eq!(check(Dialect::V2, "/a/é").unwrap().len(), 1);
    for (dialect, path) in
        [(Dialect::V3, "/a/__b"), (Dialect::V3, "/zarr.json"), (Dialect::V2, "/a/.zarray"), (Dialect::V2, "/a\\b")]
    {
        assert_eq!(check(dialect, path).unwrap_err().kind(), ErrorKind::Path, "{path}");
    }
    for dialect in Dialect::ALL {
        assert_eq!(dialect.to_string().parse::<Dialect>().unwrap(), dialect);
    }
}
