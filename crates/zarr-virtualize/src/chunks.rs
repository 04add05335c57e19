//! Chunks of several files as chunks of one joined array.

use std::sync::Arc;

use zarr_dtype::DataType;
use zarr_grid::{AxisChunks, ChunkGrid, Run, gcd};
use zarr_hierarchy::Result;
use zarr_store::Bytes;
use zarr_store_virtual::{Chunk, ChunkTable, ChunkTableBuilder, MakeChunk, SourceId};

use crate::forms::different_form;
use crate::nodes::FileArray;

/// Reason why the chunks of a file cannot be chunks of the joined array.
#[derive(Debug)]
pub(crate) struct Refusal {
    /// Index of the file in the list of files.
    pub(crate) file: usize,
    pub(crate) what: String,
    pub(crate) hint: &'static str,
}

/// Chunks of a joined array along the axis of joining.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Joined {
    /// Chunks of this length along the axis, which are the chunks of the files.
    Regular(u64),
    /// Chunks of this length along the axis, into which the chunks of the files are divided.
    Divided(u64),
    /// Chunks of the files, whose lengths along the axis differ.
    Rectilinear(Vec<Run>),
}

/// Hint of most refusals: a command that joins the same data otherwise.
const HINT: &str = "`zarr convert --concat` joins the elements themselves";
const HINT_GRID: &str =
    "--grid rectilinear writes chunks of several lengths, and `zarr convert --concat` joins the elements themselves";

/// Decides how the chunks of `arrays` become chunks of one array, which has `arrays` one after the other along `axis`. Chunks of several
/// lengths are allowed if `rectilinear`.
pub(crate) fn plan(arrays: &[&FileArray<'_>], axis: usize, rectilinear: bool) -> Result<Joined, Refusal> {
    let length = |array: &FileArray<'_>| array.metadata.shape.get(axis).copied().unwrap_or(0);
    let filled: Vec<usize> = (0..arrays.len()).filter(|file| length(arrays[*file]) > 0).collect();
    let filled = if filled.is_empty() { vec![0] } else { filled };
    let refuse = |file: usize, what: String, hint| Refusal { file, what, hint };
    let first = arrays[filled[0]];
    let mut chunks = Vec::new();
    for file in &filled {
        let array = arrays[*file];
        if let Some((what, expected, found)) = different_form(&first.metadata, &array.metadata) {
            return Err(refuse(
                *file,
                format!("found the {what} {found}, expected {expected} as in the first file"),
                HINT,
            ));
        }
        let Some(chunk) = array.chunk_shape() else {
            return Err(refuse(*file, "found chunks of several lengths, expected a regular grid".to_owned(), HINT));
        };
        let others = |chunk: &[u64]| {
            chunk.iter().enumerate().filter(|(at, _)| *at != axis).map(|(_, it)| *it).collect::<Vec<_>>()
        };
        let expected = first.chunk_shape().unwrap_or_default();
        if others(chunk) != others(expected) {
            let what =
                format!("found chunks of {chunk:?}, expected {expected:?} as in the first file along the other axes");
            return Err(refuse(*file, what, HINT));
        }
        chunks.push((*file, chunk[axis], length(array)));
    }
    let expected = chunks[0].1;
    let last = chunks.len() - 1;
    let bad = chunks
        .iter()
        .enumerate()
        .find(|(at, (_, chunk, length))| *chunk != expected || (*at < last && !length.is_multiple_of(expected)));
    let Some((_, (file, chunk, length))) = bad else { return Ok(Joined::Regular(expected)) };
    if arrays.iter().all(|array| is_divisible(array, axis)) {
        let lengths = chunks.iter().take(last).map(|(_, _, length)| *length);
        let common = chunks.iter().map(|(_, chunk, _)| *chunk).chain(lengths).fold(0, gcd);
        return Ok(Joined::Divided(common.max(1)));
    }
    if rectilinear {
        let is_partial = |(_, chunk, length): &&(usize, u64, u64)| !length.is_multiple_of(*chunk);
        if let Some((file, chunk, length)) = chunks.iter().find(is_partial) {
            let what = format!("found {length} elements in chunks of {chunk} along the axis, expected whole chunks");
            return Err(refuse(*file, what, HINT));
        }
        let runs = chunks.iter().map(|(_, chunk, length)| Run { len: *chunk, count: length / chunk });
        return Ok(Joined::Rectilinear(merged(runs)));
    }
    let what = match *chunk == expected {
        true => format!(
            "found {length} elements in chunks of {chunk} along the axis, expected whole chunks in each file but the last"
        ),
        false => format!("found chunks of {chunk} along the axis, expected {expected} as in the first file"),
    };
    Err(refuse(*file, what, HINT_GRID))
}

fn merged(runs: impl Iterator<Item = Run>) -> Vec<Run> {
    let mut merged: Vec<Run> = Vec::new();
    for run in runs {
        match merged.last_mut().filter(|last| last.len == run.len) {
            Some(last) => last.count += run.count,
            None => merged.push(run),
        }
    }
    merged
}

/// Returns whether the chunks of `array` can be divided along `axis` without decoding: the only codec is `bytes`, and chunks have length 1
/// along all axes before `axis`.
fn is_divisible(array: &FileArray<'_>, axis: usize) -> bool {
    let is_plain = matches!(array.metadata.codecs.as_slice(), [codec] if codec.name == "bytes");
    let Some(size) = chunk_size(array).filter(|_| is_plain) else { return false };
    let lies_first = array.chunk_shape().is_some_and(|chunk| chunk.iter().take(axis).all(|length| *length == 1));
    let table = array.chunks.table();
    lies_first
        && table.stored().all(|index| match table.get(index) {
            Chunk::Range { length, .. } => length == size,
            Chunk::Inline(bytes) => bytes.len() as u64 == size,
            Chunk::Missing => true,
            _ => false,
        })
}

/// Returns the number of bytes of the decoded elements of a chunk; `None` for a data type of variable length or an irregular grid.
fn chunk_size(array: &FileArray<'_>) -> Option<u64> {
    let data_type = DataType::from_config(&array.metadata.data_type).ok().filter(|it| !it.is_variable())?;
    let item = data_type.item_size() as u64;
    array.chunk_shape()?.iter().try_fold(item, |size, length| size.checked_mul(*length))
}

/// Returns the chunk grid of the joined array of `shape`. Along axes other than `axis` the chunks are those of `first`.
pub(crate) fn grid(joined: &Joined, shape: &[u64], axis: usize, first: &FileArray<'_>) -> Result<ChunkGrid> {
    let chunk = first.chunk_shape().unwrap_or_default();
    match joined {
        Joined::Regular(length) | Joined::Divided(length) => {
            let mut chunk = chunk.to_vec();
            if let Some(along) = chunk.get_mut(axis) {
                *along = *length;
            }
            Ok(ChunkGrid::regular(shape, &chunk)?)
        }
        Joined::Rectilinear(runs) => {
            let mut axes = Vec::new();
            for (at, length) in chunk.iter().enumerate() {
                axes.push(match at == axis {
                    true => AxisChunks::listed(runs.iter().copied())?,
                    false => AxisChunks::repeated((*length).max(1)).unwrap_or_else(|| unreachable!("at least one")),
                });
            }
            Ok(ChunkGrid::rectilinear(shape, axes)?)
        }
    }
}

/// Builder of the chunk table of a joined array, to which the chunks of one file after the other are added.
pub(crate) struct TableJoin {
    counts: Vec<u64>,
    axis: usize,
    table: ChunkTableBuilder,
    makers: Vec<(u32, Arc<dyn MakeChunk>)>,
    /// Number of the next chunk that is made by a [`MakeChunk`].
    made: u32,
    /// Number of chunks along the axis of the files that were added so far.
    offset: u64,
}

impl TableJoin {
    /// Creates the empty table of a joined array with `counts` chunks along each axis.
    pub(crate) fn new(counts: &[u64], axis: usize) -> Result<Self> {
        let total = counts.iter().try_fold(1_u64, |total, count| total.checked_mul(*count));
        let total =
            total.ok_or_else(|| zarr_hierarchy::Error::argument(format!("found {counts:?} chunks, more than 2^64")))?;
        let table = ChunkTableBuilder::new(total);
        Ok(Self { counts: counts.to_vec(), axis, table, makers: Vec::new(), made: 0, offset: 0 })
    }

    /// Adds the chunks of the next file along the axis. If `length` is given, chunks are divided into chunks of this length along the axis.
    /// `source` returns the source in the joined store for a source of the file.
    pub(crate) fn add(
        &mut self,
        array: &FileArray<'_>,
        length: Option<u64>,
        mut source: impl FnMut(SourceId) -> SourceId,
    ) -> Result<(), zarr_store_virtual::VirtualFault> {
        let (counts, table) = (array.counts(), array.chunks.table());
        let own = array.chunk_shape().and_then(|chunk| chunk.get(self.axis)).copied().unwrap_or(1);
        let total = array.metadata.shape.get(self.axis).copied().unwrap_or(1);
        let parts = length.map_or(1, |length| (own / length.max(1)).max(1));
        let along = length
            .filter(|_| parts > 1)
            .map_or(counts.get(self.axis).copied().unwrap_or(1), |length| total.div_ceil(length));
        // If chunks are stored, the table has a number for each chunk, so that the product does not overflow.
        let inner = counts.iter().skip(self.axis + 1).fold(1, |inner: u64, count| inner.saturating_mul(*count));
        let whole = self.counts.get(self.axis).copied().unwrap_or(1);
        let mut most = None;
        for index in table.stored() {
            let (outer, at) = match counts.get(self.axis) {
                Some(count) => (index / inner / count, index / inner % count),
                None => (0, 0),
            };
            for part in 0..parts {
                let position = at * parts + part;
                if position >= along {
                    break;
                }
                let number = (outer * whole + self.offset + position) * inner + index % inner;
                let chunk = match table.get(index) {
                    Chunk::Range { source: of, offset, length } => {
                        let size = length / parts;
                        Chunk::Range { source: source(of), offset: offset + part * size, length: size }
                    }
                    Chunk::Whole { source: of } => Chunk::Whole { source: source(of) },
                    Chunk::Inline(bytes) => Chunk::Inline(part_of(&bytes, part, parts)),
                    Chunk::Made(made) => {
                        most = most.max(Some(made));
                        Chunk::Made(self.made.saturating_add(made))
                    }
                    Chunk::Missing => continue,
                };
                self.table.set(number, chunk)?;
            }
        }
        self.offset += along;
        if let (Some(most), Some(maker)) = (most, table.maker()) {
            self.makers.push((self.made, Arc::clone(maker)));
            self.made = self.made.checked_add(most).and_then(|made| made.checked_add(1)).ok_or(
                zarr_store_virtual::VirtualFault::TooLarge {
                    index: 0,
                    what: "number of chunks to be made",
                    found: u64::from(self.made) + u64::from(most),
                    limit: u64::from(u32::MAX),
                },
            )?;
        }
        Ok(())
    }

    /// Builds the chunk table of all added files.
    pub(crate) fn build(self) -> Result<ChunkTable, zarr_store_virtual::VirtualFault> {
        let table = self.table.build()?;
        Ok(match self.makers.is_empty() {
            true => table,
            false => table.with_maker(Arc::new(Makers(self.makers))),
        })
    }
}

fn part_of(bytes: &Bytes, part: u64, parts: u64) -> Bytes {
    let size = bytes.len() as u64 / parts;
    let at = |part: u64| usize::try_from(part * size).unwrap_or(usize::MAX).min(bytes.len());
    if parts == 1 { bytes.clone() } else { bytes.slice(at(part)..at(part + 1)) }
}

/// Makers of the chunks of several files, each with the number of its first chunk in the joined table, in ascending order.
#[derive(Debug)]
struct Makers(Vec<(u32, Arc<dyn MakeChunk>)>);

impl Makers {
    fn of(&self, number: u32) -> zarr_store::Result<(&dyn MakeChunk, u32)> {
        let at = self.0.partition_point(|(first, _)| *first <= number).saturating_sub(1);
        let (first, maker) = self.0.get(at).ok_or_else(|| zarr_store::Error::Argument {
            store: "joined files".to_owned(),
            message: format!("found no maker of the chunk {number}"),
        })?;
        Ok((&**maker, number.saturating_sub(*first)))
    }
}

impl MakeChunk for Makers {
    fn make(&self, number: u32) -> zarr_store::Result<Bytes> {
        let (maker, number) = self.of(number)?;
        maker.make(number)
    }

    fn size(&self, number: u32) -> zarr_store::Result<u64> {
        let (maker, number) = self.of(number)?;
        maker.size(number)
    }
}
