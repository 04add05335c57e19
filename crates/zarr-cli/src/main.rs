//! The `zarr` command: looks at, reads, writes and converts Zarr data.
//!
//! Knows how to talk to people and scripts; everything about Zarr itself is in the libraries.

mod args;
mod codecs;
mod commands;
mod context;
mod escape;
mod failure;
mod format;
mod npy;
mod number;
mod output;
mod pieces;
mod report;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    let wants_json = report::wants_json(std::env::args_os());
    report::on_panic(wants_json);
    let done = match args::Cli::try_parse() {
        Ok(cli) => commands::run(cli),
        Err(error) => report::usage(&error),
    };
    match done {
        Ok(code) => code,
        Err(failure) => report::failure(&failure, wants_json),
    }
}
