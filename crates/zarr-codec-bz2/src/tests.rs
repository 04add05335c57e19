use crate::BZ2;
use proptest::prelude::*;
use std::sync::Arc;
use zarr_codec::testing::{build, bytes_to_bytes, corrupt, decode_bytes, element, round_trip, samples};
use zarr_codec::{BytesToBytes, Error, Sink, Size};

fn codec(configuration: &str) -> Arc<dyn BytesToBytes> {
    bytes_to_bytes(&BZ2, configuration, &element("uint8"))
}

fn encode(data: &[u8]) -> Vec<u8> {
    let mut encoded = Vec::new();
    codec("{}").encode(data, &mut encoded).unwrap();
    encoded
}

const ALL: [fn(u64) -> Size; 3] = [Size::Exact, |size| Size::AtMost(size + 1), |_| Size::Unknown];

#[test]
fn data_comes_back() {
    for configuration in ["{}", r#"{"level": 5}"#, r#"{"level": 9}"#] {
        round_trip(&*codec(configuration), &samples(1));
    }
    // More than a block.
    round_trip(&*codec("{}"), &[(0..150_000u32).flat_map(|i| (i / 3).to_le_bytes()).collect()]);
}

#[test]
fn changes_are_noticed() {
    let samples: Vec<_> = samples(1).into_iter().filter(|sample| sample.len() < 500).collect();
    corrupt(&*codec("{}"), &samples, true);
}

#[test]
fn known_bytes_decode() {
    // An empty stream, and the stream that bzip2 1.0.8 makes of "zarr".
    let empty = b"BZh1\x17\x72\x45\x38\x50\x90\0\0\0\0";
    assert_eq!(encode(b""), empty);
    for size in ALL {
        assert!(decode_bytes(&*codec("{}"), empty, size(0)).unwrap().is_empty());
    }
}

#[test]
fn streams_in_a_row_are_one() {
    let (one, two) = (encode(b"one"), encode(b"two and more"));
    let row = [&one[..], &two, &encode(b"")].concat();
    for size in ALL {
        assert_eq!(decode_bytes(&*codec("{}"), &row, size(15)).unwrap(), b"onetwo and more");
    }
    for cut in one.len() + 1..one.len() + two.len() {
        for size in ALL {
            let error = decode_bytes(&*codec("{}"), &row[..cut], size(15)).unwrap_err();
            assert!(matches!(error, Error::CutOff { .. }), "{cut}: {error}");
        }
    }
    assert!(matches!(decode_bytes(&*codec("{}"), &[], Size::Exact(0)), Err(Error::CutOff { .. })));
}

/// A new decoder for each stream would take 100 microseconds per 14 bytes.
#[test]
fn empty_streams_take_no_time() {
    let empties = encode(b"").repeat(1 << 20);
    let begun = std::time::Instant::now();
    assert!(decode_bytes(&*codec("{}"), &empties, Size::Exact(0)).unwrap().is_empty());
    let row = [&empties[..], &encode(b"one"), &empties, &encode(b"two")].concat();
    assert_eq!(decode_bytes(&*codec("{}"), &row, Size::Exact(6)).unwrap(), b"onetwo");
    assert!(begun.elapsed() < std::time::Duration::from_secs(10), "{:?}", begun.elapsed());
    for end in 1..14 {
        let cut = &empties[..empties.len() - end];
        assert!(matches!(decode_bytes(&*codec("{}"), cut, Size::Exact(0)), Err(Error::CutOff { .. })), "{end}");
    }
    let wrong = [&empties[..13], b"\x01"].concat();
    assert!(matches!(decode_bytes(&*codec("{}"), &wrong, Size::Exact(0)), Err(Error::Corrupt { .. })));
}

#[test]
fn bytes_left_over_are_an_error() {
    let good = encode(&[1; 300]);
    for tail in [&[0][..], &[0; 100], b"BZ1", b"bzip2"] {
        let tailed = [&good[..], tail].concat();
        for size in ALL {
            match decode_bytes(&*codec("{}"), &tailed, size(300)).unwrap_err() {
                Error::TooLong { found, expected, .. } => {
                    assert_eq!((found, expected), (tailed.len() as u64, good.len() as u64));
                }
                other => panic!("{other}"),
            }
        }
    }
}

#[test]
fn a_small_input_cannot_claim_much() {
    // 45 MB of zeros are some 40 bytes.
    let bomb = encode(&vec![0; 45 << 20]);
    assert!(bomb.len() < 2500, "{}", bomb.len());
    let mut out = Vec::new();
    let mut sink = Sink::growing(&mut out, Size::AtMost(1 << 20), 1 << 30).unwrap();
    assert!(matches!(codec("{}").decode(&bomb, &mut sink), Err(Error::TooLong { .. })));
    assert!(out.capacity() <= 2 << 20);
    let few = encode(&[0; 1000]);
    let mut out = Vec::new();
    let mut sink = Sink::growing(&mut out, Size::Exact(1 << 30), 1 << 31).unwrap();
    codec("{}").decode(&few, &mut sink).unwrap();
    assert!(matches!(sink.finish(), Err(Error::Truncated { found: 1000, .. })));
    assert!(out.capacity() < 1 << 20);
}

#[test]
fn configurations_are_checked() {
    for good in ["{}", r#"{"level": 1}"#, r#"{"level": 9}"#, r#"{"level": null}"#] {
        build(&BZ2, good, &element("int8")).unwrap();
    }
    for bad in [r#"{"level": 0}"#, r#"{"level": 10}"#, r#"{"level": "1"}"#] {
        let error = build(&BZ2, bad, &element("int8")).unwrap_err();
        assert!(matches!(&error, Error::Metadata { pointer, .. } if pointer == "/configuration/level"), "{error}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_bytes_decode_or_fail(bytes in prop::collection::vec(any::<u8>(), 0..200), size in 0u64..5000) {
        let framed = [&b"BZh1\x31\x41\x59\x26\x53\x59"[..], &bytes].concat();
        for encoded in [&bytes, &framed] {
            if let Ok(value) = decode_bytes(&*codec("{}"), encoded, Size::AtMost(size)) {
                prop_assert!(value.len() as u64 <= size);
            }
        }
    }
}
