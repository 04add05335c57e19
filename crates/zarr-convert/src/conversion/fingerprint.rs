//! Hashes by which documents are known again.

use zarr_meta::StoredNode;

/// FNV-1a hash of 64 bits: nobody gains by two byte strings that have the same hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Fingerprint(u64);

impl Fingerprint {
    pub(super) const fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    /// The hash of all bytes so far and of these.
    #[must_use]
    pub(super) fn with(self, text: &[u8]) -> Self {
        let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        Self(text.iter().fold(self.0, step))
    }

    /// The hash as [`with`](Self::with), with the length of the bytes as well, so that they are told from the bytes before and after
    /// them.
    #[must_use]
    pub(super) fn with_part(self, text: &[u8]) -> Self {
        self.with(&(text.len() as u64).to_le_bytes()).with(text)
    }

    pub(super) fn hex(self) -> String {
        format!("{:016x}", self.0)
    }
}

/// The documents of a node, each with its hash but for white space at its end.
pub(super) fn hashes(found: &StoredNode) -> Vec<(String, String)> {
    let hash = |text: &[u8]| Fingerprint::new().with(text.trim_ascii_end()).hex();
    found.own_documents().filter_map(|key| Some((key.to_owned(), hash(found.documents.get(key)?)))).collect()
}
