//! How far the decoding of a chunk notices damage.

use super::Pipeline;
use crate::Protection;

impl Pipeline {
    /// How far decoding notices that the bytes of a chunk are others than those that were written, by `encoded`, where these are at hand:
    /// the most that one of the codecs does.
    pub fn protection(&self, encoded: Option<&[u8]>) -> Protection {
        let Some((last, others)) = self.bytes.split_last() else { return self.to_bytes.protection(encoded) };
        // The bytes of the other codecs are not at hand without decoding.
        let first = last.protection(encoded).max(self.to_bytes.protection(None));
        others.iter().map(|codec| codec.protection(None)).fold(first, Protection::max)
    }
}
