//! Elements as bytes: in C order, little-endian, without separators.

use super::{AxisLabels, Cells, Format};
use crate::failure::Result;
use crate::output::Output;
use std::borrow::Cow;
use zarr::dtype::{ByteOrder, DataType};

/// Prints a header, then the bytes of the elements.
#[derive(Debug)]
pub(super) struct Raw {
    pub(super) header: Vec<u8>,
}

impl Format for Raw {
    fn begin(&mut self, out: &mut Output) -> Result<()> {
        out.write(&self.header)
    }

    fn piece(&mut self, cells: &Cells, _: &[AxisLabels], out: &mut Output) -> Result<()> {
        let data = cells.data();
        if let Some(elements) = data.variable() {
            for element in elements {
                // Elements are at most 4 GiB long.
                let len = u32::try_from(element.len()).unwrap_or(u32::MAX);
                out.write(&len.to_le_bytes())?;
                out.write(&little(data.data_type(), element))?;
            }
            return Ok(());
        }
        out.write(&little(data.data_type(), data.items()))
    }
}

/// Returns the bytes of elements, or of the items of a list element, with all numbers in little-endian byte order.
fn little<'e>(data_type: &DataType, elements: &'e [u8]) -> Cow<'e, [u8]> {
    if cfg!(target_endian = "little") {
        return Cow::Borrowed(elements);
    }
    let numbers = match data_type.storage() {
        DataType::VlenArray(items) => &**items,
        whole => whole,
    };
    let mut swapped = elements.to_vec();
    numbers.layout().swap(&ByteOrder::Little, &mut swapped);
    Cow::Owned(swapped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_little_endian() {
        let numbers = [1_i16, -2].map(i16::to_ne_bytes).concat();
        for data_type in [DataType::Int16, DataType::VlenArray(Box::new(DataType::Int16))] {
            assert_eq!(*little(&data_type, &numbers), [1, 0, 0xfe, 0xff], "{data_type}");
        }
        assert_eq!(*little(&DataType::String, b"text"), *b"text");
    }
}
