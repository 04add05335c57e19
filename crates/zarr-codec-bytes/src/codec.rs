//! Encoding and decoding of whole chunks in memory.

use crate::slab::{NAME, SlabDecode, check_len, dims};
use std::sync::Arc;
use zarr_codec::{Access, ArrayToBytes, Decode, Error, Patch, Size, View, ViewMut};
use zarr_dtype::{ByteOrder, DataType, Layout, SwapRun};
use zarr_grid::{Region, element_count};

/// Codec `bytes` for a data type: built from metadata, used for every chunk.
#[derive(Debug)]
pub(crate) struct BytesCodec {
    layout: Layout,
    /// Size of one element in bytes.
    pub(crate) item: usize,
    /// Numbers in an element whose bytes have to be reversed; empty if the order is that of the machine, or does not matter.
    swaps: Vec<SwapRun>,
    /// Whether any bytes are valid elements in memory form.
    any_bits: bool,
}

impl BytesCodec {
    /// Creates the codec for elements of `data_type` in a byte order.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for elements of variable length.
    pub(crate) fn new(order: &ByteOrder, data_type: &DataType, layout: Layout) -> Result<Self, Error> {
        if layout.is_variable() {
            let what = format!("elements of data type {data_type} vary in length and need vlen-utf8 or vlen-bytes");
            return Err(Error::Unsupported { codec: NAME, what });
        }
        Ok(Self { item: layout.item_size(), swaps: layout.swaps(order), any_bits: layout.takes_any_bits(), layout })
    }

    /// Returns the size in bytes of a chunk of `shape`; `None` if it exceeds 64 bits.
    pub(crate) fn size(&self, shape: &[u64]) -> Option<u64> {
        element_count(shape)?.checked_mul(u64::try_from(self.item).ok()?)
    }

    /// Checks the size of `encoded`, a chunk of `shape`, and returns its elements in the encoded byte order.
    fn items<'b>(&self, encoded: &'b [u8], shape: &[u64]) -> Result<View<'b>, Error> {
        check_len(encoded.len() as u64, self.size(shape).unwrap_or(u64::MAX))?;
        View::new(encoded, self.item, &dims(shape))
    }

    /// Converts decoded elements to memory form: clears unused bits of small integers, and fails for bools other than 0 and 1.
    fn normalize_all(&self, out: &mut ViewMut<'_>) -> Result<(), Error> {
        if self.any_bits {
            return Ok(());
        }
        let mut result = Ok(());
        out.runs_mut(|items| {
            result = self.layout.normalize(items);
            result.is_ok()
        });
        result.map_err(corrupt)
    }

    /// Checks that elements are valid and can be encoded.
    fn check_all(&self, items: &View<'_>) -> Result<(), Error> {
        if self.any_bits {
            return Ok(());
        }
        let mut result = Ok(());
        items.runs(|items| {
            result = self.layout.check(items);
            result.is_ok()
        });
        result.map_err(unfit)
    }
}

impl ArrayToBytes for BytesCodec {
    fn encoded_size(&self, shape: &[u64]) -> Size {
        self.size(shape).map_or(Size::Unknown, Size::Exact)
    }

    fn is_memory_order(&self) -> bool {
        // Parts of larger elements could not be checked by themselves.
        self.swaps.is_empty() && (self.any_bits || self.item == 1)
    }

    fn normalize(&self, items: &mut [u8]) -> Result<(), Error> {
        self.layout.normalize(items).map_err(corrupt)
    }

    fn check_items(&self, items: &[u8]) -> Result<(), Error> {
        self.layout.check(items).map_err(unfit)
    }

    fn encoded_item_size(&self) -> Option<usize> {
        Some(self.item)
    }

    fn scatter(&self, items: &View<'_>, out: &mut ViewMut<'_>) -> Result<(), Error> {
        // They are checked in the source, which is in the cache: the copy may go past it. Nearly always they are in
        // memory form already.
        let normalized = self.any_bits || items.runs(|items| self.layout.check(items).is_ok());
        out.copy_swapped(items, &self.swaps);
        if normalized { Ok(()) } else { self.normalize_all(out) }
    }

    fn encode(&self, chunk: &View<'_>, out: &mut Vec<u8>) -> Result<(), Error> {
        let start = out.len();
        chunk.append_swapped(&self.swaps, out)?;
        // The bytes of scalars that can be wrong have no order.
        self.check_items(out.get(start..).unwrap_or_default())
    }

    fn decode(&self, encoded: &[u8], shape: &[u64], region: &Region, out: &mut ViewMut<'_>) -> Result<(), Error> {
        let items = self.items(encoded, shape)?;
        self.scatter(&items.window(region), out)
    }

    fn partial(self: Arc<Self>, shape: &[u64], region: &Region, access: &Access) -> Option<Box<dyn Decode>> {
        let size = self.size(shape)?;
        // All of it at once needs no plan.
        if region.is_whole(shape) && access.read_size.is_none_or(|read_size| size <= read_size) {
            return None;
        }
        Some(Box::new(SlabDecode::new(
            Arc::clone(&self) as Arc<dyn ArrayToBytes>,
            self.item,
            shape,
            region,
            access.read_size,
        )?))
    }

    fn patch(&self, old: Option<&[u8]>, patch: &Patch<'_>, out: &mut Vec<u8>) -> Option<Result<(), Error>> {
        let old = old?;
        match patch.as_region() {
            Some((region, new)) => Some(self.splice(old, patch.shape(), region, new, out)),
            // Single elements that are encoded as they are.
            None if self.swaps.is_empty() && self.any_bits => {
                Some(self.copy(old, patch.shape(), out).and_then(|mut copy| patch.apply(&mut copy)))
            }
            None => None,
        }
    }
}

impl BytesCodec {
    fn splice(
        &self,
        old: &[u8],
        shape: &[u64],
        region: &Region,
        new: &View<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        self.check_all(new)?;
        self.copy(old, shape, out)?.window(region).copy_swapped(new, &self.swaps);
        Ok(())
    }

    /// Appends an encoded chunk to `out`, and returns a view of it in which elements can be replaced.
    fn copy<'o>(&self, old: &[u8], shape: &[u64], out: &'o mut Vec<u8>) -> Result<ViewMut<'o>, Error> {
        self.items(old, shape)?.append_to(out)?;
        let start = out.len() - old.len();
        ViewMut::new(out.get_mut(start..).unwrap_or_default(), self.item, &dims(shape))
    }
}

fn corrupt(error: zarr_dtype::Error) -> Error {
    Error::Corrupt { codec: NAME, what: message(error) }
}

fn unfit(error: zarr_dtype::Error) -> Error {
    Error::Encode { codec: NAME, what: message(error) }
}

/// Returns the message of an error without the index of the element, which depends on where the check began.
fn message(error: zarr_dtype::Error) -> String {
    match error {
        zarr_dtype::Error::Item { found, expected, .. } => format!("found {found}, expected {expected}"),
        error => error.to_string(),
    }
}
