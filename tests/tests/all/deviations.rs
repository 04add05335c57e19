//! Documents of arrays that are read although they are not as their specification says: each with a warning, for which strict reading
//! refuses them, and written anew as the specification says.

use std::sync::Arc;
use zarr_array::{Array, Dialect, ErrorKind, NewArray, Options};
use zarr_convert::{Conversion, ConvertOptions};
use zarr_json::{Map, Value};
use zarr_store::{Key, MemoryStore, Store, StoreExt};

const V2: &str = r#"{"zarr_format": 2, "shape": [4], "chunks": [4], "dtype": "<i4", "compressor": null, "fill_value": 0,
    "order": "C", "filters": null}"#;
const V3: &str = r#"{"zarr_format": 3, "node_type": "array", "shape": [4], "data_type": "int32",
    "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [4]}}, "chunk_key_encoding": {"name": "default"},
    "fill_value": 0, "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}], "attributes": {}}"#;

fn object(text: &str) -> Map {
    Value::from_json(text).unwrap().as_object().cloned().unwrap()
}

/// The document with some members changed, or left out where the change is `"absent"`.
fn changed(document: &str, changes: &str) -> String {
    let mut document = object(document);
    for (name, value) in object(changes).iter() {
        match value.as_str() {
            Some("absent") => drop(document.remove(name)),
            _ => drop(document.insert(name, value.clone())),
        }
    }
    document.to_string()
}

fn key_of(dialect: Dialect) -> Key {
    Key::new(if dialect == Dialect::V2 { "a/.zarray" } else { "a/zarr.json" }).unwrap()
}

fn stored(document: &str, dialect: Dialect) -> Arc<dyn Store> {
    let store = MemoryStore::new();
    store.set_all(&key_of(dialect), document.as_bytes()).unwrap();
    Arc::new(store)
}

fn opened(store: &Arc<dyn Store>) -> Array {
    zarr::open((store, "/a")).array().unwrap()
}

fn strictly(array: &Array) -> Result<(), zarr_array::Error> {
    array.with(Options::default().strict(true)).map(drop)
}

fn document(store: &dyn Store, dialect: Dialect) -> Map {
    object(std::str::from_utf8(&store.get_all(&key_of(dialect)).unwrap().unwrap()).unwrap())
}

/// A document: how it differs from one without deviations, the pointer and a part of the warning, and the member that a document written
/// anew has, as JSON, `absent` if none.
type Row = (&'static str, &'static str, &'static str, (&'static str, &'static str));

const OF_V2: &[Row] = &[
    (r#"{"fill_value": "absent"}"#, "/fill_value", "missing", ("fill_value", "null")),
    (r#"{"filters": "absent"}"#, "/filters", "missing", ("filters", "null")),
    (r#"{"compressor": "absent"}"#, "/compressor", "missing", ("compressor", "null")),
    (r#"{"shape": [0], "chunks": [0]}"#, "/chunks", "read as 1", ("chunks", "[1]")),
    (r#"{"dtype": "|i4"}"#, "/dtype", r#"read as "<i4""#, ("dtype", r#""<i4""#)),
    (r#"{"dtype": "i4"}"#, "/dtype", "no byte order", ("dtype", r#""<i4""#)),
    (r#"{"dtype": "=i4"}"#, "/dtype", "of the machine", ("dtype", r#""<i4""#)),
    (r#"{"dtype": "<S3", "fill_value": ""}"#, "/dtype", r#"read as "|S3""#, ("dtype", r#""|S3""#)),
    (r#"{"dtype": ">u1"}"#, "/dtype", r#"read as "|u1""#, ("dtype", r#""|u1""#)),
    (
        r#"{"dtype": [["a", "<i4"], ["b", "<u1"]], "fill_value": null}"#,
        "/dtype/1/1",
        r#"read as "|u1""#,
        ("dtype", r#"[["a","<i4"],["b","|u1"]]"#),
    ),
    (r#"{"dtype": "|b1", "fill_value": 0}"#, "/fill_value", "read as false", ("fill_value", "false")),
    (r#"{"dtype": "|b1", "fill_value": 1.0}"#, "/fill_value", "read as true", ("fill_value", "true")),
    (r#"{"fill_value": 5.0}"#, "/fill_value", "5.0 for int32, read as 5", ("fill_value", "5")),
    (r#"{"fill_value": "-9999"}"#, "/fill_value", "read as -9999", ("fill_value", "-9999")),
    (r#"{"fill_value": [-32767]}"#, "/fill_value", "read as -32767", ("fill_value", "-32767")),
    (r#"{"fill_value": true}"#, "/fill_value", "read as 1", ("fill_value", "1")),
    (r#"{"dtype": "|u1", "fill_value": -1}"#, "/fill_value", "-1 for uint8, read as 255", ("fill_value", "255")),
    (r#"{"dtype": "|u1", "fill_value": true}"#, "/fill_value", "read as 1", ("fill_value", "1")),
    (r#"{"dtype": "<u8", "fill_value": -1}"#, "/fill_value", "read as", ("fill_value", "18446744073709551615")),
    (r#"{"dtype": "<f4", "fill_value": "1e20"}"#, "/fill_value", "read as 1e20", ("fill_value", "1e20")),
    (r#"{"dtype": "<f4", "fill_value": "nan"}"#, "/fill_value", "read as", ("fill_value", r#""NaN""#)),
    (r#"{"dtype": "<f4", "fill_value": "-inf"}"#, "/fill_value", "read as", ("fill_value", r#""-Infinity""#)),
    (r#"{"dtype": "<f4", "fill_value": "+Infinity"}"#, "/fill_value", "read as", ("fill_value", r#""Infinity""#)),
    (r#"{"dtype": "<f4", "fill_value": [9.5]}"#, "/fill_value", "read as 9.5", ("fill_value", "9.5")),
    (r#"{"dtype": "<f4", "fill_value": true}"#, "/fill_value", "read as 1", ("fill_value", "1")),
    (r#"{"dtype": "<c8", "fill_value": 1.5}"#, "/fill_value", "read as [1.5,0.0]", ("fill_value", "[1.5,0.0]")),
    (r#"{"dtype": "<c8", "fill_value": ["1", 2]}"#, "/fill_value", "read as [1,2]", ("fill_value", "[1,2]")),
    (
        r#"{"dtype": "<M8[s]", "fill_value": -9.223372036854776e18}"#,
        "/fill_value",
        "read as -9223372036854775808",
        ("fill_value", "-9223372036854775808"),
    ),
    (r#"{"dtype": "<M8[s]", "fill_value": "1970-01-02"}"#, "/fill_value", "read as 86400", ("fill_value", "86400")),
    (r#"{"dtype": "<m8[s]", "fill_value": "5"}"#, "/fill_value", "read as 5", ("fill_value", "5")),
    (r#"{"dtype": "<m8[s]", "fill_value": [5]}"#, "/fill_value", "read as 5", ("fill_value", "5")),
    (r#"{"dtype": "|S3", "fill_value": 0}"#, "/fill_value", r#"read as """#, ("fill_value", r#""""#)),
    (r#"{"dtype": "|S3", "fill_value": "ab!"}"#, "/fill_value", r#"read as "YWIh""#, ("fill_value", r#""YWIh""#)),
    (r#"{"dtype": "<U2", "fill_value": 0}"#, "/fill_value", r#"read as """#, ("fill_value", r#""""#)),
    (r#"{"dtype": "|V2", "fill_value": 0}"#, "/fill_value", "read as", ("fill_value", r#""AAA=""#)),
    (
        r#"{"dtype": [["a", "<i2"], ["b", "|u1"]], "fill_value": 0}"#,
        "/fill_value",
        "read as",
        ("fill_value", r#""AAAA""#),
    ),
    (
        r#"{"compressor": {"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": true, "blocksize": 0}}"#,
        "/compressor/shuffle",
        "true, read as 1",
        ("compressor", r#"{"id":"blosc","cname":"lz4","clevel":5,"shuffle":1,"blocksize":0}"#),
    ),
    (
        r#"{"compressor": {"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": "BIT", "blocksize": 0}}"#,
        "/compressor/shuffle",
        "as GDAL means it",
        ("compressor", r#"{"id":"blosc","cname":"lz4","clevel":5,"shuffle":2,"blocksize":0}"#),
    ),
    (
        r#"{"compressor": {"id": "blosc", "cname": "lz4", "clevel": 5.0, "shuffle": 1, "blocksize": 0}}"#,
        "/compressor/clevel",
        "5.0, read as 5",
        ("compressor", r#"{"id":"blosc","cname":"lz4","clevel":5,"shuffle":1,"blocksize":0}"#),
    ),
    (
        r#"{"compressor": {"id": "blosc", "cname": "LZ4", "clevel": 5, "shuffle": 7, "blocksize": "a", "nthreads": 4}}"#,
        "/compressor/nthreads",
        "unknown member",
        ("compressor", r#"{"id":"blosc","cname":"lz4","clevel":5,"shuffle":1,"blocksize":0}"#),
    ),
    (
        r#"{"compressor": {"id": "gzip", "level": "1"}}"#,
        "/compressor/level",
        "1 is taken",
        ("compressor", r#"{"id":"gzip","level":1}"#),
    ),
    (
        r#"{"compressor": {"id": "gzip", "level": 1, "bufferSize": 4}}"#,
        "/compressor/bufferSize",
        "unknown member",
        ("compressor", r#"{"id":"gzip","level":1}"#),
    ),
    (
        r#"{"compressor": {"id": "zlib", "level": 10}}"#,
        "/compressor/level",
        "1 is taken",
        ("compressor", r#"{"id":"zlib","level":1}"#),
    ),
    (
        r#"{"compressor": {"id": "bz2", "level": 10}}"#,
        "/compressor/level",
        "1 is taken",
        ("compressor", r#"{"id":"bz2","level":1}"#),
    ),
    (
        r#"{"compressor": {"id": "zstd", "level": 99}}"#,
        "/compressor/level",
        "22 is taken",
        ("compressor", r#"{"id":"zstd","level":22}"#),
    ),
    (
        r#"{"compressor": {"id": "zstd", "level": 3, "checksum": "NO"}}"#,
        "/compressor/checksum",
        "as GDAL means it",
        ("compressor", r#"{"id":"zstd","level":3}"#),
    ),
    (
        r#"{"compressor": {"id": "lz4", "acceleration": "fast"}}"#,
        "/compressor/acceleration",
        "1 is taken",
        ("compressor", r#"{"id":"lz4","acceleration":1}"#),
    ),
    (
        r#"{"compressor": {"id": "bz2", "level": null}}"#,
        "/compressor/level",
        "null, read as 1",
        ("compressor", r#"{"id":"bz2","level":1}"#),
    ),
    (
        r#"{"compressor": {"id": "lzma", "format": 1, "check": -1, "preset": 6, "filters": null, "delta": 1}}"#,
        "/compressor/delta",
        "unknown member",
        ("compressor", r#"{"id":"lzma","format":1,"check":-1,"preset":6,"filters":null}"#),
    ),
    (
        r#"{"compressor": {"id": "lzma", "format": 1, "check": 99, "preset": 60, "filters": [{"id": 1}]}}"#,
        "/compressor/filters/0/id",
        "only encoding needs",
        ("compressor", r#"{"id":"lzma","format":1}"#),
    ),
    (
        r#"{"filters": [{"id": "shuffle", "elementsize": 0}]}"#,
        "/filters/0/elementsize",
        "the size of the elements",
        ("filters", r#"[{"id":"shuffle","elementsize":4}]"#),
    ),
    (
        r#"{"dtype": "<f4", "filters": [{"id": "bitround", "keepbits": -1}]}"#,
        "/filters/0/keepbits",
        "23 is taken",
        ("filters", r#"[{"id":"bitround","keepbits":23}]"#),
    ),
    (
        r#"{"filters": [{"id": "pcodec", "level": 99, "delta_spec": "x"}]}"#,
        "/filters/0/level",
        "8 is taken",
        ("compressor", r#"{"id":"pcodec","level":8}"#),
    ),
    (
        r#"{"dtype": "<f4", "filters": [{"id": "zfpy", "mode": 4, "tolerance": "x"}]}"#,
        "/filters/0/tolerance",
        "only encoding needs",
        ("compressor", r#"{"id":"zfpy","mode":4}"#),
    ),
    (
        r#"{"dtype": "|O", "fill_value": "", "filters": [{"id": "json2", "encoding": "utf-8", "indent": [], "sort_keys": 1}]}"#,
        "/filters/0/sort_keys",
        "true is taken",
        ("filters", r#"[{"id":"json2","encoding":"utf-8","sort_keys":true}]"#),
    ),
    (
        r#"{"dtype": "|O", "fill_value": "", "filters": [{"id": "msgpack2", "use_bin_type": "yes"}]}"#,
        "/filters/0/use_bin_type",
        "true is taken",
        ("filters", r#"[{"id":"msgpack2","use_bin_type":true}]"#),
    ),
];

const OF_V3: &[Row] = &[
    (r#"{"fill_value": 5.0}"#, "/fill_value", "read as 5", ("fill_value", "5")),
    (r#"{"fill_value": true}"#, "/fill_value", "read as 1", ("fill_value", "1")),
    (r#"{"fill_value": null}"#, "/fill_value", "read as zero", ("fill_value", "0")),
    (r#"{"data_type": "bool"}"#, "/fill_value", "read as false", ("fill_value", "false")),
    (r#"{"data_type": "float32", "fill_value": true}"#, "/fill_value", "read as 1", ("fill_value", "1")),
    (
        r#"{"codecs": "absent", "dimension_names": ["x"]}"#,
        "/codecs",
        "missing",
        ("codecs", r#"[{"name":"bytes","configuration":{"endian":"little"}}]"#),
    ),
    (
        r#"{"codecs": [{"name": "bytes"}, {"name": "gzip", "configuration": {"level": 12, "bufferSize": 4}}]}"#,
        "/codecs/1/configuration/level",
        "1 is taken",
        ("codecs", r#"[{"name":"bytes"},{"name":"gzip","configuration":{"level":1}}]"#),
    ),
    (
        r#"{"data_type": "uint8", "codecs": [{"name": "bytes"}, {"name": "blosc", "configuration":
            {"cname": "lz4", "clevel": 5, "shuffle": true, "typesize": 1, "blocksize": 0}}]}"#,
        "/codecs/1/configuration/shuffle",
        r#"true, read as "shuffle""#,
        (
            "codecs",
            r#"[{"name":"bytes"},{"name":"blosc","configuration":{"cname":"lz4","clevel":5,"shuffle":"shuffle","typesize":1,"blocksize":0}}]"#,
        ),
    ),
    (
        r#"{"data_type": "uint8", "codecs": [{"name": "bytes"}, {"name": "numcodecs.blosc", "configuration": {"shuffle": false}}]}"#,
        "/codecs/1/configuration/shuffle",
        "false, read as 0",
        ("codecs", r#"[{"name":"bytes"},{"name":"numcodecs.blosc","configuration":{"shuffle":0}}]"#),
    ),
    (
        r#"{"data_type": "uint8", "codecs": [{"name": "sharding_indexed", "configuration": {"chunk_shape": [2],
            "codecs": [{"name": "bytes"}, {"name": "zstd", "configuration": {"level": 99, "checksum": 0, "delta": 1}}],
            "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}],
            "index_location": "end"}}]}"#,
        "/codecs/0/configuration/codecs/1/configuration/delta",
        "unknown member",
        (
            "codecs",
            r#"[{"name":"sharding_indexed","configuration":{"chunk_shape":[2],"codecs":[{"name":"bytes"},{"name":"zstd","configuration":{"level":0,"checksum":false}}],"index_codecs":[{"name":"bytes","configuration":{"endian":"little"}},{"name":"crc32c"}],"index_location":"end"}}]"#,
        ),
    ),
];

fn rows() -> impl Iterator<Item = (Dialect, String, Row)> {
    let v2 = OF_V2.iter().map(|row| (Dialect::V2, changed(V2, row.0), *row));
    v2.chain(OF_V3.iter().map(|row| (Dialect::V3, changed(V3, row.0), *row)))
}

#[test]
fn each_has_a_warning_for_which_strict_reading_refuses_it() {
    for (dialect, document) in [(Dialect::V2, V2), (Dialect::V3, V3)] {
        let array = opened(&stored(document, dialect));
        assert!(array.warnings().is_empty(), "{:?}", array.warnings());
        strictly(&array).unwrap();
    }
    for (dialect, document, (changes, pointer, what, _)) in rows() {
        let array = opened(&stored(&document, dialect));
        let warnings = array.warnings();
        let is_it = |warning: &&zarr_array::Warning| warning.pointer == pointer && warning.what.contains(what);
        let warning = warnings.iter().find(is_it).unwrap_or_else(|| panic!("{changes}: {warnings:?}"));
        assert_eq!(warning.key, key_of(dialect).as_str());
        let error = strictly(&array).expect_err(changes);
        assert_eq!(error.kind(), ErrorKind::InvalidMetadata, "{changes}: {error}");
        assert!(error.to_string().contains("refused by strict reading"), "{error}");
    }
}

#[test]
fn a_copy_has_them_as_the_specification_says() {
    for (dialect, text, (changes, _, _, (member, written))) in rows() {
        let source = stored(&text, dialect);
        let target: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let options = ConvertOptions::default().dialect(dialect);
        let registry = zarr::registry::default();
        let conversion =
            Conversion::plan(&source, &registry, options).unwrap_or_else(|error| panic!("{changes}: {error}"));
        conversion.run(&target, |_| {}).unwrap_or_else(|error| panic!("{changes}: {error}"));
        let copy = opened(&target);
        assert!(copy.warnings().is_empty(), "{changes}: {:?}", copy.warnings());
        assert_eq!(copy.fill_value(), opened(&source).fill_value(), "{changes}");
        let found = document(&*target, dialect).get(member).map_or("absent".to_owned(), Value::to_string);
        assert_eq!(found, written, "{changes}");
    }
}

#[test]
fn another_shape_writes_them_as_the_specification_says() {
    for (dialect, text, (changes, _, _, (member, written))) in rows() {
        // There, no value of this dialect means the same.
        if changes == r#"{"fill_value": null}"# {
            continue;
        }
        let store = stored(&text, dialect);
        let mut array = opened(&store);
        array.resize(&[5]).unwrap_or_else(|error| panic!("{changes}: {error}"));
        assert!(array.warnings().is_empty(), "{changes}: {:?}", array.warnings());
        let found = document(&*store, dialect).get(member).map_or("absent".to_owned(), Value::to_string);
        assert_eq!(found, written, "{changes}");
    }
}

/// Codecs that lose nothing, as a new array has them, and their members that only encoding needs.
const SETTINGS: &[(&str, &[&str])] = &[
    ("blosc", &["cname", "clevel", "shuffle", "typesize", "blocksize"]),
    ("gzip", &["level"]),
    ("numcodecs.zlib", &["level"]),
    ("numcodecs.bz2", &["level"]),
    ("zstd", &["level", "checksum"]),
    ("numcodecs.lz4", &["acceleration"]),
    ("numcodecs.lzma", &["check", "preset", "filters"]),
    (
        "numcodecs.pcodec",
        &["level", "mode_spec", "delta_spec", "paging_spec", "delta_encoding_order", "equal_pages_up_to"],
    ),
    ("numcodecs.zfpy", &["mode", "tolerance", "rate", "precision"]),
];

#[test]
fn settings_for_encoding_stop_no_read_and_are_right_in_copies() {
    let values: Vec<i32> = (0..30).map(|i| i * i).collect();
    let wrong = ["true", "false", r#""text""#, "null", "-99", "1000000000000", "2.0", "[1]", "{}", r#""absent""#];
    for dialect in [Dialect::V2, Dialect::V3] {
        for (codec, members) in SETTINGS {
            let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
            let new = NewArray::new(&[30], "int32").dialect(dialect).chunks(&[20]);
            let new = new.codecs(format!("[{codec:?}]")).unwrap();
            zarr::create((&store, "/a")).array(new).unwrap().write(.., &values).unwrap();
            let right = document(&*store, dialect);
            for member in *members {
                for value in wrong {
                    let context = format!("{member} {value} of {codec} in {dialect}");
                    let mut document = right.clone();
                    set_in_codec(&mut document, dialect, member, value);
                    store.set_all(&key_of(dialect), document.to_string().as_bytes()).unwrap();
                    let array = opened(&store);
                    assert_eq!(array.read::<i32>(..).unwrap(), values, "{context}");
                    for to in [Dialect::V2, Dialect::V3] {
                        let target: Arc<dyn Store> = Arc::new(MemoryStore::new());
                        let options = ConvertOptions::default().dialect(to);
                        let conversion = Conversion::plan(&store, &zarr::registry::default(), options).unwrap();
                        let planned = conversion.nodes().iter().find(|node| node.path.to_string() == "/a").unwrap();
                        let lost = planned.notes.iter().filter(|note| note.is_loss).count();
                        let odd = array.warnings().len() - array.found().warnings.len();
                        assert_eq!(lost, odd, "{context}: {:?} {:?}", planned.notes, array.warnings());
                        // A member that is not there has a value in the other version.
                        let is_there = !matches!(value, "null" | r#""absent""#);
                        assert!(planned.how == zarr_convert::Action::CopyChunks || !is_there, "{context}");
                        conversion.run(&target, |_| {}).unwrap();
                        let copy = opened(&target);
                        strictly(&copy).unwrap_or_else(|error| panic!("{context}, to {to}: {error}"));
                        assert_eq!(copy.read::<i32>(..).unwrap(), values, "{context}");
                        // Elements are encoded with them; zfp loses as much as the settings say.
                        copy.write(.., &values).unwrap();
                        let read = copy.read::<i32>(..).unwrap();
                        assert!(read == values || codec.contains("zfpy"), "{context}: {read:?}");
                    }
                }
            }
        }
    }
}

/// Sets a member of the last codec of a document.
fn set_in_codec(document: &mut Map, dialect: Dialect, member: &str, value: &str) {
    let path = match dialect {
        Dialect::V2 => "/compressor".to_owned(),
        _ => format!("/codecs/{}/configuration", document.get("codecs").unwrap().as_array().unwrap().len() - 1),
    };
    if document.pointer(&path).is_none() {
        document.set_pointer(&path, Value::Object(Map::new())).unwrap();
    }
    let pointer = format!("{path}/{member}");
    match Value::from_json(value).unwrap() {
        Value::String(text) if text == "absent" => drop(document.remove_pointer(&pointer)),
        value => drop(document.set_pointer(&pointer, value).unwrap()),
    }
}

/// As numcodecs stores `Blosc(shuffle=True)`, which zarr-python 2 and 3 write into documents.
#[test]
fn new_arrays_with_wrong_settings_are_refused() {
    for (codecs, what) in [
        ("zstd(99)", "level"),
        (r#"[{"name": "gzip", "configuration": {"level": 10}}]"#, "level"),
        (r#"[{"name": "blosc", "configuration": {"cname": "lz5"}}]"#, "cname"),
        (r#"[{"name": "numcodecs.quantize", "configuration": {"dtype": "<f8"}}]"#, "digits"),
        (
            r#"[{"name": "sharding_indexed", "configuration": {"chunk_shape": [2], "codecs": ["bytes", {"name": "zstd",
                "configuration": {"level": "high"}}], "index_codecs": [{"name": "bytes", "configuration":
                {"endian": "little"}}]}}]"#,
            "level",
        ),
    ] {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let new = NewArray::new(&[4], "float64").chunks(&[4]).codecs(codecs);
        let error = new.and_then(|new| zarr::create((&store, "/a")).array(new)).unwrap_err();
        assert!(error.to_string().contains(what), "{codecs}: {error}");
    }
    // What is meant is clear, and is written as it is due.
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let codecs = r#"[{"name": "blosc", "configuration": {"shuffle": true, "clevel": 5.0}}]"#;
    let new = NewArray::new(&[4], "float64").codecs(codecs).unwrap();
    zarr::create((&store, "/a")).array(new).unwrap();
    let document = document(&*store, Dialect::V3);
    let configuration = document.pointer("/codecs/1/configuration").unwrap();
    assert_eq!(configuration.get("shuffle").unwrap().to_string(), r#""shuffle""#);
    assert_eq!(configuration.get("clevel").unwrap().to_string(), "5");
}

/// Rounded to a number of digits that is not known: elements are read, and written as they are.
#[test]
fn an_unknown_number_of_digits_rounds_nothing() {
    let document = changed(V2, r#"{"dtype": "<f8", "filters": [{"id": "quantize", "digits": "two", "dtype": "<f8"}]}"#);
    let store = stored(&document, Dialect::V2);
    let array = opened(&store);
    assert!(array.warnings().iter().any(|warning| warning.pointer == "/filters/0/digits"), "{:?}", array.warnings());
    array.write(.., &[0.125, 1e-300, 1e300, f64::NAN]).unwrap();
    let read = array.read::<f64>(..).unwrap();
    assert_eq!(read[..3], [0.125, 1e-300, 1e300]);
    assert!(read[3].is_nan());
}

/// The name that the document has, not that of a codec of version 3.
#[test]
fn unknown_codecs_go_by_the_name_in_the_document() {
    let document = changed(V2, r#"{"compressor": {"id": "rot13"}}"#);
    let error = zarr::open((&stored(&document, Dialect::V2), "/a")).array().unwrap_err();
    assert!(error.to_string().contains("/compressor: unknown codec \"rot13\""), "{error}");
}

#[test]
fn a_byte_order_mark_is_read_with_a_warning_and_not_written() {
    for (dialect, text) in [(Dialect::V2, V2), (Dialect::V3, V3)] {
        let store = stored(&format!("\u{feff}{text}"), dialect);
        let array = opened(&store);
        let [warning] = array.warnings() else { panic!("{:?}", array.warnings()) };
        assert_eq!((warning.key.as_str(), warning.pointer.as_str()), (key_of(dialect).as_str(), ""));
        assert!(warning.what.contains("byte order mark"), "{warning}");
        assert_eq!(strictly(&array).unwrap_err().kind(), ErrorKind::InvalidMetadata);
        let target: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let conversion = Conversion::plan(&store, &zarr::registry::default(), ConvertOptions::default()).unwrap();
        conversion.run(&target, |_| {}).unwrap();
        assert!(opened(&target).warnings().is_empty());
        let mut array = opened(&store);
        array.resize(&[7]).unwrap();
        assert!(array.warnings().is_empty(), "{:?}", array.warnings());
    }
}
