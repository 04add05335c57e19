//! Services that speak the protocol of S3 in part, and caches before them.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use zarr_drive::{AsyncAsSync, block_on, for_each};
use zarr_store::{
    AsyncStore, AsyncStoreExt, ByteRange, Error, ErrorKind, Key, Precondition, Prefix, Result, SetOptions, StoreExt,
    Version,
};
use zarr_store_object::BucketStore;
use zarr_testserver::{Bucket, Etags, Fault, FaultKind, Logged, Operation, TestServer};

use crate::contract::{key, s3};

fn set(store: &BucketStore, name: &str, value: &'static str, when: Precondition) -> Result<Option<Version>> {
    block_on(store.set(&key(name), value.into(), &SetOptions::when(when)))
}

fn reason(error: &Error) -> String {
    format!("{error}: {}", std::error::Error::source(error).map(ToString::to_string).unwrap_or_default())
}

/// The requests that remove objects: by name, and of several.
fn removals(server: &TestServer) -> (usize, usize) {
    let log = server.log();
    let with = |method: &str| {
        log.iter().filter(|logged| logged.operation == Operation::Delete && logged.method == method).count()
    };
    (with("DELETE"), with("POST"))
}

fn keys(count: usize) -> Vec<Key> {
    (0..count).map(|number| key(&format!("a/c/{number:04}"))).collect()
}

fn erase_at_once(store: &BucketStore, keys: &[Key]) -> Result<()> {
    block_on(for_each(keys.iter(), 512, |key| store.erase(key)))
}

#[test]
fn one_key_is_a_request_and_so_are_many() {
    let server = TestServer::start().expect("a server");
    let store = s3(&server, "s3://data", &[]);
    let keys = keys(400);
    keys.iter().for_each(|key| drop(server.put("data", key.as_str(), "1")));
    block_on(store.erase(&keys[0])).expect("erased");
    assert_eq!(removals(&server), (1, 0));
    erase_at_once(&store, &keys).expect("erased");
    assert!(server.keys("data").is_empty());
    let (single, several) = removals(&server);
    // Where this thread waits for long, those that were asked for before go alone.
    assert!(single + several <= 40, "{single} and {several}");
}

#[test]
fn a_service_that_does_not_remove_several_removes_each() {
    for status in [501, 400, 405] {
        let server = TestServer::start().expect("a server");
        let store = s3(&server, "s3://data", &[]);
        let several = |logged: &Logged| logged.method == "POST" && logged.query.contains("delete");
        server.fault(Fault::new(FaultKind::status(status)).when(several).always());
        let keys = keys(30);
        keys.iter().for_each(|key| drop(server.put("data", key.as_str(), "1")));
        server.put("data", "other", "1");
        erase_at_once(&store, &keys).expect("erased");
        assert_eq!(server.keys("data"), ["other"]);
        let asked = removals(&server).1;
        assert!((1..=20).contains(&asked), "{asked}");
        // It is not asked again.
        keys.iter().for_each(|key| drop(server.put("data", key.as_str(), "1")));
        AsyncAsSync::new(store.clone()).erase_prefix(&Prefix::new("a/").expect("a prefix")).expect("erased");
        assert_eq!((server.keys("data"), removals(&server).1), (vec!["other".to_owned()], asked));
        // Nor is it the first time that it is a whole prefix.
        let store = s3(&server, "s3://data", &[]);
        keys.iter().for_each(|key| drop(server.put("data", key.as_str(), "1")));
        AsyncAsSync::new(store).erase_prefix(&Prefix::new("a/").expect("a prefix")).expect("erased");
        assert_eq!((server.keys("data"), removals(&server).1), (vec!["other".to_owned()], asked + 1));
    }
}

#[test]
fn erasures_that_are_given_up_take_no_effect_later() {
    let server = TestServer::builder().latency(Duration::from_millis(300)).start().expect("a server");
    let store = s3(&server, "s3://data", &[]);
    let keys = keys(20);
    keys.iter().for_each(|key| drop(server.put("data", key.as_str(), "1")));
    server.fault(Fault::new(FaultKind::status(503)).on(Operation::Delete));
    let mut erasures: Vec<_> = keys.iter().map(|key| store.erase(key)).collect();
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(erasures.iter_mut().all(|erasure| erasure.as_mut().poll(&mut context).is_pending()));
    let start = Instant::now();
    while server.faults_left() > 0 {
        assert!(start.elapsed() < Duration::from_secs(10), "no request");
        std::thread::sleep(Duration::from_millis(1));
    }
    // The request is refused later, and would be made again.
    drop(erasures);
    std::thread::sleep(Duration::from_millis(1000));
    assert_eq!(server.keys("data").len(), 20);
}

/// The outcomes of erasures of these keys at once, in their order.
fn outcomes(store: &BucketStore, keys: &[Key]) -> Vec<(Key, Result<()>)> {
    let outcomes = std::sync::Mutex::new(Vec::new());
    let all = for_each(keys.iter(), 512, |key| {
        let outcomes = &outcomes;
        Box::pin(async move {
            let outcome = store.erase(key).await;
            outcomes.lock().expect("a lock").push((key.clone(), outcome));
            Ok::<(), Error>(())
        })
    });
    block_on(all).expect("done");
    let mut outcomes = outcomes.into_inner().expect("a lock");
    outcomes.sort_by(|(a, _), (b, _)| a.cmp(b));
    outcomes
}

#[test]
fn an_erasure_that_one_gave_up_goes_on_for_the_others() {
    let server = TestServer::builder().latency(Duration::from_millis(300)).start().expect("a server");
    let store = s3(&server, "s3://data", &[]);
    let keys = keys(20);
    keys.iter().for_each(|key| drop(server.put("data", key.as_str(), "1")));
    server.fault(Fault::new(FaultKind::status(503)).on(Operation::Delete));
    let mut erasures: Vec<_> = keys.iter().map(|key| store.erase(key)).collect();
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(erasures.iter_mut().all(|erasure| erasure.as_mut().poll(&mut context).is_pending()));
    let start = Instant::now();
    while server.faults_left() > 0 {
        assert!(start.elapsed() < Duration::from_secs(10), "no request");
        std::thread::sleep(Duration::from_millis(1));
    }
    drop(erasures.remove(7));
    erasures.into_iter().for_each(|erasure| block_on(erasure).expect("erased"));
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(server.keys("data"), ["a/c/0007"]);
}

#[test]
fn keys_that_were_erased_have_no_error_of_others() {
    let server = TestServer::start().expect("a server");
    let store = s3(&server, "s3://data", &[("deadline", "1")]);
    let keys = keys(20);
    keys.iter().for_each(|key| drop(server.put("data", key.as_str(), "1")));
    let leave = FaultKind::Leave { count: 1, code: "SlowDown".to_owned() };
    server.fault(Fault::new(leave).when(|logged| logged.method == "POST").always());
    // Where a key is erased alone nothing fails.
    let outcomes = outcomes(&store, &keys);
    let left = server.keys("data");
    assert!((1..10).contains(&left.len()), "{left:?}");
    for (key, outcome) in outcomes {
        assert_eq!(outcome.is_err(), left.contains(&key.to_string()), "{key}: {outcome:?}");
    }
}

#[test]
fn a_refusal_of_one_request_is_not_one_of_all() {
    let several = |logged: &Logged| logged.method == "POST" && logged.query.contains("delete");
    let keys = keys(30);
    let erased_later = |server: &TestServer, store: &BucketStore| {
        server.clear_faults();
        keys.iter().for_each(|key| drop(server.put("data", key.as_str(), "1")));
        server.reset_counts();
        erase_at_once(store, &keys).expect("erased");
        removals(server).1
    };
    for code in ["ExpiredToken", "InvalidToken", "MalformedXML"] {
        let server = TestServer::start().expect("a server");
        let store = s3(&server, "s3://data", &[("deadline", "2")]);
        let body = format!("<Error><Code>{code}</Code></Error>").into();
        server.fault(Fault::new(FaultKind::Status { status: 400, headers: Vec::new(), body }).when(several).always());
        assert!(outcomes(&store, &keys).iter().any(|(_, outcome)| outcome.is_err()), "{code}");
        assert!(erased_later(&server, &store) > 0, "{code}");
    }
    // Nor is one that each key is refused with, too.
    let server = TestServer::start().expect("a server");
    let store = s3(&server, "s3://data", &[("deadline", "2")]);
    server.fault(Fault::new(FaultKind::status(400)).on(Operation::Delete).always());
    assert!(outcomes(&store, &keys).iter().all(|(_, outcome)| outcome.is_err()));
    assert!(erased_later(&server, &store) > 0);
}

#[test]
fn each_key_has_its_own_answer() {
    let server = TestServer::start().expect("a server");
    let store = s3(&server, "s3://data", &[("deadline", "2")]);
    let keys = keys(20);
    keys.iter().for_each(|key| drop(server.put("data", key.as_str(), "1")));
    let leave = FaultKind::Leave { count: 1000, code: "AccessDenied".to_owned() };
    server.fault(Fault::new(leave).when(|logged| logged.method == "POST").always());
    server.fault(Fault::new(FaultKind::status(403)).method("DELETE").path("/0007").always());
    let outcomes = outcomes(&store, &keys);
    assert_eq!(server.keys("data"), ["a/c/0007"]);
    let errors: Vec<_> = outcomes.into_iter().filter_map(|(_, outcome)| outcome.err()).collect();
    assert_eq!((errors.len(), errors[0].key()), (1, Some("a/c/0007")));
}

#[test]
fn documents_are_not_cached() {
    let server = TestServer::builder().bucket("data", Bucket::s3().public()).start().expect("a server");
    let store = s3(&server, "s3://data", &[]);
    for (name, cached) in [("g/zarr.json", false), ("g/.zattrs", false), ("g/c/0", true)] {
        set(&store, name, "{}", Precondition::None).expect("set");
        let mut stream = TcpStream::connect(server.address()).expect("a connection");
        let request = format!("GET /data/{name} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).expect("sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        assert_eq!(answer.to_ascii_lowercase().contains("cache-control: no-cache"), !cached, "{answer}");
    }
}

#[test]
fn a_cache_is_no_other_writer() {
    let server = TestServer::builder().bucket("data", Bucket::s3()).start().expect("a server");
    let store = s3(&server, "s3://data", &[("deadline", "2")]);
    let first = set(&store, "zarr.json", "1", Precondition::NotExists).expect("set").expect("a version");
    let cached = server.snapshot("data");
    server.put("data", "zarr.json", "2");
    server.fault(Fault::new(FaultKind::Cached(cached)).on(Operation::Get).always());
    server.reset_counts();
    let start = Instant::now();
    let error = set(&store, "zarr.json", "3", Precondition::Version(first.clone())).expect_err("refused");
    assert!(error.kind() == ErrorKind::Transient && reason(&error).contains("cache"), "{}", reason(&error));
    assert!(start.elapsed() < Duration::from_secs(10) && server.counts().requests() < 60, "{:?}", server.counts());
    // Once the cache has the newest value, it is a conflict like others.
    server.clear_faults();
    assert!(set(&store, "zarr.json", "3", Precondition::Version(first)).expect_err("refused").is_precondition());
}

/// The puts of keys that show whether conditions are kept.
fn questions(server: &TestServer) -> usize {
    server.log().iter().filter(|logged| is_question(logged)).count()
}

fn is_question(logged: &Logged) -> bool {
    logged.operation == Operation::Put && logged.path.ends_with(".zarr-tmp")
}

#[test]
fn conditions_that_are_ignored_are_found_out_once() {
    let server = TestServer::builder().bucket("data", Bucket::s3().ignoring_conditions()).start().expect("a server");
    server.bucket("kept", Bucket::s3());
    let store = s3(&server, "s3://data", &[]);
    assert!(store.capabilities().conditional);
    set(&store, "g/zarr.json", "1", Precondition::NotExists).expect("set");
    assert!(!store.capabilities().conditional);
    let warnings = store.take_warnings();
    assert!(warnings.len() == 1 && warnings[0].contains("ignores the conditions"), "{warnings:?}");
    // The value itself is put once: others may have replaced it since.
    assert_eq!((server.counts().puts, questions(&server)), (3, 2));
    assert_eq!(server.keys("data"), ["g/zarr.json"]);
    set(&store, "g/zarr.json", "2", Precondition::NotExists).expect("set");
    assert_eq!((server.counts().puts, store.take_warnings().len()), (4, 0));
    assert_eq!(server.get("data", "g/zarr.json").as_deref(), Some(&b"2"[..]));

    // One that keeps them is asked once as well.
    for (more, puts) in [(None, 2), (Some(("conditional_put", "etag")), 1)] {
        let store = s3(&server, "s3://kept", more.as_slice());
        server.remove("kept", "zarr.json");
        server.reset_counts();
        let version = set(&store, "zarr.json", "1", Precondition::NotExists).expect("set").expect("a version");
        assert_eq!(server.etag("kept", "zarr.json").as_deref(), Some(version.as_str()));
        assert_eq!((server.counts().puts, server.keys("kept").len()), (puts, 1));
        set(&store, "zarr.json", "2", Precondition::Version(version)).expect("set");
        assert_eq!((server.counts().puts, store.take_warnings().len()), (puts + 1, 0));
        assert!(store.capabilities().conditional);
    }
}

#[test]
fn one_condition_that_is_kept_says_nothing_of_the_other() {
    let server = TestServer::builder().bucket("data", Bucket::s3().ignoring_if_match()).start().expect("a server");
    server.put("data", "zarr.json", "1");
    let store = s3(&server, "s3://data", &[]);
    assert!(set(&store, "zarr.json", "2", Precondition::NotExists).expect_err("there").is_precondition());
    assert!(store.capabilities().conditional);
    set(&store, "a/zarr.json", "2", Precondition::NotExists).expect("set");
    assert!(!store.capabilities().conditional && store.take_warnings().len() == 1);
    assert_eq!(server.keys("data"), ["a/zarr.json", "zarr.json"]);
}

#[test]
fn one_operation_asks_for_all() {
    let latency = Duration::from_millis(30);
    let server = TestServer::builder().latency(latency).bucket("data", Bucket::s3()).start().expect("a server");
    let store = s3(&server, "s3://data", &[]);
    let all = for_each(keys(20).into_iter(), 20, |key| {
        let store = &store;
        Box::pin(async move {
            store.set(&key, "1".into(), &SetOptions::when(Precondition::NotExists)).await?;
            Ok::<(), Error>(())
        })
    });
    block_on(all).expect("set");
    assert_eq!((questions(&server), server.keys("data").len()), (1, 20));
}

#[test]
fn a_service_that_does_not_say_is_not_asked_for_ever() {
    // How often it refuses to say, how, how often it was asked in the end, and whether it is then known.
    let page = || FaultKind::Html;
    for (kind, times, asked, is_known) in [
        (FaultKind::status(403), 100, 1, false),
        (FaultKind::status(400), 100, 1, false),
        (FaultKind::status(500), 100, 3, false),
        (FaultKind::DropBefore, 100, 3, false),
        (FaultKind::status(503), 1, 3, true),
        (page(), 2, 4, true),
    ] {
        let server =
            TestServer::builder().bucket("data", Bucket::s3().ignoring_conditions()).start().expect("a server");
        let store = s3(&server, "s3://data", &[("deadline", "2")]);
        let shown = format!("{kind:?}");
        server.fault(Fault::new(kind).when(is_question).times(times));
        for key in keys(6) {
            set(&store, key.as_str(), "1", Precondition::NotExists).expect("set");
        }
        assert_eq!((questions(&server), store.capabilities().conditional), (asked, !is_known), "{shown}");
        assert_eq!((server.keys("data").len(), store.take_warnings().len()), (6, usize::from(is_known)), "{shown}");
    }
}

#[test]
fn temporary_keys_are_not_listed() {
    let server = TestServer::start().expect("a server");
    server.put("data", "a/.0123456789abcdef0123456789abcdef.zarr-tmp", "1");
    server.put("data", "a/zarr.json", "1");
    let store = AsyncAsSync::new(s3(&server, "s3://data", &[]));
    let prefix = Prefix::new("a/").expect("a prefix");
    assert_eq!(store.list_prefix(&prefix).expect("listed"), [key("a/zarr.json")]);
    assert_eq!(store.list_dir(&prefix).expect("listed").keys, [key("a/zarr.json")]);
    store.erase_prefix(&prefix).expect("erased");
    assert!(server.keys("data").is_empty());
}

#[test]
fn refused_features_name_their_option() {
    let unknown = |logged: &Logged| logged.if_match.is_some() || logged.if_none_match.is_some();
    let server = TestServer::builder().bucket("data", Bucket::s3()).start().expect("a server");
    server.fault(Fault::new(FaultKind::status(501)).on(Operation::Put).when(unknown).always());
    let error = set(&s3(&server, "s3://data", &[]), "zarr.json", "1", Precondition::NotExists).expect_err("refused");
    assert!(reason(&error).contains("--store-option conditional_put=disabled"), "{}", reason(&error));
    for etags in [Etags::Weak, Etags::None] {
        let server = TestServer::builder().bucket("data", Bucket::s3().etags(etags)).start().expect("a server");
        let conditional = s3(&server, "s3://data", &[]);
        let error = set(&conditional, "zarr.json", "1", Precondition::NotExists).expect_err("no version");
        assert!(reason(&error).contains("--store-option conditional_put=disabled"), "{}", reason(&error));
        let store = s3(&server, "s3://data", &[("conditional_put", "disabled")]);
        assert!(!store.capabilities().conditional);
        assert_eq!(set(&store, "a", "12345", Precondition::None).expect("set"), None);
        let blocking = AsyncAsSync::new(store.clone());
        assert_eq!(blocking.get_all(&key("a")).expect("get").as_deref(), Some(&b"12345"[..]));
        blocking.erase(&key("a")).expect("erased");
        assert!(!server.keys("data").contains(&"a".to_owned()));
    }
}

/// `{"zarr_format": 3}`.
const GZIPPED: &[u8] = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xab\x56\xaa\x4a\x2c\x2a\x8a\x4f\xcb\x2f\xca\x4d\x2c\x51\xb2\x52\x30\xae\x05\x00\xfb\x79\x2c\x90\x12\x00\x00\x00";

#[test]
fn values_that_are_stored_compressed_are_decoded_as_a_whole() {
    let server = TestServer::start().expect("a server");
    server.put_encoded("data", "zarr.json", GZIPPED, "gzip");
    server.put_encoded("data", "broken", &GZIPPED[..30], "gzip");
    let store = s3(&server, "s3://data", &[("deadline", "2")]);
    let get = |name: &str, range: ByteRange| {
        block_on(store.get_ranges(&key(name), &[range])).map(|fetched| fetched.expect("there").part(0).to_vec())
    };
    for range in [ByteRange::Full, ByteRange::First(16 << 20), ByteRange::From(0)] {
        assert_eq!(get("zarr.json", range).expect("get"), br#"{"zarr_format": 3}"#);
    }
    for range in [ByteRange::Range(2..5), ByteRange::Suffix(3)] {
        let error = get("zarr.json", range).expect_err("a part");
        assert!(reason(&error).contains("encoded as gzip"), "{}", reason(&error));
    }
    let error = get("broken", ByteRange::Full).expect_err("cut");
    assert!(reason(&error).contains("cannot be decoded"), "{}", reason(&error));
}
