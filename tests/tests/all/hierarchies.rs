//! Creating, finding, listing and erasing nodes, in every dialect that has a hierarchy.

use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;
use zarr::store::{Counted, FilesystemStore, Key, MemoryStore, Store, StoreExt};
use zarr_array::{Array, ErrorKind, Group, NewArray, NewGroup};
use zarr_codec::Limits;
use zarr_json::NamedConfig;
use zarr_meta::{Dialect, NodePath};

const DIALECTS: [Dialect; 5] =
    [Dialect::V2, Dialect::V3, Dialect::V3Protocol2019, Dialect::V3Protocol2020, Dialect::V3Draft2022];
const ENTRY: &str = r#"{"zarr_format": "https://purl.org/zarr/spec/core/3.0",
    "metadata_encoding": {"type": "json", "metadata_key_suffix": ".json"}, "extensions": []}"#;
const ARRAY: &str = r#"{"shape": [2], "data_type": "int8", "chunk_memory_layout": "C", "fill_value": 0,
    "chunk_grid": {"type": "regular", "chunk_shape": [2], "separator": "/"}, "extensions": [], "attributes": {}}"#;

#[derive(Clone, Debug)]
enum Step {
    Group(String),
    Array(String),
    Erase(String),
    Attribute(String, u8),
    Copy { from: String, to: String, moves: bool },
}

fn path() -> impl Strategy<Value = String> {
    proptest::collection::vec(prop_oneof!["[a-c]", Just("c0".to_owned()), Just("b.array".to_owned())], 1..4)
        .prop_map(|names| format!("/{}", names.join("/")))
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => path().prop_map(Step::Group),
        4 => path().prop_map(Step::Array),
        2 => path().prop_map(Step::Erase),
        2 => (path(), any::<u8>()).prop_map(|(path, value)| Step::Attribute(path, value)),
        3 => (path(), path(), any::<bool>()).prop_map(|(from, to, moves)| Step::Copy { from, to, moves }),
    ]
}

/// The node at a path: an array or a group, with an attribute; `None` for a group that nothing but nodes below imply.
type Model = BTreeMap<NodePath, Option<(bool, Option<u8>)>>;

/// The nodes of a model with its implicit groups.
fn all(model: &Model, root: bool) -> Model {
    let mut all = model.clone();
    for path in model.keys().flat_map(NodePath::ancestors).chain(root.then(NodePath::root)) {
        all.entry(path).or_insert(None);
    }
    all
}

/// Whether `from` is the rest of an interrupted move to `to`: an implicit group, all of whose nodes are at `to`, too.
/// To move it then is to finish that move.
fn is_rest_of_move(model: &Model, from: &NodePath, to: &NodePath) -> bool {
    let rest: Vec<_> = model.iter().filter(|(path, _)| path.is_within(from)).collect();
    let is_copied = |(path, node): &(&NodePath, &Option<(bool, Option<u8>)>)| {
        let names = path.names().skip(from.names().count());
        model.get(&names.fold(to.clone(), |to, name| to.join(name).unwrap())) == Some(*node)
    };
    !rest.is_empty() && !model.contains_key(from) && rest.iter().all(is_copied)
}

fn run(store: &Arc<dyn Store>, dialect: Dialect, steps: &[Step]) -> Result<(), TestCaseError> {
    let registry = zarr::registry::default();
    let implies = dialect.implies_groups();
    let mut model = Model::new();
    for step in steps {
        let is_array = |model: &Model, path: &NodePath| matches!(model.get(path), Some(Some((true, _))));
        match step {
            Step::Group(text) | Step::Array(text) => {
                let path = NodePath::parse(text).unwrap();
                let array = matches!(step, Step::Array(_));
                let below_array = path.ancestors().any(|above| is_array(&model, &above));
                let exists = model.get(&path).is_some_and(Option::is_some);
                // Nodes below an array would never be found again.
                let exists = exists || (array && model.keys().any(|other| other.is_within(&path)));
                let created = if array {
                    let new = NewArray::new(&[3], "int8").chunks(&[2]).dialect(dialect);
                    Array::create(store, text, new, &registry).and_then(|array| array.write(.., &[1_i8, 2, 3]))
                } else {
                    Group::create(store, text, NewGroup::default().dialect(dialect), &registry).map(drop)
                };
                prop_assert_eq!(created.is_ok(), !below_array && !exists, "{} {:?} {:?}", dialect, step, created);
                if created.is_ok() {
                    if !implies {
                        for above in path.ancestors() {
                            model.entry(above).or_insert(Some((false, None)));
                        }
                    }
                    model.insert(path, Some((array, None)));
                }
            }
            Step::Erase(text) => {
                let path = NodePath::parse(text).unwrap();
                let there = all(&model, false).contains_key(&path);
                prop_assert_eq!(zarr::hierarchy::node_exists(&**store, text, None).unwrap(), there);
                match zarr::hierarchy::open_node(&**store, text, None) {
                    Err(error) => prop_assert!(!there && error.is_not_found(), "{error}"),
                    Ok(found) => {
                        zarr::hierarchy::erase_node(&**store, &found).unwrap();
                        model.retain(|other, _| !other.is_within(&path));
                    }
                }
            }
            Step::Copy { from, to, moves } => {
                let transfer = zarr::convert::Transfer::of(store, from).to(to);
                let done = if *moves { transfer.move_all(&registry) } else { transfer.copy(&registry) };
                let (from, to) = (NodePath::parse(from).unwrap(), NodePath::parse(to).unwrap());
                let nodes = all(&model, false);
                let apart = !from.is_within(&to) && !to.is_within(&from);
                let below_array = to.ancestors().any(|above| is_array(&model, &above));
                let may = nodes.contains_key(&from) && apart && !nodes.contains_key(&to) && !below_array;
                if *moves && apart && done.is_ok() && is_rest_of_move(&model, &from, &to) {
                    model.retain(|path, _| !path.is_within(&from));
                    check(store, dialect, &model)?;
                    continue;
                }
                prop_assert_eq!(done.is_ok(), may, "{} {:?} {:?}", dialect, step, done);
                if may {
                    if !implies {
                        for above in to.ancestors() {
                            model.entry(above).or_insert(Some((false, None)));
                        }
                    }
                    for (path, node) in model.clone().into_iter().filter(|(path, _)| path.is_within(&from)) {
                        let names = path.names().skip(from.names().count());
                        model.insert(names.fold(to.clone(), |to, name| to.join(name).unwrap()), node);
                        if *moves {
                            model.remove(&path);
                        }
                    }
                }
            }
            Step::Attribute(text, value) => {
                let path = NodePath::parse(text).unwrap();
                if !all(&model, false).contains_key(&path) {
                    continue;
                }
                let attributes = [("x".to_owned(), (*value).into())].into_iter().collect();
                // An implicit group gets a document by this.
                let found = zarr::hierarchy::open_node(&**store, text, None).unwrap();
                let found = zarr::hierarchy::set_attributes(&**store, &found, attributes).unwrap();
                prop_assert_eq!(
                    found.node.attributes().get("x").and_then(|value| value.as_u64()),
                    Some((*value).into())
                );
                let kind = is_array(&model, &path);
                model.insert(path, Some((kind, Some(*value))));
            }
        }
        check(store, dialect, &model)?;
    }
    Ok(())
}

fn check(store: &Arc<dyn Store>, dialect: Dialect, model: &Model) -> Result<(), TestCaseError> {
    // A hierarchy with an entry point document has a root, whatever was erased.
    let entry = match zarr_meta::entry_point_key(dialect) {
        Some(key) => store.get_all(&Key::new(key).unwrap()).unwrap().is_some(),
        None => false,
    };
    let expected = all(model, entry);
    if expected.is_empty() {
        prop_assert!(zarr::hierarchy::open_node(&**store, "/", None).is_err_and(|error| error.is_not_found()));
        return Ok(());
    }
    let walk = zarr::hierarchy::walk(&**store, "/", None).unwrap();
    prop_assert!(walk.broken.is_empty());
    let found: Model = walk
        .nodes
        .iter()
        .map(|node| {
            let value = node.node.attributes().get("x").map(|value| value.as_u64().unwrap() as u8);
            (node.path.clone(), (!node.implicit).then_some((node.node.as_array().is_some(), value)))
        })
        .collect();
    prop_assert_eq!(&found, &expected, "{}", dialect);
    for (path, node) in &expected {
        let opened = zarr::hierarchy::open_node(&**store, &path.to_string(), None).unwrap();
        prop_assert_eq!((opened.dialect, opened.implicit), (dialect, node.is_none()), "{}", path);
        match node {
            Some((true, _)) => {
                let array = zarr::open((store, &path.to_string())).array().unwrap();
                prop_assert_eq!(array.read::<i8>(..).unwrap(), [1, 2, 3]);
            }
            _ => {
                let children = zarr::open((store, &path.to_string())).group().unwrap().children().unwrap();
                let children: Vec<_> = children.nodes.iter().map(|node| node.path.clone()).collect();
                let below = expected.keys().filter(|other| other.parent().as_ref() == Some(path));
                prop_assert_eq!(children, below.cloned().collect::<Vec<_>>());
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    // clause: p2019-2, p2019-4, p2019-50, p2019-60, p2019-61, d2022-6, d2022-7, d2022-16, d2022-151, d2022-182,
    // clause: d2022-198
    #[test]
    fn nodes_equal_the_model(steps in proptest::collection::vec(step(), 1..14)) {
        for dialect in DIALECTS {
            run(&(Arc::new(MemoryStore::new()) as Arc<dyn Store>), dialect, &steps)?;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3))]

    #[test]
    fn nodes_equal_the_model_in_a_folder(steps in proptest::collection::vec(step(), 1..10)) {
        for dialect in DIALECTS {
            let folder = tempfile::tempdir().unwrap();
            run(&(Arc::new(FilesystemStore::create(folder.path()).unwrap()) as Arc<dyn Store>), dialect, &steps)?;
        }
    }
}

fn set(store: &dyn Store, key: &str, text: &str) {
    store.set_all(&Key::new(key).unwrap(), text.as_bytes()).unwrap();
}

// clause: d2022-193, d2022-219
#[test]
fn a_hundred_thousand_nodes_of_a_draft_are_one_listing() {
    let store = Counted::new(MemoryStore::new());
    set(&store, "zarr.json", ENTRY);
    for number in 0..20_000 {
        set(&store, &format!("meta/g{number}/h/i/j/a.array.json"), ARRAY);
        set(&store, &format!("data/g{number}/h/i/j/a/c0"), "ab");
    }
    store.take();
    // Nodes of other dialects, which would lie beside them, take one listing more.
    for (dialect, lists) in [(Some(Dialect::V3Draft2022), 1), (None, 2)] {
        let walk = zarr::hierarchy::walk(&store, "/", dialect).unwrap();
        assert_eq!((walk.nodes.len(), walk.broken.len()), (100_001, 0));
        assert_eq!(walk.nodes.iter().filter(|node| node.implicit).count(), 80_001);
        let counts = store.take();
        assert_eq!(counts.lists, lists, "{counts:?}");
        // The documents that show the dialects, and for each array its document.
        assert!(counts.gets <= 20_000 + 20, "{counts:?}");
    }
}

/// The folder that a store lies in may be a home directory.
#[test]
fn erasing_the_root_leaves_keys_of_no_node() {
    for dialect in DIALECTS {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        set(&*store, "notes/README.md", "mine");
        set(&*store, "0.txt", "mine");
        let new = || NewArray::new(&[4], "int8").chunks(&[2]).dialect(dialect);
        let (registry, data) = (zarr::registry::default(), [1_i8, 2, 3, 4]);
        let write = |path: &str, new| Array::create(&store, path, new, &registry).unwrap().write(.., &data).unwrap();
        let keys = || {
            let keys = store.list_prefix(&zarr_store::Prefix::root()).unwrap();
            keys.iter().map(|key| key.as_str().to_owned()).collect::<Vec<_>>()
        };
        write("/g/a", new());
        write("/b", new());
        // Nodes give way to a root array, and that to nothing.
        write("/", new().overwrite(true));
        assert_eq!(zarr::hierarchy::walk(&*store, "/", None).unwrap().nodes.len(), 1, "{dialect}");
        zarr::hierarchy::erase_node(&*store, &zarr::hierarchy::open_node(&*store, "/", None).unwrap()).unwrap();
        assert_eq!(keys(), ["0.txt", "notes/README.md"], "{dialect}");
    }
}

// clause: d2022-189, d2022-190
#[test]
fn children_are_one_listing_and_a_look_below_each_prefix() {
    let store = Arc::new(Counted::new(MemoryStore::new()));
    let lent: Arc<dyn Store> = Arc::clone(&store) as _;
    set(&*store, "zarr.json", ENTRY);
    for key in
        ["meta/foo/bar.group.json", "meta/foo/baz/qux.array.json", "meta/foo/x/note.txt", "meta/foo/y.array.json"]
    {
        set(&*store, key, if key.contains("group") { r#"{"attributes": {}}"# } else { ARRAY });
    }
    let foo = zarr::open((&lent, "/foo")).group().unwrap();
    store.take();
    let children = foo.children().unwrap();
    let paths: Vec<_> = children.nodes.iter().map(|node| node.path.to_string()).collect();
    // Files that are no documents imply nothing.
    assert_eq!(paths, ["/foo/bar", "/foo/baz", "/foo/y"]);
    assert!(children.nodes[1].implicit);
    assert_eq!(store.take().lists, 3);
}

// clause: d2022-99, d2022-216
#[test]
fn new_nodes_fit_into_the_hierarchy_that_is_there() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let entry = ENTRY.replace(".json", ".v3").replace("[]", r#"[{"extension": "http://x", "must_understand": false}]"#);
    set(&*store, "zarr.json", &entry);
    let new = || NewArray::new(&[4], "float32").chunks(&[2]).dialect(Dialect::V3Draft2022);
    let array = Array::create(&store, "/g/a", new(), &zarr::registry::default()).unwrap();
    array.write(.., &[1.0_f32, 2.0, 3.0, 4.0]).unwrap();
    let keys: Vec<_> = store.list_prefix(&zarr_store::Prefix::root()).unwrap();
    let keys: Vec<_> = keys.iter().map(Key::as_str).collect();
    assert_eq!(keys, ["data/g/a/c0", "data/g/a/c1", "meta/g/a.array.v3", "zarr.json"]);
    assert_eq!(store.get_all(&Key::new("zarr.json").unwrap()).unwrap().unwrap(), entry.as_bytes());
    // Nodes of other dialects do not.
    let error = Array::create(&store, "/b", new().dialect(Dialect::V3), &zarr::registry::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Argument, "{error}");
    let error = Array::create(&store, "/é", new(), &zarr::registry::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Path, "{error}");
    // The last node takes its implicit groups with it, but for the root.
    zarr::open((&store, "/g/a")).array().unwrap().erase().unwrap();
    assert!(zarr::hierarchy::open_node(&*store, "/g", None).is_err_and(|error| error.is_not_found()));
    let root = zarr::open(&store).group().unwrap();
    assert!(root.found().implicit);
    root.erase().unwrap();
    assert!(store.list_prefix(&zarr_store::Prefix::root()).unwrap().is_empty());
}

// clause: d2022-69
#[test]
fn a_scalar_of_a_draft_is_read_from_c0_too() {
    for key in ["data/s/c", "data/s/c0"] {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        set(&*store, "zarr.json", ENTRY);
        set(&*store, "meta/s.array.json", &ARRAY.replace("[2]", "[]"));
        set(&*store, key, "\u{7}");
        assert_eq!(zarr::open((&store, "/s")).array().unwrap().read::<i8>(..).unwrap(), [7], "{key}");
    }
}

/// Arrays that are opened with one registry share their codecs where nothing differs, and only there.
#[test]
fn arrays_share_codecs_and_nothing_else() {
    let codecs = zarr::registry::default().codecs.clone();
    let chain = |text: &str| -> Vec<NamedConfig> {
        let list = zarr_json::Value::from_json(text).unwrap();
        list.as_array().unwrap().iter().map(|item| NamedConfig::from_value(item).unwrap()).collect()
    };
    let element = |name: &str, fill: i32| {
        let data_type = zarr::dtype::DataType::from_config(&NamedConfig::new(name)).unwrap();
        let fill = zarr::dtype::FillValue::parse(&data_type, &fill.into()).unwrap();
        zarr_codec::ElementSpec::new(data_type, fill)
    };
    let little = r#"[{"name": "bytes", "configuration": {"endian": "little"}}, "gzip"]"#;
    let big = r#"[{"name": "bytes", "configuration": {"endian": "big"}}, "gzip"]"#;
    let odd = r#"[{"name": "bytes", "configuration": {"endian": "big", "odd": 1}}]"#;
    let mut smaller = Limits::default();
    smaller.max_chunk = 1 << 20;
    let of = |text: &str, element: &zarr_codec::ElementSpec, chunk: &[u64], limits: &Limits| {
        let warnings = zarr_codec::Warnings::default();
        let pipeline = codecs.pipeline(&chain(text), element, chunk, limits, &warnings).unwrap();
        (pipeline, warnings.into_vec().len())
    };
    let (one, limits) = (element("int16", 0), Limits::default());
    let first = of(little, &one, &[2, 3], &limits).0;
    assert!(Arc::ptr_eq(&first, &of(little, &one, &[2, 3], &limits).0));
    for (text, element, chunk, limits) in [
        (big, &one, &[2, 3][..], &limits),
        (little, &element("int32", 0), &[2, 3], &limits),
        (little, &element("int16", 1), &[2, 3], &limits),
        (little, &one, &[2, 4], &limits),
        (little, &one, &[6], &limits),
        (little, &one, &[2, 3], &smaller),
    ] {
        let before = of(little, &one, &[2, 3], &Limits::default()).0;
        let other = of(text, element, chunk, limits).0;
        assert!(!Arc::ptr_eq(&before, &other));
        assert_eq!((other.element(), other.limits()), (element, limits));
    }
    // Each time there is a warning.
    assert_eq!((of(odd, &one, &[2], &limits).1, of(odd, &one, &[2], &limits).1), (1, 1));
}
