//! The abstract store interface of the drafts of version 3, by their terms and with their examples.

use zarr::store::{Answer, Call, FilesystemStore, fallback_blocking};
use zarr_store::*;

fn key(text: &str) -> Key {
    Key::new(text).expect("a key")
}

fn prefix(text: &str) -> Prefix {
    Prefix::new(text).expect("a prefix")
}

/// Runs a check on an empty store in memory and on one in a directory.
fn each(check: impl Fn(&dyn Store)) {
    check(&MemoryStore::new());
    let folder = tempfile::tempdir().expect("a directory");
    check(&FilesystemStore::create(folder.path()).expect("made"));
}

fn with(store: &dyn Store, keys: &[&str]) {
    keys.iter().for_each(|name| drop(store.set_all(&key(name), name.as_bytes()).expect("set")));
}

fn texts<T: ToString>(of: &[T]) -> Vec<String> {
    of.iter().map(ToString::to_string).collect()
}

// clause: v1-1, p2019-26, p2019-27, p2019-28, p2019-29, d2022-154, d2022-156, d2022-158, d2022-160, d2022-169
#[test]
fn values_are_got_set_and_erased() {
    each(|store| {
        assert_eq!(store.get_all(&key("foo")).expect("get"), None);
        store.set_all(&key("foo"), b"bar").expect("set");
        store.set_all(&key("foo"), b"baz!").expect("set again");
        assert_eq!(store.get_all(&key("foo")).expect("get").as_deref(), Some(&b"baz!"[..]));
        assert_eq!(store.list().expect("list"), [key("foo")]);
        store.erase(&key("foo")).expect("erase");
        assert_eq!((store.get_all(&key("foo")).expect("get"), store.list().expect("list")), (None, vec![]));
    });
}

// clause: d2022-154, d2022-167
#[test]
fn keys_are_case_sensitive() {
    // Where a file system folds cases, a directory cannot be such a store.
    let store = MemoryStore::new();
    store.set_all(&key("foo"), b"1").expect("set");
    store.set_all(&key("FOO"), b"2").expect("set");
    assert_eq!(store.list().expect("list"), [key("FOO"), key("foo")]);
    assert_eq!(store.get_all(&key("foo")).expect("get").as_deref(), Some(&b"1"[..]));
    assert_eq!(store.get_all(&key("FOO")).expect("get").as_deref(), Some(&b"2"[..]));
}

// clause: d2022-155, d2022-157
#[test]
fn partial_values_are_got_in_order_and_none_for_what_is_missing() {
    each(|store| {
        store.set_all(&key("a"), b"0123456789").expect("set");
        let asked = [
            (key("a"), ByteRange::Range(2..5)),
            (key("b"), ByteRange::Range(0..1)),
            (key("a"), ByteRange::From(7)),
            (key("a"), ByteRange::Full),
            (key("a"), ByteRange::Range(2..5)),
        ];
        let got = store.get_partial_values(&asked).expect("get");
        let got: Vec<Option<&[u8]>> = got.iter().map(Option::as_deref).collect();
        assert_eq!(got, [Some(&b"234"[..]), None, Some(b"789"), Some(b"0123456789"), Some(b"234")]);
    });
}

// clause: d2022-159
#[test]
fn partial_values_are_set_where_they_begin() {
    each(|store| {
        store.set_all(&key("a"), b"0123456789").expect("set");
        store.set_partial_values(&[(key("a"), 2, b"ab"), (key("b"), 0, b"new"), (key("a"), 8, b"cd")]).expect("set");
        assert_eq!(store.get_all(&key("a")).expect("get").as_deref(), Some(&b"01ab4567cd"[..]));
        assert_eq!(store.get_all(&key("b")).expect("get").as_deref(), Some(&b"new"[..]));
    });
}

// clause: d2022-161, d2022-162
#[test]
fn several_values_and_all_below_a_prefix_are_erased() {
    each(|store| {
        with(store, &["ab", "a/b", "a/c/d", "e/f", "x"]);
        store.erase_values(&[key("x"), key("e/f"), key("missing")]).expect("erase");
        assert_eq!(texts(&store.list().expect("list")), ["a/b", "a/c/d", "ab"]);
        store.erase_prefix(&prefix("a/")).expect("erase");
        assert_eq!(texts(&store.list().expect("list")), ["ab"]);
    });
}

/// The keys `a/b`, `a/c/d` and `e/f/g` of the text.
// clause: p2019-30, p2019-31, p2019-32, p2019-33, p2019-34, d2022-164, d2022-165, d2022-166
#[test]
fn keys_are_listed_as_in_the_examples() {
    each(|store| {
        with(store, &["a/b", "a/c/d", "e/f/g"]);
        assert_eq!(texts(&store.list().expect("list")), ["a/b", "a/c/d", "e/f/g"]);
        assert_eq!(texts(&store.list_prefix(&prefix("a/")).expect("list")), ["a/b", "a/c/d"]);
        assert_eq!(texts(&store.list_prefix(&Prefix::root()).expect("list")), ["a/b", "a/c/d", "e/f/g"]);
        for (at, keys, prefixes) in
            [("", &[][..], &["a/", "e/"][..]), ("a/", &["a/b"], &["a/c/"]), ("e/", &[], &["e/f/"]), ("b/", &[], &[])]
        {
            let listing = store.list_dir(&prefix(at)).expect("list");
            assert_eq!((texts(&listing.keys), texts(&listing.prefixes)), (owned(keys), owned(prefixes)), "{at}");
        }
    });
    each(|store| {
        with(store, &["foo/bar/x", "foo/spam/y", "foo/z"]);
        assert_eq!(texts(&store.list_dir(&prefix("foo/")).expect("list").prefixes), ["foo/bar/", "foo/spam/"]);
        // All keys and a filter are the same as the keys with a prefix.
        let all = store.list().expect("list");
        let filtered: Vec<Key> = all.into_iter().filter(|key| prefix("foo/spam/").contains(key)).collect();
        assert_eq!(store.list_prefix(&prefix("foo/spam/")).expect("list"), filtered);
        assert!(store.exists(&key("foo/z")).expect("get") && !store.exists(&key("foo")).expect("get"));
    });
    fn owned(of: &[&str]) -> Vec<String> {
        of.iter().map(|text| (*text).to_owned()).collect()
    }
}

/// A store of whole values alone, which cannot list.
#[derive(Debug)]
struct Whole(MemoryStore);

impl std::fmt::Display for Whole {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("whole values")
    }
}

impl Whole {
    fn get(&self, key: &Key, ranges: &[ByteRange], options: &GetOptions) -> Result<Option<Fetched>> {
        let Some(value) = self.0.get_all(key)? else { return Ok(None) };
        Fetched::of_value(self, key, value, None, ranges, options).map(Some)
    }

    fn set(&self, key: &Key, value: &[u8], options: &SetOptions) -> Result<Option<Version>> {
        self.0.set(key, value, options)
    }

    fn erase(&self, key: &Key) -> Result<()> {
        self.0.erase(key)
    }
}

impl Store for Whole {
    fn call(&self, call: Call<'_>) -> Result<Answer> {
        Ok(match call {
            Call::Get { key, ranges, options } => Answer::Got(self.get(&key, &ranges, &options)?),
            Call::Set { key, value, options } => Answer::Set(self.set(&key, &value, &options)?),
            Call::Erase { key } => self.erase(&key)?.into(),
            call => return fallback_blocking(self, call),
        })
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::none().write(true)
    }

    fn access_profile(&self) -> AccessProfile {
        AccessProfile::MEMORY
    }
}

/// Partial access, several keys at once and prefixes come from whole values where a store has no more.
// clause: d2022-168, d2022-170
#[test]
fn operations_that_a_store_lacks_fall_back_to_those_it_has() {
    let store = Whole(MemoryStore::new());
    store.set_partial_values(&[(key("a/x"), 0, b"0123"), (key("a/x"), 1, b"ab")]).expect("set");
    let got = store.get_partial_values(&[(key("a/x"), ByteRange::Range(1..3)), (key("b"), ByteRange::Full)]);
    assert_eq!(got.expect("get").iter().map(Option::as_deref).collect::<Vec<_>>(), [Some(&b"ab"[..]), None]);
    store.erase_values(&[key("a/x")]).expect("erase");
    assert_eq!(store.get_all(&key("a/x")).expect("get"), None);
    for error in [store.list().expect_err("no list"), store.list_dir(&Prefix::root()).expect_err("no list")] {
        assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
    }
}
