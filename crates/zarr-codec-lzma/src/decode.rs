//! Decompression of lzma data.

use crate::filter::{Branch, Dictionary, Filter, LzmaVersion};
use crate::format::{Format, NAME};
use lzma_rust2::filter::bcj::BcjReader;
use lzma_rust2::filter::delta::DeltaReader;
use lzma_rust2::{Lzma2Reader, LzmaReader, XzReader};
use std::io::{self, ErrorKind, Read};
use zarr_codec::{Error, Sink};

/// Maximum number of bytes read at once. The library allocates as much dictionary as bytes are requested.
const STEP: usize = 128 << 10;
/// First bytes of every xz stream.
const XZ_MAGIC: &[u8] = b"\xfd7zXZ\0";
/// Size of a stream that ends with an end marker.
const UNKNOWN: u64 = u64::MAX;
/// Memory limit of the library in KiB: none. Dictionaries grow with the decoded bytes, which `Sink` bounds.
const NO_LIMIT: u32 = u32::MAX;

/// Decodes all of `bytes`, and appends the decoded bytes to `out`.
///
/// # Errors
/// [`Error::CutOff`], [`Error::TooLong`], [`Error::Corrupt`] or [`Error::Allocation`].
pub(crate) fn decode(
    format: Format,
    filters: &[Filter],
    dictionary: &Dictionary,
    bytes: &[u8],
    out: &mut Sink<'_>,
) -> Result<(), Error> {
    let left = match format {
        Format::Xz => return xz(bytes, out),
        Format::Alone => {
            let reader = LzmaReader::new_mem_limit(bytes, NO_LIMIT, None).map_err(|error| failed(&error, bytes))?;
            let mut source = Source::One(strict(reader));
            read(&mut source, bytes, out)?;
            source.left()
        }
        Format::Raw => {
            let mut source = Source::raw(dictionary, bytes).map_err(|error| failed(&error, bytes))?;
            let filters = filters.iter().rev();
            let mut reader = filters.fold(Box::new(&mut source) as Box<dyn Read>, |inner, filter| undo(filter, inner));
            read(&mut *reader, bytes, out)?;
            drop(reader);
            source.left()
        }
    };
    if left > 0 {
        return Err(too_long(bytes, left));
    }
    Ok(())
}

/// Decodes consecutive xz streams, each followed by zero bytes whose number is a multiple of 4.
fn xz(bytes: &[u8], out: &mut Sink<'_>) -> Result<(), Error> {
    let mut rest = bytes;
    loop {
        let mut reader = XzReader::new_mem_limit(rest, false, NO_LIMIT);
        read(&mut reader, bytes, out)?;
        rest = reader.into_inner();
        let padding = rest.iter().take_while(|&&byte| byte == 0).count() & !3;
        let next = rest.get(padding..).unwrap_or_default();
        if next.is_empty() {
            return Ok(());
        }
        let begins = next.get(..XZ_MAGIC.len()).unwrap_or(next);
        if !XZ_MAGIC.starts_with(begins) {
            return Err(too_long(bytes, rest.len()));
        }
        rest = next;
    }
}

/// Decompressor at the innermost position of a chain of filters.
enum Source<'b> {
    One(Box<LzmaReader<&'b [u8]>>),
    Two(Box<Lzma2Reader<&'b [u8]>>),
}

impl<'b> Source<'b> {
    fn raw(by: &Dictionary, bytes: &'b [u8]) -> io::Result<Self> {
        Ok(match by.lzma {
            LzmaVersion::One => {
                Self::One(strict(LzmaReader::new(bytes, UNKNOWN, by.lc, by.lp, by.pb, by.dict_size, None)?))
            }
            LzmaVersion::Two => Self::Two(Box::new(Lzma2Reader::new(bytes, by.dict_size, None))),
        })
    }

    /// Returns the number of bytes after the end of the data.
    fn left(self) -> usize {
        match self {
            Self::One(reader) => {
                let (rest, ahead) = reader.into_parts();
                rest.len() + ahead.len()
            }
            Self::Two(reader) => reader.into_inner().len(),
        }
    }
}

/// Makes `reader` check the end of data of known size.
fn strict(mut reader: LzmaReader<&[u8]>) -> Box<LzmaReader<&[u8]>> {
    reader.set_relaxed_end_condition(false);
    Box::new(reader)
}

impl Read for Source<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::One(reader) => reader.read(buffer),
            Self::Two(reader) => reader.read(buffer),
        }
    }
}

fn undo<'s>(filter: &Filter, inner: Box<dyn Read + 's>) -> Box<dyn Read + 's> {
    match *filter {
        Filter::Delta { dist } => Box::new(DeltaReader::new(inner, dist as usize)),
        Filter::Branch { branch, start } => {
            let make = match branch {
                Branch::X86 => BcjReader::new_x86,
                Branch::PowerPc => BcjReader::new_ppc,
                Branch::Ia64 => BcjReader::new_ia64,
                Branch::Arm => BcjReader::new_arm,
                Branch::ArmThumb => BcjReader::new_arm_thumb,
                Branch::Sparc => BcjReader::new_sparc,
            };
            Box::new(make(inner, start as usize))
        }
    }
}

/// Appends all that `reader` decodes from `bytes` to `out`.
fn read(reader: &mut dyn Read, bytes: &[u8], out: &mut Sink<'_>) -> Result<(), Error> {
    let mut steps = Steps { inner: reader, failed: None };
    let result = out.read_from(&mut steps);
    match steps.failed {
        Some(error) => Err(failed(&error, bytes)),
        None => result,
    }
}

/// Reader that reads few bytes at once, and stores its error, since a [`Sink`] only returns the message.
struct Steps<'r> {
    inner: &'r mut dyn Read,
    failed: Option<io::Error>,
}

impl Read for Steps<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let len = buffer.len().min(STEP);
        let step = buffer.get_mut(..len).unwrap_or_default();
        self.inner.read(step).inspect_err(|error| {
            if error.kind() != ErrorKind::Interrupted {
                self.failed = Some(io::Error::new(error.kind(), error.to_string()));
            }
        })
    }
}

/// Converts an error of the library into an error of the codec.
fn failed(error: &io::Error, bytes: &[u8]) -> Error {
    let found = bytes.len() as u64;
    match error.kind() {
        ErrorKind::UnexpectedEof => Error::CutOff { codec: NAME, found },
        ErrorKind::OutOfMemory => Error::Allocation { size: found },
        _ => Error::Corrupt { codec: NAME, what: error.to_string() },
    }
}

fn too_long(bytes: &[u8], left: usize) -> Error {
    let found = bytes.len() as u64;
    Error::TooLong { codec: NAME, found, expected: found.saturating_sub(left as u64) }
}
