//! Opening and creating of nodes.

use crate::address::{Access, AnyStore};
use crate::store::Schemes;
use crate::{Address, registry};
use std::fmt;
use std::num::NonZeroUsize;
use std::sync::Arc;
use zarr_array::{
    Array, AsyncArray, AsyncGroup, ChunkCache, Group, MissingChunks, NewArray, NewGroup, Options, Registry, Result,
};
use zarr_drive::{SyncAsAsync, unblock};
use zarr_hierarchy::{in_store, open_group, open_group_async, open_node, open_node_async, with_hierarchy_hint};
use zarr_meta::{Copies, Dialect, StoredNode};
use zarr_store::{AsyncStore, Store};

/// Begins to open an array or group; a method of the returned [`Open`] opens it.
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
///
/// With an async store, the methods of the builder return futures:
///
/// ```
/// # use std::sync::Arc;
/// use zarr::prelude::*;
/// use zarr::AsyncStore;
/// # use zarr::store::{MemoryStore, SyncAsAsync, block_on};
///
/// async fn first_row(store: &Arc<dyn AsyncStore>) -> zarr::Result<Vec<f32>> {
///     let cache = ChunkCache::new(64 << 20);
///     let array = zarr::open((store, "/t2m")).cache(&cache).array().await?;
///     array.read((0, ..)).await
/// }
/// # let store: Arc<dyn AsyncStore> = Arc::new(SyncAsAsync::new(Arc::new(MemoryStore::new())));
/// # block_on(zarr::create((&store, "/t2m")).array(NewArray::new(&[2, 2], "float32")))?;
/// # assert_eq!(block_on(first_row(&store))?, [0.0, 0.0]);
/// # Ok::<(), zarr::Error>(())
/// ```
///
/// [`array_async`](Open::array_async) and [`group_async`](Open::group_async) take an address:
/// `zarr::open("s3://bucket/a").array_async().await?`.
pub fn open<S: AnyStore + ?Sized>(address: impl Into<Address<S>>) -> Open<S> {
    Open {
        address: address.into(),
        access: Access::default(),
        registry: None,
        dialect: None,
        options: Options::default(),
    }
}

/// Begins to create an array or group, and the store if it does not exist; a method of the returned [`Create`] creates it.
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
pub fn create<S: AnyStore + ?Sized>(address: impl Into<Address<S>>) -> Create<S> {
    Create { address: address.into(), access: Access::default(), registry: None }
}

/// Settings for opening a node, returned by [`open`].
#[derive(Debug)]
#[must_use = "nothing is opened before a call such as `array` or `group`"]
pub struct Open<S: AnyStore + ?Sized = dyn Store> {
    address: Address<S>,
    access: Access,
    registry: Option<Arc<Registry>>,
    dialect: Option<Dialect>,
    options: Options,
}

impl<S: AnyStore + ?Sized> Clone for Open<S> {
    fn clone(&self) -> Self {
        Self {
            address: self.address.clone(),
            access: self.access.clone(),
            registry: self.registry.clone(),
            dialect: self.dialect,
            options: self.options.clone(),
        }
    }
}

impl<S: AnyStore + ?Sized> Open<S> {
    /// Sets the dialect of the node, if nodes of several dialects are stored at the path. By default the newest dialect is opened.
    pub fn dialect(mut self, dialect: Dialect) -> Self {
        self.dialect = Some(dialect);
        self
    }

    /// Sets the registry of codecs and data types. The default is the registry of this build.
    pub fn registry(mut self, registry: &Arc<Registry>) -> Self {
        self.registry = Some(Arc::clone(registry));
        self
    }

    /// Sets the options for reading and writing an array, which replace all options set before.
    pub fn options(mut self, options: Options) -> Self {
        self.options = options;
        self
    }

    /// Sets the cache of decoded chunks and indexes of shards; see [`Options::cache`].
    pub fn cache(mut self, cache: &ChunkCache) -> Self {
        self.options.cache = Some(cache.clone());
        self
    }

    /// Sets the number of threads that decode and encode; see [`Options::threads`]. 0 is the default: one thread per core.
    pub fn threads(mut self, threads: usize) -> Self {
        self.options.threads = NonZeroUsize::new(threads);
        self
    }

    /// Sets the meaning of a chunk that is not stored; see [`Options::missing_chunks`].
    pub fn missing_chunks(mut self, missing: MissingChunks) -> Self {
        self.options.missing_chunks = missing;
        self
    }

    /// Sets whether documents with deviations from the format are refused; see [`Options::strict`].
    pub fn strict(mut self, strict: bool) -> Self {
        self.options.strict = strict;
        self
    }

    /// Sets whether changes are refused that may lose concurrent changes of other writers in this store; see [`Options::strict_writers`].
    pub fn strict_writers(mut self, strict_writers: bool) -> Self {
        self.options.strict_writers = strict_writers;
        self
    }

    /// Checks the options for the node `found`, and returns the node with the registry and the options to open it with.
    fn bound(options: Options, registry: Option<Arc<Registry>>, found: StoredNode, store: &S) -> Result<Bound> {
        let path = Some(found.path.to_string());
        options.check(&found).map_err(|error| in_store(store, error.at(|location| location.path = path)))?;
        Ok(Bound { node: found, registry: registry.unwrap_or_else(registry::default), options })
    }
}

impl Open {
    /// Sets an option of the store, which must be given by its address: see [`store::open`](crate::store::open). An unknown option is an
    /// error when the store is opened.
    pub fn store_option(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.access.options = self.access.options.set(name, value);
        self
    }

    /// Sets the table of kinds of stores. The default is the table of this build ([`schemes`](crate::store::schemes)).
    pub fn schemes(mut self, schemes: &Schemes) -> Self {
        self.access.schemes = Some(schemes.clone());
        self
    }

    /// Opens the array at the address.
    ///
    /// # Errors
    /// The errors of [`Array::open`] and of opening the store.
    pub fn array(self) -> Result<Array> {
        let (store, Bound { node, registry, options }) = self.find(None)?;
        Array::from_found_now(&store, node, &registry, options)
    }

    /// Opens the group at the address. In a remote store, its consolidated metadata is read together with the group: see [`open_group`].
    /// Opening does not compare consolidated metadata with the nodes below; [`Group::staleness`] does.
    ///
    /// # Errors
    /// The errors of [`Group::open`] and of opening the store.
    pub fn group(self) -> Result<Group> {
        self.group_with(Copies::Read)
    }

    fn group_with(self, copies: Copies) -> Result<Group> {
        let (store, Bound { node, registry, options }) = self.find(Some(copies))?;
        Ok(Group::from_found(&store, node, &registry)?.with_strict_writers(options.strict_writers))
    }

    /// Opens the array at the address without blocking the thread: `zarr::open("s3://bucket/weather.zarr/t2m").array_async().await?`. The
    /// store is opened on a thread of its own. Requests to buckets and web servers are async; requests to files and databases are made on
    /// other threads, by [`SyncAsAsync`]. For a [cache](Self::cache), each opening is a different store.
    ///
    /// ```
    /// # use zarr::store::block_on;
    /// use zarr::prelude::*;
    ///
    /// async fn first_row(address: &str) -> zarr::Result<Vec<f32>> {
    ///     zarr::open(address).array_async().await?.read((0, ..)).await
    /// }
    /// # let directory = tempfile::tempdir().expect("a temporary directory");
    /// # let weather = directory.path().join("weather.zarr").display().to_string();
    /// # let new = NewArray::new(&[2, 2], "float32");
    /// # block_on(zarr::create(&weather).array_async(new))?;
    /// # assert_eq!(block_on(first_row(&weather))?, [0.0, 0.0]);
    /// # Ok::<(), zarr::Error>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`array`](Self::array).
    pub async fn array_async(self) -> Result<AsyncArray> {
        self.without_blocking().await?.array().await
    }

    /// Opens the group at the address without blocking the thread, with the same kinds of requests as [`array_async`](Self::array_async).
    ///
    /// # Errors
    /// The errors of [`group`](Self::group).
    pub async fn group_async(self) -> Result<AsyncGroup> {
        self.without_blocking().await?.group().await
    }

    async fn without_blocking(self) -> Result<Open<dyn AsyncStore>> {
        let Self { address, access, registry, dialect, options } = self;
        let (store, path) = unblock(move |_| address.open(&access)).await??;
        let address = Address::from((&waiting(store), path));
        Ok(Open { address, access: Access::default(), registry, dialect, options })
    }

    /// Opens the group at the address as a data set, from its consolidated metadata if there is any, which is not compared with the nodes.
    /// [`Open::options`] are the options of its arrays.
    ///
    /// # Errors
    /// The errors of [`group`](Self::group) and of [`Dataset::open`](crate::dataset::Dataset::open).
    #[cfg(feature = "dataset")]
    pub fn dataset(self) -> Result<crate::dataset::Dataset> {
        let options = crate::dataset::DatasetOptions::default().arrays(self.options.clone());
        crate::dataset::Dataset::open_with(&self.group_with(Copies::Trusted)?, &options)
    }

    /// Opens the array or the group at the address.
    ///
    /// # Errors
    /// The errors of [`array`](Self::array) and [`group`](Self::group).
    pub fn node(self) -> Result<Opened> {
        let (store, Bound { node, registry, options }) = self.find(None)?;
        match node.node.as_array() {
            Some(_) => Array::from_found_now(&store, node, &registry, options).map(Opened::Array),
            None => {
                let group = Group::from_found(&store, node, &registry)?;
                Ok(Opened::Group(group.with_strict_writers(options.strict_writers)))
            }
        }
    }

    /// Finds the node. `copies` is given if a group is expected, and says how its consolidated metadata is read.
    fn find(self, copies: Option<Copies>) -> Result<(Arc<dyn Store>, Bound)> {
        let (store, path) = self.address.open(&self.access)?;
        let found = match copies {
            None => open_node(&*store, &path, self.dialect),
            Some(copies) => open_group(&*store, &path, self.dialect, copies),
        };
        let found = found.map_err(|error| with_hierarchy_hint(error, &*store, &path))?;
        let bound = Self::bound(self.options, self.registry, found, &*store)?;
        Ok((store, bound))
    }
}

/// Opening of nodes in an async store.
impl Open<dyn AsyncStore> {
    /// Opens the array at the address.
    ///
    /// # Errors
    /// The errors of [`AsyncArray::open`].
    pub async fn array(self) -> Result<AsyncArray> {
        let (store, Bound { node, registry, options }) = self.find(false).await?;
        AsyncArray::from_found_now(&store, node, &registry, options)
    }

    /// Opens the group at the address.
    ///
    /// # Errors
    /// The errors of [`AsyncGroup::open`].
    pub async fn group(self) -> Result<AsyncGroup> {
        let (store, Bound { node, registry, options }) = self.find(true).await?;
        Ok(AsyncGroup::from_found(&store, node, &registry)?.with_strict_writers(options.strict_writers))
    }

    /// Finds the node at the address, an array or a group, for the functions of [`hierarchy`](crate::hierarchy).
    ///
    /// # Errors
    /// The errors of [`open_node_async`] and of [`strict`](Self::strict).
    pub async fn found(self) -> Result<StoredNode> {
        Ok(self.find(false).await?.1.node)
    }

    async fn find(self, expects_group: bool) -> Result<(Arc<dyn AsyncStore>, Bound)> {
        let (store, path) = self.address.opened();
        let found = match expects_group {
            false => open_node_async(&*store, &path, self.dialect).await?,
            true => open_group_async(&*store, &path, self.dialect, Copies::Read).await?,
        };
        let bound = Self::bound(self.options, self.registry, found, &*store)?;
        Ok((store, bound))
    }
}

/// Returns an async form of a store that was opened by its address.
fn waiting(store: Arc<dyn Store>) -> Arc<dyn AsyncStore> {
    store.as_async().unwrap_or_else(|| Arc::new(SyncAsAsync::new(store)))
}

/// Node that was found, with the registry and the options to open it with.
struct Bound {
    node: StoredNode,
    registry: Arc<Registry>,
    options: Options,
}

/// Node that was opened: an array or a group.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "opened one at a time; a box would be in the way of who matches on it")]
pub enum Opened {
    /// Array that was opened.
    Array(Array),
    /// Group that was opened.
    Group(Group),
}

/// Prints the lines of `zarr info` that need no request to the store; see [`Summary`](crate::hierarchy::Summary).
impl fmt::Display for Opened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Array(array) => array.fmt(f),
            Self::Group(group) => group.fmt(f),
        }
    }
}

/// Settings for creating a node, returned by [`create`].
#[derive(Debug)]
#[must_use = "nothing is created before a call of `array` or `group`"]
pub struct Create<S: AnyStore + ?Sized = dyn Store> {
    address: Address<S>,
    access: Access,
    registry: Option<Arc<Registry>>,
}

impl<S: AnyStore + ?Sized> Clone for Create<S> {
    fn clone(&self) -> Self {
        Self { address: self.address.clone(), access: self.access.clone(), registry: self.registry.clone() }
    }
}

impl<S: AnyStore + ?Sized> Create<S> {
    /// Sets the registry of codecs and data types. The default is the registry of this build.
    pub fn registry(mut self, registry: &Arc<Registry>) -> Self {
        self.registry = Some(Arc::clone(registry));
        self
    }

    fn known(registry: Option<Arc<Registry>>) -> Arc<Registry> {
        registry.unwrap_or_else(registry::default)
    }
}

/// Creation of nodes in an async store.
impl Create<dyn AsyncStore> {
    /// Creates an array at the address, and the groups above it that do not exist.
    ///
    /// # Errors
    /// The errors of [`AsyncArray::create`].
    pub async fn array(self, new: NewArray) -> Result<AsyncArray> {
        let (store, path) = self.address.opened();
        AsyncArray::create(&store, &path, new, &Self::known(self.registry)).await
    }

    /// Creates a group at the address, and the groups above it that do not exist.
    ///
    /// # Errors
    /// The errors of [`AsyncGroup::create`].
    pub async fn group(self, new: NewGroup) -> Result<AsyncGroup> {
        let (store, path) = self.address.opened();
        AsyncGroup::create(&store, &path, new, &Self::known(self.registry)).await
    }
}

impl Create {
    /// Sets an option of the store, which must be given by its address: see [`store::open`](crate::store::open). An unknown option is an
    /// error when the store is opened.
    pub fn store_option(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.access.options = self.access.options.set(name, value);
        self
    }

    /// Sets the table of kinds of stores. The default is the table of this build ([`schemes`](crate::store::schemes)).
    pub fn schemes(mut self, schemes: &Schemes) -> Self {
        self.access.schemes = Some(schemes.clone());
        self
    }

    /// Creates an array at the address, and the groups above it that do not exist.
    ///
    /// # Errors
    /// The errors of [`Array::create`] and of creating the store.
    pub fn array(self, new: NewArray) -> Result<Array> {
        let (store, path) = self.address.create(&self.access)?;
        Array::create(&store, &path, new, &Self::known(self.registry))
    }

    /// Creates a group at the address, and the groups above it that do not exist.
    ///
    /// # Errors
    /// The errors of [`Group::create`] and of creating the store.
    pub fn group(self, new: NewGroup) -> Result<Group> {
        let (store, path) = self.address.create(&self.access)?;
        Group::create(&store, &path, new, &Self::known(self.registry))
    }

    /// Creates an array at the address, and the groups above it that do not exist, without blocking the thread; see [`Open::array_async`].
    ///
    /// # Errors
    /// The errors of [`array`](Self::array).
    pub async fn array_async(self, new: NewArray) -> Result<AsyncArray> {
        self.without_blocking().await?.array(new).await
    }

    /// Creates a group at the address, and the groups above it that do not exist, without blocking the thread; see [`Open::array_async`].
    ///
    /// # Errors
    /// The errors of [`group`](Self::group).
    pub async fn group_async(self, new: NewGroup) -> Result<AsyncGroup> {
        self.without_blocking().await?.group(new).await
    }

    async fn without_blocking(self) -> Result<Create<dyn AsyncStore>> {
        let Self { address, access, registry } = self;
        let (store, path) = unblock(move |_| address.create(&access)).await??;
        let address = Address::from((&waiting(store), path));
        Ok(Create { address, access: Access::default(), registry })
    }

    /// Creates a data set at the address, and the groups above it that do not exist.
    ///
    /// # Errors
    /// The errors of [`Dataset::create`](crate::dataset::Dataset::create) and of creating the store.
    #[cfg(feature = "dataset")]
    pub fn dataset(self, new: crate::dataset::NewDataset) -> Result<crate::dataset::Dataset> {
        let (store, path) = self.address.create(&self.access)?;
        crate::dataset::Dataset::create(&store, &path, new, &Self::known(self.registry))
    }
}

#[cfg(test)]
mod tests;
