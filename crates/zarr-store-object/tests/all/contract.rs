//! Tests of the requirements in the contract of stores.

use std::sync::Arc;
use std::time::{Duration, Instant};

use zarr_drive::{AsyncAsSync, block_on};
use zarr_store::{AsyncStore, AsyncStoreExt, ByteRange, Bytes, GetOptions, Key, Prefix, SetOptions, StoreExt, testing};
use zarr_store_object::BucketStore;
use zarr_testserver::{Bucket, Operation, TestServer};

use crate::servers::{names, open};

pub(crate) fn s3(server: &TestServer, address: &str, more: &[(&str, &str)]) -> Arc<BucketStore> {
    let endpoint = server.url();
    let common =
        [("endpoint", endpoint.as_str()), ("access_key_id", "testing"), ("secret_access_key", "testing-secret")];
    open(address, &[&common, more].concat())
}

pub(crate) fn gs(server: &TestServer, address: &str, more: &[(&str, &str)]) -> Arc<BucketStore> {
    let endpoint = server.url();
    open(address, &[&[("endpoint", endpoint.as_str()), ("bearer_token", "token")], more].concat())
}

pub(crate) fn key(text: &str) -> Key {
    Key::new(text).expect("a key")
}

// clause: d2022-32, d2022-173
#[test]
fn s3_keeps_it() {
    let server = TestServer::builder().credentials("testing", "testing-secret").bucket("data", Bucket::s3());
    let server = server.start().expect("a server");
    for prefix in ["", "/p/\u{e4} b", "/d//&<\u{e4}//x.zarr", "/e//"] {
        let store = s3(&server, &format!("s3://data{prefix}"), &[]);
        block_on(testing::contract_async(&store));
        testing::contract(&AsyncAsSync::new(store.clone()));
    }
    names(&s3(&server, "s3://data/names", &[]), &[]);
    names(&s3(&server, "s3://data/n//names", &[]), &[]);
    assert_eq!(server.counts().heads, 0);
}

#[test]
fn google_cloud_storage_keeps_it() {
    let server = TestServer::builder().bucket("data", Bucket::gcs()).start().expect("a server");
    for prefix in ["", "/p", "/d//&<\u{e4}//x.zarr", "/e//"] {
        let store = gs(&server, &format!("gs://data{prefix}"), &[]);
        block_on(testing::contract_async(&store));
        testing::contract(&AsyncAsSync::new(store.clone()));
    }
    names(&gs(&server, "gcs://data/names", &[]), &[]);
    assert_eq!(server.counts().heads, 0);
}

#[test]
fn without_a_condition_of_puts() {
    let server = TestServer::builder().bucket("data", Bucket::s3()).start().expect("a server");
    let store = s3(&server, "s3://data", &[("conditional_put", "disabled")]);
    assert!(!store.capabilities().conditional);
    block_on(testing::contract_async(&store));
}

/// Counts the requests that reads cost.
#[test]
fn requests() {
    let server = TestServer::builder().bucket("data", Bucket::s3()).start().expect("a server");
    let store = s3(&server, "s3://data/p", &[]);
    let key = key("a/c/0");
    block_on(store.set_all(&key, Bytes::from_static(b"0123456789"))).expect("set");
    let cost = |ranges: &[ByteRange]| {
        server.reset_counts();
        let fetched = block_on(store.get_ranges(&key, ranges)).expect("get").expect("there");
        assert_eq!(fetched.size, Some(10));
        (server.counts().requests(), server.counts().bytes_sent)
    };
    assert_eq!(cost(&[]), (1, 1));
    assert_eq!(cost(&[ByteRange::Full, ByteRange::Suffix(3)]), (1, 10));
    assert_eq!(cost(&[ByteRange::Suffix(3)]), (1, 3));
    assert_eq!(cost(&[ByteRange::From(8), ByteRange::Range(2..4), ByteRange::Range(10..10)]), (2, 4));
    // A range that is not wholly inside costs no bytes of a large value.
    let large = crate::contract::key("large");
    block_on(store.set_all(&large, vec![7; 30 << 20].into())).expect("set");
    server.reset_counts();
    let error = block_on(store.get_ranges(&large, &[ByteRange::Range(0..(30 << 20) + 1)])).expect_err("outside");
    assert!(error.is_range() && server.counts().bytes_sent < 20 << 20, "{}", server.counts().bytes_sent);
    // Erasing many is one request for a page of the list, and one for all of its names.
    for i in 0..30 {
        AsyncAsSync::new(store.clone()).set_all(&crate::contract::key(&format!("many/{i}")), b"").expect("set");
    }
    server.reset_counts();
    AsyncAsSync::new(store.clone()).erase_prefix(&Prefix::new("many/").expect("a prefix")).expect("erase");
    assert_eq!(server.counts().requests(), 2);
}

#[test]
fn requests_are_under_way_at_once_and_end_when_dropped() {
    let server = TestServer::builder().latency(Duration::from_millis(300)).start().expect("a server");
    server.put("data", "a", vec![1; 1000]);
    let store = s3(&server, "s3://data", &[]);
    let key = key("a");
    let ranges: Vec<ByteRange> = (0..20).map(|i| ByteRange::Range(i * 50..i * 50 + 10)).collect();
    let start = Instant::now();
    block_on(store.get_ranges(&key, &ranges)).expect("get").expect("there");
    assert!(start.elapsed() < Duration::from_millis(1500), "{:?}", start.elapsed());
    assert!(server.counts().most_in_flight >= 15, "{:?}", server.counts());
    // Dropped after it was polled once.
    server.set_latency(Duration::from_secs(20));
    server.reset_counts();
    let options = GetOptions::default();
    {
        let mut get = store.get(&key, &ranges, &options);
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        assert!(get.as_mut().poll(&mut context).is_pending());
        std::thread::sleep(Duration::from_millis(200));
        assert!(server.counts().requests() > 0);
    }
    let start = Instant::now();
    while server.counts().aborted < server.counts().requests() {
        assert!(start.elapsed() < Duration::from_secs(5), "{:?}", server.counts());
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn all_of_one_state_while_the_value_is_replaced() {
    let server = TestServer::start().expect("a server");
    let store = s3(&server, "s3://data", &[]);
    server.put("data", "a", vec![0; 1000]);
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for i in 0..400_u32 {
                server.put("data", "a", vec![(i % 251) as u8; 1000 + (i as usize % 7)]);
            }
        });
        let ranges = [ByteRange::Range(0..10), ByteRange::Suffix(10), ByteRange::Range(500..510)];
        let mut rounds = 0;
        while rounds < 5 || !writer.is_finished() {
            let fetched = block_on(store.get_ranges(&key("a"), &ranges)).expect("get").expect("there");
            let first = fetched.part(0)[0];
            assert!(fetched.parts().flatten().all(|byte| *byte == first));
            rounds += 1;
        }
    });
}

#[test]
fn objects_that_are_no_values() {
    let server = TestServer::start().expect("a server");
    for name in ["p/a", "p/a/", "p//b", "p/c//d", "p/d/", "p/", "q", "p/e/./f"] {
        server.put("data", name, "x");
    }
    let store = s3(&server, "s3://data/p", &[]);
    let blocking = AsyncAsSync::new(store.clone());
    assert_eq!(blocking.list().expect("list"), [key("a")]);
    let listing = blocking.list_dir(&Prefix::root()).expect("list");
    assert_eq!((listing.keys, listing.prefixes.len()), (vec![key("a")], 4));
    assert_eq!(blocking.get_all(&key("d")).expect("get"), None);
    blocking.erase_prefix(&Prefix::root()).expect("erase");
    assert_eq!(server.keys("data").len(), 7, "others are as they were");
}

/// The prefix of a store may have empty segments, which no key has.
#[test]
fn empty_segments_of_a_prefix() {
    let server = TestServer::start().expect("a server");
    let others = ["d/x/a", "d//x//a", "d//a", "d//xa", "____/a", "d///x/a"];
    for name in ["d//x/a", "d//x/b/c&<"].iter().chain(&others) {
        server.put("data", name, *name);
    }
    let store = s3(&server, "s3://data/d//x/", &[]);
    assert_eq!(store.to_string(), "s3://data/d//x");
    let blocking = AsyncAsSync::new(store.clone());
    assert_eq!(blocking.list().expect("list"), [key("a"), key("b/c&<")]);
    let listing = blocking.list_dir(&Prefix::root()).expect("list");
    assert_eq!((listing.keys, listing.prefixes), (vec![key("a")], vec![Prefix::new("b/").expect("a prefix")]));
    assert_eq!(blocking.get_all(&key("b/c&<")).expect("get").as_deref(), Some(&b"d//x/b/c&<"[..]));
    blocking.set_all(&key("new"), b"1").expect("set");
    assert_eq!(server.get("data", "d//x/new").as_deref(), Some(&b"1"[..]));
    // Copies name both objects.
    let (to, from) = (s3(&server, "s3://data/e//y", &[]), store.copy_source(&key("a")).expect("a source"));
    assert_eq!(block_on(to.copy(&from, &key("a"))).expect("copied"), zarr_store::Copied::Done);
    assert_eq!(server.get("data", "e//y/a").as_deref(), Some(&b"d//x/a"[..]));
    blocking.erase(&key("new")).expect("erase");
    blocking.erase_prefix(&Prefix::root()).expect("erase");
    let mut left: Vec<String> = others.iter().chain(&["e//y/a"]).map(|&name| name.to_owned()).collect();
    left.sort();
    assert_eq!(server.keys("data"), left, "others are as they were");
    // The protocol of Azure is not spoken here; its addresses are.
    let endpoint = server.url();
    let options = [("endpoint", endpoint.as_str()), ("account_name", "me"), ("anonymous", "true")];
    let azure = open("az://data/d//x", &options);
    drop(block_on(azure.get_all(&key("a"))));
    drop(block_on(azure.list_dir(&Prefix::root())));
    let log = server.log();
    let [.., get, list] = &log[..] else { panic!("{log:?}") };
    assert!(get.path.ends_with("/data/d//x/a") && list.query.contains("prefix=d%2F%2Fx%2F"), "{get:?} {list:?}");
}

#[test]
fn it_runs_on_a_runtime_of_the_program() {
    let server = TestServer::start().expect("a server");
    server.put("data", "a", "value");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let store = Arc::into_inner(s3(&server, "s3://data", &[])).expect("no other has it");
    let store = store.on_runtime(runtime.handle().clone());
    let value = runtime.block_on(async { store.get_all(&key("a")).await });
    assert_eq!(value.expect("get").as_deref(), Some(&b"value"[..]));
    // And the shared threads within one.
    let store = s3(&server, "s3://data", &[]);
    let value = runtime.block_on(async {
        store.set(&key("b"), "1".into(), &SetOptions::default()).await?;
        store.pause(Duration::from_millis(1)).await;
        store.get_all(&key("b")).await
    });
    assert_eq!(value.expect("get").as_deref(), Some(&b"1"[..]));
}

#[test]
fn pages_of_lists() {
    let server = TestServer::start().expect("a server");
    let mut keys: Vec<Key> = (0..2500).map(|i| key(&format!("a/{}/{i}", i % 1500))).collect();
    keys.sort();
    for key in &keys {
        server.put("data", key.as_str(), "");
    }
    let store = s3(&server, "s3://data", &[]);
    assert_eq!(AsyncAsSync::new(store.clone()).list().expect("list"), keys);
    assert_eq!(
        AsyncAsSync::new(store.clone()).list_dir(&Prefix::new("a/").expect("a prefix")).expect("list").prefixes.len(),
        1500
    );
    assert_eq!(server.log().iter().filter(|request| request.operation == Operation::List).count(), 5);
    AsyncAsSync::new(store.clone()).erase_prefix(&Prefix::root()).expect("erase");
    assert_eq!(server.keys("data").len(), 0);
}

/// The state beside the version: in Google Cloud Storage the version is the generation, and no ETag.
#[test]
fn times_and_etags_come_with_values() {
    for is_s3 in [true, false] {
        let bucket = if is_s3 { Bucket::s3() } else { Bucket::gcs() };
        let server = TestServer::builder().bucket("data", bucket).start().expect("a server");
        server.put("data", "a", "0123456789");
        let store = if is_s3 { s3(&server, "s3://data", &[]) } else { gs(&server, "gs://data", &[]) };
        let key = Key::new("a").expect("a key");
        let fetched = block_on(store.get_ranges(&key, &[ByteRange::Range(2..4)])).expect("get").expect("there");
        assert_eq!(fetched.part(0), b"23");
        assert!(fetched.modified.is_some_and(|time| time <= std::time::SystemTime::now()), "{fetched:?}");
        assert!(fetched.etag.as_ref().is_some_and(|tag| tag.starts_with('"')), "{fetched:?}");
        let version = fetched.version.as_ref().map(|version| version.as_str());
        assert_eq!(version == fetched.etag.as_deref(), is_s3, "{fetched:?}");
    }
}
