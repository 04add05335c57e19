//! Checksums of 32 bits before or after data.

use zarr_codec::Error;

/// Size of a checksum in bytes.
pub(crate) const SIZE: usize = 4;

/// Location of a checksum in the encoded bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Location {
    /// Before the data.
    Start,
    /// After the data.
    End,
}

impl Location {
    /// Words for the locations in metadata.
    pub(crate) const WORDS: [(&str, Self); 2] = [("start", Self::Start), ("end", Self::End)];

    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::End => "end",
        }
    }
}

/// Checksum with its location.
pub(crate) trait Sum {
    /// Name of the codec in errors.
    const NAME: &'static str;

    fn location(&self) -> Location;

    fn sum(&self, bytes: &[u8]) -> Result<u32, Error>;

    /// Verifies the checksum, and returns the data without it.
    fn cut<'b>(&self, bytes: &'b [u8]) -> Result<&'b [u8], Error> {
        let codec = Self::NAME;
        let parts = match self.location() {
            Location::Start => bytes.split_first_chunk::<SIZE>().map(|(sum, data)| (data, sum)),
            Location::End => bytes.split_last_chunk::<SIZE>(),
        };
        let found = bytes.len() as u64;
        let (data, sum) = parts.ok_or(Error::Truncated { codec, found, expected: SIZE as u64 })?;
        let (found, stored) = (self.sum(data)?, u32::from_le_bytes(*sum));
        if found != stored {
            return Err(Error::Checksum { codec, found: found.into(), stored: stored.into() });
        }
        Ok(data)
    }

    /// Appends the data with its checksum to `out`.
    fn append(&self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        let sum = self.sum(bytes)?.to_le_bytes();
        let size = bytes.len().saturating_add(SIZE);
        out.try_reserve(size).map_err(|_| Error::Allocation { size: size as u64 })?;
        let (first, second) = match self.location() {
            Location::Start => (&sum[..], bytes),
            Location::End => (bytes, &sum[..]),
        };
        out.extend_from_slice(first);
        out.extend_from_slice(second);
        Ok(())
    }
}
