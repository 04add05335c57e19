//! Findings, and what a check counts.

use crate::{Code, Severity};
use std::fmt;
use std::ops::Range;
use zarr_grid::ChunkIndex;
use zarr_hierarchy::Error;

/// Something that a check found.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// Kind of the finding.
    pub code: Code,
    /// The node, `/a/b`, if the finding belongs to one.
    pub path: Option<String>,
    /// The key in the store. A prefix ends in `/`.
    pub key: Option<String>,
    /// The value in a document, as a JSON pointer.
    pub pointer: Option<String>,
    /// The chunk, by its index in the grid.
    pub chunk: Option<ChunkIndex>,
    /// The inner chunk of a shard, by its index in there; in shards within shards one for each level.
    pub inner: Vec<ChunkIndex>,
    /// The bytes of the value, where a part of it is meant.
    pub bytes: Option<Range<u64>>,
    /// Message: the thing that was found, and the one that was expected.
    pub message: String,
    /// Advice: the action to take about the finding.
    pub advice: String,
}

impl Finding {
    pub(crate) fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            path: None,
            key: None,
            pointer: None,
            chunk: None,
            inner: Vec::new(),
            bytes: None,
            message: message.into(),
            advice: code.remedy().to_owned(),
        }
    }

    /// The finding for an error, at the place that the error names, and in its words.
    pub(crate) fn of(code: Code, error: &Error) -> Self {
        let location = error.location();
        let offset = location.offset.map(|offset| offset..offset.saturating_add(1));
        let mut finding = Self {
            path: location.path.clone(),
            key: location.key.clone(),
            pointer: location.pointer.clone().filter(|pointer| !pointer.is_empty()),
            chunk: location.chunk.clone(),
            bytes: offset,
            ..Self::new(code, error.message())
        };
        if let Some(hint) = error.hint() {
            finding.advice = hint.to_owned();
        }
        finding
    }

    pub(crate) fn at_path(self, path: impl fmt::Display) -> Self {
        Self { path: Some(path.to_string()), ..self }
    }

    pub(crate) fn at_key(self, key: impl fmt::Display) -> Self {
        Self { key: Some(key.to_string()), ..self }
    }

    /// The severity of the finding.
    #[must_use]
    pub fn severity(&self) -> Severity {
        self.code.severity()
    }

    /// The place of the finding, in one line: the key or else the node, and the pointer, or the chunk with its part.
    #[must_use]
    pub fn place(&self) -> String {
        let mut place = match (&self.key, &self.path) {
            (Some(key), _) => key.clone(),
            (None, Some(path)) => path.clone(),
            (None, None) => "/".to_owned(),
        };
        if let Some(pointer) = &self.pointer {
            place.push_str(&format!("#{pointer}"));
        }
        for inner in &self.inner {
            place.push_str(&format!(" inner {:?}", inner.as_slice()));
        }
        if let Some(bytes) = &self.bytes {
            match bytes.end == bytes.start + 1 {
                true => place.push_str(&format!(" byte {}", bytes.start)),
                false => place.push_str(&format!(" bytes {}..{}", bytes.start, bytes.end)),
            }
        }
        place
    }
}

/// One line: `error  a/c/0  codec bytes: 3 bytes, expected 4 [broken-chunk]`.
impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<7}  {}  {} [{}]", self.severity(), self.place(), self.message, self.code)
    }
}

/// Counts of the things that were checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CheckCounts {
    /// Nodes that were found.
    pub nodes: u64,
    /// Keys that were listed.
    pub keys: u64,
    /// Stored chunks (shards, if an array is sharded) that were looked at.
    pub chunks: u64,
    /// Bytes of them that were read.
    pub bytes: u64,
    /// Chunks of which nothing would notice a changed byte: no checksum, and codecs that take any bytes.
    pub unprotected: u64,
    /// Chunks of which a changed byte is noticed only if it breaks the format of a codec.
    pub by_form: u64,
    /// Chunks with a checksum.
    pub by_checksum: u64,
    /// Chunks that were left out: of a sample, or of an array that cannot be opened.
    pub left_out: u64,
}

/// The result of a check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// The counts of the things that were checked.
    pub checked: CheckCounts,
    /// Findings that data or metadata cannot be read.
    pub errors: u64,
    /// Findings that are warnings.
    pub warnings: u64,
    /// Findings that are notes.
    pub notes: u64,
}

impl Report {
    /// Whether there is nothing but notes.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.errors == 0 && self.warnings == 0
    }
}

/// Events that a check reports while it runs.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Event {
    /// The check found something.
    Finding(Finding),
    /// The progress: the counts of all that is checked so far.
    Progress(CheckCounts),
}
