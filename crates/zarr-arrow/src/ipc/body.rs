//! Buffers of a batch in the order and form of the IPC format: those of each array before those of its children, without what lies before
//! and behind its elements.

use crate::batch::Batch;
use crate::data::{Data, bit, packed};
use crate::texts;
use crate::words::{Words, no_memory};
use crate::{Error, Field, Result};
use std::collections::HashMap;
use std::io;

/// Buffers of a batch.
#[derive(Debug, Default)]
pub(super) struct Body<'b> {
    /// Number of elements and of nulls of each array.
    nodes: Vec<(usize, usize)>,
    parts: Vec<Part<'b>>,
    /// Number of blocks of each array of views.
    blocks: Vec<usize>,
}

/// Buffer of a batch as it is written.
#[derive(Debug)]
pub(super) enum Part<'b> {
    /// Bytes of the batch.
    Shared(&'b [u8]),
    /// Bytes that were made for the message.
    Made(Words),
    /// Strings of the batch one after another, and their number of bytes.
    Texts(Vec<&'b [u8]>, usize),
}

impl Part<'_> {
    /// Number of bytes.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Shared(bytes) => bytes.len(),
            Self::Made(words) => words.bytes().len(),
            Self::Texts(_, len) => *len,
        }
    }

    /// Passes the bytes to `put`, piece by piece.
    pub(super) fn write(&self, mut put: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        match self {
            Self::Shared(bytes) => put(bytes),
            Self::Made(words) => put(words.bytes()),
            Self::Texts(texts, _) => texts.iter().try_for_each(|text| put(text)),
        }
    }
}

impl<'b> Body<'b> {
    /// Makes the buffers of a batch.
    ///
    /// # Errors
    /// [`ErrorKind::Limit`](crate::ErrorKind::Limit) if there is no memory, with the column.
    pub(super) fn new(batch: &'b Batch) -> Result<Self> {
        let mut body = Self::default();
        for (field, data) in batch.schema.fields().iter().zip(&batch.columns) {
            body.add(field, data)
                .map_err(|error| Error::new(error.kind(), format!("column {}: {}", field.name(), error.message())))?;
        }
        Ok(body)
    }

    /// Number of elements and of nulls of each array.
    pub(super) fn nodes(&self) -> &[(usize, usize)] {
        &self.nodes
    }

    /// Iterates over the buffers.
    pub(super) fn parts(&self) -> impl Iterator<Item = &Part<'b>> {
        self.parts.iter()
    }

    /// Number of blocks of each array of views.
    pub(super) fn blocks(&self) -> &[usize] {
        &self.blocks
    }

    /// Number of bytes of the buffers with what pads them.
    pub(super) fn len(&self) -> usize {
        self.parts.iter().map(|part| part.len().next_multiple_of(super::ALIGNMENT)).sum()
    }

    fn add(&mut self, field: &Field, data: &'b Data) -> Result<()> {
        self.nodes.push((data.len, data.nulls));
        if data.has_validity {
            let bits = match buffer(data, 0) {
                Some(bytes) if data.nulls != 0 => bits(bytes, data)?,
                _ => Part::Shared(&[]),
            };
            self.parts.push(bits);
        }
        match field.format() {
            "b" => self.parts.push(bits(required(data, 1)?, data)?),
            "U" | "Z" => {
                let offsets = part(required(data, 1)?, data.offset, data.len + 1, 8)?;
                let ends = offsets.as_chunks::<8>().0;
                let at = |end: Option<&[u8; 8]>| end.map_or(0, |end| i64::from_ne_bytes(*end));
                let (first, last) = (at(ends.first()), at(ends.last()));
                self.parts.push(from_zero(offsets, first)?);
                let place = usize::try_from(first).ok().zip(usize::try_from(last).ok());
                let content = place.and_then(|(first, last)| required(data, 2).ok()?.get(first..last));
                self.parts.push(Part::Shared(content.ok_or_else(beyond)?));
            }
            "vu" | "vz" => {
                let (views, blocks) = viewed(data)?;
                self.blocks.push(blocks.len());
                self.parts.push(Part::Made(views));
                self.parts.extend(blocks);
            }
            "+r" | "+s" => (),
            list if list.starts_with("+w:") => (),
            raw => {
                let size = match (raw.strip_prefix("w:"), data.item_size) {
                    (Some(len), _) => len.parse().map_err(|_| beyond())?,
                    (None, size) => size.ok_or_else(beyond)?,
                };
                self.parts.push(Part::Shared(part(required(data, 1)?, data.offset, data.len, size)?));
            }
        }
        field.children().iter().zip(&data.children).try_for_each(|(field, child)| self.add(field, child))
    }
}

fn beyond() -> Error {
    Error::internal("an array is longer than its buffers")
}

fn buffer(data: &Data, number: usize) -> Option<&[u8]> {
    data.buffers().get(number)?.as_ref().map(crate::Buffer::bytes)
}

fn required(data: &Data, number: usize) -> Result<&[u8]> {
    buffer(data, number).ok_or_else(beyond)
}

/// Returns `len` items of `size` bytes from item `start`.
fn part(bytes: &[u8], start: usize, len: usize, size: usize) -> Result<&[u8]> {
    let place = start.checked_mul(size).zip(start.checked_add(len).and_then(|end| end.checked_mul(size)));
    place.and_then(|(start, end)| bytes.get(start..end)).ok_or_else(beyond)
}

/// Returns the bits of the elements of an array, moved if they begin within a byte.
fn bits<'b>(bytes: &'b [u8], data: &Data) -> Result<Part<'b>> {
    if data.offset.is_multiple_of(8) {
        return part(bytes, data.offset / 8, data.len.div_ceil(8), 1).map(Part::Shared);
    }
    let ((moved, _), _) = packed(data.len, (data.offset..data.offset + data.len).map(|index| bit(bytes, index)))?;
    Ok(Part::Made(moved))
}

/// Returns offsets that begin at 0.
fn from_zero(offsets: &[u8], first: i64) -> Result<Part<'_>> {
    if first == 0 {
        return Ok(Part::Shared(offsets));
    }
    let mut moved = Words::copy(offsets)?;
    for offset in moved.bytes_mut().as_chunks_mut::<8>().0 {
        *offset = (i64::from_ne_bytes(*offset) - first).to_ne_bytes();
    }
    Ok(Part::Made(moved))
}

/// Returns views of the elements of an array, and blocks with the strings that views do not hold, each once however many views it has. The
/// blocks of the array are not written: other batches have most of their content.
fn viewed(data: &Data) -> Result<(Words, Vec<Part<'_>>)> {
    let mut views = Words::copy(part(required(data, 1)?, data.offset, data.len, texts::VIEW)?)?;
    let mut blocks: Vec<(Vec<&[u8]>, usize)> = Vec::new();
    let mut places = HashMap::new();
    let no_memory = |_| no_memory(data.len * texts::VIEW);
    for view in views.bytes_mut().as_chunks_mut::<{ texts::VIEW }>().0 {
        let Some((number, range)) = texts::place(view) else { continue };
        if let Some(&(block, offset)) = places.get(&(number, range.clone())) {
            texts::set_place(view, block, offset);
            continue;
        }
        let content = required(data, 2 + number)?.get(range.clone()).ok_or_else(beyond)?;
        // Offsets in views have 31 bits.
        if blocks.last().is_none_or(|(_, len)| i32::try_from(len + content.len()).is_err()) {
            blocks.push((Vec::new(), 0));
        }
        let block = blocks.len() - 1;
        let Some((texts, len)) = blocks.last_mut() else { return Err(beyond()) };
        let place = i32::try_from(block).ok().zip(i32::try_from(*len).ok()).ok_or_else(beyond)?;
        places.try_reserve(1).map_err(no_memory)?;
        texts.try_reserve(1).map_err(no_memory)?;
        places.insert((number, range), place);
        texts.push(content);
        *len += content.len();
        texts::set_place(view, place.0, place.1);
    }
    Ok((views, blocks.into_iter().map(|(texts, len)| Part::Texts(texts, len)).collect()))
}
