//! Plain loops for any processor: interleaving two runs of bytes, separating them, and transposing 8 × 8 bits.
//!
//! An element of 2ᵏ bytes is joined from its bytes by interleaving k times, and split by the reverse: each pass rotates the position of a
//! byte, seen as bits, by one bit. Compilers translate both loops to the pack and unpack instructions of the processor, unlike a loop over
//! elements. The loops work on tiles that stay in the first-level cache.

/// Number of bytes of a tile: together with the bytes read and written for it, a tile fits into a first-level cache of 32 KiB.
pub(super) const TILE: usize = 8192;

/// Buffers for the passes over a tile.
#[derive(Debug)]
pub(super) struct Tile(pub(super) [u8; TILE], pub(super) [u8; TILE]);

impl Tile {
    pub(super) const fn new() -> Self {
        Self([0; TILE], [0; TILE])
    }
}

/// Interleaves two runs: `out[2 * i] = even[i]`, `out[2 * i + 1] = odd[i]`.
#[inline(never)]
pub(super) fn interleave(even: &[u8], odd: &[u8], out: &mut [u8]) {
    for ((out, even), odd) in out.as_chunks_mut::<2>().0.iter_mut().zip(even).zip(odd) {
        *out = [*even, *odd];
    }
}

/// Separates two runs: `even[i] = from[2 * i]`, `odd[i] = from[2 * i + 1]`.
#[inline(never)]
pub(super) fn deinterleave(from: &[u8], even: &mut [u8], odd: &mut [u8]) {
    for ((pair, even), odd) in from.as_chunks::<2>().0.iter().zip(even).zip(odd) {
        // With shifts rather than by index: this becomes a pack instruction.
        let pair = u16::from_le_bytes(*pair);
        *even = pair as u8;
        *odd = (pair >> 8) as u8;
    }
}

/// Transposes each 8 bytes as a matrix of 8 × 8 bits ("Hacker's Delight", section 7-3).
#[inline(never)]
pub(super) fn transpose_bits(bytes: &mut [u8]) {
    for bytes in bytes.as_chunks_mut::<8>().0 {
        let mut x = u64::from_le_bytes(*bytes);
        for (shift, mask) in [(7, 0x00aa_00aa_00aa_00aa), (14, 0x0000_cccc_0000_cccc), (28, 0x0000_0000_f0f0_f0f0)] {
            let swap = (x ^ (x >> shift)) & mask;
            x ^= swap ^ (swap << shift);
        }
        *bytes = x.to_le_bytes();
    }
}
