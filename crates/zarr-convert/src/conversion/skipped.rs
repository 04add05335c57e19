//! Chunks and other keys of the source that cannot be read.

use std::fmt;
use zarr_array::{Array, ArrayData};
use zarr_grid::{ChunkIndex, Region};
use zarr_hierarchy::{Error, ErrorKind, Result};
use zarr_json::pointer::At;
use zarr_json::{Map, Value};
use zarr_meta::NodePath;
use zarr_store::Key;

/// Greatest length of a cause in bytes. Longer causes are cut.
const LONGEST: usize = 400;

/// Chunk of the source that could not be read or decoded. If a conversion [keeps going](super::ConvertOptions#structfield.keep_going), the
/// elements of the chunk have the fill value in the target.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct SkippedChunk {
    /// Path of the array in the source.
    pub path: NodePath,
    /// Index of the chunk (or shard).
    pub chunk: Vec<u64>,
    /// Key of the chunk in the source, if it is known.
    pub key: Option<String>,
    /// Message of the error that occurred when the chunk was read.
    pub cause: String,
}

impl fmt::Display for SkippedChunk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: chunk {:?}: ", self.path, self.chunk)?;
        if let Some(key) = &self.key {
            write!(f, "key {key}: ")?;
        }
        f.write_str(&self.cause)
    }
}

/// Key of the source that belongs to no node and could not be read. If a conversion [keeps
/// going](super::ConvertOptions#structfield.keep_going), the target lacks it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct SkippedKey {
    /// The key in the source.
    pub key: Key,
    /// Message of the error that occurred when the key was read.
    pub cause: String,
}

impl fmt::Display for SkippedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "key {}: {}", self.key, self.cause)
    }
}

impl SkippedKey {
    pub(super) fn new(key: &Key, error: &Error) -> Self {
        Self { key: key.clone(), cause: cause(error) }
    }
}

/// Returns the message of an error, cut to [`LONGEST`] bytes.
fn cause(error: &Error) -> String {
    let mut cause = error.message_with_causes();
    if cause.len() > LONGEST {
        cause.truncate((0..=LONGEST).rev().find(|&end| cause.is_char_boundary(end)).unwrap_or(0));
        cause.push_str("...");
    }
    cause
}

impl SkippedChunk {
    pub(super) fn new(path: &NodePath, chunk: &[u64], error: &Error) -> Self {
        Self { path: path.clone(), chunk: chunk.to_vec(), key: error.location().key.clone(), cause: cause(error) }
    }

    pub(super) fn to_value(&self) -> Value {
        let mut map = Map::new();
        map.insert("path", self.path.to_string());
        map.insert("chunk", self.chunk.clone());
        if let Some(key) = &self.key {
            map.insert("key", key.as_str());
        }
        map.insert("cause", self.cause.as_str());
        Value::Object(map)
    }

    pub(super) fn parse(at: &At<'_>) -> Result<Self, zarr_meta::Error> {
        let path = at.member("path")?;
        let key = match at.get("key") {
            Some(key) => Some(key.text()?.to_owned()),
            None => None,
        };
        Ok(Self {
            path: NodePath::parse(path.text()?).map_err(|_| path.invalid("the path of a node"))?,
            chunk: at.member("chunk")?.sizes()?,
            key,
            cause: at.member("cause")?.text()?.to_owned(),
        })
    }
}

/// Returns whether an error concerns one chunk, so that other chunks may be readable.
pub(super) fn is_of_chunk(error: &Error) -> bool {
    match error.kind() {
        ErrorKind::CorruptChunk | ErrorKind::ChecksumMismatch | ErrorKind::ShardIndex => true,
        // What may pass is no fault of the chunk.
        ErrorKind::Store => !error.is_retryable(),
        _ => false,
    }
}

/// Reads a region with unreadable chunks: their elements have the fill value, and `skip` is called for each of them. `chunks` holds the
/// stored chunks; `None` if all chunks are to be read.
pub(super) fn read_good(
    source: &Array,
    region: &Region,
    chunks: Option<&[ChunkIndex]>,
    skip: &dyn Fn(SkippedChunk) -> Result<()>,
) -> Result<ArrayData> {
    let grid = source.chunk_grid();
    let all: Vec<ChunkIndex> = match chunks {
        Some(chunks) => chunks.to_vec(),
        None => grid.intersect(region).iter().map(|overlap| overlap.index).collect(),
    };
    let mut good = Vec::new();
    for chunk in all {
        let Some(common) = grid.chunk_region(&chunk).overlap(region) else { continue };
        match source.read_data(&common) {
            Ok(_) => good.push(chunk),
            Err(error) if is_of_chunk(&error) => skip(SkippedChunk::new(source.path(), &chunk, &error))?,
            Err(error) => return Err(error),
        }
    }
    source.read_stored(region, &good)
}
