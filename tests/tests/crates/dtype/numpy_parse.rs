use zarr_dtype::*;
use zarr_json::Value;
use zarr_json::json;
use zarr_json::pointer::At;

fn round_trip(value: Value) -> Value {
    let (dtype, endian) = NumpyType::parse(&At::root(&value)).unwrap();
    dtype.to_value(&endian)
}

#[test]
fn strict_spellings_stay() {
    for text in [
        "|b1",
        "|i1",
        "<i2",
        ">u8",
        "<f2",
        ">c16",
        "|S7",
        "<U12",
        ">U1",
        "|V5",
        "|O",
        "<M8[ns]",
        ">m8[25s]",
        "<M8",
        "bfloat16",
        "int4",
        "float8_e4m3fn",
    ] {
        assert_eq!(round_trip(json!(text)), json!(text));
    }
    let list = json!([["a", "<i4"], ["b", ">f8", [2, 3]], ["c", [["x", "|u1"], ["y", "<U2"]]]]);
    assert_eq!(round_trip(list.clone()), list);
}

#[test]
fn loose_spellings_are_read() {
    for (loose, strict) in [
        ("<u1", "|u1"),
        (">b1", "|b1"),
        ("i4", "<i4"),
        ("S2", "|S2"),
        (">S1", "|S1"),
        ("|i2", "<i2"),
        ("=f8", "<f8"),
        ("<M8[\u{3bc}s]", "<M8[us]"),
        ("<m8[1\u{b5}s]", "<m8[us]"),
        ("<M8[generic]", "<M8"),
        ("datetime64[25s]", "<M8[25s]"),
        ("timedelta64[ns]", "<m8[ns]"),
        ("datetime64", "<M8"),
        ("O", "|O"),
    ] {
        assert_eq!(round_trip(json!(loose)), json!(strict));
    }
    let padded = json!([["a", "|u1"], ["", "|V3"], ["b", "<i4"], ["", "|V1"]]);
    assert_eq!(round_trip(padded).to_string(), r#"[["a","|u1"],["f1","|V3"],["b","<i4"],["f3","|V1"]]"#);
}

#[test]
fn others_are_not() {
    for text in [
        "",
        "<",
        "q",
        "<q8",
        "f",
        "<f3",
        "<f16",
        "|S",
        "<U9999999999999999999",
        "<M8[fortnight]",
        "<M8[0s]",
        "<M8[s",
        "<M4[s]",
        "datetime64[s",
        "datetime648[s]",
        ">datetime64[s]",
        "é",
        "<é1",
        "<i+4",
        "bfloat",
        "<U4611686018427387904",
    ] {
        let error = NumpyType::parse(&At::root(&json!(text))).unwrap_err();
        assert!(matches!(error, NumpyTypeError::Unknown { name, .. } if name == text), "{text}");
    }
    for list in [
        json!([]),
        json!([["a"]]),
        json!([["a", "<i4"], ["a", "<i4"]]),
        json!([["a", "|V9223372036854775807", [9]]]),
        json!([["a", "|V0", [9007199254740992_u64]]]),
    ] {
        let error = NumpyType::parse(&At::root(&list)).unwrap_err();
        assert!(matches!(error, NumpyTypeError::Invalid(_)), "{list}");
    }
}

proptest::proptest! {
    #[test]
    fn never_panics(text in "[<>|]?[bifucmMSUVO]?[0-9]{0,3}(\\[[0-9]?[a-z]{0,3}\\])?") {
        let value = json!(text);
        if let Ok((dtype, endian)) = NumpyType::parse(&At::root(&value)) {
            let strict = dtype.to_value(&endian);
            proptest::prop_assert_eq!(round_trip(strict.clone()), strict);
        }
    }
}
