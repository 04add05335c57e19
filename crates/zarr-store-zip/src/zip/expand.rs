//! Decoding of entries that are compressed with bzip2 or LZMA, as Python's `zipfile` writes them.

use std::io::{self, Read};

use zarr_store::{ByteRange, Error, Fetched};

use crate::ZipFault;

use super::entry::{BZIP2, Entry, LZMA};
use super::inflate::{TRUSTED, USUAL_RATIO};
use super::plan::Fault;

/// Number of bytes that are decoded at a time to count the size of a value.
const PASSED: usize = 64 << 10;

/// Returns whether this build decodes entries of a compression method.
pub(super) const fn is_read(method: u16) -> bool {
    (method == BZIP2 && cfg!(feature = "bz2")) || (method == LZMA && cfg!(feature = "lzma"))
}

impl Entry {
    /// Decodes ranges of the value, which are inside it, from its compressed bytes.
    pub(super) fn expand(&self, compressed: &[u8], ranges: &[ByteRange]) -> Result<Fetched, Fault> {
        let mut into = Fetched::new();
        if let [ByteRange::First(most)] = ranges
            && *most < self.size
        {
            let first = into.buffer(self.resolve(&ranges[0])?.len())?;
            self.reader(compressed).and_then(|mut reader| reader.read_exact(first)).map_err(|_| self.bad_stream())?;
            return Ok(into);
        }
        if self.size > TRUSTED && self.size / USUAL_RATIO > self.compressed {
            self.count(compressed)?;
        }
        let buffer = into.buffer(self.resolve(&ByteRange::Full)?.end)?;
        let mut reader = self.reader(compressed).map_err(|_| self.bad_stream())?;
        let mut filled = 0;
        while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            match reader.read(rest).map_err(|_| self.bad_stream())? {
                0 => return Err(self.other_size(filled as u64).into()),
                count => filled += count,
            }
        }
        // A stream without an end of its own ends with the compressed bytes.
        if let Ok(1..) = reader.read(&mut [0]) {
            return Err(self.other_size(self.size.saturating_add(1)).into());
        }
        self.check(buffer)?;
        let parts = ranges.iter().map(|range| Ok((0, self.resolve(range)?))).collect::<Result<Vec<_>, Error>>()?;
        let cut = into.recut(parts.into_iter());
        debug_assert!(cut, "ranges inside the value are inside the buffer");
        Ok(into)
    }

    /// Decodes a value piece by piece, to compare its size with the directory before memory for it is allocated.
    fn count(&self, compressed: &[u8]) -> Result<(), ZipFault> {
        let mut reader = self.reader(compressed).map_err(|_| self.bad_stream())?;
        let mut passed = vec![0; PASSED];
        let mut found = 0_u64;
        while found < self.size {
            // Behind the last byte there may be no mark of the end, which is no fault.
            let left = usize::try_from(self.size - found).unwrap_or(usize::MAX).min(PASSED);
            match reader.read(passed.get_mut(..left).unwrap_or_default()).map_err(|_| self.bad_stream())? {
                0 => return Err(self.other_size(found)),
                count => found += count as u64,
            }
        }
        Ok(())
    }

    fn other_size(&self, found: u64) -> ZipFault {
        ZipFault::Size { name: self.name(), found, expected: self.size }
    }

    fn bad_stream(&self) -> ZipFault {
        let format = if self.method == BZIP2 { "bzip2" } else { "LZMA" };
        ZipFault::Stream { name: self.name(), format }
    }

    /// Returns a decoder for the compressed bytes.
    fn reader<'b>(&self, compressed: &'b [u8]) -> io::Result<Box<dyn Read + 'b>> {
        match self.method {
            #[cfg(feature = "bz2")]
            BZIP2 => Ok(Box::new(bzip2::bufread::MultiBzDecoder::new(compressed))),
            #[cfg(feature = "lzma")]
            LZMA => lzma(compressed, self.size),
            _ => {
                let _ = compressed;
                Err(io::ErrorKind::Unsupported.into())
            }
        }
    }
}

/// Returns a decoder for an LZMA stream, which follows the software version and the properties (APPNOTE 5.8.8).
#[cfg(feature = "lzma")]
fn lzma(compressed: &[u8], size: u64) -> io::Result<Box<dyn Read + '_>> {
    let bad = || io::Error::from(io::ErrorKind::InvalidData);
    let (head, stream) = compressed.split_first_chunk::<9>().ok_or_else(bad)?;
    let [_, _, 5, 0, properties, dictionary @ ..] = *head else { return Err(bad()) };
    // More than the value has is never used. Without the end of a stream, what is read by then counts.
    let most = u32::try_from(size).unwrap_or(u32::MAX).max(4096);
    let dictionary = u32::from_le_bytes(dictionary).min(most);
    let reader = lzma_rust2::LzmaReader::new_with_props(stream, u64::MAX, properties, dictionary, None)?;
    Ok(Box::new(reader))
}
