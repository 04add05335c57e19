//! The `zarr` command: looks at, reads, writes and converts Zarr data.
//!
//! Knows how to talk to people and scripts; everything about Zarr itself is in the libraries.

mod args;
mod codecs;
mod columns;
mod commands;
mod context;
mod escape;
mod failure;
mod format;
mod near;
mod npy;
mod number;
mod object;
mod output;
mod pieces;
mod report;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    let wants_json = report::wants_json(std::env::args_os());
    report::on_panic(wants_json);
    // Until the arguments say otherwise.
    anstream::ColorChoice::Never.write_global();
    let done = match commands::Cli::try_parse() {
        Ok(cli) => commands::run(cli).map(|()| ExitCode::SUCCESS),
        Err(error) => report::usage(&error),
    };
    match done {
        Ok(code) => code,
        Err(failure) => report::failure(&failure, wants_json),
    }
}
