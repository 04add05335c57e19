//! Deviations from the specifications of old dialects that are read: each with a warning that says where.

use super::store::{Store, changed};
use zarr_json::json;
use zarr_meta::{Dialect, Error, ErrorKind, StoredNode};

const V1: &str = r#"{"chunks":[2],"compression":"zlib","compression_opts":1,"dtype":"<i4","fill_value":0,"order":"C","shape":[4],"zarr_format":1}"#;
const V2: &str = r#"{"zarr_format":2,"shape":[4],"chunks":[2],"dtype":"<i4","fill_value":0,"order":"C","filters":null,"compressor":null}"#;
const ENTRY: &str =
    r#"{"zarr_format":"https://purl.org/zarr/spec/core/3.0","metadata_encoding":{"type":"json"},"extensions":[]}"#;
const DRAFT_2022: &str = r#"{"shape":[4],"data_type":"int32","chunk_grid":{"type":"regular","chunk_shape":[2],"separator":"/"},
    "chunk_memory_layout":"C","codecs":[],"fill_value":0,"extensions":[],"attributes":{}}"#;
const PROTOCOL_2019: &str = r#"{"shape":[4],"data_type":"<i4","chunk_grid":{"type":"regular","chunk_shape":[2]},
    "chunk_memory_layout":"C","fill_value":0,"attributes":{}}"#;
const P2020_ENTRY: &str = r#"{"extensions":[],"metadata_encoding":"https://purl.org/zarr/spec/protocol/core/3.0",
    "metadata_key_suffix":".json","zarr_format":"https://purl.org/zarr/spec/protocol/core/3.0"}"#;
const PROTOCOL_2020: &str = r#"{"shape":[4],"data_type":"<i4","chunk_grid":{"type":"regular","chunk_shape":[2],"separator":"/"},
    "chunk_memory_layout":"C","fill_value":0,"extensions":[],"attributes":{}}"#;

fn v1(changes: &str) -> Store {
    Store::with(&[("meta", &changed(V1, changes)), ("attrs", "{}")])
}

fn v2(changes: &str) -> Store {
    Store::with(&[(".zarray", &changed(V2, changes))])
}

fn d2022(changes: &str) -> Store {
    Store::with(&[("zarr.json", ENTRY), ("meta/array.json", &changed(DRAFT_2022, changes))])
}

fn p2019(changes: &str) -> Store {
    Store::with(&[("meta/array.json", &changed(PROTOCOL_2019, changes))])
}

fn p2020(changes: &str) -> Store {
    Store::with(&[("zarr.json", P2020_ENTRY), ("meta/root.array.json", &changed(PROTOCOL_2020, changes))])
}

/// Where warnings are about.
fn warning_locations(found: &StoredNode) -> Vec<(&str, &str)> {
    found.warnings.iter().map(|warning| (warning.key.as_str(), warning.pointer.as_str())).collect()
}

fn refused(store: &Store) -> Error {
    store.probe("/", None).unwrap_err()
}

// clause: d2022-125, d2022-126
#[test]
fn unusual_spellings_of_fill_values_are_reported() {
    type Case = (fn(&str) -> Store, &'static str, [&'static str; 4]);
    let of: [Case; 5] = [
        (v1, "meta", ["dtype", "|b1", "<i4", "<f8"]),
        (v2, ".zarray", ["dtype", "|b1", "<i4", "<f8"]),
        (d2022, "meta/array.json", ["data_type", "bool", "int32", "float64"]),
        (p2019, "meta/array.json", ["data_type", "bool", "<i4", "<f8"]),
        (p2020, "meta/root.array.json", ["data_type", "bool", "<i4", "<f8"]),
    ];
    for (store, key, [member, bool, int, float]) in of {
        for (data_type, fill, read) in [
            (bool, "0", json!(false)),
            (bool, "1", json!(true)),
            (int, "5.0", json!(5)),
            (int, "\"5\"", json!(5)),
            (float, "\"1.5\"", json!(1.5)),
            (float, "\"nan\"", json!("NaN")),
        ] {
            let found = store(&format!(r#"{{"{member}": "{data_type}", "fill_value": {fill}}}"#)).found("/");
            assert_eq!(found.node.as_array().unwrap().fill_value, Some(read), "{key} {fill}");
            assert_eq!(warning_locations(&found), [(key, "/fill_value")], "{key} {fill}: {:?}", found.warnings);
        }
        for (data_type, fill) in
            [(bool, "true"), (int, "5"), (float, "5"), (float, "\"NaN\""), (float, "\"-Infinity\""), (float, "null")]
        {
            let found = store(&format!(r#"{{"{member}": "{data_type}", "fill_value": {fill}}}"#)).found("/");
            assert_eq!(
                warning_locations(&found).is_empty(),
                fill != "null" || key != "meta/array.json" || found.dialect != Dialect::V3Draft2022
            );
        }
    }
}

// clause: d2022-132
#[test]
fn complex_fill_values_of_2022_may_be_one_number() {
    let fill = |data_type: &str, text: &str| {
        let store = d2022(&format!(r#"{{"data_type": "{data_type}", "fill_value": "{text}"}}"#));
        store.probe("/", None).map(|found| found.unwrap().node.as_array().unwrap().fill_value.clone().unwrap())
    };
    // Stored little-endian, so that the lower half is the real part.
    assert_eq!(fill("complex64", "0xc00000003f800000").unwrap(), json!([1.0, (-2.0)]));
    assert_eq!(fill("complex128", "0xc0000000000000003ff0000000000000").unwrap(), json!([1.0, (-2.0)]));
    let binary = format!("0b{:032b}{:032b}", 0xc000_0000_u32, 0x3f80_0000_u32);
    assert_eq!(fill("complex64", &binary).unwrap(), json!([1.0, (-2.0)]));
    assert_eq!(fill("complex64", "0x7fc000017fc00000").unwrap(), json!(["NaN", "0x7fc00001"]));
    for wrong in ["0x3f800000", "0xc00000003f80000", "1.5 + 2j"] {
        assert_eq!(fill("complex64", wrong).unwrap_err().pointer(), "/fill_value", "{wrong}");
    }
}

// clause: d2022-85
#[test]
fn other_major_versions_of_extensions_are_not_known() {
    let codec = |version: &str| {
        format!(
            r#"{{"codecs": [{{"type": "https://purl.org/zarr/spec/codecs/gzip{version}", "configuration": {{"level": 1}}}}]}}"#
        )
    };
    for (version, known) in
        [("", true), ("/1.0", true), ("/1.3", true), ("/2.0", false), ("/0.9", false), ("/10.0", false)]
    {
        let found = d2022(&codec(version)).found("/");
        let name = &found.node.as_array().unwrap().codecs.last().unwrap().name;
        let uri = format!("https://purl.org/zarr/spec/codecs/gzip{version}");
        assert_eq!(*name, if known { "gzip".to_owned() } else { uri });
    }
    let datetime = |version: &str, fallback: &str| {
        let uri = format!("https://purl.org/zarr/spec/extensions/data-types/datetime/{version}");
        d2022(&format!(r#"{{"data_type": {{"extension": "{uri}", "type": "<M8[ns]"{fallback}}}}}"#))
    };
    assert!(datetime("1.0", "").found("/").fallback.is_none());
    let unknown = |store: &Store| store.found("/").unknown.unwrap();
    assert_eq!(unknown(&datetime("7.3", "")).kind(), ErrorKind::UnknownExtension);
    assert!(datetime("7.3", r#", "fallback": "int64""#).found("/").fallback.is_some());
    let sharding = |version: &str| {
        let uri = format!("https://purl.org/zarr/spec/extensions/storage_transformers/sharding/{version}");
        d2022(&format!(
            r#"{{"storage_transformers": [{{"extension": "{uri}", "type": "indexed",
            "configuration": {{"chunks_per_shard": [1]}}}}]}}"#
        ))
    };
    assert!(sharding("1.0").found("/").warnings.is_empty());
    assert_eq!(unknown(&sharding("2.0")).pointer(), "/storage_transformers/0/extension");
    let old = |version: &str| {
        format!(
            r#"{{"zarr_format":"https://purl.org/zarr/spec/v3#array","shape":[4],"data_type":"int32","fill_value":0,
            "chunk_grid":{{"type":"regular","chunk_shape":[2],"separator":"/"}},
            "codecs":[{{"type":"https://purl.org/zarr/spec/codecs/gzip/{version}","configuration":{{"level":1}}}}]}}"#
        )
    };
    assert_eq!(Store::with(&[("zarr.json", &old("1.0"))]).found("/").dialect, Dialect::V3Provisional2023);
    let error = refused(&Store::with(&[("zarr.json", &old("2.0"))]));
    assert_eq!((error.kind(), error.pointer()), (ErrorKind::UnknownExtension, "/codecs/0/type"));
}

// clause: d2022-102
#[test]
fn extensions_of_2022_have_no_other_members() {
    let sharding =
        r#""extension": "https://purl.org/zarr/spec/extensions/storage_transformers/sharding/1.0", "type": "indexed""#;
    let ignorable = r#""extension": "http://example.org/x", "must_understand": false"#;
    for (changes, pointer) in [
        (format!(r#"{{"extensions": [{{{ignorable}, "new": 1}}]}}"#), "/extensions/0/new"),
        (
            format!(r#"{{"storage_transformers": [{{{sharding}, "configuration": {{"chunks_per_shard": [1]}}, "new": 1}}]}}"#),
            "/storage_transformers/0/new",
        ),
        (
            format!(r#"{{"storage_transformers": [{{{sharding}, "configuration": {{"chunks_per_shard": [1], "new": 1}}}}]}}"#),
            "/storage_transformers/0/configuration/new",
        ),
        (
            r#"{"data_type": {"extension": "x", "type": "y", "fallback": ["z", {"extension": "x", "type": "y", "new": 1}, "int32"]}}"#
                .to_owned(),
            "/data_type/fallback/1/new",
        ),
    ] {
        let error = refused(&d2022(&changes));
        assert_eq!((error.kind(), error.pointer()), (ErrorKind::UnknownMember, pointer), "{changes}");
        // Later versions may have more.
        let later = ENTRY.replace("core/3.0", "core/3.1");
        let document = changed(DRAFT_2022, &changes);
        let store = Store::with(&[("zarr.json", &later), ("meta/array.json", &document)]);
        assert!(store.probe("/", None).unwrap().is_some(), "{changes}");
    }
    let entry = ENTRY.replace("[]", &format!("[{{{ignorable}, \"new\": 1}}]"));
    assert_eq!(refused(&Store::with(&[("zarr.json", &entry)])).pointer(), "/extensions/0/new");
}

// clause: d2022-67, d2022-97, d2022-107, d2022-147
#[test]
fn members_that_the_draft_of_2022_demands_are_missed() {
    let grid = r#""chunk_grid": {"type": "regular", "chunk_shape": [2]}"#;
    let found = d2022(&format!(r#"{{"extensions": "absent", "attributes": "absent", {grid}}}"#)).found("/");
    let key = "meta/array.json";
    assert_eq!(warning_locations(&found), [(key, "/extensions"), (key, "/attributes"), (key, "/chunk_grid/separator")]);
    let entry = ENTRY.replace(",\"extensions\":[]", "");
    let group = Store::with(&[("zarr.json", &entry), ("meta/g.group.json", "{}")]).found("/g");
    assert_eq!(warning_locations(&group), [("zarr.json", "/extensions"), ("meta/g.group.json", "/attributes")]);
    assert!(d2022("{}").found("/").warnings.is_empty());
}

// clause: p2019-3, d2022-41
#[test]
fn names_that_a_draft_forbids_are_read_with_a_warning() {
    let entry =
        |entry: &'static str, key: &'static str, text: &'static str| Store::with(&[("zarr.json", entry), (key, text)]);
    for (store, path) in [
        (entry(ENTRY, "meta/a b.array.json", DRAFT_2022), "/a b"),
        (entry(P2020_ENTRY, "meta/root/ä/x.array.json", PROTOCOL_2020), "/ä/x"),
        (Store::with(&[("meta/a+b.a/array.json", PROTOCOL_2019)]), "/a+b"),
        (Store::with(&[("__a/zarr.json", r#"{"zarr_format":3,"node_type":"group"}"#)]), "/__a"),
    ] {
        let found = store.found(path);
        assert_eq!(warning_locations(&found), [("", "")], "{path}");
        assert!(found.warnings[0].what.starts_with(&format!("{path}: found node name")), "{:?}", found.warnings);
    }
    assert!(entry(ENTRY, "meta/a_b-1.x.array.json", DRAFT_2022).found("/a_b-1.x").warnings.is_empty());
}

// clause: v1-11, v1-17, v1-33
#[test]
fn version_1_as_others_wrote_it() {
    for (compression, options) in [("zlib", "\"x\""), ("bz2", "\"9\""), ("none", "\"\""), ("lzma", "\"xz\"")] {
        let found = v1(&format!(r#"{{"compression": "{compression}", "compression_opts": {options}}}"#)).found("/");
        assert_eq!(warning_locations(&found), [("meta", "/compression_opts")], "{compression}");
    }
    assert!(v1(r#"{"compression": "blosc", "compression_opts": "zstd"}"#).found("/").warnings.is_empty());
    for (dtype, odd) in [("f8", true), ("=f8", true), ("b1", true), ("<f8", false), ("|b1", false)] {
        let found = v1(&format!(r#"{{"dtype": "{dtype}", "fill_value": null}}"#)).found("/");
        assert_eq!(warning_locations(&found), if odd { vec![("meta", "/dtype")] } else { vec![] }, "{dtype}");
        let found = v2(&format!(r#"{{"dtype": "{dtype}", "fill_value": null}}"#)).found("/");
        assert_eq!(warning_locations(&found), if odd { vec![(".zarray", "/dtype")] } else { vec![] }, "{dtype}");
    }
    // TensorStore writes types by name.
    assert!(v2(r#"{"dtype": "bfloat16", "fill_value": null}"#).found("/").warnings.is_empty());
    let without = Store::with(&[("meta", V1)]).found("/");
    assert_eq!(warning_locations(&without), [("attrs", "")]);
    // Whatever changes its metadata adds the document.
    let changes = zarr_meta::documents(Dialect::V1, &without.path, &without.node, Some(&without.documents)).unwrap();
    assert!(changes.contains(&("attrs".to_owned(), Some(b"{}\n".to_vec()))), "{changes:?}");
}

// clause: v1-5
#[test]
fn a_broken_meta_beside_attrs_is_named() {
    for (meta, kind, pointer) in [
        (&V1[..60], ErrorKind::InvalidJson, ""),
        ("{}", ErrorKind::InvalidMetadata, "/zarr_format"),
        ("", ErrorKind::InvalidJson, ""),
    ] {
        let error = refused(&Store::with(&[("meta", meta), ("attrs", "{}"), ("0", "x")]));
        assert_eq!((error.kind(), error.key(), error.pointer()), (kind, Some("meta"), pointer), "{meta}");
        // Alone it may be anything.
        assert!(Store::with(&[("meta", meta), ("0", "x")]).probe("/", None).unwrap().is_none());
    }
}

#[test]
fn levels_of_zstd_that_there_are_not_are_read() {
    for (level, taken) in [(100, 22), (-200_000, -131_072)] {
        let found = v2(&format!(r#"{{"compressor": {{"id": "zstd", "level": {level}}}}}"#)).found("/");
        let codecs = &found.node.as_array().unwrap().codecs;
        assert_eq!(codecs[1].configuration.get("level"), Some(&json!(taken)));
        assert_eq!(warning_locations(&found), [(".zarray", "/compressor/level")]);
    }
    assert!(v2(r#"{"compressor": {"id": "zstd", "level": 22}}"#).found("/").warnings.is_empty());
}

#[test]
fn options_of_codecs_that_numcodecs_reads_otherwise_are_reported() {
    for (compressor, member) in [
        (r#"{"id": "zstd", "level": 1, "checksum": "NO"}"#, "checksum"),
        (r#"{"id": "blosc", "cname": "lz4", "clevel": 1, "shuffle": "BIT"}"#, "shuffle"),
        (r#"{"id": "shuffle", "elementsize": 0}"#, "elementsize"),
    ] {
        let found = v2(&format!(r#"{{"compressor": {compressor}}}"#)).found("/");
        assert_eq!(warning_locations(&found), [(".zarray", format!("/compressor/{member}").as_str())]);
    }
}

#[test]
fn parameters_of_codecs_of_2019_have_one_location() {
    let gzip = r#""codec": "http://purl.org/zarr/spec/codec/gzip""#;
    for (changes, pointer) in [
        (
            format!(r#"{{"chunk_codecs": [{{{gzip}, "configuration": {{"level": 5}}}}]}}"#),
            "/chunk_codecs/0/configuration",
        ),
        (format!(r#"{{"compressor": {{{gzip}, "level": 5}}}}"#), "/compressor/level"),
    ] {
        let error = refused(&p2019(&changes));
        assert_eq!((error.kind(), error.pointer()), (ErrorKind::UnknownMember, pointer));
    }
    for changes in [
        format!(r#"{{"chunk_codecs": [{{{gzip}, "level": 5}}]}}"#),
        format!(r#"{{"compressor": {{{gzip}, "configuration": {{"level": 5}}}}}}"#),
    ] {
        let found = p2019(&changes).found("/");
        assert_eq!(found.node.as_array().unwrap().codecs[1].configuration.get("level"), Some(&json!(5)));
    }
}

#[test]
fn texts_of_a_fixed_length_behind_a_codec_of_any_length_are_read_as_such() {
    // As zarr-python 3.0.0 to 3.0.10 wrote them by default.
    for (dtype, id, data_type) in [("<U3", "vlen-utf8", "string"), ("|S3", "vlen-bytes", "bytes")] {
        let changes = format!(r#"{{"dtype": "{dtype}", "fill_value": "", "filters": [{{"id": "{id}"}}]}}"#);
        let found = v2(&changes).found("/");
        assert_eq!(found.node.as_array().unwrap().data_type.name, data_type);
        assert_eq!(warning_locations(&found), [(".zarray", "/dtype")]);
    }
}

#[test]
fn dates_as_fill_values_are_read() {
    // As zarr-python 3.0.7 to 3.0.10 wrote them: of a unit of years they look like numbers.
    for (dtype, date, count) in [("<M8[ns]", "1970-01-01T00:00:00.000000005", 5), ("<M8[Y]", "1971", 1)] {
        let found = v2(&format!(r#"{{"dtype": "{dtype}", "fill_value": "{date}"}}"#)).found("/");
        assert_eq!(found.node.as_array().unwrap().fill_value, Some(json!(count)));
        assert_eq!(found.warnings.iter().filter(|warning| warning.pointer == "/fill_value").count(), 1);
    }
    let error = refused(&v2(r#"{"dtype": "<m8[s]", "fill_value": "1970-01-01"}"#));
    assert_eq!((error.kind(), error.pointer()), (ErrorKind::InvalidMetadata, "/fill_value"));
}
