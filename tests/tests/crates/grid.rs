//! The geometry against models that expand every index.

mod config;
mod key;
mod model;
mod overlaps;
mod selection;
