//! Reads of local files.

use std::fs::File;
use std::io;

use zarr_store::{ByteRange, Bytes, Error, Fetched, GetOptions};

use crate::ZipFault;

use super::get::Getting;
use super::plan::{self, Fault, Reply, Source};

/// Reads a value.
pub(super) fn get(file: &File, getting: Getting<'_>) -> Result<Fetched, Fault> {
    let read = |into: &mut [u8], at: u64| read_value(file, into, at);
    getting.directly(read).unwrap_or_else(|| plan::run(&file, getting))
}

/// Open file as a source. It stays the same file if its name changes, so that its state need not be compared.
impl Source for &File {
    fn read(&self, ranges: &[ByteRange], _options: &GetOptions, is_value: bool) -> Result<Reply, Fault> {
        // Values lie within the length that was found at the opening; else the read says so.
        let size = if is_value { u64::MAX } else { self.metadata()?.len() };
        let mut total = 0_u64;
        for range in ranges {
            let Some(range) = range.resolve(size) else { return Ok(Reply::Short(size)) };
            total = total.saturating_add(range.end - range.start);
        }
        let memory = Error::Memory { size: total };
        let Ok(total) = usize::try_from(total) else { return Err(memory.into()) };
        let mut fetched = Fetched::new();
        if is_value {
            fetched.reserve(total)?;
        } else {
            fetched.size = Some(size);
        }
        for range in ranges.iter().filter_map(|range| range.resolve(size)) {
            // No more than the total.
            let len = usize::try_from(range.end - range.start).unwrap_or(total);
            if is_value {
                read_value(self, fetched.buffer(len)?, range.start)?;
            } else {
                // Memory of its own: the thread would keep that of the reply.
                let mut bytes = Vec::new();
                bytes.try_reserve_exact(len).map_err(|_| Error::Memory { size: len as u64 })?;
                bytes.resize(len, 0);
                read_value(self, &mut bytes, range.start)?;
                fetched.push(Bytes::from(bytes));
            }
        }
        Ok(Reply::Pieces(fetched))
    }
}

fn read_value(file: &File, into: &mut [u8], at: u64) -> Result<(), Fault> {
    match read_exact_at(file, into, at) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
            let found = format!("{} bytes", file.metadata()?.len());
            let expected = format!("at least {} bytes", at.saturating_add(into.len() as u64));
            Err(ZipFault::Replaced { found, expected }.into())
        }
        read => Ok(read?),
    }
}

/// Writes all of `bytes` at an offset.
pub(super) fn write_all_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    #[cfg(unix)]
    return std::os::unix::fs::FileExt::write_all_at(file, bytes, offset);
    #[cfg(windows)]
    {
        let mut done = 0;
        while let Some(rest) = bytes.get(done..).filter(|rest| !rest.is_empty()) {
            match std::os::windows::fs::FileExt::seek_write(file, rest, offset + done as u64) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(written) => done += written,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
    #[cfg(not(any(unix, windows)))]
    {
        let _ = (file, bytes, offset);
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// Reads from an offset until `into` is full, without moving the position of the file.
pub(super) fn read_exact_at(file: &File, into: &mut [u8], offset: u64) -> io::Result<()> {
    #[cfg(unix)]
    return std::os::unix::fs::FileExt::read_exact_at(file, into, offset);
    #[cfg(windows)]
    {
        let mut done = 0;
        while let Some(rest) = into.get_mut(done..).filter(|rest| !rest.is_empty()) {
            match std::os::windows::fs::FileExt::seek_read(file, rest, offset + done as u64) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(read) => done += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
    #[cfg(not(any(unix, windows)))]
    {
        let _ = (file, into, offset);
        Err(io::ErrorKind::Unsupported.into())
    }
}
