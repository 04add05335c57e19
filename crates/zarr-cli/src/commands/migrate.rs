//! `zarr migrate`: a hierarchy in another format, in place.

use super::convert::carry_out;
use super::dry_run;
use crate::args::{Loss, dialect};
use crate::context::Context;
use crate::failure::Result;
use crate::{number, output};
use clap::Args;
use zarr::Dialect;
use zarr::convert::{Action, Migration};

/// Convert a hierarchy into another format in place; the old documents stay until --finish.
#[derive(Debug, Args)]
pub(crate) struct Migrate {
    /// The store.
    #[arg(value_name = "URL")]
    url: String,
    /// The dialect to write: v3 (the default), v2, d2022, p2020 or p2019. With --finish and --undo the record in
    /// the store has it; only a migration without a record needs it.
    #[arg(long, value_name = "DIALECT", value_parser = dialect)]
    dialect: Option<Dialect>,
    /// Write nothing: show the result and the cost for each node.
    #[arg(long, conflicts_with_all = ["finish", "undo"])]
    dry_run: bool,
    /// Drop the old documents, and old chunks that the new arrays do not use.
    #[arg(long, conflicts_with = "undo")]
    finish: bool,
    /// Drop the new documents, and new chunks that the old arrays do not use.
    #[arg(long)]
    undo: bool,
    /// How much memory may be used for data.
    #[arg(long, value_name = "SIZE", value_parser = number::parse_size, default_value = "1GiB")]
    memory: u64,
    #[command(flatten)]
    loss: Loss,
}

pub(crate) fn run(context: &Context, args: &Migrate) -> Result<()> {
    let store = context.open_store(&context.store_address(&args.url)?)?;
    if args.finish {
        return Ok(Migration::finish(&store, args.dialect)?);
    }
    if args.undo {
        return Ok(Migration::undo(&store, args.dialect)?);
    }
    let (dialect, options) = (args.dialect.unwrap_or(Dialect::V3), context.convert_options(args.loss, args.memory));
    let migration = Migration::plan_with(&store, &context.registry, dialect, options)?;
    if args.dry_run {
        return dry_run::print(context, migration.conversion(), Vec::new());
    }
    carry_out(context, migration.conversion(), |progress| migration.run(progress))?;
    if context.global.quiet {
        return Ok(());
    }
    let count = |how: &[Action]| migration.nodes().iter().filter(|node| how.contains(&node.how)).count() as u64;
    output::print(&format!(
        "{} groups, {} arrays that keep their chunks, {} with new chunks; the old documents stay until --finish\n",
        number::grouped(count(&[Action::Group])),
        number::grouped(count(&[Action::Keep])),
        number::grouped(count(&[Action::CopyChunks, Action::Reencode])),
    ))
}
