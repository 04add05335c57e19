//! Chunks as seeds: from the fixtures, from arrays of every data type that a codec supports, and from numcodecs.

use super::chains::{Chain, chains};
use super::{inputs_of, registry};
use crate::fixtures::{ARCHIVES, cases};
use crate::random::Random;
use crate::{Fault, Outcome, matrix};
use std::path::Path;
use std::sync::Arc;
use zarr_array::{Array, ArrayData, NewArray, Options};
use zarr_dtype::FillValue;
use zarr_grid::Selection;
use zarr_json::{NamedConfig, Value, json};
use zarr_meta::Dialect;
use zarr_store::{MemoryStore, Store};

/// Greatest number of chunks of one array.
const OF_AN_ARRAY: usize = 3;
/// Greatest size of a chunk in bytes: larger ones are slow, and their mutations find no more.
const MAX_SIZE: usize = 24 << 10;

/// Files of test vectors of the crates of codecs, each with its codec.
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

/// Returns the inputs whose chains have the codec of a name, at any depth.
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
    if codec == "zstd" {
        inputs.extend(of_frames());
    }
    if codec == "n5_default" {
        inputs.extend(of_blocks());
    }
    if codec == "numcodecs.pickle" {
        inputs.extend(of_pickles());
    }
    if codec.contains("json") || codec.contains("msgpack") {
        inputs.extend(of_objects(codec)?);
    }
    inputs.retain(|input| input.len() <= MAX_SIZE || codec == "numcodecs.pickle");
    Ok(inputs)
}

/// Returns an input: the document of an array of one chunk in one line, and the chunk.
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
        entry.is_some_and(|entry| entry.name == name)
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
            let Ok(store) = zarr::store::open(&case.url()) else { continue };
            for path in contents.arrays.keys() {
                let Ok(found) = zarr::hierarchy::open_node(&*store, path, None) else { continue };
                let Ok(array) = Array::from_found(&store, found, &registry(), Options::default()) else { continue };
                if has(&array.metadata().codecs, codec) {
                    inputs.extend(inputs_of(&array, OF_AN_ARRAY)?);
                }
            }
        }
    }
    Ok(inputs)
}

/// Returns chunks that numcodecs encoded, from the tests of the crate of the codec.
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

/// Returns chunks of JSON values of every kind, for codecs of objects.
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
        let new =
            NewArray::new(shape, "v2_object").chunks(shape).codecs(vec![NamedConfig::new(codec)]).map_err(fault)?;
        let array = Array::create(&store, "/", new.dialect(Dialect::V2), &registry()).map_err(fault)?;
        array.write(Selection::all(), &values).map_err(fault)?;
        inputs.extend(inputs_of(&array, 1)?);
    }
    Ok(inputs)
}

/// Returns chunks of a chain: smooth numbers with some noise, and fill values at the end.
fn of_chain(chain: &Chain) -> Result<Vec<Vec<u8>>, Fault> {
    let codecs = chain.codecs.as_array().unwrap_or_default().iter().filter_map(NamedConfig::from_value);
    let data_type = NamedConfig::from_value(&chain.data_type).ok_or("a data type has a name")?;
    let data_type = registry().data_types.from_config(&data_type).map_err(|error| error.to_string())?;
    let fill = FillValue::zero(&data_type).to_json(&data_type);
    let array =
        input(chain.data_type.clone(), Some(fill), chain.shape, codecs.map(|codec| codec.to_value()).collect(), &[]);
    let (document, _) = super::line(&array);
    // Not all filters take all types.
    let Some(array) = super::opened(&document) else { return Ok(Vec::new()) };
    let written = || -> zarr_array::Result<()> {
        let mut random = Random::new(7);
        let count = i32::try_from(chain.shape.iter().product::<u64>()).unwrap_or(0);
        let elements = (0..count).map(|at| match at {
            at if at * 6 > count * 5 => 0,
            at if at % 90 < 30 => i32::try_from(random.below(1 << 20)).unwrap_or(0),
            at => at * 3,
        });
        match chain.data_type.as_str() {
            Some("float32") => array.write(Selection::all(), &elements.map(|at| at as f32 / 8.0).collect::<Vec<_>>()),
            Some("float64") => {
                array.write(Selection::all(), &elements.map(|at| f64::from(at % 30_000)).collect::<Vec<_>>())
            }
            Some("int16") => array.write(Selection::all(), &elements.map(|at| at as i16 / 4).collect::<Vec<_>>()),
            Some("bool") => array.write(Selection::all(), &elements.map(|at| at % 3 == 0).collect::<Vec<_>>()),
            Some("int32") => array.write(Selection::all(), &elements.collect::<Vec<_>>()),
            // Zeros and ones, which every type has.
            _ => {
                let size = data_type.item_size() * usize::try_from(count).unwrap_or(0);
                let items: Vec<u8> = (0..size).map(|at| u8::from(at % 5 == 0)).collect();
                array.write(Selection::all(), ArrayData::from_items(&data_type, chain.shape, &items, None)?.view())
            }
        }
    };
    match written() {
        Ok(()) => inputs_of(&array, 1),
        // A value that a type or a filter does not have.
        Err(error) if error.kind() == zarr_array::ErrorKind::Argument => Ok(Vec::new()),
        Err(error) => Err(format!("{}: {error}", chain.codecs)),
    }
}

/// Returns zstd frames without their sizes, single and several, for elements of a known size and others.
fn of_frames() -> Vec<Vec<u8>> {
    // RFC 8878: a frame with a block of bytes as they are.
    let frame = |bytes: &[u8]| {
        let [low, middle, high, _] = ((bytes.len() as u32) << 3 | 1).to_le_bytes();
        [&[0x28, 0xb5, 0x2f, 0xfd, 0, 0x58, low, middle, high][..], bytes].concat()
    };
    let skipped = b"\x50\x2a\x4d\x18\x03\0\0\0abc";
    let elements = b"\x02\0\0\0\x01\0\0\0a\x02\0\0\0bc";
    let frames = [
        frame(elements),
        [frame(&elements[..7]), skipped.to_vec(), frame(&elements[7..])].concat(),
        [skipped.to_vec(), frame(elements)].concat(),
    ];
    let zstd = json!({"name": "zstd", "configuration": {"level": 1, "checksum": false}});
    let of = |chunk: &Vec<u8>| {
        let vlen = vec![json!({"name": "vlen-bytes"}), zstd.clone()];
        let plain = vec![json!({"name": "bytes"}), zstd.clone()];
        let size = elements.len() as u64;
        [
            input(json!("bytes"), Some(json!("")), &[2], vlen, chunk),
            input(json!("uint8"), Some(json!(0)), &[size], plain, chunk),
        ]
    };
    frames.iter().flat_map(of).collect()
}

/// Returns blocks of N5 that are smaller or larger than the chunk.
fn of_blocks() -> Vec<Vec<u8>> {
    let order = json!({"name": "transpose", "configuration": {"order": [1, 0]}});
    let bytes = json!({"name": "bytes", "configuration": {"endian": "big"}});
    let codecs = vec![json!({"name": "n5_default", "configuration": {"codecs": [order, bytes]}})];
    let block = |lens: [u8; 2]| {
        let head = [0, 0, 0, 2, 0, 0, 0, lens[0], 0, 0, 0, lens[1]];
        let elements: Vec<u8> = (0..u16::from(lens[0]) * u16::from(lens[1])).flat_map(u16::to_be_bytes).collect();
        [&head[..], &elements].concat()
    };
    let of = |lens| input(json!("int16"), Some(json!(-1)), &[5, 4], codecs.clone(), &block(lens));
    [[5, 4], [2, 4], [5, 1], [3, 2], [7, 6], [1, 9]].map(of).into()
}

/// Returns the pickles of `numpy.array([..], dtype=object)` by protocol 4, with different elements.
fn of_pickles() -> Vec<Vec<u8>> {
    let head = |shape: &[u8], fortran: u8| {
        let begin = b"\x80\x04cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\0\x85C\x01b\x87R(K\x01";
        let dtype = b"cnumpy\ndtype\n\x8c\x02O8\x89\x88\x87R(K\x03\x8c\x01|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK?tb";
        [begin, shape, dtype, &[fortran], b"]("].concat()
    };
    // Lists of lists, each ten times the one before.
    let mut laughs = b"]q\0(Veee\nVf\nVg\ne".to_vec();
    for index in 1..12_u8 {
        laughs.extend([b"]q", &[index][..], b"(", &[b'h', index - 1].repeat(10), b"e"].concat());
    }
    laughs.extend(b"K\x01K\x02");
    // Bytes encoded several times from one string.
    let text = [b"X\xff\0\0\0", &[b'x'; 255][..], b"q\0"].concat();
    let call = b"c_codecs\nencode\nh\0X\x06\0\0\0latin1\x86R";
    let calls = [&text[..], b"](", call, call, b"e", call].concat();
    // A long string, repeated by references to memoized values.
    let call = b"h\x02h\0h\x01\x86R";
    let text = [b"X\0\0\x01\0", &[b'y'; 1 << 16][..], b"q\0X\x06\0\0\0latin1q\x01c_codecs\nencode\nq\x02"].concat();
    let many = [&text[..], b"](", &call.repeat(6000), b"e", b"K\0"].concat();
    // A list that holds itself.
    let endless = b"]q\x05(h\x05eK\x01K\x02";
    let elements: [(&[u8], u8, &[u8]); 10] = [
        (b"K\x03\x85", 0x89, b"}(\x8c\x01aK\x01\x8c\x01b](K\x02}euI12\n\x8a\x02\xff\x7f"),
        (b"K\x03\x85", 0x89, b"F1.5\nVa\\u00e9\nX\x02\0\0\0ab"),
        (b"K\x03\x85", 0x89, b"](]q\x01h\x01K\x01eC\x03abcB\x01\0\0\0x"),
        (b"K\x02K\x03\x86", 0x88, b"K\0K\x01K\x02r\x07\x01\0\0K\x03j\x07\x01\0\0K\x05"),
        (b"K\x02K\x03K\x02\x87", 0x88, b"K\0K\x01K\x02K\x03K\x04K\x05K\x06K\x07K\x08K\x09K\x0aK\x0b"),
        (b"K\x03\x85", 0x89, b"cnumpy\nndarray\nK\x01K\x02"),
        (b"K\x0e\x85", 0x89, &laughs),
        (b"K\x03\x85", 0x89, &calls),
        (b"K\x05\x85", 0x89, &many),
        (b"K\x03\x85", 0x89, endless),
    ];
    let codecs = || vec![json!({"name": "numcodecs.pickle", "configuration": {"protocol": 4}})];
    let chunk = |(shape, fortran, elements): &(&[u8], u8, &[u8])| {
        let chunk = [&head(shape, *fortran)[..], elements, b"etb."].concat();
        let lengths: Vec<u64> = shape.iter().filter(|byte| **byte < 0x20).map(|byte| u64::from(*byte)).collect();
        input(json!("v2_object"), None, &lengths, codecs(), &chunk)
    };
    elements.iter().map(chunk).collect()
}
