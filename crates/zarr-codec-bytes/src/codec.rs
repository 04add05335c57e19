//! Encoding and decoding of chunks all of whose bytes are there.

use crate::config::BytesConfig;
use crate::slab::Parts;
use smallvec::SmallVec;
use std::sync::Arc;
use zarr_codec::{Access, ArrayToBytes, BuildContext, Codec, CodecEntry, Decode, Dims, Error, Size, View, ViewMut};
use zarr_dtype::{Layout, SwapRun};
use zarr_grid::{Region, element_count};

/// The codec, for the table of codecs.
pub const ENTRY: CodecEntry = CodecEntry { names: &["bytes", "endian"], build };

/// The name in errors.
pub(crate) const NAME: &str = "bytes";

fn build(context: &BuildContext<'_>) -> Result<Codec, Error> {
    let layout = context.element.layout();
    let config = BytesConfig::from_config(context.config, &layout)?;
    if layout.is_variable() {
        let data_type = &context.element.data_type;
        let what = format!("elements of data type {data_type} vary in length and need vlen-utf8 or vlen-bytes");
        return Err(Error::Unsupported { codec: NAME, what });
    }
    Ok(Codec::ArrayToBytes(Arc::new(BytesCodec {
        item: layout.item_size(),
        swaps: layout.swaps(&config.order()),
        any_bits: layout.takes_any_bits(),
        layout,
    })))
}

/// The codec, bound to a data type: built from metadata, used for every chunk.
#[derive(Debug)]
pub(crate) struct BytesCodec {
    layout: Layout,
    /// Bytes of one element.
    pub(crate) item: usize,
    /// The numbers in an element whose bytes are to be reversed; none where the order is the machine's, or does not matter.
    swaps: Vec<SwapRun>,
    /// Whether any bytes are elements in memory form.
    any_bits: bool,
}

impl BytesCodec {
    /// Bytes of a chunk of `shape`; `None` if that is more than can be counted.
    pub(crate) fn size(&self, shape: &[u64]) -> Option<u64> {
        element_count(shape)?.checked_mul(u64::try_from(self.item).ok()?)
    }

    /// Checks that `encoded` are the bytes of a chunk of `shape`, and gives its items, in the encoded byte order.
    fn items<'b>(&self, encoded: &'b [u8], shape: &[u64]) -> Result<View<'b>, Error> {
        check_len(encoded.len() as u64, self.size(shape).unwrap_or(u64::MAX))?;
        View::new(encoded, self.item, &dims(shape))
    }

    /// Brings what was just decoded into memory form: unused bits of small integers, bools that are none.
    fn settle_all(&self, out: &mut ViewMut<'_>) -> Result<(), Error> {
        if self.any_bits {
            return Ok(());
        }
        let mut result = Ok(());
        out.runs_mut(|items| {
            result = self.layout.settle(items);
            result.is_ok()
        });
        result.map_err(corrupt)
    }

    /// Checks that items can be encoded.
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

    fn settle(&self, items: &mut [u8]) -> Result<(), Error> {
        self.layout.settle(items).map_err(corrupt)
    }

    fn check_items(&self, items: &[u8]) -> Result<(), Error> {
        self.layout.check(items).map_err(unfit)
    }

    fn encoded_item_size(&self) -> Option<usize> {
        Some(self.item)
    }

    fn scatter(&self, items: &View<'_>, out: &mut ViewMut<'_>) -> Result<(), Error> {
        // Looked at where they lie in the cache: what is copied may go past it. Nearly always they are in memory form already.
        let settled = self.any_bits || items.runs(|items| self.layout.check(items).is_ok());
        out.copy_swapped(items, &self.swaps);
        if settled { Ok(()) } else { self.settle_all(out) }
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
        if region.is_whole(shape) && access.slab.is_none_or(|slab| size <= slab) {
            return None;
        }
        Some(Box::new(Parts::new(self, shape, region, access.slab)?))
    }

    fn patch(
        &self,
        old: Option<&[u8]>,
        shape: &[u64],
        region: &Region,
        new: &View<'_>,
        out: &mut Vec<u8>,
    ) -> Option<Result<(), Error>> {
        Some(self.splice(old?, shape, region, new, out))
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
        self.items(old, shape)?.append_to(out)?;
        let start = out.len() - old.len();
        let copy = out.get_mut(start..).unwrap_or_default();
        ViewMut::new(copy, self.item, &dims(shape))?.window(region).copy_swapped(new, &self.swaps);
        Ok(())
    }
}

/// Checks a number of bytes that must be exact.
pub(crate) fn check_len(found: u64, expected: u64) -> Result<(), Error> {
    match found.cmp(&expected) {
        std::cmp::Ordering::Less => Err(Error::Truncated { codec: NAME, found, expected }),
        std::cmp::Ordering::Equal => Ok(()),
        std::cmp::Ordering::Greater => Err(Error::TooLong { codec: NAME, found, expected }),
    }
}

/// Lengths as a view takes them. One that does not fit makes a view that fits no buffer.
pub(crate) fn dims(shape: &[u64]) -> Dims {
    shape.iter().map(|&len| usize::try_from(len).unwrap_or(usize::MAX)).collect::<SmallVec<_>>()
}

fn corrupt(error: zarr_dtype::Error) -> Error {
    Error::Corrupt { codec: NAME, what: said(error) }
}

fn unfit(error: zarr_dtype::Error) -> Error {
    Error::Encode { codec: NAME, what: said(error) }
}

/// The error without a position, which would count from wherever the check began.
fn said(error: zarr_dtype::Error) -> String {
    match error {
        zarr_dtype::Error::Item { found, expected, .. } => format!("found {found}, expected {expected}"),
        error => error.to_string(),
    }
}
