//! Chains of codecs with configurations that neither the fixtures nor the matrix of codecs and data types have.

use zarr_json::{Value, json};

/// Greatest number of codecs inside which a codec may be nested.
const MAX_NESTING: usize = 8;

/// Array of one chunk to be created.
pub(super) struct Chain {
    pub(super) data_type: Value,
    pub(super) shape: &'static [u64],
    pub(super) codecs: Value,
}

fn chain(data_type: impl Into<Value>, shape: &'static [u64], codecs: Value) -> Chain {
    Chain { data_type: data_type.into(), shape, codecs }
}

fn little() -> Value {
    json!({"name": "bytes", "configuration": {"endian": "little"}})
}

/// Returns a chain of integers and a codec from bytes to bytes.
fn bytes(name: &str, configuration: Value) -> Chain {
    chain("int32", &[24, 30], json!([(little()), {"name": name, "configuration": configuration}]))
}

/// Returns a chain that begins with a codec from arrays to arrays or to bytes.
fn array(data_type: &'static str, name: &str, configuration: Value, then: Value) -> Chain {
    let mut codecs = vec![json!({"name": name, "configuration": configuration})];
    codecs.extend(then.as_array().unwrap_or_default().iter().cloned());
    chain(data_type, &[24, 30], Value::from(codecs))
}

/// Returns the chains for the codec of a name.
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
        "array_view" => array_view(),
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
            // Behind another one elements are moved for it.
            chain(
                "float32",
                &[5, 4, 3],
                json!([
                    {"name": "bitround", "configuration": {"keepbits": 7}},
                    {"name": codec, "configuration": {"order": [2, 0, 1]}},
                    {"name": "scale_offset", "configuration": {"offset": 1, "scale": 2}},
                    {"name": codec, "configuration": {"order": [0, 2, 1]}},
                    (little())
                ]),
            ),
            array("int16", codec, json!({"order": "F"}), json!([(little())])),
            array("int16", codec, json!({"order": "C"}), json!([(little()), {"name": "crc32c"}])),
        ],
        "numcodecs.delta" => pairs(
            codec,
            &["|i1", "<i4", "|u1", "<u8", "<f2", "<f8"],
            |dtype, astype| json!({"dtype": dtype, "astype": astype}),
        ),
        "numcodecs.quantize" => {
            pairs(codec, &["<f2", "<f4", "<f8"], |dtype, astype| json!({"digits": 2, "dtype": dtype, "astype": astype}))
        }
        "numcodecs.fixedscaleoffset" => {
            let dtypes = ["|i1", "<i8", "|u1", "<u8", "<f2", "<f4", ">f8"];
            let mut chains = pairs(
                codec,
                &dtypes,
                |dtype, astype| json!({"offset": 1000, "scale": 0.001, "dtype": dtype, "astype": astype}),
            );
            chains.extend(pairs(
                codec,
                &dtypes,
                |dtype, astype| json!({"offset": 3, "scale": 2, "dtype": dtype, "astype": astype}),
            ));
            chains.extend(pairs(
                codec,
                &["<i8", "<f8"],
                |dtype, astype| json!({"offset": 0.5, "scale": 7, "dtype": dtype, "astype": astype}),
            ));
            chains
        }
        "numcodecs.astype" => {
            pairs(codec, &NUMPY, |dtype, astype| json!({"decode_dtype": dtype, "encode_dtype": astype}))
        }
        "bytes" => structs(),
        _ => Vec::new(),
    }
}

/// Data types of numpy that filters of numcodecs support.
const NUMPY: [&str; 14] =
    ["|b1", "|i1", "<i2", "<i4", "<i8", "|u1", "<u2", "<u4", "<u8", "<f2", "<f4", "<f8", "<c8", "<c16"];

/// Returns a chain for each pair of data types of numpy.
fn pairs(codec: &str, dtypes: &[&'static str], configuration: fn(&'static str, &'static str) -> Value) -> Vec<Chain> {
    let mut chains = Vec::new();
    for dtype in dtypes {
        for astype in dtypes {
            let Ok((data_type, _)) = zarr_dtype::from_npy_descr(dtype) else { continue };
            let codecs = json!([{"name": codec, "configuration": (configuration(dtype, astype))}, (little())]);
            chains.push(chain(data_type.to_config().short_value(), &[6], codecs));
        }
    }
    chains
}

/// Returns chains of structs with fields of every kind, in different byte orders, and with subarrays.
fn structs() -> Vec<Chain> {
    let list =
        |of: Value, shape: Value| json!({"name": "subarray", "configuration": {"data_type": of, "shape": shape}});
    let inner = json!({"name": "struct", "configuration": {"fields": [
        {"name": "p", "data_type": "int16"}, {"name": "q", "data_type": "bool"}
    ]}});
    let fields = json!([
        {"name": "a", "data_type": (list(json!("int16"), json!([2, 3])))},
        {"name": "b", "data_type": "complex64"},
        {"name": "c", "data_type": (list(inner.clone(), json!([4])))},
        {"name": "d", "data_type": (inner.clone())},
        {"name": "e", "data_type": (list(json!("uint8"), json!([1, 3])))},
        {"name": "f", "data_type": "r24"}
    ]);
    let of = json!({"name": "struct", "configuration": {"fields": fields}});
    let order = json!(["little", "big", ["big", null], ["little", null], null, null]);
    [json!({"endian": "little"}), json!({"endian": "big"}), json!({"field_endian": order})]
        .map(|configuration| chain(of.clone(), &[7], json!([{"name": "bytes", "configuration": configuration}])))
        .into()
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
    // As deep as is allowed.
    let deep = (1..MAX_NESTING).fold(
        json!([{"name": "crc32c"}]),
        |codecs, _| json!([{"name": "conditional", "configuration": {"codecs": codecs}}]),
    );
    vec![bytes("conditional", json!({"codecs": inner})), bytes("conditional", json!({"codecs": deep}))]
}

fn array_view() -> Vec<Chain> {
    let view = |data_type: &str, plain: Value, codec: Value| {
        let codecs = json!([codec, (plain.clone())]);
        json!({"name": "array_view", "configuration": {"data_type": data_type, "bytes_codecs": [plain], "codecs": codecs}})
    };
    let big = || json!({"name": "bytes", "configuration": {"endian": "big"}});
    let zstd = json!({"name": "zstd", "configuration": {"level": 1, "checksum": false}});
    let delta = |dtype: &str| json!({"name": "numcodecs.delta", "configuration": {"dtype": dtype}});
    let packbits = json!({"name": "numcodecs.packbits"});
    let of = |data_type: &str, codecs: Value| chain(data_type, &[24, 30], codecs);
    vec![
        of("int16", json!([(little()), (view("int32", big(), delta(">i4")))])),
        // Only the stored bytes tell the decoded size.
        of("int32", json!([(little()), (zstd.clone()), (view("uint8", json!({"name": "bytes"}), delta("|u1")))])),
        of("bool", json!([{"name": "bytes"}, (view("bool", json!({"name": "bytes"}), packbits)), zstd])),
    ]
}

fn pcodec() -> Vec<Chain> {
    let of = |data_type: &str, shape, configuration: Value| {
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
    let shard = |inner: Value, index: Value, position: &str| {
        let configuration =
            json!({"chunk_shape": [4, 5], "codecs": inner, "index_codecs": index, "index_location": position});
        chain("int32", &[24, 30], json!([{"name": "sharding_indexed", "configuration": configuration}]))
    };
    let gzip = json!([(little()), {"name": "gzip", "configuration": {"level": 1}}]);
    let plain = json!([(little())]);
    let nested = json!([{"name": "sharding_indexed", "configuration": {
        "chunk_shape": [2, 5], "codecs": (gzip.clone()), "index_codecs": (crc.clone()), "index_location": "end"
    }}]);
    let deep = (1..MAX_NESTING).fold(plain.clone(), |codecs, _| {
        json!([{"name": "sharding_indexed", "configuration": {
            "chunk_shape": [4, 5], "codecs": codecs, "index_codecs": (crc.clone()), "index_location": "end"
        }}])
    });
    vec![
        shard(deep, crc.clone(), "start"),
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
        ("uint64", json!({"first_bit": 5, "last_bit": 60})),
        ("int4", json!({})),
        ("float6_e2m3fn", json!({})),
        ("complex_float4_e2m1fn", json!({"padding_encoding": "last_byte"})),
    ]
    .into_iter()
    .map(|(data_type, configuration)| array(data_type, "packbits", configuration, json!([])))
    .collect()
}
