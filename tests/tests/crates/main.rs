//! The crates below by their public items: in one program that is not optimised, beside crates that are.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on says so")]

mod array;
mod drive;
mod dtype;
mod grid;
mod json_serde;
mod meta;
mod sharding;
mod store;
