//! `zarr migrate`: writes the metadata of a hierarchy in another format, in place. It accepts the arguments of `zarr migrate` of
//! zarr-python as well.

use super::conversion_lines::{facts, ome_line};
use super::convert::{InterruptionMessages, carry_out};
use super::dry_run;
use crate::args::{Loss, dialect};
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::object::object;
use crate::{escape, interrupted, number};
use clap::Args;
use std::sync::Arc;
use zarr::convert::{Action, DocumentRemoval, Migration};
use zarr::store::StoreAddress;
use zarr::{Dialect, Store};

/// Convert a hierarchy into another format in place; the old documents stay until --finish.
///
/// `zarr migrate v3 URL [OUTPUT]` is the command of zarr-python with its options. With OUTPUT only documents are written, to the store OUTPUT.
/// Chunks stay in URL, for readers that combine both stores.
#[derive(Debug, Args)]
#[command(override_usage = "zarr migrate [OPTIONS] URL\n       zarr migrate [OPTIONS] v3 URL [OUTPUT]")]
pub(crate) struct Migrate {
    /// The store. The dialect to write may precede it; a second store, to which only documents are written, may follow it.
    #[arg(value_name = "URL", required = true, num_args = 1..=3)]
    addresses: Vec<String>,
    /// The dialect to write: v3 (the default), v2, d2022, p2020 or p2019. --finish and --undo need it only for a migration that is not
    /// recorded in the store.
    #[arg(long, value_name = "DIALECT", aliases = ["format", "zarr-format"], value_parser = dialect)]
    dialect: Option<Dialect>,
    /// Write nothing: show the result and the cost of each node.
    #[arg(long, conflicts_with_all = ["finish", "undo"])]
    dry_run: bool,
    /// Erase the old documents, and old chunks that the new arrays do not use.
    #[arg(long, conflicts_with = "undo")]
    finish: bool,
    /// Erase the new documents, and new chunks that the old arrays do not use. Fails if this would erase data that was written to the new
    /// hierarchy after the migration.
    #[arg(long)]
    undo: bool,
    /// The maximum number of bytes of memory for data.
    #[arg(long, value_name = "SIZE", value_parser = number::parse_size, default_value = "1GiB", hide_short_help = true)]
    memory: u64,
    /// First erase existing documents of the new dialect: documents of a recorded migration, and documents beside which there is a document
    /// of an old dialect. Erases nothing if the migration is impossible, or if documents that were changed since, or chunks that the old
    /// arrays do not use, would be erased.
    #[arg(long, conflicts_with_all = ["finish", "undo"], help_heading = AS_ZARR_PYTHON)]
    overwrite: bool,
    /// With --overwrite, also erase documents without a document of an old dialect beside them, documents that were changed since, and
    /// chunks of the new arrays that the old arrays do not use, with all data that was written to them. With --undo, also erase data that
    /// was written to the new hierarchy after the migration.
    #[arg(long, help_heading = AS_ZARR_PYTHON)]
    force: bool,
    /// Erase the old documents at the end, as --finish does.
    #[arg(long, conflicts_with_all = ["finish", "undo"], help_heading = AS_ZARR_PYTHON)]
    remove_v2_metadata: bool,
    #[command(flatten)]
    loss: Loss,
}

/// Heading in the help for the arguments of zarr-python.
const AS_ZARR_PYTHON: &str = "As in zarr-python";

/// Positional arguments of `zarr migrate`, and the dialect to write.
struct Names<'a> {
    dialect: Option<Dialect>,
    source: &'a str,
    output: Option<&'a str>,
}

impl Migrate {
    fn names(&self) -> Result<Names<'_>> {
        let (dialect, rest) = match self.addresses.as_slice() {
            [first, rest @ ..] if !rest.is_empty() => {
                let named = dialect(first).map_err(|expected| {
                    let message = format!("found {first} before another store: {expected}");
                    Failure::usage(message).with_hint("zarr migrate URL, or zarr migrate v3 URL [OUTPUT]")
                })?;
                (Some(named), rest)
            }
            all => (None, all),
        };
        let Some((source, output)) = rest.split_first() else { return Err(Failure::usage("expected a store")) };
        if let (Some(a), Some(b)) = (dialect, self.dialect)
            && a != b
        {
            return Err(Failure::usage(format!("found {a}, and --dialect {b}")));
        }
        Ok(Names { dialect: dialect.or(self.dialect), source, output: output.first().map(String::as_str) })
    }
}

pub(crate) fn run(context: &Context, args: &Migrate) -> Result<()> {
    let names = args.names()?;
    args.loss.meaning.followed()?;
    if args.force && !args.overwrite && !args.undo {
        return Err(Failure::usage(
            "found --force without --overwrite and --undo, of which it says what they may drop",
        ));
    }
    let address = context.store_address(names.source)?;
    if args.finish || args.undo {
        if let Some(output) = names.output {
            let message = format!("found {output} behind the store, which --finish and --undo have nothing to do with");
            return Err(Failure::usage(message).with_hint("`zarr migrate --finish URL`"));
        }
        let store = context.open_store(&address)?;
        interrupted::leaves("some documents may be dropped; the same command drops the rest");
        let done = match args.finish {
            true => Migration::finish(&store, names.dialect).map(|()| ("finished", "the old documents are dropped")),
            false => {
                let undo = if args.force { Migration::undo_with_changes } else { Migration::undo };
                undo(&store, names.dialect).map(|()| ("undone", "the new documents are dropped"))
            }
        };
        let (state, text) = done?;
        let line = || format!("{}: {text}\n", escape::line(names.source));
        return context.summary(|| object! { "store": store.to_string(), "state": state }, line);
    }
    let dialect = names.dialect.unwrap_or(Dialect::V3);
    if args.remove_v2_metadata && dialect.is_v2() {
        let message = "--remove-v2-metadata would drop the documents that are written: the dialect to write is v2";
        return Err(Failure::usage(message).with_hint("--finish drops the old documents"));
    }
    match names.output {
        Some(output) => elsewhere(context, args, (&address, &context.store_address(output)?), dialect),
        None => in_place(context, args, &context.open_store(&address)?, dialect),
    }
}

fn in_place(context: &Context, args: &Migrate, store: &Arc<dyn Store>, dialect: Dialect) -> Result<()> {
    let options = context.convert_options(args.loss, args.memory);
    let migration = match args.overwrite {
        true => Migration::plan_replacing(store, &context.registry, dialect, options, args.force)?,
        false => Migration::plan_with(store, &context.registry, dialect, options)?,
    };
    if args.dry_run {
        return preview(context, &migration, dialect);
    }
    let left = InterruptionMessages {
        before: "the migration is not complete; the same command goes on, `zarr migrate --undo` drops what is written"
            .to_owned(),
        after: "all is written; `zarr migrate --finish` drops the old documents, `zarr migrate --undo` the new ones"
            .to_owned(),
    };
    carry_out(context, migration.conversion(), &left, |progress| migration.run(progress))?;
    if args.remove_v2_metadata {
        interrupted::leaves("some old documents may be dropped; `zarr migrate --finish` drops the rest");
        Migration::finish(store, Some(dialect))?;
    }
    let state = if args.remove_v2_metadata { "finished" } else { "done" };
    let rest = match args.remove_v2_metadata {
        true => "the old documents are dropped",
        false => "the old documents stay until --finish",
    };
    summarize(context, store, &migration, state, rest)
}

/// Writes the converted documents, and no chunks, into another store.
fn elsewhere(
    context: &Context,
    args: &Migrate,
    (from, to): (&StoreAddress, &StoreAddress),
    dialect: Dialect,
) -> Result<()> {
    context.share_options(&[from, to])?;
    super::convert::refuse_overlap(from, to)?;
    let store = context.open_store(from)?;
    let options = context.convert_options(args.loss, args.memory);
    let migration = Migration::plan_with(&store, &context.registry, dialect, options)?;
    if args.dry_run {
        return preview(context, &migration, dialect);
    }
    let output = context.create_store(to)?;
    Migration::check_settled(&output)?;
    interrupted::leaves("some documents may be written; the same command with --overwrite writes all");
    match args.overwrite {
        true => migration.write_documents_replacing(&output, args.force)?,
        false => migration.write_documents(&output)?,
    }
    if args.remove_v2_metadata {
        DocumentRemoval::plan(&output, Dialect::V2, false)?.run()?;
    }
    summarize(context, &output, &migration, "done", "only documents are written, and no chunks")
}

/// Prints the plan of the migration, for a dry run.
fn preview(context: &Context, migration: &Migration, dialect: Dialect) -> Result<()> {
    let (documents, chunks) = (migration.replaced().len(), migration.replaced_chunks());
    if documents > 0 {
        let documents = number::counted(documents as u64, "document");
        let chunks = match chunks {
            0 => String::new(),
            _ => format!(", and {} with what was written to them", number::counted(chunks as u64, "chunk")),
        };
        context.warnings(&[format!("would first drop {documents} of {dialect}{chunks}")]);
    }
    dry_run::print(context, migration.conversion(), Vec::new())
}

fn summarize(context: &Context, store: &Arc<dyn Store>, migration: &Migration, state: &str, rest: &str) -> Result<()> {
    let count = |how: &[Action]| migration.nodes().iter().filter(|node| how.contains(&node.how)).count() as u64;
    let (groups, kept) = (count(&[Action::Group]), count(&[Action::Keep]));
    let converted = count(&[Action::CopyChunks, Action::Reencode]);
    context.summary(
        || {
            object! {
                "store": store.to_string(),
                "state": state,
                "groups": groups,
                "kept": kept,
                "converted": converted,
                "nodes": migration.nodes().iter().map(facts).collect::<Vec<_>>(),
            }
        },
        || {
            format!(
                "{}, {} with the chunks that are there, {} with new ones; {rest}\n{}",
                number::counted(groups, "group"),
                number::counted(kept, "array"),
                number::grouped(converted),
                ome_line(migration.nodes(), false),
            )
        },
    )
}
