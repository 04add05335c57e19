//! The commands, one module each.

mod attrs;
mod consolidate;
mod convert;
mod copy;
mod create;
pub(crate) mod describe;
mod info;
mod list;
mod migrate;
mod outlook;
mod read;
mod remove;
mod tree;
mod write;

use crate::args::{Cli, Command};
use crate::context::Context;
use crate::failure::Result;
use crate::output;
use clap::CommandFactory;
use std::process::ExitCode;

/// Runs what the command line says.
pub(crate) fn run(cli: Cli) -> Result<ExitCode> {
    let context = Context::new(cli.global);
    let done = dispatch(&context, cli.command);
    context.store_warnings();
    done
}

fn dispatch(context: &Context, command: Command) -> Result<ExitCode> {
    match command {
        Command::Tree(args) => return tree::run(context, &args),
        Command::Ls(args) => list::run(context, &args)?,
        Command::Info(node) => info::run(context, &node)?,
        Command::Read(args) => read::run(context, &args)?,
        Command::Create(args) => create::run(context, &args)?,
        Command::Write(args) => write::run(context, &args)?,
        Command::Convert(args) => convert::run(context, &args)?,
        Command::Migrate(args) => migrate::run(context, &args)?,
        Command::Attrs(args) => attrs::run(context, &args)?,
        Command::Cp(args) => copy::run(context, &args, copy::Verb::Copy)?,
        Command::Mv(args) => copy::run(context, &args, copy::Verb::Move)?,
        Command::Rm(args) => remove::run(context, &args)?,
        Command::Consolidate(args) => consolidate::run(context, &args)?,
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "zarr", &mut script);
            output::print(&String::from_utf8_lossy(&script))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
