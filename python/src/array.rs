//! Handles of arrays.

use crate::cache::Cache;
use crate::change::Current;
use crate::data_type::{self, Form};
use crate::errors::OrException;
use crate::location::{Located, Origin};
use crate::memory::{self, Memory};
use crate::variable::{self, Absent, Given};
use crate::{plan, runtime, selection};
use numpy::PyArrayDescr;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyTuple};
use std::sync::Arc;
use zarr::codec::View;
use zarr::json::{Map, ParseOptions, Value, parse};
use zarr::{Array, ArrayData, Error, Result, Selection};

/// Least size in bytes of the chunks of an operation for which the operation checks for signals, which takes a thread.
const LONG: u64 = 4 << 20;

/// Array, with the store that contains it.
#[pyclass(frozen, name = "Array", module = "zarr_rust._core")]
pub(crate) struct ArrayHandle {
    origin: Arc<Origin>,
    current: Current<Array>,
    data_type: PyOnceLock<Py<PyArrayDescr>>,
}

impl ArrayHandle {
    /// Returns the handle of an opened array.
    pub(crate) fn new(origin: &Arc<Origin>, array: Array) -> Self {
        Self { origin: Arc::clone(origin), current: Current::new(origin.cached(array)), data_type: PyOnceLock::new() }
    }

    /// Returns the handle of an array of decoded values. Writes to the stored array do not go through it, so that it has a cache only if there
    /// are none.
    pub(crate) fn of_decoded(origin: &Arc<Origin>, array: Array) -> Self {
        Self { origin: Arc::clone(origin), current: Current::new(array), data_type: PyOnceLock::new() }
    }

    /// Returns the store, path and dialect of the array.
    ///
    /// # Errors
    /// The exceptions of opening the store again.
    pub(crate) fn location(&self, py: Python<'_>) -> PyResult<Located> {
        let array = self.current.get();
        let (origin, store) = (Arc::clone(&self.origin), self.origin.store(py)?);
        Ok(Located { origin, store, path: array.path().to_string(), dialect: Some(array.dialect()) })
    }

    /// Returns the array, opened in the store of this process, with the cache of this process.
    pub(crate) fn array(&self, py: Python<'_>) -> PyResult<Array> {
        let store = self.origin.store(py)?;
        let adapt = |array: &Array| {
            let moved = (!Arc::ptr_eq(&store, array.store())).then(|| array.through(&store));
            let recached = self.origin.recached(moved.as_ref().unwrap_or(array));
            Ok(recached.or(moved))
        };
        self.current.get_adapted(adapt).or_exception(py)
    }

    /// Returns the data type of numpy whose elements have the same bytes as those of the array.
    pub(crate) fn numpy_type<'py>(&self, py: Python<'py>, array: &Array) -> PyResult<Bound<'py, PyArrayDescr>> {
        let made = self.data_type.get_or_try_init(py, || data_type::fixed(py, array.data_type()).map(Bound::unbind))?;
        Ok(made.bind(py).clone())
    }

    /// Runs work on the array. `met` is the number of elements in the chunks that the work accesses; signals are checked for if it may take
    /// long.
    fn run<T: Send>(
        &self,
        py: Python<'_>,
        array: Array,
        met: u64,
        work: impl FnOnce(&Array) -> Result<T> + Send,
    ) -> PyResult<T> {
        let is_long = is_long(&array, met);
        runtime::run_in(py, &Arc::clone(array.store()), is_long, move |store| work(&array.through(store)))
    }
}

/// Returns whether `elements` elements of an array have at least `LONG` bytes, so that an operation on them may take long.
fn is_long(array: &Array, elements: u64) -> bool {
    elements.saturating_mul(array.data_type().item_size() as u64) >= LONG
}

/// Returns the number of elements of a shape.
fn count(shape: &[u64]) -> u64 {
    shape.iter().fold(1, |size, &len| size.saturating_mul(len))
}

/// Elements of numpy in the form in which they are written. They are converted for types such as bools, for which not all bytes are valid.
pub(crate) enum Written<'m> {
    View(View<'m>),
    Data(ArrayData),
}

impl<'m> Written<'m> {
    pub(crate) fn new(array: &Array, view: View<'m>) -> Result<Self> {
        let data_type = array.data_type();
        if data_type.layout().takes_any_bits() {
            return Ok(Self::View(view));
        }
        let mut items = Vec::new();
        view.append_to(&mut items)?;
        data_type.layout().normalize(&mut items)?;
        let shape: Vec<u64> = view.shape().iter().map(|&len| len as u64).collect();
        ArrayData::from_items(data_type, &shape, &items, None).map(Self::Data)
    }

    pub(crate) fn write(self, array: &Array, selection: &Selection) -> Result<()> {
        match self {
            Self::View(view) => array.write(selection, view),
            Self::Data(data) => array.write(selection, &data),
        }
    }

    fn append(self, array: &mut Array, axis: usize) -> Result<()> {
        match self {
            Self::View(view) => array.append(axis, view),
            Self::Data(data) => array.append(axis, &data),
        }
    }
}

fn empty<'py>(py: Python<'py>, shape: &[u64], data_type: &Bound<'py, PyArrayDescr>) -> PyResult<Bound<'py, PyAny>> {
    static EMPTY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    EMPTY.import(py, "numpy", "empty")?.call1((PyTuple::new(py, shape)?, data_type))
}

#[pymethods]
impl ArrayHandle {
    #[getter]
    fn shape(&self) -> Vec<u64> {
        self.current.get().shape().to_vec()
    }

    #[getter]
    fn chunk_shape(&self) -> Vec<u64> {
        self.current.get().chunk_shape().to_vec()
    }

    #[getter]
    fn part_shape(&self) -> Vec<u64> {
        self.current.get().part_shape().to_vec()
    }

    #[getter]
    fn is_sharded(&self) -> bool {
        self.current.get().is_sharded()
    }

    #[getter]
    fn dimension_names(&self) -> Option<Vec<Option<String>>> {
        self.current.get().dimension_names().map(<[_]>::to_vec)
    }

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
    fn has_dimension_names(&self) -> bool {
        self.current.get().dialect().has_dimension_names()
    }

    #[getter]
    fn data_type(&self) -> String {
        self.current.get().data_type().to_string()
    }

    #[getter]
    fn form(&self) -> &'static str {
        Form::of(self.current.get().data_type()).name()
    }

    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDescr>> {
        self.numpy_type(py, &self.current.get())
    }

    #[getter]
    fn fill<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.current.get().fill_value().bytes())
    }

    #[getter]
    fn metadata(&self) -> String {
        self.current.get().metadata().to_value().to_string()
    }

    /// Returns the document of the array: the stored one, or, if only consolidated metadata has the array, one in the form of its dialect.
    #[getter]
    fn document(&self, py: Python<'_>) -> PyResult<String> {
        let array = self.current.get();
        let found = array.found();
        let stored =
            found.own_documents().filter(|key| !key.ends_with(".zattrs")).find_map(|key| found.documents.get(key));
        if let Some(stored) = stored {
            return Ok(String::from_utf8_lossy(stored).trim_start_matches('\u{feff}').to_owned());
        }
        let documents = zarr::meta::documents_with_nan_literals(found.dialect, &found.path, &found.node, None);
        let is_of_array = |key: &str| !key.ends_with(".zattrs");
        let text = documents.or_exception(py)?.into_iter().find_map(|(key, text)| text.filter(|_| is_of_array(&key)));
        Ok(String::from_utf8_lossy(&text.unwrap_or_default()).into_owned())
    }

    #[getter]
    fn attributes(&self, py: Python<'_>) -> PyResult<String> {
        let array = self.current.get();
        Ok(Value::from(array.attributes().or_exception(py)?.clone()).to_string())
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

    #[getter]
    fn grid_shape(&self) -> Vec<u64> {
        self.current.get().chunk_grid().grid_shape().to_vec()
    }

    fn info(&self) -> String {
        self.current.get().to_string()
    }

    /// Returns the lines of `info` with sizes. The second value is the number and the bytes of stored chunks; `None` if the store cannot
    /// list.
    fn sizes(&self, py: Python<'_>) -> PyResult<(String, Option<(usize, u64)>)> {
        let array = self.array(py)?;
        let sizes = runtime::run_in(py, &Arc::clone(array.store()), true, |store| array.through(store).sizes())?;
        let stored = sizes.stored.as_ref().map(|stored| (stored.chunks.len(), stored.bytes()));
        Ok((self.current.get().summary().sizes(&sizes).to_string(), stored))
    }

    fn plan(&self, py: Python<'_>, kind: &str, parts: &Bound<'_, PyTuple>) -> PyResult<plan::Planned> {
        let array = self.array(py)?;
        let selection = selection::selection(kind, parts)?;
        selection::resolved(py, &selection, array.chunk_grid())?;
        let store = Arc::clone(array.store());
        runtime::run_in(py, &store, true, |store| array.through(store).plan(&selection)).map(plan::Planned::from)
    }

    fn selected_shape(&self, py: Python<'_>, kind: &str, parts: &Bound<'_, PyTuple>) -> PyResult<Vec<u64>> {
        let selection = selection::selection(kind, parts)?;
        Ok(selection::resolved(py, &selection, self.current.get().chunk_grid())?.result_shape().to_vec())
    }

    #[pyo3(signature = (kind, parts, out=None))]
    fn read<'py>(
        &self,
        py: Python<'py>,
        kind: &str,
        parts: &Bound<'py, PyTuple>,
        out: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let array = self.array(py)?;
        let selection = selection::selection(kind, parts)?;
        let (shape, met) = selection::shape_and_met(py, &selection, &array)?;
        let data_type = self.numpy_type(py, &array)?;
        let out = match out {
            Some(out) => out,
            None => empty(py, &shape, &data_type)?,
        };
        let mut memory = Memory::new(&out, &data_type)?;
        let view = memory.view_mut()?;
        self.run(py, array, met, |array| array.read_into(&selection, view))?;
        Ok(out)
    }

    fn read_many<'py>(&self, py: Python<'py>, parts: Vec<(Bound<'py, PyTuple>, Bound<'py, PyAny>)>) -> PyResult<()> {
        let array = self.array(py)?;
        let data_type = self.numpy_type(py, &array)?;
        let mut selections = Vec::with_capacity(parts.len());
        let mut memories = Vec::with_capacity(parts.len());
        let mut met = 0_u64;
        for (parts, out) in &parts {
            let selection = selection::selection("axes", parts)?;
            met = selection::shape_and_met(py, &selection, &array)?.1.saturating_add(met);
            selections.push(selection);
            memories.push(Memory::new(out, &data_type)?);
        }
        let views = memory::views_mut(&mut memories)?;
        self.run(py, array, met, |array| array.read_many(selections.into_iter().zip(views)))
    }

    fn read_variable<'py>(
        &self,
        py: Python<'py>,
        kind: &str,
        parts: &Bound<'py, PyTuple>,
    ) -> PyResult<(Vec<u64>, Bound<'py, PyAny>)> {
        let array = self.array(py)?;
        let selection = selection::selection(kind, parts)?;
        let (shape, met) = selection::shape_and_met(py, &selection, &array)?;
        let data = self.run(py, array, met, |array| array.read_data(&selection))?;
        let elements = variable::to_python(py, &data, &shape)?;
        Ok((shape, elements))
    }

    fn read_field<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        kind: &str,
        parts: &Bound<'py, PyTuple>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let array = self.array(py)?;
        let selection = selection::selection(kind, parts)?;
        let (_, met) = selection::shape_and_met(py, &selection, &array)?;
        let data = self.run(py, array, met, |array| array.read_field(name, &selection))?;
        let data_type = data_type::fixed(py, data.data_type())?;
        let out = empty(py, data.shape(), &data_type)?;
        Memory::new(&out, &data_type)?.view_mut()?.copy_from(&data.view());
        Ok(out)
    }

    fn write(&self, py: Python<'_>, kind: &str, parts: &Bound<'_, PyTuple>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let array = self.array(py)?;
        let selection = selection::selection(kind, parts)?;
        let (_, met) = selection::shape_and_met(py, &selection, &array)?;
        let memory = Memory::new(value, &self.numpy_type(py, &array)?)?;
        let view = memory.view()?;
        self.run(py, array, met, |array| Written::new(array, view)?.write(array, &selection))
    }

    fn write_variable(
        &self,
        py: Python<'_>,
        kind: &str,
        parts: &Bound<'_, PyTuple>,
        elements: Given<'_>,
    ) -> PyResult<()> {
        let array = self.array(py)?;
        let selection = selection::selection(kind, parts)?;
        let (shape, met) = selection::shape_and_met(py, &selection, &array)?;
        let data = variable::from_python(py, array.data_type(), &shape, &elements, Absent::Refused)?;
        self.run(py, array, met, |array| array.write(&selection, &data))
    }

    fn append(&self, py: Python<'_>, axis: usize, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let array = self.array(py)?;
        let memory = Memory::new(value, &self.numpy_type(py, &array)?)?;
        let view = memory.view()?;
        let shape: Vec<u64> = view.shape().iter().map(|&len| len as u64).collect();
        self.current.change(py, &self.origin, is_long(&array, count(&shape)), |array| {
            Written::new(array, view)?.append(array, axis)
        })
    }

    fn append_variable(&self, py: Python<'_>, axis: usize, shape: Vec<u64>, elements: Given<'_>) -> PyResult<()> {
        let array = self.array(py)?;
        let data = variable::from_python(py, array.data_type(), &shape, &elements, Absent::Refused)?;
        self.current.change(py, &self.origin, is_long(&array, count(&shape)), |array| array.append(axis, &data))
    }

    fn resize(&self, py: Python<'_>, shape: Vec<u64>) -> PyResult<()> {
        self.array(py)?;
        self.current.change(py, &self.origin, true, |array| array.resize(&shape))
    }

    fn set_attributes(&self, py: Python<'_>, attributes: &str) -> PyResult<()> {
        let attributes = members(attributes).or_exception(py)?;
        self.array(py)?;
        self.current.change(py, &self.origin, false, |array| array.set_attributes(attributes))
    }

    fn change_attributes(&self, py: Python<'_>, set: &str, remove: Vec<String>) -> PyResult<bool> {
        let set = members(set).or_exception(py)?;
        self.array(py)?;
        self.current.change(py, &self.origin, false, |array| {
            let Some(attributes) = changed(array.attributes()?.clone(), set, &remove) else { return Ok(false) };
            array.set_attributes(attributes)?;
            Ok(true)
        })
    }
}

/// Returns attributes without the names in `remove`, and with the members of `set`; `None` if one of the names in `remove` does not exist.
pub(crate) fn changed(mut attributes: Map, set: Map, remove: &[String]) -> Option<Map> {
    for name in remove {
        attributes.remove(name)?;
    }
    for (name, value) in set {
        attributes.insert(name, value);
    }
    Some(attributes)
}

/// Parses a JSON object, in which NaN and infinities may be spelled as in Python.
pub(crate) fn members(text: &str) -> Result<Map> {
    match parse(text.as_bytes(), ParseOptions::ALL).map(|parsed| parsed.value) {
        Ok(Value::Object(members)) => Ok(members),
        Ok(other) => Err(Error::argument(format!("found {}, expected an object of JSON", other.kind()))),
        Err(error) => Err(Error::argument(error.to_string())),
    }
}
