//! Servers and networks that fail.

use std::sync::Arc;
use std::time::{Duration, Instant};

use zarr_drive::{AsyncAsSync, block_on};
use zarr_store::{
    AsyncStoreExt, ByteRange, Error, ErrorKind, GetOptions, Precondition, Prefix, Result, SetOptions, StoreExt,
    Version, testing,
};
use zarr_store_object::BucketStore;
use zarr_testserver::{Bucket, Fault, FaultKind, Operation, TestServer, beside_each_other};

use crate::contract::{gs, key, s3};
use crate::servers::open;

const FAST: &[(&str, &str)] = &[("deadline", "1.5"), ("timeout", "1"), ("retries", "3")];

fn setup() -> (TestServer, Arc<BucketStore>) {
    let server = TestServer::start().expect("a server");
    server.put("data", "a", "0123456789");
    let store = s3(&server, "s3://data", FAST);
    (server, store)
}

fn get(store: &BucketStore, ranges: &[ByteRange]) -> Result<Option<Vec<Vec<u8>>>> {
    let fetched = block_on(store.get_ranges(&key("a"), ranges))?;
    Ok(fetched.map(|fetched| fetched.parts().map(<[u8]>::to_vec).collect()))
}

fn put(store: &BucketStore, value: &'static str, when: Precondition) -> Result<Option<Version>> {
    block_on(store.set(&key("p"), value.into(), &SetOptions::when(when)))
}

fn reason(error: &Error) -> String {
    format!("{}: {}", error, std::error::Error::source(error).map(ToString::to_string).unwrap_or_default())
}

/// All gets of a store fail with an error of this kind, whose text has these words: none says that there is no value.
fn gets_fail(store: &BucketStore, kind: ErrorKind, words: &[&str]) {
    for ranges in [vec![ByteRange::Full], vec![ByteRange::Range(2..5)], vec![ByteRange::Suffix(2)]] {
        let error = get(store, &ranges).expect_err("an error");
        assert_eq!(error.kind(), kind, "{ranges:?}: {}", reason(&error));
        for word in words.iter().chain(&["s3://data", "a"]) {
            assert!(reason(&error).contains(word), "{word}: {}", reason(&error));
        }
    }
}

#[test]
fn faults_that_pass() {
    let kinds = [
        FaultKind::status(500),
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
            server.fault(Fault::new(kind.clone()).on(Operation::Get));
            let due = ByteRange::resolve(&range, 10).expect("inside");
            let due = b"0123456789"[due.start as usize..due.end as usize].to_vec();
            assert_eq!(get(&store, &[range]).expect("get"), Some(vec![due]), "{kind:?}");
            assert_eq!(server.faults_left(), 0);
        }
        if !matches!(kind, FaultKind::Truncate(_) | FaultKind::Delay(_)) {
            server.fault(Fault::new(kind.clone()).on(Operation::Put));
            put(&store, "again", Precondition::None).expect("set");
            server.fault(Fault::new(kind.clone()).on(Operation::List));
            assert_eq!(AsyncAsSync::new(store.clone()).list().expect("list"), [key("a"), key("p")], "{kind:?}");
            server.fault(Fault::new(kind).on(Operation::Delete));
            AsyncAsSync::new(store.clone()).erase(&key("p")).expect("erase");
            assert_eq!(server.get("data", "p"), None);
        }
    });
}

#[test]
fn faults_that_stay() {
    let cases = [
        (FaultKind::status(500), ErrorKind::Transient, "500"),
        (FaultKind::status(503), ErrorKind::Throttled, "503"),
        (FaultKind::status(429), ErrorKind::Throttled, "429"),
        (FaultKind::status(400), ErrorKind::Io, "400"),
        (FaultKind::status(401), ErrorKind::Denied, "anonymous=true"),
        (FaultKind::status(403), ErrorKind::Denied, "missing=403"),
        (FaultKind::DropBefore, ErrorKind::Transient, "connection"),
        (FaultKind::Truncate(0), ErrorKind::Transient, "body"),
        (FaultKind::ContentLength(1), ErrorKind::Transient, "bytes"),
        (FaultKind::ContentLength(1000), ErrorKind::Transient, "bytes"),
        (FaultKind::Html, ErrorKind::Io, "page for people"),
        (FaultKind::Gzip, ErrorKind::Io, "gzip"),
        (FaultKind::Delay(Duration::from_secs(30)), ErrorKind::TimedOut, "timed out"),
    ];
    beside_each_other(cases, |(kind, error, word)| {
        let (server, store) = setup();
        server.fault(Fault::new(kind.clone()).on(Operation::Get).always());
        let start = Instant::now();
        // A wrong length of all of the value is the size that the service says, and all of a value is decoded.
        if matches!(kind, FaultKind::ContentLength(_) | FaultKind::Truncate(_) | FaultKind::Gzip) {
            for range in [ByteRange::Range(2..5), ByteRange::Suffix(2)] {
                let found = get(&store, &[range]).expect_err("an error");
                assert!(reason(&found).contains(word), "{kind:?}: {}", reason(&found));
            }
        } else {
            gets_fail(&store, error, &[word]);
        }
        assert!(start.elapsed() < Duration::from_secs(12), "{kind:?}: {:?}", start.elapsed());
    });
    let (server, store) = setup();
    server.fault(Fault::new(FaultKind::IgnoreRange).on(Operation::Get).always());
    let error = get(&store, &[ByteRange::Range(2..5)]).expect_err("no range");
    assert!(reason(&error).contains("expected 206"), "{}", reason(&error));
    server.clear_faults();
    server.fault(Fault::new(FaultKind::ContentRange("bytes 0-2/10".to_owned())).on(Operation::Get).always());
    let error = get(&store, &[ByteRange::Range(2..5)]).expect_err("another range");
    assert!(reason(&error).contains("2..5"), "{}", reason(&error));
}

#[test]
fn a_page_for_people_is_no_list_and_no_erasure() {
    let (server, store) = setup();
    server.fault(Fault::new(FaultKind::Html).always());
    let blocking = AsyncAsSync::new(store.clone());
    for error in [
        blocking.list().map(drop).expect_err("list"),
        blocking.list_dir(&Prefix::root()).map(drop).expect_err("list"),
        blocking.erase_prefix(&Prefix::root()).expect_err("erase"),
        blocking.erase(&key("a")).expect_err("erase"),
        blocking.set_all(&key("b"), b"1").map(drop).expect_err("set"),
    ] {
        assert_eq!(error.kind(), ErrorKind::Io, "{}", reason(&error));
    }
    let foreign = FaultKind::Status { status: 404, headers: Vec::new(), body: "<!DOCTYPE html><p>nothing here".into() };
    server.clear_faults();
    server.fault(Fault::new(foreign).always());
    gets_fail(&store, ErrorKind::Io, &["404", "page for people"]);
}

#[test]
fn pages_that_repeat() {
    let server = TestServer::start().expect("a server");
    for i in 0..1500 {
        server.put("data", &format!("{i:05}"), "");
    }
    let store = s3(&server, "s3://data", FAST);
    server.fault(Fault::new(FaultKind::DuplicatePage).on(Operation::List));
    assert_eq!(AsyncAsSync::new(store.clone()).list().expect("list").len(), 1500);
    server.fault(Fault::new(FaultKind::Unsorted).on(Operation::List).times(2));
    assert!(AsyncAsSync::new(store.clone()).list().expect("list").is_sorted());
    // Sizes in order, with a page that repeats; in no order; and both.
    let repeated = || Fault::new(FaultKind::DuplicatePage).on(Operation::List);
    let unsorted = || Fault::new(FaultKind::Unsorted).on(Operation::List);
    for faults in [vec![repeated()], vec![unsorted().times(2)], vec![unsorted(), repeated(), unsorted()]] {
        faults.into_iter().for_each(|fault| server.fault(fault));
        testing::check_sizes(&AsyncAsSync::new(store.clone()), &Prefix::root());
        server.clear_faults();
    }
    let dir = || AsyncAsSync::new(store.clone()).list_dir(&Prefix::root()).expect("list").keys.len();
    server.fault(repeated());
    assert_eq!(dir(), 1500);
    server.fault(Fault::new(FaultKind::RepeatToken).on(Operation::List).skip(1).always());
    let error = AsyncAsSync::new(store.clone()).list().expect_err("for ever");
    assert!(reason(&error).contains("twice"), "{}", reason(&error));
}

#[test]
fn what_is_refused() {
    let server = TestServer::builder().credentials("testing", "testing-secret").start().expect("a server");
    server.bucket("public", Bucket::s3().public());
    server.bucket("private", Bucket::s3());
    server.bucket("objects", Bucket::s3().public().missing_is_403());
    server.bucket("paid", Bucket::s3().requester_pays());
    for bucket in ["public", "private", "objects", "paid"] {
        server.put(bucket, "a", "value");
    }
    let endpoint = server.url();
    let anonymous = |url: &str, more: &[(&str, &str)]| {
        open(url, &[&[("endpoint", endpoint.as_str()), ("anonymous", "true")], more].concat())
    };
    let value = |store: &BucketStore, name: &str| block_on(store.get_all(&key(name)));
    assert_eq!(value(&anonymous("s3://public", &[]), "a").expect("get").as_deref(), Some(&b"value"[..]));
    assert_eq!(value(&anonymous("s3://public", &[]), "b").expect("get"), None);
    let error = value(&anonymous("s3://private", &[]), "a").expect_err("refused");
    assert!(error.kind() == ErrorKind::Denied && !reason(&error).contains("anonymous=true"), "{}", reason(&error));
    let error = value(&anonymous("s3://objects", &[]), "b").expect_err("refused");
    assert!(error.kind() == ErrorKind::Denied && reason(&error).contains("missing=403"), "{}", reason(&error));
    let store = anonymous("s3://objects", &[("missing", "403")]);
    assert_eq!((value(&store, "b").expect("get"), value(&store, "a").expect("get").is_some()), (None, true));
    assert_eq!(AsyncAsSync::new(store.clone()).list().expect_err("a list is not a value").kind(), ErrorKind::Denied);
    let error = value(&s3(&server, "s3://paid", &[]), "a").expect_err("refused");
    assert!(reason(&error).contains("requester_pays=true"), "{}", reason(&error));
    assert!(value(&s3(&server, "s3://paid", &[("requester_pays", "true")]), "a").expect("get").is_some());
    let error = value(&s3(&server, "s3://private", &[("secret_access_key", "wrong")]), "a").expect_err("refused");
    assert_eq!(error.kind(), ErrorKind::Denied);
}

#[test]
fn another_region() {
    let (server, store) = setup();
    let headers = vec![("x-amz-bucket-region".to_owned(), "eu-west-3".to_owned())];
    for status in [301, 307, 400] {
        server.clear_faults();
        server.fault(
            Fault::new(FaultKind::Status { status, headers: headers.clone(), body: Vec::new().into() }).always(),
        );
        gets_fail(&store, ErrorKind::Argument, &["--store-option region=eu-west-3", "us-east-1"]);
        let error = put(&store, "1", Precondition::None).expect_err("refused");
        assert!(reason(&error).contains("eu-west-3"), "{}", reason(&error));
        assert!(reason(&AsyncAsSync::new(store.clone()).list().expect_err("refused")).contains("eu-west-3"));
    }
    // Redirects are not followed: the other server would see signatures.
    server.clear_faults();
    server.fault(Fault::new(FaultKind::Redirect { status: 302, location: "/data/b".to_owned() }).always());
    server.put("data", "b", "another value");
    gets_fail(&store, ErrorKind::Argument, &["redirect"]);
}

#[test]
fn conflicts_of_puts() {
    for conflict in [false, true] {
        let bucket = if conflict { Bucket::s3().conflict_is_409() } else { Bucket::s3() };
        let server = TestServer::builder().bucket("data", bucket).start().expect("a server");
        let store = s3(&server, "s3://data", FAST);
        // Nothing was written: the next attempt sets it.
        server.fault(Fault::new(FaultKind::Conflict).on(Operation::Put).times(3));
        let first = put(&store, "1", Precondition::NotExists).expect("set").expect("a version");
        assert_eq!(server.get("data", "p").as_deref(), Some(&b"1"[..]));
        let error = put(&store, "2", Precondition::NotExists).expect_err("there is a value");
        assert!(error.is_precondition(), "{}", reason(&error));
        if conflict {
            continue;
        }
        server.fault(Fault::new(FaultKind::Conflict).on(Operation::Put).times(2));
        put(&store, "3", Precondition::Version(first.clone())).expect("set");
        assert!(put(&store, "4", Precondition::Version(first.clone())).expect_err("replaced").is_precondition());
        server.fault(Fault::new(FaultKind::Conflict).on(Operation::Put).always());
        // Whatever the service says, another value is there.
        assert!(put(&store, "4", Precondition::Version(first)).expect_err("replaced").is_precondition());
        let newest = Version::new(&server.etag("data", "p").expect("there"));
        let error = put(&store, "4", Precondition::Version(newest)).expect_err("for ever");
        assert_eq!(error.kind(), ErrorKind::Throttled, "{}", reason(&error));
        server.remove("data", "p");
        let error = put(&store, "4", Precondition::NotExists).expect_err("for ever");
        assert_eq!(error.kind(), ErrorKind::Throttled, "{}", reason(&error));
    }
}

/// An answer is lost before or after the value was set: a look says which.
#[test]
fn lost_answers_of_conditional_puts() {
    let (server, store) = setup();
    for kind in [FaultKind::DropAfter, FaultKind::DropBefore, FaultKind::Delay(Duration::from_millis(1300))] {
        server.remove("data", "p");
        server.fault(Fault::new(kind).on(Operation::Put));
        let version = put(&store, "1", Precondition::NotExists).expect("set").expect("a version");
        assert_eq!(server.get("data", "p").as_deref(), Some(&b"1"[..]));
        assert_eq!(server.etag("data", "p").as_deref(), Some(version.as_str()));
    }
}

#[test]
fn a_pause_that_the_service_asks_for() {
    let (server, store) = setup();
    let slow = s3(&server, "s3://data", &[]);
    server.fault(Fault::new(FaultKind::retry_after(503, 1)).on(Operation::Get));
    let start = Instant::now();
    assert!(get(&slow, &[ByteRange::Full]).expect("get").is_some());
    assert!(start.elapsed() >= Duration::from_secs(1), "{:?}", start.elapsed());
    // One that is longer than the deadline is not waited for.
    server.fault(Fault::new(FaultKind::retry_after(503, 60)).on(Operation::Get).always());
    let start = Instant::now();
    assert!(get(&store, &[ByteRange::Full]).is_err());
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
}

#[test]
fn a_value_that_changes_while_its_body_is_read() {
    let (server, store) = setup();
    server.put("data", "a", vec![1; 100_000]);
    server.fault(Fault::new(FaultKind::Truncate(50_000)).on(Operation::Get));
    server.fault(Fault::new(FaultKind::Change(vec![2; 100_000].into())).on(Operation::Get).skip(1));
    match get(&store, &[ByteRange::Full]) {
        Ok(value) => assert!(value.expect("there")[0].windows(2).all(|pair| pair[0] == pair[1])),
        Err(error) => assert!(error.is_retryable(), "{}", reason(&error)),
    }
}

#[test]
fn generations_of_google_cloud_storage() {
    let server = TestServer::builder().bucket("data", Bucket::gcs()).start().expect("a server");
    server.put("data", "a", "0123456789");
    let store = gs(&server, "gs://data", FAST);
    let first = block_on(store.get(&key("a"), &[ByteRange::Range(0..1)], &GetOptions::snapshot()))
        .expect("get")
        .expect("there");
    let generation = server.generation("data", "a").expect("there").to_string();
    assert_eq!(first.version.as_ref().map(Version::as_str), Some(generation.as_str()));
    server.put("data", "a", "another");
    let same = GetOptions::if_match(first.snapshot.clone());
    let error = block_on(store.get(&key("a"), &[ByteRange::Range(1..2)], &same)).expect_err("replaced");
    assert!(error.is_precondition(), "{}", reason(&error));
    server.remove("data", "a");
    assert!(block_on(store.get(&key("a"), &[ByteRange::Full], &same)).expect("get").is_none());
}

#[test]
fn nobody_listens() {
    let store = open("s3://data", &[&[("endpoint", "http://127.0.0.1:1"), ("anonymous", "true")], FAST].concat());
    gets_fail(&store, ErrorKind::Transient, &["Connection refused"]);
    // A server that was never there is found out without waiting for the deadline.
    let slow = [("endpoint", "http://127.0.0.1:1"), ("anonymous", "true"), ("deadline", "60")];
    let store = open("s3://data", &slow);
    gets_fail(&store, ErrorKind::Transient, &["Connection refused", ": 2 attempts in "]);
    let error = block_on(store.set(&key("b"), "1".into(), &SetOptions::default())).expect_err("nobody");
    assert!(reason(&error).contains(": 2 attempts in "), "{}", reason(&error));
    let error = AsyncAsSync::new(store).list().expect_err("nobody");
    assert!(reason(&error).contains(": 2 attempts in "), "{}", reason(&error));
    // Outside of a cloud nobody has credentials.
    let store = open("s3://data", FAST);
    let start = Instant::now();
    let error = get(&store, &[ByteRange::Full]).expect_err("no credentials");
    assert!(error.kind() == ErrorKind::Denied && reason(&error).contains("AWS_ACCESS_KEY_ID"), "{}", reason(&error));
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
}
