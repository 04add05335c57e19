//! Metadata made to cost more than it says: each is read in a second, in a process that may take 256 MiB more, or is an error.

use crate::bombs::{in_own_process, limit_memory};
use std::sync::Arc;
use std::time::Duration;
use zarr::store::{AsyncStore, FilesystemStore, Key, MemoryStore, Store, StoreExt, SyncAsAsync, block_on};
use zarr::{AsyncArray, ErrorKind};
use zarr_json::{Map, Value, json};

/// How long each may take of the processor, on all threads.
const DUE: Duration = Duration::from_secs(1);

#[test]
fn hostile_metadata_costs_nothing() {
    in_own_process("hostile::under_a_limit", "all hostile metadata was handled");
}

#[test]
#[ignore = "limits its process: run by the test above in one of its own"]
fn under_a_limit() {
    limit_memory();
    plans();
    chains();
    documents();
    repeated_members();
    many_members();
    links();
    println!("all hostile metadata was handled");
}

/// Runs a function, and checks that it does not take long.
fn quick<T>(what: &str, work: impl FnOnce() -> T) -> T {
    println!("{what}");
    let before = processor_time();
    let done = work();
    let taken = processor_time() - before;
    assert!(taken < DUE, "{what}: {taken:?}");
    done
}

/// The processor time of this process.
fn processor_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    // The name of the program, in parentheses, may hold anything.
    let (_, fields) = stat.rsplit_once(") ").unwrap();
    let ticks: u64 = fields.split(' ').skip(11).take(2).map(|field| field.parse::<u64>().unwrap()).sum();
    Duration::from_millis(ticks * 10)
}

fn array(changes: Value) -> String {
    let mut document = json!({
        "zarr_format": 3, "node_type": "array", "shape": [4], "data_type": "uint8", "fill_value": 0,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [4]}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "codecs": ["bytes"], "attributes": {}
    });
    let Value::Object(members) = &mut document else { unreachable!() };
    for (name, value) in changes.as_object().unwrap().clone() {
        members.insert(name, value);
    }
    document.to_string()
}

fn store(documents: &[(&str, &str)]) -> Arc<dyn Store> {
    let store = MemoryStore::new();
    for (key, document) in documents {
        store.set_all(&Key::new(key).unwrap(), document.as_bytes()).unwrap();
    }
    Arc::new(store)
}

fn regular(chunk: &[u64]) -> Value {
    json!({"name": "regular", "configuration": {"chunk_shape": (chunk.to_vec())}})
}

fn rectilinear(chunks: Value) -> Value {
    json!({"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": chunks}})
}

/// Grids of more chunks than memory has bytes.
fn plans() {
    let (huge, many) = (1_u64 << 62, 1_u64 << 40);
    for (shape, grid) in [
        (vec![huge], regular(&[1])),
        (vec![huge], regular(&[3])),
        (vec![many], rectilinear(json!([[[1, many]]]))),
        (vec![many], rectilinear(json!([1]))),
    ] {
        let store = store(&[("zarr.json", &array(json!({"shape": (shape.clone()), "chunk_grid": (grid.clone())})))]);
        let array = zarr::open(&store).array().unwrap();
        let what = format!("{shape:?} in {grid}");
        quick(&what, || {
            assert_eq!(array.read::<u8>(0..2_u64).unwrap(), [0, 0]);
            let last = shape[0] - 1;
            array.write(last, &[7_u8]).unwrap();
            assert_eq!(array.read::<u8>(last - 1..shape[0]).unwrap(), [0, 7]);
        });
        let error = quick(&what, || array.read_data(..).map(drop).unwrap_err());
        assert_eq!(error.kind(), ErrorKind::Limit, "{error}");
        let every_other = zarr_grid::Selection::parse("::2", &[]).unwrap();
        let error = quick(&what, || array.read_data(every_other).map(drop).unwrap_err());
        assert_eq!(error.kind(), ErrorKind::Limit, "{error}");
    }
    // No elements, but many chunks along an axis.
    for (shape, chunk) in [([1 << 60, 0], [1, 1]), ([0, 1 << 60], [1, 1]), ([1 << 60, 0], [7, 1])] {
        let store =
            store(&[("zarr.json", &array(json!({"shape": (shape.to_vec()), "chunk_grid": (regular(&chunk))})))]);
        let array = zarr::open(&store).array().unwrap();
        quick(&format!("{shape:?} in chunks of {chunk:?}"), || {
            if usize::try_from(shape[0].max(shape[1])).is_err() {
                // The strides of nothing are beyond 32 bits.
                assert_eq!(array.read_data(..).map(drop).unwrap_err().kind(), ErrorKind::Limit);
                return;
            }
            assert_eq!(array.read_data(..).unwrap().shape(), shape);
            let steps = zarr_grid::Selection::parse("::3, ::3", &[]).unwrap();
            assert!(array.read_data(steps).unwrap().is_empty());
            array.write(.., &[0_u8; 0]).unwrap();
        });
    }
    // Strides of nothing beyond all addresses.
    for shape in [[0, 1 << 62, 4], [1 << 62, 4, 0], [1 << 62, 0, 4]] {
        let shape: [u64; 3] = shape;
        let grid = regular(&[1, 1, 1]);
        let store = store(&[("zarr.json", &array(json!({"shape": (shape.to_vec()), "chunk_grid": grid})))]);
        let array = zarr::open(&store).array().unwrap();
        quick(&format!("{shape:?}"), || {
            assert_eq!(array.read_data(..).unwrap_err().kind(), ErrorKind::Limit);
            assert!(array.read::<u8>(..).is_err());
            assert!(array.write(.., &[0_u8; 0]).is_err());
        });
    }
}

/// Chains of many codecs, and codecs in codecs.
fn chains() {
    let transpose = json!({"name": "transpose", "configuration": {"order": [0]}});
    let chain = |first: &Value, count: usize, last: &[&str]| {
        let codecs = std::iter::repeat_n(first.clone(), count).chain(last.iter().map(|&name| Value::from(name)));
        Value::Array(codecs.collect())
    };
    let nested = |levels: usize, name: &str, member: &str, others: Value| {
        (0..levels).fold(json!(["bytes"]), |codecs, _| {
            let mut configuration = others.clone();
            let Value::Object(members) = &mut configuration else { unreachable!() };
            members.insert(member, codecs);
            json!([{"name": name, "configuration": configuration}])
        })
    };
    let sharding = json!({"chunk_shape": [4], "index_codecs": ["bytes"]});
    let conditional = |levels: usize| {
        let inner = (0..levels)
            .fold(json!(["crc32c"]), |codecs, _| json!([{"name": "conditional", "configuration": {"codecs": codecs}}]));
        Value::Array([json!("bytes")].into_iter().chain(inner.as_array().unwrap().to_vec()).collect())
    };
    let delta = json!({"id": "delta", "dtype": "<i4"});
    let v2 = |count: usize| {
        json!({"zarr_format": 2, "shape": [4], "chunks": [4], "dtype": "<i4", "fill_value": 0, "order": "C",
            "compressor": null, "filters": (chain(&delta, count, &[]))})
        .to_string()
    };
    let v3 = |codecs: Value| array(json!({"codecs": codecs}));
    let many_in_a_shard = json!([{"name": "sharding_indexed", "configuration": {
        "chunk_shape": [4], "index_codecs": ["bytes"], "codecs": (chain(&transpose, 2000, &["bytes"]))
    }}]);
    for (what, key, document, found) in [
        ("transposes", "zarr.json", v3(chain(&transpose, 2000, &["bytes"])), "2001 codecs, the limit is 64"),
        ("transposes in a shard", "zarr.json", v3(many_in_a_shard), "2001 codecs, the limit is 64"),
        ("checksums", "zarr.json", v3(chain(&json!("bytes"), 1, &["crc32c"; 70])), "71 codecs, the limit is 64"),
        ("filters", ".zarray", v2(9000), "9001 codecs, the limit is 64"),
        (
            "shards",
            "zarr.json",
            v3(nested(40, "sharding_indexed", "codecs", sharding.clone())),
            "9 levels deep, the limit is 8",
        ),
        ("conditions", "zarr.json", v3(conditional(40)), "9 levels deep, the limit is 8"),
    ] {
        let store = store(&[(key, &document)]);
        let error = quick(what, || zarr::open(&store).array().map(drop).unwrap_err());
        assert_eq!(error.kind(), ErrorKind::InvalidMetadata, "{error}");
        assert!(error.message().contains(found), "{error}");
        assert!(error.location().pointer.is_some() || error.message().contains("/codecs"), "{error}");
        let registry = Arc::new(zarr::registry::default());
        let asynchronous: Arc<dyn AsyncStore> = Arc::new(SyncAsAsync::new(store));
        let error = quick(what, || block_on(AsyncArray::open(&asynchronous, "/", &registry)).map(drop).unwrap_err());
        assert!(error.message().contains(found), "{error}");
    }
    // As many as there may be: they fit the stack of a thread.
    let most = |levels: usize| {
        (0..levels).fold(chain(&transpose, 63, &["bytes"]), |codecs, _| {
            let inner = json!({"name": "sharding_indexed", "configuration":
                {"chunk_shape": [4], "index_codecs": ["bytes"], "codecs": codecs}});
            chain(&transpose, 63, &[]).as_array().unwrap().iter().cloned().chain([inner]).collect::<Vec<_>>().into()
        })
    };
    for (key, document) in [(".zarray", v2(63)), ("zarr.json", v3(most(8)))] {
        let store = store(&[(key, &document)]);
        quick("as many as there may be", || {
            let array = zarr::open(&store).array().unwrap();
            let zeros = array.read_data(..).unwrap();
            let data = vec![1; zeros.items().len()];
            let view = |bytes| zarr::codec::View::new(bytes, zeros.items().len() / 4, &[4]).unwrap();
            array.write(.., view(&data)).unwrap();
            assert_eq!(array.read_data(..).unwrap().items(), data);
        });
    }
}

/// Documents that are larger than may be, wherever they are read.
fn documents() {
    let folder = tempfile::tempdir().unwrap();
    let group = r#"{"zarr_format": 2}"#;
    let huge = |key: &str| {
        let path = folder.path().join(key);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::File::create(path).unwrap().set_len(1 << 30).unwrap();
    };
    let small = |key: &str, text: &str| {
        let path = folder.path().join(key);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    small(".zgroup", group);
    huge(".zmetadata");
    huge("v3/zarr.json");
    huge("v2/.zarray");
    small("attributes/.zgroup", group);
    huge("attributes/.zattrs");
    small("sound/.zgroup", group);
    let store: Arc<dyn Store> = Arc::new(FilesystemStore::open(folder.path()).unwrap());
    let is_limit = |error: &zarr::Error| {
        assert_eq!(error.kind(), ErrorKind::Limit, "{error}");
        assert!(error.message().contains("16777217 bytes or more, expected at most 16777216"), "{error}");
        assert!(error.location().key.is_some(), "{error}");
    };
    for path in ["/v3", "/v2"] {
        is_limit(&quick(path, || zarr::open((&store, path)).array().map(drop).unwrap_err()));
    }
    quick("attributes", || is_limit(&zarr::open((&store, "/attributes")).group().unwrap().attributes().unwrap_err()));
    let walk = quick("a walk", || zarr::hierarchy::walk(&*store, "/", None).unwrap());
    let paths: Vec<_> = walk.nodes.iter().map(|node| node.path.to_string()).collect();
    assert_eq!(paths, ["/", "/attributes", "/sound"]);
    assert_eq!(walk.broken.len(), 2, "one of each dialect: {:?}", walk.broken);
    walk.broken.iter().chain(&walk.bad_consolidated).for_each(is_limit);
    assert_eq!(walk.bad_consolidated.len(), 1);
    is_limit(&quick("staleness", || zarr::hierarchy::staleness(&*store, "/", None).unwrap_err()));
    let migrated = quick("a migration", || {
        let folder = tempfile::tempdir().unwrap();
        let target: Arc<dyn Store> = Arc::new(FilesystemStore::create(folder.path()).unwrap());
        let registry = Arc::new(zarr::registry::default());
        zarr::convert::Transfer::of(&store, "/v2").in_store(&target).to("/v2").copy(&registry).map(drop).unwrap_err()
    });
    is_limit(&migrated);
    let asynchronous: Arc<dyn AsyncStore> = Arc::new(SyncAsAsync::new(store));
    let registry = Arc::new(zarr::registry::default());
    is_limit(&quick("async", || block_on(AsyncArray::open(&asynchronous, "/v3", &registry)).map(drop).unwrap_err()));
    let walk = quick("an async walk", || block_on(zarr_hierarchy::walk_async(&*asynchronous, "/", None)).unwrap());
    assert_eq!((walk.nodes.len(), walk.broken.len(), walk.bad_consolidated.len()), (3, 2, 1));
}

/// Members of one name, which version 2 takes in attributes, and NaN literals.
fn repeated_members() {
    let object = |members: &[String]| format!("{{{}}}", members.join(","));
    let same: Vec<_> = (0..200_000).map(|value| format!("\"a\":{value}")).collect();
    let few: Vec<_> = (0..300).map(|value| format!("\"a\":{value}")).collect();
    let objects: Vec<_> = (0..1000).map(|name| format!("\"o{name}\":{}", object(&few))).collect();
    let twice: Vec<_> = (0..100_000).map(|name| format!("\"m{}\":{name}", name % 50_000)).collect();
    let tokens = format!("{{\"a\":[{}]}}", vec!["NaN"; 200_000].join(",\n"));
    let lines: Vec<_> = (0..100_000).map(|value| format!("\n\n\"a\":{value}")).collect();
    for (what, attributes, warnings) in [
        ("a member again and again", object(&same), 1),
        ("objects of such members", object(&objects), 1000),
        ("many members twice", object(&twice), 50_000),
        ("NaN literals", tokens, 200_000),
        ("lines", object(&lines), 1),
    ] {
        let store = store(&[(".zgroup", r#"{"zarr_format": 2}"#), (".zattrs", &attributes)]);
        let found = quick(what, || zarr::hierarchy::open_node(&*store, "/", None).unwrap());
        assert_eq!(found.warnings.len(), warnings, "{what}");
    }
    // A long name, of which each thing in it has a pointer.
    let long = format!("{{\"{}\":[{}]}}", "n".repeat(1 << 20), vec!["NaN"; 1 << 20].join(","));
    let store = store(&[(".zgroup", r#"{"zarr_format": 2}"#), (".zattrs", &long)]);
    let found = quick("pointers of a mebibyte", || zarr::hierarchy::open_node(&*store, "/", None).unwrap());
    let error = found.attributes_error.unwrap();
    assert!(error.found().contains("after 31 deviations from JSON"), "{error}");
}

/// Structs of many fields, and objects of many members.
fn many_members() {
    const COUNT: u64 = 100_000;
    let names = || (0..COUNT).map(|number| format!("f{number}"));
    let fields: Vec<_> = names().map(|name| json!({"name": (name.as_str()), "data_type": "uint8"})).collect();
    let data_type = json!({"name": "struct", "configuration": {"fields": fields}});
    // Not in the order of the fields, so that looking where it should be does not help.
    let fill: Map = names().map(|name| (name, Value::from(1))).collect::<Vec<_>>().into_iter().rev().collect();
    let store = store(&[("zarr.json", &array(json!({"data_type": data_type, "fill_value": (Value::Object(fill))})))]);
    let array = quick("a struct", || zarr::open(&store).array().unwrap());
    quick("an element", || assert_eq!(array.read_data(0).unwrap().items(), vec![1; COUNT as usize]));

    let mut v2 = String::from(
        r#"{"zarr_format": 2, "shape": [4], "chunks": [4], "order": "C", "compressor": null, "filters": null"#,
    );
    let dtype: Vec<_> = names().map(|name| format!("[\"{name}\", \"|u1\"]")).collect();
    v2.push_str(&format!(", \"fill_value\": null, \"dtype\": [{}]", dtype.join(",")));
    names().for_each(|name| v2.push_str(&format!(", \"{name}\": 1")));
    v2.push('}');
    let store = self::store(&[(".zarray", &v2)]);
    quick("a struct in version 2, and unknown members", || zarr::hierarchy::open_node(&*store, "/", None).unwrap());
}

/// Links to directories above, of which each would double the nodes of a walk.
fn links() {
    let folder = tempfile::tempdir().unwrap();
    let group = r#"{"zarr_format": 3, "node_type": "group"}"#;
    for path in ["", "a", "a/b", "c"] {
        std::fs::create_dir_all(folder.path().join(path)).unwrap();
        std::fs::write(folder.path().join(path).join("zarr.json"), group).unwrap();
    }
    for (link, target) in
        [("a/one", ".."), ("a/two", ".."), ("a/self", "."), ("c/across", "../a"), ("a/b/top", "../..")]
    {
        std::os::unix::fs::symlink(target, folder.path().join(link)).unwrap();
    }
    let store: Arc<dyn Store> = Arc::new(FilesystemStore::open(folder.path()).unwrap());
    let walk = quick("links", || zarr::hierarchy::walk(&*store, "/", None).unwrap());
    let paths: Vec<_> = walk.nodes.iter().map(|node| node.path.to_string()).collect();
    assert_eq!(paths, ["/", "/a", "/a/b", "/c", "/c/across", "/c/across/b"]);
    assert!(walk.broken.is_empty(), "{:?}", walk.broken);
}
