//! Zarr data type and codec `optional`: elements that may be missing.
//!
//! The data type names the type of what is there, `{"name": "int16"}`, with its configuration if it has one. An element lies in
//! memory as a struct of two fields: `present`, a bool, and `value`, which is all 0 where nothing is. In documents `null` is an
//! element that is missing, and `[5]` one that is there. Types of variable length are not taken.
//!
//! The codec stores which elements are there by `mask_codecs`, as bools in the shape of the chunk, and those that are by
//! `data_codecs`, as a list. A chunk is the number of bytes of each, in 64 bits, little-endian, and then both. Nothing is
//! encoded of a chunk without elements.
//!
//! Knows no other codec, and no data type beside its own.
//!
//! ```
//! use zarr_codec_optional::DATA_TYPE;
//! use zarr_dtype::{DataTypes, FillValue};
//! use zarr_json::{NamedConfig, json};
//!
//! let mut types = DataTypes::default();
//! types.add(DATA_TYPE);
//! let named = json!({"name": "optional", "configuration": {"name": "uint8"}});
//! let data_type = types.from_config(&NamedConfig::from_value(&named).expect("a name"))?;
//! assert_eq!(FillValue::parse(&data_type, &json!([42]))?.bytes(), [1, 42]);
//! assert_eq!(FillValue::parse(&data_type, &json!(null))?.bytes(), [0, 0]);
//! # Ok::<(), zarr_dtype::Error>(())
//! ```
//!
//! <https://github.com/zarr-developers/zarr-extensions/tree/main/data-types/optional>,
//! <https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/optional>
#![warn(clippy::indexing_slicing)]

mod codec;
mod data_type;

pub use codec::{CODECS, OPTIONAL};
pub use data_type::{DATA_TYPE, NAMES, value_type};

#[cfg(test)]
mod tests;
