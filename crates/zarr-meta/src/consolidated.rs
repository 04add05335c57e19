//! Consolidated metadata: copies of the documents of all nodes below a group.
//!
//! Consolidated metadata is a snapshot and may be stale; the caller decides whether to trust it.

mod beside;
mod build;
mod copied;
mod found;
mod nodes;
mod read;
mod renew;
mod stale;

pub(crate) use beside::Beside;
pub(crate) use copied::Copied;
pub use copied::CopiedDocuments;
pub use found::{FoundConsolidated, found, keys};
pub use stale::{document_key, without_consolidated};

use crate::NodePath;
use crate::documents::INLINE;
use crate::error::{Error, ErrorKind, MAX_DOCUMENT_SIZE, Result};

/// Key of the consolidated metadata of version 2, relative to the group that it describes.
pub const V2_KEY: &str = ".zmetadata";

/// Place of the consolidated metadata of groups in a dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Consolidation {
    /// The dialect has no consolidated metadata.
    None,
    /// Member of the group's document.
    InGroup,
    /// Document of this name beside the document of each group.
    Beside(&'static str),
    /// Document with this key, for the root group only.
    #[cfg(feature = "drafts")]
    OfRoot(&'static str),
}

impl Consolidation {
    /// Returns whether a group at `path` may have consolidated metadata.
    pub(crate) fn at(self, path: &NodePath) -> bool {
        self == Self::InGroup || self.key(path).is_some()
    }

    /// Returns the key of the separate document with the consolidated metadata of the group at `path`; `None` if the dialect has no
    /// separate document for that group.
    pub(crate) fn key(self, path: &NodePath) -> Option<String> {
        match self {
            Self::Beside(name) => Some(path.key_of(name)),
            #[cfg(feature = "drafts")]
            Self::OfRoot(key) if path.is_root() => Some(key.to_owned()),
            _ => None,
        }
    }
}

/// Returns whether the document at `key` may hold consolidated metadata, and so may be larger than other documents.
pub fn is_key(key: &str) -> bool {
    matches!(key.rsplit('/').next(), Some("zarr.json" | V2_KEY))
}

/// Returns whether `text`, the first part that was read of the document at `key`, is cut off and contains the beginning of consolidated
/// metadata. Such a document may be as large as [`MAX_CONSOLIDATED_SIZE`](crate::MAX_CONSOLIDATED_SIZE) and has to be read again in full.
pub fn is_cut_off(key: &str, text: &[u8]) -> bool {
    let path: &[&str] = match key.rsplit('/').next() {
        Some("zarr.json") => &INLINE,
        Some(V2_KEY) => &["metadata"],
        _ => return false,
    };
    text.len() > MAX_DOCUMENT_SIZE && zarr_json::begins_in(text, path)
}

/// Use that a [`Probe`](crate::Probe) for a group makes of consolidated metadata in a separate document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Copies {
    /// Reads the consolidated metadata together with the documents of the group, and builds the group from its documents.
    Read,
    /// Reads only the consolidated metadata if the dialect is known, and builds the group from it. The documents of the group are read only
    /// if the consolidated metadata does not describe the group. If the dialect is unknown, behaves as [`Read`](Self::Read).
    Trusted,
}

/// Documents of all nodes below a group, as they were when the metadata was consolidated.
///
/// Version 3 stores them in the member `consolidated_metadata` of the group's document, version 2 in a document `.zmetadata`, and the
/// protocol drafts, as zarr-python 2 wrote them, in a document `meta/root/consolidated/.zmetadata`.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Consolidated {
    /// Documents by keys relative to the group, such as `a/zarr.json` or `a/.zarray`, in the stored order. In the protocol drafts: the
    /// documents of the whole hierarchy by their full keys, and the entry point document `zarr.json`.
    pub documents: CopiedDocuments,
    /// Names that could lead out of the hierarchy. The documents with these names are not in `documents`.
    pub refused: Vec<String>,
}

impl Consolidated {
    /// Checks that no name was refused.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Path`] naming the first refused name.
    pub fn check(&self) -> Result<()> {
        match self.refused.first() {
            None => Ok(()),
            Some(name) => {
                let found = format!("{name:?} in consolidated metadata");
                Err(Error::new(ErrorKind::Path, "", found, "the path of a node below the group"))
            }
        }
    }
}
