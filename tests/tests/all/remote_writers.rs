//! Several who write to one array in a bucket, each with a store of its own as processes have it, on a server that fails.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use zarr::prelude::*;
use zarr::store::AsyncAsSync;
use zarr::{ErrorKind, Store};
use zarr_store_object::BucketStore;
use zarr_testserver::{Bucket, Fault, FaultKind, Operation, TestServer};

const WRITERS: u64 = 8;

/// Whether the long forms are asked for.
fn is_long() -> bool {
    std::env::var_os("ZARR_TEST_LONG").is_some()
}

fn server() -> TestServer {
    TestServer::builder().bucket("data", Bucket::s3().public()).start().expect("a server")
}

fn open(server: &TestServer, options: &[(&str, &str)]) -> Arc<dyn Store> {
    let url = server.url();
    let given = [("anonymous", "true"), ("endpoint", url.as_str()), ("deadline", "20"), ("timeout", "2")];
    let options: Vec<(String, String)> =
        given.iter().chain(options).map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Arc::new(AsyncAsSync::new(Arc::new(BucketStore::open("s3://data/x.zarr", &options).expect("a store"))))
}

/// Each writer sets its elements of one chunk or shard, one at a time. Returns how many are not there in the end.
fn lost_of_partial_writes(server: &TestServer, sharded: bool, each: u64, options: &[(&str, &str)]) -> usize {
    let new = NewArray::new(&[WRITERS * each], "int32").codecs("bytes").unwrap();
    let new = if sharded { new.chunks(&[each]).shards(&[WRITERS * each]) } else { new.chunks(&[WRITERS * each]) };
    let store = open(server, options);
    zarr::create((&store, "/a")).array(new).unwrap();
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            scope.spawn(move || {
                let array = zarr::open((&open(server, options), "/a")).array().unwrap();
                for number in 0..each {
                    array.write(writer + WRITERS * number, &[1 + number as i32]).unwrap();
                }
            });
        }
    });
    let elements = zarr::open((&store, "/a")).array().unwrap().read::<i32>(..).unwrap();
    elements.iter().enumerate().filter(|(at, element)| **element != 1 + (*at as u64 / WRITERS) as i32).count()
}

#[test]
fn partial_writes_of_eight_lose_nothing() {
    for sharded in [false, true] {
        let server = server();
        server.set_latency(Duration::from_millis(1));
        assert_eq!(lost_of_partial_writes(&server, sharded, 25, &[]), 0);
    }
}

/// Without conditions they do, which shows that they meet at all.
#[test]
fn partial_writes_without_conditions_lose_some() {
    let server = server();
    server.set_latency(Duration::from_millis(1));
    let lost = lost_of_partial_writes(&server, false, 25, &[("conditional_put", "disabled")]);
    assert!(lost > 20, "{lost}");
}

/// A tenth of all requests fails in some way, a twentieth of all answers is cut, others come late.
fn fail(server: &TestServer) {
    let faults = [
        (2, FaultKind::DropBefore, None),
        (2, FaultKind::status(500), None),
        (2, FaultKind::status(503), None),
        (1, FaultKind::status(429), None),
        (1, FaultKind::status(408), None),
        (4, FaultKind::DropAfter, Some(Operation::Put)),
        (2, FaultKind::Conflict, Some(Operation::Put)),
        (5, FaultKind::Truncate(7), Some(Operation::Get)),
        (3, FaultKind::Delay(Duration::from_millis(5)), None),
        (1, FaultKind::Delay(Duration::from_millis(40)), None),
    ];
    for (percent, kind, operation) in faults {
        let fault = Fault::new(kind).percent(percent);
        let fault = operation.map_or(fault.clone(), |operation| fault.on(operation));
        server.fault(fault.always());
    }
}

/// Thousands of operations of eight, most in chunks that they share: no value is wrong, no write that was acknowledged is lost, and
/// no operation fails.
#[test]
fn thousands_of_operations_on_a_server_that_fails() {
    // Ten thousand operations.
    let rounds = if is_long() { 1250 } else { 330_u64 };
    const ROWS: u64 = 6;
    let server = server();
    let store = open(&server, &[]);
    // A row of chunks: each chunk has elements of all writers.
    let new = NewArray::new(&[ROWS, WRITERS], "int64").chunks(&[1, WRITERS]).fill(-1).codecs("bytes").unwrap();
    zarr::create((&store, "/a")).array(new).unwrap();
    fail(&server);
    let begun = Instant::now();
    let operations = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let (server, operations) = (&server, &operations);
            scope.spawn(move || {
                let store = open(server, &[]);
                let mut array = zarr::open((&store, "/a")).array().unwrap();
                let mut mine = [-1_i64; ROWS as usize];
                for round in 0..rounds {
                    let row = (round * 7 + writer) % ROWS;
                    match round % 5 {
                        0 | 1 => {
                            mine[row as usize] = (round * WRITERS + writer) as i64;
                            array.write((row, writer), &[mine[row as usize]]).unwrap();
                        }
                        2 | 3 => {
                            let found = array.read::<i64>((row, ..)).unwrap();
                            assert_eq!(found[writer as usize], mine[row as usize]);
                            // Those of others are what they have written.
                            let is_theirs =
                                |(at, found): (usize, &i64)| *found == -1 || *found as u64 % WRITERS == at as u64;
                            assert!(found.iter().enumerate().all(is_theirs), "{found:?}");
                        }
                        _ if round % 50 == 4 => array.set_attribute(&writer.to_string(), &round).unwrap(),
                        _ => array = zarr::open((&store, "/a")).array().unwrap(),
                    }
                    operations.fetch_add(1, Ordering::Relaxed);
                }
                mine
            });
        }
    });
    let counts = server.counts();
    server.clear_faults();
    let failed =
        server.log().iter().filter(|logged| logged.status.is_none_or(|status| status >= 408 && status != 412)).count();
    println!("{} operations in {:?}: {failed} failures, {counts:?}", operations.into_inner(), begun.elapsed());
    assert!(failed as u64 * 100 > counts.requests() * 6, "{failed}");
    let array = zarr::open((&store, "/a")).array().unwrap();
    for writer in 0..WRITERS {
        let last = (0..rounds).rev().find(|round| round % 50 == 4);
        assert_eq!(array.attributes().unwrap().get(&writer.to_string()).and_then(|value| value.as_u64()), last);
    }
    let found = array.read::<i64>(..).unwrap();
    for (at, found) in found.into_iter().enumerate() {
        let (row, writer) = (at as u64 / WRITERS, at as u64 % WRITERS);
        let last = (0..rounds).rev().find(|round| round % 5 < 2 && (round * 7 + writer) % ROWS == row);
        assert_eq!(found, last.map_or(-1, |round| (round * WRITERS + writer) as i64), "{row}, {writer}");
    }
}

/// The store cannot keep what is asked of it: an error before anything is written.
#[test]
fn strict_writers_refuse_stores_without_conditions() {
    let server = server();
    let plain = open(&server, &[("conditional_put", "disabled")]);
    let new = NewArray::new(&[6, 4], "int16").chunks(&[2, 4]).codecs("bytes").unwrap();
    zarr::create((&plain, "/g/a")).array(new).unwrap().write(.., &[7_i16; 24]).unwrap();
    let grid = zarr::json!({"kind": "inline", "chunk_shapes": [[1, 3, 1]]});
    let grid = zarr_meta::NamedConfig::with("rectilinear", grid.as_object().unwrap().clone());
    zarr::create((&plain, "/g/b")).array(NewArray::new(&[5], "int16").chunk_grid(grid)).unwrap();
    let steps = zarr::open((&plain, "/g/b")).strict_writers(true).array().unwrap();
    let before = server.keys("data").into_iter().map(|key| (server.etag("data", &key), key)).collect::<Vec<_>>();
    let mut array = zarr::open((&plain, "/g/a")).strict_writers(true).array().unwrap();
    let mut group = zarr::open((&plain, "/g")).strict_writers(true).group().unwrap();
    let mut same = group.array("a").unwrap();
    let refused = [
        array.write((1, 1), &[1_i16]),
        // Two whole chunks, and a part of the third.
        array.write(0..5, &[1_i16; 20]),
        array.write((.., 1..), &[1_i16; 18]),
        array.write((vec![true, false, true, false, false, false], ..), &[1_i16; 8]),
        // The first and the last chunk as a whole, and a part of the one between them.
        steps.write("::2", &[1_i16; 3]),
        array.append(0, &[1_i16; 4]),
        array.resize(&[8, 4]),
        array.resize(&[2, 4]),
        array.set_attribute("x", &1),
        array.set_dimension_names(&["a", "b"]),
        group.set_attribute("x", &1),
        group.consolidate().map(drop),
        group.drop_consolidated(),
        same.set_attribute("x", &1),
    ];
    for (number, result) in refused.into_iter().enumerate() {
        let error = result.expect_err("refused");
        let text = error.to_string();
        assert!(
            error.kind() == ErrorKind::Argument && text.contains("strict writers") && text.contains("/g"),
            "{number}: {text}"
        );
    }
    let after = server.keys("data").into_iter().map(|key| (server.etag("data", &key), key)).collect::<Vec<_>>();
    assert_eq!(after, before);
    // Whole chunks need no condition, to the edge of the array.
    array.write(2..6, &[3_i16; 16]).unwrap();
    array.write((0..2, ..), &[4_i16; 8]).unwrap();
    // Nodes that are created through a strict group are strict too.
    let group = zarr::open((&plain, "/g")).strict_writers(true).group().unwrap();
    let new = NewArray::new(&[6, 4], "int16").chunks(&[2, 4]).codecs("bytes").unwrap();
    let error = group.create_array("c", new).unwrap().write((1, 1), &[1_i16]).expect_err("refused");
    assert!(error.to_string().contains("strict writers"), "{error}");
    let mut below = group.create_group("d", NewGroup::new()).unwrap();
    let error = below.set_attribute("x", &1).expect_err("refused");
    assert!(error.to_string().contains("strict writers"), "{error}");
    // And all of it is done where there are conditions, or nobody asks for them.
    for (store, strict) in [(open(&server, &[]), true), (plain, false)] {
        let mut array = zarr::open((&store, "/g/a")).strict_writers(strict).array().unwrap();
        array.write((1, 1), &[1_i16]).unwrap();
        array.set_attribute("x", &strict).unwrap();
        array.append(0, &[1_i16; 4]).unwrap();
        zarr::open((&store, "/g")).strict_writers(strict).group().unwrap().set_attribute("x", &1).unwrap();
    }
    assert_eq!(zarr::open((&open(&server, &[]), "/g/a")).array().unwrap().shape(), [8, 4]);
}

/// While a server is down nothing fails, unless that takes longer than the deadline: then there is an error in time, and no value is wrong.
#[test]
fn a_server_that_is_down() {
    let (down, longer, deadline) = if is_long() {
        (Duration::from_secs(5), Duration::from_secs(60), 30.0)
    } else {
        (Duration::from_millis(700), Duration::from_secs(3), 2.0)
    };
    let server = server();
    let text = deadline.to_string();
    let options = [("deadline", text.as_str()), ("timeout", "2")];
    let store = open(&server, &options);
    let new = || NewArray::new(&[WRITERS], "int64").chunks(&[WRITERS]).fill(-1).codecs("bytes").unwrap();
    zarr::create((&store, "/a")).array(new()).unwrap();
    // Each of eight does what there is to do until the server is up again. Returns the longest times of what is done and of what fails.
    let run = |down: Duration, may_fail: bool| {
        server.fault(Fault::new(FaultKind::DropBefore).always());
        let begun = Instant::now();
        std::thread::scope(|scope| {
            let work = |writer: u64| {
                let (server, options) = (&server, &options);
                scope.spawn(move || {
                    let store = open(server, options);
                    let (mut longest, mut failed) = (Duration::ZERO, 0);
                    for number in 0.. {
                        if begun.elapsed() > down {
                            break;
                        }
                        let start = Instant::now();
                        let done = zarr::open((&store, "/a")).array().and_then(|mut array| match number % 3 {
                            0 => array.write(writer, &[writer as i64]),
                            1 => array.read::<i64>(..).map(drop),
                            _ => array.set_attribute(&writer.to_string(), &number),
                        });
                        longest = longest.max(start.elapsed());
                        if let Err(error) = done {
                            let is_passing = error.store_error().is_some_and(zarr::store::Error::is_retryable);
                            assert!(may_fail && is_passing, "{error:?}");
                            failed += 1;
                        }
                    }
                    (longest, failed)
                })
            };
            let workers: Vec<_> = (0..WRITERS).map(work).collect();
            std::thread::sleep(down);
            server.clear_faults();
            let results = workers.into_iter().map(|worker| worker.join().unwrap());
            results.fold((Duration::ZERO, 0), |all, one| (all.0.max(one.0), all.1 + one.1))
        })
    };
    let (longest, failed) = run(down, false);
    println!("down for {down:?}: the longest operation took {longest:?}, {failed} failed");
    let (longest, failed) = run(longer, true);
    println!("down for {longer:?}: the longest operation took {longest:?}, {failed} failed");
    // Who begins late, on a busy machine, may wait until it is up again.
    assert!(failed > 0 && longest.as_secs_f64() < deadline + 3.0, "{failed} {longest:?}");
    let array = zarr::open((&store, "/a")).array().unwrap();
    assert!(array.read::<i64>(..).unwrap().iter().zip(0..).all(|(found, writer)| *found == -1 || *found == writer));
    array.write(.., &[7_i64; WRITERS as usize]).unwrap();
    assert_eq!(array.read::<i64>(..).unwrap(), [7; WRITERS as usize]);
}
