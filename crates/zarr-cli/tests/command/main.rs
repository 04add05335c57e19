//! The `zarr` command, run over small stores that it makes itself.

mod convert;
mod errors;
mod folder;
mod look;
mod read_write;
