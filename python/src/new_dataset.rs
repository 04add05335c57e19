//! New data sets, and the values that are written into them.

use crate::array::members;
use crate::data_type::{self, Form};
use crate::errors::OrException;
use crate::memory::Memory;
use crate::variable::{self, Absent, Given};
use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use zarr::dataset::{NewDataset, NewVariable, Values};
use zarr::dtype::DataType;
use zarr::{ArrayData, Dialect, NewArray, Result};

/// New data set, from a `dict`: variables with values.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct GivenDataset<'py> {
    attributes: String,
    dialect: Option<String>,
    pub(crate) overwrite: bool,
    consolidated: bool,
    safe_chunks: bool,
    variables: Vec<GivenVariable<'py>>,
}

/// Variable with values, from a `dict`: the values are an array of numpy, which may have strings.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct GivenVariable<'py> {
    name: String,
    dimensions: Vec<String>,
    is_coordinate: bool,
    attributes: String,
    encoding: String,
    stored_as: Option<String>,
    chunks: Option<Vec<u64>>,
    shards: Option<Vec<u64>>,
    codecs: Option<String>,
    data_type: String,
    array: Bound<'py, PyUntypedArray>,
}

/// Returns the description of a new data set, with copies of the values.
///
/// # Errors
/// The errors of the members of `given`.
pub(crate) fn of_dataset(py: Python<'_>, given: &GivenDataset<'_>) -> PyResult<NewDataset> {
    let mut new = NewDataset::new()
        .attributes(members(&given.attributes).or_exception(py)?)
        .overwrite(given.overwrite)
        .consolidated(given.consolidated)
        .safe_chunks(given.safe_chunks);
    if let Some(dialect) = &given.dialect {
        new = new.dialect(dialect.parse::<Dialect>().or_exception(py)?);
    }
    for variable in &given.variables {
        let made = of_variable(py, variable)?;
        new = if variable.is_coordinate { new.coordinate(made) } else { new.variable(made) };
    }
    Ok(new)
}

fn of_variable(py: Python<'_>, given: &GivenVariable<'_>) -> PyResult<NewVariable> {
    let data_type = named(&given.data_type).or_exception(py)?;
    let data = of_numpy(py, &data_type, &given.array)?;
    let dimensions: Vec<&str> = given.dimensions.iter().map(String::as_str).collect();
    let mut new = NewVariable::new(&given.name, &dimensions, Values::of_data(data))
        .or_exception(py)?
        .attributes(members(&given.attributes).or_exception(py)?);
    for (name, value) in members(&given.encoding).or_exception(py)? {
        new = new.encoding(&name, value);
    }
    if let Some(stored_as) = &given.stored_as {
        new = new.stored_as(stored_as);
    }
    if let Some(chunks) = &given.chunks {
        new = new.chunks(chunks);
    }
    if let Some(shards) = &given.shards {
        new = new.shards(shards);
    }
    match &given.codecs {
        Some(codecs) => new.codecs(codecs.as_str()).or_exception(py),
        None => Ok(new),
    }
}

/// Returns the data type of a name.
fn named(name: &str) -> Result<DataType> {
    let metadata = NewArray::new(&[], name).metadata(Dialect::NEWEST, &zarr::registry::default())?;
    Ok(DataType::from_config(&metadata.data_type)?)
}

fn of_numpy(py: Python<'_>, data_type: &DataType, array: &Bound<'_, PyUntypedArray>) -> PyResult<ArrayData> {
    if Form::of(data_type) == Form::String {
        let shape: Vec<u64> = array.shape().iter().map(|&len| len as u64).collect();
        return variable::from_python(py, data_type, &shape, &Given::Array(array.clone()), Absent::Refused);
    }
    let memory = Memory::new(array, &data_type::fixed(py, data_type)?)?;
    let view = memory.view()?;
    let shape: Vec<u64> = view.shape().iter().map(|&len| len as u64).collect();
    let mut items = Vec::new();
    view.append_to(&mut items).or_exception(py)?;
    data_type.layout().normalize(&mut items).or_exception(py)?;
    ArrayData::from_items(data_type, &shape, &items, None).or_exception(py)
}
