//! Checks of configurations for codecs of the register of extensions.

use zarr_codec::{Config, Error};

/// Returns an error for members that were not read: they are reserved for later versions, which may change the stored data.
pub(crate) fn refuse_unread(config: &Config<'_>) -> Result<(), Error> {
    match config.unread().first() {
        None => Ok(()),
        Some(name) => Err(config.error(name, "unknown member, which this codec does not allow".to_owned())),
    }
}
