//! Arrays that numcodecs and zfpy encoded, made by `vectors.py`: decoded here, and encoded to the same bytes.
//!
//! `VECTORS` names a file with other cases; with `VECTORS_OUT`, what this crate makes of the arrays is written to the file of
//! that name, for `vectors.py --check`.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::fmt::Write;
use zarr_codec::{Codecs, View, testing};
use zarr_grid::Region;
use zarr_meta::json::Value;

#[test]
#[cfg(target_endian = "little")]
fn arrays_of_the_c_library_decode() {
    let text = match std::env::var("VECTORS") {
        Ok(path) => std::fs::read_to_string(path).unwrap(),
        Err(_) => include_str!("vectors.jsonl").to_owned(),
    };
    let mut codecs = Codecs::default();
    codecs.add(zarr_codec_zfp::ZFP);
    codecs.add(zarr_codec_zfp::ZFPY);
    let (mut ours, mut same) = (String::new(), 0);
    for line in text.lines() {
        let case = Value::from_json(line).unwrap();
        let bytes = |name: &str| case.get(name).and_then(Value::as_str).map(|text| STANDARD.decode(text).unwrap());
        let configuration = case.get("configuration").unwrap().to_string();
        let element = testing::element(case.get("dtype").and_then(Value::as_str).unwrap());
        let lengths = case.get("shape").and_then(Value::as_array).unwrap();
        let shape: Vec<u64> = lengths.iter().map(|len| len.as_u64().unwrap()).collect();
        let dims: Vec<usize> = shape.iter().map(|&len| len as usize).collect();
        let (name, data_type) = (case.get("name").unwrap(), case.get("dtype").unwrap());
        let json = format!(r#"[{{"name": {name}, "configuration": {configuration}}}]"#);
        let chain = testing::pipeline(&json, &element, &codecs).unwrap();
        chain.check(&shape).unwrap();

        let (encoded, decoded) = (bytes("encoded").unwrap(), bytes("decoded").unwrap());
        for region in testing::regions(&shape) {
            let mut due = Vec::new();
            View::new(&decoded, element.item_size(), &dims).unwrap().window(&region).append_to(&mut due).unwrap();
            assert!(
                testing::read(&chain, &encoded, &shape, &region, false) == due,
                "{configuration} {shape:?} {region}"
            );
        }
        let data = bytes("data").unwrap_or_else(|| decoded.clone());
        let mut again = Vec::new();
        chain.encode(&View::new(&data, element.item_size(), &dims).unwrap(), &mut again).unwrap();
        same += usize::from(again == encoded);
        assert!(testing::read(&chain, &again, &shape, &Region::whole(&shape), false) == decoded, "{configuration}");
        let (again, decoded) = (STANDARD.encode(again), STANDARD.encode(decoded));
        let head = format!(r#""name":{name},"configuration":{configuration},"dtype":{data_type},"shape":{shape:?}"#);
        writeln!(ours, r#"{{{head},"decoded":"{decoded}","encoded":"{again}"}}"#).unwrap();
    }
    assert!(ours.lines().count() >= 40);
    assert_eq!(same, ours.lines().count(), "encoded to the same bytes");
    if let Ok(path) = std::env::var("VECTORS_OUT") {
        std::fs::write(path, ours).unwrap();
    }
}
