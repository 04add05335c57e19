//! Nodes that others create at the same time.

use crate::interrupted_move::beside;
use std::sync::{Arc, Mutex};
use zarr::NewArray;
use zarr::store::{MemoryStore, Store};

/// Lets the other of two that create an array and one below it create its own at each call of the first: one of them is there.
#[test]
fn an_array_and_a_node_below_it_are_not_both_created() {
    for (first, second) in [("/x", "/x/y"), ("/x/y", "/x"), ("/x/y/z", "/x")] {
        for left in 0.. {
            let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
            let (inner, told) = (Arc::clone(&store), Arc::new(Mutex::new(None)));
            let tell = Arc::clone(&told);
            let others = move || {
                *tell.lock().unwrap() = Some(zarr::create((&inner, second)).array(NewArray::new(&[2], "int8")).is_ok());
            };
            let beside = beside(&store, left, false, others);
            let done = zarr::create((&beside, first)).array(NewArray::new(&[2], "int8"));
            let Some(other) = told.lock().unwrap().take() else {
                assert!(done.is_ok() && left > 0, "{first} {left}");
                break;
            };
            assert_ne!(done.is_ok(), other, "{first} and {second}, after {left} calls: {done:?}");
        }
    }
}
