//! Which codecs of a pipeline compress.

use super::Pipeline;
use crate::Size;

impl Pipeline {
    /// The numbers of the compressors in the list of codecs that the pipeline was built from: the bytes-to-bytes codecs whose output is as
    /// long as the bytes let it be. A checksum or a shuffle is none.
    pub fn compressors(&self) -> Vec<usize> {
        const SOME: Size = Size::Exact(4096);
        let numbers = self.indices.iter().skip(self.array.len() + 1);
        let bytes = self.bytes.iter().zip(numbers);
        bytes.filter(|(codec, _)| codec.encoded_size(SOME).exact().is_none()).map(|(_, &number)| number).collect()
    }
}
