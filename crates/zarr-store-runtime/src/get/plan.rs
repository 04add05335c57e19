//! Requests that the ranges of a get need.

use std::collections::HashSet;
use std::ops::Range;

use zarr_store::ByteRange;

use super::RangeRequest;

/// Greatest offset in a request. No value is larger, and servers that calculate with floats support no larger numbers: a range beyond it
/// only asks for the size, and is then refused.
const MAX: u64 = 1 << 53;

/// Returns the requests for `ranges`, without duplicates. An empty range needs no request: any response has the size, which tells whether
/// the range is inside.
pub(super) fn plan(ranges: &[ByteRange]) -> Vec<RangeRequest> {
    let mut requests = Vec::new();
    let mut seen = HashSet::new();
    for range in ranges {
        let request = match range {
            ByteRange::Full => return vec![RangeRequest::All],
            ByteRange::First(len) if *len >= MAX => return vec![RangeRequest::All],
            ByteRange::First(len) if *len > 0 => RangeRequest::Bounds(0..*len),
            ByteRange::Range(at) if at.start < at.end && at.end <= MAX => RangeRequest::Bounds(at.clone()),
            ByteRange::From(0) => return vec![RangeRequest::All],
            ByteRange::From(start) if *start <= MAX => RangeRequest::From(*start),
            ByteRange::Suffix(len) if (1..=MAX).contains(len) => RangeRequest::Last(*len),
            _ => continue,
        };
        if seen.insert(request.clone()) {
            requests.push(request);
        }
    }
    requests
}

/// Returns a request by offsets for the end of a value of `size` bytes. If the end exceeds the value, only asks for its size.
pub(super) fn within(request: &RangeRequest, size: u64) -> RangeRequest {
    match request {
        RangeRequest::Last(len) if *len <= size => RangeRequest::Bounds(size - len..size),
        RangeRequest::Last(_) => RangeRequest::Bounds(0..1),
        other => other.clone(),
    }
}

/// Returns one request for the bytes of all ranges in a value of `size` bytes.
pub(super) fn hull(ranges: &[ByteRange], size: u64) -> RangeRequest {
    let inside = ranges.iter().filter_map(|range| range.resolve(size)).filter(|at| !at.is_empty());
    match inside.reduce(|a, b| Range { start: a.start.min(b.start), end: a.end.max(b.end) }) {
        Some(at) => RangeRequest::Bounds(at),
        None => RangeRequest::Bounds(0..1),
    }
}
