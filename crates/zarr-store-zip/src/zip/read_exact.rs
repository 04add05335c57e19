//! Reads of exactly so many bytes of the file.

use std::fs::File;
use std::io;

use crate::ZipFault;
use zarr_store::Error;

use super::Fault;

/// Reads `len` bytes at the offset `at`. If they are not inside the file, the fault is that `what` is bad.
pub(super) fn read_exact(file: &File, at: u64, len: u64, what: &'static str) -> Result<Vec<u8>, Fault> {
    let outside = ZipFault::Record { what, at };
    let size = file.metadata()?.len();
    if at.checked_add(len).is_none_or(|end| end > size) {
        return Err(outside.into());
    }
    let memory = Error::Memory { size: len };
    let Ok(len) = usize::try_from(len) else { return Err(memory.into()) };
    let mut bytes = Vec::new();
    if bytes.try_reserve_exact(len).is_err() {
        return Err(memory.into());
    }
    bytes.resize(len, 0);
    match read_exact_at(file, &mut bytes, at) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Err(outside.into()),
        read => Ok(read.map(|()| bytes)?),
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
}
