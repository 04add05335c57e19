//! `zarr cp` and `zarr mv`: nodes from one place to another.

use super::convert::{carry_out, real, refuse_overlap};
use crate::args::Copy;
use crate::context::{Context, address};
use crate::failure::{Failure, Result};
use std::sync::Arc;
use zarr::store::MemoryStore;
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
    let mut is_new = false;
    let target = if real(from_url).is_some() && real(from_url) == real(to_url) {
        Arc::clone(&source)
    } else {
        refuse_overlap(from_url, to_url)?;
        match context.open_store(to_url) {
            Err(error) if error.is_not_found() => {
                is_new = true;
                Arc::new(MemoryStore::new())
            }
            opened => opened?,
        }
    };
    Migration::check_settled(&target)?;
    if verb == Verb::Move {
        Migration::check_settled(&source)?;
    }
    let options = ConvertOptions { overwrite: args.overwrite, options: context.options(), ..ConvertOptions::default() };
    let planned = Conversion::plan_copy(&source, from, &target, to, &context.registry, options);
    // A store is made only for what can be copied.
    let target = if is_new && planned.is_ok() { context.create_store(to_url)? } else { target };
    let planned = planned.map_err(|error| match is_new {
        true => Failure::from(error).in_store(from_url),
        false => Failure::from(error),
    });
    let done = planned.and_then(|conversion| {
        carry_out(context, &conversion, |progress| match verb {
            Verb::Copy => conversion.run(&target, progress),
            Verb::Move => conversion.run_move(&target, progress),
        })
    });
    match done {
        // What is left may be of a move that was interrupted.
        Err(error)
            if verb == Verb::Move
                && matches!(error.kind, "not-found" | "exists")
                && zarr::finish_move(&source, from, &target, to)? =>
        {
            Ok(())
        }
        done => done,
    }
}
