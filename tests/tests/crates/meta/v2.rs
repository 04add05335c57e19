//! Documents of version 2.

use super::store::{Store, changed};
use zarr_json::{Value, json};
use zarr_meta::conventions::Convention;
use zarr_meta::{ArrayMetadata, Dialect, ErrorKind, StoredNode};

fn zarray(changes: &str) -> String {
    let document = json!({
        "zarr_format": 2, "shape": [4, 6], "chunks": [2, 3], "dtype": "<i4", "compressor": null, "fill_value": 0,
        "order": "C", "filters": null
    });
    changed(&document.to_string(), changes)
}

fn found(changes: &str) -> StoredNode {
    Store::with(&[("a/.zarray", &zarray(changes))]).found("/a")
}

fn array(changes: &str) -> ArrayMetadata {
    found(changes).node.as_array().unwrap().clone()
}

fn codecs(changes: &str) -> String {
    let array = array(changes);
    Value::Array(array.codecs.iter().map(|codec| codec.short_value()).collect()).to_string()
}

#[test]
fn the_parts_of_the_model() {
    let array = array(r#"{"dtype": ">f8", "order": "F", "dimension_separator": "/", "fill_value": "NaN"}"#);
    assert_eq!(array.shape, [4, 6]);
    assert_eq!(array.data_type.short_value(), json!("float64"));
    assert_eq!(array.chunk_grid.to_value(), json!({"name": "regular", "configuration": {"chunk_shape": [2, 3]}}));
    assert_eq!(array.chunk_key_encoding.to_value(), json!({"name": "v2", "configuration": {"separator": "/"}}));
    assert_eq!(array.fill_value, Some(json!("NaN")));
    let chain =
        r#"[{"name":"transpose","configuration":{"order":[1,0]}},{"name":"bytes","configuration":{"endian":"big"}}]"#;
    assert_eq!(Value::Array(array.codecs.iter().map(|codec| codec.to_value()).collect()).to_string(), chain);
}

#[test]
fn codecs_have_names_of_version_3() {
    let bytes = r#"{"name":"bytes","configuration":{"endian":"little"}}"#;
    let blosc = r#"{"compressor": {"id": "blosc", "cname": "zstd", "clevel": 1, "shuffle": -1, "blocksize": 0}}"#;
    let configuration = r#"{"cname":"zstd","clevel":1,"shuffle":"shuffle","blocksize":0,"typesize":4}"#;
    assert_eq!(codecs(blosc), format!(r#"[{bytes},{{"name":"blosc","configuration":{configuration}}}]"#));
    // Behind a codec of bytes there are no elements of 4 bytes any more.
    let shuffled =
        r#"{"filters": [{"id": "shuffle", "elementsize": 4}], "compressor": {"id": "blosc", "shuffle": -1}}"#;
    assert!(codecs(shuffled).contains(r#""shuffle":"bitshuffle""#) && codecs(shuffled).contains(r#""typesize":1"#));
    let crc = r#"{"filters": [{"id": "crc32c"}, {"id": "crc32c", "location": "start"}]}"#;
    let start = r#"{"name":"numcodecs.crc32c","configuration":{"location":"start"}}"#;
    assert_eq!(codecs(crc), format!(r#"[{bytes},"crc32c",{start}]"#));
    let delta =
        r#"{"filters": [{"id": "delta", "dtype": "<i4", "astype": ">i2"}], "compressor": {"id": "zlib", "level": 1}}"#;
    assert_eq!(
        codecs(delta),
        concat!(
            r#"[{"name":"numcodecs.delta","configuration":{"dtype":"<i4","astype":">i2"}},"#,
            r#"{"name":"bytes","configuration":{"endian":"big"}},"#,
            r#"{"name":"numcodecs.zlib","configuration":{"level":1}}]"#
        )
    );
    assert_eq!(
        codecs(r#"{"compressor": {"id": "pcodec", "level": 8}}"#),
        r#"[{"name":"numcodecs.pcodec","configuration":{"level":8}}]"#
    );
    assert_eq!(codecs(r#"{"dtype": "|u1", "compressor": {"id": "mine"}}"#), r#"["bytes","numcodecs.mine"]"#);
}

#[test]
fn object_types_follow_from_the_codec() {
    let of = |filter: &str, fill: &str| {
        let array = array(&format!(r#"{{"dtype": "|O", "filters": [{filter}], "fill_value": {fill}, "order": "F"}}"#));
        let chain: Vec<_> = array.codecs.iter().map(|codec| codec.name.clone()).collect();
        (array.data_type.short_value().to_string(), chain.join(" "), array.fill_value.map(|fill| fill.to_string()))
    };
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(of(r#"{"id": "vlen-utf8"}"#, "0"), ("\"string\"".into(), "transpose vlen-utf8".into(), text("\"\"")));
    assert_eq!(of(r#"{"id": "vlen-bytes"}"#, "\"eA==\"").0, "\"bytes\"");
    assert_eq!(of(r#"{"id": "json2"}"#, "null"), ("\"v2_object\"".into(), "transpose numcodecs.json2".into(), None));
    let ragged = of(r#"{"id": "vlen-array", "dtype": "<i4"}"#, "0");
    assert_eq!(ragged.0, r#"{"name":"vlen-array","configuration":{"data_type":"int32"}}"#);
    for filters in ["null", "[]", r#"[{"id": "shuffle"}]"#, r#"[{"id": "delta", "dtype": "<i4"}, {"id": "vlen-utf8"}]"#]
    {
        error(&format!(r#"{{"dtype": "|O", "filters": {filters}}}"#), ErrorKind::InvalidMetadata, "filters");
    }
}

#[test]
fn structs_keep_the_byte_order_of_each_field() {
    let mixed = array(r#"{"dtype": [["a", "<i4"], ["b", [["c", ">f8"], ["d", "|u1"]]]], "fill_value": null}"#);
    let bytes = r#"{"name":"bytes","configuration":{"field_endian":["little",["big",null]]}}"#;
    assert_eq!(mixed.codecs[0].to_value().to_string(), bytes);
    assert_eq!(mixed.fill_value, None);
    let same = array(r#"{"dtype": [["a", ">i4"], ["b", "|S2"]], "fill_value": "AAAAAUFC"}"#);
    assert_eq!(same.codecs[0].to_value().to_string(), r#"{"name":"bytes","configuration":{"endian":"big"}}"#);
}

#[test]
fn old_and_foreign_documents_are_read() {
    let absent = array(r#"{"compressor": "absent", "filters": "absent", "fill_value": "absent", "comment": [1]}"#);
    assert_eq!((absent.fill_value, absent.codecs.len()), (None, 1));
    assert_eq!(absent.extra.get("comment"), Some(&json!([1])));
    assert!(found("{}").separator_unmarked && found(r#"{"dimension_separator": null}"#).separator_unmarked);
    assert!(!found(r#"{"dimension_separator": "."}"#).separator_unmarked);
    let bare = Store::with(&[(".zarray", &zarray(r#"{"dtype": "<f8", "fill_value": "N"}"#).replace("\"N\"", "NaN"))]);
    assert_eq!(bare.found("/").node.as_array().unwrap().fill_value, Some(json!("NaN")));
}

/// Members that zarr-python opens, and other software or earlier versions wrote.
#[test]
fn lenient_members_are_read() {
    let empty = array(r#"{"shape": [0, 6], "chunks": [0, 3]}"#);
    assert_eq!(empty.chunk_grid.configuration.get("chunk_shape"), Some(&json!([1, 3])));
    // zlib's name for its default.
    assert!(
        codecs(r#"{"compressor": {"id": "gzip", "level": -1}}"#)
            .contains(r#"{"name":"gzip","configuration":{"level":6}}"#)
    );
    assert!(codecs(r#"{"compressor": {"id": "blosc", "shuffle": 2.0}}"#).contains(r#""shuffle":"bitshuffle""#));
    assert_eq!(array(r#"{"fill_value": "-7"}"#).fill_value, Some(json!(-7)));
    assert_eq!(array(r#"{"dtype": "<f4", "fill_value": "nan"}"#).fill_value, Some(json!("NaN")));
}

/// The compressors of arrays that GDAL 3.12.2 wrote with `COMPRESS=ZSTD`, `ZSTD_CHECKSUM=YES` and `BLOSC_SHUFFLE=BIT`.
#[test]
fn options_of_gdal_are_read_as_they_are_spelled() {
    for (answer, checksum) in [("NO", false), ("YES", true)] {
        let chain = codecs(&format!(r#"{{"compressor": {{"id": "zstd", "level": 13, "checksum": "{answer}"}}}}"#));
        assert!(chain.ends_with(&format!(r#"{{"level":13,"checksum":{checksum}}}}}]"#)), "{chain}");
    }
    for (option, word) in [("BIT", "bitshuffle"), ("NONE", "noshuffle"), ("1", "shuffle")] {
        let blosc = r#""id": "blosc", "cname": "lz4", "clevel": 5, "blocksize": 0"#;
        let chain = codecs(&format!(r#"{{"compressor": {{{blosc}, "shuffle": "{option}"}}}}"#));
        assert!(chain.contains(&format!(r#""shuffle":"{word}""#)), "{chain}");
    }
}

/// A chunk of netCDF-C 4.10.1: `deflate` and `shuffle` of an `int` variable.
#[test]
fn shuffle_of_netcdf_has_the_size_of_the_elements() {
    let filters = r#"[{"id": "shuffle", "elementsize": 0}, {"id": "zlib", "level": 4}]"#;
    for (dtype, size) in [("<i4", 4), (">f8", 8), ("|u1", 1)] {
        let chain = codecs(&format!(r#"{{"dtype": "{dtype}", "filters": {filters}}}"#));
        assert!(
            chain.contains(&format!(r#"{{"name":"numcodecs.shuffle","configuration":{{"elementsize":{size}}}}}"#)),
            "{chain}"
        );
    }
}

/// Elements of an unknown type cannot be read; the rest can be described and copied.
#[test]
fn an_unknown_type_does_not_hide_the_array() {
    for (dtype, name) in
        [(r#""<f16""#, r#""<f16""#), (r#""int32""#, r#""int32""#), (r#"[["a", "<f16"]]"#, r#"[["a","<f16"]]"#)]
    {
        let found = found(&format!(
            r#"{{"dtype": {dtype}, "fill_value": "AAAA", "compressor": {{"id": "zlib", "level": 1}}}}"#
        ));
        let array = found.node.as_array().unwrap();
        assert_eq!((array.data_type.name.as_str(), array.shape.as_slice()), (name, &[4, 6][..]));
        assert_eq!(array.fill_value, Some(json!("AAAA")));
        assert_eq!(array.codecs.last().unwrap().name, "numcodecs.zlib");
        for dialect in [Dialect::V3, Dialect::V3Draft2022] {
            let error = zarr_meta::for_dialect(&found.node, dialect).map(drop).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::NotExpressible, "{error}");
        }
    }
}

/// numcodecs takes dates for integers of the machine's order there: found with zarr-python 2.18 and 3.4.
#[test]
fn dates_of_the_other_byte_order_are_other_numbers_to_pcodec() {
    for id in ["pcodec", "zfpy"] {
        let stored = format!(r#"{{"id": "{id}"}}"#);
        for (dtype, member) in [(">M8[D]", "compressor"), (">m8[s]", "compressor"), ("<M8[D]", ""), (">i8", "")] {
            let chain = codecs(&format!(r#"{{"dtype": "{dtype}", "compressor": {stored}}}"#));
            assert_eq!(chain.contains("array_view"), !member.is_empty(), "{chain}");
            assert!(chain.contains(id));
        }
    }
}

#[test]
fn dimension_names_come_from_conventions() {
    let store = Store::with(&[
        ("a/.zarray", &zarray(r#"{"_NCZARR_ARRAY": {"dimrefs": ["/y", "/x"]}}"#)),
        ("b/.zarray", &zarray("{}")),
        ("b/.zattrs", r#"{"_ARRAY_DIMENSIONS": ["lat", "lon"], "scale": NaN}"#),
    ]);
    let names = |found: &StoredNode| {
        let names = found.node.as_array().unwrap().dimension_names.clone().unwrap();
        (names.into_iter().flatten().collect::<Vec<_>>().join(" "), found.dimension_names_from.unwrap())
    };
    assert_eq!(names(&store.found("/a")), ("y x".to_owned(), Convention::NcZarr));
    let b = store.found("/b");
    assert_eq!(names(&b), ("lat lon".to_owned(), Convention::Xarray));
    assert_eq!(b.attributes().unwrap().len(), 2);
    assert_eq!(b.warnings.len(), 1);
}

#[track_caller]
fn error(changes: &str, kind: ErrorKind, member: &str) {
    let error = Store::with(&[("a/.zarray", &zarray(changes))]).probe("/a", None).unwrap_err();
    assert_eq!((error.kind(), error.key()), (kind, Some("a/.zarray")), "{error}");
    assert!(error.pointer().starts_with(&format!("/{member}")), "{error}");
}

#[test]
fn wrong_documents_are_refused() {
    for member in ["zarr_format", "shape", "chunks", "dtype", "order"] {
        error(&format!(r#"{{"{member}": "absent"}}"#), ErrorKind::InvalidMetadata, member);
    }
    error(r#"{"zarr_format": 7}"#, ErrorKind::UnsupportedVersion, "zarr_format");
    error(r#"{"shape": [4]}"#, ErrorKind::InvalidMetadata, "chunks");
    error(r#"{"chunks": [2, 0]}"#, ErrorKind::InvalidMetadata, "chunks");
    error(r#"{"chunks": [4294967296, 4294967296]}"#, ErrorKind::InvalidMetadata, "chunks");
    error(r#"{"shape": [-1, 6]}"#, ErrorKind::InvalidMetadata, "shape/0");
    error(r#"{"order": "A"}"#, ErrorKind::InvalidMetadata, "order");
    error(r#"{"dimension_separator": "-"}"#, ErrorKind::InvalidMetadata, "dimension_separator");
    error(r#"{"fill_value": 2147483648}"#, ErrorKind::InvalidMetadata, "fill_value");
    error(r#"{"dtype": 8}"#, ErrorKind::InvalidMetadata, "dtype");
    error(r#"{"compressor": {"level": 1}}"#, ErrorKind::InvalidMetadata, "compressor/id");
    error(r#"{"compressor": 1}"#, ErrorKind::InvalidMetadata, "compressor");
}

#[test]
fn broken_attributes_do_not_hide_the_array() {
    for (text, kind) in [("[1]", ErrorKind::InvalidMetadata), ("{\"a\":", ErrorKind::InvalidJson)] {
        let store = Store::with(&[("a/.zarray", &zarray("{}")), ("a/.zattrs", text)]);
        let found = store.found("/a");
        assert_eq!(found.dialect, Dialect::V2);
        let error = found.attributes().unwrap_err();
        assert_eq!((error.kind(), error.key()), (kind, Some("a/.zattrs")));
    }
}

#[test]
fn an_array_document_wins_over_that_of_a_group() {
    let store = Store::with(&[("a/.zarray", &zarray("{}")), ("a/.zgroup", r#"{"zarr_format": 2}"#)]);
    let found = store.found("/a");
    assert!(found.node.as_array().is_some());
    assert_eq!(found.warnings[0].key, "a/.zgroup");
}
