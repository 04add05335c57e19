//! Table of the places of the chunks of an array, in little memory.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use zarr_store::Bytes;

use crate::{MakeChunk, SourceId, VirtualFault};

/// Place of a chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Chunk {
    /// The chunk is not stored.
    Missing,
    /// The bytes of the chunk, which are in memory.
    Inline(Bytes),
    /// The chunk is a range of a file.
    Range {
        /// File that contains the chunk.
        source: SourceId,
        /// Offset of the chunk in the file, in bytes.
        offset: u64,
        /// Length of the chunk in bytes.
        length: u64,
    },
    /// The chunk is a whole file.
    Whole {
        /// File that is the chunk.
        source: SourceId,
    },
    /// The [maker](ChunkTable::maker) of the table makes the chunk, and knows it by this number.
    Made(u32),
}

/// Place of each chunk of an array, by the number of the chunk in C order.
///
/// Consecutive chunks of equal length that lie in one file at even distances form a run, which takes 40 bytes for any number of chunks. If
/// the runs would take more memory than 16 bytes for each chunk of the array, the table takes 16 bytes for each chunk instead. Chunks in
/// memory take their own bytes in addition. Clones share their memory.
#[derive(Clone)]
pub struct ChunkTable {
    pub(crate) count: u64,
    entries: Arc<Entries>,
    inline: Bytes,
    maker: Option<Arc<dyn MakeChunk>>,
}

enum Entries {
    /// Runs of stored chunks, in the order of the chunks.
    Runs(Vec<Run>),
    /// One entry for each chunk of the array, in C order.
    Each(Vec<Entry>),
}

/// Run of consecutive chunks whose offsets increase by `stride`.
#[derive(Clone, Copy)]
struct Run {
    first: u64,
    count: u64,
    stride: u64,
    /// Entry of the first chunk, in two halves: a `u128` would be aligned to 16 bytes and make a run larger than the sum of its fields.
    entry: [u64; 2],
}

impl Run {
    fn end(&self) -> u64 {
        self.first + self.count
    }

    fn entry(&self, index: u64) -> Entry {
        Entry::of_halves(self.entry).moved(self.stride * (index - self.first))
    }

    /// Adds the chunk `index` to the end of the run if it continues the run, and returns whether it was added.
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

/// Place of a chunk in 16 bytes: its kind (2 bits), source (30 bits), length (46 bits) and offset (50 bits).
#[derive(Clone, Copy, PartialEq, Eq)]
struct Entry(u128);

const MISSING: u128 = 0;
const RANGE: u128 = 1;
const INLINE: u128 = 2;
const MADE: u128 = 3;
const SOURCES: u32 = 30;
const LENGTHS: u32 = 46;
const OFFSETS: u32 = 50;
/// Length in the entry of a chunk that is a whole file.
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

    /// Whether the entries are equal except for their offsets.
    fn is_like(self, other: Self) -> bool {
        self.0 >> OFFSETS == other.0 >> OFFSETS
    }

    /// Returns the entry with an offset that is `distance` greater. The builder has checked that the offsets of a run fit into their bits.
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
    /// Sets the maker of the chunks [`Chunk::Made`] of the table.
    #[must_use]
    pub fn with_maker(self, maker: Arc<dyn MakeChunk>) -> Self {
        Self { maker: Some(maker), ..self }
    }

    /// Returns the number of chunks of the array, including missing chunks.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the place of the chunk `index`: [`Chunk::Missing`] if it is not stored or `index` is not below [`count`](Self::count).
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

    /// Returns the number of bytes of memory for the entries of the table and for the chunks that it has in memory.
    #[must_use]
    pub fn memory(&self) -> usize {
        let entries = match &*self.entries {
            Entries::Runs(runs) => runs.capacity() * size_of::<Run>(),
            Entries::Each(each) => each.capacity() * size_of::<Entry>(),
        };
        entries + self.inline.len()
    }

    /// Returns the maker of the chunks [`Chunk::Made`]; `None` if the table has no maker.
    #[must_use]
    pub fn maker(&self) -> Option<&Arc<dyn MakeChunk>> {
        self.maker.as_ref()
    }

    /// Returns the number of the first stored chunk at or after chunk `from`; `None` if no chunk follows.
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

    /// Returns the numbers of the stored chunks of `range`, in order.
    pub(crate) fn present(&self, range: Range<u64>) -> impl Iterator<Item = u64> {
        let mut from = range.start;
        std::iter::from_fn(move || {
            let found = self.next(from).filter(|found| *found < range.end)?;
            from = found + 1;
            Some(found)
        })
    }

    /// Returns the greatest number of a source in the table, `None` if no chunk lies in a file, and whether the table needs a maker.
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

/// Builder of a [`ChunkTable`]. Chunks that are not set are missing. Chunks may be set in any order; C order needs the least memory.
pub struct ChunkTableBuilder {
    count: u64,
    runs: Vec<Run>,
    is_sorted: bool,
    inline: Vec<u8>,
    limit: usize,
}

impl ChunkTableBuilder {
    /// Default of the maximum number of runs of chunks in a table.
    pub const LIMIT: usize = 1 << 24;

    /// Creates a builder of the table of an array of `count` chunks. Missing chunks need no memory while the table is built.
    #[must_use]
    pub fn new(count: u64) -> Self {
        Self { count, runs: Vec::new(), is_sorted: true, inline: Vec::new(), limit: Self::LIMIT }
    }

    /// Sets the maximum number of runs of chunks in the table. A chunk that continues no run is a run of one.
    #[must_use]
    pub fn limit(self, limit: usize) -> Self {
        Self { limit, ..self }
    }

    /// Sets the place of a chunk.
    ///
    /// # Errors
    /// [`VirtualFault`] if the array has no chunk `index`, if the table would have more runs than its limit, or if the offset (50 bits),
    /// the length (46 bits) or the number of the source (30 bits) is too great.
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

    /// Sets the places of consecutive chunks of `length` bytes each: the first at `offset`, each further chunk `stride` bytes behind the
    /// one before.
    ///
    /// # Errors
    /// The errors of [`set`](Self::set).
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

    /// Builds the table.
    ///
    /// # Errors
    /// [`VirtualFault::Twice`] if a chunk was set twice.
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
            // The count is less than three times the number of runs, and the runs are in memory already.
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

/// Joins neighbouring runs, which are sorted, if together they are one run.
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
