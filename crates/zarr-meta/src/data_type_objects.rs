//! Data types in the form of the drafts: objects with the URI of an extension.

#[cfg(feature = "drafts")]
use crate::drafts::v3::data_type;
use crate::error::Result;
#[cfg(not(feature = "drafts"))]
use crate::error::{Error, ErrorKind};
use zarr_dtype::ByteOrder;
#[cfg(not(feature = "drafts"))]
use zarr_json::pointer::At;
use zarr_json::{NamedConfig, Value};

/// Returns the data type that an extension object of a draft describes, and the byte order of its elements.
///
/// ```json
/// {"extension": "https://purl.org/zarr/spec/extensions/data-types/datetime/1.0", "type": "<M8[ns]", "fallback": "int64"}
/// ```
///
/// # Errors
/// Fails with [`ErrorKind::UnknownExtension`](crate::ErrorKind::UnknownExtension) if the type is not known (even if it has a fallback) and
/// in builds without the feature `drafts`, and with [`ErrorKind::InvalidMetadata`](crate::ErrorKind::InvalidMetadata) if `object` is no
/// extension object.
#[cfg(feature = "drafts")]
pub fn data_type_of_extension(object: &Value) -> Result<(NamedConfig, ByteOrder)> {
    data_type::of_extension(object)
}

/// Fails always: this build lacks the feature `drafts`, which reads data types of drafts.
///
/// # Errors
/// Fails with [`ErrorKind::UnknownExtension`](crate::ErrorKind::UnknownExtension).
#[cfg(not(feature = "drafts"))]
pub fn data_type_of_extension(object: &Value) -> Result<(NamedConfig, ByteOrder)> {
    let expected = "a name: enable feature `drafts` for data types of the drafts";
    Err(Error::about(&At::root(object), ErrorKind::UnknownExtension, expected))
}
