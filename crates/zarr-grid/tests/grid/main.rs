//! The geometry against models that expand every index.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod config;
mod key;
mod model;
mod overlaps;
mod selection;
