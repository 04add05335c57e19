//! `zarr view` of plates and wells: grids of thumbnails.

use super::View;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::object::object;
use zarr::meta::json::{Map, Value};
use zarr::view::{Budget, Figure, ImageGrid, Room, ThumbnailOptions};

/// Draws a grid. Returns its figure, and the facts about it.
pub(super) fn figure(
    context: &Context,
    args: &View,
    room: Room,
    grid: &ImageGrid,
    path: &str,
) -> Result<(Figure, Map)> {
    check(args, grid)?;
    let default = ThumbnailOptions::default();
    let options = ThumbnailOptions {
        channels: args.channel.clone(),
        budget: if args.full { Budget::UNLIMITED } else { default.budget },
        most: if args.full { usize::MAX } else { default.most },
    };
    let thumbnails = grid.draw(room, &options).map_err(|error| match args.channel {
        Some(_) if error.kind() == zarr::ErrorKind::Argument => Failure::usage(format!("--channel: {error}")),
        _ => error.into(),
    })?;
    context.warnings(&thumbnails.warnings);
    let mut figure = thumbnails.figure;
    if let Some(note) = figure.note.take() {
        let note = format!("{note}; --full shows all");
        // A picture may be the plane alone, and is not seen at once.
        if let Some(path) = &args.output {
            context.warnings(&[format!("{}: {note}", path.display())]);
        }
        figure.note = (!args.bare).then_some(note);
    }
    let facts = object! {
        "path": path,
        "title": figure.title.as_str(),
        "grid": if grid.is_plate { "plate" } else { "well" },
        "rows": Value::from(grid.rows.clone()),
        "columns": Value::from(grid.columns.clone()),
        "images": grid.images.len(),
        "drawn": thumbnails.drawn,
        "channels": super::categories(&figure.shading),
    };
    Ok((figure, facts))
}

/// Refuses arguments that are about one image or array.
fn check(args: &View, grid: &ImageGrid) -> Result<()> {
    let given = [
        ("--select, --sel and --isel", !args.chosen.is_empty() || !args.chosen.labels().is_empty()),
        ("--plane", args.plane.is_some()),
        ("--level", args.level.is_some()),
        ("--labels", !args.labels.is_empty()),
        ("--range", args.range.is_some()),
        ("--log", args.log),
        ("--cmap", args.cmap.is_some()),
        ("--no-composite", args.no_composite),
        ("--animate", args.animate.is_some()),
    ];
    let Some((option, _)) = given.into_iter().find(|(_, is_given)| *is_given) else { return Ok(()) };
    let what = if grid.is_plate { "a plate" } else { "a well" };
    let failure = Failure::usage(format!("{option}: found {what}, expected an image or an array"));
    Err(failure.with_hint("a path below it chooses a well or one of its fields"))
}
