//! Conversions whose memory is far smaller than the array: elements are stored temporarily, and each chunk is decoded once.

use std::sync::Arc;
use zarr::convert::{Conversion, ConvertOptions, Part};
use zarr::prelude::*;
use zarr::store::{Counted, Key, MemoryStore, StoreExt};
use zarr::{ErrorKind, Options};

const LEN: u64 = 2048;
/// Some is set aside, and slabs take some of the rest: there are eight, each of which would decode everything.
const MEMORY: u64 = 2 << 20;

fn memory() -> Arc<dyn Store> {
    Arc::new(MemoryStore::new())
}

fn elements() -> Vec<u8> {
    (0..LEN * LEN).map(|at| (at ^ ((at >> 11) * 7)) as u8).collect()
}

/// Rows of chunks in a store, of which some are missing.
fn rows(missing: std::ops::Range<u64>) -> Arc<dyn Store> {
    let store = memory();
    let new = NewArray::new(&[LEN, LEN], "uint8").chunks(&[8, LEN]).codecs("zstd(1)").unwrap();
    let array = zarr::create((&store, "/a")).array(new).unwrap();
    array.write(.., &elements()).unwrap();
    for chunk in missing {
        array.erase_chunk(&[chunk, 0]).unwrap();
    }
    store
}

fn options() -> ConvertOptions {
    let one = Options::default().threads(std::num::NonZeroUsize::new(1));
    ConvertOptions::default().memory(MEMORY).chunks(vec![LEN, 8]).options(one)
}

fn plan(source: &Arc<dyn Store>, options: ConvertOptions) -> Conversion {
    Conversion::plan(source, &zarr::registry::default(), options).unwrap()
}

fn read(store: &Arc<dyn Store>) -> Vec<u8> {
    zarr::open((store, "/a")).array().unwrap().read(..).unwrap()
}

fn scratch_values(store: &Arc<dyn Store>) -> usize {
    store.list().unwrap().iter().filter(|key| key.as_str().contains(".scratch")).count()
}

#[test]
fn each_chunk_is_fetched_once() {
    let source = rows(0..0);
    let counted = Arc::new(Counted::new(Arc::clone(&source)));
    let (from, target): (Arc<dyn Store>, _) = (counted.clone(), memory());
    plan(&from, options()).run(&target, |_| {}).unwrap();
    let gets = counted.counts().gets;
    // 256 chunks, their sizes or documents.
    assert!((256..300).contains(&gets), "{gets} gets");
    assert!(read(&target) == elements());
    assert_eq!(scratch_values(&target), 0);
    assert_eq!(target.list().unwrap().len(), 1 + 1 + 256, "{:?}", target.list());
}

#[test]
fn elements_are_stored_where_the_caller_says() {
    let (source, scratch, target) = (rows(3..9), memory(), memory());
    let counted = Arc::new(Counted::new(Arc::clone(&scratch)));
    let elsewhere: Arc<dyn Store> = counted.clone();
    plan(&source, options().scratch(elsewhere)).run(&target, |_| {}).unwrap();
    assert!(counted.counts().sets > 5, "{:?}", counted.counts());
    assert!(scratch.list().unwrap().is_empty());
    assert!(read(&target) == read(&source));
}

#[test]
fn an_interrupted_conversion_leaves_nothing_when_it_is_resumed() {
    let source = rows(0..0);
    for left in [3, 9, 12, 20, 30, 150] {
        let target = memory();
        let stopping = super::failing::Failing::after(&target, left);
        plan(&source, options()).run(&stopping.store(), |_| {}).unwrap_err();
        plan(&source, options().resume(true)).run(&target, |_| {}).unwrap();
        assert!(read(&target) == elements(), "{left}");
        assert_eq!(target.list().unwrap().len(), 1 + 1 + 256, "{left}: {:?}", target.list());
    }
}

#[test]
fn two_conversions_may_have_one_store_for_it() {
    let (first, second, scratch) = (rows(0..0), rows(7..11), memory());
    let targets = [memory(), memory()];
    std::thread::scope(|scope| {
        for (source, target) in [&first, &second].into_iter().zip(&targets) {
            let options = options().scratch(Arc::clone(&scratch));
            scope.spawn(move || plan(source, options).run(target, |_| {}).unwrap());
        }
    });
    assert!(read(&targets[0]) == read(&first) && read(&targets[1]) == read(&second));
    assert!(scratch.list().unwrap().is_empty());
}

#[test]
fn little_work_stores_nothing() {
    let (source, scratch) = (rows(0..0), memory());
    let counted = Arc::new(Counted::new(scratch));
    let elsewhere: Arc<dyn Store> = counted.clone();
    let of = |number| options().scratch(Arc::clone(&elsewhere)).part(Part::new(number, 8).unwrap());
    let target = memory();
    // One of eight slabs decodes each chunk once, whatever else.
    (1..=8).for_each(|number| plan(&source, of(number)).run(&target, |_| {}).unwrap());
    plan(&source, of(1).part(None)).finish(&target, |_| {}).unwrap();
    assert_eq!(counted.counts().sets, 0);
    assert!(read(&target) == elements());
}

#[test]
fn parts_store_their_own() {
    let (source, target) = (rows(0..0), memory());
    let of = |number| options().part(Part::new(number, 3).unwrap());
    std::thread::scope(|scope| {
        for number in 1..=3 {
            let (source, target) = (&source, &target);
            scope.spawn(move || plan(source, of(number)).run(target, |_| {}).unwrap());
        }
    });
    plan(&source, of(1).part(None)).finish(&target, |_| {}).unwrap();
    assert!(read(&target) == elements());
    assert_eq!(target.list().unwrap().len(), 1 + 1 + 256, "{:?}", target.list());
}

#[test]
fn broken_chunks_are_left_out_once() {
    let (source, target) = (rows(0..0), memory());
    source.set_all(&Key::new("a/c/5/0").unwrap(), b"no chunk").unwrap();
    let error = plan(&source, options()).run(&memory(), |_| {}).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::CorruptChunk);
    let skipped = std::sync::Mutex::new(Vec::new());
    let keep = |progress: zarr::convert::Progress<'_>| {
        if let zarr::convert::Progress::Skipped(chunk) = progress {
            skipped.lock().unwrap().push(chunk.chunk.clone());
        }
    };
    plan(&source, options().keep_going(true)).run(&target, keep).unwrap();
    assert_eq!(*skipped.lock().unwrap(), [vec![5, 0]]);
    let mut expected = elements();
    expected[5 * 8 * LEN as usize..6 * 8 * LEN as usize].fill(0);
    assert!(read(&target) == expected);
}
