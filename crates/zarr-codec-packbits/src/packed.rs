//! Chunks of packed elements: their size and their elements.

use crate::bits::Field;
use crate::padding::Padding;
use crate::positions::Positions;
use zarr_codec::{Error, Scratch, View, ViewMut};
use zarr_dtype::Layout;
use zarr_grid::element_count;

/// Name of the codec in errors.
pub(crate) const NAME: &str = "packbits";

/// Codec for the data type of an array: built from metadata, used for every chunk.
#[derive(Debug)]
pub(crate) struct PackBits {
    pub(crate) layout: Layout,
    pub(crate) field: Field,
    /// Number of numbers in an element.
    pub(crate) count: u32,
    pub(crate) padding: Padding,
}

/// Size of an encoded chunk.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EncodedSize {
    /// Total number of bytes of the chunk.
    pub(crate) size: u64,
    /// Number of bits that fill up the last byte of elements.
    pub(crate) padding: u8,
}

impl PackBits {
    /// Returns the number of bits of an element.
    pub(crate) fn element_bits(&self) -> u64 {
        u64::from(self.field.width) * u64::from(self.count)
    }

    /// Returns the number of bytes before the elements.
    pub(crate) fn header(&self) -> u64 {
        u64::from(self.padding == Padding::FirstByte)
    }

    /// Returns the size of an encoded chunk of `shape`; `None` if the number of bits overflows.
    pub(crate) fn encoded_size(&self, shape: &[u64]) -> Option<EncodedSize> {
        let bits = element_count(shape)?.checked_mul(self.element_bits())?;
        let size = bits.div_ceil(8).checked_add(u64::from(self.padding != Padding::None))?;
        Some(EncodedSize { size, padding: (bits.next_multiple_of(8) - bits) as u8 })
    }

    /// Returns the packed elements in the bytes of a chunk.
    pub(crate) fn elements<'b>(&self, encoded: &'b [u8], shape: &[u64]) -> Result<&'b [u8], Error> {
        let found = encoded.len() as u64;
        let whole = self.encoded_size(shape).unwrap_or(EncodedSize { size: u64::MAX, padding: 0 });
        let expected = whole.size;
        let truncated = Error::Truncated { codec: NAME, found, expected };
        if found > expected {
            return Err(Error::TooLong { codec: NAME, found, expected });
        }
        if found < expected {
            return Err(truncated);
        }
        let (padding, elements) = match self.padding {
            Padding::None => return Ok(encoded),
            Padding::FirstByte => encoded.split_first().ok_or(truncated)?,
            Padding::LastByte => encoded.split_last().ok_or(truncated)?,
        };
        if *padding != whole.padding {
            let what = format!("{padding} bits of padding, expected {}", whole.padding);
            return Err(Error::Corrupt { codec: NAME, what });
        }
        Ok(elements)
    }

    /// Writes the elements at `positions` to `out`. `packed` contains the packed elements from byte `start` on.
    pub(crate) fn unpack(
        &self,
        packed: &[u8],
        start: u64,
        positions: Positions,
        out: &mut ViewMut<'_>,
    ) -> Result<(), Error> {
        let each = self.element_bits();
        let size = positions.run().saturating_mul(out.item_size() as u64);
        let size = usize::try_from(size).unwrap_or(usize::MAX).max(1);
        let all = |items: &mut [u8]| {
            for (items, position) in items.chunks_exact_mut(size).zip(positions) {
                // The bits of the chunk were counted when its size was.
                self.field.unpack(packed, position * each - start * 8, items);
            }
        };
        if let Some(items) = out.as_contiguous() {
            all(items);
            return Ok(());
        }
        let mut scratch = Scratch::empty();
        let items = scratch.sized(out.size())?;
        all(items);
        out.copy_from(&View::new(items, out.item_size(), out.shape())?);
        Ok(())
    }
}
