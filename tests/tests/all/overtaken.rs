//! Chunks that others replace or erase while they are read: states do not mix, and what has come of one is not taken for what
//! is stored.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use zarr_array::{Array, AsyncArray, ChunkCache, ErrorKind, NewArray, Options};
use zarr_grid::Selection;
use zarr_store::testing::Altered;
use zarr_store::{AsyncStore, Coalesce, FilesystemStore, MemoryStore, Store, StoreExt, SyncAsAsync, block_on};

/// The states of a chunk, `None` if it is not stored: one for each get of it, the last one for all further.
type States = Vec<Option<Vec<u8>>>;

/// A store in which the chunk `a/c/0` changes between gets.
fn changing<S: Store>(store: S, states: States) -> Altered<S> {
    let gets = AtomicUsize::new(0);
    Altered::new(store).getting(move |store, key, ranges, into| {
        if key.as_str() == "a/c/0" {
            match &states[gets.fetch_add(1, Ordering::Relaxed).min(states.len() - 1)] {
                None => store.erase(key)?,
                Some(value) => {
                    if store.get_all(key)?.is_none_or(|stored| stored != value) {
                        store.set_all(key, value)?;
                    }
                }
            }
        }
        store.get(key, ranges, into)
    })
}

/// One chunk of so many bytes.
fn one_chunk(len: u64, codecs: &str) -> NewArray {
    NewArray::new(&[len], "uint8").chunks(&[len]).codecs_text(codecs).unwrap()
}

/// An array of one chunk in a store in memory that is read in slabs, as files are.
fn array(len: u64, codecs: &str, states: States) -> Array {
    let slabs = Coalesce { slab: Some(64), ..Coalesce::NEVER };
    let store: Arc<dyn Store> = Arc::new(changing(MemoryStore::new(), states).liking(slabs));
    zarr::create_array(&store, "/a", one_chunk(len, codecs)).unwrap()
}

fn check_fails(read: zarr_array::Result<Vec<u8>>, how: &str) {
    let error = read.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::CorruptChunk);
    assert!(error.message().contains(&format!("{how} while it was read")), "{error}");
    assert_eq!(error.location().key.as_deref(), Some("a/c/0"));
}

const BYTES: &str = r#"["bytes"]"#;

#[test]
fn a_chunk_that_is_read_at_once_is_whole() {
    for wanted in [1024, 64] {
        let array = array(1024, BYTES, vec![Some(vec![7; 1024]), None]);
        assert_eq!(array.read::<u8>(..wanted).unwrap(), vec![7; wanted as usize]);
    }
}

#[test]
fn a_chunk_that_is_erased_is_read_anew() {
    let there = || Some(vec![7; 1024]);
    assert_eq!(array(1024, BYTES, vec![there(), None]).read::<u8>(..1000_u64).unwrap(), [0; 1000]);
    let again = vec![there(), None, there(), None];
    check_fails(array(1024, BYTES, again).read(..1000_u64), "erased");
}

#[test]
fn a_chunk_of_a_wrong_size_that_is_erased_is_read_anew() {
    for stored in [1000, 1025] {
        let there = || Some(vec![7; stored]);
        assert_eq!(array(1024, BYTES, vec![there(), None]).read::<u8>(..).unwrap(), [0; 1024]);
        check_fails(array(1024, BYTES, vec![there(), None, there(), None]).read(..), "erased");
    }
}

/// A shard with inner chunks of so many bytes.
fn sharded(inner: u64) -> String {
    format!(
        r#"[{{"name": "sharding_indexed", "configuration": {{"chunk_shape": [{inner}], "index_location": "end",
        "index_codecs": [{{"name": "bytes", "configuration": {{"endian": "little"}}}}], "codecs": ["bytes"]}}}}]"#
    )
}

/// Shards that hold nothing but ones, and nothing but twos.
fn two_states(len: u64, codecs: &str) -> [Option<Vec<u8>>; 2] {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let array = zarr::create_array(&store, "/a", one_chunk(len, codecs)).unwrap();
    [1u8, 2].map(|byte| {
        array.write(.., &vec![byte; len as usize]).unwrap();
        array.read_chunk_bytes(&[0]).unwrap().map(|bytes| bytes.to_vec())
    })
}

#[test]
fn a_shard_that_is_replaced_is_read_anew() {
    let codecs = sharded(16);
    let [old, new] = two_states(64, &codecs);
    let once = || array(64, &codecs, vec![old.clone(), new.clone()]);
    assert_eq!(once().read::<u8>(..40_u64).unwrap(), [2; 40]);
    assert_eq!(once().read::<u8>(3_u64).unwrap(), [2]);
    assert_eq!(once().read::<u8>(Selection::points(vec![vec![60, 1, 2]])).unwrap(), [2; 3]);
    let options = Options { cache: Some(ChunkCache::new(1 << 20)), ..Options::default() };
    assert_eq!(once().with(options).unwrap().read::<u8>(..40_u64).unwrap(), [2; 40]);

    let erased = || array(64, &codecs, vec![old.clone(), None]);
    assert_eq!(erased().read::<u8>(..40_u64).unwrap(), [0; 40]);
    assert_eq!(erased().read::<u8>(Selection::points(vec![vec![60, 1, 2]])).unwrap(), [0; 3]);

    let again = || array(64, &codecs, vec![old.clone(), new.clone(), old.clone(), new.clone()]);
    check_fails(again().read(..40_u64), "replaced");
    check_fails(again().read(Selection::points(vec![vec![60, 1, 2]])), "replaced");
    check_fails(array(64, &codecs, vec![old.clone(), None, old.clone(), None]).read(..40_u64), "erased");
}

#[test]
fn a_shard_that_is_replaced_is_read_anew_without_blocking() {
    let codecs = sharded(16);
    let [old, new] = two_states(64, &codecs);
    let read = |states| {
        let store: Arc<dyn AsyncStore> = Arc::new(SyncAsAsync::new(Arc::new(changing(MemoryStore::new(), states))));
        let array = block_on(AsyncArray::create(&store, "/a", one_chunk(64, &codecs), &zarr::registry())).unwrap();
        block_on(array.read::<u8>(..40_u64))
    };
    assert_eq!(read(vec![old.clone(), new.clone()]).unwrap(), [2; 40]);
    check_fails(read(vec![old.clone(), new.clone(), old, new]), "replaced");
}

#[test]
fn files_tell_it_where_much_is_read() {
    let (inner, len) = (3 << 20, 9 << 20);
    let codecs = sharded(inner);
    let [old, new] = two_states(len, &codecs);
    let folder = tempfile::tempdir().unwrap();
    let store = changing(FilesystemStore::create(folder.path()).unwrap(), vec![old, new]);
    let store: Arc<dyn Store> = Arc::new(store);
    let array = zarr::create_array(&store, "/a", one_chunk(len, &codecs)).unwrap();
    assert!(array.read::<u8>(..2 * inner).unwrap().iter().all(|&byte| byte == 2));
}
