//! Chunks that others replace or erase while they are read: states do not mix, and bytes of an older state are not
//! taken for the stored ones.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use zarr::store::{
    AccessProfile, AsyncStore, FilesystemStore, Key, MemoryStore, Store, StoreExt, SyncAsAsync, block_on,
};
use zarr_array::{Array, AsyncArray, ChunkCache, ErrorKind, NewArray, Options};
use zarr_grid::Selection;
use zarr_store::testing::Altered;

/// The states of a chunk, `None` if it is not stored: one for each get of it.
#[derive(Clone)]
enum States {
    /// The states one after the other, the last one for all further gets.
    Once(Vec<Option<Vec<u8>>>),
    /// The states one after the other, again and again from the first one on.
    ForEver(Vec<Option<Vec<u8>>>),
}

impl States {
    fn get(&self, number: usize) -> &Option<Vec<u8>> {
        match self {
            Self::Once(states) => &states[number.min(states.len() - 1)],
            Self::ForEver(states) => &states[number % states.len()],
        }
    }
}

use States::{ForEver, Once};

/// A store in which the chunk `a/c/0` changes between gets.
fn changing<S: Store>(store: S, states: States) -> Altered<S> {
    let gets = AtomicUsize::new(0);
    Altered::new(store).getting(move |store, key, ranges| {
        if key.as_str() == "a/c/0" {
            match states.get(gets.fetch_add(1, Ordering::Relaxed)) {
                None => store.erase(key)?,
                Some(value) => {
                    if store.get_all(key)?.is_none_or(|stored| stored != value) {
                        store.set_all(key, value)?;
                    }
                }
            }
        }
        store.get_ranges(key, ranges)
    })
}

/// An array of one chunk of `len` bytes.
fn one_chunk(len: u64, codecs: &str) -> NewArray {
    NewArray::new(&[len], "uint8").chunks(&[len]).codecs(codecs).unwrap()
}

/// An array of one chunk in a store in memory that is read in slabs, as files are.
fn array(len: u64, codecs: &str, states: States) -> Array {
    let slabs = AccessProfile::LOCAL.read_size(Some(64));
    let store: Arc<dyn Store> = Arc::new(changing(MemoryStore::new(), states).with_profile(slabs));
    zarr::create((&store, "/a")).array(one_chunk(len, codecs)).unwrap()
}

fn check_fails(read: zarr_array::Result<Vec<u8>>) {
    let error = read.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict);
    assert!(error.message().contains("replaced each of the 1000 times that it was read"), "{error}");
    assert_eq!(error.location().key.as_deref(), Some("a/c/0"));
}

const BYTES: &str = r#"["bytes"]"#;

#[test]
fn a_chunk_that_is_read_at_once_is_whole() {
    for wanted in [1024, 64] {
        let array = array(1024, BYTES, Once(vec![Some(vec![7; 1024]), None]));
        assert_eq!(array.read::<u8>(..wanted).unwrap(), vec![7; wanted as usize]);
    }
}

#[test]
fn an_erased_chunk_is_read_again() {
    let there = || Some(vec![7; 1024]);
    assert_eq!(array(1024, BYTES, Once(vec![there(), None])).read::<u8>(..1000_u64).unwrap(), [0; 1000]);
    check_fails(array(1024, BYTES, ForEver(vec![there(), None])).read(..1000_u64));
}

#[test]
fn an_erased_chunk_of_a_wrong_size_is_read_again() {
    for stored in [1000, 1025] {
        let there = || Some(vec![7; stored]);
        assert_eq!(array(1024, BYTES, Once(vec![there(), None])).read::<u8>(..).unwrap(), [0; 1024]);
        check_fails(array(1024, BYTES, ForEver(vec![there(), None])).read(..));
    }
}

/// The codecs of a shard with inner chunks of `inner` bytes.
fn sharded(inner: u64) -> String {
    format!(
        r#"[{{"name": "sharding_indexed", "configuration": {{"chunk_shape": [{inner}], "index_location": "end",
        "index_codecs": [{{"name": "bytes", "configuration": {{"endian": "little"}}}}], "codecs": ["bytes"]}}}}]"#
    )
}

/// Shards that hold nothing but ones, and nothing but twos.
fn two_states(len: u64, codecs: &str) -> [Option<Vec<u8>>; 2] {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let array = zarr::create((&store, "/a")).array(one_chunk(len, codecs)).unwrap();
    [1u8, 2].map(|byte| {
        array.write(.., &vec![byte; len as usize]).unwrap();
        array.read_chunk_bytes(&[0]).unwrap().map(|bytes| bytes.to_vec())
    })
}

#[test]
fn a_replaced_shard_is_read_again() {
    let codecs = sharded(16);
    let [old, new] = two_states(64, &codecs);
    let once = || array(64, &codecs, Once(vec![old.clone(), new.clone()]));
    assert_eq!(once().read::<u8>(..40_u64).unwrap(), [2; 40]);
    assert_eq!(once().read::<u8>(3_u64).unwrap(), [2]);
    assert_eq!(once().read::<u8>(Selection::coordinates(vec![vec![60, 1, 2]])).unwrap(), [2; 3]);
    let options = Options::default().cache(ChunkCache::new(1 << 20));
    assert_eq!(once().with(options).unwrap().read::<u8>(..40_u64).unwrap(), [2; 40]);

    let erased = || array(64, &codecs, Once(vec![old.clone(), None]));
    assert_eq!(erased().read::<u8>(..40_u64).unwrap(), [0; 40]);
    assert_eq!(erased().read::<u8>(Selection::coordinates(vec![vec![60, 1, 2]])).unwrap(), [0; 3]);

    let again = || array(64, &codecs, ForEver(vec![old.clone(), new.clone()]));
    check_fails(again().read(..40_u64));
    check_fails(array(64, &codecs, ForEver(vec![old.clone(), None])).read(..40_u64));
}

#[test]
fn a_replaced_shard_is_read_again_without_blocking() {
    let codecs = sharded(16);
    let [old, new] = two_states(64, &codecs);
    let read = |states| {
        let store: Arc<dyn AsyncStore> = Arc::new(SyncAsAsync::new(Arc::new(changing(MemoryStore::new(), states))));
        let array =
            block_on(AsyncArray::create(&store, "/a", one_chunk(64, &codecs), &zarr::registry::default())).unwrap();
        block_on(array.read::<u8>(..40_u64))
    };
    assert_eq!(read(Once(vec![old.clone(), new.clone()])).unwrap(), [2; 40]);
    check_fails(read(ForEver(vec![old, new])));
}

/// An array of chunks that are read in parts, in a store in which one of them is replaced after the first part of it was read.
fn among_others(counts: &Arc<AtomicUsize>) -> Array {
    let slabs = AccessProfile::LOCAL.read_size(Some(64));
    let gets = Arc::clone(counts);
    let store = Altered::new(MemoryStore::new()).getting(move |store, key, ranges| {
        if key.as_str().starts_with("a/c/") {
            gets.fetch_add(1, Ordering::Relaxed);
        }
        let found = store.get_ranges(key, ranges);
        if key.as_str() == "a/c/5/0" && store.get_all(key)?.is_some_and(|stored| stored[0] == 1) {
            store.set_all(key, &[2; 256])?;
        }
        found
    });
    let store: Arc<dyn Store> = Arc::new(store.with_profile(slabs));
    let new = NewArray::new(&[40, 64], "uint8").chunks(&[4, 64]).codecs(BYTES).unwrap();
    let array = zarr::create((&store, "/a")).array(new).unwrap();
    array.write(.., &[1_u8; 40 * 64]).unwrap();
    array
}

#[test]
fn only_the_replaced_chunk_is_read_again() {
    let gets = Arc::new(AtomicUsize::new(0));
    let found = among_others(&gets).read::<u8>((.., 1..)).unwrap();
    let rows: Vec<usize> = (0..40).filter(|row| found[row * 63..][..63] == [2; 63]).collect();
    assert_eq!(rows, [20, 21, 22, 23]);
    assert_eq!(found.iter().filter(|&&byte| byte == 1).count(), 36 * 63);
    let read = gets.swap(0, Ordering::Relaxed);
    let quiet = among_others(&gets);
    quiet.read::<u8>((.., 1..)).unwrap();
    gets.store(0, Ordering::Relaxed);
    quiet.read::<u8>((.., 1..)).unwrap();
    let due = gets.load(Ordering::Relaxed);
    assert!(due >= 20 && read <= due + due / 10 + 1, "{read} gets of chunks, {due} without another writer");
}

/// A shard that is replaced by a shorter one has no bytes where the old index says.
#[test]
fn a_shortened_shard_is_read_again() {
    let codecs = sharded(16);
    let [old, _] = two_states(64, &codecs);
    let shorter = {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let array = zarr::create((&store, "/a")).array(one_chunk(64, &codecs)).unwrap();
        array.write(..16_u64, &[3_u8; 16]).unwrap();
        array.read_chunk_bytes(&[0]).unwrap().map(|bytes| bytes.to_vec())
    };
    let array = array(64, &codecs, Once(vec![old, shorter]));
    let expected: Vec<u8> = (0..40).map(|at| if at < 16 { 3 } else { 0 }).collect();
    assert_eq!(array.read::<u8>(..40_u64).unwrap(), expected);
}

#[test]
fn a_file_that_is_replaced_is_read_as_it_was() {
    let [old, new] = two_states(64, &sharded(16));
    let folder = tempfile::tempdir().unwrap();
    let store: Arc<dyn Store> = Arc::new(FilesystemStore::create(folder.path()).unwrap());
    let array = zarr::create((&store, "/a")).array(one_chunk(64, &sharded(16))).unwrap();
    let key = Key::new("a/c/0").unwrap();
    let [old, new] = [old.unwrap(), new.unwrap()];
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let (done, store, key) = (&done, &store, &key);
        scope.spawn(move || {
            while !done.load(Ordering::Relaxed) {
                store.set_all(key, &old).unwrap();
                store.set_all(key, &new).unwrap();
            }
        });
        for _ in 0..2000 {
            let found = array.read::<u8>(..).unwrap();
            assert!(found.iter().all(|byte| *byte == found[0]), "{found:?}");
        }
        done.store(true, Ordering::Relaxed);
    });
}
