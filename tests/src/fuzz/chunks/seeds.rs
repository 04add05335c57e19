//! Where chunks come from: the fixtures, arrays of every data type that a codec takes, and what numcodecs encoded.

use super::chains::{Chain, chains};
use super::{inputs_of, registry};
use crate::fixtures::{ARCHIVES, cases};
use crate::random::Random;
use crate::{Fault, Outcome, matrix};
use std::path::Path;
use std::sync::Arc;
use zarr_array::{Array, NewArray, Options};
use zarr_grid::Selection;
use zarr_meta::json::Value;
use zarr_meta::{Dialect, NamedConfig, json};
use zarr_store::{MemoryStore, Store};

/// The most chunks of one array.
const OF_AN_ARRAY: usize = 3;
/// Larger chunks are left out: they are slow, and mutations of them say no more.
const MAX_SIZE: usize = 24 << 10;

/// Vectors of the crates of codecs: which codec they are of, and the file.
const VECTORS: &[(&str, &str)] = &[
    ("numcodecs.base64", "zarr-codec-base64/tests/vectors.jsonl"),
    ("numcodecs.bz2", "zarr-codec-bz2/tests/vectors.jsonl"),
    ("numcodecs.categorize", "zarr-codec-categorize/tests/vectors.jsonl"),
    ("numcodecs.lzma", "zarr-codec-lzma/tests/vectors.jsonl"),
    ("numcodecs.json2", "zarr-codec-object/tests/json2.jsonl"),
    ("numcodecs.msgpack2", "zarr-codec-object/tests/msgpack2.jsonl"),
    ("numcodecs.pickle", "zarr-codec-object/tests/pickle.jsonl"),
    ("numcodecs.pcodec", "zarr-codec-pcodec/tests/vectors.jsonl"),
    ("numcodecs.shuffle", "zarr-codec-shuffle/tests/vectors.jsonl"),
    ("numcodecs.vlen-array", "zarr-codec-vlen/tests/vectors.jsonl"),
    ("zfp", "zarr-codec-zfp/tests/vectors.jsonl"),
    ("numcodecs.zfpy", "zarr-codec-zfp/tests/vectors.jsonl"),
];

/// The inputs whose chains have the codec of a name, at any depth.
pub(in crate::fuzz) fn seeds(codec: &str) -> Result<Vec<Vec<u8>>, Fault> {
    let mut inputs = of_fixtures(codec)?;
    for array in matrix::arrays(codec)? {
        inputs.extend(inputs_of(&array, 1)?);
    }
    for (_, file) in VECTORS.iter().filter(|(name, _)| *name == codec) {
        inputs.extend(of_vectors(codec, &Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates").join(file))?);
    }
    for chain in chains(codec) {
        inputs.extend(of_chain(&chain)?);
    }
    if codec == "numcodecs.pickle" {
        inputs.extend(of_pickles());
    }
    if codec.contains("json") || codec.contains("msgpack") {
        inputs.extend(of_objects(codec)?);
    }
    inputs.retain(|input| input.len() <= MAX_SIZE);
    Ok(inputs)
}

/// An array of one chunk in one line, and the chunk.
pub(super) fn input(data_type: Value, fill: Option<Value>, shape: &[u64], codecs: Vec<Value>, chunk: &[u8]) -> Vec<u8> {
    let document = json!({
        "zarr_format": 3, "node_type": "array", "shape": (shape.to_vec()), "data_type": data_type,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": (shape.to_vec())}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": (fill.unwrap_or_default()), "codecs": codecs, "attributes": {}
    });
    [document.to_string().as_bytes(), b"\n", chunk].concat()
}

fn has(codecs: &[NamedConfig], name: &str) -> bool {
    let is_name = |value: &Value| {
        let entry = value.as_str().and_then(|found| registry().codecs.get(found).copied());
        entry.is_some_and(|entry| entry.names.first() == Some(&name))
    };
    fn any(value: &Value, is: &dyn Fn(&Value) -> bool) -> bool {
        value.get("name").is_some_and(is)
            || value.as_array().is_some_and(|items| items.iter().any(|item| any(item, is)))
            || value.as_object().is_some_and(|map| map.iter().any(|(_, item)| any(item, is)))
    }
    codecs.iter().any(|codec| {
        is_name(&Value::from(codec.name.as_str())) || codec.configuration.iter().any(|(_, item)| any(item, &is_name))
    })
}

fn of_fixtures(codec: &str) -> Result<Vec<Vec<u8>>, Fault> {
    let mut inputs = Vec::new();
    for archive in ARCHIVES {
        for case in cases(archive)? {
            let Outcome::Good(contents) = &case.expected.outcome else { continue };
            let Ok(store) = zarr::open_store(&case.url()) else { continue };
            for path in contents.arrays.keys() {
                let Ok(found) = zarr::open_node(&*store, path, None) else { continue };
                let Ok(array) = Array::from_found(&store, found, &registry(), Options::default()) else { continue };
                if has(&array.metadata().codecs, codec) {
                    inputs.extend(inputs_of(&array, OF_AN_ARRAY)?);
                }
            }
        }
    }
    Ok(inputs)
}

/// What numcodecs encoded, as its crate's tests have it.
fn of_vectors(codec: &str, file: &Path) -> Result<Vec<Vec<u8>>, Fault> {
    let text = std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let mut inputs = Vec::new();
    for line in text.lines().filter(|line| !line.is_empty()) {
        let case = Value::from_json(line).map_err(|error| format!("{}: {error}", file.display()))?;
        let member = |name: &str| case.get(name).cloned();
        let name = member("name").unwrap_or_else(|| Value::from(codec));
        let Some(chunk) = member("encoded").as_ref().and_then(Value::as_str).and_then(from_hex) else { continue };
        let decoded = member("decoded").as_ref().and_then(Value::as_str).map_or(0, |text| text.len() as u64 / 2);
        let named = json!({"name": name, "configuration": (member("configuration").unwrap_or_default())});
        let data_type = member("data_type").or_else(|| member("dtype"));
        // Codecs of bytes have no elements.
        let codecs = if data_type.is_some() { vec![named] } else { vec![json!({"name": "bytes"}), named] };
        let data_type = data_type.unwrap_or_else(|| Value::from("uint8"));
        let shape: Vec<u64> = match member("shape").as_ref().and_then(Value::as_array) {
            Some(shape) => shape.iter().filter_map(Value::as_u64).collect(),
            None => vec![decoded.max(1)],
        };
        let fill = match data_type.as_str() {
            Some("string") => json!(""),
            Some("v2_object") => json!(null),
            Some(name) if name.starts_with("complex") => json!([0, 0]),
            Some(_) => json!(0),
            None => json!([]),
        };
        inputs.push(input(data_type, Some(fill), &shape, codecs, &chunk));
    }
    Ok(inputs)
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let byte = |at: usize| u8::from_str_radix(text.get(2 * at..2 * at + 2)?, 16).ok();
    (0..text.len() / 2).map(byte).collect()
}

/// Objects of every kind.
fn of_objects(codec: &str) -> Result<Vec<Vec<u8>>, Fault> {
    let fault = |error: zarr_array::Error| error.to_string();
    let long = "text ".repeat(60);
    let values = [
        json!(null),
        json!([true, false, 0, (-1), 127, 128, (-129), 65536, (-70000), 4294967296_u64, 1.5]),
        json!({"a": {"b": [{"c": ""}]}, "東": "🦀\u{1}\\\"", "": {}}),
        json!(long),
        json!([[[[]]], [9223372036854775807_i64, 18446744073709551615_u64]]),
        json!("\u{2028}\u{ff}"),
    ];
    let mut inputs = Vec::new();
    for shape in [&[2, 3][..], &[6]] {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let new = NewArray::new(shape, "v2_object").chunks(shape).codecs(vec![NamedConfig::new(codec)]);
        let array = Array::create(&store, "/", new.dialect(Dialect::V2), &registry()).map_err(fault)?;
        array.write(Selection::all(), &values).map_err(fault)?;
        inputs.extend(inputs_of(&array, 1)?);
    }
    Ok(inputs)
}

/// Chunks of a chain: smooth numbers of which some are noise, and fill values at the end.
fn of_chain(chain: &Chain) -> Result<Vec<Vec<u8>>, Fault> {
    let codecs = chain.codecs.as_array().unwrap_or_default().iter().filter_map(NamedConfig::from_value);
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let new = NewArray::new(chain.shape, chain.data_type).chunks(chain.shape).codecs(codecs.collect::<Vec<_>>());
    let written = || -> zarr_array::Result<Array> {
        let array = Array::create(&store, "/", new, &registry())?;
        let mut random = Random::new(7);
        let count = i32::try_from(chain.shape.iter().product::<u64>()).unwrap_or(0);
        let elements = (0..count).map(|at| match at {
            at if at * 6 > count * 5 => 0,
            at if at % 90 < 30 => i32::try_from(random.below(1 << 20)).unwrap_or(0),
            at => at * 3,
        });
        match chain.data_type {
            "float32" => array.write(Selection::all(), &elements.map(|at| at as f32 / 8.0).collect::<Vec<_>>())?,
            "float64" => {
                array.write(Selection::all(), &elements.map(|at| f64::from(at % 30_000)).collect::<Vec<_>>())?
            }
            "int16" => array.write(Selection::all(), &elements.map(|at| at as i16 / 4).collect::<Vec<_>>())?,
            "bool" => array.write(Selection::all(), &elements.map(|at| at % 3 == 0).collect::<Vec<_>>())?,
            _ => array.write(Selection::all(), &elements.collect::<Vec<_>>())?,
        }
        Ok(array)
    };
    inputs_of(&written().map_err(|error| format!("{}: {error}", chain.codecs))?, 1)
}

/// What Python makes of `numpy.array([..], dtype=object)` by protocol 4, with these elements.
fn of_pickles() -> Vec<Vec<u8>> {
    let head = b"\x80\x04cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\0\x85C\x01b\x87R(K\x01K\x03\x85cnumpy\ndtype\n\x8c\x02O8\x89\x88\x87R(K\x03\x8c\x01|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK?tb\x89](";
    let elements: [&[u8]; 3] = [
        b"}(\x8c\x01aK\x01\x8c\x01b](K\x02}euI12\n\x8a\x02\xff\x7f",
        b"F1.5\nVa\\u00e9\nX\x02\0\0\0ab",
        b"](]q\x01h\x01K\x01eC\x03abcB\x01\0\0\0x",
    ];
    let codecs = || vec![json!({"name": "numcodecs.pickle", "configuration": {"protocol": 4}})];
    let chunk = |elements: &[u8]| [&head[..], elements, b"etb."].concat();
    elements.iter().map(|elements| input(json!("v2_object"), None, &[3], codecs(), &chunk(elements))).collect()
}
