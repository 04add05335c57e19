//! Buffers of values that were set, for the next ones.
//!
//! Memory that is new costs a page fault for every 4 KiB, about as much as writing it does.

use std::cell::RefCell;

/// Buffers kept per thread, as many as values are set at once; more are freed.
const MAX_KEPT: usize = 64;
/// The bytes of all that are kept.
const MAX_SIZE: usize = 64 << 20;

thread_local! {
    static KEPT: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
}

/// An empty buffer for a value to be [set](crate::Request::Set): where one was set on this thread before, with its memory.
pub fn spare_buffer() -> Vec<u8> {
    KEPT.with_borrow_mut(Vec::pop).unwrap_or_default()
}

/// Keeps the memory of a value that was set.
pub(crate) fn keep(mut value: Vec<u8>) {
    if value.capacity() == 0 {
        return;
    }
    value.clear();
    // A thread that is ending has no place for it any more.
    let _ = KEPT.try_with(|kept| {
        let mut kept = kept.borrow_mut();
        let size: usize = kept.iter().map(Vec::capacity).sum();
        if kept.len() < MAX_KEPT && value.capacity() <= MAX_SIZE.saturating_sub(size) {
            kept.push(value);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_kept_and_bounded() {
        let value = vec![1_u8; 1000];
        let place = value.as_ptr();
        keep(value);
        let spare = spare_buffer();
        assert_eq!((spare.as_ptr(), spare.len()), (place, 0));
        keep(Vec::with_capacity(MAX_SIZE + 1));
        assert_eq!(spare_buffer().capacity(), 0);
        (0..3).for_each(|_| keep(Vec::with_capacity(MAX_SIZE / 2)));
        let kept: Vec<usize> = std::iter::repeat_with(|| spare_buffer().capacity()).take(3).collect();
        assert_eq!(kept, [MAX_SIZE / 2, MAX_SIZE / 2, 0]);
        (0..2 * MAX_KEPT).for_each(|_| keep(vec![0; 8]));
        let kept = std::iter::from_fn(|| Some(spare_buffer()).filter(|spare| spare.capacity() > 0)).count();
        assert_eq!(kept, MAX_KEPT);
    }
}
