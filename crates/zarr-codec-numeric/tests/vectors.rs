//! Chunks that numcodecs, zarr-python, cast-value-rs and ml_dtypes encoded and decoded; `make_vectors.py` tells how.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use base64::prelude::{BASE64_STANDARD, Engine};
use std::collections::BTreeMap;
use std::io::Read;
use std::sync::Arc;
use zarr_codec::testing::build;
use zarr_codec::{ArrayToArray, Codec, CodecEntry, ElementSpec, Error, View, ViewMut};
use zarr_codec_numeric::{ASTYPE, BITROUND, CAST_VALUE, DELTA, FIXED_SCALE_OFFSET, QUANTIZE, SCALE_OFFSET};
use zarr_dtype::{DataType, FillValue};
use zarr_json::{NamedConfig, Value};

const CODECS: [&CodecEntry; 7] =
    [&DELTA, &FIXED_SCALE_OFFSET, &QUANTIZE, &BITROUND, &ASTYPE, &SCALE_OFFSET, &CAST_VALUE];

#[test]
fn others_encode_and_decode_the_same() {
    let mut text = String::new();
    flate2::read::GzDecoder::new(&include_bytes!("vectors.json.gz")[..]).read_to_string(&mut text).unwrap();
    let cases = Value::from_json(&text).unwrap();
    let mut counts = BTreeMap::new();
    let mut wrong = Vec::new();
    for case in cases.as_array().unwrap() {
        *counts.entry(case.get("codec").and_then(Value::as_str).unwrap()).or_insert(0) += 1;
        if let Err(what) = check(case) {
            wrong.push(format!("{what}: {case}"));
        }
    }
    assert!(wrong.is_empty(), "{} cases differ:\n{}", wrong.len(), wrong[..wrong.len().min(40)].join("\n"));
    assert!(counts.len() == 7 && counts.values().all(|&count| count >= 200), "{counts:?}");
}

fn check(case: &Value) -> Result<(), String> {
    let name = case.get("codec").and_then(Value::as_str).unwrap();
    let entry = CODECS.into_iter().find(|entry| entry.is_called(name)).unwrap();
    let configuration = case.get("configuration").map_or_else(|| "{}".to_owned(), Value::to_string);
    let data_type = DataType::from_config(&NamedConfig::from_value(case.get("type").unwrap()).unwrap()).unwrap();
    // `scale_offset` must be able to encode the fill value, and always can its offset.
    let offset = case.get("configuration").and_then(|members| members.get("offset"));
    let fill = match offset.filter(|_| name == "scale_offset") {
        Some(offset) => FillValue::parse(&data_type, offset).unwrap(),
        None => FillValue::zero(&data_type),
    };
    let element = ElementSpec::new(data_type, fill);
    let codec = match build(entry, &configuration, &element) {
        Ok(Codec::ArrayToArray(codec)) => codec,
        other => return Err(format!("not built: {other:?}")),
    };
    let shape: Vec<usize> =
        case.get("shape").and_then(Value::as_array).unwrap().iter().map(|len| len.as_u64().unwrap() as usize).collect();
    let size = |element: &ElementSpec| element.layout().scalar().map_or(1, |scalar| scalar.size());
    let items = |member: &str, element: &ElementSpec| {
        let text = case.get(member).and_then(Value::as_str)?;
        Some(native(BASE64_STANDARD.decode(text).unwrap(), size(element)))
    };
    let decoded = items("items", &element).unwrap();
    let encoded = items("encoded", codec.encoded());
    let back = if case.get("decoded").is_some() { items("decoded", &element) } else { Some(decoded.clone()) };
    let found = run(&codec, true, &decoded, &shape, codec.encoded().item_size());
    compare("encoded", encoded.as_deref(), found)?;
    if let Some(encoded) = encoded {
        compare("decoded", back.as_deref(), run(&codec, false, &encoded, &shape, element.item_size()))?;
    }
    Ok(())
}

fn run(
    codec: &Arc<dyn ArrayToArray>,
    encode: bool,
    items: &[u8],
    shape: &[usize],
    item: usize,
) -> Result<Vec<u8>, Error> {
    let count: usize = shape.iter().product();
    let view = View::new(items, items.len() / count, shape).unwrap();
    let mut memory = vec![0xEE; count * item];
    let mut out = ViewMut::new(&mut memory, item, shape).unwrap();
    if encode {
        codec.encode(&view, &mut out)?
    } else {
        codec.decode(&view, &mut out)?
    }
    Ok(memory)
}

fn compare(side: &str, due: Option<&[u8]>, found: Result<Vec<u8>, Error>) -> Result<(), String> {
    match (due, found) {
        (None, Err(_)) => Ok(()),
        (None, Ok(_)) => Err(format!("{side} though it should be refused")),
        (Some(_), Err(error)) => Err(format!("not {side}: {error}")),
        (Some(due), Ok(found)) if *due == found => Ok(()),
        (Some(due), Ok(found)) => Err(format!("{side} {found:02x?}, should be {due:02x?}")),
    }
}

/// Converts little-endian scalars to the byte order of this machine.
fn native(mut bytes: Vec<u8>, size: usize) -> Vec<u8> {
    if cfg!(target_endian = "big") {
        bytes.chunks_mut(size).for_each(<[u8]>::reverse);
    }
    bytes
}
