//! Keys that belong to no node and are copied with their group.

use zarr_store::Key;

/// Key that belongs to no node and is copied with its group.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CopiedKey {
    /// Key in the source.
    pub from: Key,
    /// Key in the target.
    pub to: Key,
}
