use crate::{Array, ChunkCache, ErrorKind, NewArray, Options, Registry};
use std::sync::Arc;
use std::time::Duration;
use zarr_store::testing::Altered;
use zarr_store::{AccessProfile, Counted, MemoryStore, Prefix, Store};

fn registry() -> Arc<Registry> {
    let mut registry = Registry::default();
    registry.codecs.add(zarr_codec_bytes::BYTES);
    Arc::new(registry)
}

fn new(fill: i64) -> NewArray {
    NewArray::new(&[8], "int16").chunks(&[2]).fill(fill).codecs(r#"["bytes"]"#).unwrap()
}

type Far = Arc<Counted<Altered<MemoryStore>>>;

/// A store whose requests take long, and an array in it whose first chunk is stored.
fn far() -> (Far, Arc<dyn Store>, Array) {
    let far = Arc::new(Counted::new(Altered::new(MemoryStore::new()).with_profile(AccessProfile::REMOTE)));
    let store: Arc<dyn Store> = Arc::clone(&far) as _;
    let array = Array::create(&store, "/a", new(0).options(seldom()), &registry()).unwrap();
    array.write(..2, &[1_i16; 2]).unwrap();
    far.take();
    (far, store, array)
}

/// Nothing is looked at again within an hour.
fn seldom() -> Options {
    Options::default().look_interval(Duration::from_secs(3600))
}

fn gets(far: &Far, array: &Array) -> u64 {
    far.take();
    assert_eq!(array.read::<i16>(..2).unwrap(), [1; 2]);
    far.take().gets
}

/// Metadata may have been read long before an array is made of them.
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

/// That a chunk is still missing may be because the array is.
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
