//! Corrects checksums and trailers of changed frames, as far as their bytes allow it.

use flate2::{Crc, Decompress, FlushDecompress, Status};

/// Greatest number of bytes to which a stream is inflated for its checksum.
const MAX_INFLATED: usize = 256 << 10;

/// Corrects the checksums and sizes that a codec adds to its bytes, so that the codecs below it are reached.
pub(super) fn repair(codec: &str, bytes: &mut Vec<u8>) {
    // Bytes that cannot be repaired stay as they are.
    let _ = match codec {
        "gzip" => gzip(bytes),
        "numcodecs.zlib" => zlib(bytes),
        "numcodecs.lzma" => xz(bytes),
        "zstd" => zstd(bytes),
        _ => None,
    };
}

/// Returns the CRC-32C checksum, as indexes of shards have it.
pub(super) fn crc32c(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| (crc >> 1) ^ if crc & 1 == 1 { 0x82f6_3b78 } else { 0 })
    })
}

fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = Crc::new();
    crc.update(bytes);
    crc.sum()
}

fn adler32(bytes: &[u8]) -> u32 {
    let (a, b) = bytes.iter().fold((1_u32, 0_u32), |(a, b), &byte| {
        let a = (a + u32::from(byte)) % 65521;
        (a, (b + a) % 65521)
    });
    b << 16 | a
}

/// Returns the decoded bytes of a deflate stream, and the length of the stream; `None` if it is invalid.
fn inflated(stream: &[u8]) -> Option<(Vec<u8>, usize)> {
    let mut inflate = Decompress::new(false);
    let mut out = Vec::with_capacity(MAX_INFLATED);
    let status = inflate.decompress_vec(stream, &mut out, FlushDecompress::Finish).ok()?;
    let used = usize::try_from(inflate.total_in()).ok()?;
    (status == Status::StreamEnd).then_some((out, used))
}

/// Corrects the trailer of a gzip member without optional parts (RFC 1952).
fn gzip(bytes: &mut Vec<u8>) -> Option<()> {
    let (head, stream) = bytes.split_at_checked(10)?;
    if head.get(3) != Some(&0) {
        return None;
    }
    let (out, used) = inflated(stream)?;
    bytes.truncate(10 + used);
    bytes.extend_from_slice(&crc32(&out).to_le_bytes());
    bytes.extend_from_slice(&u32::try_from(out.len()).ok()?.to_le_bytes());
    Some(())
}

/// Corrects the checksum of a zlib stream (RFC 1950).
fn zlib(bytes: &mut Vec<u8>) -> Option<()> {
    let (out, used) = inflated(bytes.get(2..)?)?;
    bytes.truncate(2 + used);
    bytes.extend_from_slice(&adler32(&out).to_be_bytes());
    Some(())
}

/// Corrects the headers, the index and the footer of an xz stream.
fn xz(bytes: &mut [u8]) -> Option<()> {
    if !bytes.starts_with(b"\xfd7zXZ\0") {
        return None;
    }
    seal(bytes, 6, 8)?;
    let header = (usize::from(*bytes.get(12)?) + 1) * 4;
    seal(bytes, 12, 12 + header - 4)?;
    let footer = bytes.len().checked_sub(12)?;
    let sum = crc32(bytes.get(footer + 4..footer + 10)?);
    bytes.get_mut(footer..footer + 4)?.copy_from_slice(&sum.to_le_bytes());
    let size = u32::from_le_bytes(bytes.get(footer + 4..footer + 8)?.try_into().ok()?);
    let index = footer.checked_sub((usize::try_from(size).ok()?.checked_add(1)?).checked_mul(4)?)?;
    seal(bytes, index, footer.checked_sub(4)?)
}

/// Sets the checksum at `end` to that of the bytes from `start` to `end`.
fn seal(bytes: &mut [u8], start: usize, end: usize) -> Option<()> {
    let sum = crc32(bytes.get(start..end)?);
    bytes.get_mut(end..end.checked_add(4)?)?.copy_from_slice(&sum.to_le_bytes());
    Some(())
}

/// Removes the checksum of a frame, and the bit of its header that announces it.
fn zstd(bytes: &mut Vec<u8>) -> Option<()> {
    let descriptor = bytes.get_mut(4)?;
    if *descriptor & 4 != 0 {
        *descriptor &= !4;
        bytes.truncate(bytes.len().saturating_sub(4));
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};

    #[test]
    fn checksums_are_right_again() {
        assert_eq!(crc32c(b"123456789"), 0xe306_9283);
        assert_eq!(adler32(b"Wikipedia"), 0x11e6_0398);
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
        gzip.write_all(b"some text").unwrap();
        let mut gzip = gzip.finish().unwrap();
        gzip[17] ^= 1;
        let mut text = String::new();
        assert!(flate2::read::GzDecoder::new(&gzip[..]).read_to_string(&mut text).is_err());
        repair("gzip", &mut gzip);
        text.clear();
        flate2::read::GzDecoder::new(&gzip[..]).read_to_string(&mut text).unwrap();
        assert_ne!(text, "some text");
    }
}
