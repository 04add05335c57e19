//! What a step of a read asks for.

use super::ReadContext;
use std::ops::Range;
use zarr_store::{ByteRange, Key, Request};

/// Requests being collected.
#[derive(Default)]
pub(super) struct Requests(Vec<Request>);

impl Requests {
    /// Adds ranges of a value, to the last request if that is for the same one and may be shared. Says which reply and
    /// which of its parts will answer.
    pub(super) fn add(&mut self, key: &Key, shared: bool, ranges: Vec<ByteRange>) -> (usize, Range<usize>) {
        let count = ranges.len();
        if shared
            && let Some(Request::Get { key: last, ranges: asked }) = self.0.last_mut()
            && last == key
        {
            let start = asked.len();
            asked.extend(ranges);
            return (self.0.len() - 1, start..start + count);
        }
        self.0.push(Request::Get { key: key.clone(), ranges });
        (self.0.len() - 1, 0..count)
    }

    /// Adds a range that has no bytes, but is resolved only with the size of the value: local stores then tell its version as
    /// well, which they leave out where that would cost a system call.
    pub(super) fn ask_versions(&mut self, context: &ReadContext<'_>) {
        if context.cached.is_none() || context.access.slab.is_none() {
            return;
        }
        for request in &mut self.0 {
            if let Request::Get { ranges, .. } = request
                && !ranges.is_empty()
                && ranges.iter().all(|range| range.bounded().is_some())
            {
                ranges.push(ByteRange::Suffix(0));
            }
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn into_vec(self) -> Vec<Request> {
        self.0
    }
}

/// How many bytes a chunk must have for a range to lie in it.
pub(super) fn needed(range: &ByteRange) -> u64 {
    match range {
        ByteRange::Full => 0,
        ByteRange::Range(range) => range.end,
        ByteRange::From(size) | ByteRange::Suffix(size) => *size,
    }
}
