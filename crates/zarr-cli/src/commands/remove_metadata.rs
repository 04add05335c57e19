//! `zarr remove-metadata`: the documents of one version, as in zarr-python.

use crate::context::Context;
use crate::escape;
use crate::failure::{Exit, Failure, Result};
use crate::object::object;
use clap::{Args, ValueEnum};
use std::sync::Arc;
use zarr::convert::{DocumentRemoval, Migration, MigrationState};
use zarr::{Dialect, Store};

/// Erase the metadata documents of one version at all levels; chunks stay.
///
/// It is the command of zarr-python. After `zarr migrate` it does what --finish (for v2) or --undo (for v3) does.
#[derive(Debug, Args)]
pub(crate) struct RemoveMetadata {
    /// The version: v2 (.zarray, .zgroup, .zattrs, .zmetadata) or v3 (zarr.json).
    #[arg(value_name = "VERSION")]
    version: Version,
    /// The store.
    #[arg(value_name = "URL")]
    url: String,
    /// Erase documents of nodes also where there is none of the other version.
    #[arg(long)]
    force: bool,
    /// Erase nothing: list the keys.
    #[arg(long)]
    dry_run: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Version {
    V2,
    V3,
}

pub(crate) fn run(context: &Context, args: &RemoveMetadata) -> Result<()> {
    let store = context.open_store(&context.store_address(&args.url)?)?;
    let (dialect, other) = match args.version {
        Version::V2 => (Dialect::V2, Dialect::V3),
        Version::V3 => (Dialect::V3, Dialect::V2),
    };
    let is_recorded = Migration::state(&store)? == Some(MigrationState::Done);
    let keys = match is_recorded && !args.dry_run {
        false => erase_documents(&store, dialect, (!args.force).then_some(other), args.dry_run)?,
        true => {
            let keys = erase_documents(&store, dialect, Some(other), true)?;
            match args.version {
                Version::V2 => Migration::finish(&store, Some(other))?,
                Version::V3 => Migration::undo(&store, Some(dialect))?,
            }
            keys
        }
    };
    print(context, &store, dialect, &keys, args.dry_run)
}

/// Erases the documents of a dialect, where there are some of `instead` at each path, and gives their keys. In a dry run it finds them.
pub(super) fn erase_documents(
    store: &Arc<dyn Store>,
    dialect: Dialect,
    instead: Option<Dialect>,
    is_dry_run: bool,
) -> Result<Vec<String>> {
    if !is_dry_run && Migration::state(store)? != Some(MigrationState::Done) {
        Migration::check_settled(store)?;
    }
    let removal = match DocumentRemoval::plan(store, dialect, instead) {
        Ok(removal) => removal,
        // There are none.
        Err(error) if error.is_not_found() && is_absent(store, dialect)? => return Ok(Vec::new()),
        Err(error) => {
            let failure = Failure::from(error);
            let is_missing = failure.exit == Exit::NotFound;
            return Err(if is_missing { failure.with_hint("--force erases them nevertheless") } else { failure });
        }
    };
    if !is_dry_run {
        removal.run()?;
    }
    Ok(removal.keys().iter().map(ToString::to_string).collect())
}

/// Whether there is no hierarchy of a dialect.
fn is_absent(store: &Arc<dyn Store>, dialect: Dialect) -> Result<bool> {
    match zarr::hierarchy::open_node(&**store, "/", Some(dialect)) {
        Ok(_) => Ok(false),
        Err(error) if error.is_not_found() => Ok(true),
        Err(error) => Err(error.into()),
    }
}

/// Prints the keys of documents: each in a dry run, else how many they are.
pub(super) fn print(
    context: &Context,
    store: &Arc<dyn Store>,
    dialect: Dialect,
    keys: &[String],
    is_dry_run: bool,
) -> Result<()> {
    let facts = || {
        object! {
            "store": store.to_string(),
            "dialect": dialect.name(),
            "dry_run": is_dry_run,
            "keys": keys.to_vec(),
        }
    };
    if is_dry_run {
        let line = |key: &String| format!("{}\n", escape::line(key));
        return context.print(facts, || keys.iter().map(line).collect());
    }
    context.summary(facts, || {
        let (count, noun) = (keys.len(), if keys.len() == 1 { "document" } else { "documents" });
        format!("{}: {count} {noun} of {dialect} erased\n", escape::line(&store.to_string()))
    })
}
