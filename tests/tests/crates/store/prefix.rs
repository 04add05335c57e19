use zarr_store::*;

#[test]
fn valid_prefixes() {
    for text in ["", "a/", "a/b/", ".a/"] {
        assert!(Prefix::new(text).is_ok(), "{text:?}");
    }
    for text in ["/", "a", "a//", "/a/", "../", "a/../", "./"] {
        assert!(Prefix::new(text).is_err(), "{text:?}");
    }
}

#[test]
fn joining_keeps_within() {
    let prefix = Prefix::new("a/b/").expect("a prefix");
    assert_eq!(prefix.join("c/d").expect("a key").as_str(), "a/b/c/d");
    assert_eq!(prefix.name(), Some("b"));
    assert_eq!(Prefix::root().name(), None);
    for rest in ["", "/c", "../c", "c/", "c//d"] {
        assert!(prefix.join(rest).is_err(), "{rest:?}");
    }
    assert!(!prefix.contains(&Key::new("a/bc").expect("a key")));
}
