//! Byte and bit shuffle of blocks in frames.

use crate::Shuffle;
use zarr_kernels::Isa;

/// Returns whether a block of `size` bytes is shuffled. If the number of elements is not a multiple of 8, c-blosc skips the bit shuffle of
/// a block, although it sets the flag.
pub(crate) fn applies(shuffle: Shuffle, type_size: usize, size: usize) -> bool {
    let len = size.checked_div(type_size).unwrap_or(0);
    match shuffle {
        Shuffle::None => false,
        Shuffle::Bytes => true,
        Shuffle::Bits => len > 0 && len.is_multiple_of(8),
    }
}

/// Shuffles the bytes `from` of a block, to which `shuffle` [`applies`], into `to`.
pub(crate) fn shuffle(shuffle: Shuffle, type_size: usize, from: &[u8], to: &mut [u8]) {
    match shuffle {
        Shuffle::None => to.copy_from_slice(from),
        Shuffle::Bytes => Isa::best().shuffle_bytes(type_size, from, to),
        Shuffle::Bits => Isa::best().shuffle_bits(type_size, from, to),
    }
}

/// Restores the bytes of a block that [`shuffle`] reordered.
pub(crate) fn unshuffle(shuffle: Shuffle, type_size: usize, from: &[u8], to: &mut [u8]) {
    match shuffle {
        Shuffle::None => to.copy_from_slice(from),
        Shuffle::Bytes => Isa::best().unshuffle_bytes(type_size, from, to),
        Shuffle::Bits => Isa::best().unshuffle_bits(type_size, from, to),
    }
}
