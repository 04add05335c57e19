//! The `zarr` command, run over small stores that it makes itself.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod absent;
mod addresses;
mod advise;
mod append;
mod arrow_files;
mod arrow_selections;
mod bench_codecs;
#[cfg(target_os = "linux")]
mod beside;
mod buckets;
mod cases;
mod channels;
mod check;
mod chunks;
mod consolidated_only;
mod convert;
mod create;
mod cut_off;
mod dataset;
mod diff;
mod digest;
mod documents;
mod drafts;
mod du;
mod elided;
mod errors;
mod first_steps;
mod folder;
mod geozarr;
mod hdf5_files;
mod hostile;
mod icechunk;
mod input;
#[cfg(target_os = "linux")]
mod interrupted;
mod json;
mod kept;
mod killed;
mod labels;
#[cfg(target_os = "linux")]
mod left;
mod look;
mod maps;
mod meant;
mod metadata;
mod mixed;
mod nodes;
mod objects;
mod ome;
mod other_formats;
mod output;
mod over;
mod pager;
mod plates;
mod pyramid;
mod pyramid_parts;
mod read_write;
mod region;
mod resumed;
mod rounding;
mod serve;
mod shapes;
#[cfg(target_os = "linux")]
mod signalled;
mod stats;
mod tables;
#[cfg(target_os = "linux")]
mod taken_over;
mod times;
mod topics;
mod transcripts;
mod unread;
mod view;
mod virtualize;
mod zip_files;
