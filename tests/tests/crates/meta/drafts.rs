//! Laws of every document of the core draft of 2022 and of the first protocol draft.

use super::arbitrary::{attributes, value, zarray};
use super::store::Store;
use proptest::prelude::*;
use zarr_json::{Map, Value, json};
use zarr_meta::{Dialect, Documents, Node, NodePath, documents, for_dialect};

const ENTRY: &str = r#"{"zarr_format":"https://purl.org/zarr/spec/core/3.0","metadata_encoding":{"type":"json","metadata_key_suffix":".json"},"extensions":[]}"#;
const URI: &str = "http://purl.org/zarr/spec/protocol/core/3.0";
const DRAFTS: [Dialect; 2] = [Dialect::V3Draft2022, Dialect::V3Protocol2019];

fn stored(dialect: Dialect, path: &NodePath, node: &Node) -> Documents {
    let mut stored = Documents::new();
    stored.apply(&documents(dialect, path, node, None).unwrap());
    stored
}

fn parse(dialect: Dialect, path: &NodePath, documents: &Documents) -> Node {
    let store = Store(documents.iter().map(|(key, bytes)| (key.to_owned(), bytes.to_vec())).collect());
    store.probe(&path.to_string(), Some(dialect)).unwrap().unwrap().node
}

fn json_of(documents: &Documents, key: &str) -> Value {
    Value::from_json(std::str::from_utf8(documents.get(key).unwrap()).unwrap()).unwrap()
}

/// The shape, the shape of chunks, and how many are in a shard.
fn axes() -> impl Strategy<Value = Vec<(u64, u64, u64)>> {
    proptest::collection::vec((0..1000_u64, 1..50_u64, 1..5_u64), 0..4)
}

fn list(axes: &[(u64, u64, u64)], of: impl Fn(&(u64, u64, u64)) -> u64) -> Vec<u64> {
    axes.iter().map(of).collect()
}

fn extensions() -> impl Strategy<Value = Value> {
    prop_oneof![
        3 => Just(json!([])),
        1 => Just(json!([{"extension": "http://example.org/x", "must_understand": false, "configuration": {"a": 1}}])),
    ]
}

/// Canonical documents of arrays of the core draft of 2022.
fn d2022() -> impl Strategy<Value = Map> {
    let extension = |kind: &str, name: Value, fallback: &str| {
        let uri = format!("https://purl.org/zarr/spec/extensions/data-types/{kind}/1.0");
        json!({"extension": uri, "type": name, "fallback": fallback})
    };
    let data_type = prop_oneof![
        Just((json!("bool"), json!(true), false)),
        any::<i64>().prop_map(|fill| (json!("int64"), Value::from(fill), true)),
        any::<u64>().prop_map(|fill| (json!("uint64"), Value::from(fill), true)),
        Just((json!("float64"), json!("+Infinity"), true)),
        Just((json!("float32"), json!("0x7fc00001"), true)),
        Just((json!("float16"), json!("NaN"), true)),
        Just((json!("complex64"), json!([1.5, "+Infinity"]), true)),
        Just((json!("uint8"), json!(255), false)),
        any::<u32>().prop_map(|fill| (json!("r32"), json!(format!("0x{fill:08x}")), false)),
        Just((extension("datetime", json!("<M8[25s]"), "int64"), json!("NaT"), true)),
        Just((extension("string", json!("S4"), "r32"), json!("eA=="), false)),
        Just((extension("string", json!("<U2"), "r64"), json!("é"), true)),
        Just((
            extension("struct", json!([["a", "<i4"], ["b", [["x", "|u1"], ["y", "<f8", [2]]]]]), "r168"),
            json!({"a": 5, "b": {"x": 1, "y": [0.5, "NaN"]}}),
            true
        )),
    ];
    let codec = |name: &str, configuration: Value| json!({"type": (format!("https://purl.org/zarr/spec/codecs/{name}/1.0")), "configuration": configuration});
    let endian = codec("endian", json!({"endian": "big"}));
    let tail = prop_oneof![
        Just(vec![]),
        Just(vec![codec("gzip", json!({"level": 5}))]),
        Just(vec![
            codec("shuffle", json!({"elementsize": 4})),
            codec("zstd", json!({"level": 3})),
            json!({"type": "https://purl.org/zarr/spec/codecs/crc32c/1.0"})
        ]),
        (0..3_usize).prop_map(move |shuffle| vec![codec(
            "blosc",
            json!({"cname": "lz4", "clevel": 5, "shuffle": shuffle, "blocksize": 0})
        )]),
    ];
    (axes(), data_type, tail, any::<[bool; 4]>(), attributes(), extensions()).prop_map(
        move |(axes, (data_type, fill, wide), tail, [f, big, dot, sharded], attributes, extensions)| {
            let mut codecs = tail;
            if big && wide {
                codecs.insert(0, endian.clone());
            }
            let mut map = Map::new();
            map.insert("shape", list(&axes, |axis| axis.0));
            map.insert("data_type", data_type);
            let separator = if dot { "." } else { "/" };
            let chunk_shape = list(&axes, |axis| axis.1);
            map.insert("chunk_grid", json!({"type": "regular", "chunk_shape": chunk_shape, "separator": separator}));
            map.insert("chunk_memory_layout", if f && axes.len() > 1 { "F" } else { "C" });
            map.insert("codecs", codecs);
            map.insert("fill_value", fill);
            map.insert("extensions", extensions);
            map.insert("attributes", attributes);
            if sharded {
                let uri = "https://purl.org/zarr/spec/extensions/storage_transformers/sharding/1.0";
                let configuration = json!({"chunks_per_shard": (list(&axes, |axis| axis.2))});
                map.insert(
                    "storage_transformers",
                    json!([{"extension": uri, "type": "indexed", "configuration": configuration}]),
                );
            }
            map
        },
    )
}

/// Canonical documents of arrays of the first protocol draft.
fn p2019() -> impl Strategy<Value = Map> {
    let data_type = prop_oneof![
        Just((json!("bool"), json!(false))),
        Just((json!("u1"), json!(255))),
        Just((json!(">i4"), json!(-7))),
        Just((json!("<f8"), json!("+Infinity"))),
        Just((json!("<c16"), json!(["NaN", 0.5]))),
        Just((json!("|S4"), json!("eA=="))),
        Just((json!("|V2"), json!("AQI="))),
        Just((json!([["a", "<i4"], ["b", ">u2"]]), json!("AQIDBAUG"))),
        Just((json!(">M8[ns]"), json!(null))),
    ];
    let codec = |name: &str| format!("http://purl.org/zarr/spec/codec/{name}");
    let codecs = prop_oneof![
        Just(json!([])),
        Just(json!([{"codec": (codec("gzip")), "level": 1}])),
        Just(json!([{"codec": (codec("shuffle")), "elementsize": 2}, {"codec": (codec("zlib")), "level": 9}])),
    ];
    let extra = proptest::option::of(Just(json!({"x": [1]})));
    (axes(), data_type, codecs, any::<bool>(), attributes(), extensions(), extra).prop_map(
        |(axes, (data_type, fill), codecs, f, attributes, extensions, extra)| {
            let mut map = Map::new();
            map.insert("zarr_format", URI);
            map.insert("shape", list(&axes, |axis| axis.0));
            map.insert("data_type", data_type);
            map.insert("chunk_grid", json!({"type": "regular", "chunk_shape": (list(&axes, |axis| axis.1))}));
            map.insert("chunk_memory_layout", if f && axes.len() > 1 { "F" } else { "C" });
            map.insert("chunk_codecs", codecs);
            map.insert("fill_value", fill);
            map.insert("extensions", extensions);
            map.insert("attributes", attributes);
            if let Some(extra) = extra {
                map.insert("x_vendor", extra);
            }
            map
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    // clause: d2022-9, d2022-12, d2022-108, d2022-114, d2022-120, d2022-131
    #[test]
    fn d2022_read_and_written_is_the_document(document in d2022()) {
        let path = NodePath::parse("/a/b").unwrap();
        let key = "meta/a/b.array.json";
        let given: Documents =
            [("zarr.json".to_owned(), ENTRY.into()), (key.to_owned(), document.to_string().into_bytes())].into_iter().collect();
        let node = parse(Dialect::V3Draft2022, &path, &given);
        let written = stored(Dialect::V3Draft2022, &path, &node);
        prop_assert_eq!(json_of(&written, key).to_string(), document.to_string());
        prop_assert_eq!(json_of(&written, "zarr.json").to_string(), ENTRY);
        prop_assert_eq!(parse(Dialect::V3Draft2022, &path, &written), node);
    }

    // clause: p2019-7, p2019-12
    #[test]
    fn p2019_read_and_written_is_the_document(document in p2019()) {
        let path = NodePath::parse("/a/b").unwrap();
        let key = "meta/a.g/b.a/array.json";
        let given: Documents = [(key.to_owned(), document.to_string().into_bytes())].into_iter().collect();
        let node = parse(Dialect::V3Protocol2019, &path, &given);
        let written = stored(Dialect::V3Protocol2019, &path, &node);
        prop_assert_eq!(json_of(&written, key).to_string(), document.to_string());
        prop_assert_eq!(parse(Dialect::V3Protocol2019, &path, &written), node);
    }

    #[test]
    fn v2_survives_the_drafts(zarray in zarray()) {
        let path = NodePath::root();
        let given: Documents = [(".zarray".to_owned(), zarray.to_string().into_bytes())].into_iter().collect();
        let node = parse(Dialect::V2, &path, &given);
        for dialect in DRAFTS {
            // Types of TensorStore are in no draft.
            let Ok((draft, _)) = for_dialect(&node, dialect) else {
                let name = &node.as_array().unwrap().data_type.name;
                prop_assert!(name == "bfloat16", "{} in {}", name, dialect);
                continue;
            };
            let (mut back, _) = for_dialect(&draft, Dialect::V2).unwrap();
            if let (Node::Array(back), Node::Array(node)) = (&mut back, &node) {
                if dialect == Dialect::V3Draft2022 {
                    back.extra = node.extra.clone();
                    if node.fill_value.is_none() {
                        back.fill_value = None;
                    }
                } else {
                    // It has one separator only.
                    back.chunk_key_encoding = node.chunk_key_encoding.clone();
                }
            }
            prop_assert_eq!(back, node.clone());
        }
    }

    #[test]
    fn shards_survive_version_3(document in d2022()) {
        let path = NodePath::root();
        let given: Documents =
            [("zarr.json".to_owned(), ENTRY.into()), ("meta/array.json".to_owned(), document.to_string().into_bytes())]
                .into_iter().collect();
        let node = parse(Dialect::V3Draft2022, &path, &given);
        let Ok((v3, _)) = for_dialect(&node, Dialect::V3) else {
            prop_assert!(document.to_string().contains("[2]"), "sub-arrays are in no version 3");
            return Ok(());
        };
        let (mut back, _) = for_dialect(&v3, Dialect::V3Draft2022).unwrap();
        if let (Node::Array(back), Node::Array(node)) = (&mut back, &node) {
            back.extra = node.extra.clone();
        }
        prop_assert_eq!(back, node);
    }

    #[test]
    fn no_document_makes_it_panic(members in proptest::collection::vec((0..16_usize, value()), 0..12)) {
        const NAMES: [&str; 16] = [
            "shape", "data_type", "chunk_grid", "chunk_memory_layout", "codecs", "fill_value", "extensions", "attributes",
            "storage_transformers", "chunk_codecs", "compressor", "metadata_encoding", "zarr_format", "type", "extension", "x",
        ];
        let map: Map = members.into_iter().map(|(name, value)| (NAMES[name].to_owned(), value)).collect();
        let text = map.to_string();
        for (key, path) in [("meta/a.array.json", "/a"), ("meta/a.group.json", "/a"), ("meta/array.json", "/")] {
            let _ = Store::with(&[("zarr.json", ENTRY), (key, &text)]).probe(path, None);
        }
        let mut entry = map.clone();
        entry.insert("zarr_format", "https://purl.org/zarr/spec/core/3.0");
        let _ = Store::with(&[("zarr.json", &entry.to_string())]).probe("/", None);
        for key in ["meta/a.a/array.json", "meta/a.g/group.json"] {
            let _ = Store::with(&[(key, &text)]).probe("/a", None);
        }
    }
}
