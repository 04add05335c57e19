//! Opening of a zip file: its end and its central directory.
//!
//! The end of the file is read first; it contains a short directory completely. Missing parts are read after that.

use std::ops::Range;

use smallvec::smallvec;
use zarr_store::{ByteRange, Bytes, Fetched, GetOptions};

use crate::ZipFault;

use super::directory::{self, Directory, Lack, Pieces, TAIL};
use super::plan::{Fault, Plan, Ranges, Step};

/// Opened zip file.
pub(super) struct Opened {
    pub(super) directory: Directory,
    /// Options that require the state of the file that the directory describes.
    pub(super) same_state: GetOptions,
    /// Size of the file in bytes.
    pub(super) size: u64,
}

/// Plan that finds and reads the central directory.
pub(super) struct Opening {
    options: GetOptions,
    size: Option<u64>,
    /// End of the file, until its size is known.
    tail: Option<Bytes>,
    pieces: Pieces,
    /// Range that is being read; `None` for the end of a file of unknown size.
    asked: Option<Range<u64>>,
}

impl Opening {
    pub(super) fn new() -> Self {
        Self {
            options: GetOptions::snapshot(),
            size: None,
            tail: None,
            pieces: Pieces { size: 0, pieces: Vec::new() },
            asked: None,
        }
    }

    fn read(&mut self, range: Range<u64>) -> Step<Opened> {
        self.asked = Some(range.clone());
        Step::Read(smallvec![ByteRange::Range(range)])
    }

    /// Parses the pieces that were read so far.
    fn look(&mut self) -> Result<Step<Opened>, Fault> {
        match directory::parse(&self.pieces) {
            Ok(directory) => {
                let same_state = std::mem::take(&mut self.options);
                Ok(Step::Done(Opened { directory, same_state, size: self.pieces.size }))
            }
            Err(Lack::Bytes(range)) => Ok(self.read(range)),
            Err(Lack::Fault(fault)) => Err(fault.into()),
        }
    }
}

impl Plan for Opening {
    type Output = Opened;

    fn step(&mut self, reply: Option<Fetched>) -> Result<Step<Opened>, Fault> {
        let Some(mut reply) = reply else { return Ok(Step::Read(smallvec![ByteRange::Suffix(TAIL)])) };
        if self.options.snapshot {
            self.options = GetOptions::if_match(reply.snapshot.take());
        }
        match (self.size, reply.size) {
            (Some(expected), Some(found)) if expected != found => return Err(replaced(found, expected).into()),
            (_, found) => self.size = self.size.or(found),
        }
        let bytes = (!reply.is_empty()).then(|| reply.into_bytes());
        let Some(size) = self.size else {
            // A reply without ranges has the size always.
            self.tail = bytes;
            return Ok(Step::Read(Ranges::new()));
        };
        self.pieces.size = size;
        let tail = self.tail.take().or_else(|| bytes.clone().filter(|_| self.asked.is_none()));
        if let Some(tail) = tail {
            let start = size.checked_sub(tail.len() as u64).ok_or_else(|| replaced(size, tail.len() as u64))?;
            self.pieces.pieces.push((start, tail));
        } else if let (Some(asked), Some(bytes)) = (self.asked.take(), bytes) {
            self.pieces.pieces.push((asked.start, bytes));
        }
        self.look()
    }

    fn is_short(&mut self, size: u64) -> Result<Step<Opened>, Fault> {
        if let Some(expected) = self.size {
            return Err(replaced(size, expected).into());
        }
        self.size = Some(size);
        Ok(self.read(size.saturating_sub(TAIL)..size))
    }

    fn options(&self) -> &GetOptions {
        &self.options
    }

    fn is_value(&self) -> bool {
        false
    }
}

/// Returns the fault for a file whose size has changed.
pub(super) fn replaced(found: u64, expected: u64) -> ZipFault {
    ZipFault::Replaced { found: format!("{found} bytes"), expected: format!("{expected} bytes") }
}
