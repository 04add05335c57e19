//! Options of arrays, and the registry of codecs and data types.

mod setters;

use crate::{ChunkCache, Result};
use std::any::Any;
use std::collections::BTreeSet;
use std::fmt::Debug;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use zarr_codec::{Codecs, Limits};
use zarr_dtype::{ByteOrder, DataType, DataTypes};
use zarr_grid::ChunkIndex;
use zarr_hierarchy::check_strictly;
use zarr_json::NamedConfig;
use zarr_meta::StoredNode;

/// Options for reading and writing an array. `Options::default()` has the defaults, and a method sets each option.
///
/// ```
/// use zarr_array::{MissingChunks, Options};
/// let options = Options::default().missing_chunks(MissingChunks::Error);
/// assert!(!options.write_empty_chunks);
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Options {
    /// Meaning of a chunk that is not stored; by default its elements have the fill value.
    pub missing_chunks: MissingChunks,
    /// Whether reads and writes assume that the array is still in the store as it was opened. By default a read gets the array's document
    /// once more at its end, and a write also before it begins. If others have erased, moved or replaced the array, an unchecked read could
    /// return fill values or elements of another array, and an unchecked write would be lost. Arrays opened from consolidated metadata are
    /// never checked.
    pub trust_missing: bool,
    /// Time after opening an array, or looking at its document, during which further operations do not look at the document again. Only for
    /// stores whose requests take long, such as buckets. `None` stands for a second; with zero each operation looks, as in other stores. A
    /// read that finds a chunk not stored looks in any case, and so does the first operation on an array whose metadata was read some time
    /// before ([`Array::from_found`](crate::Array::from_found)).
    pub look_interval: Option<Duration>,
    /// Whether chunks (not inner chunks of shards) that have nothing but fill values are stored. By default a write of a whole chunk erases
    /// such a chunk instead; a write of a part of a chunk never does. Such chunks are always stored in arrays whose fill value is undefined
    /// or is read differently by other software: see [`StoredNode::may_omit_empty_chunks`](zarr_meta::StoredNode::may_omit_empty_chunks).
    pub write_empty_chunks: bool,
    /// Whether checksums are always verified, or may be skipped.
    pub checksums: Checksums,
    /// Limits on the memory for one chunk.
    pub limits: Limits,
    /// Whether chunks of Zarr v1 arrays with `order` F and a compressor other than blosc are read and written in C order. The only software
    /// that wrote such arrays stored them in C order, against the specification of version 1. By default they are in F order, as the
    /// specification says.
    pub v1_f_order_is_c: bool,
    /// Whether an array with an unknown data type is refused even if its document names a fallback type, as documents of the drafts of
    /// version 3 may. By default the fallback type is used, and [`Array::warnings`](crate::Array::warnings) says so.
    pub refuse_fallbacks: bool,
    /// Data type to use instead of the fallback type that the document of an array with an unknown data type names; `None` to use the
    /// fallback type. Elements of this type must have the size of elements of the fallback type. The fill value has the same bytes, and the
    /// metadata stay unchanged.
    pub fallback_type: Option<NamedConfig>,
    /// Whether documents that deviate from the specification are refused, with an error of the kind
    /// [`InvalidMetadata`](crate::ErrorKind::InvalidMetadata) that names the first deviation. By default harmless deviations are accepted,
    /// and [`Array::warnings`](crate::Array::warnings) lists them.
    pub strict: bool,
    /// Whether writes of a part of a chunk, appends, and changes of shape and metadata are refused in a store without conditional sets
    /// ([`Capabilities::conditional`](zarr_store::Capabilities)), where they may lose what others write at the same time. By default they
    /// are done, and no other process may write at the same time.
    pub strict_writers: bool,
    /// Whether appends and changes of shape leave the consolidated metadata of groups above unchanged, so that the caller can update it for
    /// several arrays at once with [`renew_consolidated`](zarr_hierarchy::renew_consolidated). By default each append updates the array's entry after
    /// the array has grown, and a change to a smaller shape drops consolidated metadata before.
    pub consolidated_later: bool,
    /// Number of threads that read, decode, encode and write. Arrays with the same number share a pool. `None` stands for rayon's global
    /// pool, with a thread for each core. Ignored without the feature `parallel`.
    pub threads: Option<NonZeroUsize>,
    /// Maximum number of simultaneous requests of one operation on a store whose requests take long, such as a bucket. `None` stands for
    /// the [access profile](zarr_store::AccessProfile::concurrency) of the store.
    pub requests_in_flight: Option<NonZeroUsize>,
    /// Maximum number of bytes in flight of one operation on a store whose requests take long: bytes that are requested and not yet
    /// decoded, or encoded and not yet stored. Bounds the memory beside the output. `None` stands for the [access
    /// profile](zarr_store::AccessProfile::bytes_in_flight) of the store.
    pub bytes_in_flight: Option<u64>,
    /// Cache for decoded chunks and indexes of shards; `None` for no cache.
    pub cache: Option<ChunkCache>,
}

impl Options {
    /// Returns the node with its codecs adapted to [`v1_f_order_is_c`](Self::v1_f_order_is_c).
    #[must_use]
    pub fn as_read(&self, found: StoredNode) -> StoredNode {
        if self.v1_f_order_is_c { found.v1_f_order_is_c() } else { found }
    }

    /// Returns an error for a fallback data type if [`refuse_fallbacks`](Self::refuse_fallbacks), and for documents with deviations if
    /// [`strict`](Self::strict).
    ///
    /// # Errors
    /// [`ErrorKind::UnknownExtension`](crate::ErrorKind::UnknownExtension) for a fallback that is refused; the errors of
    /// [`check_strictly`].
    pub fn check(&self, found: &StoredNode) -> Result<()> {
        if let Some(error) = found.fallback.as_ref().filter(|_| self.refuse_fallbacks) {
            return Err(error.clone().into());
        }
        if self.strict { check_strictly(found) } else { Ok(()) }
    }
}

/// Meaning of a chunk that is not stored, for reads.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub enum MissingChunks {
    /// Elements of the chunk have the fill value, as the specification says.
    #[default]
    Fill,
    /// Reading the chunk is an error: it is taken for lost.
    Error,
    /// Elements of the chunk have the fill value, and the chunk is added to the report.
    Report(MissingReport),
}

/// List of chunks that reads found not to be stored. Clones share one list.
///
/// ```
/// use zarr_array::{MissingChunks, MissingReport, Options};
/// let report = MissingReport::default();
/// let options = Options::default().missing_chunks(MissingChunks::Report(report.clone()));
/// // ... arrays are opened with these options, and read ...
/// assert!(report.take().is_empty());
/// ```
#[derive(Clone, Debug, Default)]
pub struct MissingReport(Arc<Mutex<BTreeSet<ChunkIndex>>>);

impl MissingReport {
    /// Maximum number of chunks in the list, so that huge sparse arrays take little memory.
    pub const MOST: usize = 100_000;

    pub(crate) fn add(&self, chunk: &ChunkIndex) {
        let mut chunks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if chunks.len() < Self::MOST {
            chunks.insert(chunk.clone());
        }
    }

    /// Empties the list and returns its chunks, sorted. If reads found more than [`MOST`](Self::MOST) chunks, the list has the first ones
    /// found.
    #[must_use]
    pub fn take(&self) -> Vec<ChunkIndex> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner)).into_iter().collect()
    }
}

/// Verification of checksums by reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Checksums {
    /// Verifies checksums always, even if a whole chunk must be fetched for a part of it.
    #[default]
    Verify,
    /// Verifies checksums only if that needs no additional bytes.
    Skip,
}

/// Registry of the codecs and data types that are known by name, and of the defaults of new arrays. The facade crate `zarr` builds one from
/// its features.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Registry {
    /// Codecs that are known by name.
    pub codecs: Codecs,
    /// Data types that are known beside the built-in ones.
    pub data_types: DataTypes,
    /// Codecs of new arrays for which the caller names none.
    pub defaults: Defaults,
    origin: Origin,
}

/// Registry from which [`Registry::giving`] made another; `None` for a registry that was not made so.
#[derive(Debug, Default)]
struct Origin(Option<Arc<Registry>>);

impl Clone for Origin {
    /// Returns no origin, since the clone of the registry may be changed.
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Registry {
    /// Returns a copy of the registry in which the codec `name` is [given](Codecs::give) `value`. Arrays with copies that were given equal
    /// values share entries of a [cache](ChunkCache).
    #[must_use]
    pub fn giving<T: Any + PartialEq + Debug + Send + Sync>(
        self: &Arc<Self>,
        name: &'static str,
        value: T,
    ) -> Arc<Self> {
        let mut registry = Self::clone(self);
        registry.codecs.give(name, value);
        registry.origin = Origin(Some(Arc::clone(self)));
        Arc::new(registry)
    }

    /// Whether both registries decode all codecs alike: they are the same, or copies of one registry that were given equal values.
    pub(crate) fn decodes_as(self: &Arc<Self>, other: &Arc<Self>) -> bool {
        match (&self.origin.0, &other.origin.0) {
            _ if Arc::ptr_eq(self, other) => true,
            (Some(one), Some(two)) => Arc::ptr_eq(one, two) && self.codecs.gives_as(&other.codecs),
            _ => false,
        }
    }
}

/// Function that makes the sharding codec for inner chunks of the shape `chunks` with `codecs`.
pub type MakeShard = fn(chunks: &[u64], codecs: &[NamedConfig]) -> NamedConfig;

/// Codecs of new arrays for which the caller names none.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Defaults {
    /// Function that makes the default array-to-bytes codec for a data type and a byte order; `None` for no default.
    pub serializer: Option<fn(&DataType, ByteOrder) -> NamedConfig>,
    /// Function that makes the default compression codecs for a data type; `None` for no compression.
    pub compressor: Option<fn(&DataType) -> Vec<NamedConfig>>,
    /// Function that makes the sharding codec; `None` if there is no sharding codec.
    pub shard: Option<MakeShard>,
}
