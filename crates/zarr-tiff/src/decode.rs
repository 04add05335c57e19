//! Samples of a chunk, out of its compressed bytes.

use flate2::{Decompress, FlushDecompress, Status};

use crate::fault::Refusal;
use crate::form::{Compression, Form, Predictor};
use crate::ifd::Order;
use crate::{jpeg, predictor};

/// Number of bytes by which the output of LZW grows at least.
const STEP: usize = 64 << 10;
/// Bytes behind the samples that are decoded as well, so that a checksum behind them is seen.
const ROOM: usize = 64;

/// The samples of a chunk of `rows` rows, as they lie in the file: no codec is left.
pub(crate) fn stored(form: &Form, bytes: &[u8], tables: Option<&[u8]>, rows: u64) -> Result<Vec<u8>, Refusal> {
    let too_large = || Refusal::new("its size is no number of this machine");
    let expected =
        form.row_bytes().checked_mul(rows).and_then(|len| usize::try_from(len).ok()).ok_or_else(too_large)?;
    let reversed: Vec<u8>;
    let bytes = if form.is_reversed && form.compression != Compression::Jpeg {
        reversed = bytes.iter().map(|byte| byte.reverse_bits()).collect();
        &reversed
    } else {
        bytes
    };
    let mut samples = match form.compression {
        Compression::None => bytes.get(..expected).unwrap_or(bytes).to_vec(),
        Compression::Lzw => lzw(bytes, expected)?,
        Compression::Deflate => deflate(bytes, expected)?,
        Compression::PackBits => packbits(bytes, expected),
        #[cfg(feature = "zstd")]
        Compression::Zstd => zstandard(bytes, expected)?,
        #[cfg(not(feature = "zstd"))]
        Compression::Zstd => return Err(Refusal::new("Zstandard is the feature `zstd`")),
        Compression::Jpeg => jpeg::decode(form, bytes, tables, rows)?,
    };
    if samples.len() < expected {
        return Err(Refusal::new(format!("found {} bytes of samples, expected {expected}", samples.len())));
    }
    samples.truncate(expected);
    Ok(samples)
}

/// The elements of a chunk, little-endian; rows that the file does not have are zeros.
pub(crate) fn elements(form: &Form, bytes: &[u8], tables: Option<&[u8]>, rows: u64) -> Result<Vec<u8>, Refusal> {
    let mut samples = stored(form, bytes, tables, rows)?;
    let row = usize::try_from(form.row_bytes()).unwrap_or(usize::MAX);
    if form.sample.bits == 1 {
        let width = usize::try_from(form.chunk_width * form.chunk_samples()).unwrap_or(usize::MAX);
        let bits = |row: &[u8]| {
            row.iter().flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1)).take(width).collect::<Vec<u8>>()
        };
        samples = samples.chunks(row.max(1)).flat_map(bits).collect();
    } else if form.predictor == Predictor::Float {
        predictor::undo_float(&mut samples, row, form.sample.size() as usize, form.chunk_samples() as usize);
    } else {
        if form.order == Order::Big {
            // Of a complex number each half is one of its own.
            let is_complex = form.sample.bits == 128 || form.sample.data_type == zarr_dtype::DataType::Complex64;
            let size = form.sample.size() as usize / if is_complex { 2 } else { 1 };
            if size > 1 {
                samples.chunks_exact_mut(size).for_each(<[u8]>::reverse);
            }
        }
        if form.predictor == Predictor::Horizontal {
            predictor::undo_horizontal(&mut samples, row, form.sample.size() as usize, form.chunk_samples() as usize);
        }
    }
    Ok(samples)
}

fn lzw(bytes: &[u8], expected: usize) -> Result<Vec<u8>, Refusal> {
    if bytes.len() > 1 && bytes[0] == 0 && bytes[1] & 1 == 1 {
        return Err(Refusal::new("LZW of writers before TIFF 6.0 is not read"));
    }
    let mut decoder = weezl::decode::Decoder::with_tiff_size_switch(weezl::BitOrder::Msb, 8);
    let (mut out, mut read, mut len) = (Vec::new(), 0, 0);
    while len < expected {
        if len == out.len() {
            out.resize(expected.min(out.len().max(STEP) * 4), 0);
        }
        let result = decoder.decode_bytes(&bytes[read..], &mut out[len..]);
        read += result.consumed_in;
        len += result.consumed_out;
        match result.status {
            Ok(weezl::LzwStatus::Ok) if result.consumed_in + result.consumed_out > 0 => {}
            Ok(_) => break,
            Err(error) => return Err(Refusal::new(format!("LZW, byte {read} of the chunk: {error}"))),
        }
    }
    out.truncate(len);
    Ok(out)
}

fn deflate(bytes: &[u8], expected: usize) -> Result<Vec<u8>, Refusal> {
    let (mut out, mut decoder) = (Vec::new(), Decompress::new(true));
    let most = expected + ROOM;
    // A small stream may claim to be a large chunk.
    let mut room = most.min(bytes.len().saturating_mul(4).max(STEP));
    loop {
        out.reserve_exact(room.saturating_sub(out.len()));
        let read = usize::try_from(decoder.total_in()).unwrap_or(usize::MAX);
        let rest = bytes.get(read..).unwrap_or_default();
        let result = decoder.decompress_vec(rest, &mut out, FlushDecompress::Finish);
        let fault = |error| Refusal::new(format!("deflate, byte {} of the chunk: {error}", decoder.total_in()));
        let is_ended = result.map_err(fault)? == Status::StreamEnd;
        if is_ended || out.len() < room || room == most {
            return Ok(out);
        }
        room = most.min(room.saturating_mul(4));
    }
}

#[cfg(feature = "zstd")]
fn zstandard(bytes: &[u8], expected: usize) -> Result<Vec<u8>, Refusal> {
    use std::io::Read;
    let fault = |error: std::io::Error| Refusal::new(format!("Zstandard: {error}"));
    let mut out = Vec::new();
    let decoder = zstd::stream::read::Decoder::new(bytes).map_err(fault)?;
    decoder.take((expected + ROOM) as u64).read_to_end(&mut out).map_err(fault)?;
    Ok(out)
}

/// The bytes of PackBits; what comes behind those that are expected is left out.
fn packbits(bytes: &[u8], expected: usize) -> Vec<u8> {
    let (mut out, mut rest) = (Vec::new(), bytes);
    while let Some((&head, behind)) = rest.split_first() {
        if out.len() >= expected {
            break;
        }
        rest = match head.cast_signed() {
            -128 => behind,
            count @ 0.. => {
                let (copied, behind) = behind.split_at(behind.len().min(count as usize + 1));
                out.extend_from_slice(copied);
                behind
            }
            count => {
                let Some((&byte, behind)) = behind.split_first() else { break };
                out.extend(std::iter::repeat_n(byte, 1 + usize::from(count.unsigned_abs())));
                behind
            }
        };
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_that_grow_much_are_decoded_in_steps() {
        use std::io::Write;
        for len in [1, STEP, 1 << 20] {
            let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::new(6));
            encoder.write_all(&vec![7; len]).expect("memory takes bytes");
            let stream = encoder.finish().expect("a stream");
            assert_eq!(deflate(&stream, len).expect("samples"), vec![7; len]);
            // A claim of more costs no more.
            let claimed = deflate(&stream, 100 << 20).expect("samples");
            assert_eq!((claimed.len(), claimed.capacity() < 8 << 20), (len, true));
        }
    }

    #[test]
    fn packbits_are_those_of_the_specification() {
        // The example of the specification of TIFF 6.0.
        let packed = [0xfe, 0xaa, 0x02, 0x80, 0x00, 0x2a, 0xfd, 0xaa, 0x03, 0x80, 0x00, 0x2a, 0x22, 0xf7, 0xaa];
        let expected = [
            0xaa, 0xaa, 0xaa, 0x80, 0x00, 0x2a, 0xaa, 0xaa, 0xaa, 0xaa, 0x80, 0x00, 0x2a, 0x22, 0xaa, 0xaa, 0xaa, 0xaa,
            0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa,
        ];
        assert_eq!(packbits(&packed, 24), expected);
        assert_eq!(packbits(&[0x80, 0x05, 1, 2], 24), [1, 2]);
        assert!(packbits(&[0x81], 24).is_empty());
    }
}
