//! Positions of the compressors among the codecs of a pipeline.

use super::Pipeline;
use crate::Size;

impl Pipeline {
    /// Returns the positions of the compressors in the list of codecs that the pipeline was built from. Compressors are the bytes-to-bytes
    /// codecs whose output size depends on the data; checksums and shuffles are not.
    pub fn compressors(&self) -> Vec<usize> {
        const SOME: Size = Size::Exact(4096);
        let numbers = self.indices.iter().skip(self.array.len() + 1);
        let bytes = self.bytes.iter().zip(numbers);
        bytes.filter(|(codec, _)| codec.encoded_size(SOME).exact().is_none()).map(|(_, &number)| number).collect()
    }
}
