//! Chains of codecs, with configurations that neither the fixtures nor the matrix of codecs and data types have.

use zarr_meta::json;
use zarr_meta::json::Value;

/// An array of one chunk to be made.
pub(super) struct Chain {
    pub(super) data_type: &'static str,
    pub(super) shape: &'static [u64],
    pub(super) codecs: Value,
}

fn chain(data_type: &'static str, shape: &'static [u64], codecs: Value) -> Chain {
    Chain { data_type, shape, codecs }
}

fn little() -> Value {
    json!({"name": "bytes", "configuration": {"endian": "little"}})
}

/// Integers under a codec of bytes.
fn bytes(name: &str, configuration: Value) -> Chain {
    chain("int32", &[24, 30], json!([(little()), {"name": name, "configuration": configuration}]))
}

/// Elements under a codec of arrays, or one that makes bytes of them.
fn array(data_type: &'static str, name: &str, configuration: Value, then: Value) -> Chain {
    let mut codecs = vec![json!({"name": name, "configuration": configuration})];
    codecs.extend(then.as_array().unwrap_or_default().iter().cloned());
    chain(data_type, &[24, 30], Value::from(codecs))
}

/// The chains for the codec of a name.
pub(super) fn chains(codec: &str) -> Vec<Chain> {
    match codec {
        "blosc" => blosc(),
        "gzip" | "numcodecs.zlib" => [0, 1, 9].map(|level| bytes(codec, json!({"level": level}))).into(),
        "zstd" => [(0, false), (19, true), (1, false)]
            .map(|(level, checksum)| bytes(codec, json!({"level": level, "checksum": checksum})))
            .into(),
        "numcodecs.lz4" => vec![bytes(codec, json!({"acceleration": 1}))],
        "numcodecs.bz2" => vec![bytes(codec, json!({"level": 1}))],
        "numcodecs.lzma" => lzma(),
        "numcodecs.shuffle" => [3, 4, 16].map(|size| bytes(codec, json!({"elementsize": size}))).into(),
        "conditional" => conditional(),
        "numcodecs.pcodec" => pcodec(),
        "zfp" => zfp(),
        "sharding_indexed" => sharding(),
        "cast_value" => cast_value(),
        "packbits" => packbits(),
        "reshape" => [json!([720]), json!([[0, 1]]), json!([2, 12, (-1)]), json!([1, [0], 30])]
            .map(|shape| array("int32", codec, json!({"shape": shape}), json!([(little())])))
            .into(),
        "transpose" => vec![
            chain(
                "int32",
                &[2, 3, 4, 5],
                json!([{"name": codec, "configuration": {"order": [3, 1, 0, 2]}}, (little())]),
            ),
            array("bool", codec, json!({"order": [1, 0]}), json!([{"name": "packbits"}])),
        ],
        "numcodecs.delta" => [("<i4", "<i2"), ("<i4", "<i8"), ("<i4", "<f8"), (">i4", "<u4")]
            .map(|(dtype, astype)| {
                array("int32", codec, json!({"dtype": dtype, "astype": astype}), json!([(little())]))
            })
            .into(),
        "numcodecs.fixedscaleoffset" => [("<f8", "|u1"), ("<f8", "<i8"), (">f8", "<f4")]
            .map(|(dtype, astype)| {
                let configuration = json!({"offset": 1000, "scale": 0.001, "dtype": dtype, "astype": astype});
                array("float64", codec, configuration, json!([(little())]))
            })
            .into(),
        _ => Vec::new(),
    }
}

fn blosc() -> Vec<Chain> {
    let mut chains = Vec::new();
    for cname in ["lz4", "lz4hc", "blosclz", "zstd", "zlib", "snappy"] {
        for (shuffle, block) in [("noshuffle", 0), ("shuffle", 512), ("bitshuffle", 1024)] {
            let configuration =
                json!({"cname": cname, "clevel": 5, "shuffle": shuffle, "typesize": 4, "blocksize": block});
            chains.push(bytes("blosc", configuration));
        }
    }
    chains
}

fn lzma() -> Vec<Chain> {
    let name = "numcodecs.lzma";
    let delta = json!([{"id": 3, "dist": 4}, {"id": 33, "preset": 1}]);
    let one = json!([{"id": 4611686018427387905_u64, "preset": 1}]);
    let plain = |format: u64, check: i64| json!({"format": format, "check": check, "preset": 1, "filters": null});
    vec![
        bytes(name, plain(1, 0)),
        bytes(name, plain(1, 1)),
        bytes(name, plain(1, 4)),
        bytes(name, plain(2, -1)),
        bytes(name, json!({"format": 1, "check": 0, "preset": null, "filters": delta})),
        bytes(name, json!({"format": 3, "check": (-1), "preset": null, "filters": one})),
    ]
}

fn conditional() -> Vec<Chain> {
    let inner = json!([{"name": "zstd", "configuration": {"level": 1, "checksum": false}}]);
    vec![bytes("conditional", json!({"codecs": inner}))]
}

fn pcodec() -> Vec<Chain> {
    let of = |data_type, shape, configuration: Value| {
        chain(data_type, shape, json!([{"name": "numcodecs.pcodec", "configuration": configuration}]))
    };
    vec![
        of("int32", &[24, 30], json!({"level": 8})),
        of("float32", &[720], json!({"level": 1, "delta_spec": "none"})),
        of("int16", &[10, 3], json!({"level": 3, "equal_pages_up_to": 7})),
    ]
}

fn zfp() -> Vec<Chain> {
    let modes = [
        json!({"mode": "reversible"}),
        json!({"mode": "fixed_precision", "precision": 12}),
        json!({"mode": "fixed_rate", "rate": 8}),
        json!({"mode": "fixed_accuracy", "tolerance": 0.5}),
        json!({"mode": "expert", "minbits": 1, "maxbits": 4096, "maxprec": 32, "minexp": (-1074)}),
    ];
    let mut chains = Vec::new();
    for mode in modes {
        for (data_type, shape) in
            [("float32", &[24, 30][..]), ("float64", &[9, 8, 5]), ("float32", &[4, 5, 3, 2]), ("float64", &[50])]
        {
            chains.push(chain(data_type, shape, json!([{"name": "zfp", "configuration": (mode.clone())}])));
        }
    }
    chains
}

fn sharding() -> Vec<Chain> {
    let crc = json!([(little()), {"name": "crc32c"}]);
    let shard = |inner: Value, index: Value, place: &str| {
        let configuration =
            json!({"chunk_shape": [4, 5], "codecs": inner, "index_codecs": index, "index_location": place});
        chain("int32", &[24, 30], json!([{"name": "sharding_indexed", "configuration": configuration}]))
    };
    let gzip = json!([(little()), {"name": "gzip", "configuration": {"level": 1}}]);
    let plain = json!([(little())]);
    let nested = json!([{"name": "sharding_indexed", "configuration": {
        "chunk_shape": [2, 5], "codecs": (gzip.clone()), "index_codecs": (crc.clone()), "index_location": "end"
    }}]);
    vec![
        shard(plain.clone(), crc.clone(), "end"),
        shard(plain.clone(), crc.clone(), "start"),
        shard(gzip.clone(), plain, "end"),
        shard(gzip, crc.clone(), "start"),
        shard(nested, crc, "end"),
    ]
}

fn cast_value() -> Vec<Chain> {
    let scalars = json!({"encode": [["NaN", 0], [7, (-1)]], "decode": [[(-1), 7]]});
    let mut chains = Vec::new();
    for rounding in ["nearest-even", "towards-zero", "towards-positive", "towards-negative", "nearest-away"] {
        for range in ["clamp", "wrap"] {
            let configuration = json!({
                "data_type": "int16", "rounding": rounding, "out_of_range": range, "scalar_map": (scalars.clone())
            });
            chains.push(array("float64", "cast_value", configuration, json!([(little())])));
        }
    }
    for (from, to) in [("int32", "float16"), ("int32", "uint8"), ("float64", "float8_e4m3"), ("float32", "int64")] {
        let then = if to == "float8_e4m3" { json!([{"name": "bytes"}]) } else { json!([(little())]) };
        chains.push(array(from, "cast_value", json!({"data_type": to, "out_of_range": "clamp"}), then));
    }
    chains
}

fn packbits() -> Vec<Chain> {
    [
        ("bool", json!({"padding_encoding": "first_byte"})),
        ("bool", json!({"padding_encoding": "last_byte"})),
        ("int32", json!({"first_bit": 3, "last_bit": 17})),
        ("int16", json!({"padding_encoding": "first_byte", "first_bit": 1, "last_bit": 15})),
    ]
    .into_iter()
    .map(|(data_type, configuration)| array(data_type, "packbits", configuration, json!([])))
    .collect()
}
