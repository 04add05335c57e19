//! The bytes of an entry.

use std::fs::File;
use std::io;
use std::ops::Range;

use flate2::{Crc, Decompress, DecompressError, FlushDecompress, Status};

use crate::filesystem::{read_at, read_full_at};
use crate::{ByteRange, Error, Fetched, ZipFault};

use super::directory::{LOCAL_SIZE, read_exact, u16_at, u32_at};
use super::{DEFLATED, Entry, Fault, STORED};

/// Memory for values of so many bytes is taken on the word of the directory.
const TRUSTED: u64 = 16 << 20;
/// And for larger ones that are not compressed to less than this part of them.
const USUAL_RATIO: u64 = 16;
/// How much of a value is inflated at once that is not kept.
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
            if read_full_at(|part, at| read_at(file, part, at), buffer, data + at.start as u64)? < buffer.len() {
                return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
            }
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
        // One byte more than due, to see a stream that does not end where it must.
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

    /// The beginning of a value, of which more is not wanted. Its checksum is that of all of it, and is not compared.
    fn inflate_first(&self, compressed: &[u8], into: &mut [u8]) -> Result<(), Fault> {
        let mut inflate = Decompress::new(false);
        let status = inflate.decompress(compressed, into, FlushDecompress::None);
        match status {
            Ok(_) if inflate.total_out() == into.len() as u64 => Ok(()),
            _ => Err(ZipFault::Deflate { name: self.name() }.into()),
        }
    }

    /// Inflates a value without keeping it: whether it has the size that the directory says is known before that much memory is
    /// taken for it.
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
