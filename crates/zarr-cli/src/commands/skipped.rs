//! Chunks that a conversion left out, since they cannot be read.

use crate::failure::{Failure, Result};
use crate::number;
use crate::object::{object, or_null};
use crate::report;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use zarr::convert::{Progress, SkippedChunk};
use zarr::meta::json::Value;

/// The chunks that were left out so far.
#[derive(Debug, Default)]
pub(crate) struct Skipped {
    chunks: Mutex<Vec<SkippedChunk>>,
    /// How many more earlier runs left out.
    more: AtomicU64,
}

impl Skipped {
    /// Adds the chunk, if progress is about one.
    pub(crate) fn add(&self, progress: &Progress<'_>) {
        match progress {
            Progress::Skipped(chunk) => {
                self.chunks.lock().unwrap_or_else(PoisonError::into_inner).push((*chunk).clone());
            }
            Progress::MoreSkipped(more) => {
                self.more.fetch_add(*more, Ordering::Relaxed);
            }
            _ => {}
        }
    }

    /// The chunks, sorted.
    fn sorted(&self) -> Vec<SkippedChunk> {
        let mut chunks = self.chunks.lock().unwrap_or_else(PoisonError::into_inner).clone();
        chunks.sort();
        chunks
    }

    /// Prints them all, since they are nowhere else.
    pub(crate) fn print(&self) {
        self.sorted().iter().for_each(|chunk| report::warning(&format!("left out: {chunk}")));
        if self.more() > 0 {
            report::warning(&format!("left out by earlier runs: about {}", number::counted(self.more(), "more chunk")));
        }
    }

    /// About how many more earlier runs left out, of which no more is known.
    pub(crate) fn more(&self) -> u64 {
        self.more.load(Ordering::Relaxed)
    }

    pub(crate) fn to_json(&self) -> Vec<Value> {
        let facts = |chunk: &SkippedChunk| {
            Value::from(object! {
                "path": chunk.path.to_string(),
                "chunk": chunk.chunk.clone(),
                "key": or_null(chunk.key.as_deref()),
                "cause": chunk.cause.as_str(),
            })
        };
        self.sorted().iter().map(facts).collect()
    }

    /// An error if there are any.
    pub(crate) fn check(&self) -> Result<()> {
        match (self.sorted().len() as u64).saturating_add(self.more()) {
            0 => Ok(()),
            1 => Err(Failure::skipped("a chunk could not be read; its elements have the fill value")),
            count => {
                let count = number::grouped(count);
                Err(Failure::skipped(format!("{count} chunks could not be read; their elements have the fill value")))
            }
        }
    }
}
