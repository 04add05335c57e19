//! The `zarr` command: looks at, reads, writes and converts Zarr data.
//!
//! This crate interacts with people and scripts; everything about Zarr itself is in the libraries. It is a library, so that programs such
//! as the Python package can include the command. Its only function is [`run()`].

mod args;
mod codecs;
mod columns;
mod commands;
mod context;
mod escape;
mod failure;
mod file_names;
mod fitted;
mod format;
mod hints;
mod interrupted;
mod missing;
mod near;
mod npy;
mod number;
mod object;
mod output;
mod pager;
mod report;
mod run;
mod selection_pieces;
mod table;
mod usage;
mod walks;

pub use run::run;
