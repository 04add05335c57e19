//! Tests that compare virtual stores with maps of their values.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;
use zarr_drive::{SyncAsAsync, block_on};
use zarr_store::testing::{self, Altered};
use zarr_store::{
    AccessProfile, AsyncStore, ByteRange, Bytes, Counted, Error, ErrorKind, GetOptions, Key, MemoryStore, Prefix,
    Result, Snapshot, Store, StoreExt, StoreKind,
};

use crate::{
    Chunk, ChunkKeyForm, ChunkTable, ChunkTableBuilder, MakeChunk, Separator, SourceId, VirtualFault, VirtualStore,
};

mod together;

const FORMS: [ChunkKeyForm; 4] = [
    ChunkKeyForm::Default(Separator::Slash),
    ChunkKeyForm::Default(Separator::Dot),
    ChunkKeyForm::V2(Separator::Slash),
    ChunkKeyForm::V2(Separator::Dot),
];

fn key(text: &str) -> Key {
    Key::new(text).expect("a key")
}

fn prefix(text: &str) -> Prefix {
    Prefix::new(text).expect("a prefix")
}

/// Maker of chunks that contain their number. It counts the chunks that it makes.
#[derive(Debug, Default)]
struct Maker(AtomicUsize);

impl MakeChunk for Maker {
    fn make(&self, number: u32) -> Result<Bytes> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Ok(Bytes::from(format!("made {number}")))
    }
}

/// Returns the bytes of the file `dir/x.bin`, in which ranges of some length at different offsets have different bytes.
fn file_bytes() -> Vec<u8> {
    (0..4096_u32).flat_map(|i| (i as u16).to_le_bytes()).collect()
}

fn files() -> MemoryStore {
    let files = MemoryStore::new();
    files.set_all(&key("dir/x.bin"), &file_bytes()).expect("set");
    files.set_all(&key("whole.bin"), b"a whole file").expect("set");
    files
}

/// Chunk of a test, without the number of its source.
#[derive(Clone, Debug)]
enum Stored {
    Missing,
    Inline(Vec<u8>),
    Range(u64, u64),
    Whole,
    Made(u32),
}

impl Stored {
    fn bytes(&self) -> Option<Vec<u8>> {
        Some(match self {
            Self::Missing => return None,
            Self::Inline(bytes) => bytes.clone(),
            Self::Range(offset, length) => file_bytes()[*offset as usize..(*offset + *length) as usize].to_vec(),
            Self::Whole => b"a whole file".to_vec(),
            Self::Made(number) => format!("made {number}").into_bytes(),
        })
    }
}

/// Returns a store with one array, whose `chunks` are set in the given order, and the map of its values.
fn store(
    files: Arc<dyn Store>,
    at: &str,
    form: ChunkKeyForm,
    counts: &[u64],
    chunks: &[(u64, Stored)],
) -> (VirtualStore, BTreeMap<String, Vec<u8>>) {
    let mut builder = VirtualStore::builder("virtual:x");
    let ranges = builder.source(Arc::clone(&files), key("dir/x.bin"));
    let whole = builder.source(files, key("whole.bin"));
    let mut values = BTreeMap::new();
    let mut table = ChunkTableBuilder::new(counts.iter().product());
    for (index, stored) in chunks {
        let chunk = match stored {
            Stored::Missing => Chunk::Missing,
            Stored::Inline(bytes) => Chunk::Inline(bytes.clone().into()),
            Stored::Range(offset, length) => Chunk::Range { source: ranges, offset: *offset, length: *length },
            Stored::Whole => Chunk::Whole { source: whole },
            Stored::Made(number) => Chunk::Made(*number),
        };
        table.set(*index, chunk).expect("a place");
        if let Some(bytes) = stored.bytes() {
            let mut name = at.to_owned();
            form.write(*index, counts, &mut name);
            values.insert(name, bytes);
        }
    }
    for name in ["zarr.json", "g/zarr.json", "g/a/zarr.json"] {
        builder.document(key(name), Bytes::from(name.to_owned()));
        values.insert(name.to_owned(), name.as_bytes().to_vec());
    }
    let table = table.build().expect("a table").with_maker(Arc::new(Maker::default()));
    builder.chunks(prefix(at), form, counts, table);
    (builder.build().expect("a store"), values)
}

fn some_chunks() -> Vec<(u64, Stored)> {
    let mut chunks: Vec<(u64, Stored)> = (0..6).map(|i| (i, Stored::Range(10 + 100 * i, 40))).collect();
    chunks.extend([
        (7, Stored::Inline(b"inline".to_vec())),
        (9, Stored::Whole),
        (8, Stored::Made(8)),
        (10, Stored::Made(9)),
        (23, Stored::Range(8000, 192)),
        (22, Stored::Inline(Vec::new())),
    ]);
    chunks
}

#[test]
fn keeps_the_contract_of_reading() {
    for form in FORMS {
        for at in ["", "g/a/", "a/"] {
            for counts in [&[24][..], &[4, 6], &[2, 3, 4]] {
                let (store, values) = store(Arc::new(files()), at, form, counts, &some_chunks());
                let values: Vec<(&str, &[u8])> = values.iter().map(|(name, value)| (name.as_str(), &**value)).collect();
                testing::contract_read(&store, &values);
                testing::contract_read_only(&store);
            }
        }
        let (store, values) = store(Arc::new(files()), "a/", form, &[], &[(0, Stored::Range(5, 8))]);
        let values: Vec<(&str, &[u8])> = values.iter().map(|(name, value)| (name.as_str(), &**value)).collect();
        testing::contract_read(&store, &values);
    }
}

fn some_stored() -> impl Strategy<Value = Stored> {
    prop_oneof![
        Just(Stored::Missing),
        prop::collection::vec(any::<u8>(), 0..20).prop_map(Stored::Inline),
        (0..8000_u64, 0..192_u64).prop_map(|(offset, length)| Stored::Range(offset, length)),
        // Ranges that may form runs.
        (0..20_u64).prop_map(|i| Stored::Range(i * 50, 50)),
        Just(Stored::Whole),
        (0..5_u32).prop_map(Stored::Made),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn a_store_is_the_map_of_its_values(
        counts in prop::collection::vec(1..5_u64, 0..4),
        form in prop::sample::select(&FORMS[..]),
        at in prop::sample::select(&["", "a/", "g/a/", "g/"][..]),
        stored in prop::collection::vec(some_stored(), 64),
        order in Just((0..64_usize).collect::<Vec<_>>()).prop_shuffle(),
        shuffled: bool,
        below in prop::sample::select(&["", "a/", "g/", "g/a/", "c/", "a/c/1/", "g/a/0/", "a/c/0/1/", "z/"][..]),
    ) {
        let total = counts.iter().product::<u64>() as usize;
        let mut chunks: Vec<(u64, Stored)> = (0_u64..).zip(stored).take(total).collect();
        if shuffled {
            chunks = order.iter().filter_map(|i| chunks.get(*i).cloned()).collect();
        }
        let (store, values) = store(Arc::new(files()), at, form, &counts, &chunks);
        let model = MemoryStore::new();
        for (name, value) in &values {
            model.set_all(&key(name), value).expect("set");
            let got = store.get_all(&key(name)).expect("get");
            prop_assert_eq!(got.as_deref(), Some(&**value), "{}", name);
        }
        let below = prefix(below);
        prop_assert_eq!(StoreExt::list_dir(&store, &below).expect("list"), model.list_dir(&below).expect("list"));
        prop_assert_eq!(StoreExt::list_prefix(&store, &below).expect("list"), model.list_prefix(&below).expect("list"));
        testing::check_sizes(&store, &below);
        for index in 0..total as u64 {
            let mut name = at.to_owned();
            form.write(index, &counts, &mut name);
            prop_assert_eq!(store.exists(&key(&name)).expect("get"), values.contains_key(&name), "{}", name);
        }
    }
}

/// Returns a table of a million chunks, set in `order`, with the offset and length that `place` returns for each.
fn million(order: impl Iterator<Item = u64>, place: impl Fn(u64) -> (u64, u64)) -> ChunkTable {
    let mut table = ChunkTableBuilder::new(1_000_000);
    for index in order {
        let (offset, length) = place(index);
        table.set(index, Chunk::Range { source: SourceId(7), offset, length }).expect("a place");
    }
    table.build().expect("a table")
}

#[test]
fn a_million_chunks_take_16_megabytes_at_most() {
    let uneven = |i: u64| (i * 5000 + i % 7 * i, 1000 + i * 7919 % 1000);
    let even = |i: u64| (64 + i * 5000, 4000);
    let check = |table: &ChunkTable, place: &dyn Fn(u64) -> (u64, u64)| {
        for index in [0, 1, 2, 500_000, 999_999] {
            let (offset, length) = place(index);
            assert_eq!(table.get(index), Chunk::Range { source: SourceId(7), offset, length });
        }
        assert_eq!(
            (table.get(1_000_000), table.next(999_999), table.next(1_000_000)),
            (Chunk::Missing, Some(999_999), None)
        );
    };
    let table = million(0..1_000_000, uneven);
    assert_eq!(table.memory(), 16_000_000);
    check(&table, &uneven);
    let table = million((0..1_000_000).rev(), uneven);
    assert_eq!(table.memory(), 16_000_000);
    check(&table, &uneven);
    let table = million(0..1_000_000, even);
    assert_eq!(table.memory(), 40);
    check(&table, &even);
    // Chunks in the order of their names, as files of references have them.
    let mut by_name: Vec<u64> = (0..1_000_000).collect();
    by_name.sort_by_key(u64::to_string);
    let table = million(by_name.into_iter(), even);
    assert_eq!(table.memory(), 40);
    check(&table, &even);
}

#[test]
fn few_chunks_of_a_large_array_take_little_memory() {
    let mut table = ChunkTableBuilder::new(1 << 60);
    for index in [1 << 59, 5, 1 << 40] {
        table.set(index, Chunk::Made(index.trailing_zeros())).expect("a place");
    }
    let table = table.build().expect("a table");
    assert_eq!(table.memory(), 120);
    assert_eq!(table.present(0..1 << 60).collect::<Vec<_>>(), [5, 1 << 40, 1 << 59]);
    assert_eq!(table.get(1 << 40), Chunk::Made(40));
    let mut table = ChunkTableBuilder::new(1 << 40);
    table.set_even(0..1 << 40, SourceId(0), 0, 100, 100).expect("a place");
    let table = table.build().expect("a table");
    assert_eq!(
        table.get((1 << 40) - 1),
        Chunk::Range { source: SourceId(0), offset: ((1 << 40) - 1) * 100, length: 100 }
    );
}

#[test]
fn tables_refuse_what_they_cannot_hold() {
    let source = SourceId(0);
    let range = |offset, length| Chunk::Range { source, offset, length };
    let mut table = ChunkTableBuilder::new(4).limit(2);
    assert_eq!(table.set(4, Chunk::Missing), Err(VirtualFault::Index { index: 4, count: 4 }));
    for (offset, length) in [(u64::MAX, 1), (1 << 50, 0), (1, 1 << 50), (0, (1 << 46) - 1), (u64::MAX, u64::MAX)] {
        let fault = table.set(0, range(offset, length)).expect_err("refused");
        assert!(matches!(fault, VirtualFault::TooLarge { index: 0, .. }), "{fault}");
    }
    assert!(matches!(table.set_even(0..4, source, 0, 1, u64::MAX / 2), Err(VirtualFault::TooLarge { .. })));
    assert!(matches!(table.set_even(0..5, source, 0, 1, 1), Err(VirtualFault::Index { .. })));
    table.set(0, range(0, 1)).expect("a place");
    table.set(2, range(9, 2)).expect("a place");
    assert_eq!(table.set(3, range(5, 3)), Err(VirtualFault::TooMany { limit: 2 }));
    let mut table = ChunkTableBuilder::new(4);
    for index in [1, 2, 1] {
        table.set(index, range(index, 1)).expect("a place");
    }
    assert_eq!(table.build().expect_err("twice"), VirtualFault::Twice { index: 1 });
}

#[test]
fn stores_refuse_what_does_not_fit_together() {
    let build = |change: &dyn Fn(&mut crate::VirtualStoreBuilder)| {
        let mut builder = VirtualStore::builder("virtual:x");
        change(&mut builder);
        let error = builder.build().expect_err("refused");
        assert_eq!(error.kind(), ErrorKind::Argument);
        error.to_string()
    };
    let table = |count, chunk: Option<Chunk>| {
        let mut table = ChunkTableBuilder::new(count);
        chunk.into_iter().for_each(|chunk| table.set(0, chunk).expect("a place"));
        table.build().expect("a table")
    };
    let (a, form) = (prefix("a/"), FORMS[0]);
    let range = Chunk::Range { source: SourceId(0), offset: 0, length: 1 };
    let error = build(&|builder| _ = builder.chunks(a.clone(), form, &[2, 2], table(3, None)));
    assert_eq!(error, "virtual:x: array a/: found a table of 3 chunks, expected [2, 2]");
    let error = build(&|builder| _ = builder.chunks(a.clone(), form, &[1 << 40, 1 << 40], table(3, None)));
    assert!(error.contains("expected [1099511627776"), "{error}");
    let error = build(&|builder| _ = builder.chunks(a.clone(), form, &[1], table(1, Some(range.clone()))));
    assert!(error.contains("in a file that is not in the store"), "{error}");
    let error = build(&|builder| _ = builder.chunks(a.clone(), form, &[1], table(1, Some(Chunk::Made(0)))));
    assert!(error.contains("a maker"), "{error}");
    let error = build(&|builder| {
        builder.chunks(a.clone(), form, &[1], table(1, None)).chunks(a.clone(), form, &[1], table(1, None));
    });
    assert!(error.contains("two tables"), "{error}");
    let error = build(&|builder| {
        let inline = table(1, Some(Chunk::Inline(Bytes::new())));
        builder.document(key("a/c/0"), Bytes::new()).chunks(a.clone(), form, &[1], inline);
    });
    assert!(error.contains("key a/c/0: found a chunk"), "{error}");
}

/// Returns a store with the chunks `a/c/0` (40 bytes at offset 10) and `a/c/1` (which ends behind the end of the file). The file is pinned
/// to `state`; `None` for its newest state.
fn of_state(files: Arc<dyn Store>, state: Option<Snapshot>) -> VirtualStore {
    let mut builder = VirtualStore::builder("virtual:x");
    let source = builder.source_in_state(files, key("dir/x.bin"), state);
    let mut table = ChunkTableBuilder::new(2);
    table.set(0, Chunk::Range { source, offset: 10, length: 40 }).expect("a place");
    table.set(1, Chunk::Range { source, offset: 8190, length: 40 }).expect("a place");
    builder.chunks(prefix("a/"), FORMS[0], &[2], table.build().expect("a table"));
    builder.build().expect("a store")
}

#[test]
fn parts_of_a_chunk_are_ranges_of_its_file() {
    let files = Arc::new(Counted::new(files()));
    let store = of_state(files.clone(), None);
    let got =
        store.get_ranges(&key("a/c/0"), &[ByteRange::Range(3..5), ByteRange::Suffix(1)]).expect("get").expect("there");
    assert_eq!((got.part(0), got.part(1), got.size), (&file_bytes()[13..15], &file_bytes()[49..50], Some(40)));
    let counts = files.take();
    assert_eq!((counts.gets, counts.ranges, counts.bytes_read), (1, 2, 3));
    // The table knows the size.
    assert_eq!(store.size(&key("a/c/0")).expect("size"), Some(40));
    assert!(store.get_ranges(&key("a/c/0"), &[ByteRange::Range(0..41)]).expect_err("outside").is_range());
    assert_eq!(files.take().gets, 0);
}

#[test]
fn a_short_file_and_a_missing_one_are_errors() {
    for blocking in [true, false] {
        let get = |store: &VirtualStore, name: &str| {
            let (key, options) = (key(name), GetOptions::default());
            let ranges = [ByteRange::Full];
            if blocking {
                StoreExt::get(store, &key, &ranges, &options)
            } else {
                block_on(zarr_store::AsyncStoreExt::get(store, &key, &ranges, &options))
            }
        };
        let files = Arc::new(files());
        let store = of_state(files.clone(), None);
        let error = get(&store, "a/c/1").expect_err("short");
        assert_eq!(
            error.to_string(),
            "virtual:x: key a/c/1: found 8192 bytes in memory:dir/x.bin, expected bytes 8190..8230 for the chunk"
        );
        assert_eq!(error.kind(), ErrorKind::Invalid);
        // A get of no ranges asks for the file if it asks for a version, and then finds that the file is too short.
        let size = StoreExt::get(&store, &key("a/c/1"), &[], &GetOptions::snapshot());
        assert!(size.expect_err("short").to_string().contains("found 8192 bytes"));
        files.erase(&key("dir/x.bin")).expect("erase");
        let error = get(&store, "a/c/0").expect_err("missing");
        assert_eq!(error.to_string(), "virtual:x: key a/c/0: found no file memory:dir/x.bin, in which the chunk lies");
    }
}

#[test]
fn a_chunk_has_the_version_of_its_file() {
    let files = Arc::new(files());
    let store = of_state(files.clone(), None);
    let chunk = key("a/c/0");
    let first =
        StoreExt::get(&store, &chunk, &[ByteRange::Full], &GetOptions::snapshot()).expect("get").expect("there");
    let version = first.version.clone().expect("a version");
    let unchanged = GetOptions::if_none_match(version);
    assert!(StoreExt::get(&store, &chunk, &[ByteRange::Full], &unchanged).expect("get").expect("there").is_unchanged());
    // A store in memory holds the value of a snapshot; a version alone may name a value that is gone.
    let same = GetOptions::if_match(first.version.clone().map(Snapshot::of_version));
    files.set_all(&key("dir/x.bin"), &[7; 100]).expect("set");
    let changed = StoreExt::get(&store, &chunk, &[ByteRange::Full], &unchanged).expect("get").expect("there");
    assert_eq!((changed.is_unchanged(), changed.part(0)), (false, &[7; 40][..]));
    for ranges in [&[ByteRange::Full][..], &[ByteRange::Range(50..60)], &[]] {
        let error = StoreExt::get(&store, &chunk, ranges, &same).expect_err("another state");
        assert!(error.is_precondition(), "{error}");
        assert_eq!((error.store(), error.key()), (Some("virtual:x"), Some("a/c/0")));
    }
}

#[test]
fn a_file_in_one_state_is_read_in_no_other() {
    let files = Arc::new(files());
    let got = files.get(&key("dir/x.bin"), &[], &GetOptions::snapshot()).expect("get").expect("there");
    let state = got.version.clone().map(Snapshot::of_version);
    let store = of_state(files.clone(), state);
    let chunk = key("a/c/0");
    let fetched =
        StoreExt::get(&store, &chunk, &[ByteRange::Full], &GetOptions::snapshot()).expect("get").expect("there");
    assert_eq!(fetched.version, got.version);
    files.set_all(&key("dir/x.bin"), &[7; 100]).expect("set");
    for _ in 0..2 {
        let error = store.get_all(&chunk).expect_err("replaced");
        let text = error.to_string();
        assert!(
            text.starts_with("virtual:x: memory:dir/x.bin was replaced after it was opened: found version "),
            "{text}"
        );
        // A driver does not try again.
        assert!(matches!(error, Error::Format { .. }) && !error.is_precondition());
    }
    files.erase(&key("dir/x.bin")).expect("erase");
    assert!(store.get_all(&chunk).expect_err("gone").to_string().contains("was replaced"));
}

#[test]
fn a_store_is_as_far_away_as_its_files() {
    let remote = Altered::new(files()).with_profile(AccessProfile::REMOTE);
    let (store, _) = store(Arc::new(files()), "a/", FORMS[0], &[24], &some_chunks());
    assert_eq!(Store::access_profile(&store).kind, StoreKind::Memory);
    assert!(store.as_async().is_none());
    let far = zarr_drive::AsyncAsSync::new(Arc::new(SyncAsAsync::new(Arc::new(remote))));
    let (far, values) = self::store(Arc::new(far), "a/", FORMS[0], &[24], &some_chunks());
    assert_eq!(Store::access_profile(&far).kind, StoreKind::Remote);
    let not_blocking = far.as_async().expect("a store that does not block");
    for (name, value) in &values {
        let got = block_on(zarr_store::AsyncStoreExt::get(
            &not_blocking,
            &key(name),
            &[ByteRange::Full],
            &GetOptions::default(),
        ));
        assert_eq!(got.expect("get").expect("there").part(0), &**value, "{name}");
    }
    let listed = block_on(zarr_store::AsyncStoreExt::list_prefix(&not_blocking, &Prefix::root())).expect("list");
    assert_eq!(listed, values.keys().map(|name| key(name)).collect::<Vec<_>>());
}

/// Returns a store of arrays at the given prefixes, each with one chunk if its flag is set, and without chunks otherwise.
fn of_arrays<'a>(arrays: impl Iterator<Item = (&'a str, bool)>) -> VirtualStore {
    let mut builder = VirtualStore::builder("arrays");
    for (at, has_chunk) in arrays {
        let mut table = ChunkTableBuilder::new(1);
        if has_chunk {
            table.set(0, Chunk::Inline(Bytes::from_static(b"x"))).expect("a chunk");
        }
        let form = ChunkKeyForm::Default(Separator::Slash);
        builder.chunks(prefix(at), form, &[1], table.build().expect("a table"));
    }
    builder.build().expect("a store")
}

#[test]
fn arrays_beside_and_below_each_other_are_listed_as_their_keys_say() {
    let arrays = ["", "a/", "a/b/", "a/b-c/", "a/b0/", "a/b/c/d/", "e/f/", "e/f/g/", "h/"];
    let store = of_arrays(arrays.iter().map(|at| (*at, !["e/f/", "h/"].contains(at))));
    let model = MemoryStore::new();
    for at in arrays.iter().filter(|at| !["e/f/", "h/"].contains(*at)) {
        model.set_all(&key(&format!("{at}c/0")), b"x").expect("set");
    }
    for at in ["", "a/", "a/b/", "a/b/c/", "a/b/c/d/", "a/b/c/d/c/", "a/b0/", "e/", "e/f/", "e/f/g/", "h/", "b/", "c/"]
    {
        let at = prefix(at);
        let (found, expected) = (StoreExt::list_dir(&store, &at), StoreExt::list_dir(&model, &at));
        assert_eq!(found.expect("list"), expected.expect("list"), "{at}");
        let (found, expected) = (StoreExt::list_prefix(&store, &at), StoreExt::list_prefix(&model, &at));
        assert_eq!(found.expect("list"), expected.expect("list"), "{at}");
    }
}

#[test]
fn lists_below_an_array_take_no_longer_where_there_are_more_arrays() {
    let spent = |count: u32| {
        let names: Vec<String> = (0..count).map(|at| format!("g{at}/a/")).collect();
        let store = of_arrays(names.iter().map(|at| (at.as_str(), true)));
        let begin = std::time::Instant::now();
        for at in names.iter().cycle().take(2000) {
            assert_eq!(StoreExt::list_dir(&store, &prefix(at)).expect("list").prefixes.len(), 1);
            assert_eq!(StoreExt::list_prefix(&store, &prefix(at)).expect("list").len(), 1);
        }
        begin.elapsed()
    };
    let (few, many) = (spent(10), spent(20_000));
    assert!(many < few * 50, "{many:?} and {few:?}");
}

#[test]
fn warnings_are_given_once() {
    let mut builder = VirtualStore::builder("virtual:x");
    builder.warning("one").warning("two");
    let store = builder.build().expect("a store");
    assert_eq!(Store::take_warnings(&store), ["one", "two"]);
    assert!(Store::take_warnings(&store).is_empty());
}
