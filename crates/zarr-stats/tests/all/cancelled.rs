//! Tests of passes that their caller cancels.

use crate::{create, memory};
use std::cell::Cell;
use std::ops::ControlFlow;
use zarr_array::NewArray;
use zarr_stats::{ErrorKind, Statistics, StatsOptions};

#[test]
fn a_pass_that_is_cancelled_ends_with_the_batch_that_was_told() {
    let new = NewArray::new(&[1 << 12], "int32").chunks(&[16]).codecs("none").unwrap();
    let array = create(&memory(), "/a", new);
    array.write(.., &vec![1_i32; 1 << 12]).unwrap();
    // A quarter of it is for elements.
    let options = StatsOptions::default().memory(16 << 10);
    let done = Cell::new(0);
    let pass = |flow: ControlFlow<()>| {
        Statistics::of_with(&array, .., &options, |elements| {
            done.set(done.get() + elements);
            flow
        })
    };
    assert_eq!(pass(ControlFlow::Continue(())).unwrap().elements, 1 << 12);
    assert_eq!(done.replace(0), 1 << 12);
    assert_eq!(pass(ControlFlow::Break(())).unwrap_err().kind(), ErrorKind::Cancelled);
    assert_eq!(done.get(), 1 << 10);
}

#[test]
fn a_selection_by_lists_is_told_and_can_be_cancelled() {
    let new = NewArray::new(&[64], "int32").chunks(&[16]).codecs("none").unwrap();
    let array = create(&memory(), "/a", new);
    array.write(.., &[1_i32; 64]).unwrap();
    let done = Cell::new(0);
    let pass = |flow: ControlFlow<()>| {
        Statistics::of_with(&array, (vec![3_u64, 40, 60],), &StatsOptions::default(), |elements| {
            done.set(done.get() + elements);
            flow
        })
    };
    assert_eq!(pass(ControlFlow::Continue(())).unwrap().elements, 3);
    assert_eq!(done.get(), 3);
    assert_eq!(pass(ControlFlow::Break(())).unwrap_err().kind(), ErrorKind::Cancelled);
}
