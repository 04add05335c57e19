//! What blocking and async arrays have in common: everything but the store.

use crate::{Checksums, Error, ErrorKind, Options, Registry, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use zarr_codec::{Access, ElementSpec, Pipeline, Warnings};
use zarr_dtype::{DataType, FillValue, Spelling};
use zarr_grid::{ChunkGrid, ChunkKeyEncoding, Separator};
use zarr_meta::{ArrayMetadata, Dialect, Found, Node, NodePath};
use zarr_store::Key;

/// An opened array without its store.
#[derive(Debug)]
pub(crate) struct ArrayCore {
    pub(crate) found: Found,
    pub(crate) metadata: ArrayMetadata,
    pub(crate) store: String,
    pub(crate) grid: ChunkGrid,
    pub(crate) keys: ChunkKeyEncoding,
    /// What all chunk keys begin with.
    pub(crate) prefix: String,
    pub(crate) codecs: Arc<Pipeline>,
    pub(crate) options: Options,
    pub(crate) registry: Arc<Registry>,
    pub(crate) warnings: Vec<String>,
    separator: FoundSeparator,
    #[cfg(feature = "parallel")]
    pool: std::sync::OnceLock<Option<Arc<rayon::ThreadPool>>>,
}

/// Which separator the chunk keys of an array have that does not say (Zarr v2 before 2021 left it out).
#[derive(Debug, Default)]
struct FoundSeparator(AtomicU8);

/// The array says which separator it has, or it was found out.
const KNOWN: u8 = 0;
const UNKNOWN: u8 = 1;
/// Chunks were found at keys with `/`, against what the metadata implies.
const SLASH: u8 = 2;

impl ArrayCore {
    /// Binds what was found to codecs and types, and checks all of it: an array that opens does not fail later for a
    /// reason that its metadata shows.
    pub(crate) fn new(found: Found, store: String, registry: Arc<Registry>, options: Options) -> Result<Self> {
        let path = found.path.clone();
        let key = found.documents.iter().next().map(|(key, _)| key.to_owned());
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
        let metadata = metadata.clone();
        let element = element(&metadata, found.dialect)?;
        let grid = ChunkGrid::from_config(&metadata.chunk_grid, &metadata.shape)
            .map_err(|error| in_member("/chunk_grid", error))?;
        let keys = ChunkKeyEncoding::from_config(&metadata.chunk_key_encoding)
            .map_err(|error| in_member("/chunk_key_encoding", error))?;
        if let Some(transformer) = metadata.storage_transformers.iter().find(|it| it.must_understand) {
            let message = format!("unknown storage transformer {:?}", transformer.name);
            return Err(Error::new(ErrorKind::UnknownExtension, message).at(|place| {
                place.pointer = Some("/storage_transformers".to_owned());
            }));
        }
        let warnings = Warnings::default();
        let codecs = Pipeline::build(&metadata.codecs, &element, &registry.codecs, &options.limits, 0, &warnings)
            .map_err(in_codecs)?;
        // The size of the whole array must be representable, chunk by chunk and in all.
        let item = element.item_size() as u64;
        let too_large =
            |what: &str| Error::new(ErrorKind::InvalidMetadata, format!("the size of {what} overflows 64 bits"));
        zarr_grid::element_count(&metadata.shape)
            .and_then(|count| count.checked_mul(item))
            .ok_or_else(|| too_large("the array"))?;
        let largest = grid.largest_chunk_shape();
        zarr_grid::element_count(&largest)
            .and_then(|count| count.checked_mul(item))
            .ok_or_else(|| too_large("a chunk"))?;
        codecs.check(&largest).map_err(in_codecs)?;
        let separator = FoundSeparator::default();
        if found.separator_unmarked && metadata.shape.len() > 1 {
            separator.0.store(UNKNOWN, Ordering::Relaxed);
        }
        let prefix = found.chunk_prefix();
        let mut all_warnings: Vec<String> = found.warnings.iter().map(ToString::to_string).collect();
        all_warnings.extend(warnings.into_vec().into_iter().map(|warning| format!("/codecs{warning}")));
        Ok(Self {
            found,
            metadata,
            store,
            grid,
            keys,
            prefix,
            codecs: Arc::new(codecs),
            options,
            registry,
            warnings: all_warnings,
            separator,
            #[cfg(feature = "parallel")]
            pool: std::sync::OnceLock::new(),
        })
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
        match self.separator.0.load(Ordering::Relaxed) {
            SLASH => self.key_as(&ChunkKeyEncoding::V2 { separator: Separator::Slash }, index),
            _ => self.key_as(&self.keys, index),
        }
    }

    /// The key to try for a chunk that is not where the metadata implies, as long as the separator is not known.
    pub(crate) fn other_key(&self, index: &[u64]) -> Option<Key> {
        let unknown = self.separator.0.load(Ordering::Relaxed) == UNKNOWN;
        unknown.then(|| self.key_as(&ChunkKeyEncoding::V2 { separator: Separator::Slash }, index).ok()).flatten()
    }

    /// Whether it is still not known which separator the chunk keys have.
    pub(crate) fn separator_unknown(&self) -> bool {
        self.separator.0.load(Ordering::Relaxed) == UNKNOWN
    }

    /// A chunk was found; `other`: at its other key.
    pub(crate) fn found_separator(&self, other: bool) {
        if self.separator_unknown() {
            self.separator.0.store(if other { SLASH } else { KNOWN }, Ordering::Relaxed);
        }
    }

    fn key_as(&self, keys: &ChunkKeyEncoding, index: &[u64]) -> Result<Key> {
        let mut text = String::with_capacity(self.prefix.len() + 8 * index.len() + 4);
        text.push_str(&self.prefix);
        keys.write_key(index, &mut text);
        Ok(Key::new(&text)?)
    }

    /// The chunk whose key this is, the array's prefix taken off.
    pub(crate) fn parse_key(&self, rest: &str) -> Option<zarr_grid::ChunkIndex> {
        let rank = self.grid.rank();
        let index = self.keys.parse_key(rest, rank).or_else(|| {
            let other = ChunkKeyEncoding::V2 { separator: Separator::Slash };
            (self.separator.0.load(Ordering::Relaxed) != KNOWN).then(|| other.parse_key(rest, rank)).flatten()
        })?;
        self.grid.check_index(&index).is_ok().then_some(index)
    }

    /// How encoded bytes are asked for.
    pub(crate) fn access(&self, coalesce: &zarr_store::Coalesce) -> Access {
        Access { slab: coalesce.slab, skip_checksums: self.options.checksums == Checksums::Skip }
    }

    /// Where decoding runs; `None`: on the shared pool.
    #[cfg(feature = "parallel")]
    pub(crate) fn pool(&self) -> Option<&Arc<rayon::ThreadPool>> {
        let build = || {
            let threads = self.options.threads?.get();
            rayon::ThreadPoolBuilder::new().num_threads(threads).build().ok().map(Arc::new)
        };
        self.pool.get_or_init(build).as_ref()
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
        let core = Self::new(found, self.store.clone(), Arc::clone(&self.registry), self.options.clone())?;
        core.separator.0.store(self.separator.0.load(Ordering::Relaxed), Ordering::Relaxed);
        Ok(core)
    }
}

/// The type and fill value of an array's elements.
pub(crate) fn element(metadata: &ArrayMetadata, dialect: Dialect) -> Result<ElementSpec> {
    // What older writers wrote is read; the final format is strict.
    let spelling = if dialect == Dialect::V3 { Spelling::Strict } else { Spelling::Lenient };
    let data_type = DataType::from_config(&metadata.data_type).map_err(|error| in_type("/data_type", error))?;
    let fill = match &metadata.fill_value {
        None => FillValue::zero(&data_type),
        Some(value) => {
            FillValue::parse_as(&data_type, value, spelling).map_err(|error| in_type("/fill_value", error))?
        }
    };
    Ok(ElementSpec { data_type, fill })
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

fn in_codecs(error: zarr_codec::Error) -> Error {
    Error::from(error.under("/codecs"))
}
