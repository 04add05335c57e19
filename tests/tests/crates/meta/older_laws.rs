//! Laws of every document of versions 0 and 1 and of the protocol drafts.

use super::arbitrary::{attributes, map, value};
use super::laws::{json_of, parse, stored};
use proptest::prelude::*;
use zarr_json::{Map, Value, json};
use zarr_meta::{Dialect, Documents, GroupMetadata, Node, NodePath, documents};

/// Lengths of an array and of its chunks.
fn axes(ranks: std::ops::Range<usize>) -> impl Strategy<Value = (Vec<u64>, Vec<u64>)> {
    proptest::collection::vec((0..1000_u64, 1..50_u64), ranks).prop_map(|axes| axes.into_iter().unzip())
}

/// Types and fill values as version 1 has them.
fn typed() -> impl Strategy<Value = (Value, Value)> {
    prop_oneof![
        Just((json!("|b1"), json!(false))),
        Just((json!("<f8"), json!("NaN"))),
        any::<i16>().prop_map(|fill| (json!(">i2"), Value::from(fill))),
        Just((json!("<c16"), json!(1.5))),
        Just((json!(">M8[25s]"), json!(3))),
        Just((json!("|S4"), json!("YQ=="))),
        Just((json!(">U3"), json!("é"))),
        Just((json!("|V2"), json!("a"))),
        Just((json!([["r", "|u1"], ["b", ">u2"]]), json!(0))),
        Just((json!([["a", "<i4"], ["b", ">f8", [2]], ["c", [["x", "|u1"]]]]), json!(null))),
    ]
}

/// The `meta` of version 1.
fn meta() -> impl Strategy<Value = Map> {
    let compression = prop_oneof![
        Just((json!("none"), json!(null))),
        (0..10_u8).prop_map(|level| (json!("zlib"), Value::from(level))),
        Just((json!("bz2"), json!(9))),
        Just((json!("blosc"), json!({"clevel": 5, "cname": "lz4", "shuffle": 2}))),
        Just((json!("lzma"), json!({"check": 0, "filters": null, "format": 1, "preset": 1}))),
        Just((json!("lzma"), json!({"check": 0, "filters": [{"dist": 4, "id": 3}], "format": 3, "preset": null}))),
    ];
    let rest = (compression, any::<bool>(), proptest::option::of(value()));
    (axes(0..4), typed(), rest).prop_map(|((shape, chunks), (dtype, fill), ((compression, options), f, extra))| {
        let order = if f && shape.len() > 1 { "F" } else { "C" };
        let mut map = map(json!({
            "chunks": chunks, "compression": compression, "compression_opts": options, "dtype": dtype, "fill_value": fill,
            "order": order, "shape": shape, "zarr_format": 1
        }));
        extra.map(|extra| map.insert("comment", extra));
        map
    })
}

/// The `__zmeta__` of zarr-python 0.4.
fn zmeta() -> impl Strategy<Value = Map> {
    (axes(1..4), typed(), 0..3_u8).prop_map(|((shape, chunks), (dtype, fill), shuffle)| {
        map(json!({
            "chunks": chunks, "clevel": 5, "cname": "blosclz", "dtype": dtype, "fill_value": fill, "shape": shape,
            "shuffle": shuffle
        }))
    })
}

/// Documents of arrays as zarr-python 2 wrote them.
fn protocol() -> impl Strategy<Value = Map> {
    let object = |extension: &str, of: Value| json!({"extension": extension, "fallback": null, "type": of});
    let time = "https://zarr-specs.readthedocs.io/en/latest/extensions/data-types/datetime/v1.0.html";
    let complex =
        "https://zarr-specs.readthedocs.io/en/core-protocol-v3.0-dev/protocol/extensions/complex-dtypes/v1.0.html";
    let typed = prop_oneof![
        Just((json!("bool"), json!(true))),
        Just((json!("u1"), json!(255))),
        Just((json!(">i8"), json!(i64::MIN))),
        Just((json!("<f4"), json!("0x7fc00001"))),
        Just((json!("<f8"), json!("Infinity"))),
        Just((object(complex, json!("<c8")), json!(["NaN", 0.5]))),
        Just((object(time, json!("<M8[ns]")), json!("NaT"))),
        Just((object("TODO: bytestring array protocol URL", json!("|S3")), json!("YWI="))),
        Just((object("TODO: unicode array protocol URL", json!(">U2")), json!("é"))),
        Just((object("TODO: structured array protocol URL", json!([["", "|V3"]])), json!("AQID"))),
        Just((object("TODO: structured array protocol URL", json!([["r", "|u1"], ["b", ">u2"]])), json!("AQMD"))),
    ];
    let filters = prop_oneof![
        Just((json!(null), None)),
        Just((json!([{"id": "shuffle", "elementsize": 2}, {"id": "crc32"}]), None)),
        Just((json!([{"id": "vlen-utf8"}]), Some(json!("x")))),
        Just((json!([{"id": "json2", "encoding": "utf-8"}]), Some(json!({"a": 1})))),
    ];
    let codec = |id: &str| format!("https://purl.org/zarr/spec/codec/{id}/1.0");
    let compressor = prop_oneof![
        Just(json!(null)),
        Just(json!({"codec": (codec("gzip")), "configuration": {"level": 1}})),
        Just(
            json!({"codec": (codec("blosc")), "configuration": {"cname": "lz4", "clevel": 5, "shuffle": 1, "blocksize": 0}})
        ),
    ];
    let rest = (compressor, any::<[bool; 4]>(), attributes(), proptest::option::of(value()));
    (axes(0..4), typed, filters, rest).prop_map(
        |((shape, chunks), (mut dtype, mut fill), (filters, object), (compressor, flags, mut attributes, extra))| {
            let [f, dot, null, sharded] = flags;
            if let Some(value) = object {
                dtype = json!({"extension": "TODO: object array protocol URL", "fallback": null, "type": "|O"});
                fill = value;
            }
            attributes.remove("filters");
            if !filters.is_null() {
                attributes.insert("filters", filters);
            }
            let rank = shape.len();
            let mut map = map(json!({
                "attributes": attributes,
                "chunk_grid": {"chunk_shape": chunks, "separator": (if dot { "." } else { "/" }), "type": "regular"},
                "chunk_memory_layout": (if f && rank > 1 { "F" } else { "C" }),
                "data_type": dtype, "extensions": [], "fill_value": (if null { Value::Null } else { fill }), "shape": shape
            }));
            if !compressor.is_null() {
                map.insert("compressor", compressor);
            }
            if sharded {
                let per_shard = vec![2_u64; rank.max(1)];
                let per_shard = if rank == 0 { vec![1] } else { per_shard };
                let uri = "https://purl.org/zarr/spec/storage_transformers/sharding/1.0";
                let transformer = json!({"extension": uri, "type": "indexed", "configuration": {"chunks_per_shard": per_shard}});
                map.insert("storage_transformers", json!([transformer]));
            }
            extra.map(|extra| map.insert("comment", extra));
            map
        },
    )
}

/// The same members, in whatever order.
fn same(found: &Value, expected: &Map) -> Result<(), TestCaseError> {
    prop_assert!(found.semantically_eq(&Value::Object(expected.clone())), "{} where {} was due", found, expected);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    // clause: v1-14, v1-16
    #[test]
    fn v1_read_and_written_is_the_document(meta in meta(), attributes in attributes()) {
        let path = NodePath::root();
        let given: Documents = [("meta", &meta), ("attrs", &attributes)].map(|(key, map)| (key.to_owned(), map.to_string().into_bytes())).into_iter().collect();
        let node = parse(Dialect::V1, &path, &given);
        let written = stored(Dialect::V1, &path, &node);
        same(&json_of(&written, "meta"), &meta)?;
        same(&json_of(&written, "attrs"), &attributes)?;
        prop_assert_eq!(parse(Dialect::V1, &path, &written), node.clone());
        let unchanged = documents(Dialect::V1, &path, &node, Some(&given)).unwrap();
        prop_assert!(unchanged.iter().all(|(key, bytes)| bytes.as_deref() == given.get(key)));
    }

    #[test]
    fn v0_read_and_written_is_the_document(zmeta in zmeta(), attributes in attributes()) {
        let path = NodePath::root();
        let mut given = Documents::new();
        given.insert("__zmeta__", zmeta.to_string());
        if !attributes.is_empty() {
            given.insert("__zattr__", attributes.to_string());
        }
        let node = parse(Dialect::V0, &path, &given);
        let written = stored(Dialect::V0, &path, &node);
        same(&json_of(&written, "__zmeta__"), &zmeta)?;
        prop_assert_eq!(written.get("__zattr__").is_some(), !attributes.is_empty());
        prop_assert_eq!(parse(Dialect::V0, &path, &written), node);
    }

    #[test]
    fn p2020_read_and_written_is_the_document(document in protocol(), form in 0..3_usize) {
        let path = NodePath::parse("/a/b").unwrap();
        let uri = "https://purl.org/zarr/spec/protocol/core/3.0";
        let (mut entry, mut document) = (map(json!({"extensions": [], "metadata_encoding": uri, "zarr_format": uri})), document);
        match form {
            0 => drop(entry.insert("metadata_encoding", "application/json")),
            1 => {}
            _ => drop(entry.insert("metadata_key_suffix", ".json")),
        }
        if let (0, Some(Value::Object(grid))) = (form, document.get_mut("chunk_grid")) {
            grid.remove("separator");
        }
        let key = if form < 2 { "meta/root/a/b.array" } else { "meta/root/a/b.array.json" };
        let given: Documents = [("zarr.json", &entry), (key, &document)].map(|(key, map)| (key.to_owned(), map.to_string().into_bytes())).into_iter().collect();
        let node = parse(Dialect::V3Protocol2020, &path, &given);
        let known: Documents = [("zarr.json".to_owned(), entry.to_string().into_bytes())].into_iter().collect();
        let mut written = known.clone();
        written.apply(&documents(Dialect::V3Protocol2020, &path, &node, Some(&known)).unwrap());
        same(&json_of(&written, key), &document)?;
        same(&json_of(&written, "zarr.json"), &entry)?;
        prop_assert_eq!(parse(Dialect::V3Protocol2020, &path, &written), node);
    }

    #[test]
    fn p2020_groups(attributes in attributes()) {
        let path = NodePath::parse("/a").unwrap();
        let node = Node::Group(GroupMetadata::new(attributes.clone()));
        let written = stored(Dialect::V3Protocol2020, &path, &node);
        same(&json_of(&written, "meta/root/a.group.json"), &map(json!({"attributes": attributes})))?;
        prop_assert_eq!(parse(Dialect::V3Protocol2020, &path, &written), node);
    }
}
