//! `zarr attrs`: the attributes of a node.

use super::consolidated::renewing;
use super::describe;
use crate::args::NodeArgs;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::interrupted;
use crate::near::{near, question};
use crate::output;
use clap::Args;
use zarr::meta::json::Value;

/// Show, set or unset attributes, or name dimensions.
#[derive(Debug, Args)]
pub(crate) struct Attrs {
    #[command(flatten)]
    node: NodeArgs,
    /// Set an attribute; VALUE is JSON, or else a string. Nothing else in the document changes.
    #[arg(long, value_name = "NAME=VALUE", value_parser = attribute)]
    set: Vec<(String, Value)>,
    /// Remove an attribute.
    #[arg(long, value_name = "NAME")]
    unset: Vec<String>,
    /// Name the dimensions of an array, one name for each: time,lat,lon.
    #[arg(long, value_name = "NAMES", value_delimiter = ',', conflicts_with_all = ["set", "unset"])]
    dims: Vec<String>,
}

pub(crate) fn run(context: &Context, args: &Attrs) -> Result<()> {
    if !args.dims.is_empty() || !args.set.is_empty() || !args.unset.is_empty() {
        let left = "the node is as before or changed; the same command changes it";
        interrupted::watch(left, context.global.json);
    }
    let location = context.locate(&args.node)?;
    let found = context.node_with_warnings(&location)?;
    if !args.dims.is_empty() {
        context.check_writers(&location, "a change of metadata")?;
        zarr::convert::Migration::check_settled(&location.store)?;
        let names: Vec<&str> = args.dims.iter().map(String::as_str).collect();
        let named = renewing(context, (&location.store, &location.path), || {
            Ok(zarr::hierarchy::set_dimension_names(&*location.store, &found, &names)?)
        })?;
        return if context.global.json { output::json(describe::facts(&named)) } else { Ok(()) };
    }
    let mut attributes = found.attributes().map_err(|error| zarr::Error::from(error.clone()))?.clone();
    if args.set.is_empty() && args.unset.is_empty() {
        return output::json(attributes);
    }
    for name in &args.unset {
        if attributes.remove(name).is_none() {
            let failure = Failure::usage(format!("{location}: no attribute {name:?}"));
            return Err(match near(name, attributes.iter().map(|(known, _)| known)) {
                Some(near) => failure.with_hint(question(near)),
                None => failure.with_hint("nothing was changed"),
            });
        }
    }
    for (name, value) in &args.set {
        attributes.insert(name.as_str(), value.clone());
    }
    context.check_writers(&location, "a change of attributes")?;
    zarr::convert::Migration::check_settled(&location.store)?;
    let changed = renewing(context, (&location.store, &location.path), || {
        Ok(zarr::hierarchy::set_attributes(&*location.store, &found, attributes)?)
    })?;
    if context.global.json { output::json(changed.node.attributes().clone()) } else { Ok(()) }
}

fn attribute(text: &str) -> Result<(String, Value), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE")?;
    Ok((name.to_owned(), Value::from_json(value).unwrap_or_else(|_| Value::from(value))))
}
