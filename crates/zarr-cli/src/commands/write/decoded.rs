//! Writes decoded values: they are packed by the encoding of the variable.

use super::element_conversion::ElementConversion;
use super::spool::{Block, SpooledElements};
use super::{Input, Write, values};
use crate::commands::read::SelectedVariable;
use crate::commands::transfer::Transfer;
use crate::failure::{Failure, Result};
use crate::npy::Header;
use crate::number;
use crate::selection_pieces::Order;
use zarr::ArrayData;
use zarr::dataset::Values;
use zarr::dtype::DataType;

/// Origin of the values to write.
enum Origin<'i> {
    /// One value for all elements.
    Constant(Block),
    /// Values of a JSON or CSV file, in C order.
    Text(SpooledElements),
    /// Elements of a file of numpy: the input, its header, and the number of elements read so far.
    File(&'i mut Input, Header, u64),
}

impl Origin<'_> {
    /// Takes the next `count` values, of this data type.
    fn take(&mut self, data_type: &DataType, count: u64) -> Result<Block> {
        match self {
            Self::Constant(one) => {
                let items = one.items.repeat(usize::try_from(count).unwrap_or(usize::MAX));
                Ok(Block { items, heap: one.heap.clone() })
            }
            Self::Text(spooled) => spooled.take(count),
            Self::File(input, header, before) => {
                let same = ElementConversion::Same { item: data_type.item_size() };
                let block = same.read(header, input, (*before, count))?;
                *before = before.saturating_add(count);
                Ok(block)
            }
        }
    }

    /// Returns to the first value of a JSON or CSV file; does nothing for other origins.
    fn rewind(&mut self) -> Result<()> {
        match self {
            Self::Text(spooled) => spooled.rewind(),
            Self::Constant(_) | Self::File(..) => Ok(()),
        }
    }
}

/// Writes values to the selected part of a variable.
pub(super) fn write(
    args: &Write,
    labelled: &SelectedVariable<'_>,
    input: Option<&mut Input>,
    progress: &Transfer,
) -> Result<()> {
    let (dataset, name) = labelled.dataset();
    let variable = dataset.variable(name)?;
    let (shape, data_type) = (variable.shape(), variable.data_type()?);
    let mut origin = match (input, &args.value) {
        (Some(input), _) => match values::form(args) {
            Some(form) => Origin::Text(values::read(form, &data_type, &shape, input)?),
            None => {
                let header = header(&shape, input)?;
                Origin::File(input, header, 0)
            }
        },
        (None, Some(text)) => {
            let (items, heap) = values::items(&data_type, &[values::cell(&data_type, text)])?;
            Origin::Constant(Block { items, heap })
        }
        (None, None) => return Ok(()),
    };
    let (read, order, item) = match &origin {
        Origin::Constant(_) => (data_type, Order::C, 0),
        Origin::Text(spooled) => (data_type, Order::C, spooled.item_size()),
        Origin::File(_, header, _) => (header.data_type.clone(), header.order_of_axes(), 0),
    };
    let item = item.max(read.item_size() as u64).max(variable.stored().data_type().item_size() as u64);
    if !labelled.is_one_piece(order, item)? {
        let check = |origin: &mut Origin<'_>| {
            labelled.each_piece(order, item, |variable| {
                let shape = variable.shape();
                let block = origin.take(&read, zarr::grid::element_count(&shape).unwrap_or(u64::MAX))?;
                Ok(variable.encode(Values::of_data(data(block, order, &read, &shape)?)).map(drop)?)
            })
        };
        match &mut origin {
            Origin::Text(_) => {
                check(&mut origin)?;
                origin.rewind()?;
            }
            Origin::File(input, ..) => {
                if let Some(mut again) = input.again()? {
                    let header = header(&shape, &mut again)?;
                    check(&mut Origin::File(&mut again, header, 0))?;
                }
            }
            // A wrong constant fails with the first piece.
            Origin::Constant(_) => {}
        }
    }
    labelled.each_piece(order, item, |variable| {
        let shape = variable.shape();
        let count = zarr::grid::element_count(&shape).unwrap_or(u64::MAX);
        let block = origin.take(&read, count)?;
        variable.write(Values::of_data(data(block, order, &read, &shape)?))?;
        progress.add(usize::try_from(count).unwrap_or(usize::MAX));
        Ok(())
    })?;
    match origin {
        Origin::File(input, ..) => input.expect_end(),
        _ => Ok(()),
    }
}

/// Reads the header of a file of numpy, whose elements must have this shape.
fn header(shape: &[u64], input: &mut Input) -> Result<Header> {
    let header = Header::read(&input.name, &mut input.input)?;
    if header.shape != shape {
        let (found, expected) = (number::tuple(&header.shape), number::tuple(shape));
        let failure = Failure::usage(format!("{}: values of shape {found}, expected {expected}", input.name));
        return Err(failure.with_hint("--sel, --isel and --select choose what is written, by default all"));
    }
    input.check_size(&header)?;
    Ok(header)
}

/// Converts a block of values in the given order to data of this shape in C order.
fn data(block: Block, order: Order, data_type: &DataType, shape: &[u64]) -> Result<ArrayData> {
    let in_c_order = match order {
        Order::C => block.items,
        Order::Fortran => {
            let dims: Vec<usize> = shape.iter().map(|&len| usize::try_from(len).unwrap_or(usize::MAX)).collect();
            let mut items = Vec::with_capacity(block.items.len());
            block.view_in(order, data_type, &dims)?.append_to(&mut items).map_err(zarr::Error::from)?;
            items
        }
    };
    Ok(ArrayData::from_items(data_type, shape, &in_c_order, block.heap)?)
}
