//! The `zarr` command, run over small stores that it makes itself.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod addresses;
mod append;
mod buckets;
mod check;
mod convert;
mod create;
mod dataset;
mod diff;
mod digest;
mod documents;
mod elided;
mod errors;
mod folder;
mod hostile;
mod json;
mod labels;
mod look;
mod metadata;
mod mixed;
mod nodes;
mod objects;
mod ome;
mod output;
mod read_write;
mod resumed;
mod serve;
mod shapes;
mod tables;
mod times;
mod transcripts;
mod view;
