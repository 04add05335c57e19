use crate::ZSTD;
use proptest::prelude::*;
use std::io::Write;
use std::sync::Arc;
use zarr_codec::testing::{build, bytes_to_bytes, corrupt, decode_bytes, element, round_trip, samples};
use zarr_codec::{BytesToBytes, Error, ErrorKind, Sink, Size};
use zstd::zstd_safe::{CParameter, DCtx};

fn codec(configuration: &str) -> Arc<dyn BytesToBytes> {
    bytes_to_bytes(&ZSTD, configuration, &element("uint8"))
}

fn text(len: usize) -> Vec<u8> {
    let words = [&b"chunk "[..], b"shard ", b"codec ", b"fill value ", b"zarr\n"];
    (0..).flat_map(|i: usize| words[(i * i / 3 + i / 7) % words.len()]).copied().take(len).collect()
}

/// Returns a frame of zstd as streaming writes it: without the decoded size.
fn streamed(data: &[u8], window_log: Option<u32>) -> Vec<u8> {
    let mut encoder = zstd::stream::Encoder::new(Vec::new(), 1).unwrap();
    if let Some(log) = window_log {
        encoder.set_parameter(CParameter::WindowLog(log)).unwrap();
    }
    for piece in data.chunks(10_000) {
        encoder.write_all(piece).unwrap();
        encoder.flush().unwrap();
    }
    encoder.finish().unwrap()
}

const ALL: [fn(u64) -> Size; 3] = [Size::Exact, |size| Size::AtMost(size + 1), |_| Size::Unknown];

#[test]
fn data_comes_back() {
    for configuration in
        ["{}", r#"{"level": -5}"#, r#"{"level": 1, "checksum": true}"#, r#"{"level": 9}"#, r#"{"level": 22}"#]
    {
        let codec = codec(configuration);
        round_trip(&*codec, &samples(1));
        round_trip(&*codec, &[text(1_000_000), vec![0; 3_000_000]]);
    }
}

#[test]
fn changes_are_noticed() {
    corrupt(&*codec(r#"{"level": 3, "checksum": true}"#), &samples(1), true);
    corrupt(&*codec(r#"{"level": 3}"#), &samples(1), false);
}

#[test]
fn known_bytes_decode() {
    // A raw block, a block of one byte repeated and an empty frame, by RFC 8878.
    let raw = [0x28, 0xb5, 0x2f, 0xfd, 0x20, 4, 0x21, 0, 0, b'z', b'a', b'r', b'r'];
    let repeated = [0x28, 0xb5, 0x2f, 0xfd, 0x20, 9, 0x4b, 0, 0, 7];
    let skipped = [0x5f, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3];
    let all = [&skipped[..], &raw, &skipped, &repeated].concat();
    let codec = codec("{}");
    for size in ALL {
        assert_eq!(decode_bytes(&*codec, &raw, size(4)).unwrap(), b"zarr");
        assert_eq!(decode_bytes(&*codec, &repeated, size(9)).unwrap(), [7; 9]);
        assert!(decode_bytes(&*codec, &skipped, size(0)).unwrap().is_empty());
        assert_eq!(decode_bytes(&*codec, &all, size(13)).unwrap(), b"zarr\x07\x07\x07\x07\x07\x07\x07\x07\x07");
    }
    let mut own = Vec::new();
    codec.encode(b"zarr", &mut own).unwrap();
    assert_eq!(own, raw);
}

#[test]
fn frames_need_not_say_their_size() {
    let codec = codec("{}");
    let data = text(1_500_000);
    let frame = streamed(&data, None);
    for size in ALL {
        assert!(decode_bytes(&*codec, &frame, size(1_500_000)).unwrap() == data);
    }
    assert!(matches!(
        decode_bytes(&*codec, &frame, Size::AtMost(1_499_999)),
        Err(Error::TooLong { found: 1_500_000, .. })
    ));
    assert!(matches!(decode_bytes(&*codec, &frame, Size::Exact(1_499_999)), Err(Error::TooLong { .. })));
    let mut two = frame.clone();
    codec.encode(&data, &mut two).unwrap();
    let both = [&data[..], &data].concat();
    for size in ALL {
        assert!(decode_bytes(&*codec, &two, size(3_000_000)).unwrap() == both);
    }
    for cut in [1, 3, 4, 5, 100, frame.len() - 1, frame.len() + 3, frame.len() + 100, two.len() - 1] {
        for size in ALL {
            let error = decode_bytes(&*codec, &two[..cut], size(3_000_000)).unwrap_err();
            assert!(matches!(error, Error::CutOff { .. }), "{cut}: {error}");
        }
    }
}

#[test]
fn bytes_left_over_are_an_error() {
    let codec = codec("{}");
    let mut frame = Vec::new();
    codec.encode(&text(300), &mut frame).unwrap();
    for tail in [&[0][..], &[0; 100], &[0x28, 0xb5, 0x2f, 0xfe]] {
        let tailed = [&frame[..], tail].concat();
        for size in ALL {
            match decode_bytes(&*codec, &tailed, size(300)).unwrap_err() {
                Error::TooLong { found, expected, .. } => {
                    assert_eq!((found, expected), (tailed.len() as u64, frame.len() as u64));
                }
                other => panic!("{other}"),
            }
        }
    }
    for size in ALL {
        assert!(decode_bytes(&*codec, b"neither", size(0)).is_err());
        assert!(decode_bytes(&*codec, &[], size(0)).is_err());
    }
}

#[test]
fn large_windows_are_for_known_sizes_only() {
    let codec = codec("{}");
    let data = text(20_000);
    let wide = streamed(&data, Some(28));
    assert!(decode_bytes(&*codec, &wide, Size::Exact(20_000)).unwrap() == data);
    let error = decode_bytes(&*codec, &wide, Size::Unknown).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit, "{error}");
    // The thread's context is as good as new.
    let good = streamed(&data, Some(20));
    assert!(decode_bytes(&*codec, &good, Size::Unknown).unwrap() == data);
}

#[test]
fn a_small_input_cannot_claim_much() {
    let codec = codec("{}");
    let mut frame = Vec::new();
    codec.encode(&[0; 1000], &mut frame).unwrap();
    let mut out = Vec::new();
    let mut sink = Sink::growing(&mut out, Size::Exact(1 << 30), 1 << 31).unwrap();
    codec.decode(&frame, &mut sink).unwrap();
    assert!(matches!(sink.finish(), Err(Error::Truncated { found: 1000, .. })));
    assert!(out.capacity() < 4 << 20);
    // An 8-byte content size of 2^40, and a block of 3 bytes.
    let liar = [&[0x28, 0xb5, 0x2f, 0xfd, 0xc0, 0][..], &(1u64 << 40).to_le_bytes(), &[0x19, 0, 0, 1, 2, 3]].concat();
    for size in [Size::Exact(3), Size::AtMost(1 << 31), Size::Unknown] {
        assert!(decode_bytes(&*codec, &liar, size).is_err());
    }
}

#[test]
fn other_decoders_read_it() {
    for configuration in [r#"{"level": 7}"#, r#"{"level": -100, "checksum": true}"#] {
        let data = text(50_000);
        let mut encoded = Vec::new();
        codec(configuration).encode(&data, &mut encoded).unwrap();
        let mut back = vec![0; 50_000];
        assert_eq!(DCtx::create().decompress(&mut back[..], &encoded).unwrap(), 50_000);
        assert!(back == data);
        assert_eq!(encoded[4] & 4 != 0, configuration.contains("true"), "the flag of a checksum");
    }
}

#[test]
fn configurations_are_checked() {
    let check = |configuration: &str, bad: Option<&str>| match build(&ZSTD, configuration, &element("int8")) {
        Ok(_) => assert_eq!(bad, None, "{configuration}"),
        Err(Error::Metadata { pointer, .. }) => assert_eq!(Some(&*pointer), bad, "{configuration}"),
        Err(other) => panic!("{other}"),
    };
    check("{}", None);
    check(r#"{"level": -131072, "checksum": false}"#, None);
    check(r#"{"level": 22, "checksum": null}"#, None);
    check(r#"{"level": 23}"#, Some("/configuration/level"));
    check(r#"{"level": -131073}"#, Some("/configuration/level"));
    check(r#"{"level": "3"}"#, Some("/configuration/level"));
    check(r#"{"level": 3, "checksum": 1}"#, Some("/configuration/checksum"));
}

#[test]
fn numcodecs_takes_any_level() {
    let of_numcodecs = ZSTD.renamed("numcodecs.zstd");
    for configuration in [r#"{"level": 100}"#, r#"{"level": -200000}"#, "{}"] {
        let codec = bytes_to_bytes(&of_numcodecs, configuration, &element("int8"));
        let mut encoded = Vec::new();
        codec.encode(&[7; 1000], &mut encoded).unwrap();
        assert_eq!(DCtx::create().decompress(&mut [0; 1000][..], &encoded), Ok(1000), "{configuration}");
    }
    assert!(build(&of_numcodecs, r#"{"level": "3"}"#, &element("int8")).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_bytes_decode_or_fail(bytes in prop::collection::vec(any::<u8>(), 0..200), size in 0u64..5000) {
        let codec = codec("{}");
        let framed = [&[0x28, 0xb5, 0x2f, 0xfd][..], &bytes].concat();
        for encoded in [&bytes, &framed] {
            for size in [Size::AtMost(size), Size::Exact(size)] {
                if let Ok(value) = decode_bytes(&*codec, encoded, size) {
                    prop_assert!(value.len() as u64 <= size.bound(0));
                }
            }
        }
    }
}
