//! The plan of a read has the requests that the read makes.

use proptest::prelude::*;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex};
use zarr::prelude::*;
use zarr::store::{
    AccessProfile, Answer, AsyncAsSync, Below, ByteRange, Call, GetInto, Key, MemoryStore, StoreBase, SyncAsAsync,
    Wrapper, block_on,
};
use zarr::{Selection, Store};

type Log = Arc<Mutex<Vec<(String, String)>>>;

/// A store that notes the gets to it, with an access profile of the test's choice.
#[derive(Debug)]
struct Noting<S> {
    store: S,
    profile: AccessProfile,
    log: Log,
}

fn note(log: &Log, key: &Key, ranges: &[ByteRange]) {
    log.lock().unwrap().push((key.to_string(), text(ranges)));
}

fn text(ranges: &[ByteRange]) -> String {
    format!("{ranges:?}")
}

impl<S: fmt::Display> fmt::Display for Noting<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.store.fmt(f)
    }
}

impl<S: StoreBase> Wrapper for Noting<S> {
    type Below = S;
    type Over<T: StoreBase + 'static> = Noting<T>;

    fn below(&self) -> &S {
        &self.store
    }

    fn over<T: StoreBase + 'static>(&self, below: T) -> Noting<T> {
        Noting { store: below, profile: self.profile, log: Arc::clone(&self.log) }
    }

    async fn answer<'a, B: Below + 'a>(&'a self, below: B, call: Call<'a>) -> zarr_store::Result<Answer> {
        match &call {
            Call::Get { key, ranges, .. } => note(&self.log, key, ranges),
            Call::GetInto { .. } => return Ok(Answer::GotInto(GetInto::Declined)),
            _ => {}
        }
        below.call(call).await
    }

    fn copied<'k>(&self, _: &'k Key) -> Option<Cow<'k, Key>> {
        None
    }

    fn parent_over(&self, parent: Arc<dyn Store>) -> Option<Arc<dyn Store>> {
        Some(parent)
    }

    fn profile_over(&self, _: AccessProfile) -> AccessProfile {
        self.profile
    }
}

/// How requests are made: in memory; one after another, with ranges merged; at the same time, large values in parts.
fn profiles() -> [(AccessProfile, bool); 4] {
    let remote = AccessProfile::REMOTE.merging(64, 600);
    [
        (AccessProfile::MEMORY, false),
        (AccessProfile::LOCAL.read_size(None).merging(40, 500), false),
        (remote, false),
        (remote.part_size(Some(150)), true),
    ]
}

/// Arrays of 40 x 30 numbers of 16 bits: chunks that are raw, compressed, transposed; shards, and shards in shards.
fn arrays() -> Vec<NewArray> {
    let new = || NewArray::new(&[40, 30], "int16");
    let sharding = |shape: &str, codecs: &str| {
        format!(
            r#"[{{"name": "sharding_indexed", "configuration": {{"chunk_shape": {shape}, "codecs": {codecs},
            "index_codecs": [{{"name": "bytes", "configuration": {{"endian": "little"}}}}, {{"name": "crc32c"}}]}}}}]"#
        )
    };
    let bytes = r#"[{"name": "bytes", "configuration": {"endian": "little"}}]"#;
    let turned = r#"[{"name": "transpose", "configuration": {"order": [1, 0]}}, {"name": "bytes", "configuration": {"endian": "big"}}]"#;
    vec![
        new().chunks(&[8, 7]).codecs("bytes").unwrap(),
        new().chunks(&[40, 30]).codecs("bytes").unwrap(),
        new().chunks(&[9, 11]).codecs("zstd").unwrap(),
        new().chunks(&[16, 16]).codecs(turned).unwrap(),
        new().chunks(&[4, 5]).shards(&[16, 15]),
        new().chunks(&[20, 20]).codecs(&*sharding("[5, 4]", bytes)).unwrap(),
        new().chunks(&[32, 32]).codecs(&*sharding("[16, 16]", &sharding("[4, 4]", bytes))).unwrap(),
    ]
}

fn selections() -> impl Strategy<Value = Selection> {
    let axis = |len: u64| {
        (0..len, 1..=len, 1..4u64).prop_map(move |(start, size, step)| (start, (start + size).min(len), step))
    };
    let text = |(start, end, step): (u64, u64, u64)| format!("{start}:{end}:{step}");
    let point = |len: i64| prop::collection::vec(0..len, 1..12);
    prop_oneof![
        4 => (axis(40), axis(30)).prop_map(move |(a, b)| format!("{}, {}", text(a), text(b)).parse().unwrap()),
        1 => (axis(40), 0..30u64).prop_map(move |(a, b)| format!("{}, {b}", text(a)).parse().unwrap()),
        1 => Just("...".parse().unwrap()),
        1 => Just("::-1, 29:3:-2".parse().unwrap()),
        2 => (point(40), axis(30)).prop_map(move |(a, b)| format!("{a:?}, {}", text(b)).parse().unwrap()),
        2 => prop::collection::vec((0..40i64, 0..30i64), 1..20).prop_map(|points| {
            let (a, b) = points.into_iter().unzip();
            Selection::coordinates(vec![a, b])
        }),
    ]
}

fn counted(requests: impl IntoIterator<Item = (String, String)>) -> BTreeMap<(String, String), usize> {
    let mut counts = BTreeMap::new();
    requests.into_iter().for_each(|request| *counts.entry(request).or_insert(0) += 1);
    counts
}

/// An array with values that are written to it, and the log of the gets to its store.
fn written(
    new: NewArray,
    (profile, waits): (AccessProfile, bool),
    write: impl FnOnce(&Array),
) -> (Arc<dyn Store>, Array, Log) {
    let mut memory: Arc<dyn Store> = Arc::new(MemoryStore::new());
    if waits {
        memory = Arc::new(AsyncAsSync::new(Arc::new(SyncAsAsync::new(memory))));
    }
    let log = Log::default();
    let store: Arc<dyn Store> = Arc::new(Noting { store: memory, profile, log: Arc::clone(&log) });
    write(&zarr::create((&store, "/a")).array(new).unwrap());
    let array = zarr::open((&store, "/a")).array().unwrap();
    log.lock().unwrap().clear();
    (store, array, log)
}

/// An array with values in half of its chunks, and the log of the gets to its store.
fn filled(new: NewArray, profile: AccessProfile, waits: bool) -> (Arc<dyn Store>, Array, Log) {
    written(new, (profile, waits), |array| {
        array.write(.., &(1..=1200).collect::<Vec<i16>>()).unwrap();
        array.write((8..20, 3..25), &[0_i16; 12 * 22]).unwrap();
    })
}

/// Checks that a read makes the requests of its plan.
fn check(array: &Array, log: &Log, selection: &Selection) -> Result<(), TestCaseError> {
    let plan = array.plan(selection).unwrap();
    let fetched = counted(log.lock().unwrap().drain(..));
    // By a handle that has kept no index of an earlier read.
    array.with(array.options().clone()).unwrap().read_data(selection).unwrap();
    let mut made = counted(log.lock().unwrap().drain(..));
    let of = |certain: bool| {
        let requests = plan.requests.iter().filter(move |request| request.is_certain == certain);
        counted(requests.map(|request| (request.key.to_string(), text(&request.ranges))))
    };
    let (certain, mut possible) = (of(true), of(false));
    possible.extend(certain.iter().map(|(request, count)| (request.clone(), *count)));
    if let Some(key) = &plan.if_missing {
        made.retain(|(of, _), _| of != key.as_str());
    }
    // All that is certain is asked for, and nothing that was not planned.
    for (request, count) in &certain {
        prop_assert_eq!(made.get(request), Some(count), "{:?}: {:?} of {:?}", selection, request, made);
    }
    // The rest of a value whose size was not known comes in parts.
    let rest = |request: &(String, String)| {
        let start: usize = request.1.strip_prefix("[Range(")?.split("..").next()?.parse().ok()?;
        possible.keys().find(|(key, ranges)| *key == request.0 && ranges == "[From(150)]" && start >= 150)
    };
    for (request, count) in &made {
        let planned = if possible.contains_key(request) { Some(request) } else { rest(request) };
        let planned = planned.and_then(|request| possible.get(request));
        prop_assert!(planned >= Some(count), "{:?}: {:?} is not in {:?}", selection, request, possible);
    }
    // The plan itself got indexes of shards alone.
    let is_made = fetched.keys().all(|request| made.contains_key(request));
    prop_assert!(is_made, "{:?}: {:?} is not in {:?}", selection, fetched, made);
    prop_assert!(array.is_sharded() || fetched.is_empty(), "{:?}", fetched);
    let certain = plan.requests.iter().filter(|request| request.is_certain);
    prop_assert_eq!(plan.request_count, certain.clone().count() as u64);
    prop_assert_eq!(plan.rounds, certain.map(|request| request.round + 1).max().unwrap_or(0));
    Ok(())
}

#[test]
fn plans_have_the_requests_of_reads() {
    let arrays: Vec<_> = arrays()
        .into_iter()
        .flat_map(|new| profiles().map(|(profile, waits)| filled(new.clone(), profile, waits)))
        .collect();
    proptest!(ProptestConfig::with_cases(60), |(selection in selections())| {
        for (_, array, log) in &arrays {
            check(array, log, &selection)?;
        }
    });
}

#[test]
fn plans_of_texts_have_the_requests_of_reads() {
    let new = || NewArray::new(&[40, 30], "string").codecs(r#"["vlen-utf8"]"#).unwrap();
    let texts: Vec<String> = (0..1200).map(|at| "t".repeat(at % 23)).collect();
    let write = |array: &Array| {
        array.write(.., &texts).unwrap();
        array.erase_chunk(&[1, 0]).unwrap();
    };
    let shards = NewArray::new(&[40, 30], "string").chunks(&[4, 5]).shards(&[16, 15]);
    let arrays = [new().chunks(&[8, 7]), new().chunks(&[20, 30]), shards];
    let arrays = arrays.into_iter().flat_map(|new| profiles().map(|profile| written(new.clone(), profile, write)));
    let arrays: Vec<_> = arrays.collect();
    proptest!(ProptestConfig::with_cases(20), |(selection in selections())| {
        for (_, array, log) in &arrays {
            check(array, log, &selection)?;
            let plan = array.plan(&selection).unwrap();
            prop_assert_eq!((plan.selected_bytes, plan.decoded_bytes), (None, None));
            log.lock().unwrap().clear();
        }
    });
}

#[test]
fn plans_of_arrays_without_axes() {
    for profile in profiles() {
        for (is_stored, new) in [true, false].map(|it| (it, NewArray::new(&[], "int16").codecs("bytes").unwrap())) {
            let write = |array: &Array| {
                if is_stored {
                    array.write(.., &[7_i16]).unwrap()
                }
            };
            let (_, array, log) = written(new, profile, write);
            check(&array, &log, &Selection::all()).unwrap();
            let plan = array.plan(..).unwrap();
            assert_eq!((plan.chunks, plan.request_count, plan.rounds), (1, 1, 1));
            assert_eq!((plan.selected_bytes, plan.decoded_bytes, plan.if_missing.is_some()), (Some(2), Some(2), true));
        }
    }
}

/// Large chunks of files come in slabs, one after another.
#[test]
fn plans_of_slabs_have_the_requests_of_reads() {
    let files = (AccessProfile::LOCAL.read_size(Some(100)), false);
    let new = || NewArray::new(&[40, 30], "int16").codecs("bytes").unwrap();
    let (_, whole, log) = filled(new().chunks(&[40, 30]), files.0, files.1);
    let plan = whole.plan((3..30, 2..20)).unwrap();
    assert_eq!((plan.chunks, plan.decoded_bytes), (1, Some(27 * 18 * 2)));
    assert!(plan.rounds > 1 && plan.requests.iter().all(|request| request.is_certain), "{plan:?}");
    let (_, parts, parts_log) = filled(new().chunks(&[20, 30]), files.0, files.1);
    proptest!(ProptestConfig::with_cases(40), |(selection in selections())| {
        check(&whole, &log, &selection)?;
        check(&parts, &parts_log, &selection)?;
    });
}

/// The plan of an array with a cache is the one without, whatever the cache has, and leaves nothing in it.
#[test]
fn plans_do_not_look_into_caches() {
    for new in arrays() {
        let (_, array, _) = filled(new, AccessProfile::MEMORY, false);
        let cache = ChunkCache::new(1 << 20);
        let cached = array.with(array.options().clone().cache(cache.clone())).unwrap();
        for is_read in [false, true] {
            for selection in ["...", "3:30:2, 7", "[1, 30], 3:"] {
                let selection: Selection = selection.parse().unwrap();
                let (a, b) = (array.plan(&selection).unwrap(), cached.plan(&selection).unwrap());
                assert_eq!((a.requests, a.rounds, a.decoded_bytes), (b.requests, b.rounds, b.decoded_bytes));
            }
            let counts = cache.counts();
            assert_eq!((cache.bytes() > 0, counts.hits + counts.misses > 0), (is_read, is_read));
            cached.read::<i16>(..).unwrap();
        }
    }
}

#[test]
fn rounds_and_bytes_are_those_of_the_encoding() {
    let [.., (remote, _)] = profiles();
    let cost = |new: NewArray, profile: AccessProfile, selection: &str| {
        let (_, array, _) = filled(new, profile, true);
        let selection: Selection = selection.parse().unwrap();
        array.plan(&selection).unwrap()
    };
    let [raw, whole, zstd, _, _, shards, nested] = <[NewArray; 7]>::try_from(arrays()).unwrap();
    let plan = cost(raw, remote, "0, ...");
    assert_eq!((plan.chunks, plan.request_count, plan.rounds, plan.range_bytes), (5, 5, 1, 60));
    assert_eq!((plan.selected_bytes, plan.decoded_bytes, plan.unsized_requests), (Some(60), Some(60), 0));
    // The first part of a value says how many there are.
    let plan = cost(whole, remote, "...");
    assert_eq!((plan.chunks, plan.request_count, plan.rounds, plan.unsized_requests), (1, 1, 1, 1));
    let rest: Vec<_> = plan.requests.iter().map(|request| (request.round, request.is_certain)).collect();
    assert_eq!(rest, [(0, true), (1, false)]);
    let plan = cost(zstd, AccessProfile::REMOTE, "0, 0");
    assert_eq!((plan.request_count, plan.unsized_requests, plan.decoded_bytes), (1, 1, Some(9 * 11 * 2)));
    assert!(plan.if_missing.is_some());
    let plan = cost(shards, AccessProfile::REMOTE, "0, 0");
    // The index of 20 entries, with its checksum; the element.
    assert_eq!((plan.request_count, plan.rounds, plan.range_bytes), (2, 2, 20 * 16 + 4 + 2));
    assert_eq!(plan.decoded_bytes, Some(2));
    let plan = cost(nested, AccessProfile::REMOTE, "39, 29");
    assert_eq!((plan.request_count, plan.rounds, plan.chunks), (3, 3, 1));
}

#[test]
fn a_missing_shard_is_known_and_a_selection_outside_is_an_error() {
    let (_, array, _) = filled(arrays().swap_remove(4), AccessProfile::MEMORY, false);
    array.erase_chunk(&[0, 0]).unwrap();
    let plan = array.plan((0, 0)).unwrap();
    let keys: Vec<_> = plan.requests.iter().map(|request| request.key.as_str()).collect();
    assert_eq!(keys, ["a/c/0/0"]);
    assert_eq!((plan.rounds, plan.decoded_bytes), (1, Some(0)));
    assert_eq!(plan.if_missing.map(|key| key.to_string()).as_deref(), Some("a/zarr.json"));
    assert_eq!(array.plan((40, 0)).unwrap_err().kind(), ErrorKind::Argument);
    let plan = array.plan((0..0, ..)).unwrap();
    assert_eq!((plan.request_count, plan.rounds, plan.chunks), (0, 0, 0));
}

/// A plan holds no elements: that of an array of 400 TB takes no more than its requests.
#[test]
fn plans_of_large_arrays_take_little() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let new = NewArray::new(&[100_000_000, 1_000_000], "float32").chunks(&[1000, 1_000_000]).codecs("zstd").unwrap();
    let array = zarr::create((&store, "/a")).array(new).unwrap();
    let plan = array.plan(..).unwrap();
    assert_eq!((plan.chunks, plan.selected_bytes), (100_000, Some(400_000_000_000_000)));
}

#[test]
fn arrays_that_do_not_block_have_the_same_plan() {
    let [.., (profile, _)] = profiles();
    for new in arrays() {
        let (store, array, _) = filled(new, profile, true);
        let waiting = store.as_async().unwrap();
        let other = block_on(async { zarr::open((&waiting, "/a")).array().await }).unwrap();
        for selection in ["...", "3:30:2, 7", "[1, 30], 3:"] {
            let selection: Selection = selection.parse().unwrap();
            let (a, b) = (array.plan(&selection).unwrap(), block_on(other.plan(&selection)).unwrap());
            assert_eq!((a.requests, a.rounds, a.decoded_bytes), (b.requests, b.rounds, b.decoded_bytes));
        }
    }
}
