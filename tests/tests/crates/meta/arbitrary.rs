//! Random documents and nodes.

use proptest::prelude::*;
use zarr_json::{Map, NamedConfig, Number, Value, json};
use zarr_meta::{ArrayMetadata, GroupMetadata, Node};

pub(crate) fn map(value: Value) -> Map {
    match value {
        Value::Object(map) => map,
        other => unreachable!("{other} is an object"),
    }
}

pub(crate) fn named(name: &str, configuration: Value) -> NamedConfig {
    NamedConfig::with(name, map(configuration))
}

/// Any JSON, with numbers of any spelling.
pub(crate) fn value() -> impl Strategy<Value = Value> {
    let number = "-?(0|[1-9][0-9]{0,20})(\\.[0-9]{1,3})?([eE][+-]?[0-9]{1,2})?";
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        number.prop_map(|text| Value::Number(Number::parse(&text).unwrap())),
        "[a-zA-Z/~\"é\n ]{0,4}".prop_map(Value::from),
    ];
    leaf.prop_recursive(2, 12, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            proptest::collection::vec(("[a-z/~]{0,3}", inner), 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

pub(crate) fn attributes() -> impl Strategy<Value = Map> {
    proptest::collection::vec(("[a-z_/]{1,4}", value()), 0..4).prop_map(|members| members.into_iter().collect())
}

/// Members that a v3 document may have though nothing defines them.
fn ignorable() -> impl Strategy<Value = Map> {
    proptest::collection::vec(("x_[a-z]{1,3}", value()), 0..2).prop_map(|members| {
        let member = |(name, inner): (String, Value)| (name, json!({"must_understand": false, "inner": inner}));
        members.into_iter().map(member).collect()
    })
}

/// Data types of v3 with a fill value, and whether they are of variable length.
fn typed_v3() -> impl Strategy<Value = (NamedConfig, Value, &'static str)> {
    prop_oneof![
        Just((NamedConfig::new("bool"), json!(true), "bytes")),
        any::<u8>().prop_map(|fill| (NamedConfig::new("uint8"), Value::from(fill), "bytes")),
        any::<i64>().prop_map(|fill| (NamedConfig::new("int64"), Value::from(fill), "bytes")),
        any::<f64>().prop_map(|fill| (NamedConfig::new("float64"), Value::from(fill), "bytes")),
        Just((NamedConfig::new("float32"), json!("0x7fc00001"), "bytes")),
        Just((NamedConfig::new("complex64"), json!(["-Infinity", 0.5]), "bytes")),
        Just((NamedConfig::new("r24"), json!([1, 2, 3]), "bytes")),
        Just((named("numpy.datetime64", json!({"unit": "ns", "scale_factor": 10})), json!("NaT"), "bytes")),
        Just((NamedConfig::new("string"), json!("+Infinity"), "vlen-utf8")),
        Just((named("vendor.mine", json!({"a": [1]})), json!({"b": null}), "vendor.codec")),
    ]
}

pub(crate) fn node_v3() -> impl Strategy<Value = Node> {
    let shape = proptest::collection::vec((0..1000_u64, 1..50_u64, proptest::option::of("[a-z]{0,2}")), 0..4);
    let rest = (
        typed_v3(),
        any::<[bool; 5]>(),
        prop_oneof![Just("."), Just("/")],
        attributes(),
        ignorable(),
        proptest::option::of(0..3_usize),
    );
    let array =
        (shape, rest).prop_map(|(axes, ((data_type, fill, to_bytes), flags, separator, attributes, extra, tail))| {
            let [transposed, named_axes, sharded, v2_keys, transformed] = flags;
            let rank = axes.len();
            let mut codecs = Vec::new();
            if transposed {
                let order: Vec<usize> = (0..rank).map(|axis| (axis + 1) % rank.max(1)).collect();
                codecs.push(named("transpose", json!({"order": order})));
            }
            let bytes =
                if to_bytes == "bytes" { named("bytes", json!({"endian": "big"})) } else { NamedConfig::new(to_bytes) };
            if sharded {
                let chunk_shape: Vec<u64> = axes.iter().map(|_| 1).collect();
                let configuration = json!({
                    "chunk_shape": chunk_shape,
                    "codecs": [(bytes.to_value())],
                    "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}],
                    "index_location": "start"
                });
                codecs.push(named("sharding_indexed", configuration));
            } else {
                codecs.push(bytes);
            }
            codecs.extend(tail.map(|tail| match tail {
                0 => named("gzip", json!({"level": 5})),
                1 => NamedConfig { must_understand: false, ..NamedConfig::new("vendor.hint") },
                _ => NamedConfig::new("crc32c"),
            }));
            let ignored = NamedConfig { must_understand: false, ..named("vendor.store", json!({"n": 1})) };
            let grid = json!({"chunk_shape": (axes.iter().map(|axis| axis.1).collect::<Vec<_>>())});
            let mut array = ArrayMetadata::new(
                axes.iter().map(|axis| axis.0).collect(),
                data_type,
                named("regular", grid),
                named(if v2_keys { "v2" } else { "default" }, json!({"separator": separator})),
                Some(fill),
                codecs,
            );
            array.storage_transformers = transformed.then_some(ignored).into_iter().collect();
            array.dimension_names = named_axes.then(|| axes.into_iter().map(|axis| axis.2).collect());
            (array.attributes, array.extra) = (attributes, extra);
            Node::Array(array)
        });
    let group = (attributes(), ignorable()).prop_map(|(attributes, extra)| {
        let mut group = GroupMetadata::new(attributes);
        group.extra = extra;
        Node::Group(group)
    });
    prop_oneof![4 => array, 1 => group]
}

/// Canonical documents of version 2: the `.zarray`, in the members and spellings that are written.
pub(crate) fn zarray() -> impl Strategy<Value = Map> {
    let dtype = prop_oneof![
        Just((json!("|b1"), json!(false))),
        Just((json!("<f8"), json!("NaN"))),
        Just((json!(">i2"), json!(-7))),
        Just((json!("|u1"), json!(255))),
        Just((json!("<c16"), json!([1.5, "-Infinity"]))),
        Just((json!(">M8[25s]"), json!(3))),
        Just((json!("|S4"), json!("eA=="))),
        Just((json!(">U3"), json!("é"))),
        Just((json!("|V2"), json!("AQI="))),
        Just((json!("bfloat16"), json!(0.5))),
        Just((json!([["a", "<i4"], ["b", ">f8", [2]], ["c", [["x", "|u1"]]]]), json!(null))),
        Just((json!([["r", "|u1"], ["b", ">u2"]]), json!("AQMD"))),
    ];
    let plain = (
        dtype,
        proptest::option::of(prop_oneof![
            Just(json!([{"id": "shuffle", "elementsize": 2}])),
            Just(json!([{"id": "fletcher32"}, {"id": "crc32c"}])),
            Just(json!([{"id": "vendor"}, {"id": "shuffle", "elementsize": 4}])),
        ]),
    );
    let filtered = prop_oneof![
        Just((json!("<i8"), json!(1), json!([{"id": "delta", "dtype": "<i8", "astype": ">i2"}]))),
        Just((
            json!(">f4"),
            json!(0.0),
            json!([{"id": "fixedscaleoffset", "scale": 2, "offset": 0, "dtype": ">f4", "astype": "|u1"}])
        )),
        Just((json!(">i4"), json!(1), json!([{"id": "delta", "dtype": ">i4"}]))),
        Just((json!(">f4"), json!(0.0), json!([{"id": "quantize", "digits": 2, "dtype": ">f4", "astype": ">f4"}]))),
        Just((
            json!(">i4"),
            json!(0),
            json!([{"id": "astype", "encode_dtype": ">i8", "decode_dtype": ">i4"}, {"id": "delta", "dtype": ">i8"}])
        )),
        Just((json!("|b1"), json!(true), json!([{"id": "packbits"}]))),
        Just((json!(">f4"), json!(0.0), json!([{"id": "bitround", "keepbits": 5}]))),
        Just((json!("|O"), json!("x"), json!([{"id": "vlen-utf8"}]))),
        Just((json!("|O"), json!("eA=="), json!([{"id": "vlen-bytes"}]))),
        Just((json!("|O"), json!({"a": 1}), json!([{"id": "json2", "encoding": "utf-8"}]))),
        Just((json!("|O"), json!([]), json!([{"id": "vlen-array", "dtype": "<i4"}]))),
        Just((json!("|O"), json!("red"), json!([{"id": "categorize", "labels": ["red"], "astype": "|u1"}]))),
    ];
    let typed =
        prop_oneof![plain.prop_map(|((dtype, fill), filters)| (dtype, fill, filters.unwrap_or_default())), filtered,];
    let compressor = prop_oneof![
        Just(json!(null)),
        Just(json!({"id": "zlib", "level": 1})),
        Just(json!({"id": "zstd", "level": (-3)})),
        Just(json!({"id": "zstd", "level": 3, "checksum": true})),
        Just(json!({"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 2, "blocksize": 0})),
        Just(json!({"id": "lzma", "format": 1, "check": (-1), "preset": null, "filters": null})),
        Just(json!({"id": "vendor", "x": [1]})),
    ];
    let shape = proptest::collection::vec((0..1000_u64, 1..50_u64), 0..4);
    let rest = (compressor, any::<[bool; 3]>(), proptest::option::of(value()));
    (shape, typed, rest).prop_map(|(axes, (dtype, fill, filters), (compressor, [f, slash, null], extra))| {
        let mut map = Map::new();
        map.insert("zarr_format", 2);
        map.insert("shape", axes.iter().map(|axis| axis.0).collect::<Vec<_>>());
        map.insert("chunks", axes.iter().map(|axis| axis.1).collect::<Vec<_>>());
        map.insert("dtype", dtype);
        map.insert("compressor", compressor);
        map.insert("fill_value", if null { Value::Null } else { fill });
        map.insert("order", if f && axes.len() > 1 { "F" } else { "C" });
        map.insert("filters", filters);
        map.insert("dimension_separator", if slash { "/" } else { "." });
        if let Some(extra) = extra {
            map.insert("_vendor", extra);
        }
        map
    })
}
