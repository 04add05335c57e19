//! A large shard: its inner chunks are encoded in runs, each by a job, and joined to a value in pieces.

use super::{Chunks, WriteChunk, WriteJob};
use crate::{Error, Result};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use zarr_codec::{EncodeSplit, EncodedRun, View};
use zarr_grid::ChunkIndex;
use zarr_store::{Bytes, Fetched, Key, Next, Reply, Request, SetOptions};

/// A run has so many bytes of elements at least: much beside the cost of a job.
const RUN_SIZE: u64 = 1 << 20;
/// How many runs a shard is divided into at most.
const MAX_RUNS: u64 = 256;
/// Shards of which so many bytes of elements are written are divided however many there are: a value that is encoded as a whole is moved
/// to larger memory again and again, and no thread keeps memory of this size.
const LARGE: u64 = 64 << 20;
/// A stored shard may have so many times the bytes of the elements that are written: it is copied, as jobs do not keep replies.
const MAX_COPIED: u64 = 8;

/// A chunk whose inner chunks are being encoded.
#[derive(Debug)]
pub(crate) struct DividedChunk<'a> {
    chunk: WriteChunk<'a>,
    /// Whether all of the chunk is written, so that its old state does not matter.
    is_whole: bool,
    options: SetOptions,
    runs: Arc<Runs<'a>>,
}

/// Everything that the runs of one chunk share.
#[derive(Debug)]
struct Runs<'a> {
    index: ChunkIndex,
    key: Key,
    split: Box<dyn EncodeSplit>,
    old: Option<Bytes>,
    new: View<'a>,
    /// Inner chunks of a run.
    len: u64,
    encoded: Vec<Mutex<Option<EncodedRun>>>,
}

/// A run of inner chunks that is to be encoded.
#[derive(Debug)]
pub(crate) struct Run<'a> {
    runs: Arc<Runs<'a>>,
    number: usize,
}

/// A chunk that was divided, or was not.
type Divided<'a> = std::result::Result<Box<DividedChunk<'a>>, WriteChunk<'a>>;

impl<'a> DividedChunk<'a> {
    /// Divides a chunk of which everything is written, if it is worth it.
    pub(super) fn whole(chunk: WriteChunk<'a>) -> Result<Divided<'a>> {
        let options = SetOptions::when(chunk.state.clone().unwrap_or_default());
        Self::new(chunk, true, None, options)
    }

    /// Divides a chunk of which a part is written, when the reply to the get of it has come, if it is worth it.
    pub(super) fn part(chunk: WriteChunk<'a>, reply: &Reply) -> Result<Divided<'a>> {
        let Reply::Got(found) = reply else { return Ok(Err(chunk)) };
        let (_, options) = chunk.found(found.as_ref()).map_err(|error| chunk.locate(error))?;
        Self::new(chunk, false, found.as_ref(), options)
    }

    fn new(chunk: WriteChunk<'a>, is_whole: bool, found: Option<&Fetched>, options: SetOptions) -> Result<Divided<'a>> {
        let Some((region, new)) = chunk.patch.as_region() else { return Ok(Err(chunk)) };
        let (size, old) = (new.size() as u64, found.map(|fetched| fetched.part(0)));
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
        let len = RUN_SIZE.div_ceil((size / count.max(1)).max(1)).max(count.div_ceil(MAX_RUNS));
        let runs = count.div_ceil(len);
        if runs < 2 {
            return Ok(Err(chunk));
        }
        let runs = Arc::new(Runs {
            index: chunk.index.clone(),
            key: chunk.key.clone(),
            split,
            old: found.map(|fetched| fetched.to_bytes(0)),
            new: new.clone(),
            len,
            encoded: (0..runs).map(|_| Mutex::default()).collect(),
        });
        Ok(Ok(Box::new(Self { chunk, is_whole, options, runs })))
    }

    /// Forks into the runs; the job goes on with [`set`](Self::set).
    pub(super) fn fork(self: Box<Self>, job: &mut WriteJob<'a>) -> Next<WriteJob<'a>> {
        let run = |number| WriteJob::Run(Run { runs: Arc::clone(&self.runs), number });
        let forks = (0..self.runs.encoded.len()).map(run).collect();
        *job = WriteJob::Divided(self);
        Next::Fork(forks)
    }

    /// The request that sets the chunk, of which all runs are encoded.
    pub(super) fn set(self: Box<Self>, job: &mut WriteJob<'a>) -> Result<Next<WriteJob<'a>>> {
        let Self { mut chunk, is_whole, options, runs } = *self;
        let pieces = runs.join().map_err(|error| chunk.locate(error))?;
        let request = Request::SetPieces { key: chunk.key.clone(), pieces, options };
        *job = WriteJob::Chunks(if is_whole {
            let conditional = chunk.state.is_some();
            Chunks { parts: Vec::new(), whole: chunk.take_whole().into_iter().collect(), conditional }
        } else {
            Chunks { conditional: chunk.state.is_some(), parts: vec![(0, chunk)], whole: Vec::new() }
        });
        Ok(Next::Ask(vec![request]))
    }
}

impl Runs<'_> {
    /// The value, of runs that are given away.
    fn join(&self) -> Result<Vec<Vec<u8>>> {
        let take = |run: &Mutex<Option<EncodedRun>>| {
            lock(run).take().ok_or_else(|| Error::internal("a run of inner chunks was not encoded"))
        };
        Ok(self.split.join(self.encoded.iter().map(take).collect::<Result<_>>()?)?)
    }
}

impl Run<'_> {
    /// Encodes the inner chunks.
    pub(super) fn encode(self) -> Result<()> {
        let Self { runs, number } = self;
        let start = number as u64 * runs.len;
        let end = (start + runs.len).min(runs.split.count());
        let encoded = runs.split.encode(start..end, runs.old.as_deref(), &runs.new);
        let encoded = encoded.map_err(|error| super::locate(error.into(), &runs.index, &runs.key))?;
        if let Some(slot) = runs.encoded.get(number) {
            *lock(slot) = Some(encoded);
        }
        Ok(())
    }
}

fn lock(run: &Mutex<Option<EncodedRun>>) -> MutexGuard<'_, Option<EncodedRun>> {
    run.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(all(test, feature = "parallel"))]
mod tests;
