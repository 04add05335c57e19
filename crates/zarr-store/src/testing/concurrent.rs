//! Tests with several threads on one store.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use crate::{ByteRange, Precondition, Store, StoreExt};

use super::key;

/// Checks that readers see the old value or the new value, never a mix, even over several ranges.
pub(super) fn readers_see_whole_values(store: &dyn Store) {
    // Lengths differ, so that sizes and bytes must be of one state.
    let value = |i: u8| vec![i; 10_000 + usize::from(i) * 1000];
    let key = key("busy/value");
    store.set_all(&key, &value(0)).expect("set");
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let mut rounds = 0;
                while rounds < 5 || !done.load(Ordering::Relaxed) {
                    let ranges =
                        [ByteRange::Full, ByteRange::Range(0..10), ByteRange::Suffix(9000), ByteRange::From(5000)];
                    let fetched = store.get_ranges(&key, &ranges).expect("get");
                    let fetched = fetched.expect("the value does not vanish");
                    let first = fetched.part(1)[0];
                    assert_eq!(
                        fetched.part(0).len(),
                        value(first).len(),
                        "{store}: size of one state, bytes of another"
                    );
                    assert!(fetched.parts().flatten().all(|byte| *byte == first), "{store}: a mix of two states");
                    rounds += 1;
                }
            });
        }
        for i in 0..60 {
            store.set_all(&key, &value(i % 8)).expect("set");
        }
        done.store(true, Ordering::Relaxed);
    });
    store.erase(&key).expect("erase");
}

/// Checks that setting and erasing neighbours, which may share a directory that is created and removed, does not disturb other writers.
pub(super) fn writers_do_not_disturb_each_other(store: &dyn Store) {
    thread::scope(|scope| {
        for thread in 0..4 {
            scope.spawn(move || {
                for i in 0..40_u32 {
                    let key = key(&format!("shared/folder/{thread}"));
                    store.set_all(&key, &i.to_le_bytes()).expect("set");
                    assert_eq!(store.get_all(&key).expect("get").as_deref(), Some(&i.to_le_bytes()[..]), "{store}");
                    store.erase(&key).expect("erase");
                    assert_eq!(store.get_all(&key).expect("get"), None, "{store}");
                }
            });
        }
    });
}

/// Checks that a counter that several threads increment counts every step.
pub(super) fn conditional_updates_lose_nothing(store: &dyn Store) {
    if !store.capabilities().conditional {
        return;
    }
    const THREADS: u64 = 4;
    const STEPS: u64 = 15;
    let key = key("counter");
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                let mut steps = 0;
                while steps < STEPS {
                    let fetched = store.get_ranges(&key, &[ByteRange::Full]).expect("get");
                    let (count, when) = match fetched {
                        None => (0, Precondition::NotExists),
                        Some(fetched) => (
                            u64::from_le_bytes(fetched.part(0).try_into().expect("eight bytes")),
                            Precondition::Version(fetched.version.expect("a full get knows the version")),
                        ),
                    };
                    match store.set_if(&key, &(count + 1).to_le_bytes(), &when) {
                        Ok(_) => steps += 1,
                        Err(error) => assert!(error.is_precondition(), "{store}: {error}"),
                    }
                }
            });
        }
    });
    let count = store.get_all(&key).expect("get").expect("there");
    assert_eq!(count, (THREADS * STEPS).to_le_bytes()[..], "{store}: an update was lost");
    store.erase(&key).expect("erase");
}
