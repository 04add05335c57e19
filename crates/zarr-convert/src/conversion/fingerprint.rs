//! Hashes by which documents are compared.

use zarr_meta::StoredNode;

/// FNV-1a hash of 64 bits. It need not resist attacks, since nobody gains by a collision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Fingerprint(u64);

impl Fingerprint {
    pub(super) const fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    /// Returns the hash of all bytes so far followed by `text`.
    #[must_use]
    pub(super) fn with(self, text: &[u8]) -> Self {
        let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        Self(text.iter().fold(self.0, step))
    }

    /// Returns the hash of all bytes so far, the length of `text` and `text`. The length separates `text` from the bytes before and after
    /// it.
    #[must_use]
    pub(super) fn with_part(self, text: &[u8]) -> Self {
        self.with(&(text.len() as u64).to_le_bytes()).with(text)
    }

    pub(super) fn hex(self) -> String {
        format!("{:016x}", self.0)
    }
}

/// Returns the keys of the documents of a node, each with the hash of the document without trailing white space.
pub(super) fn hashes(found: &StoredNode) -> Vec<(String, String)> {
    let hash = |text: &[u8]| Fingerprint::new().with(text.trim_ascii_end()).hex();
    found.own_documents().filter_map(|key| Some((key.to_owned(), hash(found.documents.get(key)?)))).collect()
}
