//! Consolidated metadata: copies of the documents of all nodes below a group.
//!
//! It is a snapshot and may be stale; whether to trust it is the caller's business.

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
pub use found::{FoundCopy, found, keys};
pub use stale::{document_key, without_consolidated};

use crate::NodePath;
use crate::documents::INLINE;
use crate::error::{Error, ErrorKind, MAX_DOCUMENT_SIZE, Result};

/// The key of the consolidated metadata of version 2, below the prefix of the group it is for.
pub const V2_KEY: &str = ".zmetadata";

/// Where groups of a dialect have consolidated metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Consolidation {
    /// Nowhere.
    None,
    /// In the document of each group.
    InGroup,
    /// In a document of this name beside that of each group.
    Beside(&'static str),
    /// In a document with this key, for the root alone.
    #[cfg(feature = "drafts")]
    OfRoot(&'static str),
}

impl Consolidation {
    /// Whether a group at `path` may have some.
    pub(crate) fn at(self, path: &NodePath) -> bool {
        self == Self::InGroup || self.key(path).is_some()
    }

    /// The key of the document that holds it for a group at `path`, where that is not the group's own.
    pub(crate) fn key(self, path: &NodePath) -> Option<String> {
        match self {
            Self::Beside(name) => Some(path.key_of(name)),
            #[cfg(feature = "drafts")]
            Self::OfRoot(key) if path.is_root() => Some(key.to_owned()),
            _ => None,
        }
    }
}

/// Whether the document at `key` may have consolidated metadata, and so may be larger than others.
pub fn is_key(key: &str) -> bool {
    matches!(key.rsplit('/').next(), Some("zarr.json" | V2_KEY))
}

/// Whether the document at `key` has more than is read of it at first, and consolidated metadata begin in that: the document may then be
/// as large as [`MAX_CONSOLIDATED_SIZE`](crate::MAX_CONSOLIDATED_SIZE), and is to be read anew.
pub fn is_cut_off(key: &str, text: &[u8]) -> bool {
    let path: &[&str] = match key.rsplit('/').next() {
        Some("zarr.json") => &INLINE,
        Some(V2_KEY) => &["metadata"],
        _ => return false,
    };
    text.len() > MAX_DOCUMENT_SIZE && zarr_json::begins_in(text, path)
}

/// How a [`Probe`](crate::Probe) that expects a group takes consolidated metadata that has a document of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Copies {
    /// It is read with the documents of the group, which say what the group is.
    Read,
    /// As [`Read`](Self::Read); but where the dialect is known it is read alone, and says what the group is. The documents of the
    /// group are read only if it does not.
    Trusted,
}

/// The documents of all nodes below a group, as they were when somebody collected them.
///
/// In version 3 a member `consolidated_metadata` of the group's document, in version 2 a document `.zmetadata`, in the protocol
/// drafts as zarr-python 2 wrote them a document `meta/root/consolidated/.zmetadata`.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Consolidated {
    /// The documents by their keys relative to the group, `a/zarr.json` or `a/.zarray`, in the order stored. In the
    /// protocol drafts they are the documents of the whole hierarchy by their keys, with the entry point document
    /// `zarr.json`.
    pub documents: CopiedDocuments,
    /// Names that could lead out of the hierarchy. Their documents are left out.
    pub refused: Vec<String>,
}

impl Consolidated {
    /// Checks that no name had to be refused.
    ///
    /// # Errors
    /// [`ErrorKind::Path`] naming the first one.
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
