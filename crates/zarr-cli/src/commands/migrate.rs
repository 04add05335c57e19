//! `zarr migrate`: a hierarchy in another format, where it lies.

use super::convert::carry_out;
use super::outlook;
use crate::args::Migrate;
use crate::context::Context;
use crate::failure::Result;
use crate::{number, output};
use zarr::{ConvertOptions, Dialect, How, Migration};

pub(crate) fn run(context: &Context, args: &Migrate) -> Result<()> {
    let store = context.open_store(&args.url)?;
    if args.finish {
        return Ok(Migration::finish(&store, args.dialect)?);
    }
    if args.undo {
        return Ok(Migration::undo(&store, args.dialect)?);
    }
    let options = ConvertOptions {
        memory: args.memory,
        carry: args.loss.carry,
        fill_value_attribute: args.loss.fill_value_attribute,
        options: context.options(),
        ..ConvertOptions::default()
    };
    let dialect = args.dialect.unwrap_or(Dialect::V3);
    let migration = Migration::plan_with(&store, &context.registry, dialect, options)?;
    if args.dry_run {
        return outlook::print(context, migration.conversion(), Vec::new());
    }
    carry_out(context, migration.conversion(), |progress| migration.run(progress))?;
    if context.global.quiet {
        return Ok(());
    }
    let count = |how: &[How]| migration.nodes().iter().filter(|node| how.contains(&node.how)).count() as u64;
    output::print(&format!(
        "{} groups, {} arrays whose chunks stay, {} with chunks of their own; the old documents are there until --finish\n",
        number::grouped(count(&[How::Group])),
        number::grouped(count(&[How::Keep])),
        number::grouped(count(&[How::Copy, How::Recode])),
    ))
}
