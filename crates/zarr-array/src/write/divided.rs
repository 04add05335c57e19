//! Write of a large shard: its inner chunks are encoded in runs, one job per run, and appended in order to the value that is being set.
//! Only a few runs are in memory: the runs that are being encoded, and the runs before them, which are being appended.

use super::{ChunkWrites, WriteChunk, WriteJob};
use crate::{Error, Result, jobs};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use zarr_codec::{EncodeSplit, EncodedRun, View};
use zarr_drive::Next;
use zarr_dtype::HeapRef;
use zarr_grid::ChunkIndex;
use zarr_store::{Bytes, Fetched, Key, Reply, Request, SetOptions, SetStream};

/// Minimum number of bytes of the elements of a run, large beside the cost of a job. In tests it is smaller, for many runs.
const RUN_SIZE: u64 = if cfg!(test) { 64 << 10 } else { 1 << 20 };
/// Minimum number of bytes of written elements of shards that are divided for any number of shards. A value of this size that is encoded as
/// a whole is moved to larger memory again and again, and no thread retains memory of this size.
pub(super) const LARGE: u64 = 64 << 20;
/// Maximum size of a stored shard that is divided for a partial write, in multiples of the bytes of the written elements. The stored shard
/// is copied, as jobs do not retain replies.
const MAX_COPIED: u64 = 8;

/// Returns the number of runs of a shard that are encoded at the same time, if `shards` shards are written on `threads` threads: two for
/// each thread per shard, so that few threads wait for the slowest run.
pub(super) fn window(shards: u64, threads: u64) -> u64 {
    (2 * threads).div_ceil(shards.clamp(1, threads.max(1))).max(2)
}

/// Write of a shard whose inner chunks are encoded in runs.
#[derive(Debug)]
pub(crate) struct DividedChunk<'a> {
    chunk: WriteChunk<'a>,
    /// Whether the whole chunk is written, so that its stored value does not matter.
    is_whole: bool,
    runs: Arc<Runs<'a>>,
    /// Number of the next inner chunk to encode.
    next: u64,
    /// Number of encoded bytes of each inner chunk of the finished runs; `None` for an inner chunk that is not stored.
    lengths: Vec<Option<u64>>,
    /// Bytes of the index if it lies at the start of the shard; empty before the end, and if the index lies at the end.
    head: Bytes,
    stage: Stage,
}

/// State of a divided write: the event for which it waits.
#[derive(Debug)]
enum Stage {
    /// Waits for the reply to the request that begins to set the value.
    Beginning(SetOptions),
    /// Waits until the runs of a window are encoded.
    Encoding(SetStream, Arc<Window>),
    /// Waits until the last pieces are appended.
    Ending(SetStream),
}

/// Everything that the runs of one shard share.
#[derive(Debug)]
struct Runs<'a> {
    index: ChunkIndex,
    key: Key,
    split: Box<dyn EncodeSplit>,
    old: Option<Bytes>,
    new: View<'a>,
    /// Number of inner chunks of a run.
    len: u64,
}

/// Consecutive runs that are encoded at the same time, and their encoded bytes.
#[derive(Debug)]
struct Window {
    encoded: Vec<Mutex<Option<EncodedRun>>>,
}

/// Run of inner chunks to encode.
#[derive(Debug)]
pub(crate) struct Run<'a> {
    runs: Arc<Runs<'a>>,
    inner_chunks: Range<u64>,
    window: Arc<Window>,
    number: usize,
}

/// Divided write of a chunk, or the chunk itself if it is not worth dividing.
type Divided<'a> = std::result::Result<Box<DividedChunk<'a>>, WriteChunk<'a>>;

impl<'a> DividedChunk<'a> {
    /// Divides a chunk that is written whole, if it is worth it.
    pub(super) fn whole(chunk: WriteChunk<'a>) -> Result<Divided<'a>> {
        let options = SetOptions::when(chunk.state.clone().unwrap_or_default());
        Self::new(chunk, true, None, options)
    }

    /// Divides a chunk that is written in part, if it is worth it. `reply` is the reply to the get of the chunk.
    pub(super) fn part(chunk: WriteChunk<'a>, reply: &Reply) -> Result<Divided<'a>> {
        let Reply::Got(found) = reply else { return Ok(Err(chunk)) };
        let (_, options) = chunk.found(found.as_ref()).map_err(|error| chunk.locate(error))?;
        Self::new(chunk, false, found.as_ref(), options)
    }

    fn new(chunk: WriteChunk<'a>, is_whole: bool, found: Option<&Fetched>, options: SetOptions) -> Result<Divided<'a>> {
        let Some((region, new)) = chunk.patch.as_region() else { return Ok(Err(chunk)) };
        let (size, old) = (size_of(new), found.map(|fetched| fetched.part(0)));
        let is_large = size >= LARGE || (chunk.divides && size >= 2 * RUN_SIZE);
        let is_copied = old.is_some_and(|old| old.len() as u64 > size.saturating_mul(MAX_COPIED));
        if !is_large || is_copied || (old.is_none() && chunk.may_omit()) {
            return Ok(Err(chunk));
        }
        let Some(split) = chunk.core.codecs.split_encode(old, chunk.patch.shape(), region) else {
            return Ok(Err(chunk));
        };
        let split = split.map_err(|error| chunk.locate(error.into()))?;
        let count = split.count();
        let len = RUN_SIZE.div_ceil((size / count.max(1)).max(1));
        if count <= len {
            return Ok(Err(chunk));
        }
        let runs = Arc::new(Runs {
            index: chunk.index.clone(),
            key: chunk.key.clone(),
            split,
            old: found.map(|fetched| fetched.to_bytes(0)),
            new: new.clone(),
            len,
        });
        let stage = Stage::Beginning(options);
        Ok(Ok(Box::new(Self { chunk, is_whole, runs, next: 0, lengths: Vec::new(), head: Bytes::new(), stage })))
    }

    /// Makes the first request. The job continues with [`go_on`](Self::go_on).
    pub(super) fn begin(self: Box<Self>, job: &mut WriteJob<'a>) -> Next<WriteJob<'a>> {
        let options = match &self.stage {
            Stage::Beginning(options) => options.clone(),
            _ => SetOptions::default(),
        };
        let request = Request::BeginSet { key: self.chunk.key.clone(), head: self.runs.split.head(), options };
        *job = WriteJob::Divided(self);
        Next::Ask(vec![request])
    }

    /// Takes the next step, after the event for which the write waited.
    pub(super) fn go_on(mut self: Box<Self>, job: &mut WriteJob<'a>, replies: &[Reply]) -> Result<Next<WriteJob<'a>>> {
        match (&self.stage, replies) {
            (Stage::Beginning(_), [Reply::Begun(stream)]) => {
                let (window, forks) = self.next_window();
                self.stage = Stage::Encoding(stream.clone(), window);
                *job = WriteJob::Divided(self);
                Ok(Next::Fork(forks))
            }
            (Stage::Encoding(stream, window), []) => {
                let (stream, window) = (stream.clone(), Arc::clone(window));
                let mut pieces = Vec::with_capacity(window.encoded.len() + 1);
                for run in window.take() {
                    let EncodedRun { bytes, lengths, .. } = run.map_err(|error| self.chunk.locate(error))?;
                    pieces.push(Bytes::from(bytes));
                    self.lengths.extend(lengths);
                }
                let append =
                    |pieces| Request::AppendToSet { key: self.chunk.key.clone(), stream: stream.clone(), pieces };
                let next = if self.next < self.runs.split.count() {
                    // The ones are appended while the next are encoded.
                    let append = WriteJob::Append(append(pieces));
                    let (window, runs) = self.next_window();
                    self.stage = Stage::Encoding(stream, window);
                    Next::Fork(std::iter::once(append).chain(runs).collect())
                } else {
                    let index = self.runs.split.index(&self.lengths);
                    let index = Bytes::from(index.map_err(|error| self.chunk.locate(error.into()))?);
                    if self.runs.split.head() > 0 {
                        self.head = index;
                    } else {
                        pieces.push(index);
                    }
                    let append = append(pieces);
                    self.stage = Stage::Ending(stream);
                    Next::Ask(vec![append])
                };
                *job = WriteJob::Divided(self);
                Ok(next)
            }
            (Stage::Ending(stream), [Reply::Appended]) => {
                let stream = stream.clone();
                Ok(self.finish(job, stream))
            }
            _ => Err(jobs::unfit()),
        }
    }

    /// Makes the jobs of the runs that are encoded next, and their window.
    fn next_window(&mut self) -> (Arc<Window>, Vec<WriteJob<'a>>) {
        let (len, count) = (self.runs.len, self.runs.split.count());
        let end = self.next.saturating_add(len.saturating_mul(self.chunk.window)).min(count);
        let starts = (self.next..end).step_by(usize::try_from(len).unwrap_or(usize::MAX));
        let window = Arc::new(Window { encoded: starts.clone().map(|_| Mutex::default()).collect() });
        let run = |(number, start): (usize, u64)| {
            WriteJob::Run(Run {
                runs: Arc::clone(&self.runs),
                inner_chunks: start..start.saturating_add(len).min(end),
                window: Arc::clone(&window),
                number,
            })
        };
        let runs = starts.enumerate().map(run).collect();
        self.next = end;
        (window, runs)
    }

    /// Makes the request that finishes setting the chunk, after all pieces were appended. Its reply is handled like the reply for a chunk
    /// that was not divided.
    fn finish(self, job: &mut WriteJob<'a>, stream: SetStream) -> Next<WriteJob<'a>> {
        let Self { mut chunk, is_whole, head, .. } = self;
        let request = Request::FinishSet { key: chunk.key.clone(), stream, head };
        *job = WriteJob::Chunks(if is_whole {
            let conditional = chunk.state.is_some();
            ChunkWrites { parts: Vec::new(), whole: chunk.take_whole().into_iter().collect(), conditional }
        } else {
            ChunkWrites { conditional: chunk.state.is_some(), parts: vec![(0, chunk)], whole: Vec::new() }
        });
        Next::Ask(vec![request])
    }
}

/// Number of bytes of elements, including their bytes in a heap.
fn size_of(elements: &View<'_>) -> u64 {
    let mut size = elements.size() as u64;
    if elements.heap().is_some() {
        elements.all(|item| {
            size += HeapRef::from_item(item).map_or(0, |element| u64::from(element.len));
            true
        });
    }
    size
}

impl Window {
    /// Removes and returns the encoded runs, in order.
    fn take(&self) -> impl Iterator<Item = Result<EncodedRun>> {
        let run = |run: &Mutex<Option<EncodedRun>>| run.lock().unwrap_or_else(PoisonError::into_inner).take();
        let encoded = self.encoded.iter().map(run);
        encoded.map(|run| run.ok_or_else(|| Error::internal("a run of inner chunks was not encoded")))
    }
}

impl Run<'_> {
    /// Encodes the inner chunks of the run.
    pub(super) fn encode(self) -> Result<()> {
        let Self { runs, inner_chunks, window, number } = self;
        let encoded = runs.split.encode(inner_chunks, runs.old.as_deref(), &runs.new);
        let encoded = encoded.map_err(|error| super::locate(error.into(), &runs.index, &runs.key))?;
        if let Some(slot) = window.encoded.get(number) {
            *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(encoded);
        }
        Ok(())
    }
}

#[cfg(all(test, feature = "parallel"))]
mod tests;
