use crate::{Array, ArrayData, AsyncArray, ErrorKind, NewArray, Registry, Result, Store};
use proptest::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use zarr_drive::block_on;
use zarr_store::testing::{Altered, Delayed};
use zarr_store::{AccessProfile, AsyncStore, Call, MemoryStore, StoreExt};

const LEN: u64 = 240;
const CHUNK: u64 = 8;

fn registry() -> Arc<Registry> {
    let mut registry = Registry::default();
    registry.codecs.add(zarr_codec_bytes::BYTES);
    Arc::new(registry)
}

/// Array of its indices in chunks, of which get number `bad` fails, and the number of gets of chunks.
fn array(profile: AccessProfile, bad: Option<u64>) -> (Array, Arc<AtomicUsize>) {
    let gets = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&gets);
    let store = Altered::new(MemoryStore::new()).with_profile(profile).getting(move |store, key, ranges| {
        if let Some(chunk) = key.as_str().strip_prefix("a/c/") {
            counted.fetch_add(1, Ordering::SeqCst);
            if Some(chunk) == bad.map(|bad| bad.to_string()).as_deref() {
                let refused = std::io::ErrorKind::ConnectionReset.into();
                return Err(zarr_store::Error::io(&"a store", zarr_store::Operation::Get, key.as_str(), refused));
            }
        }
        store.get_ranges(key, ranges)
    });
    let store: Arc<dyn Store> = Arc::new(store);
    let new = NewArray::new(&[LEN], "uint16").chunks(&[CHUNK]).codecs(r#"["bytes"]"#).unwrap();
    let array = Array::create(&store, "/a", new, &registry()).unwrap();
    array.write(.., &(0..LEN as u16).collect::<Vec<_>>()).unwrap();
    (array, gets)
}

/// The same array in an async store, whose gets end in another order than they begin.
fn async_array() -> AsyncArray {
    let (array, _) = array(AccessProfile::LOCAL, None);
    let gets = AtomicUsize::new(0);
    let store: Arc<dyn AsyncStore> = Arc::new(Delayed::new(Arc::clone(array.store()), move |call| match call {
        Call::Get { .. } => {
            let number = gets.fetch_add(1, Ordering::SeqCst) as u64;
            Box::pin(zarr_store::sleep(std::time::Duration::from_micros(number * 7919 % 300)))
        }
        _ => Box::pin(async {}),
    }));
    AsyncArray::from_found(&store, array.found().clone(), &registry(), array.options().clone()).unwrap()
}

fn numbers(read: Result<ArrayData>) -> Vec<u16> {
    read.unwrap().to_vec().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// The items are those of reads one after the other, for any depth and any bound.
    #[test]
    fn items_are_those_of_reads_in_order(
        boxes in proptest::collection::vec((0..LEN, 0..40_u64), 0..30),
        depth in 0..9_usize,
        max_bytes in prop_oneof![Just(0_u64), 1..400_u64, Just(u64::MAX)],
        is_far in any::<bool>(),
    ) {
        let (array, _) = array(if is_far { AccessProfile::REMOTE } else { AccessProfile::LOCAL }, None);
        let boxes: Vec<_> = boxes.into_iter().map(|(start, len)| start..(start + len).min(LEN)).collect();
        let due: Vec<Vec<u16>> = boxes.iter().map(|part| (part.start as u16..part.end as u16).collect()).collect();
        let found: Vec<_> = array.prefetch(boxes.clone(), depth).max_bytes(max_bytes).map(numbers).collect();
        prop_assert_eq!(&found, &due);
        let mut windows = async_array().prefetch(boxes, depth).max_bytes(max_bytes);
        let found = block_on(async {
            let mut found = Vec::new();
            while let Some(window) = windows.next().await {
                found.push(numbers(window));
            }
            found
        });
        prop_assert_eq!(found, due);
    }
}

#[test]
fn an_error_is_the_item_of_its_selection() {
    let (array, _) = array(AccessProfile::LOCAL, Some(3));
    let chunks = (0..LEN / CHUNK).map(|chunk| chunk * CHUNK..(chunk + 1) * CHUNK);
    let mut items: Vec<_> = array.prefetch(chunks, 4).collect();
    let error = items.remove(3).unwrap_err();
    assert!(error.kind() == ErrorKind::Store && error.to_string().contains("a/c/3"), "{error}");
    assert_eq!(items.into_iter().flat_map(numbers).count() as u64, LEN - CHUNK);
    // A selection that is none of the array, and those behind it.
    let items: Vec<_> = array.prefetch([0_u64, LEN, 4], 2).collect();
    assert!(items[0].is_ok() && items[2].is_ok());
    assert_eq!(items[1].as_ref().unwrap_err().kind(), ErrorKind::Argument);
}

/// The depth and the bytes bound how much is read, and which selections are taken from the caller.
#[test]
fn no_more_is_read_ahead_than_the_bounds_allow() {
    for (depth, max_bytes, due) in [(3, u64::MAX, 3), (100, 5 * CHUNK * 2, 5), (100, 0, 1)] {
        let (array, gets) = array(AccessProfile::LOCAL, None);
        gets.store(0, Ordering::SeqCst);
        let taken = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&taken);
        let chunks = (0..LEN / CHUNK).map(move |chunk| {
            counted.fetch_add(1, Ordering::SeqCst);
            chunk * CHUNK..(chunk + 1) * CHUNK
        });
        let mut windows = array.prefetch(chunks, depth).max_bytes(max_bytes);
        for used in 1..=10 {
            assert!(windows.next().is_some());
            // One selection is known that does not fit.
            assert!(taken.load(Ordering::SeqCst) <= used + due + 1);
            assert!(gets.load(Ordering::SeqCst) <= used + due);
        }
        drop(windows);
        assert!(taken.load(Ordering::SeqCst) < 20);
    }
}

/// A caller that catches the panic of a read gets what is behind it.
#[test]
fn a_read_that_panics_ends_only_itself() {
    for (depth, max_bytes) in [(1, u64::MAX), (3, u64::MAX), (4, 0)] {
        let store = Altered::new(MemoryStore::new()).getting(|store, key, ranges| {
            assert!(!matches!(key.as_str(), "a/c/2" | "a/c/3"), "as a decoder may");
            store.get_ranges(key, ranges)
        });
        let store: Arc<dyn Store> = Arc::new(store);
        let new = NewArray::new(&[LEN], "uint16").chunks(&[CHUNK]).codecs(r#"["bytes"]"#).unwrap();
        let array = Array::create(&store, "/a", new, &registry()).unwrap();
        array.write(.., &(0..LEN as u16).collect::<Vec<_>>()).unwrap();
        let chunks = (0..8).map(|chunk| chunk * CHUNK..(chunk + 1) * CHUNK);
        let mut slabs = array.prefetch(chunks, depth).max_bytes(max_bytes);
        let next = |_| std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| slabs.next()));
        let items: Vec<_> =
            (0..9).map(next).map(|item| item.ok().map(|item| item.map(|read| numbers(read)[0]))).collect();
        let due = [
            Some(Some(0)),
            Some(Some(8)),
            None,
            None,
            Some(Some(32)),
            Some(Some(40)),
            Some(Some(48)),
            Some(Some(56)),
            Some(None),
        ];
        assert_eq!(items, due, "{depth} {max_bytes}");
    }
}

/// Loops on all threads of a pool, whose reads need the threads of that pool.
#[test]
fn loops_on_the_threads_of_a_pool_end() {
    let (array, _) = array(AccessProfile::LOCAL, None);
    let one = std::num::NonZeroUsize::MIN;
    let array = array.with(array.options().clone().threads(Some(one))).unwrap();
    let parts = || (0..10_u64).map(|start| start * 24..start * 24 + 24);
    // Reads that began elsewhere before the loop came to the pool.
    let mut begun = array.prefetch(parts(), 2);
    let first = begun.next().map(numbers);
    let threads = zarr_drive::Threads::shared(one).unwrap();
    let found = threads.run(|| {
        let inside: Vec<u16> = array.prefetch(parts(), 4).flat_map(numbers).collect();
        let outside: Vec<u16> = first.into_iter().chain(begun.map(numbers)).flatten().collect();
        (inside, outside)
    });
    let due: Vec<u16> = (0..LEN as u16).collect();
    assert_eq!(found.unwrap(), (due.clone(), due));
}

/// Iterator that goes on after its end.
struct Restless(u64);

impl Iterator for Restless {
    type Item = std::ops::Range<u64>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0 += 1;
        (self.0 != 3).then_some(0..1)
    }
}

#[test]
fn the_first_end_of_the_selections_is_the_end() {
    let (array, _) = array(AccessProfile::LOCAL, None);
    let mut items = array.prefetch(Restless(0), 4);
    assert_eq!((0..8).map(|_| items.next().is_some()).filter(|&is_there| is_there).count(), 2);
}

/// Strings count with their bytes once the first ones are known, which are read alone.
#[test]
fn texts_count_with_their_bytes() {
    let mut registry = Registry::default();
    registry.codecs.add(zarr_codec_bytes::BYTES);
    registry.codecs.add(zarr_codec_vlen::VLEN_UTF8);
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let new = NewArray::new(&[40], "string").chunks(&[1]).codecs(r#"["vlen-utf8"]"#).unwrap();
    let array = Array::create(&store, "/a", new, &Arc::new(registry)).unwrap();
    array.write(.., &vec!["x".repeat(1000); 40]).unwrap();
    // Empty selections before the first say nothing about the bytes.
    for empty in 0..3_u64 {
        let taken = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&taken);
        let parts = (0..empty).map(|_| 0..0).chain((0..40).map(|row| row..row + 1)).inspect(move |_| {
            counted.fetch_add(1, Ordering::SeqCst);
        });
        let mut texts = array.prefetch(parts, 100).max_bytes(5000);
        for _ in 0..empty {
            assert!(texts.next().unwrap().unwrap().is_empty());
        }
        for used in 1..=30 {
            assert_eq!(texts.next().unwrap().unwrap().to_vec::<String>().unwrap(), ["x".repeat(1000)]);
            let ahead = taken.load(Ordering::SeqCst) - used - empty as usize;
            // Four fit in the bound, and one is known that does not.
            assert!((1..=5).contains(&ahead), "{ahead}");
        }
    }
}

/// Tasks that were dropped in the middle of a wait have taken nothing, errors are items, and no more is read than the bounds allow.
#[test]
fn async_selections_come_in_order_within_the_bounds() {
    for (depth, max_bytes, due) in [(3, u64::MAX, 3), (100, 5 * CHUNK * 2, 5), (100, 0, 1)] {
        let (blocking, _) = array(AccessProfile::LOCAL, Some(3));
        let most = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0)));
        let counted = Arc::clone(&most);
        let store: Arc<dyn AsyncStore> = Arc::new(Delayed::new(Arc::clone(blocking.store()), move |call| match call {
            Call::Get { key, .. } if key.as_str().starts_with("a/c/") => {
                let counted = Arc::clone(&counted);
                Box::pin(async move {
                    let now = counted.0.fetch_add(1, Ordering::SeqCst) + 1;
                    counted.1.fetch_max(now, Ordering::SeqCst);
                    zarr_store::sleep(std::time::Duration::from_millis(1)).await;
                    counted.0.fetch_sub(1, Ordering::SeqCst);
                })
            }
            _ => Box::pin(async {}),
        }));
        let found = blocking.found().clone();
        let array = AsyncArray::from_found(&store, found, &registry(), blocking.options().clone()).unwrap();
        let chunks = (0..LEN / CHUNK).map(|chunk| chunk * CHUNK..(chunk + 1) * CHUNK);
        let mut windows = array.prefetch(chunks, depth).max_bytes(max_bytes);
        for chunk in 0..LEN / CHUNK {
            // Polled once and dropped: the selection comes next nevertheless.
            let mut context = std::task::Context::from_waker(std::task::Waker::noop());
            let mut next = Box::pin(windows.next());
            let mut item = next.as_mut().poll(&mut context);
            drop(next);
            if item.is_pending() {
                item = std::task::Poll::Ready(block_on(windows.next()));
            }
            let std::task::Poll::Ready(Some(item)) = item else { panic!("no item for {chunk}") };
            if chunk == 3 {
                let error = item.unwrap_err();
                assert!(error.kind() == ErrorKind::Store && error.to_string().contains("a/c/3"), "{error}");
            } else {
                assert_eq!(numbers(item)[0], (chunk * CHUNK) as u16);
            }
        }
        assert!(block_on(windows.next()).is_none());
        assert!(most.1.load(Ordering::SeqCst) <= due);
        // What is not taken is given up.
        let mut windows = array.prefetch([0..8_u64, 8..16, 16..24], 3);
        let _ = Box::pin(windows.next()).as_mut().poll(&mut std::task::Context::from_waker(std::task::Waker::noop()));
        drop(windows);
    }
}

/// A loop that ends early leaves reads under way, which end by themselves, and begins no others.
#[test]
fn reads_under_way_end_after_the_loop() {
    let (gate, begun) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (opened, counted) = (Arc::clone(&gate), Arc::clone(&begun));
    let store = Altered::new(MemoryStore::new()).getting(move |store, key, ranges| {
        if key.as_str().starts_with("a/c/") {
            counted.fetch_add(1, Ordering::SeqCst);
            while opened.load(Ordering::SeqCst) == 0 {
                std::thread::yield_now();
            }
        }
        store.get_ranges(key, ranges)
    });
    let store: Arc<dyn Store> = Arc::new(store);
    let new = NewArray::new(&[LEN], "uint16").chunks(&[CHUNK]).codecs(r#"["bytes"]"#).unwrap();
    let array = Array::create(&store, "/a", new, &registry()).unwrap();
    array.write(.., &vec![1_u16; LEN as usize]).unwrap();
    let mut slabs = array.prefetch((0..LEN / CHUNK).map(|chunk| chunk * CHUNK..(chunk + 1) * CHUNK), 3);
    slabs.read_ahead();
    while begun.load(Ordering::SeqCst) < 3 {
        std::thread::yield_now();
    }
    // The drop does not wait for the reads, which would not end before it.
    drop(slabs);
    let weak = Arc::downgrade(&store);
    drop((array, store));
    gate.store(1, Ordering::SeqCst);
    while weak.upgrade().is_some() {
        std::thread::yield_now();
    }
    assert_eq!(begun.load(Ordering::SeqCst), 3);
}
