//! What blocking and async arrays have in common: everything but the store.

use crate::cache::{ArrayCache, Changing, StoreId};
use crate::options::check_warnings;
use crate::read::{CachedRead, ReadContext};
use crate::{Checksums, Error, ErrorKind, Options, Registry, Result, Warning};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use zarr_codec::{Access, ElementSpec, Pipeline, Warnings};
use zarr_dtype::{DataType, DataTypes, FillValue, Spelling};
use zarr_grid::{ChunkGrid, ChunkKeyEncoding, Separator};
use zarr_meta::{ArrayMetadata, Dialect, Found, NamedConfig, Node, NodePath};
use zarr_store::Key;

/// An opened array without its store.
#[derive(Debug)]
pub(crate) struct ArrayCore {
    pub(crate) found: Found,
    pub(crate) store: String,
    pub(crate) grid: ChunkGrid,
    pub(crate) keys: ChunkKeyEncoding,
    /// What all chunk keys begin with.
    pub(crate) prefix: String,
    pub(crate) codecs: Arc<Pipeline>,
    pub(crate) options: Options,
    pub(crate) registry: Arc<Registry>,
    pub(crate) warnings: Vec<Warning>,
    /// Where chunks may lie instead, in the order to be tried.
    others: Vec<Place>,
    place: FoundPlace,
    cache: Option<ArrayCache>,
    #[cfg(feature = "parallel")]
    pool: std::sync::OnceLock<Arc<rayon::ThreadPool>>,
}

/// Where chunks may lie, and under which keys.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) prefix: String,
    pub(crate) keys: ChunkKeyEncoding,
}

/// Which place the chunks of an array lie in: 0 is the one that its metadata implies, others follow in their order.
///
/// Zarr v2 before 2021 left out which separator its keys have, and the drafts of v3 changed keys under one name.
#[derive(Debug, Default)]
struct FoundPlace(AtomicU8);

/// No chunk was found yet.
const UNKNOWN: u8 = u8::MAX;

impl ArrayCore {
    /// Binds what was found to codecs and types, and checks all of it: an array that opens does not fail later for a
    /// reason that its metadata shows.
    pub(crate) fn new(found: Found, store: String, registry: Arc<Registry>, options: Options) -> Result<Self> {
        let found = options.as_read(found);
        options.check(&found).map_err(|error| {
            error.at(|place| (place.store, place.path) = (Some(store.clone()), Some(found.path.to_string())))
        })?;
        let path = found.path.clone();
        let key = found.document_key().map(str::to_owned);
        Self::bind(found, store.clone(), registry, options).map_err(|error| {
            error.at(|place| {
                place.store = Some(store);
                place.path = Some(path.to_string());
                place.key = key;
            })
        })
    }

    fn bind(found: Found, store: String, registry: Arc<Registry>, options: Options) -> Result<Self> {
        let Node::Array(metadata) = &found.node else {
            return Err(Error::new(ErrorKind::NotFound, "found a group, expected an array"));
        };
        let stored = |error: Error| error.map_pointer(|pointer| found.document_pointer(pointer));
        let element = element(metadata, found.dialect, &registry.data_types).map_err(stored)?;
        let (element, codecs) = match options.fallback_type.as_ref().filter(|_| found.fallback.is_some()) {
            Some(data_type) => instead_of_fallback(metadata, &element, data_type, &registry.data_types)?,
            None => (element, metadata.codecs.clone()),
        };
        let element = ElementSpec { fill_agreed: found.fill_value_agreed, ..element };
        let grid = ChunkGrid::from_config(&metadata.chunk_grid, &metadata.shape)
            .map_err(|error| stored(in_member("/chunk_grid", error)))?;
        let keys = ChunkKeyEncoding::from_config(&metadata.chunk_key_encoding)
            .map_err(|error| stored(in_member("/chunk_key_encoding", error)))?;
        if let Some(transformer) = metadata.storage_transformers.iter().find(|it| it.must_understand) {
            let message = format!("unknown storage transformer {:?}", transformer.name);
            return Err(Error::new(ErrorKind::UnknownExtension, message).at(|place| {
                place.pointer = Some("/storage_transformers".to_owned());
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
        let others = other_places(&found, &prefix, metadata.shape.len())?;
        let place = FoundPlace(AtomicU8::new(if others.is_empty() { 0 } else { UNKNOWN }));
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
            place,
            cache: None,
            #[cfg(feature = "parallel")]
            pool: std::sync::OnceLock::new(),
        })
    }

    /// The metadata of the array.
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

    /// The key of a chunk, as the array's metadata or what was found in the store says.
    pub(crate) fn key(&self, index: &[u64]) -> Result<Key> {
        match self.other_place() {
            Some(other) => self.key_as(&other.prefix, &other.keys, index),
            None => self.key_as(&self.prefix, &self.keys, index),
        }
    }

    /// The place that chunks were found in, if it is another than the metadata implies.
    pub(crate) fn other_place(&self) -> Option<&Place> {
        let found = self.place.0.load(Ordering::Relaxed);
        if found == UNKNOWN { None } else { self.others.get(usize::from(found).checked_sub(1)?) }
    }

    /// The place to try next for a chunk that is not in place number `tried`, and its key there.
    pub(crate) fn other_key(&self, index: &[u64], tried: u8) -> Option<(u8, Key)> {
        let next = match self.place.0.load(Ordering::Relaxed) {
            UNKNOWN => tried.checked_add(1)?,
            // Found meanwhile.
            found if found > tried => found,
            _ => return None,
        };
        let other = self.others.get(usize::from(next).checked_sub(1)?)?;
        Some((next, self.key_as(&other.prefix, &other.keys, index).ok()?))
    }

    /// Whether it is still not known where chunks lie.
    pub(crate) fn place_unknown(&self) -> bool {
        self.place.0.load(Ordering::Relaxed) == UNKNOWN
    }

    /// A chunk was found in the place of this number.
    pub(crate) fn found_place(&self, place: u8) {
        if self.place_unknown() {
            self.place.0.store(place, Ordering::Relaxed);
        }
    }

    /// What all chunk keys begin with, as far as is known.
    pub(crate) fn chunk_prefix(&self) -> &str {
        self.other_place().map_or(self.prefix.as_str(), |other| other.prefix.as_str())
    }

    /// The places that chunks may lie in, with their numbers: one if it is known.
    pub(crate) fn places(&self) -> impl Iterator<Item = (u8, &str, &ChunkKeyEncoding)> {
        let found = self.place.0.load(Ordering::Relaxed);
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

    /// The chunk whose key this is.
    pub(crate) fn parse_key(&self, key: &str) -> Option<zarr_grid::ChunkIndex> {
        let rank = self.grid.rank();
        let parse = |prefix: &str, keys: &ChunkKeyEncoding| keys.parse_key(key.strip_prefix(prefix)?, rank);
        let index = self.places().find_map(|(_, prefix, keys)| parse(prefix, keys))?;
        self.grid.check_index(&index).is_ok().then_some(index)
    }

    /// How encoded bytes are asked for.
    fn access(&self, coalesce: &zarr_store::Coalesce) -> Access {
        Access { slab: coalesce.slab, skip_checksums: self.options.checksums == Checksums::Skip }
    }

    /// Where decoding runs; `None`: on the shared pool.
    ///
    /// # Errors
    /// If the system has no threads for it.
    #[cfg(feature = "parallel")]
    pub(crate) fn pool(&self) -> Result<Option<&Arc<rayon::ThreadPool>>> {
        let Some(threads) = self.options.threads else { return Ok(None) };
        if self.pool.get().is_none() {
            // If another thread was faster, that is the same one.
            let _ = self.pool.set(crate::execute::pool(threads)?);
        }
        Ok(self.pool.get())
    }

    /// The array with the cache that its options name, as one of a store.
    pub(crate) fn cached(mut self, store: StoreId) -> Self {
        self.cache = ArrayCache::of(&self, store);
        self
    }

    /// How a region is read: not through the cache, where what is read is to be written again.
    pub(crate) fn reading(&self, coalesce: &zarr_store::Coalesce, zeroed: bool) -> ReadContext<'_> {
        ReadContext::new(self, self.access(coalesce), zeroed)
    }

    /// How `size` bytes are read for the user: through the cache, if there is one.
    pub(crate) fn reading_cached(&self, coalesce: &zarr_store::Coalesce, zeroed: bool, size: usize) -> ReadContext<'_> {
        let cached = self.cache.as_ref().and_then(|cache| CachedRead::new(cache, size));
        let mut context = self.reading(coalesce, zeroed);
        context.cached = cached;
        context
    }

    /// To be held while a chunk (all if `None`) is changed, so that no cache keeps what it was.
    pub(crate) fn changing(&self, chunk: Option<&[u64]>) -> Option<Changing> {
        self.cache.as_ref().map(|cache| cache.changing(chunk))
    }

    /// Adds the array's place to an error.
    pub(crate) fn place(&self, error: Error) -> Error {
        error.at(|place| {
            place.store = Some(self.store.clone());
            place.path = Some(self.path().to_string());
        })
    }

    /// The same array with other metadata, as found in `found`.
    pub(crate) fn with_found(&self, found: Found) -> Result<Self> {
        let mut core = Self::new(found, self.store.clone(), Arc::clone(&self.registry), self.options.clone())?;
        core.cache = self.cache.as_ref().and_then(|cache| cache.reopened(&core));
        core.place.0.store(self.place.0.load(Ordering::Relaxed), Ordering::Relaxed);
        #[cfg(feature = "parallel")]
        if let Some(pool) = self.pool()? {
            let _ = core.pool.set(Arc::clone(pool));
        }
        Ok(core)
    }
}

/// Where chunks may lie beside the place that the metadata implies, which is below `prefix`.
pub(crate) fn other_places(found: &Found, prefix: &str, rank: usize) -> Result<Vec<Place>> {
    let mut others = Vec::new();
    if found.separator_unmarked && rank > 1 {
        others.push(Place { prefix: prefix.to_owned(), keys: ChunkKeyEncoding::V2 { separator: Separator::Slash } });
    }
    for other in &found.fallback_keys {
        let keys =
            ChunkKeyEncoding::from_config(&other.encoding).map_err(|error| in_member("/chunk_key_encoding", error))?;
        others.push(Place { prefix: other.prefix.clone(), keys });
    }
    Ok(others)
}

/// The type and fill value of an array's elements.
pub(crate) fn element(metadata: &ArrayMetadata, dialect: Dialect, types: &DataTypes) -> Result<ElementSpec> {
    // What older writers wrote is read; the final format is strict.
    let spelling = if dialect == Dialect::V3 { Spelling::Strict } else { Spelling::Lenient };
    let data_type = types.from_config(&metadata.data_type).map_err(|error| in_type("/data_type", error))?;
    let fill = match &metadata.fill_value {
        None => FillValue::zero(&data_type),
        Some(value) => {
            FillValue::parse_as(&data_type, value, spelling).map_err(|error| in_type("/fill_value", error))?
        }
    };
    Ok(ElementSpec::new(data_type, fill))
}

/// The elements of an array, and its codecs, if they are of `data_type` and not of the type that its document falls back to.
pub(crate) fn instead_of_fallback(
    metadata: &ArrayMetadata,
    fallback: &ElementSpec,
    data_type: &NamedConfig,
    types: &DataTypes,
) -> Result<(ElementSpec, Vec<NamedConfig>)> {
    let name = data_type.name.as_str();
    let wanted = types.from_config(data_type).map_err(|error| in_type("/data_type", error))?;
    let bytes = fallback.fill.item().filter(|item| item.len() == wanted.item_size());
    let Some(bytes) = bytes.filter(|_| fallback.item_size() == wanted.item_size() && !wanted.is_variable()) else {
        let found = metadata.data_type.short_value();
        let message = format!("elements of type {name} have another size than those of the fallback {found}");
        return Err(Error::new(ErrorKind::Argument, message).at(|place| place.pointer = Some("/data_type".to_owned())));
    };
    let fill = FillValue::from_bytes(&wanted, bytes).map_err(|error| in_type("/fill_value", error))?;
    let mut codecs = metadata.codecs.clone();
    // Bytes of a fallback without byte order are those of the draft's default.
    for bytes in codecs.iter_mut().filter(|codec| codec.name == "bytes" && wanted.item_size() > 1) {
        if !bytes.configuration.contains_key("endian") {
            bytes.configuration.insert("endian", "little");
        }
    }
    Ok((ElementSpec::new(wanted, fill), codecs))
}

fn in_member(member: &str, error: zarr_grid::Error) -> Error {
    let kind = match error {
        zarr_grid::Error::UnknownName { .. } => ErrorKind::UnknownExtension,
        _ => ErrorKind::InvalidMetadata,
    };
    Error::from(error).with_kind(kind).at(|place| place.pointer = Some(member.to_owned()))
}

fn in_type(member: &str, error: zarr_dtype::Error) -> Error {
    let kind = match error.kind() {
        zarr_dtype::ErrorKind::Unsupported => ErrorKind::UnknownExtension,
        _ => ErrorKind::InvalidMetadata,
    };
    Error::from(error).with_kind(kind).at(|place| place.pointer = Some(member.to_owned()))
}

fn in_codecs(found: &Found, error: zarr_codec::Error) -> Error {
    let mut error = error.under("/codecs");
    if let zarr_codec::Error::Metadata { pointer, .. } | zarr_codec::Error::Unknown { pointer, .. } = &mut error {
        *pointer = found.document_pointer(pointer);
    }
    Error::from(error)
}
