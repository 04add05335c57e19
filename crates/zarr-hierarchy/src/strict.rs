//! Strict options: refusing nodes with deviations, and refusing changes that may lose concurrent changes.

use crate::{Error, ErrorKind, Result};
use zarr_meta::{StoredNode, Warning};
use zarr_store::Capabilities;

/// Refuses a node whose documents have deviations, as the option `strict` of arrays does. The option also checks codecs, which this
/// function does not.
///
/// # Errors
/// [`ErrorKind::InvalidMetadata`](crate::ErrorKind::InvalidMetadata) naming the document and member of the first
/// warning, or attributes that are no JSON.
pub fn check_strictly(found: &StoredNode) -> Result<()> {
    found.attributes().map_err(|error| Error::from(error.clone()))?;
    check_warnings(found, &found.warnings)
}

/// Refuses a node if `warnings` is not empty.
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

/// Refuses a change that may lose concurrent changes of other writers, because the store has no conditional sets
/// ([`Capabilities::conditional`]): the check of the option `strict_writers` of arrays and groups before anything is written. `what` names
/// the change.
///
/// # Errors
/// [`ErrorKind::Argument`] if the store has no conditional sets.
pub fn check_strict_writers(capabilities: Capabilities, what: &str) -> Result<()> {
    if capabilities.conditional {
        return Ok(());
    }
    let message = format!(
        "{what} is refused by strict writers: the store does not set values on conditions, so that what another writes at the same \
         time may be lost"
    );
    let hint = "whole chunks can be written; without strict writers no other may write at the same time";
    Err(Error::argument(message).with_hint(hint))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stores_without_conditions_are_refused() {
        let plain = Capabilities::none().write(true);
        assert!(check_strict_writers(plain.conditional(true), "an append").is_ok());
        let error = check_strict_writers(plain, "an append").expect_err("no conditions");
        assert_eq!(error.kind(), ErrorKind::Argument);
        assert!(error.to_string().contains("an append is refused by strict writers"), "{error}");
    }
}
