//! New arrays and groups.

use crate::array::{ArrayHandle, members};
use crate::cache::Cache;
use crate::change::InStore;
use crate::consolidated::watching_above;
use crate::errors::OrException;
use crate::group::GroupHandle;
use crate::location::{Access, Located, Named, Origin};
use crate::runtime;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use std::sync::Arc;
use zarr::dtype::{DataType, FillValue};
use zarr::{Dialect, NewArray, NewGroup, Result, Store};

/// Description of a new node, from a `dict`. For a group only `attributes`, `dialect` and `overwrite` are used.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct NewNode {
    attributes: String,
    dialect: Option<String>,
    pub(crate) overwrite: bool,
    #[pyo3(default)]
    shape: Vec<u64>,
    #[pyo3(default)]
    data_type: String,
    #[pyo3(default)]
    chunks: Option<Vec<u64>>,
    #[pyo3(default)]
    shards: Option<Vec<u64>>,
    #[pyo3(default)]
    codecs: Option<String>,
    /// Bytes of one element, the fill value; `None` for the default.
    #[pyo3(default)]
    fill: Option<PyBackedBytes>,
    #[pyo3(default)]
    dimension_names: Option<Vec<String>>,
    #[pyo3(default)]
    separator: Option<char>,
}

impl NewNode {
    fn dialect(&self) -> Result<Option<Dialect>> {
        Ok(self.dialect.as_deref().map(str::parse::<Dialect>).transpose()?)
    }
}

/// Returns the description of a new group.
///
/// # Errors
/// The errors of the members of `new`.
pub(crate) fn of_group(new: &NewNode) -> Result<NewGroup> {
    Ok(NewGroup::new().attributes(members(&new.attributes)?).dialect(new.dialect()?).overwrite(new.overwrite))
}

/// Returns the description of a new array.
///
/// # Errors
/// The errors of the members of `new`.
pub(crate) fn of_array(new: NewNode) -> Result<NewArray> {
    let dialect = new.dialect()?;
    let mut array =
        NewArray::new(&new.shape, new.data_type).attributes(members(&new.attributes)?).overwrite(new.overwrite);
    if let Some(chunks) = &new.chunks {
        array = array.chunks(chunks);
    }
    if let Some(shards) = &new.shards {
        array = array.shards(shards);
    }
    if let Some(codecs) = new.codecs {
        array = array.codecs(codecs)?;
    }
    if let Some(names) = &new.dimension_names {
        array = array.dimension_names(names);
    }
    if let Some(separator) = new.separator {
        array = array.separator(separator);
    }
    if let Some(dialect) = dialect {
        array = array.dialect(dialect);
    }
    if let Some(fill) = &new.fill {
        let metadata = array.metadata(dialect.unwrap_or(Dialect::NEWEST), &zarr::registry::default())?;
        let data_type = DataType::from_config(&metadata.data_type)?;
        array = array.fill(FillValue::from_bytes(&data_type, fill)?.to_json(&data_type));
    }
    Ok(array)
}

/// Creates an array at an address, and the store if it does not exist.
///
/// # Errors
/// The exceptions of the address, the store and the description.
#[pyfunction]
#[pyo3(signature = (store, path, options, new, cache=None))]
pub(crate) fn create_array(
    py: Python<'_>,
    store: Named<'_>,
    path: Option<String>,
    options: Vec<(String, String)>,
    new: NewNode,
    cache: Option<Cache>,
) -> PyResult<ArrayHandle> {
    let is_long = new.overwrite;
    let new = of_array(new).or_exception(py)?;
    let Located { origin, store, path, .. } =
        Origin::find(py, store, path, options, Access::Create, cache.map(|Cache(cache)| cache))?;
    let create = |store: &Arc<dyn Store>| {
        let create = || zarr::create((store, path.as_str())).array(new);
        Ok(watching_above(store, &path, create))
    };
    let (array, dropped) = runtime::run_in_if(py, &store, is_long, create, |(made, _)| made.is_ok())?;
    dropped.warn(py, &origin.again())?;
    let array = array.or_exception(py)?;
    Ok(ArrayHandle::new(&origin, array.through(&store)))
}

/// Creates a group at an address, and the store if it does not exist.
///
/// # Errors
/// The exceptions of the address, the store and the description.
#[pyfunction]
#[pyo3(signature = (store, path, options, new, cache=None))]
pub(crate) fn create_group(
    py: Python<'_>,
    store: Named<'_>,
    path: Option<String>,
    options: Vec<(String, String)>,
    new: NewNode,
    cache: Option<Cache>,
) -> PyResult<GroupHandle> {
    let is_long = new.overwrite;
    let new = of_group(&new).or_exception(py)?;
    let Located { origin, store, path, .. } =
        Origin::find(py, store, path, options, Access::Create, cache.map(|Cache(cache)| cache))?;
    let create = |store: &Arc<dyn Store>| {
        let create = || zarr::create((store, path.as_str())).group(new);
        Ok(watching_above(store, &path, create))
    };
    let (group, dropped) = runtime::run_in_if(py, &store, is_long, create, |(made, _)| made.is_ok())?;
    dropped.warn(py, &origin.again())?;
    let group = group.or_exception(py)?;
    Ok(GroupHandle::new(&origin, InStore::through(&group, &store).or_exception(py)?))
}
