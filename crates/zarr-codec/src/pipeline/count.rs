//! Number of elements of a chunk, computed from its encoded bytes.

use super::Pipeline;

impl Pipeline {
    /// Whether [`decoded_count`](Self::decoded_count) can compute the number of elements from the encoded bytes.
    pub fn tells_count(&self) -> bool {
        self.bytes.is_empty() && self.array.len() <= 1 && self.to_bytes.encoded_item_size().is_some()
    }

    /// Returns the number of elements of the one-dimensional chunk whose encoded bytes are `encoded`; `None` if the bytes do not determine
    /// the number. Works for elements that are encoded one by one, with at most one array-to-array codec.
    pub fn decoded_count(&self, encoded: &[u8]) -> Option<u64> {
        let item = self.to_bytes.encoded_item_size().filter(|_| self.bytes.is_empty())?;
        match self.array.as_slice() {
            [] => (item > 0 && encoded.len().is_multiple_of(item)).then(|| (encoded.len() / item) as u64),
            [codec] => codec.decoded_count(encoded),
            _ => None,
        }
    }
}
