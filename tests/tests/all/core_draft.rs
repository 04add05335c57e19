//! Statements of the core draft of 2022 that show in a whole store: where elements lie, in which order and how they are encoded, and
//! which keys the operations on hierarchies touch. Documentation of a test begins with the title of the section.

use flate2::read::GzDecoder;
use std::fmt;
use std::io::{Read, Write};
use std::sync::Arc;
use zarr::store::{Answer, Call, Key, MemoryStore, Prefix, Store, StoreExt, fallback_blocking};
use zarr_array::{Array, ErrorKind, Group, NewArray, NewGroup};
use zarr_json::{Value, json};
use zarr_meta::Dialect;
use zarr_store::Capabilities;

const ENTRY: &str = r#"{"zarr_format": "https://purl.org/zarr/spec/core/3.0",
    "metadata_encoding": {"type": "json", "metadata_key_suffix": ".json"}, "extensions": []}"#;

fn memory() -> Arc<dyn Store> {
    Arc::new(MemoryStore::new())
}

fn set(store: &Arc<dyn Store>, key: &str, value: &[u8]) {
    store.set_all(&Key::new(key).unwrap(), value).unwrap();
}

#[track_caller]
fn bytes(store: &Arc<dyn Store>, key: &str) -> Vec<u8> {
    store.get_all(&Key::new(key).unwrap()).unwrap().unwrap().to_vec()
}

fn keys(store: &Arc<dyn Store>) -> Vec<String> {
    store.list_prefix(&Prefix::root()).unwrap().iter().map(ToString::to_string).collect()
}

#[track_caller]
fn member(store: &Arc<dyn Store>, key: &str, name: &str) -> Value {
    let document = Value::from_json(&String::from_utf8(bytes(store, key)).unwrap()).unwrap();
    document.get(name).cloned().unwrap()
}

fn new(shape: &[u64], chunks: &[u64], codecs: &str) -> NewArray {
    NewArray::new(shape, "uint8").chunks(chunks).codecs(codecs).unwrap().dialect(Dialect::V3Draft2022)
}

fn create(store: &Arc<dyn Store>, path: &str, new: NewArray) -> Array {
    Array::create(store, path, new, &zarr::registry::default()).unwrap()
}

fn group(store: &Arc<dyn Store>, path: &str) -> Group {
    let new = NewGroup::default().dialect(Dialect::V3Draft2022);
    Group::create(store, path, new, &zarr::registry::default()).unwrap()
}

/// A store with the document of the array `/a`, of this layout and these members beside the usual ones.
fn stored(layout: &str, members: &str) -> Arc<dyn Store> {
    let store = memory();
    set(&store, "zarr.json", ENTRY.as_bytes());
    let rest = r#""fill_value": 0, "extensions": [], "attributes": {}"#;
    let document = format!(r#"{{"chunk_memory_layout": "{layout}", {rest}, {members}}}"#);
    set(&store, "meta/a.array.json", document.as_bytes());
    store
}

fn opened(store: &Arc<dyn Store>, path: &str) -> Array {
    zarr::open((store, path)).array().unwrap()
}

/// Regular grids: the example of the text, in which 10, 200 and 3000 elements make 2, 10 and 8 chunks of 5, 20 and 400.
// clause: d2022-11, d2022-14, d2022-22, d2022-24, d2022-63, d2022-64, d2022-65, d2022-66, d2022-70, d2022-71
#[test]
fn an_element_lies_in_the_chunk_of_the_example() {
    let store = memory();
    let array = create(&store, "/a", new(&[10, 200, 3000], &[5, 20, 400], "bytes").fill(9));
    let grid = array.chunk_grid();
    assert_eq!([0, 1, 2].map(|axis| grid.chunk_count(axis)), [2, 10, 8]);
    array.write((7, 150, 900), &[1_u8]).unwrap();
    assert_eq!(keys(&store), ["data/a/c1/7/2", "meta/a.array.json", "zarr.json"]);
    let chunk = bytes(&store, "data/a/c1/7/2");
    assert_eq!(chunk.len(), 5 * 20 * 400);
    assert_eq!(chunk.iter().position(|&byte| byte == 1), Some((2 * 20 + 10) * 400 + 100));
    assert!(chunk.iter().filter(|&&byte| byte != 9).count() == 1);
    // A chunk at the edge has the same size, and the fill value outside of the array.
    array.write((5..10, 180..200, 2800..3000), &[5_u8; 5 * 20 * 200]).unwrap();
    let chunk = bytes(&store, "data/a/c1/9/7");
    assert_eq!(chunk.len(), 5 * 20 * 400);
    assert!(chunk.chunks(400).all(|row| row[..200] == [5; 200] && row[200..] == [9; 200]));
}

/// Chunk memory layouts: the last dimension varies fastest in C, the first one in F.
// clause: d2022-26, d2022-72, d2022-74, d2022-76, d2022-78
#[test]
fn elements_lie_in_the_order_of_the_layout() {
    let store = memory();
    let elements: Vec<u8> = (0..12).collect();
    for (path, codecs) in [("/c", "bytes"), ("/f", "transpose(2,1,0),bytes")] {
        create(&store, path, new(&[2, 3, 2], &[2, 3, 2], codecs)).write(.., &elements).unwrap();
        assert_eq!(opened(&store, path).read::<u8>(..).unwrap(), elements);
    }
    let layout = |name: &str| member(&store, &format!("meta/{name}.array.json"), "chunk_memory_layout");
    assert_eq!((layout("c"), layout("f")), (json!("C"), json!("F")));
    assert_eq!(bytes(&store, "data/c/c0/0/0"), elements);
    assert_eq!(bytes(&store, "data/f/c0/0/0"), [0, 6, 2, 8, 4, 10, 1, 7, 3, 9, 5, 11]);
}

/// Chunk encoding: codecs apply in the order of the list. The first that takes bytes gets the elements in the order of the layout, each
/// by the default representation of its type.
// clause: d2022-33, d2022-34, d2022-36, d2022-57, d2022-78, d2022-80, d2022-82, d2022-83, d2022-84
#[test]
fn codecs_apply_in_their_order() {
    let uri = |name: &str| format!("https://purl.org/zarr/spec/codecs/{name}/1.0");
    for (layout, shuffled) in
        [("C", [0x01, 0x02, 0x04, 0x06, 0, 0, 0x03, 0x05]), ("F", [0x01, 0x04, 0x02, 0x06, 0, 0x03, 0, 0x05])]
    {
        let members = format!(
            r#""shape": [2, 2], "data_type": "int16",
            "chunk_grid": {{"type": "regular", "chunk_shape": [2, 2], "separator": "/"}},
            "codecs": [{{"type": "{}", "configuration": {{"elementsize": 2}}}}, {{"type": "{}", "configuration": {{"level": 1}}}}]"#,
            uri("shuffle"),
            uri("gzip")
        );
        let store = stored(layout, &members);
        let elements = [1_i16, 2, 0x0304, 0x0506];
        opened(&store, "/a").write(.., &elements).unwrap();
        let mut found = Vec::new();
        GzDecoder::new(&*bytes(&store, "data/a/c0/0")).read_to_end(&mut found).unwrap();
        assert_eq!(found, shuffled, "{layout}");
        // And in reverse order when decoding.
        let mut encoded = Vec::new();
        let mut encoder = flate2::write::GzEncoder::new(&mut encoded, flate2::Compression::best());
        encoder.write_all(&shuffled).unwrap();
        encoder.finish().unwrap();
        set(&store, "data/a/c0/0", &encoded);
        assert_eq!(opened(&store, "/a").read::<i16>(..).unwrap(), elements, "{layout}");
    }
    // Without codecs the value is the elements.
    let store = stored(
        "C",
        r#""shape": [2], "data_type": "int16", "chunk_grid": {"type": "regular", "chunk_shape": [2], "separator": "/"}"#,
    );
    opened(&store, "/a").write(.., &[1_i16, -2]).unwrap();
    assert_eq!(bytes(&store, "data/a/c0"), [1, 0, 0xfe, 0xff]);
}

/// Storage transformers: a list of them is a stack, which alters the keys and values of the chunks of one array, and restores them.
// clause: d2022-37, d2022-38, d2022-39, d2022-141, d2022-200, d2022-201, d2022-204, d2022-205
#[test]
fn storage_transformers_are_stacked() {
    let transformer = |counts: &str| {
        format!(
            r#"{{"extension": "https://purl.org/zarr/spec/extensions/storage_transformers/sharding/1.0", "type": "indexed",
            "configuration": {{"chunks_per_shard": {counts}}}}}"#
        )
    };
    let array = r#""shape": [4, 4], "data_type": "uint8", "chunk_grid": {"type": "regular", "chunk_shape": [1, 1], "separator": "/"}"#;
    let elements: Vec<u8> = (1..17).collect();
    for (list, count) in [
        (String::new(), 16),
        (transformer("[1, 2]"), 8),
        (format!("{}, {}", transformer("[1, 2]"), transformer("[2, 1]")), 4),
        (format!("{}, {}, {}", transformer("[2, 2]"), transformer("[1, 1]"), transformer("[2, 2]")), 1),
    ] {
        let store = stored("C", &format!(r#"{array}, "storage_transformers": [{list}]"#));
        opened(&store, "/a").write(.., &elements).unwrap();
        let below = |keys: Vec<String>| keys.into_iter().filter(|key| key.starts_with("data/")).collect::<Vec<_>>();
        assert_eq!(below(keys(&store)).len(), count, "{list}");
        assert_eq!(opened(&store, "/a").read::<u8>(..).unwrap(), elements, "{list}");
        opened(&store, "/a").write((2, 3), &[99_u8]).unwrap();
        assert_eq!(opened(&store, "/a").read::<u8>((1..3, 2..4)).unwrap(), [7, 8, 11, 99], "{list}");
        // An array beside it has its own list, or none.
        create(&store, "/b", new(&[4], &[1], "bytes")).write(.., &[1_u8, 2, 3, 4]).unwrap();
        assert_eq!(below(keys(&store)).len(), count + 4, "{list}");
    }
}

/// Operations: each sets, gets and erases the keys that the text names, and no others.
// clause: d2022-8, d2022-30, d2022-43, d2022-130, d2022-174, d2022-175, d2022-176, d2022-177, d2022-181, d2022-183,
// clause: d2022-184, d2022-185, d2022-186, d2022-187, d2022-188, d2022-189, d2022-191, d2022-193, d2022-195,
// clause: d2022-196, d2022-197, d2022-198
#[test]
fn operations_touch_the_keys_that_the_text_names() {
    let store = memory();
    group(&store, "/foo/bar");
    // Groups above are implied.
    assert_eq!(keys(&store), ["meta/foo/bar.group.json", "zarr.json"]);
    let node = |path: &str| zarr::hierarchy::open_node(&*store, path, None);
    assert!(node("/foo").unwrap().implicit && !node("/foo/bar").unwrap().implicit);
    let baz = create(&store, "/foo/baz", new(&[2, 2], &[1, 2], "bytes"));
    assert_eq!(keys(&store), ["meta/foo/bar.group.json", "meta/foo/baz.array.json", "zarr.json"]);
    // A fill value that nobody gave is a value in the document.
    assert_eq!(member(&store, "meta/foo/baz.array.json", "fill_value"), json!(0));
    // Chunks are stored and retrieved.
    baz.write((1, ..), &[3_u8, 4]).unwrap();
    assert_eq!(keys(&store)[0], "data/foo/baz/c1/0");
    assert_eq!(bytes(&store, "data/foo/baz/c1/0"), [3, 4]);
    assert_eq!(opened(&store, "/foo/baz").read::<u8>(..).unwrap(), [0, 0, 3, 4]);
    // Children, and all nodes.
    for path in ["/foo/qux/a", "/foo/quxx", "/FOO"] {
        create(&store, path, new(&[1], &[1], "bytes")).write(.., &[1_u8]).unwrap();
    }
    let children = |path: &str| {
        let children = zarr::open((&store, path)).group().unwrap().children().unwrap();
        children.nodes.iter().map(|node| node.path.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(children("/"), ["/FOO", "/foo"]);
    assert_eq!(children("/foo"), ["/foo/bar", "/foo/baz", "/foo/qux", "/foo/quxx"]);
    let all: Vec<_> = zarr::hierarchy::walk(&*store, "/", None).unwrap().nodes;
    let all: Vec<_> = all.iter().map(|node| node.path.to_string()).collect();
    let expected = ["/", "/FOO", "/foo", "/foo/bar", "/foo/baz", "/foo/qux", "/foo/qux/a", "/foo/quxx"];
    assert_eq!(all, expected);
    // Existence of an array, an explicit and an implicit group.
    for path in ["/foo/baz", "/foo/bar", "/foo/qux", "/foo"] {
        assert!(zarr::hierarchy::node_exists(&*store, path, None).unwrap(), "{path}");
    }
    for path in ["/foo/ba", "/foo/bar/x", "/baz", "/Foo"] {
        assert!(!zarr::hierarchy::node_exists(&*store, path, None).unwrap(), "{path}");
    }
    // An implicit group is erased, and no node whose name begins alike.
    let erase = |path: &str| zarr::hierarchy::erase_node(&*store, &node(path).unwrap()).unwrap();
    erase("/foo/qux");
    assert_eq!(children("/foo"), ["/foo/bar", "/foo/baz", "/foo/quxx"]);
    assert!(keys(&store).iter().all(|key| !key.contains("qux/")));
    // An array, with its chunks.
    erase("/foo/baz");
    assert!(keys(&store).iter().all(|key| !key.contains("baz")));
    // An explicit group, with what is below it.
    create(&store, "/foo/bar/x", new(&[1], &[1], "bytes")).write(.., &[1_u8]).unwrap();
    erase("/foo/bar");
    let expected = ["data/FOO/c0", "data/foo/quxx/c0", "meta/FOO.array.json", "meta/foo/quxx.array.json", "zarr.json"];
    assert_eq!(keys(&store), expected);
    assert_eq!(opened(&store, "/FOO").read::<u8>(..).unwrap(), [1]);
    assert!(node("/foo/bar").is_err_and(|error| error.is_not_found()));
}

/// A store that gets, sets and erases, and does not list.
#[derive(Debug)]
struct Unlisted(MemoryStore);

impl fmt::Display for Unlisted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a store that does not list")
    }
}

impl Store for Unlisted {
    fn call(&self, call: Call<'_>) -> zarr_store::Result<Answer> {
        match call {
            call @ (Call::Get { .. } | Call::Set { .. } | Call::Erase { .. }) => self.0.call(call),
            call => fallback_blocking(self, call),
        }
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::none().write(true)
    }

    fn access_profile(&self) -> zarr_store::AccessProfile {
        self.0.access_profile()
    }
}

/// Operations: where a store cannot list, nodes are found by their paths, and children are not.
// clause: d2022-192
#[test]
fn without_listing_nodes_are_found_by_their_paths() {
    let store: Arc<dyn Store> = Arc::new(Unlisted(MemoryStore::new()));
    set(&store, "zarr.json", ENTRY.as_bytes());
    create(&store, "/foo/baz", new(&[2], &[1], "bytes")).write(.., &[1_u8, 2]).unwrap();
    group(&store, "/foo/bar");
    assert_eq!(opened(&store, "/foo/baz").read::<u8>(..).unwrap(), [1, 2]);
    let root = zarr::open(&store).group().unwrap();
    let error = root.children().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Store, "{error}");
    assert!(error.to_string().contains("list"), "{error}");
    assert!(zarr::hierarchy::node_exists(&*store, "/foo/bar", None).unwrap());
}
