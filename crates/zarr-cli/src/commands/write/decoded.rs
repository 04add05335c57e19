//! Writing decoded values: they are packed as the variable is.

use super::{Input, Write, values};
use crate::commands::read::Labelled;
use crate::commands::transfer::Transfer;
use crate::failure::{Failure, Result};
use crate::npy::Header;
use crate::number;
use zarr::ArrayData;
use zarr::codec::View;
use zarr::dataset::{Values, Variable};
use zarr::dtype::DataType;
use zarr::meta::json::Value;

/// Where values come from.
enum Origin {
    /// All are this one.
    Constant(Value),
    /// The rest of those that were read, in C order.
    Listed(std::vec::IntoIter<Value>),
    /// The elements of a file of numpy, in C order.
    File(Header),
    /// The same, read as a whole: it is in Fortran order.
    Whole(ArrayData),
}

/// Writes values over the part of a variable that is selected.
pub(super) fn write(
    args: &Write,
    labelled: &Labelled<'_>,
    input: Option<&mut Input>,
    progress: &Transfer,
) -> Result<()> {
    let (dataset, name) = labelled.dataset();
    let variable = dataset.variable(name)?;
    let (shape, data_type) = (variable.shape(), variable.data_type()?);
    let mut origin = match (&args.value, input.as_deref()) {
        (Some(text), _) => Origin::Constant(values::cell(&data_type, text)),
        _ => Origin::Listed(Vec::new().into_iter()),
    };
    let mut input = input;
    if let Some(input) = input.as_deref_mut() {
        origin = match values::form(args) {
            Some(form) => Origin::Listed(values::read(form, &data_type, &shape, input)?.into_iter()),
            None => from_npy(&shape, input)?,
        };
    }
    labelled.each_piece(|variable| {
        let shape = variable.shape();
        let count = zarr::grid::element_count(&shape).unwrap_or(u64::MAX);
        let values = match &mut origin {
            Origin::Whole(data) => Values::of_data(data.clone()),
            Origin::File(header) => {
                let Some(input) = input.as_deref_mut() else { return Ok(()) };
                let mut items = input.items(count.saturating_mul(header.data_type.item_size() as u64))?;
                header.data_type.layout().swap(&header.order, &mut items);
                Values::of_data(ArrayData::from_items(&header.data_type, &shape, &items, None)?)
            }
            Origin::Constant(value) => {
                let all = vec![value.clone(); usize::try_from(count).unwrap_or(usize::MAX)];
                Values::of_data(data(&data_type, &shape, &all)?)
            }
            Origin::Listed(rest) => {
                let all: Vec<Value> = rest.take(usize::try_from(count).unwrap_or(usize::MAX)).collect();
                Values::of_data(data(&data_type, &shape, &all)?)
            }
        };
        store(variable, values)?;
        progress.add(usize::try_from(count).unwrap_or(usize::MAX));
        Ok(())
    })?;
    match (&origin, input) {
        (Origin::File(_), Some(input)) => input.expect_end(),
        _ => Ok(()),
    }
}

fn store(variable: &Variable, values: Values) -> Result<()> {
    Ok(variable.write(values)?)
}

/// The header of a file of numpy whose elements have this shape.
fn from_npy(shape: &[u64], input: &mut Input) -> Result<Origin> {
    let header = Header::read(&input.name, &mut input.input)?;
    if header.shape != shape {
        let (found, expected) = (number::tuple(&header.shape), number::tuple(shape));
        let failure = Failure::usage(format!("{}: values of shape {found}, expected {expected}", input.name));
        return Err(failure.with_hint("--sel, --isel and --select choose what is written, by default all"));
    }
    if !header.fortran || shape.len() < 2 {
        return Ok(Origin::File(header));
    }
    let count = zarr::grid::element_count(shape).unwrap_or(u64::MAX);
    let item = header.data_type.item_size();
    let mut items = input.items(count.saturating_mul(item as u64))?;
    input.expect_end()?;
    header.data_type.layout().swap(&header.order, &mut items);
    let turned: Vec<usize> = shape.iter().rev().map(|&len| usize::try_from(len).unwrap_or(usize::MAX)).collect();
    let view = View::new(&items, item, &turned).map_err(zarr::Error::from)?;
    let mut in_c_order = Vec::with_capacity(items.len());
    let view = view.permuted(&(0..turned.len()).rev().collect::<Vec<_>>());
    view.append_to(&mut in_c_order).map_err(zarr::Error::from)?;
    Ok(Origin::Whole(ArrayData::from_items(&header.data_type, shape, &in_c_order, None)?))
}

/// Values as elements of a data type.
fn data(data_type: &DataType, shape: &[u64], all: &[Value]) -> Result<ArrayData> {
    let (items, heap) = values::items(data_type, all)?;
    Ok(ArrayData::from_items(data_type, shape, &items, heap)?)
}
