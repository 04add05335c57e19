//! Streams of codecs that hold their bytes as they are: for chunks whose array has a codec that the file did not use for them.

/// Maximum number of bytes of a stored block of deflate.
const DEFLATE_BLOCK: usize = 0xffff;
/// Maximum number of bytes of a block of Zstandard.
const ZSTD_BLOCK: usize = 1 << 17;
/// Number of bytes after which the sums of Adler-32 are reduced: they fit 32 bits until then.
const ADLER_BLOCK: usize = 5552;

/// A stream of zlib with stored blocks (RFC 1950, RFC 1951).
#[must_use]
pub fn zlib_copy(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(usize::try_from(zlib_copy_size(bytes.len() as u64)).unwrap_or_default());
    out.extend([0x78, 0x01]);
    let mut blocks = bytes.chunks(DEFLATE_BLOCK).peekable();
    if bytes.is_empty() {
        out.extend([1, 0, 0, 0xff, 0xff]);
    }
    while let Some(block) = blocks.next() {
        let len = block.len() as u16;
        out.push(u8::from(blocks.peek().is_none()));
        out.extend(len.to_le_bytes());
        out.extend((!len).to_le_bytes());
        out.extend_from_slice(block);
    }
    let (mut low, mut high) = (1_u32, 0_u32);
    for block in bytes.chunks(ADLER_BLOCK) {
        for byte in block {
            low += u32::from(*byte);
            high += low;
        }
        (low, high) = (low % 65521, high % 65521);
    }
    out.extend((high << 16 | low).to_be_bytes());
    out
}

/// Returns the number of bytes of the [`zlib_copy`] of a value of `size` bytes.
#[must_use]
pub const fn zlib_copy_size(size: u64) -> u64 {
    size.saturating_add(6 + 5 * blocks(size, DEFLATE_BLOCK as u64))
}

/// A frame of Zstandard with raw blocks (RFC 8878).
#[must_use]
pub fn zstd_copy(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(usize::try_from(zstd_copy_size(bytes.len() as u64)).unwrap_or_default());
    // The magic number, and a header with the size in eight bytes: one segment.
    out.extend([0x28, 0xb5, 0x2f, 0xfd, 0xe0]);
    out.extend((bytes.len() as u64).to_le_bytes());
    let mut blocks = bytes.chunks(ZSTD_BLOCK).peekable();
    if bytes.is_empty() {
        out.extend([1, 0, 0]);
    }
    while let Some(block) = blocks.next() {
        let header = (block.len() as u32) << 3 | u32::from(blocks.peek().is_none());
        out.extend_from_slice(&header.to_le_bytes()[..3]);
        out.extend_from_slice(block);
    }
    out
}

/// Returns the number of bytes of the [`zstd_copy`] of a value of `size` bytes.
#[must_use]
pub const fn zstd_copy_size(size: u64) -> u64 {
    size.saturating_add(13 + 3 * blocks(size, ZSTD_BLOCK as u64))
}

/// Returns the number of blocks of a value of `size` bytes; an empty stream has one.
const fn blocks(size: u64, block: u64) -> u64 {
    let count = size.div_ceil(block);
    if count == 0 { 1 } else { count }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_of_the_copies() {
        for len in [0, 1, 7, DEFLATE_BLOCK, DEFLATE_BLOCK + 1, ZSTD_BLOCK, 300_000] {
            let bytes: Vec<u8> = (0..len).map(|at| (at * 7 % 251) as u8).collect();
            assert_eq!(zlib_copy(&bytes).len() as u64, zlib_copy_size(len as u64), "{len}");
            assert_eq!(zstd_copy(&bytes).len() as u64, zstd_copy_size(len as u64), "{len}");
        }
        // The sum of all bytes 0xff, from the definition.
        let bytes = vec![0xff; 100_000];
        let (mut low, mut high) = (1_u64, 0_u64);
        for byte in &bytes {
            low = (low + u64::from(*byte)) % 65521;
            high = (high + low) % 65521;
        }
        let sum = (high as u32) << 16 | low as u32;
        assert!(zlib_copy(&bytes).ends_with(&sum.to_be_bytes()));
    }
}
