//! The bytes of an entry.

use std::fs::File;
use std::ops::Range;

use flate2::{Crc, Decompress, DecompressError, FlushDecompress, Status};

use crate::ZipFault;
use zarr_store::{ByteRange, Error, Fetched};

use super::directory::{LOCAL_SIZE, u16_at, u32_at};
use super::read_exact::{read_exact, read_exact_at};
use super::{DEFLATED, Entry, Fault, STORED};

/// Memory for values of up to so many bytes is allocated by the size in the directory alone.
const TRUSTED: u64 = 16 << 20;
/// And for larger values if their compression ratio is at most this.
const USUAL_RATIO: u64 = 16;
/// How many bytes are inflated at once to count the size of a value.
const PASSED: usize = 64 << 10;

const LOCAL: u32 = 0x0403_4b50;

impl Entry {
    /// Reads ranges of the value, which are inside it.
    pub(super) fn read(&self, file: &File, ranges: &[ByteRange], into: &mut Fetched) -> Result<(), Fault> {
        match self.method {
            STORED => self.read_stored(file, ranges, into),
            DEFLATED => self.read_deflated(file, ranges, into),
            method => Err(ZipFault::Method { name: self.name(), method }.into()),
        }
    }

    fn read_stored(&self, file: &File, ranges: &[ByteRange], into: &mut Fetched) -> Result<(), Fault> {
        let data = self.data(file)?;
        let mut total = 0_usize;
        for range in ranges {
            total = total.saturating_add(self.resolve(range)?.len());
        }
        into.reserve(total)?;
        for range in ranges {
            let at = self.resolve(range)?;
            let buffer = into.buffer(at.len())?;
            read_exact_at(file, buffer, data + at.start as u64)?;
            if *range == ByteRange::Full {
                self.check(buffer)?;
            }
        }
        Ok(())
    }

    fn read_deflated(&self, file: &File, ranges: &[ByteRange], into: &mut Fetched) -> Result<(), Fault> {
        let compressed = read_exact(file, self.data(file)?, self.compressed, "entry")?;
        if let [ByteRange::First(most)] = ranges
            && *most < self.size
        {
            return self.inflate_first(&compressed, into.buffer(self.resolve(&ranges[0])?.len())?);
        }
        if self.size > TRUSTED && self.size / USUAL_RATIO > self.compressed {
            self.check_size(&compressed)?;
        }
        let size = self.resolve(&ByteRange::Full)?.end;
        // One byte more than expected, to detect a stream that is too long.
        let room = size.checked_add(1).ok_or(Error::Memory { size: self.size })?;
        let buffer = into.buffer(room)?;
        let mut inflate = Decompress::new(false);
        let status = inflate.decompress(&compressed, buffer, FlushDecompress::Finish);
        self.check_end(&inflate, status)?;
        self.check(&buffer[..size])?;
        let mut parts = Vec::with_capacity(ranges.len());
        for range in ranges {
            parts.push((0, self.resolve(range)?));
        }
        let cut = into.recut(parts.into_iter());
        debug_assert!(cut, "ranges inside the value are inside the buffer");
        Ok(())
    }

    /// Reads the beginning of a value. The checksum is that of the whole value, and is not compared.
    fn inflate_first(&self, compressed: &[u8], into: &mut [u8]) -> Result<(), Fault> {
        let mut inflate = Decompress::new(false);
        let status = inflate.decompress(compressed, into, FlushDecompress::None);
        match status {
            Ok(_) if inflate.total_out() == into.len() as u64 => Ok(()),
            _ => Err(ZipFault::Deflate { name: self.name() }.into()),
        }
    }

    /// Inflates a value piece by piece, to compare its size with the directory before that much memory is allocated.
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

    /// Checks that a value ended where it must.
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

    fn check(&self, value: &[u8]) -> Result<(), ZipFault> {
        let mut crc = Crc::new();
        crc.update(value);
        if crc.sum() != self.crc {
            return Err(ZipFault::Checksum { name: self.name(), found: crc.sum(), stored: self.crc });
        }
        Ok(())
    }

    fn resolve(&self, range: &ByteRange) -> Result<Range<usize>, Error> {
        let memory = Error::Memory { size: self.size };
        let at = range.resolve(self.size).map(|at| (usize::try_from(at.start), usize::try_from(at.end)));
        match at {
            Some((Ok(start), Ok(end))) => Ok(start..end),
            _ => Err(memory),
        }
    }

    /// Where the data begins: behind the local header, which is read once and must be of this entry.
    fn data(&self, file: &File) -> Result<u64, Fault> {
        if let Some(data) = self.data.get() {
            return Ok(*data);
        }
        let what = "local header";
        let name = self.key.as_str().as_bytes();
        let bytes = read_exact(file, self.header, LOCAL_SIZE + name.len() as u64, what)?;
        let parse = || {
            let name_size = u16_at(&bytes, 26)?;
            let is_ours = u32_at(&bytes, 0)? == LOCAL && usize::from(name_size) == name.len() && bytes.ends_with(name);
            is_ours.then(|| u16_at(&bytes, 28)).flatten()
        };
        let Some(extra_size) = parse() else {
            return Err(ZipFault::Record { what, at: self.header }.into());
        };
        // The directory was checked without the extra field, so up to here nothing overflows.
        let data = self.header + LOCAL_SIZE + name.len() as u64;
        match data.checked_add(u64::from(extra_size)) {
            Some(data) if data.checked_add(self.compressed).is_some_and(|end| end <= self.limit) => {
                Ok(*self.data.get_or_init(|| data))
            }
            _ => Err(ZipFault::Overlap { name: self.name() }.into()),
        }
    }

    fn name(&self) -> String {
        self.key.to_string()
    }
}
