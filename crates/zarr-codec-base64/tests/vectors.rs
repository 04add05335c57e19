//! Data that numcodecs encoded, made by `vectors.py`.
//!
//! `VECTORS` names a file with other cases; with `VECTORS_OUT`, what this crate makes of the data is written to the file of
//! that name, for `vectors.py --check`.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::fmt::Write;
use zarr_codec::Size;
use zarr_codec::testing::{bytes_to_bytes, decode_bytes, element};
use zarr_meta::json::Value;

#[test]
fn numcodecs_data_decodes() {
    let text = match std::env::var("VECTORS") {
        Ok(path) => std::fs::read_to_string(path).unwrap(),
        Err(_) => include_str!("vectors.jsonl").to_owned(),
    };
    let mut ours = String::new();
    for line in text.lines() {
        let case = Value::from_json(line).unwrap();
        let bytes = |name: &str| STANDARD.decode(case.get(name).and_then(Value::as_str).unwrap()).unwrap();
        let configuration = case.get("configuration").unwrap().to_string();
        let codec = bytes_to_bytes(&zarr_codec_base64::ENTRY, &configuration, &element("uint8"));
        let (encoded, decoded) = (bytes("encoded"), bytes("decoded"));
        for size in [Size::Exact(decoded.len() as u64), Size::AtMost(decoded.len() as u64 + 1), Size::Unknown] {
            assert!(decode_bytes(&*codec, &encoded, size).unwrap() == decoded, "{configuration} {size:?}");
        }
        let mut again = Vec::new();
        codec.encode(&decoded, &mut again).unwrap();
        assert!(
            decode_bytes(&*codec, &again, Size::Exact(decoded.len() as u64)).unwrap() == decoded,
            "{configuration}"
        );
        assert!(again == encoded, "{configuration}");
        let (again, decoded) = (STANDARD.encode(again), STANDARD.encode(decoded));
        writeln!(ours, r#"{{"configuration":{configuration},"decoded":"{decoded}","encoded":"{again}"}}"#).unwrap();
    }
    assert!(ours.lines().count() >= 40);
    if let Ok(path) = std::env::var("VECTORS_OUT") {
        std::fs::write(path, ours).unwrap();
    }
}
