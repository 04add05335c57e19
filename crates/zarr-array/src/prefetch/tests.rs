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

/// What is read, and which selections are taken from the caller, is bounded by the depth and by the bytes.
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
