//! Nodes, chunks and other files that a conversion left out, since they cannot be read.

use crate::failure::{Failure, Result};
use crate::number;
use crate::object::{object, or_null};
use crate::report;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use zarr::convert::{Conversion, Progress, SkippedChunk, SkippedKey};
use zarr::meta::json::Value;

/// Nodes, chunks and other files that were left out so far.
#[derive(Debug)]
pub(crate) struct SkippedItems {
    /// Failures of the nodes that were left out.
    nodes: Vec<Failure>,
    chunks: Mutex<Vec<SkippedChunk>>,
    files: Mutex<Vec<SkippedKey>>,
    /// Number of items that earlier runs of the conversion left out.
    more: AtomicU64,
}

impl SkippedItems {
    /// Starts with the nodes that the conversion refuses.
    pub(crate) fn of(conversion: &Conversion) -> Self {
        let nodes = conversion.refused().iter().map(Failure::from).collect();
        Self { nodes, chunks: Mutex::default(), files: Mutex::default(), more: AtomicU64::new(0) }
    }

    /// Adds the chunk or file, if `progress` says that one was left out.
    pub(crate) fn add(&self, progress: &Progress<'_>) {
        match progress {
            Progress::Skipped(chunk) => {
                self.chunks.lock().unwrap_or_else(PoisonError::into_inner).push((*chunk).clone());
            }
            Progress::SkippedKey(key) => {
                self.files.lock().unwrap_or_else(PoisonError::into_inner).push((*key).clone());
            }
            Progress::MoreSkipped(more) => {
                self.more.fetch_add(*more, Ordering::Relaxed);
            }
            _ => {}
        }
    }

    /// Returns the chunks that were left out, sorted.
    fn sorted(&self) -> Vec<SkippedChunk> {
        let mut chunks = self.chunks.lock().unwrap_or_else(PoisonError::into_inner).clone();
        chunks.sort();
        chunks
    }

    fn files(&self) -> Vec<SkippedKey> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Prints a warning for each item that was left out, since the output does not list them.
    pub(crate) fn print(&self) {
        self.nodes.iter().for_each(|failure| report::warning(&format!("left out: {}", failure.line)));
        self.sorted().iter().for_each(|chunk| report::warning(&format!("left out: {chunk}")));
        self.files().iter().for_each(|file| report::warning(&format!("left out: {file}")));
        if self.more() > 0 {
            report::warning(&format!("left out by earlier runs: about {}", number::counted(self.more(), "more chunk")));
        }
    }

    /// Returns the approximate number of items that earlier runs left out, about which nothing else is known.
    pub(crate) fn more(&self) -> u64 {
        self.more.load(Ordering::Relaxed)
    }

    /// Returns the failures of the nodes that were left out, as JSON.
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

    /// Returns the files that belong to no node and were left out, as JSON.
    pub(crate) fn files_to_json(&self) -> Vec<Value> {
        let facts = |file: SkippedKey| Value::from(object! { "key": file.key.to_string(), "cause": file.cause });
        self.files().into_iter().map(facts).collect()
    }

    /// Returns an error if anything was left out.
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
        let files = match self.files().len() as u64 {
            0 => None,
            1 => Some("a file of no node could not be read and was left out".to_owned()),
            count => Some(format!("{} of no node could not be read and were left out", number::counted(count, "file"))),
        };
        let all: Vec<String> = [nodes, chunks, files].into_iter().flatten().collect();
        if all.is_empty() { Ok(()) } else { Err(Failure::skipped(all.join("; "))) }
    }
}
