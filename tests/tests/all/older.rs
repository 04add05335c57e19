//! Stores of Zarr before v2, and of the protocol drafts: made, extended, and read where their writers left it open how.

use std::io::Read;
use std::sync::Arc;
use zarr_array::{Array, ErrorKind, Group, NewArray, NewGroup, Options};
use zarr_convert::{Conversion, ConvertOptions};
use zarr_dtype::DataType;
use zarr_json::{NamedConfig, Value, json};
use zarr_meta::Dialect;
use zarr_store::{Key, MemoryStore, Prefix, Store, StoreExt};

fn store(values: &[(&str, &[u8])]) -> Arc<dyn Store> {
    let store = MemoryStore::new();
    for (key, value) in values {
        store.set_all(&Key::new(key).unwrap(), value).unwrap();
    }
    Arc::new(store)
}

fn keys(store: &Arc<dyn Store>) -> Vec<String> {
    store.list_prefix(&Prefix::root()).unwrap().iter().map(ToString::to_string).collect()
}

fn document(store: &Arc<dyn Store>, key: &str) -> Value {
    let bytes = store.get_all(&Key::new(key).unwrap()).unwrap().unwrap();
    Value::from_json(std::str::from_utf8(&bytes).unwrap()).unwrap()
}

fn codec(name: &str, configuration: Value) -> NamedConfig {
    NamedConfig::with(name, configuration.as_object().cloned().unwrap())
}

/// The session in the text of version 1, section "Examples".
// clause: v1-4, v1-21, v1-22, v1-24, v1-26, v1-27, v1-28, v1-32, v1-33, v1-35, v1-36, v1-37, v1-38, v1-39, v1-40,
// clause: v1-41, v1-42, v1-43
#[test]
fn the_session_of_version_1() {
    let store = store(&[]);
    let zlib = codec("numcodecs.zlib", json!({"level": 1}));
    let new =
        NewArray::new(&[20, 20], "<i4").chunks(&[10, 10]).codecs(vec![zlib]).unwrap().fill(42).dialect(Dialect::V1);
    let mut array = Array::create(&store, "/", new, &zarr::registry::default()).unwrap();
    assert_eq!(keys(&store), ["attrs", "meta"]);
    let meta = json!({
        "chunks": [10, 10], "compression": "zlib", "compression_opts": 1, "dtype": "<i4", "fill_value": 42, "order": "C",
        "shape": [20, 20], "zarr_format": 1
    });
    assert_eq!(document(&store, "meta").to_string(), meta.to_string());
    assert_eq!(document(&store, "attrs"), json!({}));
    array.write((0..10, 0..10), &[1_i32; 100]).unwrap();
    assert_eq!(keys(&store), ["0.0", "attrs", "meta"]);
    // The value is what zlib makes of the elements, and nothing else; a chunk that is not there is filled.
    let mut decompressed = Vec::new();
    let chunk = store.get_all(&Key::new("0.0").unwrap()).unwrap().unwrap();
    let mut decoder = flate2::read::ZlibDecoder::new(&*chunk);
    decoder.read_to_end(&mut decompressed).unwrap();
    assert_eq!((decompressed, decoder.total_in()), (1_i32.to_le_bytes().repeat(100), chunk.len() as u64));
    assert_eq!(array.read::<i32>((9..11, 9)).unwrap(), [1, 42]);
    array.write((0..10, 10..20), &[2_i32; 100]).unwrap();
    array.write((10..20, ..), &[3_i32; 200]).unwrap();
    assert_eq!(keys(&store), ["0.0", "0.1", "1.0", "1.1", "attrs", "meta"]);
    let attributes = json!({"foo": 42, "bar": "apples", "baz": [1, 2, 3, 4]});
    array.set_attributes(attributes.as_object().cloned().unwrap()).unwrap();
    assert_eq!(document(&store, "attrs"), attributes);
    let again = zarr::open(&store).array().unwrap();
    assert_eq!(again.dialect(), Dialect::V1);
    let corner = again.read::<i32>((9..11, 9..11)).unwrap();
    assert_eq!(corner.into_iter().collect::<Vec<_>>(), [1, 2, 3, 3]);
    again.erase().unwrap();
    assert!(keys(&store).is_empty());
}

/// A store of version 1 is one array, and no hierarchy.
// clause: v1-44
#[test]
fn nothing_lies_below_an_array_of_version_1() {
    let store = store(&[]);
    let new = || NewArray::new(&[2], "int8").dialect(Dialect::V1);
    Array::create(&store, "/", new(), &zarr::registry::default()).unwrap();
    let below = || NewArray::new(&[2], "int8").dialect(Dialect::V1);
    assert_eq!(
        Array::create(&store, "/a", below(), &zarr::registry::default()).unwrap_err().kind(),
        ErrorKind::Argument
    );
    let empty: Arc<dyn Store> = Arc::new(MemoryStore::new());
    assert_eq!(Array::create(&empty, "/a", below(), &zarr::registry::default()).unwrap_err().kind(), ErrorKind::Path);
}

/// The example in the text of version 1, section "Metadata", and in section "Chunks": keys, and the header of blosc.
// clause: v1-15, v1-23, v1-25
#[test]
fn the_example_of_version_1_has_chunks_of_blosc() {
    let meta = br#"{"chunks": [1000, 1000], "compression": "blosc", "compression_opts": {"clevel": 5, "cname": "lz4", "shuffle": 1},
        "dtype": "<f8", "fill_value": null, "order": "C", "shape": [10000, 10000], "zarr_format": 1}"#;
    let store = store(&[("meta", meta), ("attrs", b"{}")]);
    let array = zarr::open(&store).array().unwrap();
    assert_eq!([0, 1].map(|axis| array.chunk_grid().chunk_count(axis)), [10, 10]);
    array.write((0, 0), &[1.5_f64]).unwrap();
    array.write((2999, 4000), &[2.5_f64]).unwrap();
    assert_eq!(keys(&store), ["0.0", "2.4", "attrs", "meta"]);
    let chunk = store.get_all(&Key::new("2.4").unwrap()).unwrap().unwrap();
    let number = |at: usize| u32::from_le_bytes(chunk[at..at + 4].try_into().unwrap());
    // Sizes of the elements and of the value are in the 16 bytes of the header.
    assert_eq!((chunk[0], chunk[3], number(4), number(12)), (2, 8, 8_000_000, u32::try_from(chunk.len()).unwrap()));
    assert_eq!(array.read::<f64>((2999, 4000)).unwrap(), [2.5]);
}

/// Chunks have one shape; what lies outside of the array is undefined by the text, and written as the fill value.
// clause: v1-8, v1-30, v1-31
#[test]
fn chunks_of_version_1_overhang_the_array() {
    let store = store(&[]);
    let new = NewArray::new(&[3, 3], "<i2").chunks(&[2, 2]).codecs("bytes").unwrap().fill(7).dialect(Dialect::V1);
    let array = Array::create(&store, "/", new, &zarr::registry::default()).unwrap();
    array.write(.., &[1_i16, 2, 3, 4, 5, 6, 7, 8, 9]).unwrap();
    assert_eq!(keys(&store), ["0.0", "0.1", "1.0", "1.1", "attrs", "meta"]);
    for (key, elements) in [("0.0", [1, 2, 4, 5]), ("0.1", [3, 7, 6, 7]), ("1.0", [7, 8, 7, 7]), ("1.1", [9, 7, 7, 7])]
    {
        let chunk = store.get_all(&Key::new(key).unwrap()).unwrap().unwrap();
        assert_eq!(*chunk, elements.map(i16::to_le_bytes).concat(), "{key}");
    }
    // Other elements there mean nothing, and a chunk that is too short is an error.
    store.set_all(&Key::new("1.1").unwrap(), &[1, 0, 2, 0, 3, 0, 4, 0]).unwrap();
    assert_eq!(array.read::<i16>((1.., 1..)).unwrap(), [5, 6, 8, 1]);
    store.set_all(&Key::new("0.0").unwrap(), &[1, 0]).unwrap();
    assert_eq!(array.read::<i16>(..).unwrap_err().kind(), ErrorKind::CorruptChunk);
}

#[test]
fn version_0_is_written_too() {
    let store = store(&[]);
    let new = NewArray::new(&[4, 4], "<f8").chunks(&[2, 4]).dialect(Dialect::V0);
    let array = Array::create(&store, "/", new, &zarr::registry::default()).unwrap();
    array.write((0..2, ..), &[1.5_f64; 8]).unwrap();
    assert_eq!(keys(&store), ["__zdata__/0.0.blosc", "__zmeta__"]);
    assert_eq!(zarr::open(&store).array().unwrap().read::<f64>((1, 1)).unwrap().into_iter().next(), Some(1.5));
}

// clause: v1-13
#[test]
fn the_order_of_version_1_is_as_given() {
    let meta = br#"{"zarr_format": 1, "shape": [2, 2], "chunks": [2, 2], "dtype": "|u1", "compression": "none",
        "compression_opts": null, "fill_value": 0, "order": "F"}"#;
    let store = store(&[("meta", meta), ("attrs", b"{}"), ("0.0", &[1, 2, 3, 4])]);
    let found = zarr::hierarchy::open_node(&*store, "/", None).unwrap();
    for (v1_f_order_is_c, values) in [(false, [1, 3, 2, 4]), (true, [1, 2, 3, 4])] {
        let options = Options::default().v1_f_order_is_c(v1_f_order_is_c);
        let array = Array::from_found(&store, found.clone(), &zarr::registry::default(), options).unwrap();
        assert_eq!(array.read::<u8>(..).unwrap().into_iter().collect::<Vec<_>>(), values);
        assert_eq!(array.warnings().is_empty(), v1_f_order_is_c);
    }
}

const JULY: &[u8] = br#"{"zarr_format": "https://purl.org/zarr/spec/protocol/core/3.0",
    "metadata_encoding": "application/json", "extensions": []}"#;
const SEPTEMBER: &[u8] = br#"{"zarr_format": "https://purl.org/zarr/spec/protocol/core/3.0",
    "metadata_encoding": "https://purl.org/zarr/spec/protocol/core/3.0", "extensions": []}"#;
const PYTHON: &[u8] =
    br#"{"zarr_format": "https://purl.org/zarr/spec/protocol/core/3.0", "metadata_key_suffix": ".json",
    "metadata_encoding": "https://purl.org/zarr/spec/protocol/core/3.0", "extensions": []}"#;

#[test]
fn a_hierarchy_of_the_protocol_drafts_is_extended_in_its_own_form() {
    for (entry, array_key, chunk, scalar) in [
        (JULY, "meta/root/g/a.array", "data/g/a/0.0", "data/g/s/0"),
        (SEPTEMBER, "meta/root/g/a.array", "data/root/g/a/c0/0", "data/root/g/s/c"),
        (PYTHON, "meta/root/g/a.array.json", "data/root/g/a/c0/0", "data/root/g/s/c0"),
    ] {
        let store = store(&[("zarr.json", entry)]);
        let registry = zarr::registry::default();
        let new = |shape: &[u64]| NewArray::new(shape, "int32").chunks(shape).dialect(Dialect::V3Protocol2020);
        Array::create(&store, "/g/a", new(&[2, 2]), &registry).unwrap().write(.., &[1, 2, 3, 4]).unwrap();
        Array::create(&store, "/g/s", new(&[]), &registry).unwrap().write(.., &[7]).unwrap();
        let sharded = new(&[4]).chunks(&[1]).shards(&[2]);
        Array::create(&store, "/g/t", sharded, &registry).unwrap().write(.., &[1, 2, 3, 4]).unwrap();
        assert_eq!(
            zarr::open((&store, "/g/t")).array().unwrap().read::<i32>((3,)).unwrap().into_iter().next(),
            Some(4)
        );
        zarr::open((&store, "/g/t")).array().unwrap().erase().unwrap();
        Group::create(&store, "/h", NewGroup::default().dialect(Dialect::V3Protocol2020), &registry).unwrap();
        let mut expected = vec![
            "zarr.json".to_owned(),
            array_key.to_owned(),
            array_key.replace("g/a.", "g/s."),
            array_key.replace("g/a.array", "h.group"),
            chunk.to_owned(),
            scalar.to_owned(),
        ];
        expected.sort();
        assert_eq!(keys(&store), expected);
        assert_eq!(store.get_all(&Key::new("zarr.json").unwrap()).unwrap().unwrap(), entry);
        let again = zarr::open((&store, "/g/a")).array().unwrap().read::<i32>(..).unwrap();
        assert_eq!(again.into_iter().collect::<Vec<_>>(), [1, 2, 3, 4]);
        assert_eq!(zarr::open((&store, "/g/s")).array().unwrap().read::<i32>(..).unwrap().into_iter().next(), Some(7));
    }
}

#[test]
fn chunks_of_the_protocol_drafts_are_found_where_they_lie() {
    let array =
        br#"{"shape": [4], "data_type": "u1", "chunk_grid": {"type": "regular", "chunk_shape": [2], "separator": "/"},
        "chunk_memory_layout": "C", "fill_value": 9, "extensions": [], "attributes": {}}"#;
    let scalar =
        br#"{"shape": [], "data_type": "u1", "chunk_grid": {"type": "regular", "chunk_shape": [], "separator": "/"},
        "chunk_memory_layout": "C", "fill_value": 9, "extensions": [], "attributes": {}}"#;
    let documents = [("zarr.json", PYTHON), ("meta/root/a.array.json", array), ("meta/root/s.array.json", scalar)];
    let all = |key: &str, value: &'static [u8]| {
        let store = store(&documents);
        store.set_all(&Key::new(key).unwrap(), value).unwrap();
        store
    };
    let read = |store: &Arc<dyn Store>, path: &str| {
        zarr::open((store, path)).array().unwrap().read::<u8>(..).unwrap().into_iter().collect::<Vec<_>>()
    };
    for key in ["data/root/s/c", "data/root/s/c0", "data/s/c", "data/s/c0"] {
        let store = all(key, &[5]);
        assert_eq!(read(&store, "/s"), [5], "{key}");
        // Chunks are written under the same key.
        zarr::open((&store, "/s")).array().unwrap().write(.., &[6_u8]).unwrap();
        assert_eq!(keys(&store).iter().filter(|key| key.starts_with("data/")).collect::<Vec<_>>(), [key]);
        assert_eq!(read(&store, "/s"), [6], "{key}");
    }
    for prefix in ["data/root/a/", "data/a/"] {
        let store = all(&format!("{prefix}c1"), &[5, 6]);
        assert_eq!(read(&store, "/a"), [9, 9, 5, 6], "{prefix}");
        let array = zarr::open((&store, "/a")).array().unwrap();
        array.write(0..1, &[1_u8]).unwrap();
        assert_eq!(read(&store, "/a"), [1, 9, 5, 6], "{prefix}");
        let stored: Vec<_> = array.stored_chunks().unwrap().iter().map(|chunk| chunk[0]).collect();
        assert_eq!(stored, [0, 1], "{prefix}");
    }
}

#[test]
fn a_hierarchy_of_the_drafts_that_is_converted_keeps_its_form() {
    for entry in [JULY, SEPTEMBER, PYTHON] {
        let source = store(&[("zarr.json", entry)]);
        let new = NewArray::new(&[3], "int32").chunks(&[3]).dialect(Dialect::V3Protocol2020);
        Array::create(&source, "/a", new, &zarr::registry::default()).unwrap().write(.., &[1, 2, 3]).unwrap();
        let options = ConvertOptions::default().dialect(Dialect::V3Protocol2020).chunks(vec![2]);
        let target = store(&[]);
        Conversion::plan(&source, &zarr::registry::default(), options).unwrap().run(&target, |_| {}).unwrap();
        assert_eq!(target.get_all(&Key::new("zarr.json").unwrap()).unwrap().unwrap(), entry);
        let array = zarr::open((&target, "/a")).array().unwrap();
        assert_eq!(array.read::<i32>(..).unwrap().into_iter().collect::<Vec<_>>(), [1, 2, 3]);
    }
}

// clause: d2022-115, d2022-116
#[test]
fn fallbacks_of_data_types_are_reported_and_may_be_refused() {
    let cases = zarr_tests::cases("v3-draft-2022").unwrap();
    let url = cases.iter().find(|case| case.name == "data_type_extension").unwrap().url();
    let source = zarr::store::open(&url).unwrap();
    let array = zarr::open((&source, "/unknown_one")).array().unwrap();
    assert!(array.warnings().iter().any(|warning| warning.what.contains("fallback")), "{:?}", array.warnings());
    let refusing = Options::default().refuse_fallbacks(true);
    let error = array.with(refusing.clone()).unwrap_err();
    assert_eq!((error.kind(), error.location().path.as_deref()), (ErrorKind::UnknownExtension, Some("/unknown_one")));
    let options = ConvertOptions::default().node(array.path().clone()).options(refusing.clone());
    let error = Conversion::plan(&source, &zarr::registry::default(), options).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UnknownExtension);
    // The user may know better.
    let of = |name: &str| Options::default().fallback_type(NamedConfig::new(name));
    let better = array.with(of("float16")).unwrap();
    assert_eq!((better.data_type(), better.metadata()), (&DataType::Float16, array.metadata()));
    let items = |array: &Array| array.read_data(..).unwrap().items().to_vec();
    assert_eq!(items(&better), items(&array));
    assert_eq!(array.with(of("int8")).unwrap_err().kind(), ErrorKind::Argument);
    // A type that is known needs none.
    let known = zarr::open((&source, "/datetime")).array().unwrap();
    assert!(known.with(refusing).unwrap().warnings().iter().all(|warning| !warning.what.contains("fallback")));
}

#[test]
fn dates_as_fill_values_of_version_2_are_counted() {
    for (unit, date, count) in
        [("Y", "1971", 1_i64), ("D", "1970-01-03", 2), ("ns", "1970-01-01T00:00:00.000000005", 5)]
    {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let document = format!(
            r#"{{"zarr_format":2,"shape":[2],"chunks":[2],"dtype":"<M8[{unit}]","fill_value":"{date}","order":"C",
                "filters":null,"compressor":null}}"#
        );
        store.set_all(&Key::new(".zarray").unwrap(), document.as_bytes()).unwrap();
        let read = |store: &Arc<dyn Store>| zarr::open(store).array().unwrap().read::<i64>(..).unwrap();
        assert_eq!(read(&store), [count; 2]);
        let target: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let options = ConvertOptions::default().dialect(Dialect::V3);
        Conversion::plan(&store, &zarr::registry::default(), options).unwrap().run(&target, |_| {}).unwrap();
        assert_eq!(read(&target), [count; 2]);
        let array = zarr::open(&target).array().unwrap();
        assert_eq!(array.metadata().fill_value, Some(json!(count)));
    }
}

/// The section "Protocol operations" of the first draft: each touches the keys that the text names, and no others.
// clause: p2019-1, p2019-10, p2019-14, p2019-15, p2019-24, p2019-43, p2019-44, p2019-46, p2019-47, p2019-48,
// clause: p2019-49, p2019-50, p2019-51, p2019-52, p2019-53, p2019-54, p2019-55, p2019-56, p2019-57, p2019-58,
// clause: p2019-59, p2019-60, p2019-61, p2019-62, p2019-63, p2019-64
#[test]
fn the_operations_of_the_first_protocol_draft() {
    let store = store(&[]);
    let registry = zarr::registry::default();
    let group = || NewGroup::default().dialect(Dialect::V3Protocol2019);
    let array = |shape: &[u64]| NewArray::new(shape, "uint8").chunks(&[2, 2]).dialect(Dialect::V3Protocol2019);
    let is_there = |path: &str| zarr::hierarchy::node_exists(&*store, path, None).unwrap();
    // Groups above a node are implied.
    Group::create(&store, "/foo/bar", group(), &registry).unwrap();
    assert_eq!(keys(&store), ["meta/foo.g/bar.g/group.json"]);
    let eggs = Array::create(&store, "/spam/eggs", array(&[4, 4]), &registry).unwrap();
    assert_eq!(keys(&store), ["meta/foo.g/bar.g/group.json", "meta/spam.g/eggs.a/array.json"]);
    // Elements are stored and retrieved.
    eggs.write((2..4, 0..2), &[1_u8, 2, 3, 4]).unwrap();
    assert_eq!(keys(&store)[0], "data/spam.g/eggs.a/1.0");
    let read = || zarr::open((&store, "/spam/eggs")).array().unwrap().read::<u8>((2, ..)).unwrap();
    assert_eq!(read(), [1, 2, 0, 0]);
    // Nodes are listed.
    let root = zarr::open(&store).group().unwrap();
    let children: Vec<_> = root.children().unwrap().nodes.iter().map(|node| node.path.to_string()).collect();
    assert_eq!(children, ["/foo", "/spam"]);
    let walk = zarr::hierarchy::walk(&*store, "/", None).unwrap();
    let nodes: Vec<_> =
        walk.nodes.iter().map(|node| (node.path.to_string(), node.node.as_array().is_some(), node.implicit)).collect();
    let expected = [
        ("/", false, true),
        ("/foo", false, true),
        ("/foo/bar", false, false),
        ("/spam", false, true),
        ("/spam/eggs", true, false),
    ];
    assert_eq!(nodes, expected.map(|(path, is_array, implicit)| (path.to_owned(), is_array, implicit)));
    for (path, found) in
        [("/spam/eggs", true), ("/spam", true), ("/foo/bar", true), ("/bar", false), ("/spam/egg", false)]
    {
        assert_eq!(is_there(path), found, "{path}");
    }
    // An array has another shape, and attributes.
    let mut eggs = zarr::open((&store, "/spam/eggs")).array().unwrap();
    eggs.resize(&[3, 2]).unwrap();
    assert_eq!(document(&store, "meta/spam.g/eggs.a/array.json").get("shape"), Some(&json!([3, 2])));
    eggs.set_attributes(json!({"units": "K"}).as_object().cloned().unwrap()).unwrap();
    let found = zarr::hierarchy::open_node(&*store, "/spam/eggs", None).unwrap();
    assert_eq!(found.attributes().unwrap().get("units"), Some(&json!("K")));
    assert_eq!(read(), [1, 2]);
    // An array is replaced by an array, that by a group, and that by an array.
    let new = array(&[2, 2]).overwrite(true);
    Array::create(&store, "/spam/eggs", new, &registry).unwrap();
    assert_eq!(keys(&store), ["meta/foo.g/bar.g/group.json", "meta/spam.g/eggs.a/array.json"]);
    Group::create(&store, "/spam/eggs", group().overwrite(true), &registry).unwrap();
    assert_eq!(keys(&store), ["meta/foo.g/bar.g/group.json", "meta/spam.g/eggs.g/group.json"]);
    Array::create(&store, "/spam/eggs/x", array(&[2, 2]), &registry).unwrap().write(.., &[1_u8, 2, 3, 4]).unwrap();
    Array::create(&store, "/spam/eggs", array(&[2, 2]).overwrite(true), &registry).unwrap();
    assert_eq!(keys(&store), ["meta/foo.g/bar.g/group.json", "meta/spam.g/eggs.a/array.json"]);
    // An array and a group are erased by their prefixes, and no node whose name begins alike.
    let erase = |path: &str| {
        let found = zarr::hierarchy::open_node(&*store, path, None).unwrap();
        zarr::hierarchy::erase_node(&*store, &found).unwrap();
    };
    Array::create(&store, "/spam/eggs2", array(&[2, 2]), &registry).unwrap().write(.., &[1_u8, 2, 3, 4]).unwrap();
    erase("/spam/eggs");
    Array::create(&store, "/foo/bar/y", array(&[2, 2]), &registry).unwrap().write(.., &[1_u8, 2, 3, 4]).unwrap();
    erase("/foo");
    assert_eq!(keys(&store), ["data/spam.g/eggs2.a/0.0", "meta/spam.g/eggs2.a/array.json"]);
}

/// Sections "Chunk memory layouts" and "Codecs" of the first draft: the order of elements, and a chain of a checksum and a compressor.
// clause: p2019-17, p2019-18, p2019-19, p2019-20
#[test]
fn chunks_of_the_first_protocol_draft_are_encoded_by_its_document() {
    let store = store(&[]);
    let create = |path: &str, codecs: &str| {
        let new = NewArray::new(&[2, 3], "uint8").chunks(&[2, 3]).codecs(codecs).unwrap();
        let array =
            Array::create(&store, path, new.dialect(Dialect::V3Protocol2019), &zarr::registry::default()).unwrap();
        array.write(.., &[1_u8, 2, 3, 4, 5, 6]).unwrap();
        let key = format!("data/{}.a/0.0", &path[1..]);
        assert_eq!(zarr::open((&store, path)).array().unwrap().read::<u8>(..).unwrap(), [1, 2, 3, 4, 5, 6]);
        store.get_all(&Key::new(&key).unwrap()).unwrap().unwrap()
    };
    assert_eq!(*create("/c", "bytes"), [1, 2, 3, 4, 5, 6]);
    assert_eq!(*create("/f", "transpose(1,0),bytes"), [1, 4, 2, 5, 3, 6]);
    let mut checked = Vec::new();
    flate2::read::GzDecoder::new(&*create("/z", "bytes,crc32,gzip(1)")).read_to_end(&mut checked).unwrap();
    let mut crc = flate2::Crc::new();
    crc.update(&[1, 2, 3, 4, 5, 6]);
    assert_eq!(checked, [&crc.sum().to_le_bytes()[..], &[1, 2, 3, 4, 5, 6]].concat());
    let uri = |name: &str| format!("http://purl.org/zarr/spec/codec/{name}");
    let chain = document(&store, "meta/z.a/array.json").get("chunk_codecs").cloned().unwrap();
    let names: Vec<_> = chain.as_array().unwrap().iter().map(|codec| codec.get("codec").cloned().unwrap()).collect();
    assert_eq!(names, [json!(uri("crc32")), json!(uri("gzip"))]);
}
