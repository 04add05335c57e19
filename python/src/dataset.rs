//! Handles of data sets.

use crate::array::ArrayHandle;
use crate::cache::Cache;
use crate::change::InStore;
use crate::consolidated::{watching, watching_above};
use crate::convert::Source;
use crate::data_type::{self, Form};
use crate::errors::OrException;
use crate::labels::{GivenLabel, labels_of};
use crate::location::{Access, Located, Named, Origin};
use crate::memory::Memory;
use crate::new_dataset::{GivenDataset, of_dataset};
use crate::{runtime, selection, variable};
use numpy::{PyArray1, PyArrayDescr, PyArrayDescrMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use zarr::dataset::{Dataset, DatasetOptions, DecodeCoords, Labels, Values, Variable};
use zarr::json::Value;
use zarr::{Options, Result, Selection, Store};

impl InStore for Dataset {
    fn store(&self) -> &Arc<dyn Store> {
        self.group().store()
    }

    fn path(&self) -> String {
        self.group().path().to_string()
    }

    fn through(&self, store: &Arc<dyn Store>) -> Result<Self> {
        self.through(store)
    }
}

/// Data set, or a part of one, with the store that contains it.
#[pyclass(frozen, name = "Dataset", module = "zarr_rust._core")]
pub(crate) struct DatasetHandle {
    origin: Arc<Origin>,
    dataset: OfProcess,
}

/// Data set whose variables have the cache of the process that uses it. A forked child has no threads of its parent, which may hold locks of
/// the cache.
pub(crate) struct OfProcess {
    dataset: Mutex<Dataset>,
    /// Id of the process whose cache the variables have.
    process: AtomicU32,
}

impl OfProcess {
    /// Takes a data set whose variables have the cache of this process, or none.
    pub(crate) fn new(dataset: Dataset) -> Self {
        Self { dataset: Mutex::new(dataset), process: AtomicU32::new(std::process::id()) }
    }

    /// Returns the data set with the cache of this process, which was opened through `origin`.
    pub(crate) fn get(&self, origin: &Origin) -> Dataset {
        let mut dataset = self.dataset.lock().unwrap_or_else(PoisonError::into_inner);
        let process = std::process::id();
        if self.process.swap(process, Ordering::Relaxed) != process
            && let Some(cache) = origin.cache().filter(|_| origin.is_read_only())
            && let Ok(recached) = dataset.with_cache(&cache.of_process())
        {
            *dataset = recached;
        }
        dataset.clone()
    }
}

/// Values that were read: their shape; the name of their form in Python; an array of numpy, or a list in C order; a mask of missing values
/// in C order, if some are missing and the type cannot express it; and, for arrays of any length, the data type of their items.
type Read<'py> =
    (Vec<u64>, &'static str, Bound<'py, PyAny>, Option<Bound<'py, PyArray1<bool>>>, Option<Bound<'py, PyArrayDescr>>);

/// Opens the data set of a group.
///
/// # Errors
/// The exceptions of the address, the store and the metadata.
#[pyfunction]
#[pyo3(signature = (source, decode_coords, number_dimensions, consolidated, cache=None))]
pub(crate) fn open_dataset(
    py: Python<'_>,
    source: Source<'_>,
    decode_coords: &str,
    number_dimensions: bool,
    consolidated: bool,
    cache: Option<Cache>,
) -> PyResult<DatasetHandle> {
    let decode_coords = match decode_coords {
        "none" => DecodeCoords::None,
        "coordinates" => DecodeCoords::Coordinates,
        "all" => DecodeCoords::All,
        other => return Err(PyValueError::new_err(format!("decode_coords {other:?}"))),
    };
    let options = DatasetOptions::default()
        .number_dimensions(number_dimensions)
        .ignore_consolidated(!consolidated)
        .decode_coords(decode_coords);
    let cache = cache.map(|Cache(cache)| cache);
    let Located { origin, store, path, dialect } = source.open_cached(py, Access::Read, cache)?;
    // Elements that are written through a data set are not those that are decoded, so that a cache would not notice the writes.
    let cache = origin.cache().filter(|_| origin.is_read_only());
    let options = match cache.map(|cache| cache.of_process()) {
        Some(cache) => options.arrays(Options::default().cache(cache)),
        None => options,
    };
    let dataset = runtime::run_in(py, &store, true, |through| {
        let open = zarr::open((through, path));
        let group = dialect.into_iter().fold(open, |open, dialect| open.dialect(dialect)).group()?;
        let dataset = Dataset::open_with(&group, &options)?.through(&store)?;
        if cache.is_some() {
            // Decoded arrays are made over this store, by which the cache recognizes them. A variable that cannot be decoded is an error
            // when it is read.
            dataset.variables().for_each(|variable| drop(variable.data_type()));
        }
        Ok(dataset)
    })?;
    DatasetHandle::new(py, &origin, &dataset)
}

/// Creates a data set at an address, and the store if it does not exist.
///
/// # Errors
/// The exceptions of the address, the store and the description.
#[pyfunction]
pub(crate) fn create_dataset(
    py: Python<'_>,
    store: Named<'_>,
    path: Option<String>,
    options: Vec<(String, String)>,
    new: GivenDataset<'_>,
) -> PyResult<DatasetHandle> {
    let new = of_dataset(py, &new)?;
    let Located { origin, store, path, .. } = Origin::find(py, store, path, options, Access::Create, None)?;
    let create = |store: &Arc<dyn Store>| {
        Ok(watching_above(store, &path, || Dataset::create(store, &path, new, &zarr::registry::default())))
    };
    let (dataset, dropped) = runtime::run_in_if(py, &store, true, create, |(made, _)| made.is_ok())?;
    dropped.warn(py, &origin.again())?;
    DatasetHandle::new(py, &origin, &dataset.or_exception(py)?)
}

impl DatasetHandle {
    fn new(py: Python<'_>, origin: &Arc<Origin>, dataset: &Dataset) -> PyResult<Self> {
        let store = origin.store(py)?;
        let dataset = OfProcess::new(dataset.through(&store).or_exception(py)?);
        Ok(Self { origin: Arc::clone(origin), dataset })
    }

    fn get(&self) -> Dataset {
        self.dataset.get(&self.origin)
    }

    /// Returns where the data set is, and the data set.
    pub(crate) fn parts(&self) -> (Arc<Origin>, Dataset) {
        (Arc::clone(&self.origin), self.get())
    }

    fn of<T>(&self, facts: impl FnOnce(&Dataset) -> T) -> T {
        facts(&self.get())
    }

    fn variable<T>(&self, py: Python<'_>, name: &str, facts: impl FnOnce(&Variable) -> T) -> PyResult<T> {
        Ok(facts(self.get().variable(name).or_exception(py)?))
    }

    /// Runs work on the data set, in the store of this process.
    fn run<T: Send>(&self, py: Python<'_>, work: impl FnOnce(&Dataset) -> Result<T> + Send) -> PyResult<T> {
        let store = self.origin.store(py)?;
        let dataset = self.get();
        runtime::run_in(py, &store, true, move |store| work(&dataset.through(store)?))
    }

    /// Changes metadata of the data set, in the store of this process. Warns of consolidated metadata that the change drops.
    fn change(&self, py: Python<'_>, change: impl FnOnce(&Dataset) -> Result<Dataset> + Send) -> PyResult<Self> {
        let store = self.origin.store(py)?;
        let dataset = self.get();
        let path = dataset.path();
        let work = |store: &Arc<dyn Store>| {
            let dataset = dataset.through(store)?;
            Ok(watching(store, &path, || change(&dataset)))
        };
        let done = runtime::run_in_if(py, &store, true, work, |(done, _)| done.is_ok());
        self.origin.forget_chunks();
        let (done, dropped) = done?;
        dropped.warn(py, &self.origin.again())?;
        Self::new(py, &self.origin, &done.or_exception(py)?)
    }
}

fn names<'d>(variables: impl Iterator<Item = &'d Variable>) -> Vec<String> {
    variables.map(|variable| variable.name().to_owned()).collect()
}

#[pymethods]
impl DatasetHandle {
    #[getter]
    fn store(&self) -> String {
        self.of(|dataset| dataset.group().store().to_string())
    }

    #[getter]
    fn path(&self) -> String {
        self.of(|dataset| dataset.group().path().to_string())
    }

    #[getter]
    fn attributes(&self) -> String {
        self.of(|dataset| Value::from(dataset.attributes().clone()).to_string())
    }

    #[getter]
    fn dimensions(&self) -> Vec<(String, u64)> {
        self.of(|dataset| dataset.dimensions().iter().map(|one| (one.name.clone(), one.size)).collect())
    }

    #[getter]
    fn coordinates(&self) -> Vec<String> {
        self.of(|dataset| names(dataset.coordinates()))
    }

    #[getter]
    fn data_variables(&self) -> Vec<String> {
        self.of(|dataset| names(dataset.data_variables()))
    }

    #[getter]
    fn broken(&self) -> Vec<String> {
        self.of(|dataset| dataset.broken().iter().map(ToString::to_string).collect())
    }

    fn overview(&self, py: Python<'_>) -> PyResult<String> {
        self.run(py, |dataset| Ok(dataset.overview().to_string()))
    }

    fn isel(&self, py: Python<'_>, dimension: &str, part: &Bound<'_, PyTuple>) -> PyResult<Self> {
        let Selection::Axes(axes) = selection::selection("axes", part)? else {
            return Err(PyValueError::new_err("a selection of another kind"));
        };
        let axis = axes.into_iter().next().ok_or_else(|| PyValueError::new_err("a selection of nothing"))?;
        Self::new(py, &self.origin, &self.get().isel(dimension, axis).or_exception(py)?)
    }

    fn sel(
        &self,
        py: Python<'_>,
        dimension: &str,
        kind: &str,
        labels: Vec<Option<GivenLabel>>,
        method: Option<&str>,
    ) -> PyResult<Self> {
        let Some(labels) = labels_of(kind, labels)? else { return Self::new(py, &self.origin, &self.get()) };
        let labels = match method {
            None => labels,
            Some("nearest") => Labels::nearest(labels),
            Some("pad") => Labels::pad(labels),
            Some("backfill") => Labels::backfill(labels),
            Some(other) => return Err(PyValueError::new_err(format!("method {other:?}"))),
        };
        let selected = self.run(py, |dataset| dataset.sel(dimension, labels))?;
        Self::new(py, &self.origin, &selected)
    }

    fn append(&self, py: Python<'_>, dimension: &str, new: GivenDataset<'_>) -> PyResult<Self> {
        let new = of_dataset(py, &new)?;
        self.change(py, |dataset| dataset.append(dimension, &new))
    }

    fn update(&self, py: Python<'_>, new: GivenDataset<'_>) -> PyResult<Self> {
        let new = of_dataset(py, &new)?;
        self.change(py, |dataset| dataset.update(&new))
    }

    fn write(&self, py: Python<'_>, new: GivenDataset<'_>, by_labels: bool) -> PyResult<()> {
        let new = of_dataset(py, &new)?;
        let done = self.run(py, |dataset| match by_labels {
            true => dataset.region_of(&new)?.write(&new),
            false => dataset.write(&new),
        });
        self.origin.forget_chunks();
        done
    }

    fn dimensions_of(&self, py: Python<'_>, name: &str) -> PyResult<Vec<String>> {
        self.variable(py, name, |variable| variable.dimensions().map(str::to_owned).collect())
    }

    fn shape_of(&self, py: Python<'_>, name: &str) -> PyResult<Vec<u64>> {
        self.variable(py, name, Variable::shape)
    }

    /// Returns the array of the decoded values of a variable without a selection; `None` if its values are those of no array.
    fn array_of(&self, py: Python<'_>, name: &str) -> PyResult<Option<ArrayHandle>> {
        let store = self.origin.store(py)?;
        // The kind of times follows from elements.
        let array = self.run(py, |dataset| Ok(dataset.variable(name)?.decoded()?.cloned()))?;
        Ok(array.map(|array| ArrayHandle::of_decoded(&self.origin, array.through(&store))))
    }

    fn attributes_of(&self, py: Python<'_>, name: &str) -> PyResult<String> {
        self.variable(py, name, |variable| Value::from(variable.attributes().clone()).to_string())
    }

    fn encoding_of(&self, py: Python<'_>, name: &str) -> PyResult<String> {
        self.variable(py, name, |variable| Value::from(variable.encoding()).to_string())
    }

    fn coordinates_of(&self, py: Python<'_>, name: &str) -> PyResult<Vec<String>> {
        let dataset = self.get();
        Ok(names(dataset.coordinates_of(dataset.variable(name).or_exception(py)?)))
    }

    fn data_type_of(&self, py: Python<'_>, name: &str) -> PyResult<String> {
        self.run(py, |dataset| Ok(dataset.variable(name)?.data_type()?.to_string()))
    }

    fn read<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Read<'py>> {
        let values = self.run(py, |dataset| dataset.variable(name)?.read())?;
        let data = values.data();
        let shape = values.shape().to_vec();
        let missing = || {
            let missing: Vec<bool> = (0..values.len()).map(|index| values.is_missing(index)).collect();
            missing.contains(&true).then(|| PyArray1::from_vec(py, missing))
        };
        match Form::of(data.data_type()) {
            // Times of a calendar that numpy lacks.
            _ if is_calendar(&values) => {
                let texts = (0..values.len()).map(|index| values.text(index));
                Ok((shape, "times", PyList::new(py, texts.collect::<Vec<_>>())?.into_any(), missing(), None))
            }
            form @ (Form::Fixed | Form::Absent) => {
                let data_type = data_type::fixed(py, data.data_type())?;
                let out = py.import("numpy")?.call_method1("empty", (PyTuple::new(py, &shape)?, &data_type))?;
                Memory::new(&out, &data_type)?.view_mut()?.copy_from(&data.view());
                // Other data types have a value that stands for missing elements.
                let missing = if matches!(data_type.kind(), b'b' | b'S' | b'U' | b'V') { missing() } else { None };
                Ok((shape, form.name(), out, missing, None))
            }
            form => {
                let elements = variable::to_python(py, data, &shape)?;
                let inner = (form == Form::List).then(|| data_type::fixed(py, data.data_type())).transpose()?;
                Ok((shape, form.name(), elements, missing(), inner))
            }
        }
    }
}

/// Returns whether values are times of a calendar that numpy lacks.
fn is_calendar(values: &Values) -> bool {
    matches!(values.data_type(), zarr::dtype::DataType::Extension(_)) && values.to_dates().is_ok()
}
