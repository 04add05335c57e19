//! The requests of one step of a read.

use std::ops::Range;
use zarr_store::{ByteRange, GetOptions, Key, Request};

/// So many encoded bytes are asked for at once, unless a single inner chunk has more. Only the decoded bytes of a group are
/// bounded by its making, and an index may say anything of the encoded ones.
const MAX_ASKED: u64 = 64 << 20;

/// Counts the encoded bytes of inner chunks that are to be asked for at once.
#[derive(Debug, Default)]
pub(super) struct Asked(u64);

impl Asked {
    /// Adds an inner chunk that lies at `window`. Says whether it may be asked for with the inner chunks before it.
    pub(super) fn add(&mut self, window: Option<&Range<u64>>) -> bool {
        let before = self.0;
        self.0 = before.saturating_add(window.map_or(0, |window| window.end - window.start));
        before == 0 || self.0 <= MAX_ASKED
    }
}

/// Divides items into groups of at most `max_len` that are asked for at once; `window` is the byte range of one in its shard.
pub(super) fn groups<T>(items: Vec<T>, max_len: usize, window: impl Fn(&T) -> Option<&Range<u64>>) -> Vec<Vec<T>> {
    let mut groups = Vec::new();
    let mut group = Vec::new();
    let mut asked = Asked::default();
    for item in items {
        let joins = asked.add(window(&item)) && group.len() < max_len;
        if !joins && !group.is_empty() {
            groups.push(std::mem::take(&mut group));
            asked = Asked::default();
            asked.add(window(&item));
        }
        group.push(item);
    }
    if !group.is_empty() {
        groups.push(group);
    }
    groups
}

/// Requests being collected.
#[derive(Default)]
pub(super) struct Requests {
    requests: Vec<Request>,
    /// Whether others may join the last one.
    shared: bool,
}

impl Requests {
    /// Adds ranges of a value, to the last request if that is for the same one and both may be shared. Says which reply and
    /// which of its parts will answer.
    pub(super) fn add(
        &mut self,
        key: &Key,
        shared: bool,
        ranges: Vec<ByteRange>,
        options: GetOptions,
    ) -> (usize, Range<usize>) {
        let count = ranges.len();
        if shared
            && self.shared
            && let Some(Request::Get { key: last, ranges: asked, options: of }) = self.requests.last_mut()
            && (&*last, &*of) == (key, &options)
        {
            let start = asked.len();
            asked.extend(ranges);
            return (self.requests.len() - 1, start..start + count);
        }
        self.requests.push(Request::Get { key: key.clone(), ranges, options });
        self.shared = shared;
        (self.requests.len() - 1, 0..count)
    }

    pub(super) fn into_vec(self) -> Vec<Request> {
        self.requests
    }
}

/// How many bytes a chunk must have for a range to lie in it.
pub(super) fn needed(range: &ByteRange) -> u64 {
    match range {
        ByteRange::Full | ByteRange::First(_) => 0,
        ByteRange::Range(range) => range.end,
        ByteRange::From(size) | ByteRange::Suffix(size) => *size,
    }
}
