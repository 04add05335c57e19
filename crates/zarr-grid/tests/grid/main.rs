//! The geometry against models that expand every index.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod config;
mod cuts;
mod key;
mod model;
mod selection;
