//! Grade of how reliably the decoding of a chunk detects damage.

use super::Pipeline;
use crate::Protection;

impl Pipeline {
    /// Returns how reliably decoding detects changed bytes of a chunk: the highest grade among the codecs. `encoded` are the bytes of a
    /// chunk, if the caller has them: the grade of some formats depends on the bytes.
    pub fn protection(&self, encoded: Option<&[u8]>) -> Protection {
        let Some((last, others)) = self.bytes.split_last() else { return self.to_bytes.protection(encoded) };
        // The bytes of the other codecs are not at hand without decoding.
        let first = last.protection(encoded).max(self.to_bytes.protection(None));
        others.iter().map(|codec| codec.protection(None)).fold(first, Protection::max)
    }
}
