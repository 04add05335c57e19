//! `zarr completions`: completion in shells.

use super::Cli;
use crate::context::Context;
use crate::failure::Result;
use crate::output;
use clap::{Args, CommandFactory};
use clap_complete::Shell;

/// Print the completions for a shell.
#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell.
    shell: Shell,
}

pub(crate) fn run(_: &Context, args: &Completions) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "zarr", &mut script);
    output::print(&String::from_utf8_lossy(&script))
}
