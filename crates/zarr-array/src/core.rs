//! State of an opened array without its store, which blocking and async arrays share.

use crate::cache::{ArrayCache, DecodeIdentity, InvalidationGuard, StoreId};
use crate::element::{element_spec, instead_of_fallback};
use crate::kept_indexes::KeptIndexes;
use crate::seen::Seen;
use crate::{Error, ErrorKind, Options, Registry, Result, Warning};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use zarr_codec::{ElementSpec, Pipeline, Warnings};
use zarr_dtype::{DataType, Element};
use zarr_grid::{ChunkGrid, ChunkKeyEncoding};
use zarr_hierarchy::check_warnings;
use zarr_hierarchy::chunk_keys::{ChunkLocation, other_locations};
use zarr_hierarchy::node::pin_prefix;
use zarr_meta::codec_facts::{NUMCODECS, codec_named};
use zarr_meta::{ArrayMetadata, Dialect, Node, NodePath, StoredNode};
use zarr_store::{Capabilities, Key, Prefix};

/// State of an opened array without its store.
pub(crate) struct ArrayCore {
    pub(crate) found: StoredNode,
    pub(crate) store: String,
    pub(crate) grid: ChunkGrid,
    pub(crate) keys: ChunkKeyEncoding,
    /// Prefix of all chunk keys that the metadata implies.
    pub(crate) prefix: String,
    pub(crate) codecs: Arc<Pipeline>,
    pub(crate) options: Options,
    pub(crate) registry: Arc<Registry>,
    pub(crate) warnings: Vec<Warning>,
    /// Other locations in which the chunks may lie, in the order in which they are tried.
    others: Vec<ChunkLocation>,
    /// Prefix under which both the documents and the chunks lie; `None` if there is no such prefix.
    pub(crate) pin_prefix: Option<Prefix>,
    pub(crate) seen: Seen,
    location: FoundLocation,
    cache: Option<ArrayCache>,
    kept_indexes: KeptIndexes,
    #[cfg(feature = "parallel")]
    threads: std::sync::OnceLock<zarr_drive::Threads>,
}

/// Number of the location in which the chunks of an array lie: 0 is the location that the metadata implies, and others follow in the order
/// of `others`.
///
/// Zarr v2 before 2021 left out which separator its keys have, and the drafts of v3 changed keys under one name.
#[derive(Debug, Default)]
struct FoundLocation(AtomicU8);

/// Value of [`FoundLocation`] while no chunk was found yet.
const UNKNOWN: u8 = u8::MAX;

impl ArrayCore {
    /// Makes an array of a stored node: builds its codecs and types, and checks everything that the metadata can show. An array that opens
    /// does not fail later for a reason that its metadata shows.
    pub(crate) fn new(found: StoredNode, store: String, registry: Arc<Registry>, options: Options) -> Result<Self> {
        let found = options.as_read(found);
        options.check(&found).map_err(|error| {
            error.at(|location| (location.store, location.path) = (Some(store.clone()), Some(found.path.to_string())))
        })?;
        let path = found.path.clone();
        let key = found.document_key().map(str::to_owned);
        Self::bind(found, store.clone(), registry, options).map_err(|error| {
            error.at(|location| {
                location.store = Some(store);
                location.path = Some(path.to_string());
                location.key = key;
            })
        })
    }

    fn bind(found: StoredNode, store: String, registry: Arc<Registry>, options: Options) -> Result<Self> {
        let Node::Array(metadata) = &found.node else {
            return Err(Error::new(ErrorKind::NotFound, "found a group, expected an array"));
        };
        if let Some(error) = &found.unknown {
            return Err(error.clone().into());
        }
        let stored = |error: Error| error.map_pointer(|pointer| found.document_pointer(pointer));
        let element = element_spec(metadata, found.dialect, &registry.data_types).map_err(stored)?;
        let (element, codecs) = match options.fallback_type.as_ref().filter(|_| found.fallback.is_some()) {
            Some(data_type) => instead_of_fallback(metadata, &element, data_type, &registry.data_types)?,
            None => (element, metadata.codecs.clone()),
        };
        let element = ElementSpec { may_omit_empty_chunks: found.may_omit_empty_chunks, ..element };
        let grid = ChunkGrid::from_config(&metadata.chunk_grid, &metadata.shape)
            .map_err(|error| stored(Error::in_metadata("/chunk_grid", error)))?;
        let keys = ChunkKeyEncoding::from_config(&metadata.chunk_key_encoding)
            .map_err(|error| stored(Error::in_metadata("/chunk_key_encoding", error)))?;
        if let Some(transformer) = metadata.storage_transformers.iter().find(|it| it.must_understand) {
            let message = format!("unknown storage transformer {:?}", transformer.name);
            return Err(Error::new(ErrorKind::UnknownExtension, message).at(|location| {
                location.pointer = Some("/storage_transformers".to_owned());
            }));
        }
        // A chunk is held in memory as a whole; the array need not be, and may have any size.
        let largest = grid.largest_chunk_shape();
        zarr_grid::element_count(&largest)
            .and_then(|count| count.checked_mul(element.item_size() as u64))
            .ok_or_else(|| Error::new(ErrorKind::InvalidMetadata, "the size of a chunk overflows 64 bits"))?;
        let warnings = Warnings::default();
        let codecs = registry
            .codecs
            .pipeline(&codecs, &element, &largest, &options.limits, &warnings)
            .map_err(|error| in_codecs(&found, error))?;
        let prefix = found.chunk_prefix();
        let others = other_locations(&found, &prefix, metadata.shape.len())?;
        let pin_prefix = pin_prefix(&found)?;
        let location = FoundLocation(AtomicU8::new(if others.is_empty() { 0 } else { UNKNOWN }));
        let mut all_warnings = found.warnings.clone();
        all_warnings.extend(warnings.into_vec().into_iter().map(|warning| {
            let pointer = found.document_pointer(&format!("/codecs{}", warning.pointer));
            Warning::new(found.document_key().unwrap_or_default(), pointer, warning.what)
        }));
        if options.strict {
            check_warnings(&found, &all_warnings)?;
        }
        Ok(Self {
            found,
            store,
            grid,
            keys,
            prefix,
            codecs,
            options,
            registry,
            warnings: all_warnings,
            others,
            pin_prefix,
            seen: Seen::default(),
            location,
            cache: None,
            kept_indexes: KeptIndexes::default(),
            #[cfg(feature = "parallel")]
            threads: std::sync::OnceLock::new(),
        })
    }

    /// Metadata of the array.
    pub(crate) fn metadata(&self) -> &ArrayMetadata {
        match &self.found.node {
            Node::Array(metadata) => metadata,
            Node::Group(_) => unreachable!("groups are refused when the array is bound"),
        }
    }

    pub(crate) fn path(&self) -> &NodePath {
        &self.found.path
    }

    pub(crate) fn dialect(&self) -> Dialect {
        self.found.dialect
    }

    pub(crate) fn element(&self) -> &ElementSpec {
        self.codecs.element()
    }

    pub(crate) fn data_type(&self) -> &DataType {
        &self.element().data_type
    }

    /// Key of the chunk at `index`, in the location in which chunks were found, or else in the location that the metadata implies.
    pub(crate) fn key(&self, index: &[u64]) -> Result<Key> {
        match self.other_location() {
            Some(other) => self.key_as(&other.prefix, &other.keys, index),
            None => self.key_as(&self.prefix, &self.keys, index),
        }
    }

    /// Location in which chunks were found; `None` if it is the location that the metadata implies, or if no chunk was found yet.
    pub(crate) fn other_location(&self) -> Option<&ChunkLocation> {
        let found = self.location.0.load(Ordering::Relaxed);
        if found == UNKNOWN { None } else { self.others.get(usize::from(found).checked_sub(1)?) }
    }

    /// Number of the location to try next for a chunk that is not in location number `tried`, and the key of the chunk in that location;
    /// `None` if there is no further location.
    pub(crate) fn other_key(&self, index: &[u64], tried: u8) -> Option<(u8, Key)> {
        let next = match self.location.0.load(Ordering::Relaxed) {
            UNKNOWN => tried.checked_add(1)?,
            // Found meanwhile.
            found if found > tried => found,
            _ => return None,
        };
        let other = self.others.get(usize::from(next).checked_sub(1)?)?;
        Some((next, self.key_as(&other.prefix, &other.keys, index).ok()?))
    }

    /// Whether the location of the chunks is still unknown: no chunk was found yet, and the metadata allows several locations.
    pub(crate) fn is_location_unknown(&self) -> bool {
        self.location.0.load(Ordering::Relaxed) == UNKNOWN
    }

    /// Notes that a chunk was found in the location with number `location`.
    pub(crate) fn note_location(&self, location: u8) {
        if self.is_location_unknown() {
            self.location.0.store(location, Ordering::Relaxed);
        }
    }

    /// Prefix of all chunk keys, in the location in which chunks were found, or else in the location that the metadata implies.
    pub(crate) fn chunk_prefix(&self) -> &str {
        self.other_location().map_or(self.prefix.as_str(), |other| other.prefix.as_str())
    }

    /// Possible locations of chunks, each with its number, prefix and key encoding. If the location is known, it is the only one.
    pub(crate) fn locations(&self) -> impl Iterator<Item = (u8, &str, &ChunkKeyEncoding)> {
        let found = self.location.0.load(Ordering::Relaxed);
        let others = self.others.iter().map(|other| (other.prefix.as_str(), &other.keys));
        let all = std::iter::once((self.prefix.as_str(), &self.keys)).chain(others);
        (0..UNKNOWN)
            .zip(all)
            .filter(move |(number, _)| found == UNKNOWN || found == *number)
            .map(|(number, (prefix, keys))| (number, prefix, keys))
    }

    fn key_as(&self, prefix: &str, keys: &ChunkKeyEncoding, index: &[u64]) -> Result<Key> {
        let mut text = String::with_capacity(prefix.len() + 8 * index.len() + 4);
        text.push_str(prefix);
        keys.write_key(index, &mut text);
        Ok(Key::new(&text)?)
    }

    /// Index of the chunk whose key is `key`; `None` if `key` is not the key of a chunk in the grid.
    pub(crate) fn parse_key(&self, key: &str) -> Option<zarr_grid::ChunkIndex> {
        let rank = self.grid.rank();
        let parse = |prefix: &str, keys: &ChunkKeyEncoding| keys.parse_key(key.strip_prefix(prefix)?, rank);
        let index = self.locations().find_map(|(_, prefix, keys)| parse(prefix, keys))?;
        self.grid.check_index(&index).is_ok().then_some(index)
    }

    /// Pool of threads on which decoding runs; `None` for the shared pool.
    ///
    /// # Errors
    /// If the system has no threads for it.
    #[cfg(feature = "parallel")]
    pub(crate) fn threads(&self) -> Result<Option<&zarr_drive::Threads>> {
        let Some(count) = self.options.threads else { return Ok(None) };
        if self.threads.get().is_none() {
            let refused = |error| Error::new(ErrorKind::Limit, format!("the system refuses {count} threads: {error}"));
            // If another thread was faster, that is the same pool.
            let _ = self.threads.set(zarr_drive::Threads::shared(count).map_err(refused)?);
        }
        Ok(self.threads.get())
    }

    /// Sets the time at which the array was last seen in the store.
    pub(crate) fn seen(self, seen: Seen) -> Self {
        Self { seen, ..self }
    }

    /// Attaches the cache of the array's options to the array, as an array of `store`.
    pub(crate) fn cached(mut self, store: StoreId) -> Self {
        self.cache = self.options.cache.clone().map(|cache| {
            let metadata = self.metadata();
            let identity = DecodeIdentity {
                dialect: self.dialect(),
                data_type: metadata.data_type.clone(),
                fallback_type: self.options.fallback_type.clone(),
                fill_value: metadata.fill_value.clone(),
                chunk_grid: metadata.chunk_grid.clone(),
                chunk_key_encoding: metadata.chunk_key_encoding.clone(),
                codecs: metadata.codecs.clone(),
                checksums: self.options.checksums,
                registry: Arc::clone(&self.registry),
            };
            let sharded = self.codecs.is_sharded(&self.grid.largest_chunk_shape());
            ArrayCache::new(cache, store, self.path(), identity, sharded)
        });
        self
    }

    /// Cache of decoded chunks; `None` if the options name none.
    pub(crate) fn cache(&self) -> Option<&ArrayCache> {
        self.cache.as_ref()
    }

    /// Indexes of shards that the array retains between reads.
    pub(crate) fn kept_indexes(&self) -> &KeptIndexes {
        &self.kept_indexes
    }

    /// Returns a guard to hold while a chunk (all chunks if `None`) is changed, so that no cache retains an older state of the chunk.
    pub(crate) fn invalidation(&self, chunk: Option<&[u64]>) -> Option<InvalidationGuard> {
        self.kept_indexes.forget(chunk);
        self.cache.as_ref().map(|cache| cache.invalidation(chunk))
    }

    /// Adds the store and the path of the array to an error.
    pub(crate) fn locate(&self, error: Error) -> Error {
        error.at(|location| {
            location.store = Some(self.store.clone());
            location.path = Some(self.path().to_string());
        })
    }

    /// Returns an error for the change `what` if strict writers are asked for and the store could lose concurrent writes of others.
    pub(crate) fn check_writers(&self, capabilities: Capabilities, what: &str) -> Result<()> {
        if !self.options.strict_writers {
            return Ok(());
        }
        zarr_hierarchy::check_strict_writers(capabilities, what).map_err(|error| self.locate(error))
    }

    /// Checks that elements of the array are values of the Rust type `T`.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`](crate::ErrorKind::Argument) with both types, the array and, for numbers, a remedy.
    pub(crate) fn check_type<T: Element>(&self) -> Result<()> {
        let data_type = &self.element().data_type;
        data_type.as_taken_by::<T>().map(drop).map_err(|error| {
            let error = self.locate(error.into());
            if data_type.class().is_some() {
                error.with_hint("`read_as` converts numbers to another type")
            } else {
                error
            }
        })
    }

    /// Makes the same array from the documents in `found`, which were read or written just now.
    pub(crate) fn with_found(&self, found: StoredNode) -> Result<Self> {
        let mut core = Self::new(found, self.store.clone(), Arc::clone(&self.registry), self.options.clone())?;
        core.seen = Seen::now();
        if let Some(cache) = &self.cache {
            core = core.cached(cache.store().clone());
        }
        core.location.0.store(self.location.0.load(Ordering::Relaxed), Ordering::Relaxed);
        #[cfg(feature = "parallel")]
        if let Some(threads) = self.threads()? {
            let _ = core.threads.set(threads.clone());
        }
        Ok(core)
    }
}

fn in_codecs(found: &StoredNode, error: zarr_codec::Error) -> Error {
    let mut error = error.under("/codecs");
    if let zarr_codec::Error::Metadata { pointer, .. } | zarr_codec::Error::Unknown { pointer, .. } = &mut error {
        *pointer = found.document_pointer(pointer);
    }
    // Documents of older dialects have a URI, or the id that the name of version 3 is made of.
    if let zarr_codec::Error::Unknown { name, pointer, .. } = &mut error
        && !found.dialect.is_v3()
    {
        let id = codec_named(name).map_or_else(|| name.strip_prefix(NUMCODECS), |codec| codec.id);
        if let Some(stored) = found.codec_uri(pointer).or_else(|| id.map(str::to_owned)) {
            *name = stored;
        }
    }
    Error::from(error)
}
