use proptest::prelude::*;
use zarr_store::*;

fn check(text: &str, expected: Option<KeyFault>) {
    assert_eq!(Key::fault(text), expected, "{text:?}");
}

// clause: d2022-153
#[test]
fn valid_keys() {
    for text in ["a", "a/b", ".zarray", "..zarr", "a/...", "a b", "ä/ü", "a\\b", "x:y", "ab:/c", "a/x:y", "a/.zgroup"]
    {
        check(text, None);
    }
    check("", Some(KeyFault::Empty));
    for text in ["/", "/a", "\\a", "\\\\host\\share", "C:", "c:/a", "C:\\a", "a/C:", "a/\\b"] {
        check(text, Some(KeyFault::Absolute));
    }
    for text in ["a/", "a//b"] {
        check(text, Some(KeyFault::EmptySegment));
    }
    for text in [".", "..", "../a", "a/..", "a/./b", "a\\..\\b", "..\\a", "a/b\\.."] {
        check(text, Some(KeyFault::Relative));
    }
    check("a\0b", Some(KeyFault::Nul));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]
    #[test]
    fn a_key_never_leaves_its_root(text in r"[a.\\/:]{0,8}") {
        if let Ok(key) = Key::new(&text) {
            // With either separator, no step leads up, and the text is unchanged.
            prop_assert!(key.as_str().split(['/', '\\']).all(|part| part != ".." && part != "."));
            prop_assert!(!key.as_str().starts_with(['/', '\\']));
            prop_assert_eq!(key.as_str(), text.as_str());
            prop_assert!(key.as_str().split('/').all(|part| Key::new(part).is_ok()));
            prop_assert!(key.parent().contains(&key));
            prop_assert_eq!(format!("{}{}", key.parent(), key.name()), text);
        }
    }
}
