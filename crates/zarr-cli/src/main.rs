//! The `zarr` command; its code is the library of this package.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(zarr_cli::run(std::env::args_os()))
}
