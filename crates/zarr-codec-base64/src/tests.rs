use crate::BASE64;
use proptest::prelude::*;
use std::sync::Arc;
use zarr_codec::testing::{bytes_to_bytes, corrupt, decode_bytes, element, round_trip, samples};
use zarr_codec::{BytesToBytes, Error, Sink, Size};

fn codec() -> Arc<dyn BytesToBytes> {
    bytes_to_bytes(&BASE64, "{}", &element("uint8"))
}

#[test]
fn data_comes_back() {
    round_trip(&*codec(), &samples(1));
    round_trip(&*codec(), &(0..10).map(|len| vec![0xA5; len]).collect::<Vec<_>>());
}

#[test]
fn changes_do_not_panic() {
    corrupt(&*codec(), &samples(1), false);
}

#[test]
fn known_texts_decode() {
    // RFC 4648, section 10.
    for (plain, text) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")] {
        let mut encoded = Vec::new();
        codec().encode(plain.as_bytes(), &mut encoded).unwrap();
        assert_eq!(encoded, text.as_bytes());
        assert_eq!(decode_bytes(&*codec(), &encoded, Size::Unknown).unwrap(), plain.as_bytes());
    }
    assert_eq!(decode_bytes(&*codec(), b"+/+/", Size::Exact(3)).unwrap(), [0xfb, 0xff, 0xbf]);
}

#[test]
fn other_texts_are_refused() {
    for text in ["Zg=", "Z", "Zm9vYg"] {
        let error = decode_bytes(&*codec(), text.as_bytes(), Size::Unknown).unwrap_err();
        assert!(matches!(error, Error::Truncated { .. }), "{text}: {error}");
    }
    for text in ["Zg==Zg==", "====", "Zm9\n", "-_-_", "Zh==", "Zg==\0\0\0\0"] {
        let error = decode_bytes(&*codec(), text.as_bytes(), Size::Unknown).unwrap_err();
        assert!(matches!(error, Error::Corrupt { .. }), "{text}: {error}");
    }
    // More than is due is refused before any of it is decoded.
    let mut out = Vec::new();
    let mut sink = Sink::growing(&mut out, Size::Exact(2), 100).unwrap();
    assert!(matches!(codec().decode(b"Zm9v", &mut sink), Err(Error::TooLong { found: 3, expected: 2, .. })));
    assert_eq!(out.capacity(), 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_text_decodes_or_fails(text in "[A-Za-z0-9+/=]{0,40}") {
        if let Ok(value) = decode_bytes(&*codec(), text.as_bytes(), Size::AtMost(30)) {
            let mut again = Vec::new();
            codec().encode(&value, &mut again).unwrap();
            prop_assert_eq!(again, text.as_bytes());
        }
    }
}
