//! Opening and creating nodes.

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
use zarr_hierarchy::{in_store, open_group, open_group_async, open_node, open_node_async, with_location};
use zarr_meta::{Copies, Dialect, StoredNode};
use zarr_store::{AsyncStore, Store};

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
///
/// The same builder ends in futures where the store does not block:
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
pub fn create<S: AnyStore + ?Sized>(address: impl Into<Address<S>>) -> Create<S> {
    Create { address: address.into(), access: Access::default(), registry: None }
}

/// How a node is opened; begun by [`open`].
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

    /// Reads and writes an array with these options, which replace all options set before.
    pub fn options(mut self, options: Options) -> Self {
        self.options = options;
        self
    }

    /// Keeps decoded chunks and indexes of shards in a cache; see [`Options::cache`].
    pub fn cache(mut self, cache: &ChunkCache) -> Self {
        self.options.cache = Some(cache.clone());
        self
    }

    /// Decodes and encodes on `threads` threads; see [`Options::threads`]. 0 is the default: one for each core.
    pub fn threads(mut self, threads: usize) -> Self {
        self.options.threads = NonZeroUsize::new(threads);
        self
    }

    /// The meaning of a chunk that is not stored; see [`Options::missing_chunks`].
    pub fn missing_chunks(mut self, missing: MissingChunks) -> Self {
        self.options.missing_chunks = missing;
        self
    }

    /// Whether documents with deviations from the format are refused; see [`Options::strict`].
    pub fn strict(mut self, strict: bool) -> Self {
        self.options.strict = strict;
        self
    }

    /// Whether changes are refused of which the store may lose what others write meanwhile; see [`Options::strict_writers`].
    pub fn strict_writers(mut self, strict_writers: bool) -> Self {
        self.options.strict_writers = strict_writers;
        self
    }

    /// All that it takes to open a node that was looked for in a store.
    fn bound(options: Options, registry: Option<Arc<Registry>>, found: StoredNode, store: &S) -> Result<Bound> {
        let path = Some(found.path.to_string());
        options.check(&found).map_err(|error| in_store(store, error.at(|location| location.path = path)))?;
        Ok(Bound { node: found, registry: registry.unwrap_or_else(registry::default), options })
    }
}

impl Open {
    /// Sets an option of the store, which is given by its address: see [`store::open`](crate::store::open). An option that it does not know
    /// is an error.
    pub fn store_option(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.access.options = self.access.options.set(name, value);
        self
    }

    /// Knows kinds of stores by this table, and not by that of this build ([`schemes`](crate::store::schemes)).
    pub fn schemes(mut self, schemes: &Schemes) -> Self {
        self.access.schemes = Some(schemes.clone());
        self
    }

    /// Opens the array.
    ///
    /// # Errors
    /// The errors of [`Array::open`] and of opening the store.
    pub fn array(self) -> Result<Array> {
        let (store, Bound { node, registry, options }) = self.find(None)?;
        Array::from_found_now(&store, node, &registry, options)
    }

    /// Opens the group. From a remote store its consolidated metadata comes with it: see [`open_group`].
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

    /// Opens the array for programs that must not block: `zarr::open("s3://bucket/weather.zarr/t2m").array_async().await?`. The store is
    /// opened on a thread of its own. Requests to buckets and the web wait for nothing where the futures are polled; those to files and
    /// databases are done there, as by [`SyncAsAsync`]. To a [cache](Self::cache) each opening is a store of its own.
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
    /// As [`array`](Self::array).
    pub async fn array_async(self) -> Result<AsyncArray> {
        self.without_blocking().await?.array().await
    }

    /// Opens the group for programs that must not block, as [`array_async`](Self::array_async) does an array.
    ///
    /// # Errors
    /// As [`group`](Self::group).
    pub async fn group_async(self) -> Result<AsyncGroup> {
        self.without_blocking().await?.group().await
    }

    async fn without_blocking(self) -> Result<Open<dyn AsyncStore>> {
        let Self { address, access, registry, dialect, options } = self;
        let (store, path) = unblock(move |_| address.open(&access)).await??;
        let address = Address::from((&waiting(store), path));
        Ok(Open { address, access: Access::default(), registry, dialect, options })
    }

    /// Opens the group as a data set, from its consolidated metadata where there is some. With [`Open::options`] its arrays are opened.
    ///
    /// # Errors
    /// As [`group`](Self::group), and of [`Dataset::open`](crate::dataset::Dataset::open).
    #[cfg(feature = "dataset")]
    pub fn dataset(self) -> Result<crate::dataset::Dataset> {
        let options = crate::dataset::DatasetOptions::default().arrays(self.options.clone());
        crate::dataset::Dataset::open_with(&self.group_with(Copies::Trusted)?, &options)
    }

    /// Opens the array or group, whichever there is.
    ///
    /// # Errors
    /// As [`array`](Self::array) and [`group`](Self::group).
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

    /// `copies`: a group is expected.
    fn find(self, copies: Option<Copies>) -> Result<(Arc<dyn Store>, Bound)> {
        let (store, path) = self.address.open(&self.access)?;
        let found = match copies {
            None => open_node(&*store, &path, self.dialect),
            Some(copies) => open_group(&*store, &path, self.dialect, copies),
        };
        let found = found.map_err(|error| with_location(error, &*store, &path))?;
        let bound = Self::bound(self.options, self.registry, found, &*store)?;
        Ok((store, bound))
    }
}

/// In a store that does not block.
impl Open<dyn AsyncStore> {
    /// Opens the array.
    ///
    /// # Errors
    /// As [`AsyncArray::open`].
    pub async fn array(self) -> Result<AsyncArray> {
        let (store, Bound { node, registry, options }) = self.find(false).await?;
        AsyncArray::from_found_now(&store, node, &registry, options)
    }

    /// Opens the group.
    ///
    /// # Errors
    /// As [`AsyncGroup::open`].
    pub async fn group(self) -> Result<AsyncGroup> {
        let (store, Bound { node, registry, options }) = self.find(true).await?;
        Ok(AsyncGroup::from_found(&store, node, &registry)?.with_strict_writers(options.strict_writers))
    }

    /// Finds the node, be it an array or a group, for the functions of [`hierarchy`](crate::hierarchy).
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

/// A store that was opened by its address, as one that does not block.
fn waiting(store: Arc<dyn Store>) -> Arc<dyn AsyncStore> {
    store.as_async().unwrap_or_else(|| Arc::new(SyncAsAsync::new(store)))
}

/// A node that was found, and all that it takes to open it.
struct Bound {
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
    /// Knows codecs and data types by this registry, and not by that of this build.
    pub fn registry(mut self, registry: &Arc<Registry>) -> Self {
        self.registry = Some(Arc::clone(registry));
        self
    }

    fn known(registry: Option<Arc<Registry>>) -> Arc<Registry> {
        registry.unwrap_or_else(registry::default)
    }
}

/// In a store that does not block.
impl Create<dyn AsyncStore> {
    /// Creates an array, and groups above it where there are none.
    ///
    /// # Errors
    /// As [`AsyncArray::create`].
    pub async fn array(self, new: NewArray) -> Result<AsyncArray> {
        let (store, path) = self.address.opened();
        AsyncArray::create(&store, &path, new, &Self::known(self.registry)).await
    }

    /// Creates a group, and groups above it where there are none.
    ///
    /// # Errors
    /// As [`AsyncGroup::create`].
    pub async fn group(self, new: NewGroup) -> Result<AsyncGroup> {
        let (store, path) = self.address.opened();
        AsyncGroup::create(&store, &path, new, &Self::known(self.registry)).await
    }
}

impl Create {
    /// Sets an option of the store, which is given by its address: see [`store::open`](crate::store::open). An option that it does not know
    /// is an error.
    pub fn store_option(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.access.options = self.access.options.set(name, value);
        self
    }

    /// Knows kinds of stores by this table, and not by that of this build ([`schemes`](crate::store::schemes)).
    pub fn schemes(mut self, schemes: &Schemes) -> Self {
        self.access.schemes = Some(schemes.clone());
        self
    }

    /// Creates an array, and groups above it where there are none.
    ///
    /// # Errors
    /// The errors of [`Array::create`] and of creating the store.
    pub fn array(self, new: NewArray) -> Result<Array> {
        let (store, path) = self.address.create(&self.access)?;
        Array::create(&store, &path, new, &Self::known(self.registry))
    }

    /// Creates a group, and groups above it where there are none.
    ///
    /// # Errors
    /// The errors of [`Group::create`] and of creating the store.
    pub fn group(self, new: NewGroup) -> Result<Group> {
        let (store, path) = self.address.create(&self.access)?;
        Group::create(&store, &path, new, &Self::known(self.registry))
    }

    /// Creates an array for programs that must not block, as [`Open::array_async`] opens one, and groups above it where there are none.
    ///
    /// # Errors
    /// As [`array`](Self::array).
    pub async fn array_async(self, new: NewArray) -> Result<AsyncArray> {
        self.without_blocking().await?.array(new).await
    }

    /// Creates a group for programs that must not block, as [`Open::group_async`] opens one, and groups above it where there are none.
    ///
    /// # Errors
    /// As [`group`](Self::group).
    pub async fn group_async(self, new: NewGroup) -> Result<AsyncGroup> {
        self.without_blocking().await?.group(new).await
    }

    async fn without_blocking(self) -> Result<Create<dyn AsyncStore>> {
        let Self { address, access, registry } = self;
        let (store, path) = unblock(move |_| address.create(&access)).await??;
        let address = Address::from((&waiting(store), path));
        Ok(Create { address, access: Access::default(), registry })
    }

    /// Creates a data set, and groups above it where there are none.
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
