//! The number of elements of a chunk, found from its encoded bytes.

use super::Pipeline;

impl Pipeline {
    /// Whether encoded bytes [tell](Self::decoded_count) of how many elements they are.
    pub fn tells_count(&self) -> bool {
        self.bytes.is_empty() && self.array.len() <= 1 && self.to_bytes.encoded_item_size().is_some()
    }

    /// How many elements a chunk of one dimension has that is encoded to `encoded`, where a codec of arrays at most changes
    /// elements that are stored one by one; `None` if that does not tell.
    pub fn decoded_count(&self, encoded: &[u8]) -> Option<u64> {
        let item = self.to_bytes.encoded_item_size().filter(|_| self.bytes.is_empty())?;
        match self.array.as_slice() {
            [] => (item > 0 && encoded.len().is_multiple_of(item)).then(|| (encoded.len() / item) as u64),
            [codec] => codec.decoded_count(encoded),
            _ => None,
        }
    }
}
