//! Chunks that are listed, collected to be checked together.

use crate::hierarchy::Hierarchy;
use crate::sink::Sink;
use crate::{CheckOptions, Code, Finding, Level};
use std::collections::HashMap;
use zarr_array::{CheckDepth, CheckedChunk, ChunkFault, ChunkFaultKind, ErrorKind, Protection};
use zarr_grid::{ChunkIndex, Region, total_size};
use zarr_hierarchy::{Error, Result};
use zarr_store::Key;

/// Number of chunks that are checked together, enough for all threads.
const BATCH: usize = 1024;
/// Maximum number of chunks of an array that are requested one by one in a store that cannot list.
const MOST: u64 = 1 << 24;

/// Collection of chunks of one array that are to be checked together, and counts of the stored chunks of all arrays.
pub(crate) struct Chunks<'c, 'e> {
    hierarchy: &'c Hierarchy,
    options: &'c CheckOptions,
    sink: &'c Sink<'e>,
    /// Number of the array, in the nodes of the hierarchy, to which the waiting chunks belong.
    array: usize,
    waiting: Vec<(Key, ChunkIndex)>,
    /// Number of stored chunks of each array, by the number of the array.
    stored: HashMap<usize, u64>,
}

impl<'c, 'e> Chunks<'c, 'e> {
    pub(crate) fn new(hierarchy: &'c Hierarchy, options: &'c CheckOptions, sink: &'c Sink<'e>) -> Self {
        Self { hierarchy, options, sink, array: 0, waiting: Vec::new(), stored: HashMap::new() }
    }

    /// Adds a stored chunk of an array.
    pub(crate) fn add(&mut self, array: usize, key: &Key, chunk: ChunkIndex) -> Result<()> {
        *self.stored.entry(array).or_default() += 1;
        if self.is_wanted(array, key) { self.wait(array, key.clone(), chunk) } else { Ok(()) }
    }

    /// Whether the chunk at `key` is to be checked. If not, it is counted as left out.
    fn is_wanted(&self, array: usize, key: &Key) -> bool {
        let is_wanted = match (self.options.level, self.hierarchy.array(array)) {
            (Level::Chunks, Some(_)) => true,
            (Level::Indexes, Some(opened)) => opened.is_sharded(),
            _ => false,
        };
        let is_wanted = is_wanted && self.options.takes(key.as_str());
        if !is_wanted && self.options.level == Level::Chunks {
            self.sink.count(|checked| checked.left_out += 1);
        }
        is_wanted
    }

    fn wait(&mut self, array: usize, key: Key, chunk: ChunkIndex) -> Result<()> {
        if self.array != array {
            self.flush()?;
            self.array = array;
        }
        self.waiting.push((key, chunk));
        if self.waiting.len() >= BATCH { self.flush() } else { Ok(()) }
    }

    /// Checks the chunks that are waiting.
    fn flush(&mut self) -> Result<()> {
        let chunks = std::mem::take(&mut self.waiting);
        let Some(array) = self.hierarchy.array(self.array).filter(|_| !chunks.is_empty()) else { return Ok(()) };
        let depth = if self.options.level == Level::Chunks { CheckDepth::Values } else { CheckDepth::Indexes };
        let path = array.path().to_string();
        let done = array.check_chunks(&chunks, depth, &|chunk| self.checked(&path, chunk));
        // A store that gives nothing any more ends the check of this array, and not of the others.
        if let Err(error) = done {
            self.sink.find(Finding::of(Code::Unreadable, &error));
        }
        self.sink.go_on()
    }

    fn checked(&self, path: &str, chunk: CheckedChunk) {
        if chunk.is_stored {
            self.sink.count(|checked| {
                checked.chunks += 1;
                checked.bytes = checked.bytes.saturating_add(chunk.bytes);
                match chunk.protection {
                    Some(Protection::None) => checked.unprotected += 1,
                    Some(Protection::Form) => checked.by_form += 1,
                    Some(_) => checked.by_checksum += 1,
                    None => {}
                }
            });
        }
        for fault in &chunk.faults {
            self.sink.find(finding(path, &chunk, fault));
        }
        let more = |code, count: u64, what: &str| {
            let finding = Finding::new(code, format!("{count} more {what}")).at_path(path).at_key(&chunk.key);
            self.sink.find(Finding { chunk: Some(chunk.chunk.clone()), ..finding });
        };
        if chunk.more_faults > 0 {
            more(Code::MoreFaults, chunk.more_faults, "faults of this shard");
        }
        if chunk.more_shared > 0 {
            more(Code::ShardShared, chunk.more_shared, "inner chunks that have the same bytes as others");
        }
    }

    /// Checks the remaining chunks, and reports the numbers of chunks that are not stored.
    pub(crate) fn finish(mut self) -> Result<()> {
        self.flush()?;
        for (number, node) in self.hierarchy.nodes.iter().enumerate() {
            let (Some(array), Some(&stored)) = (self.hierarchy.array(number), self.stored.get(&number)) else {
                continue;
            };
            let count = total_size(&array.chunk_grid().grid_shape(), 1);
            if u128::from(stored) < count {
                let missing = count - u128::from(stored);
                let message = format!("{missing} of {count} chunks are not stored");
                self.sink.find(Finding::new(Code::MissingChunks, message).at_path(&node.path));
            }
        }
        Ok(())
    }

    /// Adds the chunks of all grids, for a store that cannot list. If a chunk may have one of several keys, each is requested.
    pub(crate) fn add_all(&mut self) -> Result<()> {
        for number in 0..self.hierarchy.nodes.len() {
            let Some(array) = self.hierarchy.array(number) else { continue };
            let keys = zarr_hierarchy::chunk_keys::ChunkKeys::new(array.found())?;
            let overlaps = array.chunk_grid().intersect(&Region::whole(array.shape()));
            if overlaps.len() > MOST {
                let message = format!("{} chunks, and a store that cannot list: none is asked for", overlaps.len());
                self.sink.find(Finding::new(Code::CannotList, message).at_path(array.path()));
                continue;
            }
            for overlap in &overlaps {
                if self.is_wanted(number, &keys.key(&overlap.index)?) {
                    for key in keys.keys_of(&overlap.index) {
                        self.wait(number, key?, overlap.index.clone())?;
                    }
                }
            }
        }
        self.flush()
    }
}

fn code_of(error: &Error) -> Code {
    match error.kind() {
        ErrorKind::ShardIndex => Code::ShardIndex,
        ErrorKind::ChecksumMismatch => Code::ChecksumMismatch,
        ErrorKind::Limit => Code::ChunkOverLimit,
        ErrorKind::Conflict => Code::ChangingChunk,
        ErrorKind::UnknownExtension => Code::UnknownExtension,
        ErrorKind::Store | ErrorKind::NotFound | ErrorKind::Path => Code::Unreadable,
        _ => Code::BrokenChunk,
    }
}

fn finding(path: &str, chunk: &CheckedChunk, fault: &ChunkFault) -> Finding {
    let code = match &fault.kind {
        ChunkFaultKind::Broken(error) => code_of(error),
        ChunkFaultKind::Overlaps(_) => Code::ShardOverlap,
        ChunkFaultKind::Shares(_) => Code::ShardShared,
        _ => Code::BrokenChunk,
    };
    Finding {
        chunk: Some(chunk.chunk.clone()),
        inner: fault.inner.clone(),
        bytes: fault.bytes.clone(),
        ..Finding::new(code, fault.message()).at_path(path).at_key(&chunk.key)
    }
}
