use crate::{ASTYPE, BITROUND, CAST_VALUE, DELTA, FIXED_SCALE_OFFSET, QUANTIZE, SCALE_OFFSET};
use proptest::prelude::*;
use std::sync::Arc;
use zarr_codec::testing::{self, array_to_array, build, chunk_round_trip, corrupt_chunk, element};
use zarr_codec::{ArrayToArray, CodecEntry, Codecs, ElementSpec, Error, Pipeline, View, ViewMut};
use zarr_dtype::{DataType, Element, FillValue, Heap};
use zarr_json::{NamedConfig, Value};

fn chain(filter: &str, configuration: &str, data_type: &str) -> Arc<Pipeline> {
    let mut codecs = Codecs::default();
    for entry in [ASTYPE, BITROUND, CAST_VALUE, DELTA, FIXED_SCALE_OFFSET, QUANTIZE, SCALE_OFFSET] {
        codecs.add(entry);
    }
    codecs.add(zarr_codec_bytes::BYTES);
    let json = format!(
        r#"[{{"name": "{filter}", "configuration": {configuration}}},
            {{"name": "bytes", "configuration": {{"endian": "little"}}}}]"#
    );
    testing::pipeline(&json, &element(data_type), &codecs).unwrap()
}

fn spec(data_type: &str, fill: &str) -> ElementSpec {
    let data_type =
        DataType::from_config(&NamedConfig::from_value(&Value::from_json(data_type).unwrap()).unwrap()).unwrap();
    let fill = FillValue::parse(&data_type, &Value::from_json(fill).unwrap()).unwrap();
    ElementSpec::new(data_type, fill)
}

fn items<T: Element>(data_type: &DataType, values: &[T]) -> Vec<u8> {
    T::to_items(data_type, values, &Heap::new()).unwrap()
}

fn run(codec: &dyn ArrayToArray, encode: bool, items: &[u8], to: &ElementSpec) -> Result<Vec<u8>, Error> {
    let from = if encode { items.len() / to_size(codec, false, to) } else { items.len() / codec.encoded().item_size() };
    let view = View::new(items, items.len() / from.max(1), &[from]).unwrap();
    let mut memory = vec![0xEE; from * to_size(codec, encode, to)];
    let mut out = ViewMut::new(&mut memory, to_size(codec, encode, to), &[from]).unwrap();
    if encode {
        codec.encode(&view, &mut out)?
    } else {
        codec.decode(&view, &mut out)?
    }
    Ok(memory)
}

fn to_size(codec: &dyn ArrayToArray, encoded: bool, element: &ElementSpec) -> usize {
    if encoded { codec.encoded().item_size() } else { element.item_size() }
}

/// Checks that `decoded` is encoded to `encoded`, and that `encoded` is decoded to `back`.
fn check<A: Element, B: Element>(
    entry: &CodecEntry,
    configuration: &str,
    data_type: &str,
    decoded: &[A],
    encoded: &[B],
    back: &[A],
) {
    let element = element(data_type);
    let codec = array_to_array(entry, configuration, &element);
    let due = items(&codec.encoded().data_type, encoded);
    let found = run(&*codec, true, &items(&element.data_type, decoded), &element).unwrap();
    assert_eq!(found, due, "{configuration} {data_type}");
    let found = run(&*codec, false, &due, &element).unwrap();
    assert_eq!(found, items(&element.data_type, back), "{configuration} {data_type}");
}

#[test]
fn chunks_without_loss_come_back() {
    let noise: Vec<u8> = (0..120_u8).map(|i| i.wrapping_mul(73).wrapping_add(i / 3)).collect();
    for (filter, configuration, data_type) in [
        ("numcodecs.delta", "{}", "int16"),
        ("numcodecs.delta", r#"{"dtype": "|u1"}"#, "int8"),
        ("numcodecs.delta", r#"{"dtype": ">i8"}"#, "uint64"),
        ("numcodecs.astype", r#"{"encode_dtype": "<i8"}"#, "int32"),
        ("numcodecs.astype", r#"{"encode_dtype": "float64", "decode_dtype": "uint32"}"#, "uint32"),
        ("scale_offset", "{}", "uint8"),
        ("scale_offset", r#"{"offset": 0}"#, "float8_e5m2"),
        ("cast_value", r#"{"data_type": "float64"}"#, "int32"),
        ("cast_value", r#"{"data_type": "int64"}"#, "uint32"),
        ("bitround", r#"{"keepbits": 64}"#, "uint64"),
        ("bitround", r#"{"keepbits": 52}"#, "float64"),
    ] {
        let chain = chain(filter, configuration, data_type);
        let len = noise.len() / chain.element().item_size();
        let shape = [3, len / 3];
        // float8 is without NaN here, whose bits do not all come back.
        let noise: Vec<u8> =
            noise.iter().map(|byte| if data_type == "float8_e5m2" { byte & 0x7b } else { *byte }).collect();
        let encoded = chunk_round_trip(&chain, &shape, &noise);
        corrupt_chunk(&chain, &[3, len as u64 / 3], &encoded);
    }
}

#[test]
fn differences_are_in_c_order_of_the_chunk() {
    check::<i32, i8>(&DELTA, r#"{"astype": "|i1"}"#, "int32", &[100, 90, 95], &[100, -10, 5], &[100, 90, 95]);
    check::<u8, u8>(&DELTA, "{}", "uint8", &[1, 0, 255], &[1, 255, 255], &[1, 0, 255]);
    let element = element("int32");
    let codec = array_to_array(&DELTA, "{}", &element);
    let values = items(&element.data_type, &[1, 3, 5, 2, 4, 6]);
    // A transposed chunk: 1, 2, 3.. along its rows.
    let view = View::new(&values, 4, &[2, 3]).unwrap().permuted(&[1, 0]);
    let mut memory = vec![0; 24];
    codec.encode(&view, &mut ViewMut::new(&mut memory, 4, &[3, 2]).unwrap()).unwrap();
    assert_eq!(memory, items(&element.data_type, &[1, 1, 1, 1, 1, 1]));
    let mut transposed = vec![0; 24];
    let mut out = ViewMut::new(&mut transposed, 4, &[2, 3]).unwrap().permuted(&[1, 0]);
    codec.decode(&View::new(&memory, 4, &[3, 2]).unwrap(), &mut out).unwrap();
    assert_eq!(transposed, values);
}

#[test]
fn differences_go_on_from_one_block_to_the_next() {
    let values: Vec<i32> = (0..1500).map(|i| i * i % 977).collect();
    let before = std::iter::once(0).chain(values.iter().copied());
    let differences: Vec<i64> = values.iter().zip(before).map(|(value, before)| i64::from(value - before)).collect();
    check::<i32, i64>(&DELTA, r#"{"astype": "<i8"}"#, "int32", &values, &differences, &values);
    // Both parts of complex numbers, each with its own neighbours; as real numbers only the first.
    let parts = |real: &[f32], imaginary: f32| -> Vec<u8> {
        real.iter().flat_map(|real| [real.to_ne_bytes(), imaginary.to_ne_bytes()]).flatten().collect()
    };
    let complex = element("complex64");
    let (ones, numbers) = ([1.0; 1500], (1..=1500).map(|i| i as f32).collect::<Vec<f32>>());
    let mut due = parts(&ones, 0.0);
    due[4..8].copy_from_slice(&7_f32.to_ne_bytes());
    let codec = array_to_array(&DELTA, "{}", &complex);
    assert_eq!(run(&*codec, true, &parts(&numbers, 7.0), &complex).unwrap(), due);
    assert_eq!(run(&*codec, false, &due, &complex).unwrap(), parts(&numbers, 7.0));
    let codec = array_to_array(&ASTYPE, r#"{"encode_dtype": "<f8"}"#, &complex);
    let real: Vec<u8> = numbers.iter().flat_map(|real| f64::from(*real).to_ne_bytes()).collect();
    assert_eq!(run(&*codec, true, &parts(&numbers, 7.0), &complex).unwrap(), real);
    assert_eq!(run(&*codec, false, &real, &complex).unwrap(), parts(&numbers, 0.0));
}

#[test]
fn times_are_integers_to_filters() {
    let date = r#"{"name": "numpy.datetime64", "configuration": {"unit": "ns", "scale_factor": 1}}"#;
    let date = spec(date, "\"NaT\"");
    let codec = array_to_array(&DELTA, r#"{"dtype": "<i8", "astype": "<i8"}"#, &date);
    let times = items(&date.data_type, &[5_i64, 7, i64::MIN, 9]);
    let encoded = run(&*codec, true, &times, &date).unwrap();
    let due = [5, 2, i64::MIN.wrapping_sub(7), 9_i64.wrapping_sub(i64::MIN)];
    assert_eq!(encoded, items(&DataType::Int64, &due));
    assert_eq!(run(&*codec, false, &encoded, &date).unwrap(), times);
    assert!(build(&DELTA, "{}", &date).is_err(), "numcodecs cannot add dates");
    let cast = array_to_array(&ASTYPE, r#"{"encode_dtype": "<i4", "decode_dtype": "datetime64[ns]"}"#, &date);
    assert_eq!(cast.encoded().data_type, DataType::Int32);
    assert!(build(&ASTYPE, r#"{"encode_dtype": "<M8[s]"}"#, &date).is_err(), "units are not converted");
    let rounded = array_to_array(&BITROUND, r#"{"keepbits": 3}"#, &date);
    let found = run(&*rounded, true, &items(&date.data_type, &[0_i64, 9, 11, -9, i64::MIN]), &date).unwrap();
    assert_eq!(found, items(&date.data_type, &[0_i64, 8, 12, -8, i64::MIN]));
}

#[test]
fn integers_are_rounded_from_their_first_bit() {
    let one = |keepbits: u32, from: &[i8], to: &[i8]| {
        check::<i8, i8>(&BITROUND, &format!(r#"{{"keepbits": {keepbits}}}"#), "int8", from, to, to);
    };
    one(3, &[0, 1, 7, 8, 9, 10, 11, 13, 18, 22, -9, -11], &[0, 1, 7, 8, 8, 10, 12, 12, 16, 24, -8, -12]);
    // Numbers that do not fit are cut off.
    one(3, &[127, 121, -127, -128, 119], &[112, 112, -128, -128, 112]);
    check::<u8, u8>(
        &BITROUND,
        r#"{"keepbits": 1}"#,
        "uint8",
        &[255, 128, 3, 5, 6, 7],
        &[128, 128, 4, 4, 8, 8],
        &[128, 128, 4, 4, 8, 8],
    );
    check::<u16, u16>(&BITROUND, r#"{"keepbits": 16}"#, "uint16", &[65535], &[65535], &[65535]);
}

#[test]
fn scales_are_exact_or_refused() {
    check::<u16, u16>(&SCALE_OFFSET, r#"{"scale": 3}"#, "uint16", &[0, 5], &[0, 15], &[0, 5]);
    check::<i64, i64>(&SCALE_OFFSET, r#"{"offset": -1, "scale": -1}"#, "int64", &[i64::MAX], &[i64::MIN], &[i64::MAX]);
    check::<u64, u64>(&SCALE_OFFSET, r#"{"scale": 2}"#, "uint64", &[1 << 62], &[1 << 63], &[1 << 62]);
    check::<i8, i8>(&SCALE_OFFSET, r#"{"offset": -2, "scale": 1}"#, "int4", &[-3, 5], &[-1, 7], &[-3, 5]);
    let element = element("bfloat16");
    let codec = array_to_array(&SCALE_OFFSET, r#"{"offset": 0.5, "scale": 3}"#, &element);
    let (one, more) = (0x3f80_u16.to_ne_bytes(), 0x3fc0_u16.to_ne_bytes());
    assert_eq!(run(&*codec, true, &one, &element).unwrap(), more);
    assert_eq!(run(&*codec, false, &more, &element).unwrap(), one);
    let element = spec("\"int8\"", "5");
    let codec = array_to_array(&SCALE_OFFSET, r#"{"offset": 5, "scale": 3}"#, &element);
    assert_eq!(codec.encoded().fill.bytes(), [0]);
    let error = run(&*codec, true, &[100], &element).unwrap_err();
    assert_eq!(error.to_string(), "codec scale_offset: 100 becomes 285, which int8 does not have");
    let error = run(&*codec, false, &[4], &element).unwrap_err();
    assert_eq!(error.to_string(), "codec scale_offset: 4 cannot be divided by the scale 3");
    assert!(matches!(run(&*codec, false, &[126], &element), Ok(bytes) if bytes == [47]));
}

#[test]
fn casts_follow_the_rules() {
    let cast = |configuration: &str, data_type: &str, from: &[u8]| {
        let element = element(data_type);
        let codec = array_to_array(&CAST_VALUE, configuration, &element);
        run(&*codec, true, from, &element).map_err(|error| error.to_string())
    };
    let float = |value: f64| value.to_ne_bytes();
    let int8 = |rounding: &str, value: f64| {
        let configuration = format!(r#"{{"data_type": "int8", "rounding": "{rounding}"}}"#);
        cast(&configuration, "float64", &float(value)).unwrap()[0].cast_signed()
    };
    assert_eq!([2.5, -2.5, 3.5, 2.6, -0.4].map(|value| int8("nearest-even", value)), [2, -2, 4, 3, 0]);
    assert_eq!([2.5, -2.5, 3.5, 2.4, -0.4].map(|value| int8("nearest-away", value)), [3, -3, 4, 2, 0]);
    assert_eq!([2.5, -2.5, 127.9].map(|value| int8("towards-zero", value)), [2, -2, 127]);
    assert_eq!([2.1, -2.9].map(|value| int8("towards-positive", value)), [3, -2]);
    assert_eq!([2.9, -2.1].map(|value| int8("towards-negative", value)), [2, -3]);
    let plain = r#"{"data_type": "uint8"}"#;
    let clamp = r#"{"data_type": "uint8", "out_of_range": "clamp"}"#;
    let wrap = r#"{"data_type": "uint8", "out_of_range": "wrap"}"#;
    assert_eq!(
        cast(plain, "float64", &float(255.5)).unwrap_err(),
        "codec cast_value: 255.5 is out of the range of uint8"
    );
    for (value, clamped, wrapped) in [(255.5, 255, 0), (-1.0, 0, 255), (300.0, 255, 44), (1e30, 255, 0), (-1e300, 0, 0)]
    {
        assert_eq!(cast(clamp, "float64", &float(value)).unwrap(), [clamped]);
        assert_eq!(cast(wrap, "float64", &float(value)).unwrap(), [wrapped]);
    }
    for odd in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        for configuration in [plain, clamp, wrap] {
            assert!(cast(configuration, "float64", &float(odd)).is_err(), "{odd} {configuration}");
        }
        // No infinity, or no NaN, in the type.
        assert!(cast(r#"{"data_type": "float4_e2m1fn", "out_of_range": "clamp"}"#, "float64", &float(odd)).is_err());
    }
    let e4m3 = r#"{"data_type": "float8_e4m3fn", "out_of_range": "clamp"}"#;
    assert_eq!(cast(e4m3, "float64", &float(1e9)).unwrap(), [0x7e]);
    assert_eq!(cast(e4m3, "float64", &float(-1e9)).unwrap(), [0xfe]);
    assert_eq!(cast(e4m3, "float64", &float(f64::NAN)).unwrap(), [0x7f]);
    assert!(cast(e4m3, "float64", &float(f64::INFINITY)).is_err());
    assert_eq!(cast(r#"{"data_type": "int4", "out_of_range": "wrap"}"#, "int8", &[9]).unwrap(), [0xf9]);
    let most = u64::MAX.to_ne_bytes();
    assert_eq!(cast(r#"{"data_type": "float32"}"#, "uint64", &most).unwrap(), 18446744073709551616.0_f32.to_ne_bytes());
    let down = r#"{"data_type": "float32", "rounding": "towards-zero"}"#;
    assert_eq!(cast(down, "uint64", &most).unwrap(), 18446742974197923840.0_f32.to_ne_bytes());
}

#[test]
fn scalars_are_replaced_first() {
    let configuration = r#"{"data_type": "uint8", "out_of_range": "clamp", "scalar_map": {
        "encode": [["NaN", 255], ["Infinity", 254], [3.5, 0]], "decode": [[255, "NaN"], [254, "Infinity"]]}}"#;
    let element = spec("\"float32\"", "\"NaN\"");
    let codec = array_to_array(&CAST_VALUE, configuration, &element);
    assert_eq!(codec.encoded().fill.bytes(), [255]);
    let payload = f32::from_bits(0xffc0_0001);
    let values = items(&element.data_type, &[f32::NAN, payload, f32::INFINITY, 3.5, 7.5, 300.0]);
    let encoded = run(&*codec, true, &values, &element).unwrap();
    assert_eq!(encoded, [255, 255, 254, 0, 8, 255]);
    let due = items(&element.data_type, &[f32::NAN, f32::NAN, f32::INFINITY, 0.0, 8.0, f32::NAN]);
    assert_eq!(run(&*codec, false, &encoded, &element).unwrap(), due);
}

#[test]
fn fill_values_go_through() {
    let fill = |entry: &CodecEntry, configuration: &str, data_type: &str, fill: &str| {
        let built = build(entry, configuration, &spec(data_type, fill)).map_err(|error| error.to_string())?;
        let zarr_codec::Codec::ArrayToArray(codec) = built else { unreachable!() };
        Ok(codec.encoded().fill.to_json(&codec.encoded().data_type).to_string())
    };
    let ok = |json: &str| Ok::<_, String>(json.to_owned());
    assert_eq!(fill(&DELTA, r#"{"astype": "<i2"}"#, "\"int64\"", "-9999"), ok("-9999"));
    assert_eq!(fill(&QUANTIZE, r#"{"digits": 1}"#, "\"float64\"", "0.3"), ok("0.3125"));
    let scaled = r#"{"offset": 1000, "scale": 10, "astype": "<u2"}"#;
    assert_eq!(fill(&FIXED_SCALE_OFFSET, scaled, "\"float64\"", "1000.56"), ok("6"));
    assert_eq!(fill(&BITROUND, r#"{"keepbits": 1}"#, "\"float32\"", "1.2"), ok("1.0"));
    assert_eq!(fill(&CAST_VALUE, r#"{"data_type": "float32"}"#, "\"float64\"", "\"NaN\""), ok("\"NaN\""));
    assert_eq!(fill(&CAST_VALUE, r#"{"data_type": "int16"}"#, "\"float64\"", "-0.0"), ok("0"));
    let refused = |configuration: &str, data_type: &str, value: &str| {
        fill(&CAST_VALUE, configuration, data_type, value).unwrap_err()
    };
    assert_eq!(
        refused(r#"{"data_type": "int16"}"#, "\"float64\"", "0.5"),
        "codec cast_value cannot encode the fill value: 0.5 comes back as 0.0"
    );
    assert_eq!(
        refused(r#"{"data_type": "int16"}"#, "\"float64\"", "\"NaN\""),
        "codec cast_value cannot encode the fill value: NaN is out of the range of int16"
    );
    assert_eq!(
        refused(r#"{"data_type": "uint8", "out_of_range": "clamp"}"#, "\"int32\"", "-1"),
        "codec cast_value cannot encode the fill value: -1 comes back as 0"
    );
}

#[test]
fn configurations_are_checked() {
    let check = |entry: &CodecEntry, configuration: &str, data_type: &str, expected: &str| {
        let error = build(entry, configuration, &element(data_type)).unwrap_err();
        assert!(matches!(&error, Error::Metadata { pointer, .. } if pointer == expected), "{configuration}: {error}");
    };
    check(&DELTA, r#"{"dtype": "<i4"}"#, "int64", "/configuration/dtype");
    check(&DELTA, r#"{"dtype": "<q4"}"#, "int32", "/configuration/dtype");
    check(&DELTA, r#"{"dtype": 4}"#, "int32", "/configuration/dtype");
    check(&DELTA, r#"{"astype": [["a", "<i4"]]}"#, "int32", "/configuration/astype");
    check(&ASTYPE, "{}", "int32", "/configuration/encode_dtype");
    check(&QUANTIZE, "{}", "float32", "/configuration/digits");
    check(&QUANTIZE, r#"{"digits": 309}"#, "float32", "/configuration/digits");
    check(&FIXED_SCALE_OFFSET, r#"{"offset": 1}"#, "float32", "/configuration/scale");
    check(&FIXED_SCALE_OFFSET, r#"{"offset": "1", "scale": 2}"#, "float32", "/configuration/offset");
    check(&BITROUND, "{}", "float32", "/configuration/keepbits");
    check(&BITROUND.renamed("bitround"), r#"{"keepbits": 0}"#, "float32", "/configuration/keepbits");
    check(&SCALE_OFFSET, r#"{"scale": 0}"#, "int32", "/configuration/scale");
    check(&SCALE_OFFSET, r#"{"offset": 300}"#, "uint8", "/configuration/offset");
    check(&SCALE_OFFSET, r#"{"shift": 1}"#, "uint8", "/configuration/shift");
    check(&CAST_VALUE, "{}", "uint8", "/configuration/data_type");
    check(&CAST_VALUE, r#"{"data_type": "int99"}"#, "uint8", "/configuration/data_type");
    check(&CAST_VALUE, r#"{"data_type": "int8", "rounding": "up"}"#, "uint8", "/configuration/rounding");
    check(&CAST_VALUE, r#"{"data_type": "int8", "out_of_range": "error"}"#, "uint8", "/configuration/out_of_range");
    check(&CAST_VALUE, r#"{"data_type": "float32", "out_of_range": "wrap"}"#, "uint8", "/configuration/out_of_range");
    check(&CAST_VALUE, r#"{"data_type": "int8", "mode": 1}"#, "uint8", "/configuration/mode");
    check(&CAST_VALUE, r#"{"data_type": "int8", "scalar_map": {"to": []}}"#, "uint8", "/configuration/scalar_map/to");
    let map = r#"{"data_type": "int8", "scalar_map": {"encode": [[1, 2], [3, 200]]}}"#;
    check(&CAST_VALUE, map, "uint8", "/configuration/scalar_map/encode/1/1");
    let map = r#"{"data_type": "int8", "scalar_map": {"decode": [[1]]}}"#;
    check(&CAST_VALUE, map, "uint8", "/configuration/scalar_map/decode/0");
}

#[test]
fn elements_that_are_no_numbers_are_refused() {
    let check = |entry: &CodecEntry, configuration: &str, data_type: &str| {
        let error = build(entry, configuration, &element(data_type)).unwrap_err();
        assert!(matches!(error, Error::Unsupported { .. }), "{configuration} {data_type}: {error}");
    };
    for data_type in ["string", "r16", "bool"] {
        check(&DELTA, "{}", data_type);
        check(&FIXED_SCALE_OFFSET, r#"{"offset": 0, "scale": 1}"#, data_type);
        check(&QUANTIZE, r#"{"digits": 1}"#, data_type);
        check(&BITROUND, r#"{"keepbits": 1}"#, data_type);
        check(&SCALE_OFFSET, "{}", data_type);
        check(&CAST_VALUE, r#"{"data_type": "int8"}"#, data_type);
    }
    check(&ASTYPE, r#"{"encode_dtype": "<i4"}"#, "string");
    check(&ASTYPE, r#"{"encode_dtype": "<U4"}"#, "int32");
    check(&CAST_VALUE, r#"{"data_type": "complex64"}"#, "int32");
    check(&QUANTIZE, r#"{"digits": 1}"#, "int32");
    check(&FIXED_SCALE_OFFSET, r#"{"offset": 0, "scale": 1}"#, "complex64");
    check(&DELTA, r#"{"astype": "<f4"}"#, "complex64");
}

#[test]
fn bools_taken_for_integers_are_checked() {
    let element = element("bool");
    let codec = array_to_array(&DELTA, r#"{"dtype": "|u1"}"#, &element);
    let encoded = run(&*codec, true, &[1, 0, 1], &element).unwrap();
    assert_eq!(encoded, [1, 255, 1]);
    assert_eq!(run(&*codec, false, &encoded, &element).unwrap(), [1, 0, 1]);
    assert!(matches!(run(&*codec, false, &[1, 1, 1], &element), Err(Error::Corrupt { .. })));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn integers_are_cast_as_they_are(values in prop::collection::vec(any::<i64>(), 1..20), shift in 0_u32..60) {
        let values: Vec<i64> = values.iter().map(|value| value >> shift).collect();
        let element = element("int64");
        let from = items(&element.data_type, &values);
        let configuration = |mode: &str| format!(r#"{{"data_type": "int16"{mode}}}"#);
        let cast = |mode: &str| {
            let codec = array_to_array(&CAST_VALUE, &configuration(mode), &element);
            run(&*codec, true, &from, &element).ok()
        };
        let due = |f: &dyn Fn(i64) -> i16| {
            Some(items(&DataType::Int16, &values.iter().map(|&value| f(value)).collect::<Vec<i16>>()))
        };
        prop_assert_eq!(cast(r#", "out_of_range": "wrap""#), due(&|value| value as i16));
        let clamp = |value: i64| value.clamp(i16::MIN.into(), i16::MAX.into()) as i16;
        prop_assert_eq!(cast(r#", "out_of_range": "clamp""#), due(&clamp));
        let fits = values.iter().all(|&value| i16::try_from(value).is_ok());
        prop_assert_eq!(cast(""), if fits { due(&clamp) } else { None });
    }

    #[test]
    fn sums_undo_differences(values in prop::collection::vec(any::<i32>(), 1..40)) {
        let element = element("int32");
        let codec = array_to_array(&DELTA, "{}", &element);
        let from = items(&element.data_type, &values);
        let encoded = run(&*codec, true, &from, &element).unwrap();
        prop_assert_eq!(run(&*codec, false, &encoded, &element).unwrap(), from);
    }
}
