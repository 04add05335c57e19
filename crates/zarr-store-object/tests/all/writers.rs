//! Conditional sets beside others, some of whose answers are lost.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Barrier};
use std::thread::{sleep, spawn};
use std::time::{Duration, Instant};

use zarr_drive::block_on;
use zarr_store::{AsyncStoreExt, ByteRange, Error, ErrorKind, GetOptions, Precondition, Result, SetOptions, Version};
use zarr_store_object::BucketStore;
use zarr_testserver::{Bucket, Fault, FaultKind, Operation, TestServer};

use crate::contract::{gs, key, s3};

const FAST: &[(&str, &str)] = &[("deadline", "10"), ("timeout", "1")];

fn server() -> TestServer {
    TestServer::builder().bucket("data", Bucket::s3()).start().expect("a server")
}

fn set(store: &BucketStore, value: &str, when: Precondition) -> Result<Version> {
    let set = block_on(store.set(&key("p"), value.to_owned().into(), &SetOptions::when(when)))?;
    Ok(set.expect("a version"))
}

fn get(store: &BucketStore) -> (String, Version) {
    let fetched = block_on(store.get(&key("p"), &[ByteRange::Full], &GetOptions::snapshot())).expect("get");
    let fetched = fetched.expect("there");
    (String::from_utf8(fetched.part(0).to_vec()).expect("text"), fetched.version.expect("a version"))
}

fn reason(error: &Error) -> String {
    format!("{error}: {}", std::error::Error::source(error).map(ToString::to_string).unwrap_or_default())
}

/// Threads that each add to a counter, some puts without their answers, some refused.
#[test]
fn counters_are_exact_though_answers_are_lost() {
    const THREADS: u64 = 6;
    let is_long = std::env::var_os("ZARR_TEST_LONG").is_some();
    // So few that none is replaced more than 127 times while one waits before another attempt, which then knows nothing.
    let each = if is_long { 1000 } else { 20_u64 };
    for (bucket, is_s3) in [(Bucket::s3(), true), (Bucket::gcs(), false)] {
        let server = TestServer::builder().bucket("data", bucket).start().expect("a server");
        let open = || if is_s3 { s3(&server, "s3://data", FAST) } else { gs(&server, "gs://data", FAST) };
        set(&open(), "0", Precondition::NotExists).expect("set");
        if is_long {
            // The same for many.
            server.set_latency(Duration::from_millis(2));
        }
        server
            .fault(Fault::new(FaultKind::DropAfter).on(Operation::Put).percent(if is_long { 10 } else { 25 }).always());
        server.fault(Fault::new(FaultKind::status(500)).on(Operation::Put).percent(3).always());
        server.fault(Fault::new(FaultKind::Conflict).on(Operation::Put).percent(3).always());
        server.fault(Fault::new(FaultKind::DropBefore).on(Operation::Get).percent(5).always());
        let conflicts = AtomicU64::new(0);
        std::thread::scope(|scope| {
            for _ in 0..THREADS {
                // As another process has it.
                let store = open();
                let conflicts = &conflicts;
                scope.spawn(move || {
                    for _ in 0..each {
                        loop {
                            let (value, version) = get(&store);
                            let next = value.parse::<u64>().expect("a number") + 1;
                            match set(&store, &next.to_string(), Precondition::Version(version)) {
                                Ok(_) => break,
                                Err(error) if error.is_precondition() => conflicts.fetch_add(1, Ordering::Relaxed),
                                Err(error) => panic!("{}", reason(&error)),
                            };
                        }
                    }
                });
            }
        });
        server.clear_faults();
        assert_eq!(get(&open()).0, (THREADS * each).to_string());
        let lost =
            server.log().iter().filter(|logged| logged.operation == Operation::Put && logged.status.is_none()).count();
        println!("{} conflicts, {lost} answers lost of {}", conflicts.into_inner(), server.counts().puts);
        assert!(lost >= 20, "{lost}");
    }
}

/// One alone has no conflicts, whatever is lost, and each version is that of its value.
#[test]
fn one_writer_has_no_conflicts() {
    let server = server();
    let store = s3(&server, "s3://data", &[FAST, &[("conditional_put", "etag")]].concat());
    for (percent, kind) in [(20, FaultKind::DropAfter), (10, FaultKind::status(502)), (10, FaultKind::DropBefore)] {
        server.fault(Fault::new(kind).on(Operation::Put).percent(percent).always());
    }
    let mut version = set(&store, "0", Precondition::NotExists).expect("set");
    for number in 1..150 {
        version = set(&store, &number.to_string(), Precondition::Version(version)).expect("no conflict");
        assert_eq!(server.etag("data", "p").as_deref(), Some(version.as_str()));
    }
    let error = set(&store, "again", Precondition::NotExists).expect_err("there is a value");
    let Error::Precondition { found, .. } = &error else { panic!("{}", reason(&error)) };
    assert_eq!(found.as_ref(), Some(&version));
}

/// Runs `others` after a put of "a" has taken effect and lost its answer, before its client looks at the value.
fn lose(server: &TestServer, when: Precondition, others: impl FnOnce()) -> (Arc<BucketStore>, Result<Version>) {
    let store = s3(server, "s3://data", FAST);
    if let Precondition::Version(_) = when {
        get(&store);
    }
    server.fault(Fault::new(FaultKind::DropAfter).on(Operation::Put));
    server.fault(Fault::new(FaultKind::Delay(Duration::from_millis(400))).on(Operation::Get));
    let setting = {
        let store = Arc::clone(&store);
        spawn(move || set(&store, "a", when))
    };
    let start = Instant::now();
    while server.faults_left() > 0 {
        assert!(start.elapsed() < Duration::from_secs(10), "nobody looks");
        sleep(Duration::from_millis(1));
    }
    assert_eq!(server.get("data", "p").as_deref(), Some(&b"a"[..]));
    others();
    (store, setting.join().expect("no panic"))
}

#[test]
fn a_put_without_an_answer_on_which_others_have_built_is_done() {
    let server = server();
    let other = s3(&server, "s3://data", FAST);
    for when in [Precondition::NotExists, Precondition::Version(Version::new("of the next line"))] {
        let when = match when {
            Precondition::NotExists => when,
            _ => Precondition::Version(get(&other).1),
        };
        let (store, done) = lose(&server, when, || {
            for number in 0..20 {
                let (value, version) = get(&other);
                set(&other, &format!("{value}{number}"), Precondition::Version(version)).expect("set");
            }
        });
        let version = done.expect("it was set");
        let found = get(&store);
        assert!(found.0.starts_with("a01") && found.1 != version, "{found:?}");
        // Its value is there no more.
        assert!(set(&store, "b", Precondition::Version(version.clone())).expect_err("replaced").is_precondition());
        let same = GetOptions::if_match(Some(zarr_store::Snapshot::of_version(version)));
        let error = block_on(store.get(&key("p"), &[ByteRange::Full], &same)).expect_err("replaced");
        assert!(error.is_precondition(), "{}", reason(&error));
    }
}

/// Nothing tells whether it was set before the value was replaced: neither success nor conflict is claimed.
#[test]
fn a_put_without_an_answer_that_was_replaced_without_a_trace_is_an_error() {
    let server = server();
    let (_, lost) = lose(&server, Precondition::NotExists, || drop(server.put("data", "p", "b")));
    let error = lost.expect_err("not known");
    assert!(error.kind() == ErrorKind::Transient && reason(&error).contains("may have been set"), "{}", reason(&error));
    let version = get(&s3(&server, "s3://data", FAST)).1;
    let (_, lost) = lose(&server, Precondition::Version(version), || drop(server.remove("data", "p")));
    let error = lost.expect_err("not known");
    assert!(error.kind() == ErrorKind::Transient && reason(&error).contains("may have been set"), "{}", reason(&error));
}

/// One of the racing creations succeeds, whatever the service answers to the others.
#[test]
fn one_creates() {
    for bucket in [Bucket::s3(), Bucket::s3().conflict_is_409()] {
        let server = TestServer::builder().bucket("data", bucket).start().expect("a server");
        server.fault(Fault::new(FaultKind::Conflict).on(Operation::Put).percent(20).always());
        server.fault(Fault::new(FaultKind::DropAfter).on(Operation::Put).percent(10).always());
        for _ in 0..15 {
            server.remove("data", "p");
            let barrier = Barrier::new(4);
            let won: Vec<bool> = std::thread::scope(|scope| {
                let create = |number: usize| {
                    let (store, barrier) = (s3(&server, "s3://data", FAST), &barrier);
                    scope.spawn(move || {
                        barrier.wait();
                        match set(&store, &number.to_string(), Precondition::NotExists) {
                            Ok(_) => true,
                            Err(error) if error.is_precondition() => false,
                            Err(error) => panic!("{}", reason(&error)),
                        }
                    })
                };
                let threads: Vec<_> = (0..4).map(create).collect();
                threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
            });
            let winner = won.iter().position(|won| *won).expect("one");
            assert_eq!(won.iter().filter(|won| **won).count(), 1);
            assert_eq!(server.get("data", "p").expect("there"), winner.to_string());
        }
    }
}

/// A writer that may not read learns of a conflict all the same.
#[test]
fn without_leave_to_look() {
    let server = server();
    let store = s3(&server, "s3://data", FAST);
    set(&store, "a", Precondition::NotExists).expect("set");
    server.fault(Fault::new(FaultKind::status(403)).on(Operation::Get).always());
    assert!(set(&store, "b", Precondition::NotExists).expect_err("there is one").is_precondition());
    server.fault(Fault::new(FaultKind::DropAfter).on(Operation::Put));
    let error = set(&store, "b", Precondition::Version(Version::new(&server.etag("data", "p").expect("there"))));
    assert_eq!(error.expect_err("not known").kind(), ErrorKind::Denied);
    assert!(block_on(store.get_all(&key("p"))).is_err());
}

/// An answer that comes too late is found out about in the time that is kept for it: success is success, and a conflict is a conflict.
#[test]
fn the_last_attempt_is_looked_at() {
    let server = server();
    let options = &[("deadline", "2"), ("timeout", "10")];
    let (store, other) = (s3(&server, "s3://data", options), s3(&server, "s3://data", FAST));
    let late = || Fault::new(FaultKind::DelayAfter(Duration::from_secs(20))).on(Operation::Put);
    server.fault(late());
    let begun = Instant::now();
    let version = set(&store, "a", Precondition::NotExists).expect("it was set");
    assert!(begun.elapsed() < Duration::from_millis(2200), "{:?}", begun.elapsed());
    assert_eq!(get(&other), ("a".to_owned(), version.clone()));
    set(&other, "b", Precondition::Version(version.clone())).expect("set");
    server.fault(late());
    let error = set(&store, "c", Precondition::Version(version)).expect_err("it was replaced");
    assert!(error.is_precondition() && get(&other).0 == "b", "{}", reason(&error));
}

/// Where a refused value counts as missing, a refusal says nothing of a value that is in the way.
#[test]
fn a_conflict_is_one_at_once_where_values_are_refused() {
    let server = server();
    let store = s3(&server, "s3://data", &[("missing", "403")]);
    server.put("data", "p", "x");
    server.fault(Fault::new(FaultKind::status(403)).on(Operation::Get).always());
    let begun = Instant::now();
    for when in [Precondition::NotExists, Precondition::Version(Version::new("\"other\""))] {
        assert!(set(&store, "b", when).expect_err("there is one").is_precondition());
    }
    // Nothing tells whose value it is.
    server.fault(Fault::new(FaultKind::DropAfter).on(Operation::Put));
    let error = set(&store, "b", Precondition::NotExists).expect_err("not known");
    assert_eq!(error.kind(), ErrorKind::Denied, "{}", reason(&error));
    assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
    // One that is missing is set, though its first attempt is lost.
    server.remove("data", "p");
    server.fault(Fault::new(FaultKind::DropBefore).on(Operation::Put));
    set(&store, "b", Precondition::NotExists).expect("set");
    assert_eq!(server.get("data", "p").as_deref(), Some(&b"b"[..]));
}
