//! The geometry against models that expand every index.

mod config;
mod cuts;
mod key;
mod model;
mod selection;
