//! Views with elements of variable length: functions that the codecs of such elements share.

use crate::{Error, View, ViewMut};
use std::ops::Range;
use std::sync::Arc;
use zarr_dtype::{Heap, HeapRef};

/// Calls `each` with the bytes of every element of `chunk`, in C order, until `each` fails.
///
/// # Errors
/// The error of `each`, [`Error::Encode`] for an element that is not in the view's heap, [`Error::Unsupported`] if the view has
/// no heap.
pub fn read_variable(
    codec: &'static str,
    chunk: &View<'_>,
    mut each: impl FnMut(&[u8]) -> Result<(), Error>,
) -> Result<(), Error> {
    let heap = heap(codec, chunk.heap())?;
    let mut result = Ok(());
    chunk.all(|item| {
        result = match HeapRef::from_item(item).and_then(|element| heap.get(element)) {
            Some(bytes) => each(bytes),
            None => Err(Error::Encode { codec, what: "an element is not in the heap".to_owned() }),
        };
        result.is_ok()
    });
    result
}

/// Fills `out`, in C order, with elements that `next` appends one by one to `block`, and adds `block` to the heap of `out`. Bytes that
/// `block` holds at the beginning belong to no element.
///
/// # Errors
/// The error of `next`, [`Error::Limit`] for an element above 4 GiB, [`Error::Unsupported`] if the view has no heap.
pub fn write_variable(
    codec: &'static str,
    out: &mut ViewMut<'_>,
    mut block: Vec<u8>,
    mut next: impl FnMut(&mut Vec<u8>) -> Result<(), Error>,
) -> Result<(), Error> {
    let heap = Arc::clone(heap(codec, out.heap())?);
    // The number of the block is known only when it is complete.
    each_item(out, |item| {
        let before = block.len();
        next(&mut block)?;
        refer(item, before..block.len())
    })?;
    let block = heap.add(block);
    each_item(out, |item| {
        if let Some(element) = HeapRef::from_item(item).filter(|element| element.len > 0) {
            item.copy_from_slice(&HeapRef { block, ..element }.to_bytes());
        }
        Ok(())
    })
}

/// Adds `block` to the heap of `out`, and fills `out`, in C order, with references into `block`: `next` returns the offset and the length
/// of the next element. Bytes between elements stay in the heap.
///
/// # Errors
/// The error of `next`, [`Error::Unsupported`] if the view has no heap.
pub fn place_variable(
    codec: &'static str,
    out: &mut ViewMut<'_>,
    block: Vec<u8>,
    mut next: impl FnMut() -> Result<(usize, u32), Error>,
) -> Result<(), Error> {
    let block = heap(codec, out.heap())?.add(block);
    each_item(out, |item| {
        let (start, len) = next()?;
        item.copy_from_slice(&reference(block, start, len).to_bytes());
        Ok(())
    })
}

/// Calls `each` with every item of `out` until `each` fails.
fn each_item(out: &mut ViewMut<'_>, mut each: impl FnMut(&mut [u8]) -> Result<(), Error>) -> Result<(), Error> {
    let mut failed = None;
    out.all_mut(|item| {
        failed = each(item).err();
        failed.is_none()
    });
    failed.map_or(Ok(()), Err)
}

/// Writes to `item` a reference to `bytes` of a block that is not yet in the heap: the block's number is set later.
#[inline]
fn refer(item: &mut [u8], bytes: Range<usize>) -> Result<(), Error> {
    let limit = || Error::Limit { what: "element", found: bytes.len() as u64, limit: u64::from(u32::MAX) };
    let len = u32::try_from(bytes.len()).map_err(|_| limit())?;
    item.copy_from_slice(&reference(0, bytes.start, len).to_bytes());
    Ok(())
}

#[inline]
fn reference(block: u32, start: usize, len: u32) -> HeapRef {
    // Empty elements are equal, wherever they were found.
    if len == 0 { HeapRef::default() } else { HeapRef { block, len, offset: start as u64 } }
}

fn heap<'h>(codec: &'static str, heap: Option<&'h Arc<Heap>>) -> Result<&'h Arc<Heap>, Error> {
    let what = || "elements of variable length need a view with a heap".to_owned();
    heap.ok_or_else(|| Error::Unsupported { codec, what: what() })
}
