//! Elements as bytes: in C order, little-endian, nothing between them.

use super::Format;
use crate::failure::Result;
use crate::output::Output;
use std::borrow::Cow;
use zarr::ArrayData;

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
        let width = data.data_type().layout().scalar().map_or(1, zarr::dtype::Scalar::size);
        out.write(&little(data.items(), width))
    }

    fn end(&mut self, _: &mut Output) -> Result<()> {
        Ok(())
    }
}

/// Numbers of `width` bytes as they lie in memory, made little-endian.
fn little(items: &[u8], width: usize) -> Cow<'_, [u8]> {
    if cfg!(target_endian = "little") || width == 1 {
        return Cow::Borrowed(items);
    }
    let mut swapped = items.to_vec();
    swapped.chunks_exact_mut(width).for_each(<[u8]>::reverse);
    Cow::Owned(swapped)
}
