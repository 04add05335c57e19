//! Tests of trees of groups. Expected dimensions and coordinates of each group are those of `xarray.open_datatree` 2026.9.

use crate::{add, group, group_in, names, new, registry, size_of};
use std::sync::Arc;
use zarr_array::{Group, NewArray, NewGroup, Store};
use zarr_dataset::{DataTree, Dataset, DatasetOptions, ErrorKind};
use zarr_meta::Dialect;
use zarr_store::{Counted, MemoryStore, StoreExt};

/// Fills a root with the coordinate `y`, which all groups below inherit, `/a` and `/a/b` with variables along `x` and `y`, and `/d/e` with
/// a variable along `z`.
fn fill(root: &Group) {
    add(root, "v", new(&[2, 3], "int32", &["y", "x"]), &[0, 1, 2, 3, 4, 5]);
    add(root, "y", new(&[2], "int64", &["y"]).attribute("units", "days since 2020-01-01"), &[10_i64, 20]);
    add(root, "aux", new(&[2], "float64", &["y"]), &[1.0, 2.0]);
    add(root, "sc", new(&[], "int32", &[]), &[5]);
    let mut root = root.clone();
    root.set_attributes(zarr_json::Map::from_iter([("coordinates".to_owned(), "aux sc".into())])).unwrap();
    let a = root.create_group("a", NewGroup::new().attribute("title", "A")).unwrap();
    add(&a, "w", new(&[3], "int32", &["x"]), &[1, 2, 3]);
    add(&a, "u", new(&[2], "int32", &["y"]), &[7, 8]);
    let b = a.create_group("b", NewGroup::new()).unwrap();
    add(&b, "q", new(&[2], "int32", &["y"]), &[5, 6]);
    let d = root.create_group("d", NewGroup::new()).unwrap();
    let e = d.create_group("e", NewGroup::new()).unwrap();
    add(&e, "q", new(&[3], "int32", &["z"]), &[5, 6, 7]);
}

#[test]
fn groups_inherit_the_coordinates_of_dimensions() {
    for (dialect, is_consolidated) in
        [(Dialect::V3, true), (Dialect::V3, false), (Dialect::V2, true), (Dialect::V2, false)]
    {
        let store = Arc::new(Counted::new(MemoryStore::new()));
        let shared = Arc::clone(&store) as Arc<dyn Store>;
        fill(&group_in(Arc::clone(&shared), dialect));
        if is_consolidated {
            zarr_hierarchy::consolidate(&*store, "/", None).unwrap();
        }
        let root = Group::open(&shared, "/", &registry()).unwrap();
        let before = store.counts();
        let tree = DataTree::open(&root).unwrap();
        let after = store.counts();
        if is_consolidated {
            // In version 3 the document of the group has all documents below, in version 2 a document next to it.
            assert_eq!((after.gets - before.gets, after.lists), (u64::from(dialect == Dialect::V2), before.lists));
        }
        let line = |(path, dataset): (&str, Dataset)| {
            let mut sizes: Vec<String> =
                dataset.dimensions().iter().map(|it| format!("{}:{}", it.name, it.size)).collect();
            sizes.sort();
            format!("{path} {} | {}", sizes.join(" "), names(dataset.coordinates()).join(" "))
        };
        assert_eq!(
            tree.iter().map(line).collect::<Vec<_>>(),
            ["/ x:3 y:2 | aux sc y", "/a x:3 y:2 | y", "/a/b y:2 | y", "/d y:2 | y", "/d/e y:2 z:3 | y"]
        );
        assert_eq!(tree.children("/").unwrap().collect::<Vec<_>>(), ["/a", "/d"]);
        assert_eq!(tree.children("a/").unwrap().collect::<Vec<_>>(), ["/a/b"]);
        let b = tree.dataset("/a/b").unwrap();
        assert_eq!((names(b.inherited()), names(b.data_variables())), (vec!["y"], vec!["q"]));
        assert_eq!(tree.dataset("/").unwrap().inherited().count(), 0);
        // Labels of the coordinate of the root select in the groups below.
        let found = b.sel("y", "2020-01-21").unwrap();
        assert_eq!(found.variable("q").unwrap().read().unwrap().to_vec::<i32>().unwrap(), [6]);
        // A tree of a part has nothing of the groups above it.
        let part = DataTree::open(&root.group("a").unwrap()).unwrap();
        assert_eq!(part.iter().map(line).collect::<Vec<_>>(), ["/ x:3 y:2 | ", "/b y:2 | "]);
    }
}

#[test]
fn a_variable_of_a_group_hides_a_coordinate_above() {
    let root = group();
    add(&root, "y", new(&[2], "int32", &["y"]), &[1, 2]);
    let a = root.create_group("a", NewGroup::new()).unwrap();
    add(&a, "y", new(&[], "int32", &[]), &[3]);
    add(&a.create_group("b", NewGroup::new()).unwrap(), "y", new(&[2], "int32", &["y"]), &[7, 8]);
    let tree = DataTree::open(&root).unwrap();
    let a = tree.dataset("/a").unwrap();
    assert_eq!((a.variable("y").unwrap().shape(), a.inherited().count(), a.dimensions().len()), (vec![], 0, 0));
    assert_eq!(tree.dataset("/a/b").unwrap().sel("y", 8).unwrap().dimensions().len(), 0);
}

#[test]
fn sizes_agree_with_the_groups_above() {
    let root = group();
    fill(&root);
    let b = root.group("d").unwrap().create_group("f", NewGroup::new()).unwrap();
    add(&b, "x", new(&[4], "int32", &["x"]), &[0; 4]);
    let error = DataTree::open(&root).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidMetadata);
    assert_eq!(error.message(), "dimension x has 4 elements in group /d/f, but 3 in group /");
    // Sizes of dimensions of sibling groups need not agree.
    let root = group();
    for (name, len) in [("a", 2_u64), ("a-b", 3), ("b", 4)] {
        let group = root.create_group(name, NewGroup::new()).unwrap();
        add(&group, "x", new(&[len], "int32", &["x"]), &vec![0; len as usize]);
        add(
            &group.create_group("c", NewGroup::new()).unwrap(),
            "v",
            new(&[len], "int32", &["x"]),
            &vec![0; len as usize],
        );
    }
    let tree = DataTree::open(&root).unwrap();
    assert_eq!(size_of(&tree.dataset("/a-b/c").unwrap(), "x"), Some(3));
    assert_eq!(
        tree.iter().map(|(path, _)| path).collect::<Vec<_>>(),
        ["/", "/a", "/a/c", "/a-b", "/a-b/c", "/b", "/b/c"]
    );
    let error = tree.dataset("/a/d").unwrap_err();
    assert_eq!((error.kind(), error.hint()), (ErrorKind::NotFound, Some("there is one called /a/c")));
}

#[test]
fn faults_are_in_the_data_set_of_their_group() {
    let store = Arc::new(MemoryStore::new());
    let root = group_in(Arc::clone(&store) as Arc<dyn Store>, Dialect::V3);
    fill(&root);
    store.set(&zarr_store::Key::new("a/w/zarr.json").unwrap(), b"{", &zarr_store::SetOptions::default()).unwrap();
    let tree = DataTree::open(&root).unwrap();
    let broken: Vec<usize> = tree.iter().map(|(_, dataset)| dataset.broken().len()).collect();
    assert_eq!(broken, [0, 1, 0, 0, 0]);
    assert_eq!(names(tree.dataset("/a").unwrap().data_variables()), ["u"]);
    // Arrays without names of dimensions are no data set, and so no tree.
    let unnamed = NewArray::new(&[3], "int32").codecs("bytes").unwrap();
    add(&root.group("d/e").unwrap(), "unnamed", unnamed, &[1, 2, 3]);
    assert_eq!(DataTree::open(&root).unwrap_err().location().path.as_deref(), Some("/d/e/unnamed"));
    let numbered = DatasetOptions::default().number_dimensions(true);
    let tree = DataTree::open_with(&root, &numbered.ignore_consolidated(true)).unwrap();
    assert_eq!(size_of(&tree.dataset("/d/e").unwrap(), "dim_0"), Some(3));
}

#[test]
fn a_coordinate_that_cannot_be_opened_is_replaced_by_none_of_a_group_above() {
    let store = Arc::new(MemoryStore::new());
    let root = group_in(Arc::clone(&store) as Arc<dyn Store>, Dialect::V3);
    let group = root.create_group("g", NewGroup::new()).unwrap().create_group("h", NewGroup::new()).unwrap();
    let coordinate = |group: &Group| add(group, "x", new(&[3], "int32", &["x"]), &[1, 2, 3]);
    coordinate(&root);
    coordinate(&root.group("g").unwrap());
    add(&group, "v", new(&[3], "int32", &["x"]), &[0; 3]);
    let opened = || Dataset::open(&group).unwrap().with_inherited().unwrap();
    assert_eq!(opened().inherited().map(|variable| variable.name()).collect::<Vec<_>>(), ["x"]);
    let broken = |path: &str, document: &str| {
        let key = zarr_store::Key::new(&format!("{path}/zarr.json")).unwrap();
        store.set(&key, document.as_bytes(), &zarr_store::SetOptions::default()).unwrap();
        let dataset = opened();
        assert_eq!(dataset.inherited().count(), 0);
        let fault = dataset.fault("x").unwrap();
        assert_eq!(fault.location().path.as_deref(), Some(&*format!("/{path}")), "{fault}");
        assert!(dataset.variable("x").unwrap_err().message().contains(fault.message()), "{fault}");
        let tree = DataTree::open(&root).unwrap();
        assert_eq!(tree.dataset("/g/h").unwrap().inherited().count(), 0);
    };
    let text = |from: &str, to: &str| {
        let found = store.get_all(&zarr_store::Key::new("x/zarr.json").unwrap()).unwrap().unwrap();
        let text = String::from_utf8(found.to_vec()).unwrap();
        assert!(text.contains(from), "{text}");
        text.replace(from, to)
    };
    // Of the nearest group above, and of the group itself.
    broken("g/x", &text("\"bytes\"", "\"unknown\""));
    broken("g/x", &text("\"shape\"", "\"form\""));
    store.erase(&zarr_store::Key::new("g/x/zarr.json").unwrap()).unwrap();
    coordinate(&root.group("g").unwrap());
    assert_eq!(opened().inherited().count(), 1);
    broken("g/h/x", "{");
    broken("g/h/x", &text("\"bytes\"", "\"unknown\""));
}

/// Coordinates that do not fit are left out alone: what cannot be opened stays a fault, and what fits is inherited.
#[test]
fn coordinates_that_fit_are_inherited_beside_others() {
    let store = Arc::new(MemoryStore::new());
    let root = group_in(Arc::clone(&store) as Arc<dyn Store>, Dialect::V3);
    let above = root.create_group("f", NewGroup::new()).unwrap().create_group("g", NewGroup::new()).unwrap();
    let group = above.create_group("h", NewGroup::new()).unwrap();
    add(&group, "v", new(&[3, 2, 4], "int32", &["x", "y", "z"]), &[0; 24]);
    add(&above, "y", new(&[5], "int32", &["y"]), &[0; 5]);
    add(&root, "y", new(&[2], "int32", &["y"]), &[1, 2]);
    add(&root, "z", new(&[4], "int32", &["z"]), &[1, 2, 3, 4]);
    store.set_all(&zarr_store::Key::new("x/zarr.json").unwrap(), b"{").unwrap();
    let opened = || Dataset::open(&group).unwrap();
    assert_eq!(opened().with_inherited().unwrap_err().kind(), ErrorKind::InvalidMetadata);
    // In one store, and with the groups above in another.
    let inner =
        Dataset::open(&Group::open(&(Arc::clone(&store) as Arc<dyn Store>), "/f/g/h", &registry()).unwrap()).unwrap();
    for dataset in [opened().with_fitting(&[]).unwrap(), inner.with_fitting(&[above.clone(), root.clone()]).unwrap()] {
        assert_eq!(dataset.inherited().map(|variable| variable.name()).collect::<Vec<_>>(), ["z"]);
        let fault = dataset.fault("x").unwrap();
        assert_eq!(fault.location().path.as_deref(), Some("/x"), "{fault}");
        // That of the nearest group does not fit, and so none further above is taken.
        assert!(dataset.fault("y").is_none());
        assert_eq!((dataset.broken().len(), dataset.faults().count()), (0, 1));
    }
    // What a group has that cannot be read is not known: groups above it, in another store too, are not looked at.
    let opened = opened();
    store.set_all(&zarr_store::Key::new("f/zarr.json").unwrap(), b"{").unwrap();
    let dataset = opened.with_fitting(std::slice::from_ref(&root)).unwrap();
    assert_eq!(dataset.inherited().count(), 0);
    for name in ["x", "z"] {
        assert_eq!(dataset.fault(name).unwrap().location().path.as_deref(), Some("/f"), "{name}");
    }
    assert!(dataset.fault("y").is_none());
}

/// Faults of many arrays are found by name, in a time that follows from their number.
#[test]
fn faults_are_found_by_name() {
    let store = Arc::new(MemoryStore::new());
    let root = group_in(Arc::clone(&store) as Arc<dyn Store>, Dialect::V3);
    for number in 0..300 {
        store.set_all(&zarr_store::Key::new(&format!("a{number}/zarr.json")).unwrap(), b"{").unwrap();
    }
    add(&root, "v", new(&[1], "int32", &["x"]), &[0]);
    let dataset = Dataset::open(&root).unwrap();
    assert_eq!(dataset.broken().len(), 300);
    for number in 0..300 {
        let path = format!("/a{number}");
        assert_eq!(dataset.fault(&path[1..]).unwrap().location().path.as_deref(), Some(&*path));
    }
    assert!(dataset.fault("v").is_none() && dataset.fault("a300").is_none() && dataset.fault("/a0").is_none());
}

#[test]
fn dimensions_of_outer_groups_of_nczarr() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let group = r#"{"zarr_format": 2}"#;
    let zarray = r#"{"zarr_format": 2, "shape": [2], "chunks": [2], "dtype": "<i4", "compressor": null, "fill_value": 0,
        "order": "C", "filters": null}"#;
    let of =
        |names: &str| format!(r#"{{"_nczarr_array": {{"dimension_references": [{names}], "storage": "chunked"}}}}"#);
    let documents = [
        (".zgroup", group.to_owned()),
        (".zattrs", r#"{"_nczarr_group": {"dimensions": {"time": {"size": 2, "unlimited": 1}}}}"#.to_owned()),
        ("time/.zarray", zarray.to_owned()),
        ("time/.zattrs", of(r#""/time""#)),
        ("g/.zgroup", group.to_owned()),
        ("g/.zattrs", r#"{"_nczarr_group": {"dimensions": {"x": 2}}}"#.to_owned()),
        ("g/h/.zgroup", group.to_owned()),
        ("g/h/v/.zarray", zarray.replace("[2]", "[2, 2]")),
        ("g/h/v/.zattrs", of(r#""/time", "/g/x""#)),
    ];
    for (key, text) in documents {
        store.set(&zarr_store::Key::new(key).unwrap(), text.as_bytes(), &zarr_store::SetOptions::default()).unwrap();
    }
    let root = Group::open(&store, "/", &registry()).unwrap();
    root.array("time").unwrap().write(.., &[3, 5]).unwrap();
    let tree = DataTree::open(&root).unwrap();
    let dataset = tree.dataset("/g/h").unwrap();
    let time = dataset.dimensions().iter().find(|it| it.name == "time").unwrap();
    assert!(time.is_unlimited && time.size == 2);
    assert_eq!(dataset.sel("time", 5).unwrap().variable("v").unwrap().dimensions().collect::<Vec<_>>(), ["x"]);
}

#[test]
fn a_tree_as_text() {
    let root = group();
    fill(&root);
    // With the attributes that it has now.
    let root = Group::open(root.store(), "/", root.registry()).unwrap();
    let text = DataTree::open(&root).unwrap().overview().to_string();
    let expected = "\
Group: /
Dimensions:  y 2, x 3
Coordinates:
  aux  (y)     float64         1.0 ... 2.0
  sc   ()      int32           5
* y    (y)     datetime64[ns]  2020-01-11 ... 2020-01-21
Data variables:
  v    (y, x)  int32

Group: /a
Dimensions:  y 2, x 3
Data variables:
  u  (y)  int32
  w  (x)  int32
Attributes:
  title: A

Group: /a/b
Dimensions:  y 2
Data variables:
  q  (y)  int32

Group: /d
Dimensions:  y 2

Group: /d/e
Dimensions:  z 3, y 2
Data variables:
  q  (z)  int32";
    assert_eq!(text, expected, "{text}");
}
