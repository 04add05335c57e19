//! The integration tests of the workspace, in one binary.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says so")]

mod appenders;
mod appending;
mod attributes;
mod blocks;
#[cfg(target_os = "linux")]
mod bombs;
mod buckets;
mod cached_requests;
mod caches;
mod cancelled;
mod codec_names;
mod concurrent;
mod conformance;
mod creating;
mod dates;
mod dead_space;
mod decoded_values;
mod derived;
mod derived_structs;
mod deviations;
mod display;
mod elision;
mod foreign;
mod fuzz;
mod gone;
mod hierarchies;
#[cfg(target_os = "linux")]
mod hostile;
mod interrupted;
mod interrupted_migration;
mod interrupted_move;
mod keys_kept;
mod laws;
mod layouts;
mod matrix;
mod memory_of_callers;
mod memory_of_readers;
mod migration;
mod missing;
mod model;
mod objects;
mod older;
mod opening;
mod other_files;
mod overtaken;
mod packages;
mod plans;
mod remote_writers;
mod replaced;
mod requests;
mod resumed;
mod same_verbs;
mod scale;
mod scattered_writes;
mod selections;
mod service_copies;
mod small_floats;
mod sparse;
mod store_errors;
mod typed_attributes;
mod typed_codecs;
mod writers;
mod xarray;
mod xarray_encoding;
