//! The `zarr` command.
fn main() {}
