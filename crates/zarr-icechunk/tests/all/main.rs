//! Tests of the crate by its public items.

#![allow(clippy::panic, reason = "a test that cannot go on fails")]

mod damage;
mod repositories;
