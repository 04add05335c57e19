//! Zarr data type and codec `optional`: elements that may be missing.
//!
//! The configuration of the data type is the name of the type of present values, as in `{"name": "int16"}`, with the configuration of that
//! type if it has any. An element lies in memory as a struct of two fields: `present`, a bool, and `value`, which is all 0 for a missing
//! element. In documents, `null` is a missing element, and `[5]` is a present one. Types of variable length are not supported.
//!
//! The codec encodes a mask of the present elements by `mask_codecs`, as bools in the shape of the chunk, and the present values by
//! `data_codecs`, as a list. A chunk consists of the number of bytes of the mask and of the values, each in 64 bits, little-endian,
//! followed by the mask and the values. If no element is present, the values take no bytes.
//!
//! This crate depends on no other codec, and on no data type besides its own.
//!
//! ```
//! use zarr_codec::Chain;
//! use zarr_codec_bytes::Bytes;
//! use zarr_codec_optional::{DATA_TYPE, Optional};
//! use zarr_codec_packbits::Packbits;
//! use zarr_dtype::{DataTypes, FillValue};
//! use zarr_json::{NamedConfig, json};
//!
//! let mut types = DataTypes::default();
//! types.add(DATA_TYPE);
//! let named = json!({"name": "optional", "configuration": {"name": "int16"}});
//! let data_type = types.from_config(&NamedConfig::from_value(&named).expect("a name")).expect("a data type");
//! assert_eq!(FillValue::parse(&data_type, &json!(null)).expect("nothing").bytes(), [0, 0, 0]);
//!
//! let codec = Chain::new(&data_type, &[3]).then(Optional::of(Packbits::new(), Bytes::little_endian())).build()?;
//! // Bools that say which elements are present, and numbers: 0x0201, missing, 0x0403.
//! let items = [&[1][..], &0x0201_i16.to_ne_bytes(), &[0, 0, 0], &[1], &0x0403_i16.to_ne_bytes()].concat();
//! let encoded = codec.encode(&items)?;
//! assert_eq!(encoded[16..], [0b101, 1, 2, 3, 4]);
//! assert_eq!(codec.decode(&encoded)?, items);
//! # Ok::<(), zarr_codec::Error>(())
//! ```
//!
//! <https://github.com/zarr-developers/zarr-extensions/tree/main/data-types/optional>,
//! <https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/optional>
#![warn(clippy::indexing_slicing)]

mod codec;
mod data_type;

pub use codec::{CODECS, OPTIONAL, Optional};
pub use data_type::{DATA_TYPE, NAMES, value_type};

#[cfg(test)]
mod tests;
