//! Groups over blocking stores.

use crate::{Array, EraseProgress, Error, ErrorKind, IntoFlow, NewArray, Options, Registry, Result, Walk};
use std::fmt::Display;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use zarr_drive::run;
use zarr_hierarchy::jobs::Operation;
use zarr_hierarchy::node::{self, DroppedConsolidated, FindDialect, Foresee, Knowing};
use zarr_hierarchy::{CopiedAbove, Erasure, Staleness, WalkJob, in_store, open_group, open_node, with_hierarchy_hint};
use zarr_json::{Map, Value};
use zarr_meta::{Copies, Dialect, GroupMetadata, Node, StoredNode};
use zarr_store::Store;

/// Description of a group to create.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct NewGroup {
    /// Attributes of the new group.
    pub attributes: Map,
    /// Dialect in which the group is stored. `None` stands for the dialect of the existing hierarchy, and Zarr v3 in a store without nodes;
    /// see [`Array::create`].
    pub dialect: Option<Dialect>,
    /// Whether an existing node is replaced, with everything below it. If not, an existing node is an error.
    pub overwrite: bool,
    dropped: DroppedConsolidated,
}

impl NewGroup {
    /// Describes a group without attributes, in the dialect of the hierarchy.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets one attribute.
    #[must_use]
    pub fn attribute(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.attributes.insert(name, value);
        self
    }

    /// Sets all attributes, in place of those that were set before.
    #[must_use]
    pub fn attributes(mut self, attributes: Map) -> Self {
        self.attributes = attributes;
        self
    }

    /// Sets the dialect in which the group is stored; see [`dialect`](Self#structfield.dialect).
    #[must_use]
    pub fn dialect(mut self, dialect: impl Into<Option<Dialect>>) -> Self {
        self.dialect = dialect.into();
        self
    }

    /// Notes in `dropped` the groups above whose consolidated metadata becomes stale and is dropped, as
    /// [`NewArray::noting_dropped`](crate::NewArray::noting_dropped) does.
    #[must_use]
    pub fn noting_dropped(mut self, dropped: &DroppedConsolidated) -> Self {
        self.dropped = dropped.clone();
        self
    }

    /// Sets whether an existing node is replaced, with everything below it, as [`NewArray::overwrite`](crate::NewArray::overwrite) does.
    #[must_use]
    pub fn overwrite(mut self, overwrite: bool) -> Self {
        self.overwrite = overwrite;
        self
    }
}

/// A Zarr group in a store: a node that may have arrays and groups below it.
///
/// ```
/// # use std::sync::Arc;
/// use zarr_array::{Group, NewGroup, Registry, Store};
/// # let registry = Arc::new(Registry::default());
/// let store: Arc<dyn Store> = Arc::new(zarr_store::MemoryStore::new());
/// Group::create(&store, "/a/b", NewGroup::default(), &registry)?;
/// let root = Group::open(&store, "/", &registry)?;
/// let paths: Vec<String> = root.walk()?.nodes.iter().map(|node| node.path.to_string()).collect();
/// assert_eq!(paths, ["/", "/a", "/a/b"]);
/// # Ok::<(), zarr_array::Error>(())
/// ```
#[derive(Clone)]
pub struct Group {
    store: Arc<dyn Store>,
    pub(crate) registry: Arc<Registry>,
    pub(crate) found: StoredNode,
    pub(crate) created: Created,
    pub(crate) strict_writers: bool,
}

/// Whether a handle of a group or one of its clones created nodes, which the consolidated metadata that was read with the group lacks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Created(Arc<AtomicBool>);

impl Created {
    /// Notes that a node is created, or that the consolidated metadata changes.
    pub(crate) fn note(&self) {
        self.0.store(true, Ordering::Release);
    }
}

impl Group {
    /// Opens the group at `path`.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if there is no group at `path`; the error kinds of faults in its metadata; [`ErrorKind::Store`].
    pub fn open(store: &Arc<dyn Store>, path: &str, registry: &Arc<Registry>) -> Result<Self> {
        let found = open_group(&**store, path, None, Copies::Read)
            .map_err(|error| with_hierarchy_hint(error, &**store, path))?;
        Self::from_found(store, found, registry)
    }

    /// Makes a group from metadata that was read before.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if `found` is an array.
    pub fn from_found(store: &Arc<dyn Store>, found: StoredNode, registry: &Arc<Registry>) -> Result<Self> {
        Self::check_found(&found, &**store)?;
        Ok(Self::of_parts(Arc::clone(store), Arc::clone(registry), found, Created::default()))
    }

    pub(crate) fn of_parts(
        store: Arc<dyn Store>,
        registry: Arc<Registry>,
        found: StoredNode,
        created: Created,
    ) -> Self {
        Self { store, registry, found, created, strict_writers: false }
    }

    /// Sets [`Options::strict_writers`] for the group and for nodes that are opened or created through it.
    #[must_use]
    pub fn with_strict_writers(self, strict_writers: bool) -> Self {
        Self { strict_writers, ..self }
    }

    /// Returns an error if `found` is an array.
    pub(crate) fn check_found(found: &StoredNode, store: impl Display) -> Result<()> {
        if found.node.as_array().is_none() {
            return Ok(());
        }
        let error = Error::new(ErrorKind::NotFound, "found an array, expected a group");
        Err(in_store(store, error.at(|location| location.path = Some(found.path.to_string()))))
    }

    /// Creates a group at `path`, and the groups above it that do not exist. Their dialect is the dialect of the hierarchy, as for
    /// [`Array::create`], unless `new` names one.
    ///
    /// # Errors
    /// [`ErrorKind::Exists`] if there is a node at `path` and `new` does not say to replace it; [`ErrorKind::Argument`] if `new` names
    /// another dialect than that of the hierarchy; [`ErrorKind::Store`].
    pub fn create(store: &Arc<dyn Store>, path: &str, new: NewGroup, registry: &Arc<Registry>) -> Result<Self> {
        let locate = |error| in_store(store, error);
        let group = GroupMetadata::new(new.attributes);
        let path = node::parse_path(path).map_err(locate)?;
        let capabilities = store.capabilities();
        let profile = store.access_profile();
        let known = run(&**store, Foresee::new(path.clone(), capabilities, &profile).job()).map_err(locate)?;
        let find = FindDialect::new(path.clone(), new.dialect, new.overwrite, capabilities.list, &profile);
        let (dialect, known) = run(&**store, Knowing::new(find, known).job()).map_err(locate)?;
        let job = node::create(path, dialect, &Node::Group(group), new.overwrite, capabilities).map_err(locate)?;
        let job = job.noting(&new.dropped);
        let (found, _) = run(&**store, Knowing::new(job, known).job()).map_err(locate)?;
        Self::from_found(store, found, registry)
    }

    /// Store in which the group lies.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// Replaces the attributes, as [`set_attributes`](zarr_hierarchy::set_attributes) does. Other members of the documents stay.
    ///
    /// # Errors
    /// The errors of [`set_attributes`](zarr_hierarchy::set_attributes).
    pub fn set_attributes(&mut self, attributes: Map) -> Result<()> {
        self.check_strict_writers("a change of attributes")?;
        self.found = zarr_hierarchy::set_attributes(&*self.store, &self.found, attributes)?;
        Ok(())
    }

    /// Lists the nodes directly below the group, sorted by path.
    ///
    /// # Errors
    /// [`ErrorKind::Store`] if the store fails or cannot list. Faults in the metadata of nodes are no errors of the call: they are in
    /// [`Walk::broken`].
    pub fn children(&self) -> Result<Walk> {
        Ok(self.run_walk(Some(1), false)?.below(&self.found.path))
    }

    /// Lists this group and all nodes below it, sorted by path.
    ///
    /// # Errors
    /// The errors of [`children`](Self::children).
    pub fn walk(&self) -> Result<Walk> {
        self.run_walk(None, false)
    }

    /// Lists the nodes directly below the group from its consolidated metadata, which may be stale; without consolidated metadata as
    /// [`children`](Self::children) does. The consolidated metadata of v3, and of a group of a remote store, is the state from when the
    /// group was opened.
    ///
    /// # Errors
    /// The errors of [`children`](Self::children).
    pub fn consolidated_children(&self) -> Result<Walk> {
        Ok(self.run_walk(Some(1), true)?.below(&self.found.path))
    }

    /// Lists this group and all nodes below it from its consolidated metadata, which may be stale; without consolidated metadata as
    /// [`walk`](Self::walk) does.
    ///
    /// # Errors
    /// The errors of [`children`](Self::children).
    pub fn consolidated_walk(&self) -> Result<Walk> {
        self.run_walk(None, true)
    }

    fn run_walk(&self, depth: Option<usize>, trusting: bool) -> Result<Walk> {
        let found = self.found.clone();
        let found = if self.created.0.load(Ordering::Acquire) { found.without_copies() } else { found };
        let can_list = self.store.capabilities().list;
        let job = WalkJob::new(found, depth, can_list);
        let walked = run(&*self.store, if trusting { job.trusting() } else { job }.job());
        let kind = self.store.access_profile().kind;
        let walked = run(&*self.store, CopiedAbove::new(walked, &self.found, depth, can_list, kind).job());
        walked.map_err(|error| self.with_hierarchy_hint(error)).map(|walk| walk.in_store(&self.store))
    }

    /// Opens the array below this group whose path relative to the group is `name`.
    ///
    /// # Errors
    /// The errors of [`Array::open`].
    pub fn array(&self, name: &str) -> Result<Array> {
        let found = open_node(&*self.store, &self.below(name)?, Some(self.found.dialect))?;
        let options = Options::default().strict_writers(self.strict_writers);
        Array::from_found_now(&self.store, found, &self.registry, options)
    }

    /// Opens the group below this group whose path relative to this group is `name`.
    ///
    /// # Errors
    /// The errors of [`Group::open`].
    pub fn group(&self, name: &str) -> Result<Self> {
        let found = open_group(&*self.store, &self.below(name)?, Some(self.found.dialect), Copies::Read)?;
        Ok(Self::from_found(&self.store, found, &self.registry)?.with_strict_writers(self.strict_writers))
    }

    /// Creates an array at the relative path `name` below this group, in the dialect of the group unless `new` names a dialect.
    ///
    /// # Errors
    /// The errors of [`Array::create`].
    pub fn create_array(&self, name: &str, new: NewArray) -> Result<Array> {
        self.created.note();
        Array::create(&self.store, &self.below(name)?, self.array_as_in_group(new), &self.registry)
    }

    /// Creates a group at the relative path `name` below this group, in the dialect of this group unless `new` names a dialect.
    ///
    /// # Errors
    /// The errors of [`Group::create`].
    pub fn create_group(&self, name: &str, new: NewGroup) -> Result<Self> {
        self.created.note();
        let group = Self::create(&self.store, &self.below(name)?, self.group_of_its_dialect(new), &self.registry)?;
        Ok(group.with_strict_writers(self.strict_writers))
    }

    /// Whether there is an array or a group, explicit or implicit, at the relative path `name` below this group.
    ///
    /// # Errors
    /// The errors of [`node_exists`](zarr_hierarchy::node_exists).
    pub fn contains(&self, name: &str) -> Result<bool> {
        zarr_hierarchy::node_exists(&*self.store, &self.below(name)?, Some(self.found.dialect))
            .map_err(|error| in_store(&*self.store, error))
    }

    /// Writes the consolidated metadata of this group, as [`consolidate`](zarr_hierarchy::consolidate) does. Returns the number of nodes in
    /// the consolidated metadata, the group included.
    ///
    /// # Errors
    /// The errors of [`consolidate`](zarr_hierarchy::consolidate).
    ///
    /// # Example
    /// ```
    /// # use std::sync::Arc;
    /// # use zarr_array::{Group, NewGroup, Registry, Store};
    /// # let registry = Arc::new(Registry::default());
    /// # let store: Arc<dyn Store> = Arc::new(zarr_store::MemoryStore::new());
    /// let root = Group::create(&store, "/", NewGroup::default(), &registry)?;
    /// root.create_group("a", NewGroup::default())?;
    /// assert!(root.contains("a")? && !root.contains("b")?);
    /// assert_eq!(root.consolidate()?, 2);
    /// assert!(root.staleness()?.is_some_and(|staleness| !staleness.is_stale()));
    /// root.drop_consolidated()?;
    /// assert!(root.staleness()?.is_none());
    /// # Ok::<(), zarr_array::Error>(())
    /// ```
    pub fn consolidate(&self) -> Result<u64> {
        self.check_strict_writers("consolidated metadata")?;
        self.created.note();
        zarr_hierarchy::consolidate(&*self.store, &self.found.path.to_string(), Some(self.found.dialect))
            .map_err(|error| in_store(&*self.store, error))
    }

    /// Compares the consolidated metadata of this group with the nodes below it; `None` if the group has no consolidated metadata.
    ///
    /// # Errors
    /// The errors of [`staleness`](zarr_hierarchy::staleness).
    pub fn staleness(&self) -> Result<Option<Staleness>> {
        zarr_hierarchy::staleness(&*self.store, &self.found.path.to_string(), Some(self.found.dialect))
            .map_err(|error| in_store(&*self.store, error))
    }

    /// Removes the consolidated metadata of this group, if it has any.
    ///
    /// # Errors
    /// The errors of [`drop_consolidated`](zarr_hierarchy::drop_consolidated).
    pub fn drop_consolidated(&self) -> Result<()> {
        self.check_strict_writers("consolidated metadata")?;
        self.created.note();
        zarr_hierarchy::drop_consolidated(&*self.store, &self.found.path.to_string(), Some(self.found.dialect))
            .map_err(|error| in_store(&*self.store, error))
    }

    /// Erases the group and all nodes and keys below it, as [`Erasure`] does.
    ///
    /// # Errors
    /// [`ErrorKind::Store`].
    pub fn erase(self) -> Result<()> {
        self.erase_with(|_| {})
    }

    /// Erases the group, as [`erase`](Self::erase) does, and calls `progress` with the progress. `progress` may cancel the erasure; see
    /// [`Erasure`].
    ///
    /// # Errors
    /// [`ErrorKind::Store`]; [`ErrorKind::Cancelled`] if `progress` cancels before all is erased.
    pub fn erase_with<F: IntoFlow>(self, progress: impl Fn(EraseProgress) -> F + Send + Sync) -> Result<()> {
        Erasure::of(&self.found).progress(progress).erase(&*self.store)
    }
}
