//! A key that is copied though it belongs to no node.

use zarr_store::Key;

/// A key that belongs to no node, and is copied with its group.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CopiedKey {
    /// The key in the source.
    pub from: Key,
    /// The key in the target.
    pub to: Key,
}
