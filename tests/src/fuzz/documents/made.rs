//! Documents of arrays of every data type and fill value, in every dialect that supports them.

use super::super::chunks::registry;
use super::Files;
use crate::matrix;
use zarr_dtype::ByteOrder;
use zarr_json::{Map, NamedConfig, Value, json};
use zarr_meta::{
    ArrayMetadata, Consolidated, Dialect, Documents, Node, NodePath, StoredNode, documents, for_dialect_carrying,
};

/// Returns inputs in a dialect, with nodes at the root and below it.
pub(super) fn inputs(dialect: Dialect) -> Vec<Vec<u8>> {
    let mut inputs = Vec::new();
    let mut found = Vec::new();
    for (number, node) in nodes().into_iter().enumerate() {
        let path = if number % 2 == 0 {
            NodePath::root()
        } else {
            NodePath::parse(&format!("/a/b{number}")).unwrap_or_default()
        };
        let Ok((node, _)) = for_dialect_carrying(&node, Dialect::V3, dialect) else { continue };
        let Ok(written) = documents(dialect, &path, &node, None) else { continue };
        let values: Vec<_> = written.into_iter().filter_map(|(key, value)| Some((key, value?))).collect();
        let known: Documents = values.iter().cloned().collect();
        found.extend(StoredNode::read(dialect, path.clone(), &known).ok().flatten().filter(|_| number % 8 == 1));
        inputs.push(Files { path: path.to_string(), values }.to_bytes());
    }
    // And the documents of several of them in one document, where a dialect has that.
    if let Ok(consolidated) = Consolidated::collect(dialect, &NodePath::root(), &found)
        && dialect == Dialect::V2
    {
        let values = vec![
            (".zgroup".to_owned(), b"{\"zarr_format\":2}".to_vec()),
            (".zmetadata".to_owned(), consolidated.to_v2()),
        ];
        inputs.push(Files { path: "/".to_owned(), values }.to_bytes());
    }
    inputs
}

/// Returns arrays of every data type, with the values of the matrix as fill values, and arrays like those of other software.
fn nodes() -> Vec<Node> {
    let mut typed = matrix::fill_values();
    let special = [json!("NaN"), json!("Infinity"), json!("-Infinity"), json!("0x7fc00001"), json!(1e-8), json!(null)];
    for data_type in ["float16", "float32", "float64"] {
        typed.extend(special.iter().map(|fill| (json!(data_type), fill.clone())));
    }
    let half = json!({"name": "float16"});
    typed.push((half, json!("0x3c01")));
    for parts in [json!([1, "NaN"]), json!(["-Infinity", (-0.5)])] {
        typed.extend(["complex64", "complex128"].map(|data_type| (json!(data_type), parts.clone())));
    }
    for fill in structs() {
        typed.push((struct_type(), fill));
    }
    let order = json!({"name": "transpose", "configuration": {"order": [1, 0]}});
    let last = [
        json!({"name": "gzip", "configuration": {"level": 5}}),
        json!({"name": "numcodecs.zlib", "configuration": {"level": 1}}),
        json!({"name": "blosc", "configuration": {"cname": "zstd", "clevel": 5, "shuffle": "bitshuffle", "typesize": 4, "blocksize": 0}}),
        json!({"name": "numcodecs.lz4", "configuration": {"acceleration": 1}}),
        json!({"name": "numcodecs.bz2", "configuration": {"level": 9}}),
        json!({"name": "numcodecs.lzma", "configuration": {"format": 1, "check": (-1), "preset": null, "filters": [{"id": 3, "dist": 4}, {"id": 33, "preset": 1}]}}),
        json!({"name": "zstd", "configuration": {"level": 3, "checksum": true}}),
        json!({"name": "crc32c"}),
    ];
    let mut nodes = Vec::new();
    for (number, (data_type, fill)) in typed.iter().enumerate() {
        let Some(data_type) = NamedConfig::from_value(data_type) else { continue };
        let Ok(known) = registry().data_types.from_config(&data_type) else { continue };
        let end = if number % 3 == 0 { ByteOrder::Big } else { ByteOrder::Little };
        let Some(serializer) = registry().defaults.serializer.map(|make| make(&known, end)) else { continue };
        let turned = (number % 4 == 1).then(|| order.clone());
        let codecs = turned.into_iter().chain([serializer.to_value()]).chain(last.get(number % 11).cloned());
        let mut attributes = Map::new();
        if number % 5 == 2 {
            attributes.insert("_ARRAY_DIMENSIONS", json!(["y", "x"]));
        }
        let grid = match number % 7 {
            3 => {
                json!({"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": [[[2, 3]], [1, 4]]}})
            }
            _ => json!({"name": "regular", "configuration": {"chunk_shape": [4, 3]}}),
        };
        let mut array = ArrayMetadata::new(
            vec![6, 5],
            data_type,
            NamedConfig::from_value(&grid).unwrap_or_else(|| NamedConfig::new("regular")),
            NamedConfig::new(if number % 2 == 0 { "default" } else { "v2" }),
            Some(fill.clone()).filter(|fill| !fill.is_null()),
            codecs.filter_map(|codec| NamedConfig::from_value(&codec)).collect(),
        );
        array.dimension_names = (number % 5 == 3).then(|| vec![Some("y".to_owned()), Some("x".to_owned())]);
        array.attributes = attributes;
        nodes.push(Node::Array(array));
    }
    nodes
}

/// Returns a struct with a field of every kind in numpy.
fn struct_type() -> Value {
    let sized = |name: &str, size: u64| json!({"name": name, "configuration": {"length_bytes": size}});
    let time = json!({"name": "numpy.datetime64", "configuration": {"unit": "s", "scale_factor": 1}});
    let inner = json!({"name": "struct", "configuration": {"fields": [
        {"name": "p", "data_type": "int8"}, {"name": "q", "data_type": "uint64"}
    ]}});
    let list = json!({"name": "subarray", "configuration": {"data_type": "float32", "shape": [2, 1]}});
    json!({"name": "struct", "configuration": {"fields": [
        {"name": "a", "data_type": "bool"},
        {"name": "b", "data_type": "complex64"},
        {"name": "c", "data_type": "float16"},
        {"name": "d", "data_type": time},
        {"name": "e", "data_type": (sized("fixed_length_utf32", 8))},
        {"name": "f", "data_type": (sized("raw_bytes", 2))},
        {"name": "g", "data_type": (sized("null_terminated_bytes", 3))},
        {"name": "h", "data_type": inner},
        {"name": "i", "data_type": list}
    ]}})
}

/// Returns elements of the struct.
fn structs() -> Vec<Value> {
    let of = |float: Value, time: Value, text: &str| {
        json!({
            "a": true, "b": [(float.clone()), 1.5], "c": (float.clone()), "d": time, "e": text, "f": "AAE=", "g": "YQ==",
            "h": {"p": (-3), "q": 18446744073709551615_u64}, "i": [[(float.clone())], [float]]
        })
    };
    vec![
        of(json!(0), json!(0), ""),
        of(json!("NaN"), json!("NaT"), "a"),
        of(json!("-Infinity"), json!(-1), "é東"),
        of(json!(0.000061), json!(1700000000), "🦀"),
        of(json!(65519.9), json!(1), "ab"),
    ]
}
