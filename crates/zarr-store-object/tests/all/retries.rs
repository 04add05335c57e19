//! Requests that are tried again: within the deadline, with pauses, as many at a time as the server can bear.

use std::sync::Arc;
use std::thread::{sleep, spawn};
use std::time::{Duration, Instant};

use zarr_drive::{AsyncAsSync, block_on};
use zarr_store::{AsyncStoreExt, ByteRange, Error, ErrorKind, Precondition, SetOptions, StoreExt};
use zarr_store_object::BucketStore;
use zarr_testserver::{Fault, FaultKind, Operation, TestServer, beside_each_other};

use crate::contract::{key, s3};
use crate::servers::open;

fn setup(options: &[(&str, &str)]) -> (TestServer, Arc<BucketStore>) {
    let server = TestServer::start().expect("a server");
    server.put("data", "a", "0123456789");
    let store = s3(&server, "s3://data", options);
    (server, store)
}

fn reason(error: &Error) -> String {
    format!("{error}: {}", std::error::Error::source(error).map(ToString::to_string).unwrap_or_default())
}

const OPERATIONS: usize = 5;

/// One of the operations.
fn one(store: &Arc<BucketStore>, number: usize) -> Result<(), Error> {
    let blocking = AsyncAsSync::new(store.clone());
    let create = SetOptions::when(Precondition::NotExists);
    match number {
        0 => block_on(store.get_all(&key("a"))).map(|value| assert_eq!(value.as_deref(), Some(&b"0123456789"[..]))),
        1 => blocking.set_all(&key("b"), b"1").map(drop),
        2 => block_on(store.set(&key("c"), "2".into(), &create)).map(drop),
        3 => blocking.list().map(drop),
        _ => blocking.erase(&key("b")),
    }
}

fn all(store: &Arc<BucketStore>) -> Vec<Result<(), Error>> {
    (0..OPERATIONS).map(|number| one(store, number)).collect()
}

/// A server that does not answer for a while, or answers with failures.
#[test]
fn a_server_that_comes_back_within_the_deadline() {
    let kinds = [FaultKind::DropBefore, FaultKind::status(503), FaultKind::status(500), FaultKind::Truncate(0)];
    beside_each_other(kinds, |kind| {
        let (server, store) = setup(&[("deadline", "5"), ("timeout", "1")]);
        let server = Arc::new(server);
        let down = || server.fault(Fault::new(kind.clone()).always());
        for number in 0..OPERATIONS {
            server.remove("data", "c");
            down();
            let up = {
                let server = Arc::clone(&server);
                spawn(move || {
                    sleep(Duration::from_millis(200));
                    server.clear_faults();
                })
            };
            let result = one(&store, number);
            up.join().expect("no panic");
            result.unwrap_or_else(|error| panic!("{kind:?}: {}", reason(&error)));
        }
        assert_eq!(server.keys("data"), ["a"], "{kind:?}");
    });
}

/// A server that has answered is gone, and nobody listens at its port before a while has passed.
#[test]
fn a_server_that_starts_again() {
    let server = |port| TestServer::builder().port(port).bucket("data", zarr_testserver::Bucket::s3().public()).start();
    let first = server(0).expect("a server");
    let address = first.address();
    let endpoint = format!("http://{address}");
    let store = open("s3://data", &[("endpoint", &endpoint), ("anonymous", "true"), ("deadline", "10")]);
    assert!(block_on(store.get_ranges(&key("a"), &[ByteRange::Full])).expect("an answer").is_none());
    drop(first);
    let start = spawn(move || {
        sleep(Duration::from_millis(500));
        server(address.port())
    });
    let create = SetOptions::when(Precondition::NotExists);
    block_on(store.set(&key("a"), "1".into(), &create)).expect("set");
    let server = start.join().expect("no panic").expect("the port is free");
    assert_eq!(server.get("data", "a").as_deref(), Some(&b"1"[..]));
}

/// A server that stays down: an error within the deadline, which says what was tried.
#[test]
fn a_server_that_stays_down() {
    let cases = [
        (FaultKind::DropBefore, ErrorKind::Transient),
        (FaultKind::status(500), ErrorKind::Transient),
        (FaultKind::status(503), ErrorKind::Throttled),
        (FaultKind::status(429), ErrorKind::Throttled),
        (FaultKind::status(408), ErrorKind::TimedOut),
        (FaultKind::Truncate(0), ErrorKind::Transient),
        (FaultKind::Delay(Duration::from_secs(60)), ErrorKind::TimedOut),
        (FaultKind::Slow(1), ErrorKind::TimedOut),
    ];
    let threads = cases.map(|(kind, expected)| {
        spawn(move || {
            let (server, store) = setup(&[("deadline", "1.5"), ("retries", "1000")]);
            server.fault(Fault::new(kind.clone()).always());
            let of_body = matches!(kind, FaultKind::Truncate(_) | FaultKind::Slow(_));
            let begun = Instant::now();
            let error = block_on(store.get_ranges(&key("a"), &[ByteRange::Range(2..6)])).expect_err("down");
            let took = begun.elapsed();
            assert!(took < Duration::from_millis(1900), "{kind:?}: {took:?}");
            let text = reason(&error);
            // The deadline may end the last attempt before its answer is there, which the text says.
            let is_expected = |error: &Error| {
                let is_ended = reason(error).contains("timed out: the server does not go on");
                error.kind() == if is_ended { ErrorKind::TimedOut } else { expected }
            };
            assert!(is_expected(&error), "{kind:?}: {:?}: {text}", error.kind());
            let request = format!("(GET {}/data/a: ", server.url());
            assert!(text.contains("s3://data: get a") && text.contains(&request) && text.contains(" s)"), "{text}");
            if !of_body {
                let begun = Instant::now();
                for when in [Precondition::None, Precondition::NotExists] {
                    let error = block_on(store.set(&key("b"), "1".into(), &SetOptions::when(when))).expect_err("down");
                    assert!(is_expected(&error), "{kind:?}: {:?}: {}", error.kind(), reason(&error));
                }
                assert!(begun.elapsed() < Duration::from_millis(3800), "{kind:?}: {:?}", begun.elapsed());
            }
            text
        })
    });
    for thread in threads {
        println!("{}", thread.join().expect("no panic"));
    }
}

/// A few attempts follow each other quickly, and not hundreds.
#[test]
fn attempts_are_few() {
    let (server, store) = setup(&[("deadline", "3")]);
    server.fault(Fault::new(FaultKind::DropBefore).always());
    assert!(block_on(store.get_all(&key("a"))).is_err());
    let gets = server.counts().gets;
    assert!((6..=25).contains(&gets), "{gets}");
    // Refusals are not repeated.
    server.clear_faults();
    server.fault(Fault::new(FaultKind::status(403)).always());
    server.reset_counts();
    all(&store).into_iter().for_each(|result| drop(result.expect_err("refused")));
    assert_eq!(server.counts().requests(), 5);
    // Neither is anything with `retries=0`.
    let store = s3(&server, "s3://data", &[("retries", "0")]);
    server.clear_faults();
    server.fault(Fault::new(FaultKind::status(500)).always());
    server.reset_counts();
    assert!(block_on(store.get_all(&key("a"))).is_err());
    assert_eq!(server.counts().requests(), 1);
}

#[test]
fn the_service_says_how_long_to_wait() {
    let (server, store) = setup(&[]);
    for operation in [Operation::Get, Operation::Put, Operation::List] {
        server.fault(Fault::new(FaultKind::retry_after(429, 1)).on(operation));
    }
    let begun = Instant::now();
    for result in all(&store) {
        result.expect("after a pause");
    }
    assert!(begun.elapsed() >= Duration::from_secs(3) && server.faults_left() == 0, "{:?}", begun.elapsed());
    // There is no time for that: no attempt before that would succeed.
    server.fault(Fault::new(FaultKind::retry_after(503, 60)).on(Operation::Get).always());
    server.reset_counts();
    let begun = Instant::now();
    let error = block_on(store.get_all(&key("a"))).expect_err("too long");
    assert!(begun.elapsed() < Duration::from_secs(1) && server.counts().gets == 1, "{}", reason(&error));
}

/// The rest of a large body is asked for, not all of it; and bodies that come slowly have time.
#[test]
fn bodies_are_resumed() {
    let (server, store) = setup(&[("deadline", "2")]);
    let value: Vec<u8> = (0..3_000_000_u32).map(|at| (at % 251) as u8).collect();
    server.put("data", "large", value.clone());
    for (kind, times) in [(FaultKind::Truncate(1_000_000), 2), (FaultKind::Truncate(2_999_999), 1)] {
        server.fault(Fault::new(kind).on(Operation::Get).times(times));
        server.reset_counts();
        assert_eq!(block_on(store.get_all(&key("large"))).expect("get").as_deref(), Some(&value[..]));
        let counts = server.counts();
        assert_eq!(counts.gets, times + 1);
        assert!(counts.bytes_sent < 3_600_000, "{counts:?}");
    }
    // 3 MB at 1 MB/s: longer than the deadline, and no failure.
    server.set_bandwidth(Some(1_000_000));
    let begun = Instant::now();
    assert_eq!(block_on(store.get_all(&key("large"))).expect("get").as_deref(), Some(&value[..]));
    assert!(begun.elapsed() > Duration::from_millis(2500), "{:?}", begun.elapsed());
    block_on(store.set_all(&key("b"), value.clone().into())).expect("set");
    assert_eq!(server.get("data", "b").as_deref(), Some(&value[..]));
}

/// A value that is replaced while its body is read is read again.
#[test]
fn a_cut_body_of_a_value_that_was_replaced() {
    let (server, store) = setup(&[]);
    for round in 0..5_u8 {
        server.put("data", "a", vec![round; 100_000]);
        server.fault(Fault::new(FaultKind::Truncate(50_000)).on(Operation::Get));
        server.fault(Fault::new(FaultKind::Change(vec![100 + round; 100_000].into())).on(Operation::Get));
        let value = block_on(store.get_all(&key("a"))).expect("get").expect("there");
        assert!(value.iter().all(|byte| *byte == 100 + round), "{:?}", &value[49_990..50_010]);
    }
}

/// Reads one value `count` times, `at_once` reads at a time.
fn read_many(store: &Arc<BucketStore>, count: usize, at_once: usize) {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let workers = (0..at_once).map(|_| {
            let store = Arc::clone(store);
            tokio::spawn(async move {
                for _ in 0..count / at_once {
                    let value = store.get_all(&key("a")).await.expect("get");
                    assert_eq!(value.as_deref(), Some(&b"0123456789"[..]));
                }
            })
        });
        for worker in workers.collect::<Vec<_>>() {
            worker.await.expect("no panic");
        }
    });
}

/// A server that answers 503 `SlowDown` beyond eight requests at a time has few more soon, and many again once it can.
#[test]
fn fewer_requests_are_under_way_while_the_server_has_too_many() {
    let (server, store) = setup(&[]);
    server.set_latency(Duration::from_millis(20));
    server.set_capacity(Some(8));
    read_many(&store, 600, 60);
    let first = server.counts();
    assert!(first.refused > 20, "{first:?}");
    server.reset_counts();
    read_many(&store, 900, 60);
    let then = server.counts();
    println!("at first {first:?}, then {then:?}");
    assert!(then.most_in_flight <= 20 && then.refused < 200, "{then:?}");
    server.set_capacity(None);
    read_many(&store, 3000, 60);
    server.reset_counts();
    read_many(&store, 300, 60);
    assert!(server.counts().most_in_flight >= 40 && server.counts().refused == 0, "{:?}", server.counts());
}

/// One of fifty answers takes long: with `hedge=true` a second request overtakes it.
#[test]
fn slow_answers_are_overtaken_by_option() {
    beside_each_other([(&[("hedge", "true")][..], true), (&[][..], false)], |(options, overtakes)| {
        let (server, store) = setup(options);
        server.set_latency(Duration::from_millis(2));
        let get = || {
            let begun = Instant::now();
            assert!(block_on(store.get_all(&key("a"))).expect("get").is_some());
            begun.elapsed()
        };
        // On a busy machine other answers are overtaken as well, and one of fifty may be: until there is one to spare.
        let mut asked = 0;
        while asked < 150 || server.counts().gets - asked >= asked / 50 {
            get();
            asked += 1;
            assert!(asked < 5000, "{:?}", server.counts());
        }
        server.reset_counts();
        server.fault(Fault::new(FaultKind::Delay(Duration::from_secs(3))).on(Operation::Get));
        let longest = (0..50).map(|_| get()).max().unwrap_or_default();
        assert_eq!(longest < Duration::from_millis(2500), overtakes, "{longest:?}");
        assert!(server.counts().gets <= 54, "{:?}", server.counts());
    });
}

/// A second request that is answered with a failure does not end the first.
#[test]
fn a_failure_overtakes_nothing() {
    for status in [503, 500] {
        let (server, store) = setup(&[("hedge", "true"), ("retries", "0")]);
        server.set_latency(Duration::from_millis(2));
        // As many as have to be known before there is a second request.
        for _ in 0..64 {
            assert!(block_on(store.get_all(&key("a"))).expect("get").is_some());
        }
        server.reset_counts();
        server.fault(Fault::new(FaultKind::Delay(Duration::from_millis(300))).on(Operation::Get));
        server.fault(Fault::new(FaultKind::status(status)).on(Operation::Get));
        assert!(block_on(store.get_all(&key("a"))).expect("that of the first").is_some());
        assert_eq!((server.counts().gets, server.faults_left()), (2, 0));
    }
}

/// Requests are under way until their bodies are read, and all come to their end, however many each get needs.
#[test]
fn answers_that_are_read_count() {
    let (server, store) = setup(&[("concurrency", "4"), ("deadline", "2")]);
    server.put("data", "a", vec![3; 400_000]);
    server.set_bandwidth(Some(400_000));
    let ranges: Vec<ByteRange> = (0..10).map(|i| ByteRange::Range(i * 40_000..i * 40_000 + 20_000)).collect();
    std::thread::scope(|scope| {
        for _ in 0..6 {
            let (store, ranges) = (&store, &ranges);
            scope.spawn(move || {
                let fetched = block_on(store.get_ranges(&key("a"), ranges)).expect("get").expect("there");
                assert!(fetched.parts().all(|part| part == [3; 20_000]));
            });
        }
    });
    let counts = server.counts();
    assert!(counts.gets >= 60 && counts.most_in_flight <= 4, "{counts:?}");
}

/// S3 erases some of the objects that a request names: the others are erased again, and what stays is named.
#[test]
fn objects_that_an_erasure_leaves() {
    let fill = |server: &TestServer| {
        server.remove("data", "a");
        (0..40).for_each(|i| drop(server.put("data", &format!("p/{i:02}&"), "x")));
    };
    let leave =
        |count: usize, code: &str| Fault::new(FaultKind::Leave { count, code: code.to_owned() }).on(Operation::Delete);
    let (server, store) = setup(&[("deadline", "3")]);
    let erase = || AsyncAsSync::new(store.clone()).erase_prefix(&zarr_store::Prefix::root());
    fill(&server);
    for (count, code) in [(40, "SlowDown"), (25, "InternalError"), (1, "InternalError")] {
        server.fault(leave(count, code));
    }
    erase().expect("at last");
    assert_eq!((server.keys("data").len(), server.counts().deletes), (0, 4));
    let document = "<Error><Code>InternalError</Code><Message>m</Message></Error>";
    let whole = FaultKind::Status { status: 200, headers: Vec::new(), body: document.into() };
    fill(&server);
    server.fault(Fault::new(whole).on(Operation::Delete));
    erase().expect("at last");
    assert_eq!(server.keys("data").len(), 0);
    fill(&server);
    server.fault(leave(3, "AccessDenied"));
    let error = erase().expect_err("denied");
    assert_eq!((error.kind(), error.key()), (ErrorKind::Denied, Some("p/00&")), "{}", reason(&error));
    assert_eq!(server.keys("data").len(), 3);
    server.fault(leave(1, "SlowDown").always());
    let begun = Instant::now();
    let error = erase().expect_err("for ever");
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    assert_eq!((error.kind(), server.keys("data").len()), (ErrorKind::Throttled, 1), "{}", reason(&error));
}

/// An attempt that follows much later has a signature of its own, since services take one for a quarter of an hour.
#[test]
fn each_attempt_is_signed() {
    beside_each_other([(0, Operation::Get), (1, Operation::Put), (2, Operation::Put)], |(number, operation)| {
        // The service is not asked whether it keeps conditions.
        let (server, store) = setup(&[("conditional_put", "etag")]);
        server.fault(Fault::new(FaultKind::retry_after(503, 2)).on(operation));
        one(&store, number).expect("at last");
        let mut signed: Vec<_> = server.log().into_iter().map(|logged| logged.signed.expect("a time")).collect();
        assert_eq!(signed.len(), 2);
        signed.dedup();
        assert_eq!(signed.len(), 2, "{signed:?}");
    });
}
