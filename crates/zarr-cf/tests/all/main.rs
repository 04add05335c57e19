//! Tests of the crate as its users see it.

mod attributes;
mod calendars;
mod errors;
mod packed;
mod properties;
mod vectors;
