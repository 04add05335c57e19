//! `zarr attrs`: the attributes of a node.

use crate::args::Attrs;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::output;
use zarr::meta::json::Value;

pub(crate) fn run(context: &Context, args: &Attrs) -> Result<()> {
    let place = context.place(&args.node)?;
    let found = context.found(&place)?;
    let mut attributes = found.attributes().map_err(|error| zarr::Error::from(error.clone()))?.clone();
    if args.set.is_empty() && args.unset.is_empty() {
        return output::json(&Value::Object(attributes));
    }
    for name in &args.unset {
        if attributes.remove(name).is_none() {
            let failure = Failure::usage(format!("{}: {}: there is no attribute {name:?}", place.store, place.path));
            return Err(failure.with_hint("nothing was changed"));
        }
    }
    for (name, value) in &args.set {
        attributes.insert(name.as_str(), value.clone());
    }
    zarr::Migration::check_settled(&place.store)?;
    zarr::set_attributes(&*place.store, &found, attributes)?;
    Ok(())
}
