//! The array that a level is: its axes, and where its chunks are.

use std::sync::Arc;

use zarr_store_virtual::{Chunk, ChunkTable, ChunkTableBuilder, SourceId, VirtualFault};

use crate::description::Axis;
use crate::form::{Compression, Form};
use crate::level::Level;
use crate::maker::{Maker, Place};
use crate::page::Data;
use crate::source::Source;

/// A plane that lies as it is has one chunk up to this size.
const CHUNK: u64 = 64 << 20;
/// Smaller chunks are not made of a large plane, unless its length has no other divisor.
const SMALLEST: u64 = 1 << 20;
/// Maximum number of divisors of a length that are tried.
const DIVISORS: u64 = 1 << 16;

/// The name of the axis of samples.
pub(crate) const CHANNELS: &str = "c";

/// The array that a level is.
#[derive(Debug)]
pub(crate) struct Layout {
    /// Axes of the array, with y and x at the end.
    pub(crate) axes: Vec<Axis>,
    pub(crate) chunk_shape: Vec<u64>,
    /// Chunks along each axis.
    pub(crate) counts: Vec<u64>,
    /// The axis whose elements lie next to each other in the chunks of the file.
    pub(crate) interleaved: Option<usize>,
    /// The form, with the rows of the chunks of the array.
    form: Form,
    /// The axis of channels, if the array has one.
    channels: Option<usize>,
    /// Whether the pages have that axis as well.
    is_merged: bool,
}

impl Layout {
    /// The layout of the pages of a level with these axes.
    pub(crate) fn new(pages: &[Axis], level: &Level) -> Self {
        let mut form = level.form.clone();
        if level.is_flat {
            form.chunk_height = rows(&form);
        }
        let mut axes = pages.to_vec();
        let mut channels = axes.iter().position(|axis| axis.name == CHANNELS);
        let is_merged = channels.is_some();
        if form.samples > 1 && channels.is_none() {
            // Channels come before slices.
            let at = if axes.last().is_some_and(|axis| axis.name == "z") { axes.len() - 1 } else { axes.len() };
            axes.insert(at, Axis::new(CHANNELS, 1));
            channels = Some(at);
        }
        let mut chunk_shape = vec![1; axes.len()];
        let mut counts: Vec<u64> = axes.iter().map(|axis| axis.len).collect();
        if let Some(at) = channels {
            axes[at].len = axes[at].len.saturating_mul(form.samples);
            chunk_shape[at] = form.chunk_samples();
            counts[at] = counts[at].saturating_mul(form.planes());
        }
        let [down, across] = form.grid();
        axes.extend([Axis::new("y", form.height), Axis::new("x", form.width)]);
        chunk_shape.extend([form.chunk_height, form.chunk_width]);
        counts.extend([down, across]);
        let interleaved = channels.filter(|_| form.chunk_samples() > 1);
        Self { axes, chunk_shape, counts, interleaved, form, channels, is_merged }
    }

    /// Length of the axis of a name, if there is one.
    pub(crate) fn len(&self, name: &str) -> Option<u64> {
        self.axes.iter().find(|axis| axis.name == name).map(|axis| axis.len)
    }

    /// Number of chunks; `None` if there is no such number.
    pub(crate) fn count(&self) -> Option<u64> {
        self.counts.iter().try_fold(1_u64, |count, along| count.checked_mul(*along))
    }

    /// The number of the first chunk of a plane of a page.
    fn first(&self, page: u64, plane: u64) -> u64 {
        let axes = self.counts.len() - 2;
        let (mut rest, mut stride, mut first) = (page, self.counts[axes] * self.counts[axes + 1], 0);
        for at in (0..axes).rev() {
            let count = self.counts[at];
            let is_channels = self.channels == Some(at);
            let number = match is_channels {
                true if self.is_merged => {
                    let pages = count / self.form.planes();
                    let number = rest % pages;
                    rest /= pages;
                    number * self.form.planes() + plane
                }
                true => plane,
                false => {
                    let number = rest % count;
                    rest /= count;
                    number
                }
            };
            first += number * stride;
            stride *= count;
        }
        first
    }

    /// The chunks of a level.
    pub(crate) fn table(
        &self,
        level: &Level,
        source: &Arc<Source>,
        id: SourceId,
        path: &str,
    ) -> Result<ChunkTable, VirtualFault> {
        let form = &self.form;
        let (of_chunk, is_direct) = (form.chunk_bytes(), form.is_direct());
        let [down, across] = form.grid();
        let of_plane = down * across;
        let mut table = ChunkTableBuilder::new(self.count().unwrap_or(u64::MAX));
        let mut places = Vec::new();
        for (page, data) in (0_u64..).zip(&level.planes) {
            let Some(data) = data else { continue };
            for plane in 0..form.planes() {
                let first = self.first(page, plane);
                let (offsets, counts) = match &**data {
                    Data::Flat(at) => {
                        let at = at + plane * of_chunk * down;
                        match down {
                            1 => table.set(first, Chunk::Range { source: id, offset: at, length: of_chunk })?,
                            _ => table.set_even(first..first + down, id, at, of_chunk, of_chunk)?,
                        }
                        continue;
                    }
                    Data::Missing => continue,
                    Data::Chunks { offsets, counts, .. } => {
                        let from = usize::try_from(plane * of_plane).unwrap_or(usize::MAX);
                        (offsets.iter().skip(from), counts.iter().skip(from))
                    }
                };
                for ((number, offset), length) in (0..of_plane).zip(offsets).zip(counts) {
                    if *length == 0 {
                        continue;
                    }
                    // Strips end with the page, tiles do not.
                    let is_whole =
                        form.is_tiled || form.height.is_multiple_of(form.chunk_height) || number / across + 1 < down;
                    let is_long = form.compression != Compression::None || *length >= of_chunk;
                    let chunk = if is_direct && is_whole && is_long {
                        let length = if form.compression == Compression::None { of_chunk } else { *length };
                        Chunk::Range { source: id, offset: *offset, length }
                    } else {
                        let made = u32::try_from(places.len());
                        let made = made.map_err(|_| VirtualFault::TooMany { limit: u32::MAX as usize })?;
                        let chunk = plane * of_plane + number;
                        let length = (*length).min(form.most_bytes(is_whole));
                        places.push(Place { offset: *offset, length, page: page as u32, chunk, is_whole });
                        Chunk::Made(made)
                    };
                    table.set(first + number, chunk)?;
                }
            }
        }
        let table = table.build()?;
        if places.is_empty() {
            return Ok(table);
        }
        let tables = match form.compression {
            Compression::Jpeg => {
                level.planes.iter().map(|plane| plane.as_ref().and_then(|data| data.tables())).collect()
            }
            _ => Vec::new(),
        };
        let (source, path) = (Arc::clone(source), path.to_owned());
        Ok(table.with_maker(Arc::new(Maker { source, path, form: form.clone(), places, tables })))
    }
}

/// Rows of a chunk of a plane that lies as it is.
fn rows(form: &Form) -> u64 {
    let row = form.row_bytes().max(1);
    let least = form.height.saturating_mul(row).div_ceil(CHUNK).max(1);
    let parts =
        (least..=least.saturating_add(DIVISORS).min(form.height)).find(|parts| form.height.is_multiple_of(*parts));
    match parts.map(|parts| form.height / parts) {
        Some(rows) if rows * row >= SMALLEST || rows == form.height => rows,
        // The part of a large chunk that is needed is read without the rest.
        _ if form.height * row <= crate::form::MAX_CHUNK => form.height,
        Some(rows) => rows,
        None => 1,
    }
}
