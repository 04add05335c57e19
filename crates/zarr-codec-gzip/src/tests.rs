use crate::{GZIP, ZLIB};
use flate2::read::{MultiGzDecoder, ZlibDecoder};
use proptest::prelude::*;
use std::io::{Read, Write};
use std::sync::Arc;
use zarr_codec::testing::{build, bytes_to_bytes, corrupt, decode_bytes, element, round_trip, samples};
use zarr_codec::{BytesToBytes, CodecEntry, Error, Size};

fn codec(entry: &CodecEntry, level: i32) -> Arc<dyn BytesToBytes> {
    bytes_to_bytes(entry, &format!(r#"{{"level": {level}}}"#), &element("uint8"))
}

/// Returns words in an order that compresses, but not trivially.
fn text(len: usize) -> Vec<u8> {
    let words = [&b"chunk "[..], b"shard ", b"codec ", b"fill value ", b"zarr\n"];
    (0..).flat_map(|i: usize| words[(i * i / 3 + i / 7) % words.len()]).copied().take(len).collect()
}

#[test]
fn data_comes_back() {
    for entry in [&GZIP, &ZLIB] {
        for level in [0, 1, 5, 6, 9] {
            let codec = codec(entry, level);
            round_trip(&*codec, &samples(1));
            round_trip(&*codec, &[text(3_000_000), vec![0; 3_000_000]]);
        }
    }
}

#[test]
fn changes_are_noticed() {
    // Every byte of a zlib stream counts. A gzip header has a time, an effort and an OS that mean nothing for the data,
    // but then the data is right.
    for entry in [&GZIP, &ZLIB] {
        corrupt(&*codec(entry, 5), &samples(1), true);
        corrupt(&*codec(entry, 0), &[text(1000)], true);
    }
}

#[test]
fn other_software_reads_it_and_the_reverse() {
    let data = text(100_000);
    for level in 0..=9 {
        let (mut gzip, mut zlib) = (Vec::new(), Vec::new());
        codec(&GZIP, level).encode(&data, &mut gzip).unwrap();
        codec(&ZLIB, level).encode(&data, &mut zlib).unwrap();
        let mut back = Vec::new();
        MultiGzDecoder::new(&gzip[..]).read_to_end(&mut back).unwrap();
        assert!(back == data);
        back.clear();
        ZlibDecoder::new(&zlib[..]).read_to_end(&mut back).unwrap();
        assert!(back == data);
    }
    // `zlib.compress(b"zarr zarr zarr", 9)` and `gzip.compress(b"zarr zarr zarr", mtime=0)` of CPython 3.11.7.
    let zlib = [0x78, 0xda, 0xab, 0x4a, 0x2c, 0x2a, 0x52, 0xa8, 0x82, 0x11, 0x00, 0x29, 0x42, 0x05, 0x7e];
    let gzip = [
        0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0xab, 0x4a, 0x2c, 0x2a, 0x52, 0xa8, 0x82, 0x11,
        0x00, 0x62, 0xa5, 0x61, 0x70, 0x0e, 0x00, 0x00, 0x00,
    ];
    assert_eq!(decode_bytes(&*codec(&ZLIB, 1), &zlib, Size::Exact(14)).unwrap(), b"zarr zarr zarr");
    for expected in [&GZIP, &ZLIB] {
        assert_eq!(decode_bytes(&*codec(expected, 1), &gzip, Size::Exact(14)).unwrap(), b"zarr zarr zarr");
    }
}

#[test]
fn headers_may_have_all_that_is_allowed() {
    let data = text(300);
    let encoded = |comment: &[u8]| {
        let mut encoder = flate2::GzBuilder::new()
            .mtime(1_700_000_000)
            .extra(vec![5; 300])
            .filename("chunk")
            .comment(comment)
            .write(Vec::new(), flate2::Compression::best());
        encoder.write_all(&data).unwrap();
        encoder.finish().unwrap()
    };
    let gzip = codec(&GZIP, 1);
    let plain = encoded(b"what is in it");
    assert!(decode_bytes(&*gzip, &plain, Size::Exact(300)).unwrap() == data);
    // The same with a checksum of the header.
    let body = 10 + 2 + 300 + 6 + 14;
    let mut head = plain[..body].to_vec();
    head[3] |= 2;
    let mut crc = flate2::Crc::new();
    crc.update(&head);
    let checked = [&head[..], &crc.sum().to_le_bytes()[..2], &plain[body..]].concat();
    assert!(decode_bytes(&*gzip, &checked, Size::Exact(300)).unwrap() == data);
    let mut broken = checked.clone();
    broken[20] ^= 1;
    assert!(matches!(decode_bytes(&*gzip, &broken, Size::Exact(300)), Err(Error::Checksum { .. })));
    for cut in 0..checked.len() {
        let error = decode_bytes(&*gzip, &checked[..cut], Size::Exact(300)).unwrap_err();
        assert!(matches!(error, Error::CutOff { .. }), "{cut}: {error}");
    }
}

#[test]
fn members_follow_each_other() {
    let (gzip, zlib) = (codec(&GZIP, 6), codec(&ZLIB, 6));
    let (first, second) = (text(70_000), vec![3; 500]);
    let mut encoded = Vec::new();
    gzip.encode(&first, &mut encoded).unwrap();
    let one = encoded.len();
    gzip.encode(&[], &mut encoded).unwrap();
    gzip.encode(&second, &mut encoded).unwrap();
    let both = [first.clone(), second].concat();
    for size in [Size::Exact(70_500), Size::AtMost(80_000), Size::Unknown] {
        assert!(decode_bytes(&*gzip, &encoded, size).unwrap() == both, "{size:?}");
    }
    assert!(decode_bytes(&*gzip, &encoded, Size::Exact(70_499)).is_err());
    assert!(decode_bytes(&*gzip, &encoded, Size::Exact(70_000)).is_err(), "a member too many");
    assert!(decode_bytes(&*gzip, &encoded[..one], Size::Exact(70_000)).unwrap() == first);
    for (tail, len) in [(&[0][..], 1), (&[0x1f, 0x8c, 8], 3)] {
        let tailed = [&encoded[..one], tail].concat();
        match decode_bytes(&*gzip, &tailed, Size::Exact(70_000)) {
            Err(Error::TooLong { found, expected, .. }) => assert_eq!(found - expected, len),
            other => panic!("{other:?}"),
        }
    }
    assert!(matches!(
        decode_bytes(&*gzip, &[&encoded[..one], &[0x1f, 0x8b]].concat(), Size::Exact(70_000)),
        Err(Error::CutOff { .. })
    ));
    let mut stream = Vec::new();
    zlib.encode(&first, &mut stream).unwrap();
    stream.extend_from_within(..);
    assert!(matches!(decode_bytes(&*zlib, &stream, Size::AtMost(140_000)), Err(Error::TooLong { .. })));
}

#[test]
fn wrong_checksums_are_reported_apart_from_other_damage() {
    let data = text(500);
    for (entry, sum) in [(&GZIP, 8), (&ZLIB, 4)] {
        let codec = codec(entry, 6);
        let mut encoded = Vec::new();
        codec.encode(&data, &mut encoded).unwrap();
        let at = encoded.len() - sum;
        encoded[at] ^= 0x10;
        let error = decode_bytes(&*codec, &encoded, Size::Exact(500)).unwrap_err();
        match error {
            Error::Checksum { found, stored, .. } => assert_eq!((found ^ stored).count_ones(), 1),
            other => panic!("{other}"),
        }
    }
    let gzip = codec(&GZIP, 6);
    let mut encoded = Vec::new();
    gzip.encode(&data, &mut encoded).unwrap();
    let at = encoded.len() - 1;
    encoded[at] ^= 1;
    let error = decode_bytes(&*gzip, &encoded, Size::Exact(500)).unwrap_err();
    assert_eq!(error.to_string(), "codec gzip: 500 decoded bytes, 16777716 by the trailer (modulo 2^32)");
}

#[test]
fn a_small_input_cannot_claim_much() {
    let gzip = codec(&GZIP, 9);
    let mut encoded = Vec::new();
    gzip.encode(&[0; 1000], &mut encoded).unwrap();
    let mut out = Vec::new();
    let mut sink = zarr_codec::Sink::growing(&mut out, Size::Exact(1 << 30), 1 << 31).unwrap();
    gzip.decode(&encoded, &mut sink).unwrap();
    assert!(matches!(sink.finish(), Err(Error::Truncated { found: 1000, .. })));
    assert!(out.capacity() < 1 << 20);
}

#[test]
fn configurations_are_checked() {
    let check =
        |entry: &CodecEntry, configuration: &str, good: bool| match build(entry, configuration, &element("int8")) {
            Ok(_) => assert!(good, "{configuration}"),
            Err(Error::Metadata { pointer, .. }) => {
                assert_eq!(pointer, "/configuration/level");
                assert!(!good, "{configuration}");
            }
            Err(other) => panic!("{other}"),
        };
    for entry in [&GZIP, &ZLIB] {
        check(entry, "{}", true);
        check(entry, r#"{"level": 0}"#, true);
        check(entry, r#"{"level": 9}"#, true);
        check(entry, r#"{"level": 10}"#, false);
        check(entry, r#"{"level": "9"}"#, false);
        check(entry, r#"{"level": 1.5}"#, false);
    }
    check(&GZIP, r#"{"level": -1}"#, false);
    check(&ZLIB, r#"{"level": -1}"#, true);
}

/// Returns consecutive streams of `parts`, each encoded by the codec of its level, and the total decoded size.
fn members(codecs: &[Arc<dyn BytesToBytes>], parts: &[(Vec<u8>, usize)]) -> (Vec<u8>, usize) {
    let mut encoded = Vec::new();
    for (part, level) in parts {
        codecs[level % codecs.len()].encode(part, &mut encoded).expect("encodes");
    }
    (encoded, parts.iter().map(|(part, _)| part.len()).sum())
}

/// Checks that decoding with known and with unknown size has the same result: libdeflate is used only if the size is known.
fn check_both_ways(codec: &dyn BytesToBytes, encoded: &[u8], due: usize) -> Result<(), TestCaseError> {
    let due = due as u64;
    let known = decode_bytes(codec, encoded, Size::Exact(due));
    let unknown = decode_bytes(codec, encoded, Size::AtMost(due));
    match (known, unknown) {
        (Ok(known), Ok(unknown)) => prop_assert!(known == unknown),
        (Err(Error::Truncated { found, .. }), Ok(unknown)) => prop_assert_eq!(found, unknown.len() as u64),
        (Err(known), Err(unknown)) => prop_assert_eq!(known.to_string(), unknown.to_string()),
        (known, unknown) => prop_assert!(false, "{:?} and {:?}", known.map(drop), unknown.map(drop)),
    }
    Ok(())
}

fn part() -> impl Strategy<Value = (Vec<u8>, usize)> {
    let bytes = prop_oneof![
        Just(Vec::new()),
        prop::collection::vec(any::<u8>(), 0..300),
        prop::collection::vec(0_u8..3, 0..3000),
        (1_usize..100_000).prop_map(text),
    ];
    (bytes, any::<usize>())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn known_sizes_change_nothing_but_the_speed(
        parts in prop::collection::vec(part(), 1..5),
        damage in prop::collection::vec((any::<prop::sample::Index>(), 0_u8..8), 0..3),
        cut in prop::option::of(any::<prop::sample::Index>()),
        tail in prop_oneof![
            Just(Vec::new()),
            prop::collection::vec(any::<u8>(), 1..20),
            Just(vec![0x1f, 0x8b, 8, 0]),
        ],
        again in any::<bool>(),
        off in -3_isize..4,
    ) {
        for (entry, several) in [(&GZIP, true), (&ZLIB, false)] {
            let codecs: Vec<_> = [0, 1, 5, 9].map(|level| codec(entry, level)).into();
            let parts = if several { &parts[..] } else { &parts[..1] };
            let (mut encoded, size) = members(&codecs, parts);
            for (at, bit) in &damage {
                let at = at.index(encoded.len());
                encoded[at] ^= 1 << bit;
            }
            if again {
                // The checksum once more, at the very end.
                let trailer = encoded[encoded.len() - 8..].to_vec();
                encoded.extend_from_slice(&tail);
                encoded.extend_from_slice(&trailer);
            } else {
                encoded.extend_from_slice(&tail);
            }
            if let Some(cut) = &cut {
                encoded.truncate(cut.index(encoded.len()));
            }
            for due in [size, size.saturating_add_signed(off), 0] {
                check_both_ways(&*codecs[0], &encoded, due)?;
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_bytes_decode_or_fail(bytes in prop::collection::vec(any::<u8>(), 0..200), size in 0u64..5000) {
        for (entry, head) in [(&GZIP, &[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0][..]), (&ZLIB, &[0x78, 0x9c])] {
            let codec = codec(entry, 1);
            let wrapped = [head, &bytes].concat();
            for encoded in [&bytes, &wrapped] {
                if let Ok(value) = decode_bytes(&*codec, encoded, Size::AtMost(size)) {
                    prop_assert!(value.len() as u64 <= size);
                }
            }
        }
    }
}
