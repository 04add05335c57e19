//! Check of stored chunks one by one: whether they decode, and where their faults are.
//!
//! ```text
//! Check (jobs)   Begin ──► Whole ──────────────────────────► report
//!                  └─────► Index ──► groups of inner chunks ──► report
//! found          the faults of one chunk (found)
//! inspect        the bytes of a chunk or shard that are here (inspect)
//! ```
//!
//! Unlike a read, a check includes everything that a read of the array leaves out (parts beyond the edge, inner chunks of other regions),
//! and a fault does not end it.
//!
//! The jobs of a check get whole values, or of a large shard the index and then groups of inner chunks, and decode into memory that is used
//! again. As in a read, the codecs say what a shard is and where its inner chunks are. Each codec says how far its decoding notices a
//! changed byte (`Protection`).

mod found;
mod inspect;
mod job;

use crate::core::ArrayCore;
use crate::{Array, Error, ErrorKind, Result, drive};
use found::broken;
pub use found::{CheckedChunk, ChunkFault, ChunkFaultKind};
use job::CheckJob;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use zarr_grid::ChunkIndex;
use zarr_store::Key;

/// Depth of [`Array::check_chunks`]: which bytes of chunks are read and decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CheckDepth {
    /// Reads the indexes of shards alone. Chunks that are not shards are not read.
    Indexes,
    /// Reads and decodes all bytes of each chunk.
    Values,
}

/// Chunks to check with their keys, and the function that gets the results.
struct Context<'a> {
    core: &'a ArrayCore,
    chunks: &'a [(Key, ChunkIndex)],
    depth: CheckDepth,
    report: &'a (dyn Fn(CheckedChunk) + Sync),
    /// Whether each chunk, by its position in `chunks`, was reported.
    done: Vec<AtomicBool>,
}

impl Context<'_> {
    fn report(&self, number: usize, chunk: CheckedChunk) {
        if self.done.get(number).is_some_and(|done| !done.swap(true, Ordering::Relaxed)) {
            (self.report)(chunk);
        }
    }

    fn is_done(&self, number: usize) -> bool {
        self.done.get(number).is_none_or(|done| done.load(Ordering::Relaxed))
    }
}

/// Number of consecutive failures of the store after which the check ends with an error.
const MAX_FAILURES: usize = 16;

impl Array {
    /// Checks stored chunks, given with their keys, on the threads that decode this array. Calls `report` with the result of each chunk as
    /// soon as the chunk is checked, in any order. A chunk that is faulty or cannot be read is no error of the call: its report says so.
    ///
    /// The number of values in memory is the number of threads that decode, or of requests in flight. Shards that may have more than 16 MiB
    /// of stored bytes are read in parts.
    ///
    /// ```
    /// # use std::sync::{Arc, Mutex};
    /// # use zarr_array::{Array, CheckDepth, NewArray, Registry, Store};
    /// # use zarr_store::{Key, MemoryStore, StoreExt};
    /// # let mut registry = Registry::default();
    /// # registry.codecs.add(zarr_codec_bytes::BYTES);
    /// let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    /// let new = NewArray::new(&[4], "int16").chunks(&[2]).codecs("bytes")?;
    /// let array = Array::create(&store, "/a", new, &Arc::new(registry))?;
    /// array.write(.., &[1_i16, 2, 3, 4])?;
    /// let torn = Key::new("a/c/1")?;
    /// store.set_all(&torn, &[3, 0, 4])?;
    /// let broken = Mutex::new(Vec::new());
    /// let chunks = [(Key::new("a/c/0")?, [0].into_iter().collect()), (torn, [1].into_iter().collect())];
    /// array.check_chunks(&chunks, CheckDepth::Values, &|chunk| {
    ///     broken.lock().unwrap().extend(chunk.faults.iter().map(|fault| format!("{}: {}", chunk.key, fault.message())));
    /// })?;
    /// assert_eq!(*broken.lock().unwrap(), ["a/c/1: codec bytes: 3 bytes, expected 4"]);
    /// # Ok::<(), zarr_array::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Store`] if the store does not give many chunks in a row.
    pub fn check_chunks(
        &self,
        chunks: &[(Key, ChunkIndex)],
        depth: CheckDepth,
        report: &(dyn Fn(CheckedChunk) + Sync),
    ) -> Result<()> {
        let (core, store) = (&*self.core, &*self.store);
        let done = chunks.iter().map(|_| AtomicBool::new(false)).collect();
        let context = Context { core, chunks, depth, report, done };
        // A value that cannot be read ends the job of all. Halves of the others are asked for then, until it is alone, so that the others
        // are still checked together.
        let mut todo: Vec<Range<usize>> = std::iter::once(0..chunks.len()).collect();
        let mut failures = 0;
        while let Some(numbers) = todo.pop() {
            if numbers.clone().all(|number| context.is_done(number)) {
                continue;
            }
            let Err(error) = drive::run_on_pool(core, store, CheckJob::all(&context, numbers.clone())) else {
                failures = 0;
                continue;
            };
            if numbers.len() > 1 {
                let middle = numbers.start + numbers.len() / 2;
                todo.extend([middle..numbers.end, numbers.start..middle]);
                continue;
            }
            failures = if error.kind() == ErrorKind::Store { failures + 1 } else { 0 };
            if failures > MAX_FAILURES {
                return Err(core.locate(error));
            }
            let Some((key, chunk)) = chunks.get(numbers.start) else { continue };
            let mut checked = CheckedChunk::new(key.clone(), chunk.clone());
            checked.add(broken(&[], None, error));
            context.report(numbers.start, checked);
        }
        Ok(())
    }
}

/// Error for a chunk that others replaced again and again while it was checked.
fn replaced() -> Error {
    Error::new(ErrorKind::Conflict, "others replaced the chunk again and again while it was checked")
}
