//! Tests of a cache that loads and drops values.

use std::pin::pin;
use std::task::{Context, Waker};

use zarr_store::Error;

use super::super::wait;
use super::*;

type Cache = LoadCache<u32, u8>;

fn cache(max_bytes: usize) -> Cache {
    LoadCache::new(max_bytes, |size| usize::from(*size))
}

/// Returns whether a get of a value of 10 bytes had to load it. Loading fails if `is_there` is false.
fn is_loaded(cache: &Cache, id: u32, is_there: bool) -> Result<bool> {
    let mut loaded = false;
    let load = async {
        loaded = true;
        if is_there { Ok(10) } else { Err(Error::NoStore { store: "x".to_owned() }) }
    };
    wait(cache.get(Way::Blocking, id, load)).map(|_| loaded)
}

#[test]
fn what_was_not_asked_for_longest_goes_first() {
    let cache = cache(30);
    for id in 0..3 {
        assert!(is_loaded(&cache, id, true).expect("loaded"));
    }
    assert!(!is_loaded(&cache, 0, true).expect("kept"));
    assert!(is_loaded(&cache, 3, true).expect("loaded"));
    assert!(!is_loaded(&cache, 0, true).expect("kept"));
    assert!(is_loaded(&cache, 1, true).expect("loaded"));
    let slots = cache.slots();
    assert_eq!((slots.by_id.len(), slots.bytes), (3, 30));
}

#[test]
fn an_error_is_not_kept() {
    let cache = cache(1);
    is_loaded(&cache, 0, false).expect_err("refused");
    assert!(cache.slots().by_id.is_empty());
    assert!(is_loaded(&cache, 0, true).expect("loaded"));
    // The value is larger than the bound, and stays until the next value is put.
    assert!(!is_loaded(&cache, 0, true).expect("kept"));
}

#[test]
fn one_loads_what_several_ask_for() {
    use std::sync::atomic::{AtomicUsize, Ordering};
    let (cache, loads) = (cache(100), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let load = async {
                    loads.fetch_add(1, Ordering::Relaxed);
                    std::thread::sleep(std::time::Duration::from_millis(20));
                    Ok(10)
                };
                wait(cache.get(Way::Blocking, 0, load)).expect("loaded");
            });
        }
    });
    assert_eq!(loads.into_inner(), 1);
}

#[test]
fn who_blocks_does_not_wait_for_who_does_not() {
    let cache = cache(100);
    {
        let mut begun = pin!(cache.get(Way::NotBlocking, 0, std::future::pending()));
        assert!(begun.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        // The thread that waits here is the one that would have to poll.
        assert!(is_loaded(&cache, 0, true).expect("loaded"));
    }
    assert!(!is_loaded(&cache, 0, true).expect("kept"));
    let mut given_up = Box::pin(cache.get(Way::NotBlocking, 1, std::future::pending()));
    assert!(given_up.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    drop(given_up);
    assert!(!cache.slots().by_id.contains_key(&1));
}
