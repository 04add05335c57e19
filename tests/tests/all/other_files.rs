//! Files that belong to no node go with their groups: tables of SpatialData, the OME-XML of bioformats2raw, text files.

use crate::resumed::failing::Failing;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};
use zarr::ErrorKind;
use zarr::compare::{CompareOptions, Comparison, OtherKeyDiffers, Side};
use zarr::convert::{Conversion, ConvertOptions, Part, Progress, Transfer};
use zarr::hierarchy::{other_keys, walk};
use zarr::store::{FilesystemStore, Key, MemoryStore, Store, StoreExt};
use zarr_array::{Array, Group, NewArray, NewGroup};
use zarr_meta::{Dialect, NodePath};
use zarr_store::Prefix;

/// More than is copied in one piece.
const LARGE: usize = 20 << 20;

/// Groups with files beside arrays, as SpatialData and bioformats2raw write them.
pub(crate) fn write(store: &Arc<dyn Store>, dialect: Dialect, at: &str) {
    let registry = zarr::registry::default();
    let path = |name: &str| format!("{}/{name}", at.trim_end_matches('/'));
    for name in ["points/transcripts", "shapes/cells", "OME", "0"] {
        Group::create(store, &path(name), NewGroup::default().dialect(dialect), &registry).unwrap();
    }
    let new = NewArray::new(&[4], "int16").chunks(&[2]).dialect(dialect);
    Array::create(store, &path("0/a"), new, &registry).unwrap().write(.., &[1_i16, 2, 3, 4]).unwrap();
    for (name, value) in files() {
        let key = path(&name);
        store.set_all(&Key::new(key.trim_start_matches('/')).unwrap(), &value).unwrap();
    }
}

/// As [`write`], of v3, and with small files.
pub(crate) fn write_small(store: &Arc<dyn Store>) {
    write(store, Dialect::V3, "/");
    store.set_all(&Key::new("shapes/cells/shapes.parquet").unwrap(), b"PAR1 shapes").unwrap();
}

fn files() -> BTreeMap<String, Vec<u8>> {
    let large = (0..LARGE).map(|index| (index % 251) as u8).collect();
    let files = [
        ("points/transcripts/points.parquet/part.0.parquet", b"PAR1 points".to_vec()),
        ("shapes/cells/shapes.parquet", large),
        ("OME/METADATA.ome.xml", b"<OME/>".to_vec()),
        ("README.md", b"# data".to_vec()),
        ("notes/deep/er.txt", Vec::new()),
    ];
    files.map(|(name, value)| (name.to_owned(), value)).into()
}

/// The files of no node below a path.
fn found(store: &Arc<dyn Store>, at: &str) -> BTreeMap<String, Vec<u8>> {
    let prefix = NodePath::parse(at).unwrap().key_prefix();
    let others = other_keys(&**store, &walk(&**store, at, None).unwrap()).unwrap();
    let name = |key: &Key| key.as_str().strip_prefix(&prefix).unwrap().to_owned();
    others.iter().map(|other| (name(&other.key), store.get_all(&other.key).unwrap().unwrap().to_vec())).collect()
}

fn memory() -> Arc<dyn Store> {
    Arc::new(MemoryStore::new())
}

#[test]
fn files_of_no_node_go_through_conversions_and_back() {
    let registry = zarr::registry::default();
    let source = memory();
    write(&source, Dialect::V2, "/");
    let mut from = Arc::clone(&source);
    for dialect in [Dialect::V3, Dialect::V3Draft2022, Dialect::V3Protocol2020, Dialect::V3Protocol2019, Dialect::V2] {
        let folder = tempfile::tempdir().unwrap();
        let directory: Arc<dyn Store> = Arc::new(FilesystemStore::create(folder.path()).unwrap());
        let target = memory();
        for target in [&directory, &target] {
            let conversion = Conversion::plan(&from, &registry, ConvertOptions::default().dialect(dialect)).unwrap();
            assert_eq!(conversion.other_keys().len(), 5, "{dialect}");
            conversion.run(target, |_| {}).unwrap();
            assert_eq!(found(target, "/"), files(), "{dialect}");
        }
        let (a, b) = (Side::new(&from, NodePath::root()), Side::new(&target, NodePath::root()));
        let comparison = Comparison::of(&a, &b, &registry, &CompareOptions::default(), |_| {}).unwrap();
        assert!(comparison.is_equal(), "{dialect}: {comparison:?}");
        from = target;
    }
    // The first and the last are of one dialect.
    let keys = |store: &Arc<dyn Store>| store.list_prefix(&Prefix::root()).unwrap();
    assert_eq!(keys(&source), keys(&from));
}

#[test]
fn files_of_no_node_are_copied_and_moved_with_their_group() {
    let registry = zarr::registry::default();
    for dialect in [Dialect::V2, Dialect::V3, Dialect::V3Draft2022, Dialect::V3Protocol2019] {
        let store = memory();
        write(&store, dialect, "/sample");
        Transfer::of(&store, "/sample").to("/copy").copy(&registry).unwrap();
        assert_eq!((found(&store, "/sample"), found(&store, "/copy")), (files(), files()), "{dialect}");
        Transfer::of(&store, "/copy").to("/moved").move_all(&registry).unwrap();
        assert_eq!(found(&store, "/moved"), files(), "{dialect}");
        let other = memory();
        Transfer::of(&store, "/sample").in_store(&other).to("/there").move_all(&registry).unwrap();
        assert_eq!(found(&other, "/there"), files(), "{dialect}");
        let left = store.list_prefix(&Prefix::root()).unwrap();
        assert!(!left.iter().any(|key| key.as_str().contains("sample")), "{dialect}: {left:?}");
        // The files of a group alone.
        Transfer::of(&other, "/there/shapes").to("/shapes").copy(&registry).unwrap();
        assert_eq!(found(&other, "/shapes").keys().collect::<Vec<_>>(), ["cells/shapes.parquet"], "{dialect}");
    }
}

#[test]
fn files_of_no_node_may_be_left_out_and_differences_are_told() {
    let registry = zarr::registry::default();
    let (source, target) = (memory(), memory());
    write(&source, Dialect::V3, "/");
    let options = ConvertOptions::default().other_keys(false);
    Conversion::plan(&source, &registry, options).unwrap().run(&target, |_| {}).unwrap();
    assert!(found(&target, "/").is_empty());
    target.set_all(&Key::new("README.md").unwrap(), b"# date").unwrap();
    target.set_all(&Key::new("OME/new").unwrap(), b"").unwrap();
    let (a, b) = (Side::new(&source, NodePath::root()), Side::new(&target, NodePath::root()));
    let comparison = Comparison::of(&a, &b, &registry, &CompareOptions::default(), |_| {}).unwrap();
    let differences: Vec<_> = comparison.other_keys.iter().map(|other| (other.key.as_str(), other.how)).collect();
    let (first, second) = (OtherKeyDiffers::OnlyInFirst, OtherKeyDiffers::OnlyInSecond);
    let expected = [
        ("OME/METADATA.ome.xml", first),
        ("OME/new", second),
        ("README.md", OtherKeyDiffers::Bytes),
        ("notes/deep/er.txt", first),
        ("points/transcripts/points.parquet/part.0.parquet", first),
        ("shapes/cells/shapes.parquet", first),
    ];
    assert_eq!(differences, expected);
    assert!(!comparison.is_equal());
    let options = CompareOptions::default().other_keys(false);
    assert!(Comparison::of(&a, &b, &registry, &options, |_| {}).unwrap().is_equal());
}

#[test]
fn one_of_the_parts_of_a_conversion_copies_files_of_no_node() {
    let registry = zarr::registry::default();
    let (source, target) = (memory(), memory());
    write(&source, Dialect::V2, "/");
    let plan = |part: Option<Part>| {
        let options = ConvertOptions::default().dialect(Dialect::V3).chunks(vec![1]).part(part);
        Conversion::plan(&source, &registry, options).unwrap()
    };
    for number in [2, 1] {
        plan(Some(Part::new(number, 2).unwrap())).run(&target, |_| {}).unwrap();
    }
    plan(None).finish(&target, |_| {}).unwrap();
    assert_eq!(found(&target, "/"), files());
    // Parts that are given up leave nothing behind.
    let target = memory();
    plan(Some(Part::new(1, 2).unwrap())).run(&target, |_| {}).unwrap();
    plan(Some(Part::new(1, 2).unwrap())).abandon(&target).unwrap();
    assert_eq!(target.list_prefix(&Prefix::root()).unwrap(), []);
}

#[test]
fn a_file_that_would_lie_among_documents_of_a_draft_is_an_error() {
    let registry = zarr::registry::default();
    let source = memory();
    write(&source, Dialect::V3, "/");
    source.set_all(&Key::new("meta/units.csv").unwrap(), b"K").unwrap();
    let plan = |options: ConvertOptions| Conversion::plan(&source, &registry, options.dialect(Dialect::V3Draft2022));
    let error = plan(ConvertOptions::default()).unwrap_err();
    assert_eq!(error.location().key.as_deref(), Some("meta/units.csv"), "{error}");
    assert!(plan(ConvertOptions::default().other_keys(false)).is_ok());
}

/// A move erases nothing that the target does not have: files that were changed or made since they were copied are copied again.
#[test]
fn files_that_change_during_a_move_are_not_lost() {
    let registry = zarr::registry::default();
    let (source, target) = (memory(), memory());
    write(&source, Dialect::V3, "/g");
    let [notes, later] = ["g/README.md", "g/OME/later.txt"].map(|key| Key::new(key).unwrap());
    let options = || ConvertOptions::default().resume(true);
    let plan = || Conversion::plan_copy(&source, "/g", &target, "/g", &registry, options()).unwrap();
    let conversion = plan();
    // With the first array all files are copied.
    conversion
        .run_move(&target, |progress| {
            if let Progress::Begin(node) = progress
                && node.path.to_string() == "/g/0/a"
            {
                source.set_all(&notes, b"changed").unwrap();
            }
        })
        .unwrap();
    assert_eq!(target.get_all(&notes).unwrap().unwrap(), b"changed"[..]);
    assert_eq!(source.list_prefix(&Prefix::new("g/").unwrap()).unwrap(), []);
    // One that nobody had planned to move stays where it is.
    source.set_all(&later, b"later").unwrap();
    assert_eq!(source.get_all(&later).unwrap().unwrap(), b"later"[..]);
}

#[test]
fn files_of_no_node_are_erased_when_an_interrupted_move_is_finished() {
    let registry = zarr::registry::default();
    let (source, target) = (memory(), memory());
    write(&source, Dialect::V3, "/g");
    Transfer::of(&source, "/g").in_store(&target).copy(&registry).unwrap();
    // As a move leaves it that was interrupted after it erased documents: a chunk, and the files, one of which differs.
    let found = zarr::hierarchy::open_node(&*source, "/g", None).unwrap();
    let mut left = Vec::new();
    for key in source.list_prefix(&Prefix::new("g/").unwrap()).unwrap() {
        match key.name() {
            "zarr.json" => source.erase(&key).unwrap(),
            _ => left.push(key),
        }
    }
    drop(found);
    let notes = Key::new("g/README.md").unwrap();
    source.set_all(&notes, b"another").unwrap();
    assert!(zarr::convert::finish_move(&source, "/g", &target, "/g").unwrap());
    assert_eq!(source.list_prefix(&Prefix::new("g/").unwrap()).unwrap(), [notes]);
    assert!(left.len() > 5);
}

#[test]
fn what_belongs_to_a_directory_and_not_to_its_data_is_no_file_of_a_group() {
    let store = memory();
    write(&store, Dialect::V2, "/");
    for key in [".git/config", "0/.git/objects/x", ".DS_Store", "0/._x", "OME/a.partial", "0/.#lock", ".datalad/config"]
    {
        store.set_all(&Key::new(key).unwrap(), b"").unwrap();
    }
    assert_eq!(found(&store, "/"), files());
}

#[test]
fn a_conversion_that_leaves_everything_out_is_an_error() {
    let registry = zarr::registry::default();
    let source = memory();
    write(&source, Dialect::V3, "/");
    let options = ConvertOptions::default().exclude(vec![NodePath::root()]);
    assert!(Conversion::plan(&source, &registry, options).is_err());
    let options = ConvertOptions::default().exclude(vec![NodePath::parse("/g").unwrap()]);
    let error = Conversion::plan(&source, &registry, options).unwrap_err();
    assert!(error.is_not_found(), "{error}");
    let options = ConvertOptions::default().other_keys(false);
    let planned = Conversion::plan_copy(&source, "/0", &source, "/1", &registry, options).unwrap();
    assert!(planned.run_move(&source, |_| {}).is_err());
    assert!(zarr::hierarchy::node_exists(&*source, "/0", None).unwrap());
}

/// Attributes of a group that has no document but them.
#[test]
fn attributes_of_an_implied_group_are_its_attributes() {
    let registry = zarr::registry::default();
    let store = memory();
    let set = |key: &str, text: &str| store.set_all(&Key::new(key).unwrap(), text.as_bytes()).unwrap();
    let array = r#"{"zarr_format": 2, "shape": [1], "chunks": [1], "dtype": "|i1", "compressor": null, "fill_value": 0,
        "order": "C", "filters": null}"#;
    set("g/h/a/.zarray", array);
    set(".zattrs", r#"{"title": "root"}"#);
    set("g/h/.zattrs", r#"{"title": "below"}"#);
    let titles = |store: &Arc<dyn Store>| {
        let title = |found: &zarr_meta::StoredNode| found.node.attributes().get("title").map(ToString::to_string);
        let walked: Vec<_> = walk(&**store, "/", None).unwrap().nodes.iter().map(title).collect();
        let opened = ["/", "/g", "/g/h"].map(|path| title(&zarr::hierarchy::open_node(&**store, path, None).unwrap()));
        assert_eq!(walked.get(..3).unwrap(), opened);
        opened
    };
    let expected = [Some("\"root\"".to_owned()), None, Some("\"below\"".to_owned())];
    assert_eq!(titles(&store), expected);
    for dialect in [Dialect::V2, Dialect::V3, Dialect::V3Draft2022, Dialect::V3Protocol2020, Dialect::V3Protocol2019] {
        let target = memory();
        let options = ConvertOptions::default().dialect(dialect);
        Conversion::plan(&store, &registry, options).unwrap().run(&target, |_| {}).unwrap();
        assert_eq!(titles(&target), expected, "{dialect}");
    }
    // A document keeps them, and so does one that is made.
    Group::create(&store, "/g/h", NewGroup::default().dialect(Dialect::V2), &registry).unwrap();
    assert_eq!(titles(&store), expected);
    let new =
        NewGroup::default().dialect(Dialect::V2).attributes([("title".to_owned(), "new".into())].into_iter().collect());
    let error = Group::create(&store, "/", new, &registry).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Exists, "{error}");
    let found = zarr::hierarchy::open_node(&*store, "/", None).unwrap();
    let found =
        zarr::hierarchy::set_attributes(&*store, &found, [("title".to_owned(), "other".into())].into_iter().collect());
    assert!(!found.unwrap().implicit);
    assert_eq!(titles(&store)[0].as_deref(), Some("\"other\""));
    // Consolidated metadata has them.
    zarr::hierarchy::consolidate(&*store, "/", None).unwrap();
    let walked = zarr::hierarchy::walk_consolidated(&*store, "/", None).unwrap();
    assert!(walked.broken.is_empty() && walked.nodes.len() == 4, "{walked:?}");
}

#[test]
fn the_copy_of_a_file_of_no_node_is_told_and_can_be_cancelled() {
    let registry = zarr::registry::default();
    let source = memory();
    write(&source, Dialect::V3, "/");
    let plan = Conversion::plan(&source, &registry, ConvertOptions::default()).unwrap();
    let told = Mutex::new(BTreeMap::<String, u64>::new());
    let add = |event: Progress<'_>| {
        if let Progress::OtherKey(other, bytes) = event {
            *told.lock().unwrap().entry(other.from.to_string()).or_default() += bytes;
        }
    };
    plan.run(&memory(), add).unwrap();
    let sizes: BTreeMap<_, _> = files().into_iter().map(|(name, value)| (name, value.len() as u64)).collect();
    assert_eq!(told.into_inner().unwrap(), sizes);
    // In the midst of a large one.
    let target = memory();
    let cancel = |event: Progress<'_>| match event {
        Progress::OtherKey(other, 1..) if other.from.as_str().ends_with("shapes.parquet") => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    };
    let error = plan.run(&target, cancel).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Cancelled, "{error}");
    assert!(target.get_all(&Key::new("shapes/cells/shapes.parquet").unwrap()).unwrap().is_none());
}

#[test]
fn a_file_of_no_node_that_cannot_be_read_is_left_out_where_the_conversion_keeps_going() {
    let registry = zarr::registry::default();
    let source = memory();
    write(&source, Dialect::V3, "/");
    let broken = "shapes/cells/shapes.parquet";
    let from = Failing::at_key(&source, broken).store();
    let run = |keep_going: bool| {
        let options = ConvertOptions::default().keep_going(keep_going);
        let (target, told) = (memory(), Mutex::new(Vec::new()));
        let add = |event: Progress<'_>| {
            if let Progress::SkippedKey(key) = event {
                told.lock().unwrap().push(key.to_string());
            }
        };
        let done = Conversion::plan(&from, &registry, options).unwrap().run(&target, add);
        (target, told.into_inner().unwrap(), done)
    };
    let (target, told, done) = run(true);
    done.unwrap();
    assert!(told.len() == 1 && told[0].contains(broken) && told[0].contains("a bad sector"), "{told:?}");
    let expected: BTreeMap<_, _> = files().into_iter().filter(|(name, _)| name != broken).collect();
    assert_eq!(found(&target, "/"), expected);
    let (_, told, done) = run(false);
    let error = done.unwrap_err();
    assert!(told.is_empty() && error.to_string().contains(broken), "{error}");
    assert!(error.hint().unwrap().contains("--no-other-files"));
    // What cannot be written is no fault of the source.
    let target = Failing::after(&memory(), 12).store();
    let options = ConvertOptions::default().keep_going(true);
    assert!(Conversion::plan(&source, &registry, options).unwrap().run(&target, |_| {}).is_err());
}

#[test]
fn a_file_of_no_node_is_within_memory_where_the_target_takes_it_as_a_whole() {
    let registry = zarr::registry::default();
    let source = memory();
    write(&source, Dialect::V3, "/");
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let run = |address: String, memory: u64| {
        let options = ConvertOptions::default().memory(memory);
        let target = zarr::store::create(&address).unwrap();
        Conversion::plan(&source, &registry, options).unwrap().run(&target, |_| {})
    };
    let error = run(format!("sqlite:{}", at("a.sqlite")), LARGE as u64 - 1).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Argument, "{error}");
    for expected in ["shapes.parquet", "20971520 bytes", "20971519 of memory"] {
        assert!(error.to_string().contains(expected), "{error}");
    }
    run(format!("sqlite:{}", at("b.sqlite")), LARGE as u64).unwrap();
    // Others take it in pieces.
    for name in ["a.zarr", "a.zip"] {
        run(at(name), 9 << 20).unwrap();
        assert_eq!(found(&zarr::store::open(&at(name)).unwrap(), "/"), files(), "{name}");
    }
}

#[test]
fn groups_are_listed_once_to_find_files_of_no_node() {
    for dialect in [Dialect::V2, Dialect::V3] {
        let source = memory();
        write(&source, dialect, "/");
        let counted = zarr::store::Counted::new(Arc::clone(&source));
        let walked = walk(&counted, "/", None).unwrap();
        let lists = counted.counts().lists;
        assert_eq!(other_keys(&counted, &walked).unwrap().len(), 5, "{dialect}");
        let groups = walked.nodes.iter().filter(|node| node.node.as_group().is_some()).count() as u64;
        assert!(lists >= groups, "{lists} lists of {groups} groups");
        // One for each folder that is no node: points.parquet and notes.
        assert_eq!(counted.counts().lists - lists, 2, "{dialect}");
    }
}
