//! Opening and creating nodes.

use crate::{Location, registry};
use std::fmt;
use std::num::NonZeroUsize;
use std::sync::Arc;
use zarr_array::{Array, ChunkCache, Group, MissingChunks, NewArray, NewGroup, Options, Registry, Result};
use zarr_hierarchy::{open_node, with_location};
use zarr_meta::{Dialect, StoredNode};
use zarr_store::Store;

/// Begins to open an array or group.
///
/// ```
/// # fn main() -> zarr::Result<()> {
/// # let directory = tempfile::tempdir().expect("a temporary directory");
/// # let weather = directory.path().join("weather.zarr").display().to_string();
/// # zarr::create((weather.as_str(), "/t2m")).array(zarr::NewArray::new(&[4], "float32"))?;
/// // As `zarr::open("weather.zarr/t2m")`: the path goes on within the hierarchy.
/// let array = zarr::open(&format!("{weather}/t2m")).array()?;
/// let strict = zarr::open((weather.as_str(), "/t2m")).threads(2).strict(true).array()?;
/// assert_eq!(array.shape(), strict.shape());
///
/// let store = zarr::store::open(&weather)?;
/// let root = zarr::open(&store).group()?;
/// let same = zarr::open((&store, "/t2m")).array()?;
/// assert_eq!(same.path(), array.path());
/// # Ok(())
/// # }
/// ```
pub fn open(location: impl Into<Location>) -> Open {
    Open { location: location.into(), registry: None, dialect: None, options: Options::default() }
}

/// Begins to create an array or group, and the store if it is not there.
///
/// ```
/// use zarr::prelude::*;
/// # fn main() -> zarr::Result<()> {
/// # let directory = tempfile::tempdir().expect("a temporary directory");
/// # let weather = directory.path().join("weather.zarr");
/// let group = zarr::create(&weather).group(NewGroup::default())?;
/// let new = NewArray::new(&[365, 721, 1440], "float32").chunks(&[1, 721, 1440]);
/// // As `zarr::create("weather.zarr/t2m")`.
/// let array = zarr::create(&weather.join("t2m")).array(new)?;
/// assert_eq!(array.path().to_string(), "/t2m");
/// # Ok(())
/// # }
/// ```
pub fn create(location: impl Into<Location>) -> Create {
    Create { location: location.into(), registry: None }
}

/// How a node is opened; begun by [`open`].
#[derive(Clone, Debug)]
#[must_use = "nothing is opened until it is said what: an array, a group"]
pub struct Open {
    location: Location,
    registry: Option<Arc<Registry>>,
    dialect: Option<Dialect>,
    options: Options,
}

impl Open {
    /// Takes the node that is stored in this dialect, where there are several at the path. By default the newest.
    pub fn dialect(mut self, dialect: Dialect) -> Self {
        self.dialect = Some(dialect);
        self
    }

    /// Knows codecs and data types by this registry, and not by that of this build.
    pub fn registry(mut self, registry: &Arc<Registry>) -> Self {
        self.registry = Some(Arc::clone(registry));
        self
    }

    /// Reads and writes an array as these options say. Those set before are replaced.
    pub fn options(mut self, options: Options) -> Self {
        self.options = options;
        self
    }

    /// Keeps decoded chunks and indexes of shards in a cache; see [`Options::cache`].
    pub fn cache(mut self, cache: &ChunkCache) -> Self {
        self.options.cache = Some(cache.clone());
        self
    }

    /// Decodes and encodes on so many threads; see [`Options::threads`]. 0 is the default: one for each core.
    pub fn threads(mut self, threads: usize) -> Self {
        self.options.threads = NonZeroUsize::new(threads);
        self
    }

    /// What a chunk that is not stored means; see [`Options::missing_chunks`].
    pub fn missing_chunks(mut self, missing: MissingChunks) -> Self {
        self.options.missing_chunks = missing;
        self
    }

    /// Whether documents with deviations from the format are refused; see [`Options::strict`].
    pub fn strict(mut self, strict: bool) -> Self {
        self.options.strict = strict;
        self
    }

    /// Opens the array.
    ///
    /// # Errors
    /// As [`Array::open`], and those of opening the store.
    pub fn array(self) -> Result<Array> {
        let Found { store, node, registry, options } = self.found()?;
        Array::from_found(&store, node, &registry, options)
    }

    /// Opens the group.
    ///
    /// # Errors
    /// As [`Group::open`], and those of opening the store.
    pub fn group(self) -> Result<Group> {
        let Found { store, node, registry, .. } = self.found()?;
        Group::from_found(&store, node, &registry)
    }

    /// Opens the array or group, whichever there is.
    ///
    /// # Errors
    /// As [`array`](Self::array) and [`group`](Self::group).
    pub fn node(self) -> Result<Opened> {
        let Found { store, node, registry, options } = self.found()?;
        match node.node.as_array() {
            Some(_) => Array::from_found(&store, node, &registry, options).map(Opened::Array),
            None => Group::from_found(&store, node, &registry).map(Opened::Group),
        }
    }

    fn found(self) -> Result<Found> {
        let (store, path) = self.location.open()?;
        let node = open_node(&*store, &path, self.dialect).map_err(|error| with_location(error, &*store, &path))?;
        self.options.check(&node).map_err(|error| with_location(error, &*store, &path))?;
        Ok(Found { store, node, registry: self.registry.unwrap_or_else(registry::default), options: self.options })
    }
}

/// A node that was found, and all that it takes to open it.
struct Found {
    store: Arc<dyn Store>,
    node: StoredNode,
    registry: Arc<Registry>,
    options: Options,
}

/// A node that was opened.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "opened one at a time; a box would be in the way of who matches on it")]
pub enum Opened {
    /// An array.
    Array(Array),
    /// A group.
    Group(Group),
}

/// The lines of `zarr info` that need nothing of the store; see [`Summary`](crate::hierarchy::Summary).
impl fmt::Display for Opened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Array(array) => array.fmt(f),
            Self::Group(group) => group.fmt(f),
        }
    }
}

/// How a node is created; begun by [`create`].
#[derive(Clone, Debug)]
#[must_use = "nothing is created until it is said what: an array, a group"]
pub struct Create {
    location: Location,
    registry: Option<Arc<Registry>>,
}

impl Create {
    /// Knows codecs and data types by this registry, and not by that of this build.
    pub fn registry(mut self, registry: &Arc<Registry>) -> Self {
        self.registry = Some(Arc::clone(registry));
        self
    }

    /// Creates an array, and groups above it where there are none.
    ///
    /// # Errors
    /// As [`Array::create`], and those of creating the store.
    pub fn array(self, new: NewArray) -> Result<Array> {
        let (store, path) = self.location.create()?;
        Array::create(&store, &path, new, &self.registry.unwrap_or_else(registry::default))
    }

    /// Creates a group, and groups above it where there are none.
    ///
    /// # Errors
    /// As [`Group::create`], and those of creating the store.
    pub fn group(self, new: NewGroup) -> Result<Group> {
        let (store, path) = self.location.create()?;
        Group::create(&store, &path, new, &self.registry.unwrap_or_else(registry::default))
    }
}
