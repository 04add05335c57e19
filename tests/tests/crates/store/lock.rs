use std::collections::HashSet;
use std::time::Duration;
use zarr_store::*;

#[test]
fn one_thread_holds_a_lock() {
    let prefix = Prefix::new("a/").expect("a prefix");
    let lock = Lock::in_process(&"store", &prefix).expect("free");
    assert!(Lock::in_process(&"store", &prefix).is_none());
    assert!(Lock::in_process(&"other", &prefix).is_some());
    assert!(Lock::in_process(&"store", &Prefix::root()).is_some());
    let clone = lock.clone();
    drop(lock);
    assert!(Lock::in_process(&"store", &prefix).is_none());
    drop(clone);
    assert!(Lock::in_process(&"store", &prefix).is_some());
}

#[test]
fn a_lock_says_whom_it_excludes() {
    let lock = Lock::in_process(&"one process", &Prefix::root()).expect("free");
    assert!(!lock.excludes_processes());
    assert!(Lock::between_processes(lock).excludes_processes());
    let memory = StoreExt::try_lock(&MemoryStore::new(), &Prefix::root()).expect("a lock");
    assert!(memory.expect("free").excludes_processes());
}

#[test]
fn waits_grow_and_stay_short() {
    for attempt in [0, 1, 2, 8, 9, 1000] {
        let most = Duration::from_nanos(100_000 << (attempt.clamp(1, 8) - 1));
        assert!((0..100).all(|_| backoff(attempt) < most), "{attempt}");
    }
    let waits: HashSet<Duration> = (0..100).map(|_| backoff(8)).collect();
    assert!(waits.len() > 90);
}
