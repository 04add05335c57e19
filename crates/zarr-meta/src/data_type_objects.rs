//! Data types as documents of the drafts have them: objects with the URI of an extension.

#[cfg(feature = "drafts")]
use crate::drafts::v3::data_type;
use crate::error::Result;
#[cfg(not(feature = "drafts"))]
use crate::error::{Error, ErrorKind};
use zarr_dtype::ByteOrder;
#[cfg(not(feature = "drafts"))]
use zarr_json::pointer::At;
use zarr_json::{NamedConfig, Value};

/// The data type that an extension object of a draft says, and the byte order of its elements.
///
/// ```json
/// {"extension": "https://purl.org/zarr/spec/extensions/data-types/datetime/1.0", "type": "<M8[ns]", "fallback": "int64"}
/// ```
///
/// # Errors
/// [`ErrorKind::UnknownExtension`](crate::ErrorKind::UnknownExtension) if the type itself is not known, whatever its fallback, and in
/// builds without the feature `drafts`; [`ErrorKind::InvalidMetadata`](crate::ErrorKind::InvalidMetadata) for no such object.
#[cfg(feature = "drafts")]
pub fn data_type_of_extension(object: &Value) -> Result<(NamedConfig, ByteOrder)> {
    data_type::of_extension(object)
}

/// The data type that an extension object of a draft says, in builds with the feature `drafts`.
///
/// # Errors
/// [`ErrorKind::UnknownExtension`](crate::ErrorKind::UnknownExtension), since this build lacks the feature.
#[cfg(not(feature = "drafts"))]
pub fn data_type_of_extension(object: &Value) -> Result<(NamedConfig, ByteOrder)> {
    let expected = "a name: enable feature `drafts` for data types of the drafts";
    Err(Error::about(&At::root(object), ErrorKind::UnknownExtension, expected))
}
