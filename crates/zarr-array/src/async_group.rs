//! Groups over async stores.

use crate::group::Created;
use crate::{AsyncArray, EraseProgress, Group, IntoFlow, NewArray, NewGroup, Options, Registry, Result, Walk};
use std::fmt;
use std::sync::Arc;
use zarr_drive::unblock;
use zarr_hierarchy::{Erasure, Staleness, in_store, open_group_async, open_node_async};
use zarr_json::Map;
use zarr_meta::{Copies, StoredNode};
use zarr_store::AsyncStore;

/// A Zarr group in an async store. [`Group`] has the same methods for blocking stores.
///
/// ```
/// # use std::sync::Arc;
/// # use zarr_array::{AsyncGroup, AsyncStore, NewGroup, Registry};
/// # use zarr_drive::{SyncAsAsync, block_on};
/// # use zarr_store::MemoryStore;
/// # let registry = Arc::new(Registry::default());
/// let store: Arc<dyn AsyncStore> = Arc::new(SyncAsAsync::new(Arc::new(MemoryStore::new())));
/// block_on(async {
///     AsyncGroup::create(&store, "/a/b", NewGroup::default(), &registry).await?;
///     let root = AsyncGroup::open(&store, "/", &registry).await?;
///     let paths: Vec<String> = root.walk().await?.nodes.iter().map(|node| node.path.to_string()).collect();
///     assert_eq!(paths, ["/", "/a", "/a/b"]);
///     Ok::<(), zarr_array::Error>(())
/// })?;
/// # Ok::<(), zarr_array::Error>(())
/// ```
#[derive(Clone)]
pub struct AsyncGroup {
    store: Arc<dyn AsyncStore>,
    pub(crate) registry: Arc<Registry>,
    pub(crate) found: StoredNode,
    created: Created,
    pub(crate) strict_writers: bool,
}

impl AsyncGroup {
    /// Opens the group at `path`.
    ///
    /// # Errors
    /// The errors of [`Group::open`].
    pub async fn open(store: &Arc<dyn AsyncStore>, path: &str, registry: &Arc<Registry>) -> Result<Self> {
        let found = open_group_async(&**store, path, None, Copies::Read).await?;
        Self::from_found(store, found, registry)
    }

    /// Makes a group from metadata that was read before.
    ///
    /// # Errors
    /// The errors of [`Group::from_found`].
    pub fn from_found(store: &Arc<dyn AsyncStore>, found: StoredNode, registry: &Arc<Registry>) -> Result<Self> {
        Group::check_found(&found, &**store)?;
        let (store, registry) = (Arc::clone(store), Arc::clone(registry));
        Ok(Self { store, registry, found, created: Created::default(), strict_writers: false })
    }

    /// Sets [`Options::strict_writers`] for the group and for nodes that are opened or created through it.
    #[must_use]
    pub fn with_strict_writers(self, strict_writers: bool) -> Self {
        Self { strict_writers, ..self }
    }

    /// Creates a group at `path`, and the groups above it that do not exist, as [`Group::create`] does.
    ///
    /// # Errors
    /// The errors of [`Group::create`].
    pub async fn create(
        store: &Arc<dyn AsyncStore>,
        path: &str,
        new: NewGroup,
        registry: &Arc<Registry>,
    ) -> Result<Self> {
        let (inner, text, known) = (Arc::clone(store), path.to_owned(), Arc::clone(registry));
        let created = unblock(move |unblocker| Group::create(&unblocker.store(&inner), &text, new, &known)).await??;
        Self::from_found(store, created.found, registry)
    }

    /// Store in which the group lies.
    pub fn store(&self) -> &Arc<dyn AsyncStore> {
        &self.store
    }

    /// Calls `work` with this group as a blocking [`Group`], on another thread.
    async fn unblock<T: Send + 'static>(&self, work: impl FnOnce(&Group) -> T + Send + 'static) -> Result<T> {
        let Self { store, registry, found, created, .. } = self.clone();
        let group = move |store| Group::of_parts(store, registry, found, created);
        Ok(unblock(move |unblocker| work(&group(unblocker.store(&store)))).await?)
    }

    /// Replaces the attributes, as [`Group::set_attributes`] does.
    ///
    /// # Errors
    /// The errors of [`Group::set_attributes`].
    pub async fn set_attributes(&mut self, attributes: Map) -> Result<()> {
        self.check_strict_writers("a change of attributes")?;
        self.found = zarr_hierarchy::set_attributes_async(&*self.store, &self.found, attributes).await?;
        Ok(())
    }

    /// Lists the nodes directly below the group, sorted by path, as [`Group::children`] does.
    ///
    /// # Errors
    /// The errors of [`Group::children`].
    pub async fn children(&self) -> Result<Walk> {
        self.unblock(Group::children).await?
    }

    /// Lists this group and all nodes below it, sorted by path, as [`Group::walk`] does.
    ///
    /// # Errors
    /// The errors of [`Group::walk`].
    pub async fn walk(&self) -> Result<Walk> {
        self.unblock(Group::walk).await?
    }

    /// Lists the nodes directly below the group from its consolidated metadata, as [`Group::consolidated_children`] does.
    ///
    /// # Errors
    /// The errors of [`Group::consolidated_children`].
    pub async fn consolidated_children(&self) -> Result<Walk> {
        self.unblock(Group::consolidated_children).await?
    }

    /// Lists this group and all nodes below it from its consolidated metadata, as [`Group::consolidated_walk`] does.
    ///
    /// # Errors
    /// The errors of [`Group::consolidated_walk`].
    pub async fn consolidated_walk(&self) -> Result<Walk> {
        self.unblock(Group::consolidated_walk).await?
    }

    /// Opens the array below this group whose path relative to the group is `name`.
    ///
    /// # Errors
    /// The errors of [`AsyncArray::open`].
    pub async fn array(&self, name: &str) -> Result<AsyncArray> {
        let found = open_node_async(&*self.store, &self.below(name)?, Some(self.found.dialect)).await?;
        let options = Options::default().strict_writers(self.strict_writers);
        AsyncArray::from_found_now(&self.store, found, &self.registry, options)
    }

    /// Opens the group below this group whose path relative to this group is `name`.
    ///
    /// # Errors
    /// The errors of [`AsyncGroup::open`].
    pub async fn group(&self, name: &str) -> Result<Self> {
        let path = self.below(name)?;
        let found = open_group_async(&*self.store, &path, Some(self.found.dialect), Copies::Read).await?;
        Ok(Self::from_found(&self.store, found, &self.registry)?.with_strict_writers(self.strict_writers))
    }

    /// Creates an array at the relative path `name` below this group, in the dialect of the group unless `new` names a dialect.
    ///
    /// # Errors
    /// The errors of [`AsyncArray::create`].
    pub async fn create_array(&self, name: &str, new: NewArray) -> Result<AsyncArray> {
        self.created.note();
        AsyncArray::create(&self.store, &self.below(name)?, self.array_as_in_group(new), &self.registry).await
    }

    /// Creates a group at the relative path `name` below this group, in the dialect of this group unless `new` names a dialect.
    ///
    /// # Errors
    /// The errors of [`AsyncGroup::create`].
    pub async fn create_group(&self, name: &str, new: NewGroup) -> Result<Self> {
        self.created.note();
        let group =
            Self::create(&self.store, &self.below(name)?, self.group_of_its_dialect(new), &self.registry).await?;
        Ok(group.with_strict_writers(self.strict_writers))
    }

    /// Whether there is an array or a group at the relative path `name` below this group, as [`Group::contains`] tells.
    ///
    /// # Errors
    /// The errors of [`Group::contains`].
    pub async fn contains(&self, name: &str) -> Result<bool> {
        zarr_hierarchy::node_exists_async(&*self.store, &self.below(name)?, Some(self.found.dialect))
            .await
            .map_err(|error| in_store(&*self.store, error))
    }

    /// Writes the consolidated metadata of this group, as [`Group::consolidate`].
    ///
    /// # Errors
    /// The errors of [`Group::consolidate`].
    pub async fn consolidate(&self) -> Result<u64> {
        self.check_strict_writers("consolidated metadata")?;
        self.created.note();
        zarr_hierarchy::consolidate_async(&*self.store, &self.found.path.to_string(), Some(self.found.dialect))
            .await
            .map_err(|error| in_store(&*self.store, error))
    }

    /// Compares the consolidated metadata of this group with the nodes below it, as [`Group::staleness`].
    ///
    /// # Errors
    /// The errors of [`Group::staleness`].
    pub async fn staleness(&self) -> Result<Option<Staleness>> {
        zarr_hierarchy::staleness_async(&*self.store, &self.found.path.to_string(), Some(self.found.dialect))
            .await
            .map_err(|error| in_store(&*self.store, error))
    }

    /// Drops the consolidated metadata of this group, as [`Group::drop_consolidated`].
    ///
    /// # Errors
    /// The errors of [`Group::drop_consolidated`].
    pub async fn drop_consolidated(&self) -> Result<()> {
        self.check_strict_writers("consolidated metadata")?;
        self.created.note();
        zarr_hierarchy::drop_consolidated_async(&*self.store, &self.found.path.to_string(), Some(self.found.dialect))
            .await
            .map_err(|error| in_store(&*self.store, error))
    }

    /// Erases the group and all nodes and keys below it, as [`Group::erase`] does.
    ///
    /// # Errors
    /// The errors of [`Group::erase`].
    pub async fn erase(self) -> Result<()> {
        self.erase_with(|_| {}).await
    }

    /// Erases the group, as [`erase`](Self::erase) does, and calls `progress` with the progress, as [`Group::erase_with`] does.
    ///
    /// # Errors
    /// The errors of [`Group::erase_with`].
    pub async fn erase_with<F: IntoFlow>(self, progress: impl Fn(EraseProgress) -> F + Send + Sync) -> Result<()> {
        Erasure::of(&self.found).progress(progress).erase_async(&*self.store).await
    }
}

impl fmt::Debug for AsyncGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AsyncGroup({}: {})", self.store, self.path())
    }
}

/// Shows the group as [`Group`] does.
impl fmt::Display for AsyncGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        crate::Summary::of(&self.found).fmt(f)
    }
}
