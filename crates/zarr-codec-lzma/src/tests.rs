use crate::LZMA;
use proptest::prelude::*;
use std::sync::Arc;
use zarr_codec::testing::{build, bytes_to_bytes, corrupt, decode_bytes, element, round_trip, samples};
use zarr_codec::{BytesToBytes, Error, Sink, Size};

fn codec(configuration: &str) -> Arc<dyn BytesToBytes> {
    bytes_to_bytes(&LZMA, configuration, &element("uint8"))
}

fn encode(configuration: &str, data: &[u8]) -> Vec<u8> {
    let mut encoded = Vec::new();
    codec(configuration).encode(data, &mut encoded).unwrap();
    encoded
}

fn text(len: usize) -> Vec<u8> {
    let words = [&b"chunk "[..], b"shard ", b"codec ", b"fill value ", b"zarr\n"];
    (0..).flat_map(|i: usize| words[(i * i / 3 + i / 7) % words.len()]).copied().take(len).collect()
}

const ALL: [fn(u64) -> Size; 3] = [Size::Exact, |size| Size::AtMost(size + 1), |_| Size::Unknown];

const ALONE: &str = r#"{"format": 2, "preset": 1}"#;
const RAW1: &str = r#"{"format": 3, "filters": [{"id": 4611686018427387905, "preset": 1}]}"#;
const RAW2: &str = r#"{"format": 3, "filters": [{"id": 3, "dist": 4}, {"id": 33, "preset": 1}]}"#;
const EVERY: [&str; 14] = [
    r#"{"preset": 0}"#,
    r#"{"preset": 1, "check": 0}"#,
    r#"{"preset": 4, "check": 1}"#,
    r#"{"check": 10}"#,
    r#"{"preset": 2147483651}"#,
    r#"{"filters": [{"id": 3, "dist": 2}, {"id": 33, "preset": 1}]}"#,
    r#"{"filters": [{"id": 4}, {"id": 3}, {"id": 33, "lc": 0, "lp": 3, "pb": 0, "dict_size": 5000}]}"#,
    ALONE,
    RAW1,
    RAW2,
    r#"{"format": 2, "filters": [{"id": 4611686018427387905, "dict_size": 4096, "lc": 0, "lp": 2, "pb": 4}]}"#,
    r#"{"format": 3, "filters": [{"id": 5}, {"id": 9, "start_offset": 4}, {"id": 6}, {"id": 33, "mode": 1}]}"#,
    r#"{"format": 3, "filters": [{"id": 7}, {"id": 8}, {"id": 4611686018427387905, "mf": 4, "nice_len": 2}]}"#,
    r#"{"format": 3, "filters": [{"id": 33, "mode": 1, "mf": 20, "depth": 3}]}"#,
];

#[test]
fn data_comes_back() {
    for configuration in EVERY {
        round_trip(&*codec(configuration), &samples(1));
        round_trip(&*codec(configuration), &[text(70_000)]);
    }
    round_trip(&*codec(r#"{"preset": 9}"#), &[text(300_000), vec![0; 3_000_000]]);
}

#[test]
fn changes_do_not_panic() {
    let samples: Vec<_> = samples(1).into_iter().filter(|sample| sample.len() < 500).collect();
    for configuration in EVERY {
        corrupt(&*codec(configuration), &samples, false);
    }
}

#[test]
fn changed_data_is_noticed() {
    // Flags, sizes and the index have checksums of their own; reserved kinds of checks cannot be verified.
    for check in [1, 4, 10] {
        let configuration = format!(r#"{{"preset": 1, "check": {check}}}"#);
        corrupt(&*codec(&configuration), &[text(300), text(17)], true);
    }
}

#[test]
fn a_cut_is_an_error() {
    for configuration in EVERY {
        let encoded = encode(configuration, &text(500));
        for cut in 0..encoded.len() {
            for size in ALL {
                let error = decode_bytes(&*codec(configuration), &encoded[..cut], size(500)).unwrap_err();
                assert!(matches!(error, Error::CutOff { .. }), "{configuration} {cut}: {error}");
            }
        }
    }
}

#[test]
fn bytes_left_over_are_an_error() {
    for configuration in EVERY {
        let good = encode(configuration, &text(500));
        for tail in [&[0][..], &[7; 100], b"\xfd7zXY"] {
            let tailed = [&good[..], tail].concat();
            for size in ALL {
                match decode_bytes(&*codec(configuration), &tailed, size(500)).unwrap_err() {
                    Error::TooLong { found, expected, .. } => {
                        assert_eq!((found, expected), (tailed.len() as u64, good.len() as u64), "{configuration}");
                    }
                    other => panic!("{configuration}: {other}"),
                }
            }
        }
    }
}

#[test]
fn xz_streams_in_a_row_are_one() {
    let (one, two) = (encode("{}", b"one"), encode(r#"{"check": 1}"#, b"two and more"));
    let row = [&one[..], &two, &[0; 8], &encode("{}", b""), &[0; 4]].concat();
    for size in ALL {
        assert_eq!(decode_bytes(&*codec("{}"), &row, size(15)).unwrap(), b"onetwo and more");
    }
    for bad in [[&one[..], &[0; 3]].concat(), [&one[..], &[0; 5], &two].concat()] {
        assert!(decode_bytes(&*codec("{}"), &bad, Size::Unknown).is_err());
    }
    // The other formats have one stream only.
    for configuration in [ALONE, RAW1, RAW2] {
        let one = encode(configuration, b"one");
        assert!(decode_bytes(&*codec(configuration), &[&one[..], &one].concat(), Size::Unknown).is_err());
    }
}

#[test]
fn sizes_in_headers_are_verified() {
    // A size instead of an end marker, as LZMA Utils wrote it, and both.
    let mut header = encode(ALONE, &text(500));
    header[5..13].copy_from_slice(&500u64.to_le_bytes());
    assert_eq!(decode_bytes(&*codec(ALONE), &header, Size::Exact(500)).unwrap(), text(500));
    for wrong in [0u64, 499, 501, 1 << 40] {
        header[5..13].copy_from_slice(&wrong.to_le_bytes());
        assert!(decode_bytes(&*codec(ALONE), &header, Size::Unknown).is_err(), "{wrong}");
    }
}

#[test]
fn a_small_input_cannot_claim_much() {
    // A dictionary of 3 GiB, of which nothing is used.
    let raw = r#"{"format": 3, "filters": [{"id": 33, "dict_size": 1610612736}]}"#;
    let mut alone = encode(ALONE, &text(500));
    alone[1..5].copy_from_slice(&(3u32 << 30).to_le_bytes());
    for (configuration, encoded) in [(raw, encode(raw, &text(500))), (ALONE, alone)] {
        let mut out = Vec::new();
        let mut sink = Sink::growing(&mut out, Size::Exact(1 << 30), 1 << 31).unwrap();
        codec(configuration).decode(&encoded, &mut sink).unwrap();
        assert!(matches!(sink.finish(), Err(Error::Truncated { found: 500, .. })));
        assert!(out.capacity() < 1 << 20);
    }
    let bomb = encode("{}", &vec![0; 20 << 20]);
    assert!(bomb.len() < 5000);
    let mut out = Vec::new();
    let mut sink = Sink::growing(&mut out, Size::AtMost(1 << 20), 1 << 30).unwrap();
    assert!(matches!(codec("{}").decode(&bomb, &mut sink), Err(Error::TooLong { .. })));
    assert!(out.capacity() <= 2 << 20);
}

#[test]
fn configurations_are_checked() {
    let check = |configuration: &str, bad: &str| match build(&LZMA, configuration, &element("int8")) {
        Err(Error::Metadata { pointer, .. }) => assert_eq!(pointer, format!("/configuration/{bad}"), "{configuration}"),
        other => panic!("{configuration}: {other:?}"),
    };
    for good in EVERY {
        build(&LZMA, good, &element("int8")).unwrap();
    }
    build(&LZMA, r#"{"format": 1, "check": -1, "preset": null, "filters": null}"#, &element("int8")).unwrap();
    check(r#"{"format": 0}"#, "format");
    check(r#"{"format": "xz"}"#, "format");
    check(r#"{"check": 2}"#, "check");
    check(r#"{"check": 16}"#, "check");
    check(r#"{"format": 2, "check": 4}"#, "check");
    check(r#"{"preset": 10}"#, "preset");
    check(r#"{"preset": -1}"#, "preset");
    check(r#"{"preset": 1, "filters": [{"id": 33}]}"#, "preset");
    check(r#"{"format": 3}"#, "filters");
    check(r#"{"format": 3, "filters": []}"#, "filters");
    check(r#"{"filters": 33}"#, "filters");
    check(r#"{"filters": [{"id": 3}]}"#, "filters");
    check(r#"{"filters": [{"id": 3}, {"id": 3}, {"id": 3}, {"id": 3}, {"id": 33}]}"#, "filters");
    check(r#"{"filters": [33]}"#, "filters/0");
    check(r#"{"filters": [{"preset": 1}]}"#, "filters/0/id");
    check(r#"{"filters": [{"id": 10}, {"id": 33}]}"#, "filters/0/id");
    check(r#"{"filters": [{"id": 33}, {"id": 33}]}"#, "filters/1");
    check(r#"{"filters": [{"id": 4611686018427387905}]}"#, "filters/0/id");
    check(r#"{"format": 2, "filters": [{"id": 33}]}"#, "filters/0/id");
    check(r#"{"format": 2, "filters": [{"id": 3}, {"id": 4611686018427387905}]}"#, "filters/0/id");
    check(r#"{"filters": [{"id": 3, "dist": 257}, {"id": 33}]}"#, "filters/0/dist");
    check(r#"{"filters": [{"id": 6, "start_offset": 8}, {"id": 33}]}"#, "filters/0/start_offset");
    check(r#"{"filters": [{"id": 33, "preset": 11}]}"#, "filters/0/preset");
    check(r#"{"filters": [{"id": 33, "dict_size": 4095}]}"#, "filters/0/dict_size");
    check(r#"{"filters": [{"id": 33, "lc": 3, "lp": 2}]}"#, "filters/0/lp");
    check(r#"{"filters": [{"id": 33, "pb": 5}]}"#, "filters/0/pb");
    check(r#"{"filters": [{"id": 33, "mode": 0}]}"#, "filters/0/mode");
    check(r#"{"filters": [{"id": 33, "mf": 5}]}"#, "filters/0/mf");
    check(r#"{"filters": [{"id": 33, "nice_len": 274}]}"#, "filters/0/nice_len");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_bytes_decode_or_fail(bytes in prop::collection::vec(any::<u8>(), 0..200), size in 0u64..5000) {
        for configuration in ["{}", ALONE, RAW1, RAW2] {
            if let Ok(value) = decode_bytes(&*codec(configuration), &bytes, Size::AtMost(size)) {
                prop_assert!(value.len() as u64 <= size);
            }
        }
    }
}
