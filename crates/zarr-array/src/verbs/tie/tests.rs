use crate::{Array, ChunkCache, ErrorKind, NewArray, Options, Registry};
use std::sync::Arc;
use std::time::Duration;
use zarr_store::testing::Altered;
use zarr_store::{AccessProfile, Counted, MemoryStore, Prefix, Store, StoreExt};

fn registry() -> Arc<Registry> {
    let mut registry = Registry::default();
    registry.codecs.add(zarr_codec_bytes::BYTES);
    Arc::new(registry)
}

fn new(fill: i64) -> NewArray {
    NewArray::new(&[8], "int16").chunks(&[2]).fill(fill).codecs(r#"["bytes"]"#).unwrap()
}

type Far = Arc<Counted<Altered<MemoryStore>>>;

/// Store whose requests take long, and an array in it whose first chunk is stored.
fn far() -> (Far, Arc<dyn Store>, Array) {
    let far = Arc::new(Counted::new(Altered::new(MemoryStore::new()).with_profile(AccessProfile::REMOTE)));
    let store: Arc<dyn Store> = Arc::clone(&far) as _;
    let array = Array::create(&store, "/a", new(0).options(seldom()), &registry()).unwrap();
    array.write(..2, &[1_i16; 2]).unwrap();
    far.take();
    (far, store, array)
}

/// Options with which no operation looks at the document again within an hour.
fn seldom() -> Options {
    Options::default().look_interval(Duration::from_secs(3600))
}

fn gets(far: &Far, array: &Array) -> u64 {
    far.take();
    assert_eq!(array.read::<i16>(..2).unwrap(), [1; 2]);
    far.take().gets
}

/// An array that is made from metadata looks at its document at the first operation, since the metadata may have been read long before.
#[test]
fn metadata_that_were_read_before_are_looked_at_once() {
    let (far, store, array) = far();
    let found = |options| Array::from_found(&store, array.found().clone(), array.registry(), options).unwrap();
    let before = found(seldom());
    assert_eq!([gets(&far, &before), gets(&far, &before)], [2, 1]);
    // Other options are no look.
    let other = found(seldom()).with(seldom().threads(None)).unwrap();
    assert_eq!([gets(&far, &other), gets(&far, &other)], [2, 1]);
    assert_eq!(gets(&far, &before.with(seldom()).unwrap()), 1);
    // To open, to create, and to read metadata just now are.
    let now = Array::from_found_now(&store, array.found().clone(), array.registry(), seldom()).unwrap();
    let opened = Array::open(&store, "/a", array.registry()).unwrap().with(seldom()).unwrap();
    let group = crate::Group::open(&store, "/", array.registry()).unwrap();
    let below = group.array("a").unwrap().with(seldom()).unwrap();
    assert_eq!([&array, &now, &opened, &below].map(|array| gets(&far, array)), [1; 4]);
    // An array that is replaced is noticed.
    let before = found(seldom());
    Array::create(&store, "/a", new(5).overwrite(true), array.registry()).unwrap().write(..2, &[9_i16; 2]).unwrap();
    assert_eq!(before.read::<i16>(..2).unwrap_err().kind(), ErrorKind::NotFound);
    let before = found(seldom());
    assert_eq!(before.write(..2, &[3_i16; 2]).unwrap_err().kind(), ErrorKind::NotFound);
}

#[test]
fn an_array_that_is_gone_has_no_list_of_chunks() {
    let (far, store, array) = far();
    assert_eq!(array.stored_chunks().unwrap().len(), 1);
    assert_eq!(far.take().gets, 0);
    store.erase_prefix(&Prefix::new("a/").unwrap()).unwrap();
    assert_eq!(array.stored_chunks().unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(array.stored_chunk_sizes().unwrap_err().kind(), ErrorKind::NotFound);
}

/// A chunk that is still missing leads to a look, since the array may be gone.
#[test]
fn a_missing_chunk_that_is_asked_for_again_is_looked_at() {
    let (_, store, array) = far();
    let cached = array.with(seldom().cache(ChunkCache::revalidating(1 << 20))).unwrap();
    for _ in 0..2 {
        assert_eq!(cached.read::<i16>(2..6).unwrap(), [0; 4]);
    }
    store.erase_prefix(&Prefix::new("a/").unwrap()).unwrap();
    assert_eq!(cached.read::<i16>(2..6).unwrap_err().kind(), ErrorKind::NotFound);
}

/// Tests of pinned directories, which exist on Linux alone.
#[cfg(target_os = "linux")]
mod held {
    use super::*;
    use crate::AsyncArray;
    use std::ops::ControlFlow::{Break, Continue};
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
    use zarr_drive::{SyncAsAsync, block_on};
    use zarr_store::testing::Intercepted;
    use zarr_store::{AsyncStore, Call};
    use zarr_store_filesystem::{FilesystemOptions, FilesystemStore};

    #[derive(Clone, Copy, Debug, PartialEq)]
    enum When {
        Locked,
        ChunkSet,
        ChunkRead,
    }

    /// Store on a directory in which two arrays change places at a chosen call of [`through`](Self::through).
    #[derive(Clone)]
    struct Exchanging {
        plain: Arc<dyn Store>,
        when: Arc<Mutex<Option<When>>>,
        pins: Arc<AtomicUsize>,
    }

    impl Exchanging {
        fn called(&self, call: When) {
            let mut when = self.when.lock().unwrap();
            if *when == Some(call) {
                *when = None;
                let [a, b] = ["a/", "b/"].map(|prefix| Prefix::new(prefix).unwrap());
                assert!(self.plain.exchange_prefixes(&a, &b).unwrap());
            }
        }

        /// The store whose calls, and those of its pinned stores, are looked at.
        fn through(&self) -> Arc<dyn Store> {
            let exchanging = self.clone();
            Arc::new(Intercepted::new(Arc::clone(&self.plain), move |store, call| {
                match &call {
                    Call::Get { key, .. } if key.as_str().starts_with("a/c") => exchanging.called(When::ChunkRead),
                    Call::Set { key, .. } if key.as_str().starts_with("a/c") => exchanging.called(When::ChunkSet),
                    Call::Lock { .. } => exchanging.called(When::Locked),
                    Call::Pin { .. } => drop(exchanging.pins.fetch_add(1, Relaxed)),
                    _ => {}
                }
                match call {
                    Call::Pin { .. } | Call::IsInPlace => store.call(call).map(Break),
                    _ => Ok(Continue(call)),
                }
            }))
        }
    }

    /// Two arrays with the same metadata in a directory, with or without locks.
    fn arrays(locks: bool) -> (tempfile::TempDir, Exchanging, [Array; 2]) {
        let folder = tempfile::tempdir().unwrap();
        let options = FilesystemOptions::default().locks(locks);
        let plain: Arc<dyn Store> = Arc::new(FilesystemStore::open(folder.path()).unwrap().with(options));
        let store = Exchanging { plain, when: Arc::default(), pins: Arc::default() };
        let through = store.through();
        let arrays = [("/a", 1_i16), ("/b", 2)].map(|(path, element)| {
            let array = Array::create(&through, path, new(0), &registry()).unwrap();
            array.write(.., &[element; 8]).unwrap();
            array
        });
        (folder, store, arrays)
    }

    fn elements(store: &Exchanging, path: &str) -> Vec<i16> {
        Array::open(&store.plain, path, &registry()).unwrap().read(..).unwrap()
    }

    /// Nothing is appended to an array that takes the place of the opened array during the append, with locks between processes and
    /// without.
    #[test]
    fn an_append_goes_to_the_array_that_was_there_at_the_beginning() {
        for locks in [true, false] {
            for when in [When::Locked, When::ChunkSet] {
                let (_folder, store, [mut array, _]) = arrays(locks);
                *store.when.lock().unwrap() = Some(when);
                let error = array.append(0, &[7_i16; 4]).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::NotFound, "{locks} {when:?}: {error}");
                assert!(store.when.lock().unwrap().is_none());
                assert_eq!(elements(&store, "/a"), [2; 8], "{locks} {when:?}");
                assert_eq!(elements(&store, "/b")[..8], [1; 8], "{locks} {when:?}");
                let chunks = store.plain.list_prefix(&Prefix::new("a/c/").unwrap()).unwrap();
                assert_eq!(chunks.len(), 4, "{locks} {when:?}: {chunks:?}");
            }
        }
    }

    #[test]
    fn a_resize_changes_the_array_that_was_there_at_the_beginning() {
        for locks in [true, false] {
            let (_folder, store, [mut array, _]) = arrays(locks);
            *store.when.lock().unwrap() = Some(When::Locked);
            assert_eq!(array.resize(&[2]).unwrap_err().kind(), ErrorKind::NotFound);
            assert_eq!((elements(&store, "/a"), elements(&store, "/b")), (vec![2; 8], vec![1; 8]));
        }
    }

    fn async_array(store: &Exchanging) -> AsyncArray {
        let through: Arc<dyn AsyncStore> = Arc::new(SyncAsAsync::new(store.through()));
        block_on(AsyncArray::open(&through, "/a", &registry())).unwrap()
    }

    #[test]
    fn an_async_array_holds_the_directory_that_was_there_at_the_beginning() {
        for locks in [true, false] {
            for when in [When::Locked, When::ChunkSet] {
                let (_folder, store, _) = arrays(locks);
                let mut array = async_array(&store);
                *store.when.lock().unwrap() = Some(when);
                let error = block_on(array.append(0, &[7_i16; 4])).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::NotFound, "{locks} {when:?}: {error}");
                assert!(store.when.lock().unwrap().is_none());
                assert_eq!(elements(&store, "/a"), [2; 8], "{locks} {when:?}");
                assert_eq!(elements(&store, "/b")[..8], [1; 8], "{locks} {when:?}");
                let chunks = store.plain.list_prefix(&Prefix::new("a/c/").unwrap()).unwrap();
                assert_eq!(chunks.len(), 4, "{locks} {when:?}: {chunks:?}");
            }
        }
        let (_folder, store, _) = arrays(true);
        let array = async_array(&store);
        *store.when.lock().unwrap() = Some(When::ChunkRead);
        assert_eq!(block_on(array.read::<i16>(..)).unwrap(), [1; 8]);
        assert!(store.when.lock().unwrap().is_none());
        let (_folder, store, _) = arrays(true);
        let array = async_array(&store);
        *store.when.lock().unwrap() = Some(When::ChunkSet);
        assert_eq!(block_on(array.write(.., &[7_i16; 8])).unwrap_err().kind(), ErrorKind::NotFound);
        assert_eq!((elements(&store, "/a"), elements(&store, "/b")), (vec![2; 8], vec![7; 8]));
        // It is another array now, and writes to that one are its own again once it is opened anew.
        block_on(async_array(&store).write(.., &[3_i16; 8])).unwrap();
        assert_eq!(elements(&store, "/a"), [3; 8]);
    }

    #[test]
    fn an_array_that_is_trusted_is_not_held() {
        let (_folder, store, [array, _]) = arrays(true);
        let mut array = array.with(Options::default().trust_missing(true)).unwrap();
        store.pins.store(0, Relaxed);
        array.append(0, &[7_i16; 4]).unwrap();
        array.resize(&[10]).unwrap();
        array.write(..2, &[7_i16; 2]).unwrap();
        array.read::<i16>(..).unwrap();
        assert_eq!(store.pins.load(Relaxed), 0);
    }
}
