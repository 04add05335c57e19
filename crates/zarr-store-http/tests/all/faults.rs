//! Servers and networks that fail.

use std::sync::Arc;
use std::time::{Duration, Instant};

use zarr_drive::block_on;
use zarr_store::{AsyncStoreExt, ByteRange, Error, ErrorKind, Result};
use zarr_store_http::HttpStore;
use zarr_testserver::{Bucket, Etags, Fault, FaultKind, TestServer, beside_each_other};

use crate::reads::{key, open};

const FAST: &[(&str, &str)] = &[("deadline", "1.5"), ("timeout", "1"), ("retries", "2")];

fn setup() -> (TestServer, Arc<HttpStore>) {
    let server = TestServer::builder()
        .bucket("data", Bucket::plain())
        .bucket("other", Bucket::plain())
        .start()
        .expect("a server");
    server.put("data", "a", "0123456789");
    server.put("data", "zarr.json", "{}");
    let store = open(&format!("{}/data?sig=SENTINEL", server.url()), FAST);
    (server, store)
}

fn get(store: &HttpStore, name: &str, range: ByteRange) -> Result<Option<Vec<u8>>> {
    Ok(block_on(store.get_ranges(&key(name), &[range]))?.map(|fetched| fetched.part(0).to_vec()))
}

fn reason(error: &Error) -> String {
    let text =
        format!("{error} {error:?}: {}", std::error::Error::source(error).map(ToString::to_string).unwrap_or_default());
    assert!(!text.contains("SENTINEL"), "{text}");
    text
}

#[test]
fn faults_that_pass() {
    let kinds = [
        FaultKind::status(500),
        FaultKind::status(502),
        FaultKind::status(503),
        FaultKind::status(429),
        FaultKind::status(408),
        FaultKind::DropBefore,
        FaultKind::DropAfter,
        FaultKind::Truncate(0),
        FaultKind::Truncate(1),
        FaultKind::Delay(Duration::from_millis(1200)),
    ];
    beside_each_other(kinds, |kind| {
        let (server, store) = setup();
        for range in [ByteRange::Full, ByteRange::Range(2..5), ByteRange::Suffix(2)] {
            server.fault(Fault::new(kind.clone()));
            let due = range.resolve(10).expect("inside");
            let due = b"0123456789"[due.start as usize..due.end as usize].to_vec();
            assert_eq!(get(&store, "a", range).expect("get"), Some(due), "{kind:?}");
            assert_eq!(server.faults_left(), 0);
        }
    });
    let server = setup().0;
    let slow = open(&format!("{}/data", server.url()), &[]);
    server.fault(Fault::new(FaultKind::retry_after(503, 1)));
    let start = Instant::now();
    assert!(get(&slow, "a", ByteRange::Full).expect("get").is_some());
    assert!(start.elapsed() >= Duration::from_secs(1), "{:?}", start.elapsed());
}

#[test]
fn faults_that_stay() {
    let cases = [
        (FaultKind::status(500), ErrorKind::Transient, "500"),
        (FaultKind::status(503), ErrorKind::Throttled, "503"),
        (FaultKind::retry_after(429, 60), ErrorKind::Throttled, "429"),
        (FaultKind::status(400), ErrorKind::Io, "400"),
        (FaultKind::status(501), ErrorKind::Io, "501"),
        (FaultKind::status(204), ErrorKind::Io, "204"),
        (FaultKind::status(401), ErrorKind::Denied, "header.Authorization"),
        (FaultKind::status(403), ErrorKind::Denied, "missing=403"),
        (FaultKind::DropBefore, ErrorKind::Transient, "connection"),
        (FaultKind::Truncate(0), ErrorKind::Transient, "the body"),
        (FaultKind::ContentLength(1000), ErrorKind::Transient, "the body"),
        (FaultKind::Gzip, ErrorKind::Io, "gzip"),
        (FaultKind::Html, ErrorKind::Io, "page for people"),
        (FaultKind::Delay(Duration::from_secs(30)), ErrorKind::TimedOut, "timed out"),
        (FaultKind::Redirect { status: 302, location: "ftp://x/SENTINEL".to_owned() }, ErrorKind::Io, "redirects"),
        (FaultKind::Redirect { status: 301, location: "a?SENTINEL".to_owned() }, ErrorKind::Io, "10 redirects"),
    ];
    beside_each_other(cases, |(kind, expected, word)| {
        let (server, store) = setup();
        server.fault(Fault::new(kind.clone()).always());
        let start = Instant::now();
        if matches!(kind, FaultKind::Redirect { .. }) {
            let error = get(&store, "a", ByteRange::Full).expect_err("an error");
            assert!(reason(&error).replace("SENTINEL", "").contains(word), "{kind:?}: {}", reason(&error));
            return;
        }
        for range in [ByteRange::Full, ByteRange::Range(2..5), ByteRange::Suffix(2)] {
            let error = match get(&store, "a", range.clone()) {
                // A length that is wrong where no range says another is the length. All of a value is decoded.
                Ok(value) => {
                    let is_decoded = matches!((&kind, &range), (FaultKind::Gzip, ByteRange::Full));
                    assert!(is_decoded || matches!(kind, FaultKind::ContentLength(_)), "{kind:?} {range}: {value:?}");
                    continue;
                }
                Err(error) => error,
            };
            let found = if matches!(kind, FaultKind::ContentLength(_)) { expected } else { error.kind() };
            assert_eq!(found, expected, "{kind:?} {range}: {}", reason(&error));
            assert!(
                reason(&error).contains(word) || reason(&error).contains("Content-Length"),
                "{kind:?}: {}",
                reason(&error)
            );
        }
        assert!(start.elapsed() < Duration::from_secs(12), "{kind:?}: {:?}", start.elapsed());
    });
    let server = setup().0;
    let store = open(&format!("{}/data", server.url()), FAST);
    for wrong in ["bytes 0-2/10", "bytes 1-4/*", "items", "bytes 2-4/3", "bytes 2-5/10"] {
        server.fault(Fault::new(FaultKind::ContentRange(wrong.to_owned())));
        let error = get(&store, "a", ByteRange::Range(2..5)).expect_err("another range");
        assert!(error.kind() == ErrorKind::Io && reason(&error).contains("expected"), "{wrong}: {}", reason(&error));
    }
}

#[test]
fn what_is_missing() {
    let (server, store) = setup();
    for status in [404, 410] {
        server.fault(Fault::new(FaultKind::status(status)));
        assert_eq!(get(&store, "a", ByteRange::Full).expect("get"), None);
    }
    let allowed = open(&format!("{}/data", server.url()), &[("missing", "403")]);
    server.fault(Fault::new(FaultKind::status(403)));
    assert_eq!(get(&allowed, "a", ByteRange::Full).expect("get"), None);
    assert!(get(&allowed, "a", ByteRange::Full).expect("get").is_some());
}

#[test]
fn pages_for_people() {
    let (server, store) = setup();
    server.put("data", "b/zarr.json", "\n<!DOCTYPE HTML><title>SENTINEL</title>");
    server.put("data", "b/c/0", "<html>is the value of a chunk");
    let error = get(&store, "b/zarr.json", ByteRange::Full).expect_err("a page");
    assert!(reason(&error).contains("page for people"), "{}", reason(&error));
    // Bytes of a chunk may be anything, unless the server says that they are a page.
    assert!(get(&store, "b/c/0", ByteRange::Full).expect("get").is_some());
    for name in ["zarr.json", "a", "absent"] {
        server.fault(Fault::new(FaultKind::Html));
        assert!(get(&store, name, ByteRange::Range(0..1)).is_err(), "{name}");
    }
    // Such a page does not say that the server knows no ranges.
    server.reset_counts();
    get(&store, "a", ByteRange::Range(0..1)).expect("get");
    assert_eq!(server.counts().bytes_sent, 1);
}

#[test]
fn redirects() {
    let (server, store) = setup();
    server.put("other", "target", "target!");
    for status in [301, 302, 303, 307, 308] {
        server.fault(Fault::new(FaultKind::Redirect { status, location: "/other/target".to_owned() }));
        assert_eq!(get(&store, "a", ByteRange::Range(1..4)).expect("get").as_deref(), Some(&b"arg"[..]));
    }
    assert!(
        server.log().iter().filter(|request| request.path == "/other/target").all(|request| request.query.is_empty())
    );
    assert!(
        server.log().iter().filter(|request| request.path == "/data/a").all(|request| request.query == "sig=SENTINEL")
    );
    // A directory is no value.
    server.fault(Fault::new(FaultKind::Redirect { status: 301, location: "/data/a/".to_owned() }));
    assert_eq!(get(&store, "a", ByteRange::Full).expect("get"), None);
    // However its name is escaped.
    server.put("data", "c:d \u{e4}/", "a page");
    for location in ["/data/c:d%20%C3%A4/", "/data/c%3ad%20%c3%a4/"] {
        server.fault(Fault::new(FaultKind::Redirect { status: 301, location: location.to_owned() }));
        assert_eq!(get(&store, "c:d \u{e4}", ByteRange::Full).expect("get"), None, "{location}");
    }
    // Another server does not get the headers.
    let other = TestServer::builder().bucket("other", Bucket::plain()).start().expect("a server");
    other.put("other", "target", "there");
    let with = open(
        &format!("{}/data", server.url()),
        &[("header.Authorization", "Bearer SENTINEL1"), ("header.X-Key", "SENTINEL2")],
    );
    let location = format!("{}/other/target", other.url());
    server.fault(Fault::new(FaultKind::Redirect { status: 307, location }));
    assert_eq!(get(&with, "a", ByteRange::Full).expect("get").as_deref(), Some(&b"there"[..]));
    assert!(!format!("{with:?}{with}").contains("SENTINEL"));
}

#[test]
fn bounds_and_options() {
    let (server, _) = setup();
    let store = open(&format!("{}/data", server.url()), &[("max_value", "9")]);
    let error = get(&store, "a", ByteRange::Full).expect_err("too large");
    assert!(error.kind() == ErrorKind::Limit && reason(&error).contains("max_value"), "{}", reason(&error));
    assert_eq!(get(&store, "a", ByteRange::Suffix(9)).expect("get").as_deref(), Some(&b"123456789"[..]));
    server.fault(Fault::new(FaultKind::IgnoreRange));
    assert_eq!(get(&store, "a", ByteRange::Suffix(9)).expect_err("too large").kind(), ErrorKind::Limit);
    let refused = |name: &str, value: &str| {
        let options = [(name.to_owned(), value.to_owned())];
        reason(&HttpStore::open("http://h", &options).expect_err("refused"))
    };
    assert!(refused("colour", "SENTINEL").contains("header.NAME"));
    assert!(refused("header.A B", "SENTINEL").contains("header"));
    assert!(refused("header.X", "SENTINEL\n").contains("header"));
    assert!(refused("header.Range", "bytes=0-1").contains("sets"));
    assert!(refused("missing", "500").contains("403"));
}

#[test]
fn nobody_listens() {
    let store = open("http://user:SENTINEL@127.0.0.1:1/x?SENTINEL", FAST);
    let error = get(&store, "a", ByteRange::Full).expect_err("nobody");
    assert!(
        error.kind() == ErrorKind::Transient && reason(&error).contains("Connection refused"),
        "{}",
        reason(&error)
    );
    assert_absent("http://127.0.0.1:1/x");
    assert_absent("http://no-such-host.invalid/x");
}

/// A server that is not there is found out without waiting for the deadline.
fn assert_absent(url: &str) {
    let error = get(&open(url, &[("deadline", "60")]), "a", ByteRange::Full).expect_err("nobody");
    assert_eq!(error.kind(), ErrorKind::Transient);
    assert!(reason(&error).contains(": 2 attempts in "), "{}", reason(&error));
}

/// Within the deadline a server may be gone for a while. After it the error says what was tried.
#[test]
fn a_server_that_is_gone_for_a_while() {
    beside_each_other([FaultKind::DropBefore, FaultKind::status(503), FaultKind::Truncate(0)], |kind| {
        let server = Arc::new(setup().0);
        let url = format!("{}/data?sig=SENTINEL", server.url());
        server.fault(Fault::new(kind.clone()).always());
        let up = {
            let server = Arc::clone(&server);
            std::thread::spawn(move || {
                std::thread::sleep(Duration::from_millis(400));
                server.clear_faults();
            })
        };
        let found = get(&open(&url, &[("deadline", "5")]), "a", ByteRange::Range(2..8));
        up.join().expect("no panic");
        assert_eq!(found.expect("get").as_deref(), Some(&b"234567"[..]));
        server.fault(Fault::new(kind.clone()).always());
        let begun = Instant::now();
        let error = get(&open(&url, &[("deadline", "1")]), "a", ByteRange::Range(2..8)).expect_err("gone");
        assert!(begun.elapsed() < Duration::from_millis(1400), "{kind:?}: {:?}", begun.elapsed());
        let (text, request) = (reason(&error), format!("(GET {}/data/a: ", server.url()));
        assert!(error.is_retryable() && text.contains(&request) && text.contains(" attempts in "), "{kind:?}: {text}");
    });
}

/// A value that is replaced while its body is read is read again.
#[test]
fn a_cut_body_of_a_value_that_was_replaced() {
    let (server, _) = setup();
    let store = open(&format!("{}/data", server.url()), &[]);
    for round in 0..4_u8 {
        server.put("data", "a", vec![round; 100_000]);
        server.fault(Fault::new(FaultKind::Truncate(50_000)));
        server.fault(Fault::new(FaultKind::Change(vec![100 + round; 100_000].into())));
        let value = get(&store, "a", ByteRange::Full).expect("get").expect("there");
        assert!(value.iter().all(|byte| *byte == 100 + round), "{:?}", &value[49_990..50_010]);
    }
}

/// A server that has too many requests has fewer of them soon.
#[test]
fn fewer_requests_are_under_way_while_the_server_has_too_many() {
    let (server, _) = setup();
    let store = open(&format!("{}/data", server.url()), &[]);
    server.set_latency(Duration::from_millis(10));
    server.set_capacity(Some(4));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let read = |each: usize| {
        runtime.block_on(async {
            let workers: Vec<_> = (0..30)
                .map(|_| {
                    let store = Arc::clone(&store);
                    tokio::spawn(async move {
                        for _ in 0..each {
                            assert!(store.get_all(&key("a")).await.expect("get").is_some());
                        }
                    })
                })
                .collect();
            for worker in workers {
                worker.await.expect("no panic");
            }
        });
    };
    read(8);
    server.reset_counts();
    read(8);
    let counts = server.counts();
    assert!(counts.most_in_flight <= 12 && counts.refused < 120, "{counts:?}");
}

/// The ranges that were asked for of a value.
fn ranges(server: &TestServer, name: &str) -> Vec<Option<String>> {
    server.log().into_iter().filter(|logged| logged.path.ends_with(name)).map(|logged| logged.range).collect()
}

#[test]
fn a_body_that_is_cut_goes_on_where_it_ended() {
    let (server, _) = setup();
    let value: Vec<u8> = (0..=255).cycle().take(100_000).collect();
    server.put("data", "b", value.clone());
    server.fault(Fault::new(FaultKind::Truncate(30_000)).path("/b").always());
    let store = open(&format!("{}/data", server.url()), &[]);
    assert_eq!(get(&store, "b", ByteRange::Full).expect("get"), Some(value.clone()));
    let asked = ranges(&server, "/b");
    let due = [None, Some("bytes=30000-99999"), Some("bytes=60000-99999"), Some("bytes=90000-99999")];
    assert_eq!(asked, due.map(|range| range.map(str::to_owned)));
    server.reset_counts();
    assert_eq!(get(&store, "b", ByteRange::Range(10..50_010)).expect("get").as_deref(), value.get(10..50_010));
    assert_eq!(ranges(&server, "/b").last().cloned().flatten().as_deref(), Some("bytes=30010-50009"));
    // Another state is never put together with the one before.
    let other: Vec<u8> = vec![7; 100_000];
    server.clear_faults();
    server.fault(Fault::new(FaultKind::Truncate(30_000)).path("/b"));
    server.fault(Fault::new(FaultKind::Change(other.clone().into())).path("/b"));
    assert_eq!(get(&store, "b", ByteRange::Full).expect("get"), Some(other));
}

#[test]
fn bodies_that_are_cut_again_and_again_end_with_the_deadline() {
    let server = TestServer::builder().bucket("data", Bucket::plain().etags(Etags::None)).start().expect("a server");
    server.put("data", "a", vec![7; 1 << 20]);
    server.fault(Fault::new(FaultKind::Truncate(1 << 19)).always());
    let store = open(&format!("{}/data", server.url()), &[("deadline", "1")]);
    let start = Instant::now();
    let error = get(&store, "a", ByteRange::Full).expect_err("cut");
    assert!(matches!(error.kind(), ErrorKind::Transient | ErrorKind::TimedOut), "{}", reason(&error));
    assert!(start.elapsed() < Duration::from_secs(6), "{:?}, {}", start.elapsed(), reason(&error));
}

/// `{"zarr_format": 3}`.
const GZIPPED: &[u8] = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xab\x56\xaa\x4a\x2c\x2a\x8a\x4f\xcb\x2f\xca\x4d\x2c\x51\xb2\x52\x30\xae\x05\x00\xfb\x79\x2c\x90\x12\x00\x00\x00";

#[test]
fn values_that_are_stored_compressed_are_decoded_as_a_whole() {
    let (server, store) = setup();
    server.put_encoded("data", "g/zarr.json", GZIPPED, "gzip");
    server.put_encoded("data", "g/broken", &GZIPPED[..30], "gzip");
    server.put_encoded("data", "g/other", GZIPPED, "br");
    for range in [ByteRange::Full, ByteRange::First(16 << 20), ByteRange::From(0)] {
        assert_eq!(get(&store, "g/zarr.json", range).expect("get").as_deref(), Some(&br#"{"zarr_format": 3}"#[..]));
    }
    let small = open(&format!("{}/data", server.url()), &[("max_value", "17")]);
    assert_eq!(get(&small, "g/zarr.json", ByteRange::Full).expect_err("large").kind(), ErrorKind::Limit);
    for (name, range, word) in [
        ("g/zarr.json", ByteRange::Range(2..5), "encoded as gzip"),
        ("g/zarr.json", ByteRange::Suffix(3), "encoded as gzip"),
        ("g/broken", ByteRange::Full, "cannot be decoded"),
        ("g/other", ByteRange::Full, "encoded as br"),
    ] {
        let error = get(&store, name, range).expect_err("refused");
        assert!(error.kind() == ErrorKind::Io && reason(&error).contains(word), "{name}: {}", reason(&error));
    }
}

#[test]
fn a_range_of_a_value_of_unknown_size() {
    let (server, store) = setup();
    let star = |range: &str| server.fault(Fault::new(FaultKind::ContentRange(range.to_owned())));
    star("bytes 0-9/*");
    assert_eq!(get(&store, "a", ByteRange::First(100)).expect("get").as_deref(), Some(&b"0123456789"[..]));
    star("bytes 8-9/*");
    assert_eq!(get(&store, "a", ByteRange::Suffix(2)).expect("get").as_deref(), Some(&b"89"[..]));
    assert_eq!(server.counts().gets, 2);
    // Only all of it says how large it is.
    star("bytes 2-4/*");
    assert_eq!(get(&store, "a", ByteRange::Range(2..5)).expect("get").as_deref(), Some(&b"234"[..]));
    assert_eq!((server.counts().gets, server.faults_left()), (4, 0));
}

#[test]
fn a_server_without_ranges_from_the_end() {
    for status in [501, 500, 400] {
        let (server, store) = setup();
        let is_suffix =
            |logged: &zarr_testserver::Logged| logged.range.as_ref().is_some_and(|range| range.starts_with("bytes=-"));
        server.fault(Fault::new(FaultKind::status(status)).when(is_suffix).always());
        let start = Instant::now();
        for _ in 0..4 {
            assert_eq!(get(&store, "a", ByteRange::Suffix(2)).expect("get").as_deref(), Some(&b"89"[..]), "{status}");
        }
        assert!(start.elapsed() < Duration::from_secs(3), "{:?}", start.elapsed());
        let asked: Vec<_> = ranges(&server, "/a").into_iter().flatten().collect();
        assert_eq!(asked[..3], ["bytes=-2", "bytes=0-0", "bytes=8-9"]);
        assert_eq!(asked.last().map(String::as_str), Some("bytes=8-9"));
        // It is not asked again and again.
        assert!(asked.iter().filter(|range| *range == "bytes=-2").count() <= 2, "{asked:?}");
    }
}

/// A body that has more than it should is wrong from its first byte on.
#[test]
fn nothing_is_kept_of_a_body_that_is_too_long() {
    let (server, _) = setup();
    let store = open(&format!("{}/data", server.url()), &[]);
    let value: Vec<u8> = (0..600_000_u32).map(|index| (index % 31) as u8).collect();
    server.put("data", "a", value.clone());
    for range in [ByteRange::Range(0..590_000), ByteRange::Range(10..600_000)] {
        server.fault(Fault::new(FaultKind::Excess(100_000)).times(2));
        let at = range.resolve(600_000).expect("inside");
        let due = &value[at.start as usize..at.end as usize];
        let found = get(&store, "a", range.clone()).expect("get").expect("there");
        assert!(found == due, "{range:?}: {:?}", &found[..10]);
        assert_eq!(server.faults_left(), 0);
    }
}
