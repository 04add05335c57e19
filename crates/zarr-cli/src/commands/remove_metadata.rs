//! `zarr remove-metadata`: erases the documents of one version, as in zarr-python.

use crate::context::Context;
use crate::failure::Result;
use crate::interrupted;
use crate::object::object;
use crate::{escape, number};
use clap::{Args, ValueEnum};
use std::sync::Arc;
use zarr::convert::DocumentRemoval;
use zarr::{Dialect, Store};

/// Erase the metadata documents of one version at all levels.
///
/// This is the command of zarr-python. Chunks stay, except after `zarr migrate`: then the command ends the migration, as --finish does if VERSION is
/// the old version, or as --undo does if VERSION is the new version.
#[derive(Debug, Args)]
pub(crate) struct RemoveMetadata {
    /// The version of the documents to erase: v2 (.zarray, .zgroup, .zattrs, .zmetadata) or v3 (zarr.json).
    #[arg(value_name = "VERSION")]
    version: Version,
    /// The store from which documents are erased.
    #[arg(value_name = "URL")]
    url: String,
    /// Also erase documents of nodes that have no documents of another version; their chunks stay.
    #[arg(long)]
    force: bool,
    /// Erase nothing: list the keys of the documents.
    #[arg(long)]
    dry_run: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Version {
    V2,
    V3,
}

pub(crate) fn run(context: &Context, args: &RemoveMetadata) -> Result<()> {
    if !args.dry_run {
        let left = "some documents may be erased; the same command erases the rest";
        interrupted::watch(left, context.global.json);
    }
    let store = context.open_store(&context.store_address(&args.url)?)?;
    let dialect = match args.version {
        Version::V2 => Dialect::V2,
        Version::V3 => Dialect::V3,
    };
    let removal = DocumentRemoval::plan(&store, dialect, args.force)?;
    if !args.dry_run {
        removal.run()?;
    }
    let keys: Vec<String> = removal.keys().iter().map(ToString::to_string).collect();
    print(context, &store, dialect, &keys, args.dry_run)
}

/// Prints the keys of the documents in a dry run, otherwise only their number.
fn print(context: &Context, store: &Arc<dyn Store>, dialect: Dialect, keys: &[String], is_dry_run: bool) -> Result<()> {
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
        let documents = number::counted(keys.len() as u64, "document");
        format!("{}: {documents} of {dialect} erased\n", escape::line(&store.to_string()))
    })
}
