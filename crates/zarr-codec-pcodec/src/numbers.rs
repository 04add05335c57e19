//! Conversion of numbers of a single type to a file, and back.

use crate::claims::{self, NAME};
use bytemuck::Pod;
use pco::ChunkConfig;
use pco::data_types::{Number, NumberType};
use pco::errors::{ErrorKind, PcoError};
use pco::standalone::{DecompressorItem, FileDecompressor, simple_compress};
use zarr_codec::{Error, Scratch, View, ViewMut};
use zarr_grid::Region;

/// Appends the numbers of `chunk` as a file.
///
/// # Errors
/// [`Error::Encode`] with the message of the library, or [`Error::Allocation`].
pub(crate) fn encode<T: Number + Pod>(chunk: &View<'_>, config: &ChunkConfig, out: &mut Vec<u8>) -> Result<(), Error> {
    let mut scratch = Scratch::take();
    let numbers = chunk.numbers::<T>(&mut scratch)?;
    // The library's other way leaves a type in the file's head, and with that not the bytes of numcodecs.
    let file = simple_compress(numbers, config);
    let file = file.map_err(|error| Error::Encode { codec: NAME, what: error.message })?;
    out.try_reserve(file.len()).map_err(|_| Error::Allocation { size: file.len() as u64 })?;
    out.extend_from_slice(&file);
    Ok(())
}

/// Decodes `region` of a file that contains the numbers of a chunk of shape `dims`.
///
/// # Errors
/// [`Error::Truncated`], [`Error::CutOff`], [`Error::TooLong`], [`Error::Corrupt`] or [`Error::Allocation`].
pub(crate) fn decode<T: Number + Pod>(
    encoded: &[u8],
    dims: &[usize],
    region: &Region,
    whole: bool,
    out: &mut ViewMut<'_>,
) -> Result<(), Error> {
    if whole
        && let Some(bytes) = out.as_contiguous()
        && let Ok(numbers) = bytemuck::try_cast_slice_mut(bytes)
    {
        return read::<T>(encoded, numbers);
    }
    let mut scratch = Scratch::take();
    let numbers = scratch.numbers::<T>(dims.iter().product())?;
    read(encoded, numbers)?;
    out.copy_from(&View::new(bytemuck::cast_slice(numbers), size_of::<T>(), dims)?.window(region));
    Ok(())
}

/// Returns the type of the first numbers of a file, or `None` if the file has no numbers or is invalid.
pub(crate) fn stored_type(encoded: &[u8]) -> Option<NumberType> {
    let (file, rest) = FileDecompressor::new(encoded).ok()?;
    file.peek_number_type_or_termination(rest).ok()?
}

/// Reads all numbers of a file, which must contain exactly as many as `out` takes.
fn read<T: Number>(encoded: &[u8], out: &mut [T]) -> Result<(), Error> {
    let failed = |error: PcoError| failed(error, encoded);
    let size = |count: usize| (count as u64).saturating_mul(size_of::<T>() as u64);
    let total = out.len();
    let (file, mut rest) = FileDecompressor::new(encoded).map_err(failed)?;
    let versioned = file.format_version().major >= 4;
    let mut at = 0;
    loop {
        let left = out.get_mut(at..).unwrap_or_default();
        claims::check(rest, size(1) * 8, left.len() as u64, versioned)?;
        let mut part = match file.chunk_decompressor::<T, _>(rest).map_err(failed)? {
            DecompressorItem::Chunk(part) => part,
            DecompressorItem::EndOfData(rest) if !rest.is_empty() => {
                let (found, rest) = (encoded.len() as u64, rest.len() as u64);
                return Err(Error::TooLong { codec: NAME, found, expected: found.saturating_sub(rest) });
            }
            DecompressorItem::EndOfData(_) if at < total => {
                return Err(Error::Truncated { codec: NAME, found: size(at), expected: size(total) });
            }
            DecompressorItem::EndOfData(_) => return Ok(()),
        };
        let count = part.n();
        let Some(target) = left.get_mut(..count) else {
            let found = size(at.saturating_add(count));
            return Err(Error::TooLong { codec: NAME, found, expected: size(total) });
        };
        let progress = part.read(target).map_err(failed)?;
        if !progress.finished || progress.n_processed != count {
            let what = format!("{} numbers in a part that claims {count}", progress.n_processed);
            return Err(Error::Corrupt { codec: NAME, what });
        }
        at += count;
        rest = part.into_src();
    }
}

fn failed(error: PcoError, encoded: &[u8]) -> Error {
    let found = encoded.len() as u64;
    match error.kind {
        ErrorKind::InsufficientData => Error::CutOff { codec: NAME, found },
        _ => Error::Corrupt { codec: NAME, what: error.message },
    }
}
