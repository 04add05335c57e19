use crate::{ADLER32, CRC32, CRC32C, FLETCHER32, JENKINS_LOOKUP3};
use zarr_codec::testing::{build, bytes_to_bytes, corrupt, decode_bytes, element, round_trip, samples};
use zarr_codec::{CodecEntry, Error, ErrorKind, Size};

const ALL: [(&CodecEntry, &str); 9] = [
    (&CRC32C, "{}"),
    (&CRC32C, r#"{"location": "start"}"#),
    (&CRC32, "{}"),
    (&CRC32, r#"{"location": "end"}"#),
    (&ADLER32, "{}"),
    (&ADLER32, r#"{"location": "end"}"#),
    (&FLETCHER32, "{}"),
    (&JENKINS_LOOKUP3, "{}"),
    (&JENKINS_LOOKUP3, r#"{"initval": 4294967295, "prefix": "zarr"}"#),
];

#[test]
fn data_comes_back() {
    for (entry, configuration) in ALL {
        round_trip(&*bytes_to_bytes(entry, configuration, &element("uint8")), &samples(1));
    }
}

#[test]
fn changes_are_noticed() {
    for (entry, configuration) in ALL {
        // All of them notice a single bit; a sum of words does not notice a word of ones instead of a word of zeros.
        corrupt(&*bytes_to_bytes(entry, configuration, &element("uint8")), &samples(1), true);
    }
}

#[test]
fn known_bytes() {
    let check = |entry: &CodecEntry, configuration: &str, data: &[u8], expected: &[u8]| {
        let codec = bytes_to_bytes(entry, configuration, &element("uint8"));
        let mut encoded = Vec::new();
        codec.encode(data, &mut encoded).unwrap();
        assert_eq!(encoded, expected, "{} {configuration}", entry.name);
        assert_eq!(decode_bytes(&*codec, expected, Size::Exact(data.len() as u64)).unwrap(), data);
    };
    check(&CRC32C, "{}", b"123456789", b"123456789\x83\x92\x06\xe3");
    check(&CRC32C, r#"{"location": "start"}"#, b"123456789", b"\x83\x92\x06\xe3123456789");
    check(&CRC32, "{}", b"123456789", b"\x26\x39\xf4\xcb123456789");
    check(&CRC32, r#"{"location": "end"}"#, b"123456789", b"123456789\x26\x39\xf4\xcb");
    check(&ADLER32, "{}", b"Wikipedia", b"\x98\x03\xe6\x11Wikipedia");
    check(&FLETCHER32, "{}", &[1, 2, 3, 4], &[1, 2, 3, 4, 6, 4, 8, 5]);
    let text = b"Four score and seven years ago";
    check(&JENKINS_LOOKUP3, "{}", text, b"Four score and seven years ago\x51\x05\x77\x17");
    check(
        &JENKINS_LOOKUP3,
        r#"{"initval": 1, "prefix": null}"#,
        text,
        b"Four score and seven years ago\x61\x81\x62\xcd",
    );
    check(&JENKINS_LOOKUP3, r#"{"prefix": "Four "}"#, &text[5..], b"score and seven years ago\x51\x05\x77\x17");
    check(&JENKINS_LOOKUP3, r#"{"prefix": [70, 111]}"#, &text[2..], b"ur score and seven years ago\x51\x05\x77\x17");
}

#[test]
fn errors_have_both_checksums() {
    let codec = bytes_to_bytes(&CRC32C, "{}", &element("uint8"));
    let error = codec.decode_in_place(b"123456780\x83\x92\x06\xe3").unwrap().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ChecksumMismatch);
    assert!(error.to_string().ends_with("stored 0xe3069283"), "{error}");
    let error = codec.decode_in_place(b"123").unwrap().unwrap_err();
    assert_eq!(error.to_string(), "codec crc32c: 3 bytes, expected 4");
}

#[test]
fn configurations_are_checked() {
    let check = |entry: &CodecEntry, configuration: &str, expected: &str| {
        let error = build(entry, configuration, &element("int8")).unwrap_err();
        assert!(matches!(&error, Error::Metadata { pointer, .. } if pointer == expected), "{error}");
    };
    for entry in [&CRC32C, &CRC32, &ADLER32] {
        check(entry, r#"{"location": "middle"}"#, "/configuration/location");
        check(entry, r#"{"location": 1}"#, "/configuration/location");
    }
    check(&JENKINS_LOOKUP3, r#"{"initval": -1}"#, "/configuration/initval");
    check(&JENKINS_LOOKUP3, r#"{"initval": 4294967296}"#, "/configuration/initval");
    check(&JENKINS_LOOKUP3, r#"{"prefix": 1}"#, "/configuration/prefix");
    check(&JENKINS_LOOKUP3, r#"{"prefix": [256]}"#, "/configuration/prefix");
}
