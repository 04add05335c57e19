//! Nodes that are refused although they can be read.

use crate::{Error, ErrorKind, Result};
use zarr_meta::{StoredNode, Warning};

/// Refuses a node in whose documents something is odd, as the option `strict` of arrays does, of which the codecs are looked at
/// as well.
///
/// # Errors
/// [`ErrorKind::InvalidMetadata`](crate::ErrorKind::InvalidMetadata) naming the document and member of the first
/// warning, or attributes that are no JSON.
pub fn check_strictly(found: &StoredNode) -> Result<()> {
    found.attributes().map_err(|error| Error::from(error.clone()))?;
    check_warnings(found, &found.warnings)
}

/// Refuses a node if there are warnings of it.
///
/// # Errors
/// [`ErrorKind::InvalidMetadata`](crate::ErrorKind::InvalidMetadata) naming the document and member of the first
/// warning.
pub fn check_warnings(found: &StoredNode, warnings: &[Warning]) -> Result<()> {
    let Some(warning) = warnings.first() else { return Ok(()) };
    let error = Error::new(ErrorKind::InvalidMetadata, format!("{}, refused by strict reading", warning.what));
    Err(error.at(|location| {
        location.path = Some(found.path.to_string());
        location.key = Some(warning.key.clone()).filter(|key| !key.is_empty());
        location.pointer = Some(warning.pointer.clone()).filter(|pointer| !pointer.is_empty());
    }))
}
