//! JSON values that preserve the order of members and the spelling of numbers, for Zarr documents.
//!
//! A metadata document that is read and written back must stay as it was: members in their order, and numbers in their spelling (`1e2`,
//! `1.0`, integers of any size). Errors must tell their place in the document. Older dialects also have syntax that is not JSON (the
//! literals `NaN`, `Infinity` and `-Infinity`, and trailing commas), and strings of Python can have lone surrogates. Hence this crate has
//! its own small value type beside `serde_json`, and converts to and from it.
//!
//! `serde_json` keeps the spelling of numbers only with a feature (`arbitrary_precision`) that changes its behaviour for every other
//! crate of a program.
//!
//! This crate knows nothing of Zarr but the form of its extension points, [`NamedConfig`].
//!
//! # Example
//! ```
//! use zarr_json::{ParseOptions, Value, json, parse, pointer::At};
//!
//! let text = r#"{"fill_value": NaN, "shape": [4, 1e2]}"#;
//! let mut value = parse(text.as_bytes(), ParseOptions::ALL)?.value;
//! let error = At::root(&value).member("shape")?.sizes().unwrap_err();
//! assert_eq!(error.to_string(), "/shape/1: found 1e2, expected an integer from 0 to 2^63-1");
//!
//! if let Value::Object(members) = &mut value {
//!     members.insert("order", json!("C"));
//! }
//! assert_eq!(value.to_string(), r#"{"fill_value":NaN,"shape":[4,1e2],"order":"C"}"#);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod pointer;

mod deserialize;
mod deviations;
mod lookup;
mod map;
mod members;
mod named;
mod names;
mod near;
mod number;
mod parse;
mod recent;
mod serde_error;
mod serialize;
mod spelling;
mod surrogate;
mod value;
mod write;

pub use deserialize::from_value;
pub use deviations::{Deviation, DeviationKind, ParseOptions};
pub use map::{IntoMembers, Map};
pub use named::NamedConfig;
pub use near::nearest_name;
pub use number::Number;
pub use parse::{ApartError, MemberText, Parsed, ParsedApart, SyntaxError, begins_in, parse, parse_apart};
pub use serde_error::SerdeError;
pub use serialize::to_value;
pub use value::Value;
