use proptest::prelude::*;
use zarr_grid::{ChunkKeyEncoding, Separator};

fn encoding() -> impl Strategy<Value = ChunkKeyEncoding> {
    let separator = prop_oneof![Just(Separator::Slash), Just(Separator::Dot)];
    let plain = prop_oneof![
        separator.clone().prop_map(|separator| ChunkKeyEncoding::Default { separator }),
        separator.clone().prop_map(|separator| ChunkKeyEncoding::V2 { separator }),
        separator.prop_map(|separator| ChunkKeyEncoding::Joined { separator }),
        (4u64..2000).prop_map(|max_children| ChunkKeyEncoding::Fanout { max_children }),
    ];
    plain.prop_recursive(1, 2, 1, |base| {
        let suffix = prop_oneof![Just(".blosc"), Just("0"), Just(""), Just("/c")];
        (suffix, base)
            .prop_map(|(suffix, base)| ChunkKeyEncoding::Suffix { suffix: suffix.to_owned(), base: base.into() })
    })
}

fn index() -> impl Strategy<Value = Vec<u64>> {
    prop::collection::vec(prop_oneof![0u64..12, 0u64..100_000, any::<u64>(), Just(u64::MAX)], 0..5)
}

fn key(encoding: &ChunkKeyEncoding, index: &[u64]) -> String {
    let mut key = String::new();
    encoding.write_key(index, &mut key);
    key
}

proptest! {
    // clause: d2022-61
    #[test]
    fn keys_parse_to_their_indices(encoding in encoding(), index in index()) {
        let key = key(&encoding, &index);
        let parsed = encoding.parse_key(&key, index.len());
        prop_assert_eq!(parsed.as_deref(), Some(index.as_slice()));
        let more = encoding.parse_key(&key, index.len() + 1);
        // The key of a 0-d array in the form of version 2 is that of the first chunk of a 1-d array.
        prop_assert!(more.is_none() || key.starts_with('0') && index.is_empty());
        prop_assert_eq!(ChunkKeyEncoding::from_config(&encoding.to_config()).unwrap(), encoding);
    }

    // clause: d2022-61
    #[test]
    fn only_written_keys_parse(encoding in encoding(), index in index(), at in any::<prop::sample::Index>(), with in "[0-9c./d+-]{0,2}", cut in 0usize..3) {
        let mut text = key(&encoding, &index);
        let at = at.index(text.len() + 1);
        text.replace_range(at..(at + cut).min(text.len()), &with);
        for rank in 0..6 {
            if let Some(parsed) = encoding.parse_key(&text, rank) {
                prop_assert_eq!(parsed.len(), rank);
                prop_assert_eq!(key(&encoding, &parsed), text.clone());
            }
        }
    }
}

// clause: v1-24, d2022-66
#[test]
fn keys_are_spelled_as_the_texts_spell_them() {
    let check = |encoding: ChunkKeyEncoding, scalar: &str, flat: &str, deep: &str| {
        assert_eq!(key(&encoding, &[]), scalar);
        assert_eq!(key(&encoding, &[123]), flat);
        assert_eq!(key(&encoding, &[1234, 5, 67890]), deep);
    };
    let (slash, dot) = (Separator::Slash, Separator::Dot);
    check(ChunkKeyEncoding::Default { separator: slash }, "c", "c/123", "c/1234/5/67890");
    check(ChunkKeyEncoding::Default { separator: dot }, "c", "c.123", "c.1234.5.67890");
    check(ChunkKeyEncoding::V2 { separator: dot }, "0", "123", "1234.5.67890");
    check(ChunkKeyEncoding::V2 { separator: slash }, "0", "123", "1234/5/67890");
    check(ChunkKeyEncoding::Joined { separator: slash }, "c", "c123", "c1234/5/67890");
    let base = ChunkKeyEncoding::V2 { separator: dot }.into();
    check(ChunkKeyEncoding::Suffix { suffix: ".blosc".into(), base }, "0.blosc", "123.blosc", "1234.5.67890.blosc");
    check(ChunkKeyEncoding::Fanout { max_children: 101 }, "c", "d0/1/23/c", "d0/12/34/d1/5/d2/6/78/90/c");
}

#[test]
fn other_spellings_are_no_keys() {
    let slash = Separator::Slash;
    let check = |encoding: &ChunkKeyEncoding, keys: &[&str]| {
        for key in keys {
            assert_eq!(encoding.parse_key(key, 2), None, "{key}");
        }
    };
    check(
        &ChunkKeyEncoding::Default { separator: slash },
        &["", "c", "c/1", "c/1/2/3", "c/01/2", "c/+1/2", "c/1/2/", "c1/2", "c/1.2"],
    );
    check(
        &ChunkKeyEncoding::V2 { separator: slash },
        &["", "1", "1/", "/1", "1/ 2", "1/18446744073709551616", "00/1", "zarr.json"],
    );
    check(
        &ChunkKeyEncoding::Fanout { max_children: 101 },
        &["d0/1/d1/2c", "d0/0/1/d1/2/c", "d0/100/d1/2/c", "d1/1/d0/2/c", "d0/1/d1/c"],
    );
}
