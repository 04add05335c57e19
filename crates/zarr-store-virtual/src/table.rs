//! Where the chunks of an array lie, in little memory.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use zarr_store::Bytes;

use crate::{MakeChunk, SourceId, VirtualFault};

/// Where a chunk is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Chunk {
    /// It is not stored.
    Missing,
    /// In memory.
    Inline(Bytes),
    /// A range of a file.
    Range {
        /// The file.
        source: SourceId,
        /// The offset in bytes.
        offset: u64,
        /// The length in bytes.
        length: u64,
    },
    /// A whole file.
    Whole {
        /// The file.
        source: SourceId,
    },
    /// The maker of the table makes it, which knows it by this number.
    Made(u32),
}

/// Where each chunk of an array is, by its number in C order.
///
/// Chunks that follow each other at even distances in one file, each as long as the last, share one entry of 40 bytes, however many they
/// are. If there are few such runs, each chunk takes 16 bytes instead, and one that is in memory its own bytes. Clones share all of it.
#[derive(Clone)]
pub struct ChunkTable {
    pub(crate) count: u64,
    entries: Arc<Entries>,
    inline: Bytes,
    maker: Option<Arc<dyn MakeChunk>>,
}

enum Entries {
    /// Runs of chunks that are there, sorted, each behind the last.
    Runs(Vec<Run>),
    /// One entry for each chunk.
    Each(Vec<Entry>),
}

/// Chunks at even distances.
#[derive(Clone, Copy)]
struct Run {
    first: u64,
    count: u64,
    stride: u64,
    /// The first chunk. It is in two halves, so that a run is as large as its parts.
    entry: [u64; 2],
}

impl Run {
    fn end(&self) -> u64 {
        self.first + self.count
    }

    fn entry(&self, index: u64) -> Entry {
        Entry::of_halves(self.entry).moved(self.stride * (index - self.first))
    }

    /// Whether this chunk was added at the end of the run.
    fn take(&mut self, index: u64, entry: Entry) -> bool {
        let first = Entry::of_halves(self.entry);
        if self.end() != index || !first.is_like(entry) {
            return false;
        }
        let Some(distance) = entry.offset().checked_sub(first.offset()) else { return false };
        if self.count == 1 {
            self.stride = distance;
        } else if self.stride.checked_mul(self.count) != Some(distance) {
            return false;
        }
        self.count += 1;
        true
    }
}

/// A chunk in 16 bytes: what it is (2 bits), the source (30), the length (46) and the offset (50).
#[derive(Clone, Copy, PartialEq, Eq)]
struct Entry(u128);

const MISSING: u128 = 0;
const RANGE: u128 = 1;
const INLINE: u128 = 2;
const MADE: u128 = 3;
const SOURCES: u32 = 30;
const LENGTHS: u32 = 46;
const OFFSETS: u32 = 50;
/// The length of a whole file.
const WHOLE: u64 = (1 << LENGTHS) - 1;

impl Entry {
    fn new(kind: u128, source: u32, length: u64, offset: u64) -> Self {
        let high = kind << SOURCES | u128::from(source);
        Self((high << LENGTHS | u128::from(length)) << OFFSETS | u128::from(offset))
    }

    fn kind(self) -> u128 {
        self.0 >> (SOURCES + LENGTHS + OFFSETS)
    }

    fn bits(self, shift: u32, bits: u32) -> u64 {
        u64::try_from(self.0 >> shift & ((1 << bits) - 1)).unwrap_or(0)
    }

    fn source(self) -> u32 {
        u32::try_from(self.bits(LENGTHS + OFFSETS, SOURCES)).unwrap_or(0)
    }

    fn length(self) -> u64 {
        self.bits(OFFSETS, LENGTHS)
    }

    fn offset(self) -> u64 {
        self.bits(0, OFFSETS)
    }

    /// Whether two differ in their offsets alone.
    fn is_like(self, other: Self) -> bool {
        self.0 >> OFFSETS == other.0 >> OFFSETS
    }

    /// One whose offset is greater. It was checked when the run was made that the offset has room.
    fn moved(self, distance: u64) -> Self {
        Self(self.0 + u128::from(distance))
    }

    fn halves(self) -> [u64; 2] {
        [self.bits(64, 64), self.bits(0, 64)]
    }

    fn of_halves([high, low]: [u64; 2]) -> Self {
        Self(u128::from(high) << 64 | u128::from(low))
    }
}

impl ChunkTable {
    /// The same table, whose chunks [`Chunk::Made`] are made by this.
    #[must_use]
    pub fn with_maker(self, maker: Arc<dyn MakeChunk>) -> Self {
        Self { maker: Some(maker), ..self }
    }

    /// The number of chunks, with those that are missing.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Where a chunk is. One that the table does not have is missing.
    #[must_use]
    pub fn get(&self, index: u64) -> Chunk {
        let Some(entry) = self.entry(index) else { return Chunk::Missing };
        match entry.kind() {
            RANGE if entry.length() == WHOLE => Chunk::Whole { source: SourceId(entry.source()) },
            RANGE => Chunk::Range { source: SourceId(entry.source()), offset: entry.offset(), length: entry.length() },
            INLINE => Chunk::Inline(self.inline_bytes(entry)),
            MADE => Chunk::Made(u32::try_from(entry.offset()).unwrap_or(u32::MAX)),
            _ => Chunk::Missing,
        }
    }

    /// The bytes of memory of the table itself.
    #[must_use]
    pub fn memory(&self) -> usize {
        let entries = match &*self.entries {
            Entries::Runs(runs) => runs.capacity() * size_of::<Run>(),
            Entries::Each(each) => each.capacity() * size_of::<Entry>(),
        };
        entries + self.inline.len()
    }

    /// Returns the maker of the chunks [`Chunk::Made`], if there is one.
    #[must_use]
    pub fn maker(&self) -> Option<&Arc<dyn MakeChunk>> {
        self.maker.as_ref()
    }

    /// The first chunk that is there, from this one on.
    pub(crate) fn next(&self, from: u64) -> Option<u64> {
        match &*self.entries {
            Entries::Runs(runs) => {
                runs.get(runs.partition_point(|run| run.end() <= from)).map(|run| run.first.max(from))
            }
            Entries::Each(each) => {
                let rest = each.get(usize::try_from(from).ok()?..)?;
                let at = rest.iter().position(|entry| entry.kind() != MISSING)?;
                Some(from + at as u64)
            }
        }
    }

    /// The chunks of a range that are there.
    pub(crate) fn present(&self, range: Range<u64>) -> impl Iterator<Item = u64> {
        let mut from = range.start;
        std::iter::from_fn(move || {
            let found = self.next(from).filter(|found| *found < range.end)?;
            from = found + 1;
            Some(found)
        })
    }

    /// The greatest source, and whether a maker is needed.
    pub(crate) fn needs(&self) -> (Option<u32>, bool) {
        let (mut source, mut maker) = (None, false);
        let mut note = |entry: Entry| {
            match entry.kind() {
                RANGE => source = source.max(Some(entry.source())),
                MADE => maker = true,
                _ => {}
            };
        };
        match &*self.entries {
            Entries::Runs(runs) => runs.iter().for_each(|run| note(Entry::of_halves(run.entry))),
            Entries::Each(each) => each.iter().for_each(|entry| note(*entry)),
        }
        (source, maker)
    }

    fn entry(&self, index: u64) -> Option<Entry> {
        match &*self.entries {
            Entries::Runs(runs) => {
                let run = runs.get(runs.partition_point(|run| run.end() <= index))?;
                (run.first <= index).then(|| run.entry(index))
            }
            Entries::Each(each) => each.get(usize::try_from(index).ok()?).copied(),
        }
    }

    fn inline_bytes(&self, entry: Entry) -> Bytes {
        let at = |offset: u64| usize::try_from(offset).unwrap_or(usize::MAX).min(self.inline.len());
        let start = at(entry.offset());
        self.inline.slice(start..at(entry.offset() + entry.length()).max(start))
    }
}

impl fmt::Debug for ChunkTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChunkTable").field("count", &self.count).field("memory", &self.memory()).finish_non_exhaustive()
    }
}

/// Builds a [`ChunkTable`]. Chunks that are not set are missing. They may be set in any order; in C order it needs the least memory.
pub struct ChunkTableBuilder {
    count: u64,
    runs: Vec<Run>,
    is_sorted: bool,
    inline: Vec<u8>,
    limit: usize,
}

impl ChunkTableBuilder {
    /// Maximum number of runs of chunks by default.
    pub const LIMIT: usize = 1 << 24;

    /// Makes a builder of the table of an array of `count` chunks. Nothing is allocated for chunks that are missing.
    #[must_use]
    pub fn new(count: u64) -> Self {
        Self { count, runs: Vec::new(), is_sorted: true, inline: Vec::new(), limit: Self::LIMIT }
    }

    /// Sets another limit of chunks, or of runs of them.
    #[must_use]
    pub fn limit(self, limit: usize) -> Self {
        Self { limit, ..self }
    }

    /// Sets the place of a chunk.
    ///
    /// # Errors
    /// If the array has no such chunk, there would be too many, or an offset (of 50 bits), a length (of 46) or the number of a source
    /// (of 30) is too great.
    pub fn set(&mut self, index: u64, chunk: Chunk) -> Result<(), VirtualFault> {
        if index >= self.count {
            return Err(VirtualFault::Index { index, count: self.count });
        }
        let entry = match chunk {
            Chunk::Missing => return Ok(()),
            Chunk::Range { source, offset, length } => range(index, source, offset, length)?,
            Chunk::Whole { source } => {
                range(index, source, 0, 0).map(|entry| Entry::new(RANGE, entry.source(), WHOLE, 0))?
            }
            Chunk::Made(number) => Entry::new(MADE, 0, 0, number.into()),
            Chunk::Inline(bytes) => {
                let (offset, length) = (self.inline.len() as u64, bytes.len() as u64);
                check(index, "length", length, WHOLE)?;
                check(index, "offset", offset + length, 1 << OFFSETS)?;
                self.inline.extend_from_slice(&bytes);
                Entry::new(INLINE, 0, length, offset)
            }
        };
        if self.is_sorted && self.runs.last_mut().is_some_and(|run| run.take(index, entry)) {
            return Ok(());
        }
        self.push(Run { first: index, count: 1, stride: 0, entry: entry.halves() })
    }

    /// Sets the places of chunks that follow each other: the first at `offset`, each `stride` bytes behind the last.
    ///
    /// # Errors
    /// As [`set`](Self::set).
    pub fn set_even(
        &mut self,
        chunks: Range<u64>,
        source: SourceId,
        offset: u64,
        length: u64,
        stride: u64,
    ) -> Result<(), VirtualFault> {
        let count = chunks.end.saturating_sub(chunks.start);
        if count == 0 {
            return Ok(());
        }
        if chunks.end > self.count {
            return Err(VirtualFault::Index { index: chunks.end - 1, count: self.count });
        }
        let entry = range(chunks.start, source, offset, length)?;
        let last = stride.saturating_mul(count - 1).saturating_add(offset);
        range(chunks.end - 1, source, last, length)?;
        self.push(Run { first: chunks.start, count, stride, entry: entry.halves() })
    }

    fn push(&mut self, run: Run) -> Result<(), VirtualFault> {
        if self.runs.len() >= self.limit {
            return Err(VirtualFault::TooMany { limit: self.limit });
        }
        self.is_sorted &= self.runs.last().is_none_or(|last| last.end() <= run.first);
        self.runs.push(run);
        Ok(())
    }

    /// The table.
    ///
    /// # Errors
    /// If a chunk was set twice.
    pub fn build(self) -> Result<ChunkTable, VirtualFault> {
        let Self { count, mut runs, is_sorted, inline, .. } = self;
        if !is_sorted {
            runs.sort_unstable_by_key(|run| run.first);
            if let Some(pair) = runs.windows(2).find(|pair| pair[0].end() > pair[1].first) {
                return Err(VirtualFault::Twice { index: pair[1].first });
            }
            merge(&mut runs);
        }
        let inline = Bytes::from(inline);
        let of_runs = runs.len().saturating_mul(size_of::<Run>()) as u64;
        let of_each = count.saturating_mul(size_of::<Entry>() as u64);
        let entries = if of_runs <= of_each {
            runs.shrink_to_fit();
            Entries::Runs(runs)
        } else {
            // The count is less than three times that of the runs, which are in memory.
            let mut each = vec![Entry(MISSING); usize::try_from(count).unwrap_or(0)];
            for run in runs {
                for index in run.first..run.end() {
                    if let Some(place) = usize::try_from(index).ok().and_then(|index| each.get_mut(index)) {
                        *place = run.entry(index);
                    }
                }
            }
            Entries::Each(each)
        };
        Ok(ChunkTable { count, entries: Arc::new(entries), inline, maker: None })
    }
}

impl fmt::Debug for ChunkTableBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChunkTableBuilder")
            .field("count", &self.count)
            .field("runs", &self.runs.len())
            .finish_non_exhaustive()
    }
}

/// Makes one run of those that follow each other.
fn merge(runs: &mut Vec<Run>) {
    let mut kept = 0;
    for at in 1..runs.len() {
        let run = runs[at];
        let mut longer = runs[kept];
        let follows = longer.take(run.first, run.entry(run.first));
        if follows && (run.count == 1 || run.stride == longer.stride) {
            longer.count += run.count - 1;
            runs[kept] = longer;
            continue;
        }
        kept += 1;
        runs[kept] = run;
    }
    runs.truncate(kept + 1);
}

fn range(index: u64, source: SourceId, offset: u64, length: u64) -> Result<Entry, VirtualFault> {
    check(index, "source", source.0.into(), 1 << SOURCES)?;
    check(index, "length", length, WHOLE)?;
    check(index, "end", offset.saturating_add(length), 1 << OFFSETS)?;
    Ok(Entry::new(RANGE, source.0, length, offset))
}

fn check(index: u64, what: &'static str, found: u64, limit: u64) -> Result<(), VirtualFault> {
    if found < limit { Ok(()) } else { Err(VirtualFault::TooLarge { index, what, found, limit }) }
}
