//! Laws of valid configurations of codecs, from the documents that define them.

use super::super::chunks::registry;
use zarr_codec::{CodecEntry, Kind};
use zarr_dtype::DataType;
use zarr_json::{NamedConfig, Number, Value};

/// Members that are integers: the codec, the member, and its least and greatest value.
const INTEGERS: &[(&str, &str, i64, i64)] = &[
    ("gzip", "level", -1, 9),
    ("numcodecs.zlib", "level", -1, 9),
    ("zstd", "level", -131_072, 22),
    ("numcodecs.bz2", "level", 1, 9),
    ("numcodecs.lzma", "format", 1, 3),
    ("numcodecs.lzma", "check", -1, 15),
    ("blosc", "clevel", 0, 9),
    ("blosc", "typesize", 1, i32::MAX as i64),
    ("blosc", "blocksize", 0, i32::MAX as i64),
    ("numcodecs.shuffle", "elementsize", 0, i32::MAX as i64),
    ("numcodecs.bitround", "keepbits", 0, u32::MAX as i64),
    ("numcodecs.pcodec", "level", 0, 12),
    ("numcodecs.pcodec", "delta_encoding_order", 0, 7),
    ("numcodecs.pcodec", "equal_pages_up_to", 1, i64::MAX),
    ("packbits", "first_bit", 0, 63),
    ("packbits", "last_bit", 0, 63),
    ("numcodecs.jenkins_lookup3", "initval", 0, u32::MAX as i64),
    ("numcodecs.zfpy", "mode", 2, 5),
    ("numcodecs.zfpy", "precision", -1, u32::MAX as i64),
    ("conditional", "header_bits", 0, 1 << 20),
];

/// Members that are words: the codec, the member, and its possible words.
const WORDS: &[(&str, &str, &[&str])] = &[
    ("blosc", "cname", &["blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"]),
    ("bytes", "endian", &["little", "big"]),
    ("sharding_indexed", "index_location", &["start", "end"]),
    ("zarrs.vlen", "index_location", &["start", "end"]),
    ("zarrs.vlen", "index_data_type", &["uint32", "uint64"]),
    ("packbits", "padding_encoding", &["none", "first_byte", "last_byte"]),
    (
        "cast_value",
        "rounding",
        &["nearest-even", "nearest-away", "towards-zero", "towards-positive", "towards-negative"],
    ),
    ("cast_value", "out_of_range", &["clamp", "wrap"]),
    ("crc32c", "location", &["start", "end"]),
    ("numcodecs.crc32", "location", &["start", "end"]),
    ("numcodecs.adler32", "location", &["start", "end"]),
    ("zfp", "mode", &["fixed_rate", "fixed_precision", "fixed_accuracy", "reversible", "expert"]),
];

/// Greatest depth of nested chains. The next constant is the greatest length of a chain.
const MAX_NESTING: usize = 8;
const MAX_CODECS: usize = 64;

/// Returns the name that is written for a codec; `None` for an unknown codec.
pub(in crate::fuzz) fn canonical(name: &str) -> Option<&'static str> {
    registry().codecs.get(name).map(|entry| entry.name)
}

/// Checks a chain for chunks of `shape`, if that is known. `nesting` is the number of codecs inside which the chain is nested.
pub(in crate::fuzz) fn chain(codecs: &[NamedConfig], shape: Option<&[u64]>, nesting: usize) {
    assert!(nesting <= MAX_NESTING, "codecs that lie {nesting} levels deep");
    assert!(codecs.len() <= MAX_CODECS, "a chain of {} codecs", codecs.len());
    let mut shape = shape.map(<[u64]>::to_vec);
    let mut are_bytes = false;
    for codec in codecs {
        let Some((name, kind)) = registry().codecs.get(&codec.name).map(|entry| (entry.name, entry.kind())) else {
            assert!(!codec.must_understand, "codec {} is not known", codec.name);
            continue;
        };
        if kind == Kind::ArrayToArray {
            assert!(!are_bytes, "{name} behind bytes");
            shape = shape.and_then(|shape| encoded_shape(name, codec, &shape));
        } else {
            assert_ne!(are_bytes, kind == Kind::ArrayToBytes, "{name} at the wrong position");
            are_bytes = true;
        }
        one(name, codec);
        nested(name, codec, shape.as_deref(), nesting);
    }
    assert!(are_bytes, "a chain that ends with elements");
}

/// Checks that `packbits` packs bits that the data type has, unless a codec before it changes the data type.
pub(in crate::fuzz) fn packed_bits(codecs: &[NamedConfig], data_type: &DataType) {
    let moves = |codec: &&NamedConfig| matches!(canonical(&codec.name), Some("transpose" | "reshape"));
    let Some(codec) = codecs.iter().find(|codec| !moves(codec)) else { return };
    if canonical(&codec.name) != Some("packbits") {
        return;
    }
    let name = data_type.to_config().name;
    // Names say how many bits there are: of both parts in `complex64` and `complex128`, of one in the other complex types.
    let from_digits = name.trim_start_matches(|c: char| !c.is_ascii_digit());
    let digits = from_digits.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
    let bits = match (name.as_str(), digits.parse::<u64>()) {
        ("bool", _) => 1,
        ("complex64" | "complex128", Ok(both)) => both / 2,
        (_, Ok(bits)) => bits,
        _ => return,
    };
    for of in ["first_bit", "last_bit"] {
        let bit = codec.configuration.get(of).and_then(Value::as_u64).unwrap_or(0);
        assert!(bit < bits, "{of} of packbits is {bit}, of numbers of {bits} bits: {name}");
    }
}

/// Checks the configuration of one codec.
fn one(name: &str, codec: &NamedConfig) {
    let member = |name: &str| codec.configuration.get(name).filter(|value| !value.is_null());
    let integer = |value: &Value| value.as_number().and_then(Number::to_i128);
    // `numcodecs.zstd` accepts any level.
    let has_range = |of: &str| (name, of) != ("zstd", "level") || codec.name == name;
    for (_, of, least, greatest) in INTEGERS.iter().filter(|(codec, of, ..)| *codec == name && has_range(of)) {
        if let Some(value) = member(of) {
            let range = i128::from(*least)..=i128::from(*greatest);
            assert!(integer(value).is_some_and(|value| range.contains(&value)), "{of} of {name} is {value}");
        }
    }
    for (_, of, words) in WORDS.iter().filter(|(codec, ..)| *codec == name) {
        if let Some(value) = member(of) {
            assert!(value.as_str().is_some_and(|word| words.contains(&word)), "{of} of {name} is {value}");
        }
    }
    let at_least = |of: &str, least: i128| {
        let value = member(of).and_then(integer);
        assert!(value.is_none_or(|value| value >= least), "{of} of {name} is {value:?}, less than {least}");
    };
    match codec.name.as_str() {
        "gzip" => at_least("level", 0),
        "bitround" => at_least("keepbits", 1),
        "packbits" => at_least("last_bit", member("first_bit").and_then(integer).unwrap_or(0)),
        "scale_offset" => assert_ne!(member("scale").and_then(Value::as_f64), Some(0.0), "a scale of 0"),
        "blosc" | "numcodecs.blosc" => {
            let shuffle = member("shuffle");
            let known = |value: &Value| match value.as_str() {
                Some(word) => matches!(word, "noshuffle" | "shuffle" | "bitshuffle"),
                None => value.as_i64().is_some_and(|number| (-1..=2).contains(&number)),
            };
            assert!(shuffle.is_none_or(known), "shuffle of blosc is {shuffle:?}");
        }
        _ => {}
    }
}

/// Returns the encoded shape of a codec from arrays to arrays, if it is simple to compute.
fn encoded_shape(name: &str, codec: &NamedConfig, shape: &[u64]) -> Option<Vec<u64>> {
    match name {
        "transpose" => {
            let order = codec.configuration.get("order");
            let Some(axes) = order.and_then(Value::as_array) else {
                let word = order.and_then(Value::as_str);
                assert!(matches!(word, Some("C" | "F")), "the order of transpose is {order:?}");
                let turned = if word == Some("F") { shape.iter().rev().copied().collect() } else { shape.to_vec() };
                return Some(turned);
            };
            let axes: Vec<_> = axes.iter().filter_map(Value::as_u64).collect();
            let mut sorted = axes.clone();
            sorted.sort_unstable();
            let is_permutation = sorted.iter().copied().eq(0..shape.len() as u64);
            assert!(is_permutation, "the order of transpose is {order:?} for {} axes", shape.len());
            Some(axes.iter().filter_map(|&axis| shape.get(axis as usize).copied()).collect())
        }
        "reshape" => {
            let items = codec.configuration.get("shape").and_then(Value::as_array)?;
            let lengths: Option<Vec<u64>> = items.iter().map(Value::as_u64).collect();
            if let Some(lengths) = &lengths {
                let count = |shape: &[u64]| shape.iter().try_fold(1_u64, |count, &len| count.checked_mul(len));
                assert_eq!(count(lengths), count(shape), "elements of the shapes that reshape has");
            }
            merged_axes(items, shape);
            lengths
        }
        "numcodecs.packbits" => None,
        _ => Some(shape.to_vec()),
    }
}

/// Checks that axes that `reshape` merges have the same number of elements before them as the merged axis.
fn merged_axes(items: &[Value], shape: &[u64]) {
    let product = |mut lens: std::slice::Iter<'_, u64>| lens.try_fold(1_u64, |product, len| product.checked_mul(*len));
    // Behind a length that is left out it is not known.
    let mut before = Some(1_u64);
    for item in items {
        let length = match item.as_array() {
            None => item.as_u64(),
            Some(axes) => {
                let axes: Vec<_> = axes.iter().filter_map(Value::as_u64).map(|axis| axis as usize).collect();
                if let Some(&first) = axes.first().filter(|_| before.is_some()) {
                    let due = shape.get(..first).and_then(|lens| product(lens.iter()));
                    assert_eq!(before, due, "elements in front of axes {axes:?} of {shape:?}: {items:?}");
                }
                let lens: Vec<_> = axes.iter().filter_map(|&axis| shape.get(axis).copied()).collect();
                product(lens.iter())
            }
        };
        before = before.zip(length).and_then(|(before, length)| before.checked_mul(length));
    }
}

/// Checks the chains in the configuration of a codec.
fn nested(name: &str, codec: &NamedConfig, shape: Option<&[u64]>, nesting: usize) {
    let list = |of: &str| -> Option<Vec<NamedConfig>> {
        codec.configuration.get(of)?.as_array()?.iter().map(NamedConfig::from_value).collect()
    };
    let deeper = nesting + 1;
    match name {
        "sharding_indexed" => {
            let inner = codec.configuration.get("chunk_shape").and_then(Value::as_array).unwrap_or_default();
            let inner: Vec<_> = inner.iter().filter_map(Value::as_u64).collect();
            assert!(inner.iter().all(|&len| len > 0), "inner chunks of shape {inner:?}");
            if let Some(shape) = shape {
                let divides = shape.len() == inner.len() && shape.iter().zip(&inner).all(|(len, part)| len % part == 0);
                assert!(divides, "inner chunks of shape {inner:?} in a shard of shape {shape:?}");
            }
            chain(&list("codecs").expect("a shard has codecs"), Some(&inner), deeper);
            chain(&list("index_codecs").expect("an index has codecs"), None, deeper);
        }
        "n5_default" => {
            let inner = list("codecs").expect("a block has codecs");
            if let Some(shape) = shape {
                let order = inner.first().and_then(|transpose| transpose.configuration.get("order"));
                let axes = order.and_then(Value::as_array).unwrap_or_default().iter().map(Value::as_u64);
                assert!(axes.eq((0..shape.len() as u64).rev().map(Some)), "the order of blocks is {order:?}");
            }
            chain(&inner, None, deeper);
        }
        "optional" => {
            chain(&list("mask_codecs").expect("a mask has codecs"), None, deeper);
            chain(&list("data_codecs").expect("elements have codecs"), None, deeper);
        }
        "zarrs.vlen" => {
            chain(&list("index_codecs").expect("offsets have codecs"), None, deeper);
            chain(&list("data_codecs").expect("elements have codecs"), None, deeper);
        }
        "array_view" => {
            chain(&list("bytes_codecs").expect("elements have codecs"), None, deeper);
            chain(&list("codecs").expect("elements have codecs"), None, deeper);
        }
        "conditional" => {
            for codec in list("codecs").expect("there are codecs to choose from") {
                assert!(deeper <= MAX_NESTING, "codecs that lie {deeper} levels deep");
                let kind = registry().codecs.get(&codec.name).map(CodecEntry::kind);
                assert_eq!(kind, Some(Kind::BytesToBytes));
            }
        }
        _ => {}
    }
}
