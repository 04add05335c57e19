//! Header before the elements of a block.

use zarr_codec::Error;
use zarr_grid::Shape;

pub(crate) const NAME: &str = "n5_default";

/// Returns the size in bytes of a header with `rank` axes.
pub(crate) fn size(rank: usize) -> u64 {
    4 + 4 * rank as u64
}

/// Appends the header of a block of `shape` to `out`.
pub(crate) fn write(shape: &[usize], out: &mut Vec<u8>) -> Result<(), Error> {
    let failed = |what: String| Error::Encode { codec: NAME, what };
    let rank = u16::try_from(shape.len()).map_err(|_| failed(format!("{} axes, a block has 16 bits", shape.len())))?;
    out.extend_from_slice(&[0, 0]);
    out.extend_from_slice(&rank.to_be_bytes());
    for &len in shape {
        let len = u32::try_from(len).map_err(|_| failed(format!("an axis of {len}, a block has 32 bits")))?;
        out.extend_from_slice(&len.to_be_bytes());
    }
    Ok(())
}

/// Returns the shape of a block with `rank` axes, and the bytes after its header.
pub(crate) fn read(encoded: &[u8], rank: usize) -> Result<(Shape, &[u8]), Error> {
    let corrupt = |what: String| Error::Corrupt { codec: NAME, what };
    let truncated = || Error::Truncated { codec: NAME, found: encoded.len() as u64, expected: size(rank) };
    let (start, rest) = encoded.split_first_chunk::<4>().ok_or_else(truncated)?;
    let [mode_high, mode_low, rank_high, rank_low] = *start;
    match u16::from_be_bytes([mode_high, mode_low]) {
        0 => {}
        1 => return Err(corrupt("a block of the mode \"varlength\", expected the default one".to_owned())),
        2 => return Err(corrupt("a block of the mode \"object\", expected the default one".to_owned())),
        mode => return Err(corrupt(format!("a block of mode {mode}, expected 0"))),
    }
    let found = usize::from(u16::from_be_bytes([rank_high, rank_low]));
    if found != rank {
        return Err(corrupt(format!("a block of {found} axes, expected {rank}")));
    }
    let (lens, body) = rest.split_at_checked(4 * rank).ok_or_else(truncated)?;
    Ok((lens.as_chunks::<4>().0.iter().map(|len| u64::from(u32::from_be_bytes(*len))).collect(), body))
}
