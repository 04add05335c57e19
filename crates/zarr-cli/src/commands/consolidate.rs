//! `zarr consolidate`: writes copies of all metadata into one document.

use super::bar::Bar;
use super::consolidated::renew;
use crate::args::NodeArgs;
use crate::context::{Context, NodeLocation};
use crate::failure::{Failure, Result};
use crate::interrupted;
use crate::object::{object, or_null};
use crate::{escape, number};
use clap::Args;
use std::time::Instant;
use zarr::hierarchy::Staleness;
use zarr::meta::consolidated::document_key;
use zarr::meta::json::Value;
use zarr::meta::{NodePath, StoredNode};
use zarr::store::{Key, Store, StoreExt, StoreKind};

/// Write consolidated metadata of a group, check whether it is stale, or drop it.
#[derive(Debug, Args)]
pub(crate) struct Consolidate {
    #[command(flatten)]
    node: NodeArgs,
    /// Write nothing: list differences from the nodes; if there are some, the exit code is 4.
    #[arg(long, conflicts_with = "drop")]
    check: bool,
    /// Drop it.
    #[arg(long)]
    drop: bool,
}

pub(crate) fn run(context: &Context, args: &Consolidate) -> Result<()> {
    if !args.check {
        let left = match args.drop {
            true => "consolidated metadata is as before, or dropped; the same command drops it",
            false => "consolidated metadata is as before, new or dropped; the same command writes it",
        };
        interrupted::watch(left, context.global.json);
    }
    let location = context.locate(&args.node)?;
    let path = location.path.to_string();
    if !args.check {
        context.check_writers(&location, "a change of metadata")?;
        zarr::convert::Migration::check_settled(&location.store)?;
        context.check_all(&location)?;
    }
    if args.drop {
        let dropped = zarr::hierarchy::drop_consolidated(&*location.store, &path, location.dialect);
        dropped.map_err(|error| location.with_near(error))?;
        let line = || format!("{}: consolidated metadata dropped\n", escape::line(&location.to_string()));
        return context.summary(|| object! { ..location.facts(), "dropped": true }, line);
    }
    if !args.check {
        return consolidate(context, &location, &path);
    }
    let stale = zarr::hierarchy::staleness(&*location.store, &path, location.dialect);
    let stale = stale.map_err(|error| location.with_near(error))?;
    let is_unknown = stale.is_none() && has_unknown_kind(&*location.store, &context.node(&location)?)?;
    if is_unknown {
        context.warnings(&[format!(
            "{location}: the consolidated metadata is of an unknown kind: no reader takes it, and nothing is compared"
        )]);
    }
    context.print(|| json(stale.as_ref()), || text(stale.as_ref()))?;
    match stale.is_some_and(|stale| stale.is_stale()) {
        false => Ok(()),
        true => Err(Failure::data("stale", format!("{}: {path}: the consolidated metadata is stale", location.store))
            .with_hint("without --check it is written again")),
    }
}

/// Writes consolidated metadata, and prints the number of nodes in it.
fn consolidate(context: &Context, location: &NodeLocation, path: &str) -> Result<()> {
    let (bar, started) = (Bar::waiting("consolidating", context.global.quiet), Instant::now());
    let done = zarr::hierarchy::consolidate(&*location.store, path, location.dialect);
    bar.finish();
    let nodes = done.map_err(|error| location.with_near(error))?;
    // Without conditional writes, concurrent changes are found only by a comparison. In remote stores, where each look is a request, the
    // comparison in the library is enough.
    let is_remote = location.store.access_profile().kind == StoreKind::Remote;
    let is_looked_at = !is_remote && !location.store.capabilities().conditional;
    if is_looked_at && !renew(&*location.store, path, location.dialect).map_err(|error| location.with_near(error))? {
        let failure = Failure::data(
            "stale",
            format!("{location}: others changed nodes again and again; the metadata was dropped"),
        );
        return Err(failure.with_hint("consolidate again when they are done"));
    }
    let seconds = started.elapsed().as_secs_f64();
    context.summary(
        || object! { ..location.facts(), "nodes": nodes, "seconds": seconds },
        || {
            let (place, nodes) = (location.to_string(), number::counted(nodes, "node"));
            format!("{}: metadata of {nodes} in {seconds:.1} s\n", escape::line(&place))
        },
    )
}

/// Returns whether a group has consolidated metadata of an unknown kind, and none of a known kind.
fn has_unknown_kind(store: &dyn Store, found: &StoredNode) -> Result<bool> {
    let Some(group) = found.node.as_group() else { return Ok(false) };
    match document_key(found) {
        Some(key) => Ok(store.exists(&Key::new(&key).map_err(zarr::Error::from)?).map_err(zarr::Error::from)?),
        None => Ok(group.extra.get("consolidated_metadata").is_some_and(|copy| !copy.is_null())),
    }
}

fn text(stale: Option<&Staleness>) -> String {
    match stale {
        None => "there is no consolidated metadata\n".to_owned(),
        Some(stale) if !stale.is_stale() => "up to date\n".to_owned(),
        Some(stale) => {
            let differences = [("missing", &stale.missing), ("gone", &stale.gone), ("changed", &stale.changed)];
            let lines = |(state, paths): (&str, &Vec<NodePath>)| {
                let line = |path: &NodePath| format!("{state:<8} {}\n", escape::line(&path.to_string()));
                paths.iter().map(line).collect::<String>()
            };
            differences.map(lines).concat()
        }
    }
}

fn json(stale: Option<&Staleness>) -> Value {
    let paths = |paths: &[NodePath]| paths.iter().map(ToString::to_string).collect::<Vec<_>>();
    or_null(stale.map(|stale| {
        object! {
            "stale": stale.is_stale(),
            "missing": paths(&stale.missing),
            "gone": paths(&stale.gone),
            "changed": paths(&stale.changed),
        }
    }))
}
