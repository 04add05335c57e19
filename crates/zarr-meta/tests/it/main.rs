//! Laws and examples for whole documents.

#[cfg(test)]
mod arbitrary;
#[cfg(test)]
mod attribute_laws;
#[cfg(test)]
mod consolidated;
#[cfg(test)]
mod convert;
#[cfg(test)]
mod d2022;
#[cfg(test)]
mod drafts;
#[cfg(test)]
mod hierarchy;
#[cfg(test)]
mod laws;
#[cfg(test)]
mod meaning;
#[cfg(test)]
mod not_json;
#[cfg(test)]
mod older_laws;
#[cfg(test)]
mod p2019;
#[cfg(test)]
mod p2020;
#[cfg(test)]
mod parse_options;
#[cfg(test)]
mod probe;
#[cfg(test)]
mod serde;
#[cfg(test)]
mod store;
#[cfg(test)]
mod v1;
#[cfg(test)]
mod v2;
#[cfg(test)]
mod v3;
#[cfg(test)]
mod write_back;
