//! `zarr completions`: completion in shells.

use super::Cli;
use crate::context::Context;
use crate::failure::Result;
use crate::object::object;
use clap::{Args, CommandFactory};
use clap_complete::Shell;

/// Print the completions for a shell.
#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell.
    shell: Shell,
}

pub(crate) fn run(context: &Context, args: &Completions) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "zarr", &mut script);
    let script = String::from_utf8_lossy(&script);
    context.print(|| object! { "script": &*script }, || script.to_string())
}
