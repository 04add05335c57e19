//! Buffers of a batch in the order and form of the IPC format: those of each array before those of its children, without what lies before
//! and behind its elements.

use crate::batch::Batch;
use crate::data::{Data, bit, packed};
use crate::texts;
use crate::words::{Words, no_memory};
use crate::{Error, ErrorKind};
use std::borrow::Cow;
use std::io;

/// Buffers of a batch.
#[derive(Debug, Default)]
pub(super) struct Body<'b> {
    /// Number of elements and of nulls of each array.
    nodes: Vec<(usize, usize)>,
    parts: Vec<Cow<'b, [u8]>>,
    /// Number of blocks of each array of views.
    blocks: Vec<usize>,
}

impl<'b> Body<'b> {
    /// Makes the buffers of a batch.
    ///
    /// # Errors
    /// [`io::ErrorKind::OutOfMemory`].
    pub(super) fn of(batch: &'b Batch) -> io::Result<Self> {
        let mut body = Self::default();
        for (field, data) in batch.schema.fields().iter().zip(&batch.columns) {
            body.add(field.format(), field.children(), data).map_err(|error| match error.kind() {
                ErrorKind::Limit => io::Error::new(io::ErrorKind::OutOfMemory, error),
                _ => io::Error::other(error),
            })?;
        }
        Ok(body)
    }

    /// Number of elements and of nulls of each array.
    pub(super) fn nodes(&self) -> &[(usize, usize)] {
        &self.nodes
    }

    /// Iterates over the buffers.
    pub(super) fn parts(&self) -> impl Iterator<Item = &[u8]> {
        self.parts.iter().map(AsRef::as_ref)
    }

    /// Number of blocks of each array of views.
    pub(super) fn blocks(&self) -> &[usize] {
        &self.blocks
    }

    /// Number of bytes of the buffers with what pads them.
    pub(super) fn len(&self) -> usize {
        self.parts.iter().map(|part| part.len().next_multiple_of(super::ALIGNMENT)).sum()
    }

    fn add(&mut self, format: &str, children: &[crate::Field], data: &'b Data) -> crate::Result<()> {
        self.nodes.push((data.len, data.nulls));
        if data.has_validity {
            let bits = match buffer(data, 0) {
                Some(bytes) if data.nulls != 0 => bits(bytes, data)?,
                _ => Cow::Borrowed(&[][..]),
            };
            self.parts.push(bits);
        }
        match format {
            "b" => self.parts.push(bits(required(data, 1)?, data)?),
            "U" | "Z" => {
                let offsets = part(required(data, 1)?, data.offset, data.len + 1, 8)?;
                let ends = offsets.as_chunks::<8>().0;
                let at = |end: Option<&[u8; 8]>| end.map_or(0, |end| i64::from_ne_bytes(*end));
                let (first, last) = (at(ends.first()), at(ends.last()));
                self.parts.push(from_zero(offsets, first)?);
                let place = usize::try_from(first).ok().zip(usize::try_from(last).ok());
                let content = place.and_then(|(first, last)| required(data, 2).ok()?.get(first..last));
                self.parts.push(Cow::Borrowed(content.ok_or_else(beyond)?));
            }
            "vu" | "vz" => {
                let (views, block) = viewed(data)?;
                self.blocks.push(usize::from(block.is_some()));
                self.parts.push(Cow::Owned(views));
                self.parts.extend(block.map(Cow::Owned));
            }
            "+r" | "+s" => (),
            list if list.starts_with("+w:") => (),
            raw => {
                let size = match (raw.strip_prefix("w:"), data.item_size) {
                    (Some(len), _) => len.parse().map_err(|_| beyond())?,
                    (None, size) => size.ok_or_else(beyond)?,
                };
                self.parts.push(Cow::Borrowed(part(required(data, 1)?, data.offset, data.len, size)?));
            }
        }
        for (field, child) in children.iter().zip(&data.children) {
            self.add(field.format(), field.children(), child)?;
        }
        Ok(())
    }
}

fn beyond() -> Error {
    Error::internal("an array is longer than its buffers")
}

fn buffer(data: &Data, number: usize) -> Option<&[u8]> {
    data.buffers().get(number)?.as_ref().map(crate::Buffer::bytes)
}

fn required(data: &Data, number: usize) -> crate::Result<&[u8]> {
    buffer(data, number).ok_or_else(beyond)
}

/// Returns `len` items of `size` bytes from item `start`.
fn part(bytes: &[u8], start: usize, len: usize, size: usize) -> crate::Result<&[u8]> {
    let place = start.checked_mul(size).zip(start.checked_add(len).and_then(|end| end.checked_mul(size)));
    place.and_then(|(start, end)| bytes.get(start..end)).ok_or_else(beyond)
}

/// Returns the bits of the elements of an array, moved if they begin within a byte.
fn bits<'b>(bytes: &'b [u8], data: &Data) -> crate::Result<Cow<'b, [u8]>> {
    if data.offset.is_multiple_of(8) {
        return part(bytes, data.offset / 8, data.len.div_ceil(8), 1).map(Cow::Borrowed);
    }
    let ((moved, _), _) = packed(data.len, (data.offset..data.offset + data.len).map(|index| bit(bytes, index)))?;
    Ok(Cow::Owned(moved.bytes().to_vec()))
}

/// Returns offsets that begin at 0.
fn from_zero(offsets: &[u8], first: i64) -> crate::Result<Cow<'_, [u8]>> {
    if first == 0 {
        return Ok(Cow::Borrowed(offsets));
    }
    let mut moved = Words::copy(offsets)?;
    for offset in moved.bytes_mut().as_chunks_mut::<8>().0 {
        *offset = (i64::from_ne_bytes(*offset) - first).to_ne_bytes();
    }
    Ok(Cow::Owned(moved.bytes().to_vec()))
}

/// Returns views of the elements of an array, and the block with those that views do not hold; `None` if these hold all. The blocks of
/// the array are not written: other batches have most of their content.
fn viewed(data: &Data) -> crate::Result<(Vec<u8>, Option<Vec<u8>>)> {
    let views = part(required(data, 1)?, data.offset, data.len, texts::VIEW)?;
    let mut moved = Vec::new();
    moved.try_reserve_exact(views.len()).map_err(|_| no_memory(views.len()))?;
    moved.extend_from_slice(views);
    let mut block = Vec::new();
    for view in moved.as_chunks_mut::<{ texts::VIEW }>().0 {
        let Some((number, place)) = texts::place(view) else { continue };
        let content = required(data, 2 + number)?.get(place).ok_or_else(beyond)?;
        let offset = i32::try_from(block.len()).map_err(|_| {
            Error::new(ErrorKind::Limit, "found 2 GiB of strings in a batch, expected fewer: make batches shorter")
        })?;
        texts::append(content, &mut block)?;
        texts::set_place(view, offset);
    }
    Ok((moved, (!block.is_empty()).then_some(block)))
}
