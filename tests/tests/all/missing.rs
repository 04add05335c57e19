//! The errors where no node is found.

use std::sync::Arc;
use zarr_array::{Dialect, ErrorKind};
use zarr_store::{MemoryStore, Store};

#[test]
fn keys_that_were_tried_stand_with_their_dialects() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let error = |path: &str, dialect: Option<Dialect>| {
        let error = zarr::hierarchy::open_node(&*store, path, dialect).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        error.message().to_owned()
    };
    assert_eq!(
        error("/", None),
        "no array and no group here (tried v3/d2022/p2020: zarr.json; v2: .zarray, .zgroup, .zattrs; \
         p2019: meta/group.json, meta/array.json; v1: meta; v0: __zmeta__)"
    );
    assert_eq!(
        error("/a", None),
        "no array and no group here (tried v3: a/zarr.json; v2: a/.zarray, a/.zgroup, a/.zattrs; d2022/p2020: zarr.json; \
         p2019: meta/group.json, meta/array.json, meta/a.a/array.json, meta/a.g/group.json)"
    );
    assert_eq!(
        error("/a", Some(Dialect::V2)),
        "no array and no group here (tried v2: a/.zarray, a/.zgroup, a/.zattrs)"
    );
}

/// Opens directories of a store of a draft as if they were stores or nodes, and compares the hints.
fn check(archive: &'static str, name: &str, directories: &[(&str, &str)]) {
    let cases = zarr_tests::cases(archive).unwrap();
    let url = cases.iter().find(|case| case.name == name).unwrap().url();
    let store = zarr::store::open(&url).unwrap();
    for (directory, path) in directories {
        let inside = zarr::store::open(&format!("{url}/{directory}")).unwrap();
        let errors = [
            zarr::open(&inside).array().map(drop),
            zarr::open(&inside).group().map(drop),
            zarr::open((&store, &format!("/{directory}"))).array().map(drop),
        ];
        for (index, error) in errors.into_iter().enumerate() {
            let error = error.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::NotFound, "{error}");
            let hint = error.hint().unwrap();
            assert!(hint.ends_with(&format!(" path {path}")), "{directory}: {hint}");
            assert_eq!(hint.contains(&url), index < 2, "{hint}");
        }
    }
    // Whatever is advised is there.
    directories.iter().for_each(|(_, path)| drop(zarr::hierarchy::open_node(&*store, path, None).unwrap()));
}

// clause: d2022-218
#[test]
fn directories_of_drafts_are_no_stores() {
    check(
        "v3-zarrita",
        "2021_hierarchy",
        &[("data/root/explicit/dot", "/explicit/dot"), ("data", "/"), ("meta/root/explicit", "/explicit")],
    );
    check("v3-protocol-2019", "tree", &[("data/spam.g/eggs.a", "/spam/eggs"), ("meta/foo.g", "/foo"), ("data", "/")]);
    check("v3-draft-2022", "implicit_groups", &[("data/foo/baz/qux", "/foo/baz/qux"), ("meta/foo", "/foo")]);
}
