//! `zarr cp` and `zarr mv`: nodes from one place to another.

use super::convert::{carry_out, real, refuse_overlap};
use crate::args::Copy;
use crate::context::{Context, address};
use crate::failure::Result;
use std::sync::Arc;
use zarr::{Conversion, ConvertOptions, Migration};

/// Whether the node stays where it was, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verb {
    Copy,
    Move,
}

pub(crate) fn run(context: &Context, args: &Copy, verb: Verb) -> Result<()> {
    let ((from_url, from), (to_url, to)) = (address(&args.source), address(&args.target));
    let (from, to) = (from.unwrap_or("/"), to.unwrap_or("/"));
    let source = context.open_store(from_url)?;
    let target = if real(from_url).is_some() && real(from_url) == real(to_url) {
        Arc::clone(&source)
    } else {
        refuse_overlap(from_url, to_url)?;
        context.create_store(to_url)?
    };
    Migration::check_settled(&target)?;
    if verb == Verb::Move {
        Migration::check_settled(&source)?;
    }
    let options = ConvertOptions { overwrite: args.overwrite, options: context.options(), ..ConvertOptions::default() };
    let conversion = Conversion::plan_copy(&source, from, &target, to, &context.registry, options)?;
    carry_out(context, &conversion, |progress| match verb {
        Verb::Copy => conversion.run(&target, progress),
        Verb::Move => conversion.run_move(&target, progress),
    })
}
