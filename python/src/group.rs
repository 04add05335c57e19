//! Handles of groups.

use crate::array::{ArrayHandle, changed, members};
use crate::cache::Cache;
use crate::change::{Current, InStore};
use crate::consolidated::{Dropped, watching_above};
use crate::errors::OrException;
use crate::location::{Access, Located, Named, Origin};
use crate::new_node::{NewNode, of_array, of_group};
use crate::runtime;
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};
use zarr::convert::Transfer;
use zarr::hierarchy::{StoredNode, Summary, Walk, consolidate, erase_node, node_exists, open_node};
use zarr::json::Value;
use zarr::meta::consolidated::document_key;
use zarr::store::{ByteRange, GetOptions, Key, StoreExt, StoreKind};
use zarr::{Array, Dialect, Group, Opened, Result, Store};

/// Group, with the store that contains it.
#[pyclass(frozen, name = "Group", module = "zarr_rust._core")]
#[derive(Debug)]
pub(crate) struct GroupHandle {
    origin: Arc<Origin>,
    current: Current<Group>,
    /// Nodes below the group, by their paths, as consolidated metadata has them; `None` if consolidated metadata is not used.
    copies: OnceLock<Option<BTreeMap<String, StoredNode>>>,
}

/// Handle of an array or a group.
#[derive(IntoPyObject)]
#[expect(clippy::large_enum_variant, reason = "made one at a time, and given to Python at once")]
pub(crate) enum Handle {
    Array(ArrayHandle),
    Group(GroupHandle),
}

impl Handle {
    /// Returns the handle of a node that was opened in a store with the same values as the store of `origin`.
    fn of(py: Python<'_>, origin: &Arc<Origin>, opened: Opened) -> PyResult<Self> {
        let store = origin.store(py)?;
        Ok(match opened {
            Opened::Array(array) => Self::Array(ArrayHandle::new(origin, array.through(&store))),
            Opened::Group(group) => {
                Self::Group(GroupHandle::new(origin, InStore::through(&group, &store).or_exception(py)?))
            }
        })
    }
}

/// Nodes by their paths, with the shape and data type of arrays and `None` for groups; and the errors of broken nodes.
type Nodes = (Vec<(String, Option<(Vec<u64>, String)>)>, Vec<String>);

impl GroupHandle {
    /// Returns the handle of an opened group.
    pub(crate) fn new(origin: &Arc<Origin>, group: Group) -> Self {
        Self { origin: Arc::clone(origin), current: Current::new(group), copies: OnceLock::new() }
    }

    /// Returns the store, path and dialect of the group.
    ///
    /// # Errors
    /// The exceptions of opening the store again.
    pub(crate) fn location(&self, py: Python<'_>) -> PyResult<Located> {
        let group = self.current.get();
        let (origin, store) = (Arc::clone(&self.origin), self.origin.store(py)?);
        Ok(Located { origin, store, path: group.path().to_string(), dialect: Some(group.dialect()) })
    }

    /// Returns the group, opened in the store of this process.
    fn group(&self, py: Python<'_>) -> PyResult<Group> {
        self.current.get_in(&self.origin.store(py)?).or_exception(py)
    }

    /// Returns the nodes below the group, by their paths, from its consolidated metadata: one request instead of some for each node. `None`
    /// unless the store is remote and this handle is read-only.
    fn copies(&self, group: &Group) -> Option<&BTreeMap<String, StoredNode>> {
        if !self.origin.is_read_only() || group.store().access_profile().kind != StoreKind::Remote {
            return None;
        }
        if let Some(known) = self.copies.get() {
            return known.as_ref();
        }
        let read = || {
            if !is_consolidated(group)? {
                return Ok(None);
            }
            let nodes = group.consolidated_walk()?.nodes;
            Ok(Some(nodes.into_iter().map(|node| (node.path.to_string(), node)).collect()))
        };
        // An error may be temporary: it is not cached, and the nodes are read from their documents this time.
        let copies: Result<Option<BTreeMap<_, _>>> = read();
        let copies = copies.ok()?;
        self.copies.get_or_init(|| copies).as_ref()
    }

    /// Opens the array or group at a path below the group.
    fn open_below(&self, group: &Group, name: &str) -> Result<Opened> {
        let path = below(group, name)?;
        let copy = self.copies(group).and_then(|copies| copies.get(&path)).cloned();
        open_found(group, copy.map_or_else(|| open_node(&**group.store(), &path, Some(group.dialect())), Ok)?)
    }

    /// Runs work on the group. Checks for signals if `is_long`.
    fn run<T: Send>(
        &self,
        py: Python<'_>,
        is_long: bool,
        work: impl FnOnce(&Group) -> Result<T> + Send,
    ) -> PyResult<T> {
        let group = self.group(py)?;
        runtime::run_in(py, &Arc::clone(group.store()), is_long, move |store| work(&InStore::through(&group, store)?))
    }
}

impl GroupHandle {
    /// Creates, moves or erases nodes at these paths. Warns of consolidated metadata that the change drops. Checks for signals if
    /// `is_long`.
    fn change_below<T: Send>(
        &self,
        py: Python<'_>,
        is_long: bool,
        names: &[&str],
        work: impl FnOnce(&Group) -> Result<T> + Send,
    ) -> PyResult<T> {
        let group = self.group(py)?;
        let change = |store: &Arc<dyn Store>| {
            let group = &InStore::through(&group, store)?;
            let mut paths = names.iter().map(|name| below(group, name)).collect::<Result<Vec<_>>>()?;
            let last = paths.pop().unwrap_or_default();
            let ((done, one), other) = watching_above(group.store(), &last, || match paths.pop() {
                Some(first) => watching_above(group.store(), &first, || work(group)),
                None => (work(group), Dropped::default()),
            });
            Ok((done, one.and(other)))
        };
        let done = runtime::run_in_if(py, group.store(), is_long, change, |(done, _)| done.is_ok());
        // Another array may now be at the path of an array with cached chunks.
        self.origin.forget_chunks();
        let (done, dropped) = done?;
        dropped.warn(py, &self.origin.again())?;
        done.or_exception(py)
    }
}

/// Returns whether a group has consolidated metadata.
fn is_consolidated(group: &Group) -> Result<bool> {
    let found = group.found();
    if found.node.as_group().is_some_and(|group| group.consolidated.is_some()) {
        return Ok(true);
    }
    if let Some(beside) = found.consolidated_beside() {
        return Ok(beside.is_ok_and(|copy| copy.is_some()));
    }
    let Some(key) = document_key(found) else { return Ok(false) };
    Ok(group.store().get(&Key::new(&key)?, &[ByteRange::First(1)], &GetOptions::default())?.is_some())
}

/// Returns the path of a node below a group.
fn below(group: &Group, name: &str) -> Result<String> {
    let path = name.trim_matches('/').split('/').try_fold(group.path().clone(), |path, name| path.join(name))?;
    Ok(path.to_string())
}

/// Opens the array or group of a node that was found below a group.
fn open_found(group: &Group, found: StoredNode) -> Result<Opened> {
    match found.node.as_array() {
        Some(_) => {
            Array::from_found(group.store(), found, group.registry(), zarr::Options::default()).map(Opened::Array)
        }
        None => Group::from_found(group.store(), found, group.registry()).map(Opened::Group),
    }
}

fn nodes(walk: Walk) -> Nodes {
    let of_node = |node: &StoredNode| {
        let array = node.node.as_array();
        (node.path.to_string(), array.map(|array| (array.shape.clone(), array.data_type.name.clone())))
    };
    (walk.nodes.iter().map(of_node).collect(), walk.broken.iter().map(ToString::to_string).collect())
}

/// Opened arrays and groups by their paths, and the errors of broken nodes.
type Members = (Vec<(String, Handle)>, Vec<String>);

/// Opens the array or group at an address.
///
/// # Errors
/// The exceptions of the address, the store and the metadata.
#[pyfunction]
#[pyo3(signature = (store, path, mode, dialect, options, cache=None))]
pub(crate) fn open(
    py: Python<'_>,
    store: Named<'_>,
    path: Option<String>,
    mode: &str,
    dialect: Option<&str>,
    options: Vec<(String, String)>,
    cache: Option<Cache>,
) -> PyResult<Handle> {
    let access = if mode == "r" { Access::Read } else { Access::Write };
    let dialect = dialect.map(str::parse::<Dialect>).transpose().or_exception(py)?;
    let Located { origin, store, path, .. } =
        Origin::find(py, store, path, options, access, cache.map(|Cache(cache)| cache))?;
    let opened = runtime::run_in(py, &store, false, |store| {
        let open = zarr::open((store, path));
        dialect.into_iter().fold(open, |open, dialect| open.dialect(dialect)).node()
    })?;
    Handle::of(py, &origin, opened)
}

#[pymethods]
impl GroupHandle {
    #[getter]
    fn path(&self) -> String {
        self.current.get().path().to_string()
    }

    #[getter]
    fn dialect(&self) -> &'static str {
        self.current.get().dialect().name()
    }

    #[getter]
    fn fill_value_marks_missing(&self) -> bool {
        self.current.get().dialect().fill_value_marks_missing()
    }

    #[getter]
    fn attributes(&self, py: Python<'_>) -> PyResult<String> {
        let group = self.current.get();
        Ok(Value::from(group.attributes().or_exception(py)?.clone()).to_string())
    }

    #[getter]
    fn address(&self) -> Option<String> {
        self.origin.address_text()
    }

    /// Returns a number that is the same for all handles that were opened from one another in one store.
    #[getter]
    fn origin(&self) -> usize {
        Arc::as_ptr(&self.origin).addr()
    }

    #[getter]
    fn asked(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        self.origin.asked(py)
    }

    /// Returns the cache of the store; `None` without one.
    #[getter]
    fn cache(&self) -> Option<Cache> {
        self.origin.cache().cloned().map(Cache)
    }

    #[getter]
    fn store_options(&self) -> Vec<(String, String)> {
        self.origin.options()
    }

    #[getter]
    fn read_only(&self) -> bool {
        self.origin.is_read_only()
    }

    #[getter]
    fn store(&self) -> String {
        self.current.get().store().to_string()
    }

    fn info(&self) -> String {
        self.current.get().to_string()
    }

    /// Returns the lines of `info`, with the nodes below the group.
    fn info_complete(&self, py: Python<'_>) -> PyResult<String> {
        self.run(py, true, |group| Ok(Summary::of(group.found()).below(&group.walk()?).to_string()))
    }

    fn set_attributes(&self, py: Python<'_>, attributes: &str) -> PyResult<()> {
        let attributes = members(attributes).or_exception(py)?;
        self.group(py)?;
        self.current.change(py, &self.origin, false, |group| group.set_attributes(attributes))
    }

    fn change_attributes(&self, py: Python<'_>, set: &str, remove: Vec<String>) -> PyResult<bool> {
        let set = members(set).or_exception(py)?;
        self.group(py)?;
        self.current.change(py, &self.origin, false, |group| {
            let Some(attributes) = changed(group.attributes()?.clone(), set, &remove) else { return Ok(false) };
            group.set_attributes(attributes)?;
            Ok(true)
        })
    }

    fn children(&self, py: Python<'_>) -> PyResult<Nodes> {
        self.run(py, true, |group| match self.copies(group) {
            Some(_) => group.consolidated_children().map(nodes),
            None => group.children().map(nodes),
        })
    }

    fn walk(&self, py: Python<'_>) -> PyResult<Nodes> {
        self.run(py, true, |group| match self.copies(group) {
            Some(_) => group.consolidated_walk().map(nodes),
            None => group.walk().map(nodes),
        })
    }

    fn is_consolidated(&self, py: Python<'_>) -> PyResult<bool> {
        self.run(py, false, is_consolidated)
    }

    fn members(&self, py: Python<'_>, name: &str, recursive: bool, consolidated: bool) -> PyResult<Members> {
        let (opened, broken) = self.run(py, true, |group| {
            let walk = match (recursive, consolidated) {
                (true, true) => group.consolidated_walk()?,
                (true, false) => group.walk()?,
                (false, true) => group.consolidated_children()?,
                (false, false) => group.children()?,
            };
            let above = if name.is_empty() { group.path().to_string() } else { below(group, name)? };
            let prefix = format!("{}/", above.trim_end_matches('/'));
            let mut broken: Vec<String> = walk.broken.iter().map(ToString::to_string).collect();
            let mut opened = Vec::new();
            for node in walk.nodes {
                let path = node.path.to_string();
                if path != above && !path.starts_with(&prefix) {
                    continue;
                }
                match open_found(group, node) {
                    Ok(node) => opened.push((path, node)),
                    Err(error) => broken.push(error.to_string()),
                }
            }
            Ok((opened, broken))
        })?;
        let handle = |(path, node)| Ok((path, Handle::of(py, &self.origin, node)?));
        Ok((opened.into_iter().map(handle).collect::<PyResult<_>>()?, broken))
    }

    fn open(&self, py: Python<'_>, name: &str) -> PyResult<Handle> {
        let opened = self.run(py, false, |group| self.open_below(group, name))?;
        Handle::of(py, &self.origin, opened)
    }

    fn contains(&self, py: Python<'_>, name: &str) -> PyResult<bool> {
        self.run(py, false, |group| {
            let path = below(group, name)?;
            let is_known = self.copies(group).is_some_and(|copies| copies.contains_key(&path));
            if is_known { Ok(true) } else { node_exists(&**group.store(), &path, Some(group.dialect())) }
        })
    }

    fn erase(&self, py: Python<'_>, name: &str) -> PyResult<()> {
        self.change_below(py, true, &[name], |group| {
            let found = open_node(&**group.store(), &below(group, name)?, Some(group.dialect()))?;
            erase_node(&**group.store(), &found)
        })
    }

    /// Moves a node to another path below the group.
    fn move_node(&self, py: Python<'_>, name: &str, to: &str) -> PyResult<()> {
        self.change_below(py, true, &[name, to], |group| {
            let (from, to) = (below(group, name)?, below(group, to)?);
            Transfer::of(group.store(), &from).to(&to).move_all(group.registry())
        })
    }

    /// Writes consolidated metadata, and returns the number of nodes in it.
    fn consolidate(&self, py: Python<'_>) -> PyResult<u64> {
        self.run(py, true, |group| consolidate(&**group.store(), &group.path().to_string(), Some(group.dialect())))
    }

    fn create_array(&self, py: Python<'_>, name: &str, new: NewNode) -> PyResult<ArrayHandle> {
        let is_long = new.overwrite;
        let new = of_array(new).or_exception(py)?;
        let array = self.change_below(py, is_long, &[name], |group| group.create_array(name, new))?;
        Ok(ArrayHandle::new(&self.origin, array.through(&self.origin.store(py)?)))
    }

    fn create_group(&self, py: Python<'_>, name: &str, new: NewNode) -> PyResult<Self> {
        let is_long = new.overwrite;
        let new = of_group(&new).or_exception(py)?;
        let group = self.change_below(py, is_long, &[name], |group| group.create_group(name, new))?;
        let group = InStore::through(&group, &self.origin.store(py)?).or_exception(py)?;
        Ok(Self::new(&self.origin, group))
    }
}
