//! Values that are given as several pieces.

use crate::{Error, Result};

/// Concatenates the pieces.
pub(crate) fn join_pieces<P: AsRef<[u8]>>(pieces: &[P]) -> Result<Vec<u8>> {
    let size = pieces.iter().map(|piece| piece.as_ref().len()).fold(0, usize::saturating_add);
    let mut value = Vec::new();
    value.try_reserve_exact(size).map_err(|_| Error::Memory { size: size as u64 })?;
    pieces.iter().for_each(|piece| value.extend_from_slice(piece.as_ref()));
    Ok(value)
}
