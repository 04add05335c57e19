//! Findings, counts and events of a check.

use crate::{Code, Severity};
use std::fmt;
use std::ops::Range;
use zarr_grid::ChunkIndex;
use zarr_hierarchy::Error;

/// Finding of a check: something wrong or noteworthy, with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// Kind of the finding.
    pub code: Code,
    /// Path of the node, `/a/b`; `None` if the finding belongs to no node.
    pub path: Option<String>,
    /// Key in the store, or a prefix, which ends in `/`; `None` if the finding belongs to no key.
    pub key: Option<String>,
    /// JSON pointer to the value in the document; `None` if the finding belongs to no value.
    pub pointer: Option<String>,
    /// Index of the chunk in the chunk grid; `None` if the finding belongs to no chunk.
    pub chunk: Option<ChunkIndex>,
    /// Index of the inner chunk in its shard, with one index per level for shards within shards. Empty if the finding belongs to no inner
    /// chunk.
    pub inner: Vec<ChunkIndex>,
    /// Range of bytes in the value of the key; `None` if the finding concerns no particular range.
    pub bytes: Option<Range<u64>>,
    /// Section of the convention that has the rule, such as `CF 8.1` or `OME-Zarr, "plate" metadata`; `None` if the finding concerns no
    /// convention.
    pub section: Option<&'static str>,
    /// Message: what was found, and what was expected.
    pub message: String,
    /// Advice: what to do about the finding.
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
            section: None,
            message: message.into(),
            advice: code.remedy().to_owned(),
        }
    }

    /// Makes the finding of an error, with the message and the place of the error.
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

    /// Severity of the finding, that of its code.
    #[must_use]
    pub fn severity(&self) -> Severity {
        self.code.severity()
    }

    /// Place of the finding in one line: the key, or else the path of the node, and then the pointer, the inner chunk and the bytes.
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

/// Shows one line: `error  a/c/0  codec bytes: 3 bytes, expected 4 [broken-chunk]`.
impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<7}  {}  {} [{}]", self.severity(), self.place(), self.message, self.code)
    }
}

/// Counts of what was checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CheckCounts {
    /// Number of nodes that were found.
    pub nodes: u64,
    /// Number of keys that were listed.
    pub keys: u64,
    /// Number of stored chunks (shards, if an array is sharded) that were checked.
    pub chunks: u64,
    /// Number of bytes of these chunks that were read.
    pub bytes: u64,
    /// Number of chunks in which a changed byte would not be noticed: they have no checksum, and codecs that accept any bytes.
    pub unprotected: u64,
    /// Number of chunks in which a changed byte is noticed only if it breaks the format of a codec.
    pub by_form: u64,
    /// Number of chunks with a checksum.
    pub by_checksum: u64,
    /// Number of chunks that were not checked: they are not in the sample, or their array cannot be opened.
    pub left_out: u64,
}

/// Result of a check: counts of what was checked, and of findings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// Counts of what was checked.
    pub checked: CheckCounts,
    /// Number of findings with the severity [`Severity::Error`].
    pub errors: u64,
    /// Number of findings with the severity [`Severity::Warning`].
    pub warnings: u64,
    /// Number of findings with the severity [`Severity::Note`].
    pub notes: u64,
}

impl Report {
    /// Whether there are no errors and no warnings, but possibly notes.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.errors == 0 && self.warnings == 0
    }
}

/// Event that a check reports while it runs.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Event {
    /// Something that the check found.
    Finding(Finding),
    /// Progress: the counts of what was checked so far.
    Progress(CheckCounts),
}
