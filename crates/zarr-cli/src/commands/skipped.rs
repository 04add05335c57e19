//! Nodes and chunks that a conversion left out, since they cannot be read.

use crate::failure::{Failure, Result};
use crate::number;
use crate::object::{object, or_null};
use crate::report;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use zarr::convert::{Conversion, Progress, SkippedChunk};
use zarr::meta::json::Value;

/// Nodes and chunks that were left out so far.
#[derive(Debug)]
pub(crate) struct Skipped {
    /// Why nodes were.
    nodes: Vec<Failure>,
    chunks: Mutex<Vec<SkippedChunk>>,
    /// How many more earlier runs left out.
    more: AtomicU64,
}

impl Skipped {
    /// Begins with the nodes that a conversion leaves out.
    pub(crate) fn of(conversion: &Conversion) -> Self {
        let nodes = conversion.refused().iter().map(Failure::from).collect();
        Self { nodes, chunks: Mutex::default(), more: AtomicU64::new(0) }
    }

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
        self.nodes.iter().for_each(|failure| report::warning(&format!("left out: {}", failure.line)));
        self.sorted().iter().for_each(|chunk| report::warning(&format!("left out: {chunk}")));
        if self.more() > 0 {
            report::warning(&format!("left out by earlier runs: about {}", number::counted(self.more(), "more chunk")));
        }
    }

    /// About how many more earlier runs left out, of which no more is known.
    pub(crate) fn more(&self) -> u64 {
        self.more.load(Ordering::Relaxed)
    }

    /// Why nodes were left out, as JSON.
    pub(crate) fn nodes_to_json(&self) -> Vec<Value> {
        self.nodes.iter().map(|failure| Value::from(failure.to_json())).collect()
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
        let nodes = match self.nodes.len() as u64 {
            0 => None,
            1 => Some("a node could not be converted and was left out".to_owned()),
            count => Some(format!("{} could not be converted and were left out", number::counted(count, "node"))),
        };
        let chunks = match (self.sorted().len() as u64).saturating_add(self.more()) {
            0 => None,
            1 => Some("a chunk could not be read; its elements have the fill value".to_owned()),
            count => {
                let count = number::counted(count, "chunk");
                Some(format!("{count} could not be read; their elements have the fill value"))
            }
        };
        match (nodes, chunks) {
            (None, None) => Ok(()),
            (Some(one), None) | (None, Some(one)) => Err(Failure::skipped(one)),
            (Some(nodes), Some(chunks)) => Err(Failure::skipped(format!("{nodes}; {chunks}"))),
        }
    }
}
