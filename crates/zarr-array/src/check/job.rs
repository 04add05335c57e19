//! Job that gets the values of chunks from the store and checks them.

use super::found::{CheckedChunk, broken};
use super::inspect::{self, Entry, Part};
use super::{CheckDepth, Context, replaced};
use crate::{Error, Result, jobs};
use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use zarr_codec::{Decode, Pipeline, Split};
use zarr_drive::{Job, Next};
use zarr_grid::{ChunkIndex, Shape};
use zarr_store::{ByteRange, GetOptions, Key, Reply, Request, Snapshot, Version};

/// Maximum size in bytes of shards that are read as a whole.
const WHOLE: u64 = 16 << 20;
/// Maximum number of bytes of inner chunks that are read by one request; the maximum number of inner chunks is `MAX_ENTRIES`.
const GROUP: u64 = 4 << 20;
const MAX_ENTRIES: usize = 1024;
/// Maximum number of times that the check of a chunk is begun if others replace the chunk while it is read in parts.
const MAX_TRIES: u32 = 10;

/// Job that checks chunks, or a part of one.
pub(super) struct CheckJob<'a> {
    context: &'a Context<'a>,
    state: CheckStage,
}

enum CheckStage {
    /// Forks one job for each chunk of a range of chunk numbers.
    All(Range<usize>),
    /// Begins the check of a chunk: its number, and the count of tries, this one included.
    Begin(usize, u32),
    /// Waits for the whole value of a chunk.
    Whole(usize),
    /// Waits for the index of a shard: number of the chunk, count of tries, and the decode that takes the index. The reply may tell the
    /// size of the shard, too.
    Index(usize, u32, Box<dyn Decode>),
    /// Waits for the size of a shard whose index was read.
    Size(Box<Indexed>),
    /// Waits for the forked jobs that check groups of inner chunks of a shard; with the count of tries.
    Groups(Arc<Shard>, u32),
    /// Group of inner chunks of a shard whose bytes are to be requested; [`CheckStage::Fetching`] waits for them.
    Group(Arc<Shard>, Vec<Entry>),
    Fetching(Arc<Shard>, Vec<Entry>),
    Done,
}

/// Shard whose index was read, and whose size is not known yet.
struct Indexed {
    number: usize,
    tries: u32,
    split: Split,
    ranges: Vec<ByteRange>,
    snapshot: Option<Snapshot>,
}

/// Shard that is checked in parts.
struct Shard {
    number: usize,
    key: Key,
    codecs: Arc<Pipeline>,
    snapshot: Option<Snapshot>,
    found: Mutex<CheckedChunk>,
    /// Whether the shard was replaced or erased while it was read.
    replaced: AtomicBool,
}

impl Shard {
    fn add(&self, part: CheckedChunk) {
        self.found.lock().unwrap_or_else(PoisonError::into_inner).merge(part);
    }
}

impl<'a> CheckJob<'a> {
    /// Makes the job that checks the chunks whose positions in `context.chunks` are `numbers`.
    pub(super) fn all(context: &'a Context<'a>, numbers: Range<usize>) -> Self {
        Self { context, state: CheckStage::All(numbers) }
    }

    fn key(&self, number: usize) -> Result<&'a (Key, ChunkIndex)> {
        self.context.chunks.get(number).ok_or_else(jobs::went_on)
    }

    fn new_chunk(&self, number: usize) -> Result<CheckedChunk> {
        self.key(number).map(|(key, chunk)| CheckedChunk::new(key.clone(), chunk.clone()))
    }

    fn shape(&self, number: usize) -> Result<Shape> {
        Ok(self.context.core.grid.chunk_shape(&self.key(number)?.1))
    }

    fn report(&self, number: usize, mut chunk: CheckedChunk) -> Next<Self> {
        chunk.sort();
        self.context.report(number, chunk);
        Next::Done(())
    }

    fn faulty(&self, number: usize, error: Error) -> Result<Next<Self>> {
        let mut chunk = self.new_chunk(number)?;
        chunk.add(broken(&[], None, error));
        Ok(self.report(number, chunk))
    }

    fn begin(&mut self, number: usize, tries: u32) -> Result<Next<Self>> {
        let (codecs, shape) = (&self.context.core.codecs, self.shape(number)?);
        let key = self.key(number)?.0.clone();
        let shard = inspect::shard(codecs, &shape);
        let is_whole = self.context.depth == CheckDepth::Values && codecs.max_encoded_size(&shape) <= WHOLE;
        match shard {
            Some(mut decode) if !is_whole => {
                let ranges = inspect::index_ranges(&mut *decode, &shape)?;
                self.state = CheckStage::Index(number, tries, decode);
                Ok(Next::Ask(vec![Request::Get { key, ranges, options: GetOptions::snapshot() }]))
            }
            None if self.context.depth == CheckDepth::Indexes => {
                let chunk = self.new_chunk(number)?;
                Ok(self.report(number, chunk))
            }
            _ => {
                self.state = CheckStage::Whole(number);
                let expected = codecs.encoded_size(&shape).bound(codecs.max_encoded_size(&shape));
                let options = GetOptions::default().expecting(expected);
                Ok(Next::Ask(vec![Request::Get { key, ranges: vec![ByteRange::Full], options }]))
            }
        }
    }

    fn whole(&self, number: usize, replies: &[Reply]) -> Result<Next<Self>> {
        let mut chunk = self.new_chunk(number)?;
        let Some(Reply::Got(fetched)) = replies.first() else { return Err(jobs::unfit()) };
        let Some(fetched) = fetched else { return Ok(self.gone(number, chunk)) };
        let bytes = fetched.part(0);
        chunk.bytes = bytes.len() as u64;
        chunk.version = fetched.version.clone();
        let shape = self.shape(number)?;
        chunk.is_read_in_parts = !bytes.is_empty() && inspect::is_read_in_parts(&self.context.core.codecs, &shape);
        let part = Part { codecs: &self.context.core.codecs, shape: &shape, start: 0, inner: &[] };
        inspect::inspect(&part, bytes, self.context.depth, &mut chunk);
        Ok(self.report(number, chunk))
    }

    /// Reports a chunk that was erased since it was listed.
    fn gone(&self, number: usize, mut chunk: CheckedChunk) -> Next<Self> {
        chunk.is_stored = false;
        self.report(number, chunk)
    }

    fn index(
        &mut self,
        number: usize,
        tries: u32,
        mut decode: Box<dyn Decode>,
        replies: &[Reply],
    ) -> Result<Next<Self>> {
        let fetched = match replies.first() {
            Some(Reply::Got(Some(fetched))) => fetched,
            Some(Reply::Got(None)) => {
                let chunk = self.new_chunk(number)?;
                return Ok(self.gone(number, chunk));
            }
            _ => return Err(jobs::unfit()),
        };
        let shape = self.shape(number)?;
        let index: Vec<&[u8]> = fetched.parts().collect();
        let split = match inspect::split(&mut *decode, &index, &shape) {
            Ok(split) => split,
            Err(error) => {
                let mut chunk = self.new_chunk(number)?;
                chunk.version = version_of(fetched.snapshot.as_ref());
                chunk.add(broken(&[], None, error));
                return Ok(self.report(number, chunk));
            }
        };
        // The same ranges, now to tell where the index lies.
        let mut again = inspect::shard(&self.context.core.codecs, &shape).ok_or_else(jobs::went_on)?;
        let ranges = inspect::index_ranges(&mut *again, &shape)?;
        let indexed = Indexed { number, tries, split, ranges, snapshot: fetched.snapshot.clone() };
        match fetched.size {
            Some(size) => self.sized(indexed, size),
            None => {
                let key = self.key(number)?.0.clone();
                self.state = CheckStage::Size(Box::new(indexed));
                Ok(Next::Ask(vec![Request::Size { key }]))
            }
        }
    }

    fn sized(&mut self, sized: Indexed, size: u64) -> Result<Next<Self>> {
        let Indexed { number, tries, split, ranges, snapshot } = sized;
        let shape = self.shape(number)?;
        let mut chunk = self.new_chunk(number)?;
        chunk.version = version_of(snapshot.as_ref());
        let places: Vec<Range<u64>> = ranges.iter().filter_map(|range| range.resolve(size)).collect();
        chunk.bytes = places.iter().map(|range| range.end - range.start).sum();
        let part = Part { codecs: &self.context.core.codecs, shape: &shape, start: 0, inner: &[] };
        let entries = inspect::entries(&part, &split, size, &places, &mut chunk);
        if self.context.depth == CheckDepth::Indexes {
            return Ok(self.report(number, chunk));
        }
        let key = self.key(number)?.0.clone();
        let (found, replaced) = (Mutex::new(chunk), AtomicBool::new(false));
        let shard = Arc::new(Shard { number, key, codecs: split.codecs, snapshot, found, replaced });
        let group = |entries| Self { context: self.context, state: CheckStage::Group(Arc::clone(&shard), entries) };
        let groups: Vec<Self> = groups(entries).into_iter().map(group).collect();
        self.state = CheckStage::Groups(shard, tries);
        if groups.is_empty() { self.step(&mut Vec::new()) } else { Ok(Next::Fork(groups)) }
    }

    fn fetched(&self, shard: &Shard, entries: Vec<Entry>, replies: &[Reply]) -> Result<Next<Self>> {
        let fetched = match replies.first() {
            Some(Reply::Got(Some(fetched))) => fetched,
            Some(Reply::Got(None) | Reply::Conflict) => {
                shard.replaced.store(true, Ordering::Relaxed);
                return Ok(Next::Done(()));
            }
            _ => return Err(jobs::unfit()),
        };
        let mut found = self.new_chunk(shard.number)?;
        for (number, entry) in entries.into_iter().enumerate() {
            let bytes = fetched.part(number);
            found.bytes = found.bytes.saturating_add(bytes.len() as u64);
            let (start, inner) = (entry.range.start, [entry.index]);
            let part = Part { codecs: &shard.codecs, shape: &entry.shape, start, inner: &inner };
            inspect::inspect(&part, bytes, self.context.depth, &mut found);
        }
        shard.add(found);
        Ok(Next::Done(()))
    }

    fn groups_done(&mut self, shard: &Shard, tries: u32) -> Result<Next<Self>> {
        if !shard.replaced.load(Ordering::Relaxed) {
            let empty = self.new_chunk(shard.number)?;
            let chunk = std::mem::replace(&mut *shard.found.lock().unwrap_or_else(PoisonError::into_inner), empty);
            return Ok(self.report(shard.number, chunk));
        }
        if tries >= MAX_TRIES {
            return self.faulty(shard.number, replaced());
        }
        self.begin(shard.number, tries + 1)
    }
}

fn version_of(snapshot: Option<&Snapshot>) -> Option<Version> {
    snapshot.and_then(Snapshot::version).cloned()
}

/// Divides inner chunks into groups, each large enough for a request of its own.
fn groups(entries: Vec<Entry>) -> Vec<Vec<Entry>> {
    let mut groups: Vec<Vec<Entry>> = Vec::new();
    let mut size = 0_u64;
    for entry in entries {
        let len = entry.range.end - entry.range.start;
        match groups.last_mut() {
            Some(group) if size.saturating_add(len) <= GROUP && group.len() < MAX_ENTRIES => {
                size += len;
                group.push(entry);
            }
            _ => {
                size = len;
                groups.push(vec![entry]);
            }
        }
    }
    groups
}

impl fmt::Debug for CheckJob<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CheckJob")
    }
}

impl Job for CheckJob<'_> {
    type Output = ();
    type Error = Error;

    fn step(&mut self, replies: &mut Vec<Reply>) -> Result<Next<Self>> {
        match std::mem::replace(&mut self.state, CheckStage::Done) {
            CheckStage::All(numbers) => {
                let context = self.context;
                let one = |number| Self { context, state: CheckStage::Begin(number, 1) };
                Ok(Next::Fork(numbers.filter(|number| !context.is_done(*number)).map(one).collect()))
            }
            CheckStage::Begin(number, tries) => self.begin(number, tries),
            CheckStage::Whole(number) => self.whole(number, replies),
            CheckStage::Index(number, tries, decode) => self.index(number, tries, decode, replies),
            CheckStage::Size(sized) => match replies.first() {
                Some(Reply::Size(Some(size))) => self.sized(*sized, *size),
                Some(Reply::Size(None)) => {
                    let chunk = self.new_chunk(sized.number)?;
                    Ok(self.gone(sized.number, chunk))
                }
                _ => Err(jobs::unfit()),
            },
            CheckStage::Groups(shard, tries) => self.groups_done(&shard, tries),
            CheckStage::Group(shard, entries) => {
                let ranges = entries.iter().map(|entry| ByteRange::Range(entry.range.clone())).collect();
                let options = GetOptions::if_match(shard.snapshot.clone());
                let request = Request::Get { key: shard.key.clone(), ranges, options };
                self.state = CheckStage::Fetching(shard, entries);
                Ok(Next::Ask(vec![request]))
            }
            CheckStage::Fetching(shard, entries) => self.fetched(&shard, entries, replies),
            CheckStage::Done => Ok(Next::Done(())),
        }
    }
}
