//! `zarr view --animate`: an animated PNG.

use super::source::Source;
use super::target;
use super::{View, nth};
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::number::grouped;
use crate::object::object;
use std::path::Path;
use zarr::view::{Budget, Picture, Room, Shading, Slice};

/// Frames at most.
const MOST_FRAMES: u64 = 240;
/// Values of all frames at most: 128 MiB.
const MOST_VALUES: usize = 1 << 24;
/// What is read for all frames at most.
const BUDGET: Budget = Budget { parts: 1 << 16, bytes: 1 << 30 };
/// The lengths of the plane at most, in pixels, if nothing is asked for.
const SIZE: (usize, usize) = (640, 480);

pub(super) fn run(context: &Context, args: &View) -> Result<()> {
    let (Some(dimension), Some(path)) = (&args.animate, &args.output) else {
        return Err(Failure::usage("--animate needs -o"));
    };
    let given = |length: Option<u16>, default: usize| length.map_or(default, usize::from);
    let room = Room::pixels(given(args.width, SIZE.0), given(args.height, SIZE.1));
    let source = Source::open(context, args, room)?.cached()?;
    let axis = source.axis(dimension)?;
    let Some(all) = source.cut.along(axis) else {
        let message = match source.cut.shown().contains(&axis) {
            true => format!("--animate {dimension}: the dimension is shown in the picture"),
            false => format!("--animate {dimension}: an index of the dimension is selected"),
        };
        return Err(Failure::usage(message));
    };
    if source.cut.shown().is_empty() || all.count == 0 {
        return Err(Failure::usage(format!("--animate {dimension}: there is nothing to show")));
    }
    let frames = all.thinned(MOST_FRAMES);
    let selected: Vec<u64> = source.cut.samples().iter().map(|samples| samples.of).collect();
    let most = fewer(room.most(&selected), frames.count);
    let budget = match args.full {
        true => Budget::UNLIMITED,
        false => Budget { parts: (BUDGET.parts / frames.count).max(1), bytes: BUDGET.bytes / frames.count },
    };
    let mut slices = Vec::new();
    for number in 0..frames.count {
        let cut = source.at(axis, frames.index(number));
        slices.push(Slice::read(&source.array, &cut, &most, &budget)?);
    }
    // One range for all frames.
    let values: Vec<f64> = slices.iter().flat_map(|slice| slice.values.iter().copied()).collect();
    let Some(numbers) = slices.first().map(|slice| slice.numbers) else {
        return Err(Failure::usage(format!("--animate {dimension}: there is nothing to show")));
    };
    let shading = Shading::new(&values, numbers, &source.shading(args));
    drop(values);
    let mut pictures = Vec::new();
    for (number, slice) in (0..frames.count).zip(slices) {
        let frame = source.frame(axis, frames.index(number));
        let mut figure = frame.figure_of(context, args, slice, Some(shading.clone()))?;
        if frames.count < all.count {
            let every =
                format!("a frame for every {} of {}", nth(all.count.div_ceil(frames.count)), grouped(all.count));
            figure.note = Some(figure.note.map_or(every.clone(), |note| format!("{note}, {every}")));
        }
        let picture = if args.bare && figure.is_plane() { figure.plane(room) } else { figure.picture(room) };
        pictures.push(picture);
    }
    let pictures = same_size(pictures);
    target::write(path, &zarr::view::animation(&pictures, args.fps)?)?;
    if path == Path::new("-") || !context.global.json {
        return Ok(());
    }
    let size = pictures.first().map(|picture| vec![picture.width(), picture.height()]).unwrap_or_default();
    crate::output::json(object! {
        "path": source.array.path().to_string(),
        "output": path.display().to_string(),
        "frames": frames.count,
        "of": all.count,
        "picture_size": size,
    })
}

/// So few samples along each axis that the values of all frames are not too many.
fn fewer(mut most: Vec<u64>, frames: u64) -> Vec<u64> {
    let total = |most: &[u64]| most.iter().fold(frames, |total, &count| total.saturating_mul(count));
    while total(&most) > MOST_VALUES as u64 && most.iter().any(|&count| count > 1) {
        most.iter_mut().for_each(|count| *count = (*count * 7 / 8).max(1));
    }
    most
}

/// Labels of other lengths make frames of other sizes: all get the largest one.
fn same_size(pictures: Vec<Picture>) -> Vec<Picture> {
    let width = pictures.iter().map(Picture::width).max().unwrap_or(1);
    let height = pictures.iter().map(Picture::height).max().unwrap_or(1);
    pictures.into_iter().map(|picture| picture.enlarged(width, height)).collect()
}
