//! Data type and fill value of the elements of an array, from its metadata.
//!
//! A node's metadata has its fill value as JSON, in the vocabulary of Zarr v3: the fill values of Zarr v2 and the drafts were translated to
//! it, or refused, when the document was parsed. Here the fill value becomes the bytes of an element: strictly for version 3, leniently for
//! documents of older writers. So a node whose fill value does not fit its data type can still be listed and described, if its document
//! parses.

use crate::{Error, ErrorKind, Result};
use zarr_codec::ElementSpec;
use zarr_dtype::{DataTypes, FillValue, Spelling};
use zarr_json::NamedConfig;
use zarr_meta::{ArrayMetadata, Dialect};

/// Returns the data type and fill value of an array's elements.
///
/// # Errors
/// [`ErrorKind::UnknownExtension`] for a data type that is not known; [`ErrorKind::InvalidMetadata`] for a data type or fill value
/// that breaks the specification.
pub fn element_spec(metadata: &ArrayMetadata, dialect: Dialect, types: &DataTypes) -> Result<ElementSpec> {
    // Spellings of older writers are read; the final format is strict.
    let spelling = if dialect.has_strict_fill_values() { Spelling::Strict } else { Spelling::Lenient };
    let data_type = types.from_config(&metadata.data_type).map_err(|error| in_type("/data_type", error))?;
    let fill = match &metadata.fill_value {
        None => FillValue::zero(&data_type),
        Some(value) => {
            FillValue::parse_as(&data_type, value, spelling).map_err(|error| in_type("/fill_value", error))?
        }
    };
    Ok(ElementSpec::new(data_type, fill))
}

/// Returns the elements and codecs of an array that is read as `data_type` instead of `fallback`, the fallback type of its document.
///
/// # Errors
/// [`ErrorKind::Argument`] if elements of `data_type` differ in size from elements of the fallback; as
/// [`element_spec`].
pub fn instead_of_fallback(
    metadata: &ArrayMetadata,
    fallback: &ElementSpec,
    data_type: &NamedConfig,
    types: &DataTypes,
) -> Result<(ElementSpec, Vec<NamedConfig>)> {
    let name = data_type.name.as_str();
    let wanted = types.from_config(data_type).map_err(|error| in_type("/data_type", error))?;
    let bytes = fallback.fill.item().filter(|item| item.len() == wanted.item_size());
    let Some(bytes) = bytes.filter(|_| fallback.item_size() == wanted.item_size() && !wanted.is_variable()) else {
        let found = metadata.data_type.short_value();
        let message = format!("elements of type {name} differ in size from elements of the fallback {found}");
        return Err(
            Error::new(ErrorKind::Argument, message).at(|location| location.pointer = Some("/data_type".to_owned()))
        );
    };
    let fill = FillValue::from_bytes(&wanted, bytes).map_err(|error| in_type("/fill_value", error))?;
    let mut codecs = metadata.codecs.clone();
    // Bytes of a fallback without byte order have the draft's default order.
    for bytes in codecs.iter_mut().filter(|codec| codec.name == "bytes" && wanted.item_size() > 1) {
        if !bytes.configuration.contains_key("endian") {
            bytes.configuration.insert("endian", "little");
        }
    }
    Ok((ElementSpec::new(wanted, fill), codecs))
}

fn in_type(member: &str, error: zarr_dtype::Error) -> Error {
    let kind = match error.kind() {
        zarr_dtype::ErrorKind::Unsupported => ErrorKind::UnknownExtension,
        _ => ErrorKind::InvalidMetadata,
    };
    Error::from(error).with_kind(kind).at(|location| location.pointer = Some(member.to_owned()))
}
