//! Options with which objects are put.

use object_store::{Attribute, Attributes, PutMode, PutOptions};
use zarr_store::Key;
use zarr_store_runtime::is_document;

use crate::purpose::OfValue;

/// Returns the options for a put of the object of a key.
pub(crate) fn options(key: &Key, mode: PutMode) -> PutOptions {
    let mut options = PutOptions { mode, attributes: attributes(key), ..PutOptions::default() };
    options.extensions.insert(OfValue);
    options
}

/// Returns the attributes of the object of a key.
pub(crate) fn attributes(key: &Key) -> Attributes {
    let mut attributes = Attributes::new();
    if is_document(key) {
        // Google Cloud Storage lets public objects be cached for an hour if they do not say otherwise.
        attributes.insert(Attribute::CacheControl, "no-cache".into());
    }
    attributes
}
