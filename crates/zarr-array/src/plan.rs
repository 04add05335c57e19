//! The plan of a read: its requests, and what they cost, without the read.

use zarr_drive::DriverGet;
use zarr_store::{ByteRange, Key};

/// The requests that a read of a selection makes, and what they cost, by [`Array::plan`](crate::Array::plan).
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
    /// The requests, by round, key and range: all, or the first 131,072 that were planned of more.
    pub requests: Vec<PlannedRequest>,
    /// The number of all requests that are [certain](PlannedRequest::is_certain); the fields below are of these, too.
    pub request_count: u64,
    /// How many requests follow each other at least, each waiting for the reply to one before: the latencies that the read takes, if
    /// the store is far and the bounds of requests and bytes in flight allow all of a round at once.
    pub rounds: u32,
    /// The bytes of all requests for ranges.
    pub range_bytes: u64,
    /// How many requests are for values whose size is not known before.
    pub unsized_requests: u64,
    /// The chunks that the selection meets: shards, if the array is sharded.
    pub chunks: u64,
    /// The bytes of the selected elements; `None` if they are of variable length.
    pub selected_bytes: Option<u64>,
    /// The bytes of the elements that are decoded: all of each chunk or inner chunk, or the parts of those that can be decoded in
    /// part. `None` if they are of variable length.
    pub decoded_bytes: Option<u64>,
    /// The key of the document that the read gets once more, in a round of its own, to see that the array is still there; `None` if it never
    /// does. It is none of the requests. In a store whose requests take long only some reads get it
    /// ([`Options::look_interval`](crate::Options::look_interval)), and those that find that a chunk is not stored.
    pub if_missing: Option<Key>,
}

/// A request of a [`Plan`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PlannedRequest {
    /// The key.
    pub key: Key,
    /// The ranges of its value.
    pub ranges: Vec<ByteRange>,
    /// How many rounds of requests come before it: 0 for the first ones.
    pub round: u32,
    /// Whether it is made whatever the size of the value. Else it stands for the rest of a large value whose size is not known before:
    /// none or several requests, in parts of [`AccessProfile::part_size`](zarr_store::AccessProfile::part_size), in one more round.
    pub is_certain: bool,
}

impl PlannedRequest {
    /// The get of a driver for a request of this round.
    pub(crate) fn new(key: &Key, get: DriverGet, round: u32) -> Self {
        let DriverGet { ranges, round: after, is_certain, .. } = get;
        Self { key: key.clone(), ranges, round: round + after, is_certain }
    }
}
