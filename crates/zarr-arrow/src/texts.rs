//! Strings and bytes as Arrow has them: views into blocks that stay where they were decoded, or one after another with offsets.

use crate::data::{Buffer, Owner};
use crate::fault::{self, Fault};
use crate::words::{Words, no_memory};
use crate::{Error, ErrorKind, Result};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;
use zarr_dtype::{Heap, HeapRef};

/// Number of bytes of a string that a view holds itself.
const INLINE: usize = 12;

/// Number of bytes of a view.
pub(crate) const VIEW: usize = HeapRef::SIZE;

/// Distance in bytes of the starts of buffers in a block: offsets in views have 31 bits.
const WINDOW: u64 = 1 << 30;

/// Makes the buffers of an array of views: views, blocks, and the sizes of the blocks. Longer strings are not copied.
///
/// # Errors
/// [`ErrorKind::CorruptChunk`] for a text that is not UTF-8, [`ErrorKind::NotExpressible`] for one of 2 GiB or more.
pub(crate) fn views(items: &[u8], heap: Option<&Arc<Heap>>, is_text: bool) -> fault::Result<Vec<Buffer>> {
    let items = items.as_chunks::<{ HeapRef::SIZE }>().0;
    let mut words = Words::items(items.len(), HeapRef::SIZE)?;
    let mut blocks: Vec<Buffer> = Vec::new();
    let mut numbers: HashMap<(u32, u64), usize> = HashMap::new();
    let views = words.bytes_mut().as_chunks_mut::<{ HeapRef::SIZE }>().0.iter_mut();
    for (element, (view, &item)) in views.zip(items).enumerate() {
        let reference = HeapRef::from_bytes(item);
        let content = content(heap, reference, is_text).map_err(|error| Fault::at(element, error))?;
        let len = i32::try_from(content.len()).map_err(|_| {
            let message = format!("found a string of {} bytes, expected at most {}", content.len(), i32::MAX);
            Fault::at(element, Error::new(ErrorKind::NotExpressible, message))
        })?;
        let (start, rest) = view.split_at_mut(4);
        start.copy_from_slice(&len.to_ne_bytes());
        if content.len() <= INLINE {
            rest.split_at_mut(content.len()).0.copy_from_slice(content);
            continue;
        }
        let window = reference.offset / WINDOW;
        let number = match (numbers.get(&(reference.block, window)), heap) {
            (Some(number), _) => *number,
            (None, Some(heap)) => {
                let owner = Arc::new(Owner::Block(Arc::clone(heap), reference.block));
                blocks.push(Buffer::from_start(owner, usize::try_from(window * WINDOW).unwrap_or(usize::MAX)));
                numbers.insert((reference.block, window), blocks.len() - 1);
                blocks.len() - 1
            }
            (None, None) => return Err(Error::internal("a string without a heap").into()),
        };
        let (prefix, place) = rest.split_at_mut(4);
        prefix.copy_from_slice(content.get(..4).unwrap_or_default());
        let (index, offset) = place.split_at_mut(4);
        let number = i32::try_from(number).map_err(|_| Error::new(ErrorKind::Limit, "found 2^31 blocks of strings"))?;
        index.copy_from_slice(&number.to_ne_bytes());
        // Less than the distance of windows.
        offset.copy_from_slice(&((reference.offset % WINDOW) as i32).to_ne_bytes());
    }
    let mut sizes = Words::items(blocks.len(), 8)?;
    for (size, block) in sizes.bytes_mut().as_chunks_mut::<8>().0.iter_mut().zip(&blocks) {
        *size = (block.bytes().len() as i64).to_ne_bytes();
    }
    blocks.insert(0, Buffer::of_words(words));
    blocks.push(Buffer::of_words(sizes));
    Ok(blocks)
}

/// Returns the number of the block, and the place in it, of a string; `None` for one that its view holds itself.
pub(crate) fn place(view: &[u8; VIEW]) -> Option<(usize, Range<usize>)> {
    let int = |at: usize| view.get(at..at + 4)?.try_into().ok().map(i32::from_ne_bytes);
    let number = |at| usize::try_from(int(at)?).ok();
    let (len, block, offset) = (number(0)?, number(8)?, number(12)?);
    (len > INLINE).then(|| (block, offset..offset.saturating_add(len)))
}

/// Sets the place of a string that its view does not hold: the number of the block, and the byte from which on it lies there.
pub(crate) fn set_place(view: &mut [u8; VIEW], block: i32, offset: i32) {
    let (number, place) = view.split_at_mut(8).1.split_at_mut(4);
    number.copy_from_slice(&block.to_ne_bytes());
    place.copy_from_slice(&offset.to_ne_bytes());
}

/// Returns the bytes that a reference is to.
///
/// # Errors
/// [`ErrorKind::CorruptChunk`] for a text that is not UTF-8.
pub(crate) fn content(heap: Option<&Arc<Heap>>, reference: HeapRef, is_text: bool) -> Result<&[u8]> {
    let content = match heap {
        Some(heap) => heap.get(reference),
        None => (reference.len == 0).then_some(&[][..]),
    };
    let content = content.ok_or_else(|| Error::internal("a string is not in its heap"))?;
    match std::str::from_utf8(content) {
        Err(error) if is_text => {
            let message = format!("found a string with an {error}, expected UTF-8");
            Err(Error::new(ErrorKind::CorruptChunk, message))
        }
        _ => Ok(content),
    }
}

/// Makes the buffers of an array of strings or bytes that follow each other: 64-bit offsets, and the bytes, which `push` appends.
///
/// # Errors
/// The errors of `push`, and [`ErrorKind::Limit`] if there is no memory.
pub(crate) fn joined<'i>(
    items: impl ExactSizeIterator<Item = &'i [u8]>,
    push: impl Fn(&[u8], &mut Vec<u8>) -> Result<()>,
) -> fault::Result<[Buffer; 2]> {
    let mut offsets = Words::items(items.len() + 1, 8)?;
    let mut bytes = Vec::new();
    let ends = offsets.bytes_mut().as_chunks_mut::<8>().0.iter_mut().skip(1);
    for (element, (end, item)) in ends.zip(items).enumerate() {
        push(item, &mut bytes).map_err(|error| Fault::at(element, error))?;
        *end = (bytes.len() as i64).to_ne_bytes();
    }
    Ok([Buffer::of_words(offsets), Buffer::whole(Arc::new(Owner::Texts(bytes)))])
}

/// Appends bytes.
///
/// # Errors
/// [`ErrorKind::Limit`] if there is no memory.
pub(crate) fn append(item: &[u8], bytes: &mut Vec<u8>) -> Result<()> {
    bytes.try_reserve(item.len()).map_err(|_| no_memory(bytes.len().saturating_add(item.len())))?;
    bytes.extend_from_slice(item);
    Ok(())
}

/// Appends code points, without the NULs at their end, as UTF-8.
pub(crate) fn push_utf32(item: &[u8], bytes: &mut Vec<u8>) -> Result<()> {
    let points = item.as_chunks::<4>().0;
    let len = points.iter().rposition(|point| *point != [0; 4]).map_or(0, |last| last + 1);
    for &point in points.split_at(len).0 {
        let point = u32::from_ne_bytes(point);
        let character = char::from_u32(point).ok_or_else(|| {
            let message = format!("found the code point {point:#x}, expected a character of Unicode");
            Error::new(ErrorKind::CorruptChunk, message)
        })?;
        append(character.encode_utf8(&mut [0; 4]).as_bytes(), bytes)?;
    }
    Ok(())
}
