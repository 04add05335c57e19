//! Arrays and groups in a bucket: values, requests, bounds, ends of operations, faults.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use zarr::codec::{BuildContext, BytesToBytes, CodecEntry, CodecValue, Error as CodecError, Sink, Size};
use zarr::prelude::*;
use zarr::store::{AsyncAsSync, Cached, block_on};
use zarr::{AsyncStore, Dialect, ErrorKind, Store};
use zarr_store_object::BucketStore;
use zarr_testserver::{Bucket, Fault, FaultKind, Operation, TestServer};

fn server(latency: Duration) -> TestServer {
    TestServer::builder().latency(latency).bucket("data", Bucket::s3().public()).start().expect("a server")
}

fn waiting(server: &TestServer, prefix: &str, options: &[(&str, &str)]) -> Arc<dyn AsyncStore> {
    let url = server.url();
    let given = [("anonymous", "true"), ("endpoint", url.as_str())];
    let options: Vec<(String, String)> =
        given.iter().chain(options).map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Arc::new(BucketStore::open(&format!("s3://data/{prefix}"), &options).expect("a store"))
}

fn blocking(server: &TestServer, prefix: &str) -> Arc<dyn Store> {
    Arc::new(AsyncAsSync::new(waiting(server, prefix, &[])))
}

/// 64 KiB of numbers in chunks of 4 KiB, and the same in shards of 16 KiB.
fn arrays(store: &Arc<dyn Store>) -> Vec<i32> {
    let values: Vec<i32> = (0..16 << 10).collect();
    for (path, new) in [
        ("/g/plain", NewArray::new(&[128, 128], "int32").chunks(&[8, 128])),
        ("/g/sharded", NewArray::new(&[128, 128], "int32").chunks(&[8, 32]).shards(&[32, 128])),
    ] {
        zarr::create((store, path)).array(new).expect("created").write(.., &values).expect("written");
    }
    values
}

#[test]
fn values_are_written_and_read_by_few_requests() {
    let server = server(Duration::ZERO);
    let store = blocking(&server, "x.zarr");
    let values = arrays(&store);
    server.reset_counts();

    // The document, and a request for each of 16 chunks.
    // They are read soon after that, so that it is not looked at again.
    let options = || Options::default().look_interval(Duration::from_secs(3600));
    let array = zarr::open((&store, "/g/plain")).options(options()).array().unwrap();
    assert_eq!(array.read::<i32>(..).unwrap(), values);
    assert_eq!((server.counts().gets, server.counts().requests()), (17, 17));
    server.reset_counts();

    // A point: the document, the index of the shard, the inner chunk.
    let array = zarr::open((&store, "/g/sharded")).options(options().cache(ChunkCache::new(1 << 20))).array().unwrap();
    assert_eq!(array.read::<i32>((40, 50)).unwrap(), [values[40 * 128 + 50]]);
    assert_eq!(server.counts().requests(), 3);
    // Another inner chunk of that shard.
    assert_eq!(array.read::<i32>((60, 120)).unwrap(), [values[60 * 128 + 120]]);
    assert_eq!(server.counts().requests(), 4);
    server.reset_counts();

    // Whole shards are one request each.
    let array = zarr::open((&store, "/g/sharded")).options(options()).array().unwrap();
    assert_eq!(array.read::<i32>(..).unwrap(), values);
    assert_eq!(server.counts().requests(), 5);
    // All inner chunks of one shard in a column, with the index.
    assert_eq!(array.read::<i32>((..32, 0)).unwrap(), (0..32).map(|row| values[row * 128]).collect::<Vec<_>>());
    assert_eq!(server.counts().requests(), 7);
    server.reset_counts();

    // No key is asked for that is not there, but those of older dialects where there is none of v3.
    zarr::create((&store, "/old")).array(NewArray::new(&[2], "int8").dialect(Dialect::V3)).unwrap();
    server.reset_counts();
    assert!(zarr::open((&store, "/none")).array().unwrap_err().is_not_found());
    assert_eq!(server.counts().heads, 0);
}

/// A hierarchy of 2,000 arrays below the root, with consolidated metadata.
fn consolidated(server: &TestServer, dialect: Dialect) -> Arc<dyn Store> {
    let prefix = format!("{dialect}.zarr");
    let store = blocking(server, &prefix);
    let group = zarr::create(&store).group(NewGroup::new().attribute("title", "many").dialect(dialect)).unwrap();
    group.create_array("a0", NewArray::new(&[2], "int8").attribute("units", "K")).unwrap();
    let documents: Vec<_> =
        server.keys("data").into_iter().filter(|key| key.starts_with(&format!("{prefix}/a0/"))).collect();
    for document in documents {
        let value = server.get("data", &document).unwrap();
        for number in 1..2000 {
            server.put("data", &document.replace("/a0/", &format!("/a{number}/")), value.clone());
        }
    }
    zarr::hierarchy::consolidate(&*store, "/", None).unwrap();
    store
}

#[test]
fn a_consolidated_hierarchy_is_opened_by_few_requests() {
    let server = server(Duration::ZERO);
    for (dialect, unknown) in [(Dialect::V3, 1), (Dialect::V2, 4)] {
        let store = consolidated(&server, dialect);
        server.reset_counts();
        let group = zarr::open(&store).group().unwrap();
        let walk = group.consolidated_walk().unwrap();
        assert_eq!((walk.nodes.len(), walk.broken.len(), walk.bad_consolidated.len()), (2001, 0, 0));
        let counts = server.counts();
        assert_eq!((counts.requests(), counts.gets, counts.heads), (unknown, unknown, 0), "{dialect}");
        // Opening one of them then costs nothing.
        let found = walk.nodes.into_iter().find(|node| node.path.to_string() == "/a1999").unwrap();
        let array = Array::from_found(&store, found, group.registry(), Options::default()).unwrap();
        assert_eq!((array.shape(), server.counts().requests()), (&[2][..], unknown));
        // One of a known dialect.
        server.reset_counts();
        let walk = zarr::hierarchy::walk_consolidated(&*store, "/", Some(dialect)).unwrap();
        assert_eq!((walk.nodes.len(), walk.broken.len(), walk.bad_consolidated.len()), (2001, 0, 0));
        assert_eq!((server.counts().requests(), server.counts().heads), (1, 0), "{dialect}");
    }
}

#[test]
fn nodes_without_copies_of_their_documents_are_found_at_the_same_time() {
    let server = server(Duration::ZERO);
    let store = blocking(&server, "many.zarr");
    zarr::create(&store).group(NewGroup::default()).unwrap();
    zarr::create((&store, "/a0")).array(NewArray::new(&[2], "int8")).unwrap();
    let document = server.get("data", "many.zarr/a0/zarr.json").unwrap();
    for number in 1..2000 {
        server.put("data", &format!("many.zarr/a{number}/zarr.json"), document.clone());
    }
    server.set_latency(Duration::from_millis(50));
    server.reset_counts();
    let begun = Instant::now();
    assert_eq!(zarr::open(&store).group().unwrap().walk().unwrap().nodes.len(), 2001);
    let (took, counts) = (begun.elapsed(), server.counts());
    println!("{took:?}, {counts:?}");
    // The document of the group, pages of a listing, a document for each array; one after another would take more than 100 s.
    assert!(counts.requests() <= 2010 && counts.heads == 0 && took < Duration::from_secs(20), "{took:?}, {counts:?}");
    // So are they by a walk through all dialects.
    server.reset_counts();
    assert_eq!(zarr::hierarchy::walk_consolidated(&*store, "/", None).unwrap().nodes.len(), 2001);
    assert!(server.counts().requests() <= 2015, "{:?}", server.counts());
}

#[test]
fn requests_under_way_are_bounded_and_overlap() {
    let server = server(Duration::from_millis(10));
    let store = waiting(&server, "x.zarr", &[]);
    let values = arrays(&(Arc::new(AsyncAsSync::new(Arc::clone(&store))) as Arc<dyn Store>));
    // No read has more requests under way. One has as many, though not every one on a machine that is busy elsewhere.
    let as_many = |most: u64, read: &dyn Fn() -> Vec<i32>| {
        let reached = (0..20).any(|_| {
            server.reset_counts();
            assert_eq!(read(), values);
            let counts = server.counts();
            assert!(counts.most_in_flight <= most, "{counts:?}");
            counts.most_in_flight == most
        });
        assert!(reached, "fewer than {most} requests at the same time in each of 20 reads");
    };
    for most in [1, 5, 16] {
        let options = Options::default().look_interval(Duration::from_secs(3600));
        let options = options.requests_in_flight(std::num::NonZeroUsize::new(most));
        let blocking: Arc<dyn Store> = Arc::new(AsyncAsSync::new(Arc::clone(&store)));
        let array = zarr::open((&blocking, "/g/plain")).options(options.clone()).array().unwrap();
        as_many(most as u64, &|| array.read::<i32>(..).unwrap());
        let array = block_on(zarr::open((&store, "/g/plain")).options(options).array()).unwrap();
        as_many(most as u64, &|| block_on(array.read::<i32>(..)).unwrap());
    }
}

#[test]
fn points_are_written_with_bounded_requests_that_overlap() {
    let server = server(Duration::from_millis(10));
    let store = waiting(&server, "x.zarr", &[]);
    let mut values = arrays(&(Arc::new(AsyncAsSync::new(Arc::clone(&store))) as Arc<dyn Store>));
    for (path, shards) in [("/g/plain", 16), ("/g/sharded", 4)] {
        // One of two elements, so that every chunk is met.
        let points: Vec<i64> = (0..values.len() as i64).filter(|at| at % 2 == 1).collect();
        let coordinates = |points: &[i64]| {
            Selection::coordinates(vec![
                points.iter().map(|at| at / 128).collect(),
                points.iter().map(|at| at % 128).collect(),
            ])
        };
        let new: Vec<i32> = points.iter().map(|&at| -(at as i32)).collect();
        points.iter().zip(&new).for_each(|(&at, &element)| values[at as usize] = element);
        let most = 3;
        let options = Options::default().requests_in_flight(std::num::NonZeroUsize::new(most));
        let blocking: Arc<dyn Store> = Arc::new(AsyncAsSync::new(Arc::clone(&store)));
        let array = zarr::open((&blocking, path)).options(options.clone()).array().unwrap();
        server.reset_counts();
        array.write(coordinates(&points), &new).unwrap();
        let counts = server.counts();
        assert_eq!((counts.gets, counts.puts), (shards, shards), "{counts:?}");
        assert!((2..=most as u64).contains(&counts.most_in_flight), "{counts:?}");
        assert_eq!(array.read::<i32>(..).unwrap(), values);
        let array = block_on(zarr::open((&store, path)).options(options).array()).unwrap();
        server.reset_counts();
        block_on(array.write(coordinates(&points), &new)).unwrap();
        let counts = server.counts();
        assert_eq!((counts.gets, counts.puts), (shards, shards), "{counts:?}");
        assert!((2..=most as u64).contains(&counts.most_in_flight), "{counts:?}");
        assert_eq!(block_on(array.read::<i32>(..)).unwrap(), values);
        values = (0..16 << 10).collect();
    }
}

#[test]
fn other_tasks_go_on_beside_a_read() {
    let server = server(Duration::ZERO);
    let store = waiting(&server, "x.zarr", &[]);
    let blocking: Arc<dyn Store> = Arc::new(AsyncAsSync::new(Arc::clone(&store)));
    let new = NewArray::new(&[4 << 20], "int64")
        .chunks(&[128 << 10])
        .codecs(r#"["bytes", {"name": "zstd", "configuration": {"level": 1}}]"#);
    let values: Vec<i64> = (0..4 << 20).map(|at| at * at).collect();
    zarr::create((&blocking, "/a")).array(new.unwrap()).unwrap().write(.., &values).unwrap();
    static LONGEST: AtomicU64 = AtomicU64::new(0);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let took = runtime.block_on(async {
        let array = zarr::open((&store, "/a")).array().await.unwrap();
        let heartbeat = tokio::spawn(async {
            let mut last = Instant::now();
            loop {
                tokio::time::sleep(Duration::from_millis(2)).await;
                LONGEST.fetch_max(last.elapsed().as_micros() as u64, Ordering::SeqCst);
                last = Instant::now();
            }
        });
        let begun = Instant::now();
        assert_eq!(array.read::<i64>(..).await.unwrap(), values);
        heartbeat.abort();
        begun.elapsed()
    });
    let longest = Duration::from_micros(LONGEST.load(Ordering::SeqCst));
    // On a busy machine a thread may wait for its turn; decoding between two beats would take all the time of the read.
    assert!(longest > Duration::ZERO && longest < took / 2 + Duration::from_millis(20), "{longest:?} of {took:?}");
}

#[test]
fn a_dropped_read_ends_its_requests() {
    let server = server(Duration::ZERO);
    let store = waiting(&server, "x.zarr", &[]);
    let blocking: Arc<dyn Store> = Arc::new(AsyncAsSync::new(Arc::clone(&store)));
    let new = NewArray::new(&[1 << 20], "int8").chunks(&[16 << 10]).codecs("bytes").unwrap();
    zarr::create((&blocking, "/a")).array(new).unwrap().fill(.., 3_i8).unwrap();
    let array = block_on(zarr::open((&store, "/a")).array()).unwrap();
    server.set_latency(Duration::from_secs(2));
    server.reset_counts();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let read = array.read::<i8>(..);
        assert!(tokio::time::timeout(Duration::from_millis(300), read).await.is_err());
    });
    let ended = Instant::now();
    while server.counts().aborted < 64 {
        assert!(ended.elapsed() < Duration::from_secs(1), "{:?}", server.counts());
        std::thread::sleep(Duration::from_millis(2));
    }
    assert_eq!(server.counts().gets, 64);
}

/// No fault of a server makes a fill value of a value.
#[test]
fn faults_are_errors_or_pass_and_never_fill_values() {
    let faults: [(FaultKind, bool); 8] = [
        (FaultKind::status(503), true),
        (FaultKind::DropBefore, true),
        (FaultKind::Truncate(10), true),
        (FaultKind::Html, false),
        (FaultKind::status(403), false),
        (FaultKind::ContentLength(5), false),
        // A whole value is decoded.
        (FaultKind::Gzip, true),
        (FaultKind::Redirect { status: 302, location: "http://127.0.0.1:1/".to_owned() }, false),
    ];
    for (kind, passes) in faults {
        let server = server(Duration::ZERO);
        let store = waiting(&server, "x.zarr", &[("deadline", "3"), ("timeout", "2"), ("retries", "2")]);
        let store: Arc<dyn Store> = Arc::new(AsyncAsSync::new(store));
        let values = arrays(&store);
        let array = zarr::open((&store, "/g/plain")).array().unwrap();
        let shown = format!("{kind:?}");
        let times = if passes { 1 } else { 1000 };
        server.fault(Fault::new(kind).on(Operation::Get).path("g/plain/c/3/0").times(times));
        match array.read::<i32>(..) {
            Ok(read) => assert!(passes && read == values, "{shown}"),
            Err(error) => {
                let text = error.to_string();
                assert!(
                    !passes && text.contains("s3://data/x.zarr") && text.contains("g/plain/c/3/0"),
                    "{shown}: {text}"
                );
                assert_ne!(error.kind(), ErrorKind::NotFound, "{shown}: {text}");
            }
        }
    }
}

#[test]
fn shards_are_read_whole_or_by_their_index() {
    let server = server(Duration::ZERO);
    let store = blocking(&server, "x.zarr");
    let values = arrays(&store);
    // Shards of a single inner chunk, by points, masks and several regions.
    let new = NewArray::new(&[128, 128], "int32").chunks(&[32, 128]).shards(&[32, 128]);
    let single = zarr::create((&store, "/single")).array(new).unwrap();
    single.write(.., &values).unwrap();
    let mut out = vec![0_i32; 32 * 128];
    single.read_many([(32..64_u64, out.as_mut_slice())]).unwrap();
    assert_eq!(out, values[32 * 128..64 * 128]);
    let rows: Vec<bool> = (0..128).map(|row| row < 33).collect();
    assert_eq!(single.read::<i32>((rows, ..)).unwrap(), values[..33 * 128]);

    // An index that is in the cache serves further reads, of all as well.
    let array = zarr::open((&store, "/g/sharded")).cache(&ChunkCache::new(1 << 20)).array().unwrap();
    array.read::<i32>((40, 50)).unwrap();
    for most in [8, 0] {
        server.reset_counts();
        assert_eq!(array.read::<i32>(..).unwrap(), values);
        assert!(server.counts().requests() <= most, "{:?}", server.counts());
    }

    // Bytes that no index names are not fetched.
    let key = "x.zarr/g/sharded/c/1/0";
    let value = server.get("data", key).unwrap();
    let (chunks, index) = value.split_at(value.len() - (16 * 16 + 4));
    let large = [chunks, &vec![0; 4 << 20], index].concat();
    server.put("data", key, large);
    server.reset_counts();
    let array = zarr::open((&store, "/g/sharded")).array().unwrap();
    assert_eq!(array.read::<i32>(..).unwrap(), values);
    assert!(server.counts().bytes_sent < 1 << 20, "{:?}", server.counts());
}

/// The threads that decode may themselves wait for reads.
#[test]
fn reads_end_where_all_threads_of_a_pool_wait_for_them() {
    let server = server(Duration::ZERO);
    let store = blocking(&server, "x.zarr");
    let new = NewArray::new(&[2 << 20], "int8").chunks(&[64 << 10]);
    zarr::create((&store, "/a")).array(new).unwrap().fill(.., 3_i8).unwrap();
    let array = zarr::open((&store, "/a")).threads(1).array().unwrap();
    let read = |_| array.read::<i8>(..).unwrap().len();
    assert_eq!(array.map_parallel((0..80).collect(), read).unwrap(), [2 << 20; 80]);
}

/// Documents and indexes of shards come again only if they have changed, and writes of others are seen.
#[test]
fn a_cache_of_documents_and_indexes_revalidates() {
    let server = server(Duration::ZERO);
    let plain = blocking(&server, "x.zarr");
    let mut values = arrays(&plain);
    let cached = Arc::new(Cached::revalidating(waiting(&server, "x.zarr", &[]), 1 << 20).parts_up_to(1 << 16));
    let store: Arc<dyn Store> = Arc::new(AsyncAsSync::new(Arc::clone(&cached) as Arc<dyn AsyncStore>));
    let point = |value: i32| {
        let array = zarr::open((&store, "/g/sharded")).array().unwrap();
        assert_eq!(array.read::<i32>((40, 50)).unwrap(), [value]);
        let log = server.log();
        server.reset_counts();
        let asked = |logged: &zarr_testserver::Logged| (logged.if_none_match.is_some(), logged.status);
        log.iter().map(asked).collect::<Vec<_>>()
    };
    server.reset_counts();
    let at = 40 * 128 + 50;
    // The document, the index, the inner chunk.
    assert_eq!(point(values[at]), [(false, Some(206)), (false, Some(206)), (false, Some(206))]);
    assert_eq!(point(values[at]), [(true, Some(304)); 3]);
    values[at] = -1;
    zarr::open((&plain, "/g/sharded")).array().unwrap().write((40, 50), &[-1]).unwrap();
    server.reset_counts();
    assert_eq!(point(-1), [(true, Some(304)), (true, Some(206)), (false, Some(206))]);
    let counts = cached.counts();
    assert!(counts.hits >= 5 && counts.outdated >= 1, "{counts:?}");
}

/// Takes a while to encode and to decode.
#[derive(Debug)]
struct Slow;

/// When chunks were encoded and decoded.
static WORKED: Mutex<Vec<(Instant, Instant)>> = Mutex::new(Vec::new());

impl Slow {
    const TIME: Duration = Duration::from_millis(40);

    fn work() {
        let begun = Instant::now();
        std::thread::sleep(Self::TIME);
        WORKED.lock().expect("sound").push((begun, Instant::now()));
    }
}

impl CodecValue for Slow {
    const ENTRY: CodecEntry = CodecEntry::bytes_to_bytes("test.slow", |_| Ok(Arc::new(Self)));

    fn from_config(_: &BuildContext<'_>) -> Result<Self, CodecError> {
        Ok(Self)
    }
}

impl BytesToBytes for Slow {
    fn name(&self) -> &'static str {
        "test.slow"
    }

    fn encoded_size(&self, decoded: Size) -> Size {
        decoded
    }

    fn encode(&self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), CodecError> {
        Self::work();
        out.extend_from_slice(bytes);
        Ok(())
    }

    fn decode(&self, bytes: &[u8], out: &mut Sink<'_>) -> Result<(), CodecError> {
        Self::work();
        out.extend(bytes)
    }
}

/// Counts the chunks that were encoded or decoded since the last call while a request for another chunk was under way, or came; and all of them.
fn beside_requests(server: &TestServer) -> (usize, usize) {
    let mut log = server.log();
    log.retain(|logged| logged.path.contains("/c/"));
    let worked = std::mem::take(&mut *WORKED.lock().expect("sound"));
    let is_beside = |(begun, ended): &&(Instant, Instant)| {
        log.iter().any(|logged| logged.came < *ended && logged.ended.is_none_or(|end| end > *begun))
    };
    (worked.iter().filter(is_beside).count(), worked.len())
}

#[test]
fn requests_are_under_way_while_others_are_decoded_and_encoded() {
    const CHUNKS: u64 = 32;
    const SIZE: u64 = 256 << 10;
    let server = server(Duration::from_millis(60));
    let store = blocking(&server, "x.zarr");
    let mut registry = zarr::registry::Registry::clone(&zarr::registry::default());
    registry.codecs.add(Slow::ENTRY);
    let new = NewArray::new(&[CHUNKS, SIZE], "uint8").chunks(&[1, SIZE]).codecs(Slow);
    let registry = Arc::new(registry);
    drop(Array::create(&store, "/a", new.expect("a codec"), &registry).expect("created"));
    let found = zarr::hierarchy::open_node(&*store, "/a", None).expect("found");
    // Eight chunks at a time, which two threads decode in four turns.
    let options = Options::default().bytes_in_flight(8 * SIZE + 1000).threads(std::num::NonZeroUsize::new(2));
    let array = Array::from_found(&store, found, &registry, options).expect("an array");
    let values = vec![7_u8; usize::try_from(CHUNKS * SIZE).expect("small")];
    let few = vec![9_u8; usize::try_from(CHUNKS * 1000).expect("small")];
    let all: [(&str, &dyn Fn()); 3] = [
        ("written", &|| array.write(.., &values).expect("written")),
        ("written in part", &|| array.write((.., ..1000), &few).expect("written")),
        ("read", &|| {
            let read = array.read::<u8>(..).expect("read");
            assert!(
                read.chunks_exact(SIZE as usize)
                    .all(|chunk| chunk[..1000] == few[..1000] && chunk[1000..] == values[1000..SIZE as usize])
            );
        }),
    ];
    for (what, run) in all {
        server.reset_counts();
        run();
        let (beside, all) = beside_requests(&server);
        // In turns there would be none. The first chunks are encoded before any request, and the last ones decoded after all.
        assert!(all >= CHUNKS as usize && beside >= all / 2, "{what}: {beside} of {all} chunks");
    }
}
