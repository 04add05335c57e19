//! `zarr consolidate`: copies of all metadata in one document.

use crate::args::Consolidate;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::{escape, output};
use zarr::meta::json::{Map, Value};
use zarr::{NodePath, Staleness};

pub(crate) fn run(context: &Context, args: &Consolidate) -> Result<()> {
    let place = context.place(&args.node)?;
    let path = place.path.to_string();
    if !args.check {
        zarr::Migration::check_settled(&place.store)?;
        context.check_all(&place)?;
    }
    if args.drop {
        return Ok(zarr::drop_consolidated(&*place.store, &path, place.dialect)?);
    }
    if !args.check {
        return Ok(zarr::consolidate(&*place.store, &path, place.dialect)?);
    }
    let stale = zarr::staleness(&*place.store, &path, place.dialect)?;
    if context.global.json {
        output::json(&json(stale.as_ref()))?;
    } else {
        output::print(&text(stale.as_ref()))?;
    }
    match stale.is_some_and(|stale| stale.is_stale()) {
        false => Ok(()),
        true => Err(Failure::data("stale", format!("{}: {path}: the consolidated metadata is stale", place.store))
            .with_hint("without --check it is written anew")),
    }
}

/// The nodes in which it differs, each with what is the matter.
fn differences(stale: &Staleness) -> [(&'static str, &[NodePath]); 3] {
    [("missing", &stale.missing), ("gone", &stale.gone), ("changed", &stale.changed)]
}

fn text(stale: Option<&Staleness>) -> String {
    match stale {
        None => "there is no consolidated metadata\n".to_owned(),
        Some(stale) if !stale.is_stale() => "up to date\n".to_owned(),
        Some(stale) => {
            let lines = |(what, paths): (&str, &[NodePath])| {
                paths.iter().map(|path| format!("{what:<8} {}\n", escape::line(&path.to_string()))).collect::<String>()
            };
            differences(stale).map(lines).concat()
        }
    }
}

fn json(stale: Option<&Staleness>) -> Value {
    let Some(stale) = stale else { return Value::Null };
    let list = |paths: &[NodePath]| Value::from(paths.iter().map(ToString::to_string).collect::<Vec<_>>());
    let mut map = Map::new();
    map.insert("stale", stale.is_stale());
    for (what, paths) in differences(stale) {
        map.insert(what, list(paths));
    }
    Value::Object(map)
}
