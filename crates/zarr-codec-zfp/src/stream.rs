//! Conversion of numbers to a stream of words, and back.

use crate::form::Form;
use zarr_codec::Error;
use zfp_rs::{
    ZfpBitStream, ZfpConfig, ZfpDecompressionError, ZfpField, ZfpFieldMetadata, ZfpFieldMut, ZfpHeaderMask, ZfpScalar,
};

/// Number of bytes of a word. Streams consist of whole words.
const WORD: usize = 8;

/// Appends `numbers`, with the lengths `dims` along the axes of zfp, to `out`.
///
/// # Errors
/// [`Error::Encode`] with the message of the library, or [`Error::Allocation`].
pub(crate) fn write<T: ZfpScalar>(
    form: &Form,
    config: &ZfpConfig,
    dims: [usize; 4],
    numbers: &[T],
    out: &mut Vec<u8>,
) -> Result<(), Error> {
    let failed = |what: String| Error::Encode { codec: form.name, what };
    let field = ZfpField::new(numbers, dims).map_err(|error| failed(error.to_string()))?;
    let room = config.maximum_size(T::SCALAR_TYPE, dims).unwrap_or(usize::MAX);
    let mut stream = ZfpBitStream::new(room).map_err(|_| Error::Allocation { size: room as u64 })?;
    if form.header {
        let metadata = ZfpFieldMetadata { scalar_type: T::SCALAR_TYPE, dims };
        let header = stream.write_header(config, &metadata, ZfpHeaderMask::FULL);
        header.map_err(|error| failed(error.to_string()))?;
    }
    stream.compress(config, &field).map_err(|error| failed(error.to_string()))?;
    let words = stream.as_words();
    let size = words.len().saturating_mul(WORD);
    out.try_reserve(size).map_err(|_| Error::Allocation { size: size as u64 })?;
    out.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    Ok(())
}

/// Reads all of `numbers`, with the lengths `dims` along the axes of zfp, from `encoded`, which must contain nothing else. A header may
/// state other lengths for the same number of numbers, and its own parameters.
///
/// # Errors
/// [`Error::Truncated`], [`Error::TooLong`], [`Error::Corrupt`] or [`Error::Allocation`].
pub(crate) fn read<T: ZfpScalar>(
    form: &Form,
    config: &ZfpConfig,
    dims: [usize; 4],
    encoded: &[u8],
    numbers: &mut [T],
) -> Result<(), Error> {
    let corrupt = |what: String| Error::Corrupt { codec: form.name, what };
    let found = encoded.len() as u64;
    let truncated = |expected: u64| Error::Truncated { codec: form.name, found, expected };
    let mut stream = ZfpBitStream::from_words(words(encoded)?);
    let (mut config, mut dims) = (*config, dims);
    if form.header {
        let header = stream.read_header(ZfpHeaderMask::FULL).map_err(|error| match encoded.len() {
            0..WORD => truncated(WORD as u64),
            _ => corrupt(error.to_string()),
        })?;
        if header.bits_read as u64 > found.saturating_mul(8) {
            return Err(truncated(header.bits_read.div_ceil(8) as u64));
        }
        let (Some(metadata), Some(stored)) = (header.metadata, header.config) else {
            return Err(corrupt("a header without lengths or mode".to_owned()));
        };
        if metadata.scalar_type != T::SCALAR_TYPE {
            let (found, expected) = (metadata.scalar_type, T::SCALAR_TYPE);
            return Err(corrupt(format!("found numbers of type {found}, expected {expected}")));
        }
        let lengths = metadata.dims.iter().take_while(|&&len| len > 0);
        if lengths.copied().try_fold(1usize, usize::checked_mul) != Some(numbers.len()) {
            return Err(corrupt(format!("found {:?} numbers, expected {}", metadata.dims, numbers.len())));
        }
        (config, dims) = (stored, metadata.dims);
    }
    let mut field = ZfpFieldMut::new(numbers, dims).map_err(|error| corrupt(error.to_string()))?;
    let used = stream.decompress(&config, &mut field).map_err(|error| match error {
        ZfpDecompressionError::Truncated { required, .. } => truncated((required as u64).max(found + 1)),
        other => corrupt(other.to_string()),
    })?;
    // Padding at the end may be missing without being looked at.
    let used = used as u64;
    if used > found {
        return Err(truncated(used));
    }
    if used < found {
        return Err(Error::TooLong { codec: form.name, found, expected: used });
    }
    Ok(())
}

/// Returns the whole words of `encoded`. An incomplete word at the end is ignored here, and detected when sizes are compared.
fn words(encoded: &[u8]) -> Result<Vec<u64>, Error> {
    let (whole, _) = encoded.as_chunks::<WORD>();
    let mut words = Vec::new();
    words.try_reserve_exact(whole.len()).map_err(|_| Error::Allocation { size: encoded.len() as u64 })?;
    words.extend(whole.iter().map(|word| u64::from_le_bytes(*word)));
    Ok(words)
}
