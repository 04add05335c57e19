//! Tests of gets of chunks that lie beside each other in one file.

use std::sync::{Condvar, Mutex};
use std::time::Duration;

use zarr_drive::{AsyncAsSync, InFlightLimits, Job, Next, Pool, run, run_async, run_async_with, run_on};
use zarr_store::{AsyncStoreExt, Operation, Prefixed, ReadOnly, Reply, Request, StoreBase, ValueGet};

use super::*;

/// Store of files that does not block, as a store behind a network. It counts gets.
type Far = Arc<Counted<SyncAsAsync>>;

fn far(files: MemoryStore, profile: AccessProfile) -> (Far, Arc<dyn Store>) {
    let far = Arc::new(Counted::new(SyncAsAsync::new(Arc::new(Altered::new(files).with_profile(profile)))));
    (Arc::clone(&far), Arc::new(AsyncAsSync::new(far)))
}

/// Pieces and size of a value, or the message of an error.
type Outcome = std::result::Result<Option<(Vec<Vec<u8>>, Option<u64>)>, String>;

fn outcome(got: Result<Option<zarr_store::Fetched>>) -> Outcome {
    match got {
        Ok(got) => Ok(got.map(|got| (got.parts().map(<[u8]>::to_vec).collect(), got.size))),
        Err(error) => Err(format!("{:?} {error}", error.kind())),
    }
}

fn some_ranges() -> impl Strategy<Value = Vec<ByteRange>> {
    let range = prop_oneof![
        4 => Just(ByteRange::Full),
        1 => (0_u64..60, 0_u64..30).prop_map(|(start, len)| ByteRange::Range(start..start + len)),
        1 => (0_u64..60).prop_map(ByteRange::Suffix),
        1 => (0_u64..60).prop_map(ByteRange::First),
        1 => (0_u64..60).prop_map(ByteRange::From),
    ];
    prop::collection::vec(range, 0..3)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn gets_made_together_have_the_outcomes_of_single_ones(
        stored in prop::collection::vec(some_stored(), 24),
        asked in prop::collection::vec((0_u64..24, some_ranges(), any::<bool>()), 0..30),
        max_gap in 0_u64..200,
        max_size in 0_u64..2000,
    ) {
        let chunks: Vec<(u64, Stored)> = (0_u64..).zip(stored).collect();
        let profile = AccessProfile::REMOTE.merging(max_gap, max_size);
        let (counted, files) = far(files(), profile);
        let (store, _) = store(files, "a/", FORMS[0], &[24], &chunks);
        let asked: Vec<_> = asked
            .into_iter()
            .map(|(index, ranges, snapshot)| {
                let options = if snapshot { GetOptions::snapshot() } else { GetOptions::default() };
                (key(&format!("a/c/{index}")), ranges, options)
            })
            .collect();
        let gets = || asked.iter().map(|(key, ranges, options)| ValueGet::new(key, ranges, options)).collect();
        let single: Vec<_> =
            asked.iter().map(|(key, ranges, options)| outcome(StoreExt::get(&store, key, ranges, options))).collect();
        let of_single = counted.take().gets;
        for is_blocking in [true, false] {
            let got = if is_blocking {
                StoreExt::get_many(&store, gets())
            } else {
                block_on(AsyncStoreExt::get_many(&store, gets()))
            };
            let got: Vec<_> = got.expect("gets").into_iter().map(outcome).collect();
            prop_assert_eq!(&got, &single);
            prop_assert!(counted.take().gets <= of_single);
        }
    }
}

/// Job that reads chunks and compares them with their values, or that forks into other jobs.
enum Reading {
    All(Vec<Reading>),
    Some { asked: Vec<Request>, expected: Vec<Vec<u8>> },
    Ended,
}

impl Job for Reading {
    type Output = ();
    type Error = Error;

    fn step(&mut self, replies: &mut Vec<Reply>) -> Result<Next<Self>> {
        match std::mem::replace(self, Self::Ended) {
            Self::All(jobs) => Ok(Next::Fork(jobs)),
            Self::Some { asked, expected } if !asked.is_empty() => {
                *self = Self::Some { asked: Vec::new(), expected };
                Ok(Next::Ask(asked))
            }
            Self::Some { expected, .. } => {
                for (reply, expected) in replies.drain(..).zip(&expected) {
                    assert_eq!(reply.into_got()?.expect("a chunk").part(0), expected);
                }
                Ok(Next::Done(()))
            }
            Self::Ended => Ok(Next::Done(())),
        }
    }
}

/// Returns a store of `count` chunks of `size` bytes each, one behind the other in a file, and a function that makes a job that reads them,
/// `group` chunks in each job below it.
fn in_a_row(profile: AccessProfile, count: u64, size: u64, group: usize) -> (Far, VirtualStore, impl Fn() -> Reading) {
    let files = MemoryStore::new();
    let chunk = move |index: u64| vec![index as u8 ^ (index >> 8) as u8; size as usize];
    let mut bytes = Vec::new();
    (0..count).for_each(|index| bytes.extend_from_slice(&chunk(index)));
    files.set_all(&key("dir/x.bin"), &bytes).expect("set");
    let (counted, files) = far(files, profile);
    let mut builder = VirtualStore::builder("virtual:x");
    let source = builder.source(files, key("dir/x.bin"));
    let mut table = ChunkTableBuilder::new(count);
    for index in 0..count {
        table.set(index, Chunk::Range { source, offset: index * size, length: size }).expect("a place");
    }
    builder.chunks(prefix("a/"), FORMS[0], &[count], table.build().expect("a table"));
    let job = move || {
        let indexes: Vec<u64> = (0..count).collect();
        let some = |indexes: &[u64]| Reading::Some {
            asked: indexes.iter().map(|index| Request::get(key(&format!("a/c/{index}")))).collect(),
            expected: indexes.iter().map(|index| chunk(*index)).collect(),
        };
        Reading::All(indexes.chunks(1000).map(|part| Reading::All(part.chunks(group).map(some).collect())).collect())
    };
    (counted, builder.build().expect("a store"), job)
}

#[test]
fn chunks_beside_each_other_are_few_requests_whichever_jobs_ask() {
    // 200 MB in requests of at most 16 MiB.
    let (counted, store, job) = in_a_row(AccessProfile::REMOTE.merging(0, 16 << 20), 10_000, 20_000, 13);
    block_on(run_async(&store, job())).expect("read");
    let gets = counted.take().gets;
    assert!(gets <= 20, "{gets} requests");
    run_on(&Pool::of_forks(), &store, job()).expect("read");
    let gets = counted.take().gets;
    // A busy machine begins some requests before all jobs have asked.
    assert!(gets <= 60, "{gets} requests");
    // A job of its own reads each chunk.
    let (counted, store, job) = in_a_row(AccessProfile::REMOTE.merging(0, 1 << 18), 10_000, 200, 1);
    block_on(run_async(&store, job())).expect("read");
    let gets = counted.take().gets;
    assert!(gets <= 12, "{gets} requests");
    run(&store, job()).expect("read");
    let gets = counted.take().gets;
    assert!(gets <= 12, "{gets} requests");
}

#[test]
fn bounds_hold_for_requests_of_many_chunks() {
    for (bytes, requests) in [(1, 1), (10_000, 1), (100_000, 3), (u64::MAX, 1), (u64::MAX, 1000)] {
        let (counted, store, job) = in_a_row(AccessProfile::REMOTE.merging(0, 4000), 1000, 100, 7);
        let limits = InFlightLimits::of(&AccessProfile::REMOTE).bytes_in_flight(bytes).requests(requests);
        block_on(run_async_with(&store, job(), limits)).expect("read");
        let gets = counted.take().gets;
        let most = if bytes < 100_000 { 1000 } else { 40 };
        assert!(gets <= most && gets >= 25, "{gets} requests");
    }
}

#[test]
fn wrapped_stores_read_chunks_beside_each_other_by_one_request() {
    fn check<S: StoreBase + AsyncStore>(counted: &Far, store: &S, name: impl Fn(u64) -> String) {
        let asked = (0..50).map(|index| Request::get(key(&name(index)))).collect();
        let expected = (0..50_u8).map(|index| vec![index; 100]).collect();
        block_on(run_async(store, Reading::Some { asked, expected })).expect("read");
        assert_eq!(counted.take().gets, 1, "{store}");
    }
    let (counted, store, _) = in_a_row(AccessProfile::REMOTE, 50, 100, 1);
    let name = |index: u64| format!("a/c/{index}");
    check(&counted, &store, name);
    check(&counted, &ReadOnly(store.clone()), name);
    check(&counted, &Counted::new(store.clone()), name);
    check(&counted, &Prefixed::new(store.clone(), prefix("a/")), |index| format!("c/{index}"));
    check(&counted, &Arc::new(store.clone()), name);
    check(&counted, &Box::new(store.clone()), name);
    check(&counted, &SyncAsAsync::new(Arc::new(store.clone())), name);
    let blocking = AsyncAsSync::new(Arc::new(store.clone()));
    check(&counted, &SyncAsAsync::new(Arc::new(blocking)), name);
    let unblocked: Arc<dyn AsyncStore> = Arc::new(store);
    let asked = (0..50).map(|index| Request::get(key(&name(index)))).collect();
    let expected = (0..50_u8).map(|index| vec![index; 100]).collect();
    let work =
        move |unblocker: &zarr_drive::Unblocker| run(&*unblocker.store(&unblocked), Reading::Some { asked, expected });
    block_on(zarr_drive::unblock(work)).expect("a thread").expect("read");
    assert_eq!(counted.take().gets, 1);
}

#[test]
fn chunks_of_local_files_are_read_together_where_one_job_asks() {
    let files = Arc::new(Counted::new(Altered::new(files()).with_profile(AccessProfile::LOCAL)));
    let (store, values) = store(files.clone(), "a/", FORMS[0], &[24], &some_chunks());
    let asked = (0..24).map(|index| Request::get(key(&format!("a/c/{index}")))).collect();
    let replies = {
        let mut replies = Vec::new();
        zarr_drive::answers(&store, asked, &mut replies).expect("replies");
        replies
    };
    for (index, reply) in replies.into_iter().enumerate() {
        let got = reply.into_got().expect("a get").map(|got| got.part(0).to_vec());
        assert_eq!(got.as_ref(), values.get(&format!("a/c/{index}")), "{index}");
    }
    // One get reads the ranges of one file, and one the whole other file.
    assert_eq!(files.take().gets, 2);
}

#[test]
fn an_error_of_a_range_of_the_file_is_one_of_each_chunk() {
    let failing = Altered::new(files()).with_profile(AccessProfile::LOCAL).getting(|store, key, _| {
        Err(Error::failed(store, Operation::Get, key.as_str(), ErrorKind::Transient, "no line"))
    });
    let (store, _) = store(Arc::new(failing), "a/", FORMS[0], &[24], &some_chunks());
    let keys = [0, 1, 5].map(|index| key(&format!("a/c/{index}")));
    let gets = |store: &VirtualStore| {
        let (ranges, options) = ([ByteRange::Full], GetOptions::default());
        StoreExt::get_many(store, keys.iter().map(|key| ValueGet::new(key, &ranges, &options)).collect()).expect("gets")
    };
    for (key, got) in keys.iter().zip(gets(&store)) {
        let error = got.expect_err("no line");
        assert_eq!((error.key(), error.kind()), (Some(key.as_str()), ErrorKind::Transient));
        assert_eq!(error.to_string(), format!("virtual:x: get {key}"));
        let said = format!("{error:?}");
        assert!(said.contains("memory:: get dir/x.bin") && said.contains("no line"), "{said}");
    }
    // One chunk is behind the end of the file: the other chunk is read.
    let files = Arc::new(Altered::new(files()).with_profile(AccessProfile::LOCAL));
    let store = of_state(files.clone(), None);
    let keys = [0, 1].map(|index| key(&format!("a/c/{index}")));
    let (ranges, options) = ([ByteRange::Full], GetOptions::default());
    let near = |store: &VirtualStore| {
        let got = StoreExt::get_many(store, keys.iter().map(|key| ValueGet::new(key, &ranges, &options)).collect());
        got.expect("gets").into_iter().map(outcome).collect::<Vec<_>>()
    };
    let single = |store: &VirtualStore| {
        keys.iter().map(|key| outcome(StoreExt::get(store, key, &ranges, &options))).collect::<Vec<_>>()
    };
    assert_eq!(near(&store), single(&store));
    assert!(near(&store)[0].is_ok() && near(&store)[1].as_ref().is_err_and(|error| error.contains("found 8192 bytes")));
    // The file is pinned to a state and was replaced, or it was erased.
    let got = files.get(&key("dir/x.bin"), &[], &GetOptions::snapshot()).expect("get").expect("there");
    let pinned = of_state(files.clone(), got.version.map(Snapshot::of_version));
    files.inner().set_all(&key("dir/x.bin"), &[7; 9000]).expect("set");
    assert_eq!(near(&pinned), single(&pinned));
    assert!(near(&pinned)[0].as_ref().is_err_and(|error| error.contains("was replaced")));
    files.inner().erase(&key("dir/x.bin")).expect("erase");
    assert_eq!(near(&store), single(&store));
    assert!(near(&store)[0].as_ref().is_err_and(|error| error.contains("found no file")));
}

#[test]
fn a_fault_between_two_chunks_is_the_fault_of_neither() {
    // Bytes 100 to 200 of the file, which chunk 1 lies in, cannot be read.
    let (_, store, _) = in_a_row(AccessProfile::LOCAL, 3, 100, 1);
    let source = store.source(SourceId(0)).expect("a file");
    let bytes = source.store().get_all(source.key()).expect("get").expect("there");
    let inner = MemoryStore::new();
    inner.set_all(&key("dir/x.bin"), &bytes).expect("set");
    let failing = Altered::new(inner).with_profile(AccessProfile::LOCAL).getting(|store, key, ranges| {
        let is_bad = |range: &ByteRange| range.bounded().is_none_or(|range| range.start < 200 && range.end > 100);
        match ranges.iter().any(is_bad) {
            true => Err(Error::failed(store, Operation::Get, key.as_str(), ErrorKind::Io, "a bad sector")),
            false => store.get(key, ranges, &GetOptions::default()),
        }
    });
    let mut builder = VirtualStore::builder("virtual:x");
    let file = builder.source(Arc::new(failing), key("dir/x.bin"));
    let mut table = ChunkTableBuilder::new(3);
    for index in 0..3 {
        table.set(index, Chunk::Range { source: file, offset: index * 100, length: 100 }).expect("a place");
    }
    builder.chunks(prefix("a/"), FORMS[0], &[3], table.build().expect("a table"));
    let store = builder.build().expect("a store");
    let (ranges, options) = ([ByteRange::Full], GetOptions::default());
    let keys = [0, 2].map(|index| key(&format!("a/c/{index}")));
    let got = StoreExt::get_many(&store, keys.iter().map(|key| ValueGet::new(key, &ranges, &options)).collect());
    for (got, value) in got.expect("gets").into_iter().zip([0, 2]) {
        assert_eq!(got.expect("read").expect("a chunk").part(0), [value; 100]);
    }
}

#[test]
fn no_more_is_read_between_parts_than_the_profile_allows() {
    let (counted, store, _) = in_a_row(AccessProfile::REMOTE.merging(10, 1 << 20), 2, 100_000, 1);
    let keys = [0, 1].map(|index| key(&format!("a/c/{index}")));
    // The get of chunk 0 needs both of its ends, and is made alone. The get of chunk 1 needs its beginning.
    let ranges = [
        [ByteRange::Range(0..10), ByteRange::Range(99_990..100_000)],
        [ByteRange::Range(0..10), ByteRange::Range(5..12)],
    ];
    let options = GetOptions::default();
    let gets = keys.iter().zip(&ranges).map(|(key, ranges)| ValueGet::new(key, ranges, &options)).collect();
    for (got, sizes) in StoreExt::get_many(&store, gets).expect("gets").into_iter().zip([[10, 10], [10, 7]]) {
        let got = got.expect("read").expect("a chunk");
        assert_eq!([got.part(0).len(), got.part(1).len()], sizes);
    }
    assert!(counted.take().bytes_read < 100, "the gap was read");
}

/// Maker that waits until `count` chunks are being made at the same time, for at most 30 seconds.
#[derive(Debug)]
struct Together {
    count: usize,
    making: Mutex<usize>,
    all: Condvar,
}

impl MakeChunk for Together {
    fn make(&self, number: u32) -> Result<Bytes> {
        assert!(number != 7, "a chunk that is not made");
        let mut making = self.making.lock().expect("a lock");
        *making += 1;
        self.all.notify_all();
        let wait = self.all.wait_timeout_while(making, Duration::from_secs(30), |making| *making < self.count);
        let (making, _) = wait.expect("a lock");
        Ok(Bytes::from(if *making < self.count { "alone".to_owned() } else { format!("made {number}") }))
    }
}

#[test]
fn chunks_are_made_at_the_same_time() {
    let (_, files) = far(files(), AccessProfile::REMOTE);
    let made = |count: usize| {
        let mut builder = VirtualStore::builder("virtual:x");
        builder.source(Arc::clone(&files), key("dir/x.bin"));
        let mut table = ChunkTableBuilder::new(64);
        for index in 0..64 {
            table.set(index, Chunk::Made(index as u32 + 100)).expect("a place");
        }
        let maker = Together { count, making: Mutex::new(0), all: Condvar::new() };
        let table = table.build().expect("a table").with_maker(Arc::new(maker));
        builder.chunks(prefix("a/"), FORMS[0], &[64], table);
        builder.build().expect("a store")
    };
    let job = || Reading::Some {
        asked: (0..64).map(|index| Request::get(key(&format!("a/c/{index}")))).collect(),
        expected: (0..64).map(|index| format!("made {}", index + 100).into_bytes()).collect(),
    };
    block_on(run_async(&made(64), job())).expect("read");
    run(&made(64), job()).expect("read");
}

#[test]
fn a_chunk_whose_making_panics_is_an_error() {
    let (_, files) = far(files(), AccessProfile::REMOTE);
    let mut builder = VirtualStore::builder("virtual:x");
    builder.source(files, key("dir/x.bin"));
    let mut table = ChunkTableBuilder::new(2);
    table.set(0, Chunk::Made(7)).expect("a place");
    table.set(1, Chunk::Made(8)).expect("a place");
    let maker = Together { count: 1, making: Mutex::new(0), all: Condvar::new() };
    builder.chunks(prefix("a/"), FORMS[0], &[2], table.build().expect("a table").with_maker(Arc::new(maker)));
    let store = builder.build().expect("a store");
    let get = |name: &str| {
        let (key, options) = (key(name), GetOptions::default());
        block_on(AsyncStoreExt::get(&store, &key, &[ByteRange::Full], &options))
    };
    assert!(matches!(get("a/c/0"), Err(Error::Job(_))));
    assert_eq!(get("a/c/1").expect("made").expect("there").part(0), b"made 8");
}
