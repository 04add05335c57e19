//! The contract on other implementations of the services, where one is running:
//!
//! `ZARR_TEST_S3=http://127.0.0.1:5555 ZARR_TEST_AZURE=http://127.0.0.1:10000/devstoreaccount1 cargo test -p zarr-store-object
//! servers:: -- --ignored`, with moto and azurite there, and a bucket or container `zarr-test` in each.

use std::sync::Arc;
use zarr_drive::{AsyncAsSync, block_on};
use zarr_store::{
    AsyncStore, AsyncStoreExt, ByteRange, Copied, ErrorKind, GetOptions, Key, Precondition, Prefix, SetOptions,
    StoreExt, testing,
};
use zarr_store_object::BucketStore;

/// The key that azurite documents.
const AZURITE: &str = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

pub(crate) fn open(url: &str, options: &[(&str, &str)]) -> Arc<BucketStore> {
    let options: Vec<(String, String)> =
        options.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Arc::new(BucketStore::open(url, &options).expect("a store"))
}

/// A prefix of this run alone.
fn run() -> String {
    let time = std::time::UNIX_EPOCH.elapsed().expect("a time").as_nanos();
    format!("{time}-{}", std::process::id())
}

fn s3(prefix: &str, more: &[(&str, &str)]) -> Arc<BucketStore> {
    let endpoint = std::env::var("ZARR_TEST_S3").expect("the endpoint in ZARR_TEST_S3");
    let common = [("endpoint", endpoint.as_str()), ("access_key_id", "testing"), ("secret_access_key", "testing")];
    open(&format!("s3://zarr-test/{}/{prefix}", run()), &[&common, more].concat())
}

fn azure(prefix: &str, more: &[(&str, &str)]) -> Arc<BucketStore> {
    let endpoint = std::env::var("ZARR_TEST_AZURE").expect("the endpoint in ZARR_TEST_AZURE");
    let common = [("endpoint", endpoint.as_str()), ("account_name", "devstoreaccount1"), ("account_key", AZURITE)];
    open(&format!("az://zarr-test/{}/{prefix}", run()), &[&common, more].concat())
}

/// Names that services and clients treat in a special way.
const NAMES: &[&str] = &[
    "a+b",
    "a%20b",
    "a%2Fb",
    "%",
    "%zz",
    "a b",
    "#",
    "a#b",
    "a?b=c&d",
    "*",
    "~",
    "a~",
    "[x]",
    "{x}",
    "^`|<>\"'",
    "a\\b",
    "..a",
    "...",
    "a=b",
    "&amp;",
    "<Key>",
    "@:;,!$()",
    "\u{e4}\u{1f600}/\u{fc}",
    "e\u{301}",
    "c/0.0/-1",
    "%2E%2E/x",
    "con",
    "a.",
];

pub(crate) fn names(store: &Arc<BucketStore>, refused: &[&str]) {
    let blocking = AsyncAsSync::new(store.clone());
    let names = NAMES.iter().filter(|name| !refused.contains(name));
    let mut keys: Vec<Key> = names.map(|name| Key::new(name).expect("a key")).collect();
    keys.sort();
    for key in &keys {
        blocking.set_all(key, key.as_str().as_bytes()).expect("set");
    }
    for key in &keys {
        let value = blocking.get_all(key).expect("get");
        assert_eq!(value.as_deref(), Some(key.as_str().as_bytes()), "{key}");
    }
    assert_eq!(blocking.list().expect("list"), keys);
    let listing = blocking.list_dir(&Prefix::root()).expect("list");
    assert_eq!(listing.keys, keys.iter().filter(|key| !key.as_str().contains('/')).cloned().collect::<Vec<_>>());
    assert_eq!(listing.prefixes.len(), 3);
    let (single, rest) = keys.split_first().expect("some");
    blocking.erase(single).expect("erase");
    assert_eq!(blocking.list().expect("list"), rest);
    blocking.erase_prefix(&Prefix::root()).expect("erase");
    assert_eq!(blocking.list().expect("list"), []);
    for name in ["a\nb", "\u{1}", "a/\u{7f}"].iter().chain(refused) {
        let error = blocking.set_all(&Key::new(name).expect("a key"), b"").expect_err("refused");
        assert_eq!(error.kind(), ErrorKind::Argument, "{error}");
    }
}

#[test]
#[ignore = "needs a server"]
fn s3_keeps_the_contract() {
    for prefix in ["sync-1", "deep/er \u{e4}/2"] {
        let store = s3(prefix, &[]);
        block_on(testing::contract_async(&store));
        testing::contract(&AsyncAsSync::new(store.clone()));
    }
}

#[test]
#[ignore = "needs a server"]
fn s3_keeps_names() {
    names(&s3("names", &[]), &[]);
}

#[test]
#[ignore = "needs a server"]
fn s3_without_a_bucket() {
    let endpoint = std::env::var("ZARR_TEST_S3").expect("the endpoint in ZARR_TEST_S3");
    let store =
        open("s3://no-such-bucket", &[("endpoint", &endpoint), ("access_key_id", "a"), ("secret_access_key", "b")]);
    let key = Key::new("a").expect("a key");
    let errors = [
        block_on(store.get_all(&key)).map(drop).expect_err("get"),
        block_on(store.size(&key)).map(drop).expect_err("size"),
        block_on(store.set_all(&key, "1".into())).map(drop).expect_err("set"),
        AsyncAsSync::new(store.clone()).list().map(drop).expect_err("list"),
        AsyncAsSync::new(store.clone()).erase(&key).expect_err("erase"),
        AsyncAsSync::new(store.clone()).erase_prefix(&Prefix::root()).expect_err("erase"),
    ];
    for error in errors {
        let text = std::error::Error::source(&error).expect("a reason").to_string();
        assert!(error.is_not_found() && text.contains("no bucket \"no-such-bucket\""), "{error}: {text}");
    }
}

#[test]
#[ignore = "needs a server"]
fn azure_keeps_the_contract() {
    for prefix in ["sync-1", "deep/er \u{e4}/2", "empty//segment"] {
        let store = azure(prefix, &[]);
        block_on(testing::contract_async(&store));
        testing::contract(&AsyncAsSync::new(store.clone()));
    }
}

#[test]
#[ignore = "needs a server"]
fn azure_keeps_names() {
    // Azure takes a backslash for a slash.
    names(&azure("names", &[]), &["a\\b"]);
}

fn copies(from: &Arc<BucketStore>, to: &Arc<BucketStore>) {
    let (key, copied) = (Key::new("a b/c%0").expect("a key"), Key::new("x/\u{e4}").expect("a key"));
    let source = from.copy_source(&key).expect("a source");
    assert_eq!(block_on(to.copy(&source, &copied)).expect("declined"), Copied::Declined, "there is none");
    for size in [0, 5, 3 << 20] {
        let value = vec![7; size];
        block_on(from.set_all(&key, value.clone().into())).expect("set");
        assert_eq!(block_on(to.copy(&source, &copied)).expect("copied"), Copied::Done);
        assert_eq!(block_on(to.get_all(&copied)).expect("get").as_deref(), Some(&value[..]));
    }
    // A copy can be changed on a condition, as any value.
    let fetched = block_on(to.get(&copied, &[ByteRange::Full], &GetOptions::default())).expect("get").expect("there");
    let same = SetOptions::when(Precondition::Version(fetched.version.expect("a version")));
    block_on(to.set(&copied, "1".into(), &same)).expect("set");
    assert!(block_on(to.set(&copied, "2".into(), &same)).expect_err("changed").is_precondition());
}

#[test]
#[ignore = "needs a server"]
fn s3_copies() {
    copies(&s3("from", &[]), &s3("to", &[]));
}

#[test]
#[ignore = "needs a server"]
fn azure_copies() {
    copies(&azure("from", &[]), &azure("to", &[]));
}
