//! How far the decoding of a chunk notices damage.

use super::Pipeline;
use crate::Protection;

impl Pipeline {
    /// How far decoding notices that `encoded`, the bytes of a chunk that is no shard, are others than those that were written: the most
    /// that one of the codecs does.
    pub fn protection(&self, encoded: &[u8]) -> Protection {
        // The bytes of the other codecs are not at hand without decoding.
        let (last, others) = match self.bytes.split_last() {
            Some((last, others)) => (last.protection(Some(encoded)), others),
            None => (Protection::None, &[][..]),
        };
        others.iter().map(|codec| codec.protection(None)).fold(last.max(self.to_bytes.protection()), Protection::max)
    }
}
