//! Filters that divide a chunk into blocks: LZ4 and bitshuffle.
//!
//! Compressed chunks begin with the number of bytes of the decoded chunk, in eight bytes, and of a decoded block, in four bytes. Each
//! compressed block follows its own number of bytes, in four bytes. These numbers are big-endian.

use zarr_kernels::{Isa, lz4};

/// Approximate number of bytes of a block of bitshuffle if the filter does not give the size of blocks.
const BLOCK: usize = 8192;
/// Minimum number of elements of a block of bitshuffle if the filter does not give the size of blocks.
const MIN_ELEMENTS: usize = 128;
/// Divisor of the number of elements of a block of bitshuffle.
const GROUP: usize = 8;
/// Maximum number of bytes to which LZ4 expands one compressed byte.
const EXPANSION: usize = 255;
/// Maximum number of bytes of an element in a chunk with bitshuffle.
pub(crate) const MAX_ELEMENT: u32 = 255;

/// Compression of the blocks of bitshuffle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Inner {
    None,
    Lz4,
    #[cfg(feature = "zstd")]
    Zstd,
}

/// Parameters of the filter bitshuffle, which transposes the bits of the elements block by block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bitshuffle {
    /// Number of bytes of an element.
    size: usize,
    /// Number of elements of a block.
    block: usize,
    inner: Inner,
}

impl Bitshuffle {
    /// Parses the client data of the filter. The error names the unsupported parameter and completes a message that begins with the filter.
    pub(crate) fn new(client_data: &[u32]) -> Result<Self, String> {
        let number = |at: usize| client_data.get(at).copied().unwrap_or(0);
        let size = number(2);
        if size == 0 || size > MAX_ELEMENT {
            return Err(format!("of elements of {size} bytes"));
        }
        let size = size as usize;
        let block = match number(3) as usize {
            0 => (BLOCK / size / GROUP * GROUP).max(MIN_ELEMENTS),
            block => block,
        };
        if !block.is_multiple_of(GROUP) {
            return Err(format!("with blocks of {block} elements"));
        }
        let inner = match number(4) {
            0 => Inner::None,
            2 => Inner::Lz4,
            #[cfg(feature = "zstd")]
            3 => Inner::Zstd,
            other => return Err(format!("with the compression {other}")),
        };
        Ok(Self { size, block, inner })
    }

    /// Decodes the chunk `input`, of at most `limit` decoded bytes. Returns `None` if `input` is invalid or too large.
    pub(crate) fn undo(self, input: &[u8], limit: usize) -> Option<Vec<u8>> {
        let (len, block, mut rest) = match self.inner {
            Inner::None => (input.len(), self.block.checked_mul(self.size)?, input),
            _ => header(input)?,
        };
        let group = GROUP * self.size;
        if len > limit || block == 0 || block % group != 0 || len % self.size != 0 {
            return None;
        }
        let mut out = vec![0; len];
        let whole = len / group * group;
        let mut shuffled = vec![0; if self.inner == Inner::None { 0 } else { block.min(whole) }];
        for to in out[..whole].chunks_mut(block) {
            match self.inner {
                Inner::None => {
                    let (from, behind) = rest.split_at_checked(to.len())?;
                    rest = behind;
                    Isa::best().unshuffle_bits(self.size, from, to);
                }
                inner => {
                    let (from, behind) = sized(rest)?;
                    rest = behind;
                    let shuffled = &mut shuffled[..to.len()];
                    inner.expand(from, shuffled)?;
                    Isa::best().unshuffle_bits(self.size, shuffled, to);
                }
            }
        }
        // Elements that fill no group are stored as they are.
        let last = &mut out[whole..];
        (rest.len() == last.len()).then(|| last.copy_from_slice(rest))?;
        Some(out)
    }
}

impl Inner {
    /// Decompresses `block` into `to`. Returns `None` unless the result fills `to`.
    fn expand(self, block: &[u8], to: &mut [u8]) -> Option<()> {
        let len = match self {
            Self::None => return None,
            Self::Lz4 => lz4::decompress(block, to).ok()?,
            #[cfg(feature = "zstd")]
            Self::Zstd => zstd::bulk::decompress_to_buffer(block, to).ok()?,
        };
        (len == to.len()).then_some(())
    }
}

/// Decodes the chunk `input` of the HDF5 filter LZ4, of at most `limit` decoded bytes. Returns `None` if `input` is invalid or too large.
pub(crate) fn expand_lz4(input: &[u8], limit: usize) -> Option<Vec<u8>> {
    let (len, block, mut rest) = header(input)?;
    if len > limit || len > 0 && block == 0 || len > input.len().saturating_mul(EXPANSION) {
        return None;
    }
    let mut out = vec![0; len];
    for to in out.chunks_mut(block.max(1)) {
        let (from, behind) = sized(rest)?;
        rest = behind;
        // A block that would become no smaller is stored as it is.
        if from.len() == to.len() {
            to.copy_from_slice(from);
        } else {
            Inner::Lz4.expand(from, to)?;
        }
    }
    rest.is_empty().then_some(out)
}

/// Splits `bytes` into the number of bytes of the decoded chunk, the number of bytes of a decoded block, and the remaining bytes.
fn header(bytes: &[u8]) -> Option<(usize, usize, &[u8])> {
    let (len, rest) = bytes.split_first_chunk()?;
    let (block, rest) = rest.split_first_chunk()?;
    let len = usize::try_from(u64::from_be_bytes(*len)).ok()?;
    Some((len, u32::from_be_bytes(*block) as usize, rest))
}

/// Splits `bytes` into a compressed block, whose length the first four bytes give, and the remaining bytes.
fn sized(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (len, rest) = bytes.split_first_chunk()?;
    rest.split_at_checked(u32::from_be_bytes(*len) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks(len: u64, block: u32, parts: &[&[u8]]) -> Vec<u8> {
        let mut out = [&len.to_be_bytes()[..], &block.to_be_bytes()].concat();
        for part in parts {
            out.extend((part.len() as u32).to_be_bytes());
            out.extend_from_slice(part);
        }
        out
    }

    #[test]
    fn lz4_has_blocks() {
        // "abcd", and three bytes behind one that is copied: a literal, and a copy of four from one back.
        let input = blocks(10, 4, &[b"abcd", b"efgh", b"\x20ij"]);
        assert_eq!(expand_lz4(&input, 10).as_deref(), Some(&b"abcdefghij"[..]));
        assert_eq!(expand_lz4(&input, 9), None);
        assert_eq!(expand_lz4(&input[..input.len() - 1], 10), None);
        assert_eq!(expand_lz4(&[&input[..], &[0]].concat(), 10), None);
        assert_eq!(expand_lz4(&blocks(0, 0, &[]), 10), Some(Vec::new()));
        assert_eq!(expand_lz4(&blocks(8, 0, &[b"abcdefgh"]), 10), None);
        assert_eq!(expand_lz4(&blocks(1 << 20, 1 << 20, &[b"\x10a"]), 1 << 20), None);
        assert_eq!(expand_lz4(b"\0\0", 10), None);
    }

    #[test]
    fn bits_are_put_together_in_blocks() {
        let plain: Vec<u8> = (0..2 * 37).map(|at| (at * 7 % 251) as u8).collect();
        let mut stored = Vec::new();
        for block in plain[..64].chunks(32) {
            let mut bits = vec![0; block.len()];
            Isa::best().shuffle_bits(2, block, &mut bits);
            stored.push(bits);
        }
        let filter = Bitshuffle::new(&[0, 5, 2, 16, 0]).unwrap();
        let input = [&stored.concat()[..], &plain[64..]].concat();
        assert_eq!(filter.undo(&input, 74).as_ref(), Some(&plain));
        assert_eq!(filter.undo(&input, 73), None);
        assert_eq!(filter.undo(&input[..73], 74), None, "half an element");
        let filter = Bitshuffle::new(&[0, 5, 2, 0, 2]).unwrap();
        let literals = |bits: &[u8]| [&[0xf0, bits.len() as u8 - 15], bits].concat();
        let parts: Vec<Vec<u8>> = stored.iter().map(|bits| literals(bits)).collect();
        let parts: Vec<&[u8]> = parts.iter().map(|part| &part[..]).collect();
        let input = [&blocks(74, 32, &parts)[..], &plain[64..]].concat();
        assert_eq!(filter.undo(&input, 74).as_ref(), Some(&plain));
        assert_eq!(filter.undo(&input[..input.len() - 1], 74), None);
        assert_eq!(filter.undo(&blocks(74, 0, &parts), 74), None);
        assert_eq!(filter.undo(&blocks(u64::MAX, 32, &parts), 74), None);
    }

    #[test]
    fn other_forms_of_bitshuffle_are_refused() {
        assert_eq!(Bitshuffle::new(&[0, 5, 4, 0, 0]), Ok(Bitshuffle { size: 4, block: 2048, inner: Inner::None }));
        assert_eq!(Bitshuffle::new(&[0, 5, 200]), Ok(Bitshuffle { size: 200, block: 128, inner: Inner::None }));
        assert_eq!(Bitshuffle::new(&[]).unwrap_err(), "of elements of 0 bytes");
        assert_eq!(Bitshuffle::new(&[0, 5, 256]).unwrap_err(), "of elements of 256 bytes");
        assert_eq!(Bitshuffle::new(&[0, 5, 4, 12]).unwrap_err(), "with blocks of 12 elements");
        assert_eq!(Bitshuffle::new(&[0, 5, 4, 0, 9]).unwrap_err(), "with the compression 9");
    }
}
