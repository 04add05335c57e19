//! Plan of a read: its requests and costs, found without the read.

use zarr_drive::DriverGet;
use zarr_store::{ByteRange, Key};

/// Plan of a read of a selection, made by [`Array::plan`](crate::Array::plan): the requests of the read, and their costs.
///
/// ```
/// # use std::sync::Arc;
/// # use zarr_array::{Array, NewArray, Registry, Store};
/// # let mut registry = Registry::default();
/// # registry.codecs.add(zarr_codec_bytes::BYTES);
/// # let store: Arc<dyn Store> = Arc::new(zarr_store::MemoryStore::new());
/// let new = NewArray::new(&[1000, 1000], "int16").chunks(&[100, 100]).codecs("bytes")?;
/// let array = Array::create(&store, "/a", new, &Arc::new(registry))?;
/// let plan = array.plan((0, ..))?;
/// assert_eq!((plan.chunks, plan.request_count, plan.rounds), (10, 10, 1));
/// assert_eq!(plan.requests[0].key.as_str(), "a/c/0/0");
/// assert_eq!((plan.selected_bytes, plan.range_bytes), (Some(2000), 2000));
/// # Ok::<(), zarr_array::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Plan {
    /// Requests of the read, sorted by round, key and range: all of them, or the first 131,072 that were planned.
    pub requests: Vec<PlannedRequest>,
    /// Number of all requests that are [certain](PlannedRequest::is_certain). The fields below count certain requests, too.
    pub request_count: u64,
    /// Minimum number of requests that follow each other, each waiting for the reply to the request before. Reading from a remote store
    /// takes this number of latencies if the bounds on requests and bytes in flight allow all requests of a round at once.
    pub rounds: u32,
    /// Number of bytes of all requests for ranges.
    pub range_bytes: u64,
    /// Number of requests for values whose size is not known beforehand.
    pub unsized_requests: u64,
    /// Number of chunks (shards, if the array is sharded) that the selection meets.
    pub chunks: u64,
    /// Number of bytes of the selected elements; `None` if they are of variable length.
    pub selected_bytes: Option<u64>,
    /// Number of bytes of the elements that are decoded: whole chunks and inner chunks, or the needed parts of chunks whose codecs decode
    /// parts. `None` if elements are of variable length.
    pub decoded_bytes: Option<u64>,
    /// Key of the array's document, which the read gets once more at the end, in a further round, to check that the array is still there;
    /// `None` if the read never does. `requests` does not include this request. On a store whose requests take long, only some reads make
    /// it: see [`Options::look_interval`](crate::Options::look_interval), and reads that find a chunk not stored.
    pub if_missing: Option<Key>,
}

/// Planned get request of a [`Plan`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PlannedRequest {
    /// Key of the value that is requested.
    pub key: Key,
    /// Ranges of the value that are requested.
    pub ranges: Vec<ByteRange>,
    /// Number of rounds of requests before this request: 0 for the first round.
    pub round: u32,
    /// Whether the request is made for any size of the value. If not, it stands for the rest of a value of unknown size: for no request, or
    /// for several in parts of [`AccessProfile::part_size`](zarr_store::AccessProfile::part_size) in one more round.
    pub is_certain: bool,
}

impl PlannedRequest {
    /// Makes the planned request of `get`, a get of a driver, for a request of `key` in round `round`.
    pub(crate) fn new(key: &Key, get: DriverGet, round: u32) -> Self {
        let DriverGet { ranges, round: after, is_certain, .. } = get;
        Self { key: key.clone(), ranges, round: round + after, is_certain }
    }
}
