//! Obsolete dialects: versions 0 and 1, and the drafts of version 3. They are only in builds with the feature `drafts`; in other builds
//! `dialect/absent.rs` has rules for them that return errors.
//!
//! The modules use the shared code in `dialect`. Code outside of this folder uses only their [`Rules`](crate::dialect::rules::Rules), the
//! consolidated metadata of `p2020`, and the data types of extensions.

mod d2022;
mod p2019;
pub(crate) mod p2020;
mod v0;
mod v1;
pub(crate) mod v3;

pub(crate) use d2022::V3Draft2022;
pub(crate) use p2019::V3Protocol2019;
pub(crate) use p2020::V3Protocol2020;
pub(crate) use v0::V0;
pub(crate) use v1::V1;
