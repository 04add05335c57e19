//! Laws and examples for whole documents.

mod arbitrary;
mod attribute_laws;
mod consolidated;
mod convert;
mod d2022;
mod drafts;
mod hierarchy;
mod laws;
mod meaning;
mod not_json;
mod older_laws;
mod p2019;
mod p2020;
mod parse_options;
mod probe;
mod serde;
mod store;
mod v1;
mod v2;
mod v3;
mod write_back;
