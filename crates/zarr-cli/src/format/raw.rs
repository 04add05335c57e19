//! Elements as bytes: in C order, little-endian, nothing between them.

use super::Format;
use crate::failure::Result;
use crate::output::Output;
use std::borrow::Cow;
use zarr::ArrayData;
use zarr::dtype::ByteOrder;

/// Prints a header, then bytes.
#[derive(Debug)]
pub(super) struct Raw {
    pub(super) header: Vec<u8>,
}

impl Format for Raw {
    fn begin(&mut self, out: &mut Output) -> Result<()> {
        out.write(&self.header)
    }

    fn piece(&mut self, data: &ArrayData, out: &mut Output) -> Result<()> {
        if let Some(elements) = data.variable() {
            for element in elements {
                // Elements are at most 4 GiB long.
                let len = u32::try_from(element.len()).unwrap_or(u32::MAX);
                out.write(&len.to_le_bytes())?;
                out.write(element)?;
            }
            return Ok(());
        }
        out.write(&little(data))
    }
}

/// Elements as they lie in memory, their numbers made little-endian.
fn little(data: &ArrayData) -> Cow<'_, [u8]> {
    if cfg!(target_endian = "little") {
        return Cow::Borrowed(data.items());
    }
    let mut swapped = data.items().to_vec();
    data.data_type().layout().swap(&ByteOrder::Little, &mut swapped);
    Cow::Owned(swapped)
}
