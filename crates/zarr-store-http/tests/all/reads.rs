//! Tests of the requirements in the contract of stores.

use std::sync::Arc;
use std::time::{Duration, Instant};

use zarr_drive::{AsyncAsSync, block_on};
use zarr_store::{AsyncStore, AsyncStoreExt, ByteRange, GetOptions, Key, Prefix, testing};
use zarr_store_http::HttpStore;
use zarr_testserver::{Bucket, Listing, TestServer};

pub(crate) fn open(url: &str, options: &[(&str, &str)]) -> Arc<HttpStore> {
    let options: Vec<(String, String)> =
        options.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Arc::new(HttpStore::open(url, &options).expect("a store"))
}

pub(crate) fn key(text: &str) -> Key {
    Key::new(text).expect("a key")
}

const VALUES: &[(&str, &[u8])] = &[
    ("zarr.json", b"{}"),
    ("a/.zarray", b"{\"zarr_format\": 2}"),
    ("a/0.0", &[7; 100_000]),
    ("a/c/0/0", b""),
    ("a/c/0/1", b"0123456789"),
    ("x", b"y"),
    ("a b/\u{e4}/%20+#?&=", b"special"),
    ("c:d/e;f", b"more"),
];

// clause: d2022-173
#[test]
fn it_keeps_it() {
    for bucket in [Bucket::plain(), Bucket::plain().ignoring_ranges(), Bucket::plain().listing(Listing::Html)] {
        let server = TestServer::builder().bucket("data", bucket).start().expect("a server");
        for (name, value) in VALUES {
            server.put("data", &format!("p q/{name}"), value.to_vec());
        }
        let store = open(&format!("{}/data/p%20q/", server.url()), &[]);
        testing::contract_read(&AsyncAsSync::new(store.clone()), VALUES);
        testing::contract_read_only(&AsyncAsSync::new(store.clone()));
        assert!(!store.capabilities().list && block_on(store.list_dir(&Prefix::root())).is_err());
        assert_eq!(server.counts().heads, 0);
    }
}

#[test]
fn the_server_of_python() {
    let root = std::env::temp_dir().join(format!("zarr-http-{}", std::process::id()));
    let values: Vec<(&str, &[u8])> =
        VALUES.iter().filter(|(name, _)| !name.contains(['?', '#', ':'])).copied().collect();
    for (name, value) in &values {
        let path = root.join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, value).expect("a file");
    }
    let port =
        std::net::TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a port").port();
    let mut python = std::process::Command::new("python3");
    python.args(["-m", "http.server", &port.to_string(), "--bind", "127.0.0.1", "-d"]).arg(&root);
    python.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    // Where there is no Python, the other servers are enough.
    let Ok(mut child) = python.spawn() else { return };
    let start = Instant::now();
    while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() && start.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(50));
    }
    let checked = std::panic::catch_unwind(|| {
        testing::contract_read(&AsyncAsSync::new(open(&format!("http://127.0.0.1:{port}"), &[])), &values);
    });
    child.kill().expect("killed");
    child.wait().expect("ended");
    std::fs::remove_dir_all(root).expect("removed");
    checked.expect("the contract");
}

#[test]
fn requests() {
    let server = TestServer::builder().bucket("data", Bucket::plain()).start().expect("a server");
    server.put("data", "a", "0123456789");
    let store = open(&format!("{}/data", server.url()), &[]);
    let cost = |ranges: &[ByteRange]| {
        server.reset_counts();
        let fetched = block_on(store.get_ranges(&key("a"), ranges)).expect("get").expect("there");
        assert_eq!(fetched.size, Some(10));
        (server.counts().requests(), server.counts().bytes_sent)
    };
    assert_eq!(cost(&[]), (1, 1));
    assert_eq!(cost(&[ByteRange::Full, ByteRange::Suffix(3)]), (1, 10));
    assert_eq!(cost(&[ByteRange::Suffix(3), ByteRange::Range(0..2), ByteRange::Range(10..10)]), (2, 5));
    // A server that sends all sends it once, and then says that it has not changed.
    server.bucket("data", Bucket::plain().ignoring_ranges());
    let ranges = [ByteRange::Suffix(3), ByteRange::Range(0..2)];
    assert_eq!(cost(&[ByteRange::Range(1..2)]), (1, 10));
    assert_eq!(cost(&ranges), (1, 0));
    server.put("data", "a", "9876543210");
    assert_eq!(cost(&ranges), (1, 10));
    // The answer that a value has not changed does not name its state again.
    let fetched = block_on(store.get_ranges(&key("a"), &ranges)).expect("get").expect("there");
    assert_eq!(fetched.parts().collect::<Vec<_>>(), [b"210", &b"98"[..]]);
    assert!(fetched.modified.is_some() && fetched.etag.is_some(), "{fetched:?}");
    // The state of a snapshot that is kept needs no request.
    let fetched = block_on(store.get(&key("a"), &ranges, &GetOptions::snapshot())).expect("get").expect("there");
    server.put("data", "a", "another");
    server.reset_counts();
    let same = GetOptions::if_match(fetched.snapshot.clone());
    let again = block_on(store.get(&key("a"), &ranges, &same)).expect("get").expect("there");
    assert_eq!((again.part(0), server.counts().requests()), (&b"210"[..], 0));
    assert_eq!((again.modified, &again.etag), (fetched.modified, &fetched.etag));
}

/// The time of a value that is kept is that of the answer that it has not changed, where this names one.
#[test]
fn values_that_did_not_change_have_the_time_of_the_answer() {
    let server = TestServer::builder().bucket("data", Bucket::plain().ignoring_ranges()).start().expect("a server");
    server.put("data", "a", "0123456789");
    let store = open(&format!("{}/data", server.url()), &[]);
    let read = || block_on(store.get_ranges(&key("a"), &[ByteRange::Range(0..2)])).expect("get").expect("there");
    let first = read();
    // The same bytes have the same ETag, and the time of servers counts seconds.
    std::thread::sleep(Duration::from_millis(1100));
    server.put("data", "a", "0123456789");
    server.reset_counts();
    let again = read();
    assert_eq!((again.part(0), &again.etag, server.counts().bytes_sent), (&b"01"[..], &first.etag, 0));
    assert!(again.modified > first.modified, "{:?} and {:?}", again.modified, first.modified);
}

#[test]
fn states() {
    let server = TestServer::builder().bucket("data", Bucket::plain()).start().expect("a server");
    server.put("data", "a", "0123456789");
    let store = open(&format!("{}/data", server.url()), &[]);
    let first = block_on(store.get(&key("a"), &[ByteRange::Range(0..2)], &GetOptions::snapshot()))
        .expect("get")
        .expect("there");
    let same = GetOptions::if_match(first.snapshot.clone());
    let rest = block_on(store.get(&key("a"), &[ByteRange::From(8)], &same)).expect("get").expect("there");
    assert_eq!(rest.part(0), b"89");
    server.put("data", "a", "x");
    let error = block_on(store.get(&key("a"), &[ByteRange::From(8)], &same)).expect_err("replaced");
    assert!(error.is_precondition(), "{error}");
}

#[test]
fn a_dropped_get_ends_its_requests() {
    let server = TestServer::builder()
        .bucket("data", Bucket::plain())
        .latency(Duration::from_secs(20))
        .start()
        .expect("a server");
    server.put("data", "a", "0123456789");
    let store = open(&format!("{}/data", server.url()), &[]);
    let (key, options) = (key("a"), GetOptions::default());
    {
        let mut get = store.get(&key, &[ByteRange::Full], &options);
        assert!(get.as_mut().poll(&mut std::task::Context::from_waker(std::task::Waker::noop())).is_pending());
        std::thread::sleep(Duration::from_millis(200));
        assert_eq!(server.counts().requests(), 1);
    }
    let start = Instant::now();
    while server.counts().aborted < 1 {
        assert!(start.elapsed() < Duration::from_secs(5), "{:?}", server.counts());
        std::thread::sleep(Duration::from_millis(5));
    }
}
