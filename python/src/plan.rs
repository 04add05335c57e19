//! Plans of reads, for Python.

use pyo3::prelude::*;
use zarr::Plan;
use zarr::store::ByteRange;

/// Plan of a read, as a `dict`.
#[derive(IntoPyObject)]
pub(crate) struct Planned {
    requests: Vec<Request>,
    request_count: u64,
    rounds: u32,
    range_bytes: u64,
    unsized_requests: u64,
    chunks: u64,
    selected_bytes: Option<u64>,
    decoded_bytes: Option<u64>,
    if_missing: Option<String>,
}

/// Planned request: the key, its ranges as bounds of slices, the number of the round of requests, and whether the request is certain.
type Request = (String, Vec<(Option<i64>, Option<i64>)>, u32, bool);

impl From<Plan> for Planned {
    fn from(plan: Plan) -> Self {
        let requests = plan.requests.into_iter().map(|request| {
            let ranges = request.ranges.iter().map(bounds).collect();
            (request.key.to_string(), ranges, request.round, request.is_certain)
        });
        Self {
            requests: requests.collect(),
            request_count: plan.request_count,
            rounds: plan.rounds,
            range_bytes: plan.range_bytes,
            unsized_requests: plan.unsized_requests,
            chunks: plan.chunks,
            selected_bytes: plan.selected_bytes,
            decoded_bytes: plan.decoded_bytes,
            if_missing: plan.if_missing.map(|key| key.to_string()),
        }
    }
}

fn bounds(range: &ByteRange) -> (Option<i64>, Option<i64>) {
    // No value is longer than the longest file.
    let offset = |offset: u64| i64::try_from(offset).unwrap_or(i64::MAX);
    match range {
        ByteRange::Full => (None, None),
        ByteRange::Range(range) => (Some(offset(range.start)), Some(offset(range.end))),
        ByteRange::From(start) => (Some(offset(*start)), None),
        ByteRange::Suffix(size) => (Some(-offset(*size)), None),
        ByteRange::First(size) => (Some(0), Some(offset(*size))),
    }
}
