//! Configurations as the register of extensions defines them.

use zarr_codec::{Config, Error};

/// Refuses members that were not read: they are reserved for versions to come, which may store something else.
pub(crate) fn refuse_unread(config: &Config<'_>) -> Result<(), Error> {
    match config.unread().first() {
        None => Ok(()),
        Some(name) => Err(config.error(name, "unknown member, which this codec does not allow".to_owned())),
    }
}
