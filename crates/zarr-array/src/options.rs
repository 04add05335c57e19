//! How arrays are read and written.

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

/// How an array is read and written: a default, and a method for each option that is to be another.
///
/// ```
/// use zarr_array::{MissingChunks, Options};
/// let options = Options::default().missing_chunks(MissingChunks::Error);
/// assert!(!options.write_empty_chunks);
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Options {
    /// The meaning of a chunk that is not stored.
    pub missing_chunks: MissingChunks,
    /// Whether reads and writes take the array to be still there as it was opened. By default they look, with one request for its
    /// document at the end, and writes with another one before: others may have erased, moved or replaced it, and fill values, or elements
    /// of other chunks, would be read for data that was there, or written where nobody finds them. Arrays opened from consolidated
    /// metadata are not looked at.
    pub trust_missing: bool,
    /// The time for which an array counts as still there after it was opened, or looked at, in a store whose requests take long, such as a
    /// bucket: operations begun within it do not look. A second if not set; with zero each operation looks, as in other stores. A read that
    /// met chunks that are not stored looks in any case, and so does the first operation on an array whose metadata were read some time
    /// before ([`Array::from_found`](crate::Array::from_found)).
    pub look_interval: Option<Duration>,
    /// Whether chunks (not inner chunks of shards) of nothing but fill values are stored. By default a write of a whole chunk
    /// erases such a chunk instead; a write of a part of a chunk never does. They are always stored in arrays whose fill value is
    /// undefined or is read otherwise by other software: see
    /// [`StoredNode::may_omit_empty_chunks`](zarr_meta::StoredNode::may_omit_empty_chunks).
    pub write_empty_chunks: bool,
    /// Whether checksums may go unverified.
    pub checksums: Checksums,
    /// The limits of the memory for one chunk.
    pub limits: Limits,
    /// Whether arrays of Zarr v1 with `order` F and a compressor other than blosc are taken to be in C order: so the only
    /// software that wrote them stored them, against the text of that version. By default the text holds.
    pub v1_f_order_is_c: bool,
    /// Whether an array whose data type is not known is an error even if its document names another one to fall back
    /// to, as documents of the drafts of version 3 may. By default that is taken, and
    /// [`Array::warnings`](crate::Array::warnings) says so.
    pub refuse_fallbacks: bool,
    /// The data type that elements have where their own is not known and the document names one to fall back to: this one is taken
    /// instead. Its elements have the size of the fallback's, and its fill value has the same bytes. The metadata
    /// stay as they are.
    pub fallback_type: Option<NamedConfig>,
    /// Whether documents that are read although something is odd in them are refused: an error of the kind
    /// [`InvalidMetadata`](crate::ErrorKind::InvalidMetadata) names the first place. By default that is read, and
    /// [`Array::warnings`](crate::Array::warnings) says so.
    pub strict: bool,
    /// Whether a write of a part of a chunk, an append, another shape and other metadata are refused, before anything is written, in a
    /// store that does not set values on conditions ([`Capabilities::conditional`](zarr_store::Capabilities)): what another writes at
    /// the same time may be lost there. By default they are done, and no other may write at the same time.
    pub strict_writers: bool,
    /// Whether appends and another shape leave consolidated metadata of groups above as it is, for the copies of several arrays to change at
    /// once: [`renew_copies`](zarr_hierarchy::renew_copies) has to follow. By default each exchanges its own copy after an array has grown,
    /// and drops copies before one gets smaller.
    pub consolidated_later: bool,
    /// How many threads read, decode, encode and write; arrays that ask for the same number share them. By default rayon's global
    /// pool: one for each core. Not used without the feature `parallel`.
    pub threads: Option<NonZeroUsize>,
    /// How many requests one operation has under way at the same time on a store whose requests take long, such as a bucket: as many
    /// as the [access profile](zarr_store::AccessProfile::concurrency) of the store says, if not set.
    pub requests_in_flight: Option<NonZeroUsize>,
    /// How many bytes one operation has asked for and not yet decoded, or encoded and not yet stored, on such a store: as many as its
    /// [access profile](zarr_store::AccessProfile::bytes_in_flight) says, if not set. It bounds the memory beside the output.
    pub bytes_in_flight: Option<u64>,
    /// Where decoded chunks and indexes of shards are kept, if anywhere.
    pub cache: Option<ChunkCache>,
}

impl Options {
    /// The node as it is to be read: in the order of elements that [`v1_f_order_is_c`](Self::v1_f_order_is_c) says.
    #[must_use]
    pub fn as_read(&self, found: StoredNode) -> StoredNode {
        if self.v1_f_order_is_c { found.v1_f_order_is_c() } else { found }
    }

    /// Refuses a data type that is only a fallback, and documents in which something is odd, if so asked.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownExtension`](crate::ErrorKind::UnknownExtension) for a fallback that is refused; as [`check_strictly`].
    pub fn check(&self, found: &StoredNode) -> Result<()> {
        if let Some(error) = found.fallback.as_ref().filter(|_| self.refuse_fallbacks) {
            return Err(error.clone().into());
        }
        if self.strict { check_strictly(found) } else { Ok(()) }
    }
}

/// The meaning of a chunk that is not stored.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub enum MissingChunks {
    /// Its elements are the fill value, as the specification says.
    #[default]
    Fill,
    /// Something was lost: reading it is an error.
    Error,
    /// Its elements are the fill value, and it is noted in the report.
    Report(MissingReport),
}

/// The chunks that reads found not to be stored. Clones share one list.
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
    /// Chunks that are noted at most, so that huge sparse arrays take little memory.
    pub const MOST: usize = 100_000;

    pub(crate) fn add(&self, chunk: &ChunkIndex) {
        let mut chunks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if chunks.len() < Self::MOST {
            chunks.insert(chunk.clone());
        }
    }

    /// The chunks noted since the last call, sorted; of more than [`MOST`](Self::MOST) the first ones noted.
    #[must_use]
    pub fn take(&self) -> Vec<ChunkIndex> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner)).into_iter().collect()
    }
}

/// Whether checksums are verified.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Checksums {
    /// Always, even if that means to fetch a whole chunk for a part of it.
    #[default]
    Verify,
    /// Only where that costs no more bytes.
    Skip,
}

/// The codecs and data types known by name. A value that is passed on; the facade crate `zarr` builds one from its
/// features.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Registry {
    /// The codecs.
    pub codecs: Codecs,
    /// The data types beside the built-in ones.
    pub data_types: DataTypes,
    /// The settings of new arrays where nothing else is asked for.
    pub defaults: Defaults,
    origin: Origin,
}

/// The table that another one was made of by giving a codec a value.
#[derive(Debug, Default)]
struct Origin(Option<Arc<Registry>>);

impl Clone for Origin {
    /// None: the clone may become another table.
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Registry {
    /// The same table, in which the codec called `name` is [given](Codecs::give) this value. To a [cache](ChunkCache) two of them that were
    /// given equal values are the same table.
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

    /// Whether all codecs decode alike by both tables.
    pub(crate) fn decodes_as(self: &Arc<Self>, other: &Arc<Self>) -> bool {
        match (&self.origin.0, &other.origin.0) {
            _ if Arc::ptr_eq(self, other) => true,
            (Some(one), Some(two)) => Arc::ptr_eq(one, two) && self.codecs.gives_as(&other.codecs),
            _ => false,
        }
    }
}

/// Makes the codec that divides shards of `codecs` into inner chunks of a shape.
pub type MakeShard = fn(chunks: &[u64], codecs: &[NamedConfig]) -> NamedConfig;

/// The codecs that new arrays get where nothing else is asked for.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Defaults {
    /// The codec that turns elements of a type into bytes of a byte order.
    pub serializer: Option<fn(&DataType, ByteOrder) -> NamedConfig>,
    /// The codecs that compress bytes of elements of a type.
    pub compressor: Option<fn(&DataType) -> Vec<NamedConfig>>,
    /// The codec that makes shards.
    pub shard: Option<MakeShard>,
}
