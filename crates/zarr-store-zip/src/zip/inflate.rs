//! Decoding of deflated entries.

use std::ops::Range;

use flate2::{Decompress, DecompressError, FlushDecompress, Status};
use zarr_store::{ByteRange, Error, Fetched};

use crate::ZipFault;

use super::entry::Entry;
use super::plan::Fault;

/// Greatest size in bytes of values for which the size in the directory is trusted for allocating memory.
pub(super) const TRUSTED: u64 = 16 << 20;
/// Greatest compression ratio of larger values for which the size in the directory is trusted for allocating memory.
pub(super) const USUAL_RATIO: u64 = 16;
/// Number of bytes that are inflated at a time to count the size of a value.
const PASSED: usize = 64 << 10;

impl Entry {
    /// Inflates ranges of the value, which are inside it, from its compressed bytes.
    pub(super) fn inflate(&self, compressed: &[u8], ranges: &[ByteRange]) -> Result<Fetched, Fault> {
        let mut into = Fetched::new();
        if let [ByteRange::First(most)] = ranges
            && *most < self.size
        {
            self.inflate_first(compressed, into.buffer(self.resolve(&ranges[0])?.len())?)?;
            return Ok(into);
        }
        if self.size > TRUSTED && self.size / USUAL_RATIO > self.compressed {
            self.check_size(compressed)?;
        }
        let size = self.resolve(&ByteRange::Full)?.end;
        // One byte more than expected, to detect a stream that is too long.
        let room = size.checked_add(1).ok_or(Error::Memory { size: self.size })?;
        let buffer = into.buffer(room)?;
        let mut inflate = Decompress::new(false);
        let status = inflate.decompress(compressed, buffer, FlushDecompress::Finish);
        self.check_end(&inflate, status)?;
        self.check(&buffer[..size])?;
        let mut parts = Vec::with_capacity(ranges.len());
        for range in ranges {
            parts.push((0, self.resolve(range)?));
        }
        let cut = into.recut(parts.into_iter());
        debug_assert!(cut, "ranges inside the value are inside the buffer");
        Ok(into)
    }

    /// Inflates the beginning of a value. Does not compare the checksum, which is that of the whole value.
    fn inflate_first(&self, compressed: &[u8], into: &mut [u8]) -> Result<(), ZipFault> {
        let mut inflate = Decompress::new(false);
        let status = inflate.decompress(compressed, into, FlushDecompress::None);
        match status {
            Ok(_) if inflate.total_out() == into.len() as u64 => Ok(()),
            _ => Err(ZipFault::Deflate { name: self.name() }),
        }
    }

    /// Inflates a value piece by piece, to compare its size with the directory before memory for it is allocated.
    fn check_size(&self, compressed: &[u8]) -> Result<(), ZipFault> {
        let mut inflate = Decompress::new(false);
        let mut passed = vec![0; PASSED];
        loop {
            let at = usize::try_from(inflate.total_in()).unwrap_or(usize::MAX);
            let (rest, before) = (compressed.get(at..).unwrap_or_default(), inflate.total_out());
            let status = inflate.decompress(rest, &mut passed, FlushDecompress::None);
            let goes_on = matches!(status, Ok(Status::Ok)) && before < inflate.total_out();
            if !goes_on || inflate.total_out() > self.size {
                return self.check_end(&inflate, status);
            }
        }
    }

    /// Checks that the stream ended at the expected size.
    fn check_end(&self, inflate: &Decompress, status: Result<Status, DecompressError>) -> Result<(), ZipFault> {
        let size = || ZipFault::Size { name: self.name(), found: inflate.total_out(), expected: self.size };
        if inflate.total_out() > self.size {
            return Err(size());
        }
        if !matches!(status, Ok(Status::StreamEnd)) || inflate.total_in() != self.compressed {
            return Err(ZipFault::Deflate { name: self.name() });
        }
        if inflate.total_out() < self.size { Err(size()) } else { Ok(()) }
    }

    /// Compares the checksum of a whole value.
    pub(super) fn check(&self, value: &[u8]) -> Result<(), ZipFault> {
        let found = crc32fast::hash(value);
        if found != self.crc {
            return Err(ZipFault::Checksum { name: self.name(), found, stored: self.crc });
        }
        Ok(())
    }

    /// Converts a range of the value to indices.
    pub(super) fn resolve(&self, range: &ByteRange) -> Result<Range<usize>, Error> {
        let memory = Error::Memory { size: self.size };
        let at = range.resolve(self.size).map(|at| (usize::try_from(at.start), usize::try_from(at.end)));
        match at {
            Some((Ok(start), Ok(end))) => Ok(start..end),
            _ => Err(memory),
        }
    }
}
