//! `zarr view --animate`: writes an animated PNG.

use super::picture_source::PictureSource;
use super::{PictureLabels, View, nth, picture};
use crate::context::{Context, NodeLocation};
use crate::failure::{Failure, Result};
use crate::number::grouped;
use crate::object::object;
use crate::output::Output;
use std::io::{self, Write};
use std::path::Path;
use std::vec::IntoIter;
use zarr::hierarchy::StoredNode;
use zarr::view::{
    Animation, Budget, Cut, DrawnChannel, Figure, Layer, Numbers, Picture, Room, Samples, Shading, Slice,
};

/// Greatest number of frames of an animation.
const MOST_FRAMES: u64 = 240;
/// Greatest number of values of all frames: 128 MiB.
const MOST_VALUES: u64 = 1 << 24;
/// Greatest numbers of parts and bytes that are read for all frames together.
const BUDGET: Budget = Budget { parts: 1 << 16, bytes: 4 << 30, is_strict: false };

pub(super) fn run(context: &Context, args: &View, room: Room, location: NodeLocation, found: StoredNode) -> Result<()> {
    let (Some(dimension), Some(path)) = (&args.animate, &args.output) else {
        return Err(Failure::usage("--animate needs -o"));
    };
    let source = PictureSource::open(context, args, room, location, found)?;
    let axis = source.axis(dimension)?;
    let Some(all) = source.cut.along(axis) else {
        let message = match source.cut.shown().contains(&axis) {
            true => format!("--animate {dimension}: the dimension is shown in the picture"),
            false => format!("--animate {dimension}: an index of the dimension is selected"),
        };
        return Err(Failure::usage(message));
    };
    if args.channel.is_some() && source.channels.as_ref().is_some_and(|channels| channels.axis == Some(axis)) {
        let message = format!("--channel: the frames along {dimension} are channels, each of which is drawn alone");
        return Err(Failure::usage(message).with_hint("--isel selects the channels that are frames"));
    }
    if source.cut.shown().is_empty() || source.cut.is_empty() {
        return Err(Failure::usage(format!("--animate {dimension}: there is nothing to show")));
    }
    let (frames, mut figures) = figures(&source, context, args, room, axis)?;
    if frames.count < all.count {
        let every = nth(frames.step.unsigned_abs() / all.step.unsigned_abs().max(1));
        let every = format!("a frame for every {every} of {}", grouped(all.count));
        for figure in &mut figures {
            figure.note = Some(figure.note.take().map_or_else(|| every.clone(), |note| format!("{note}, {every}")));
        }
    }
    // Labels of different lengths make frames of different sizes; all frames get the largest size.
    let sizes = figures.iter().map(|figure| match args.bare && figure.is_plane() {
        true => figure.plane_size(room),
        false => figure.size(room),
    });
    let size = sizes.reduce(|a, b| (a.0.max(b.0), a.1.max(b.1))).unwrap_or((1, 1));
    let mut file = File { out: Output::open(Some(path), true)?, failure: None };
    let written = write(&mut file, &figures, size, |figure| picture(figure, args, room), args.fps);
    if let Some(failure) = file.failure {
        return Err(failure);
    }
    written?;
    file.out.finish()?;
    if let Some(figure) = figures.first().filter(|figure| figure.slice.is_cut)
        && let Some(note) = &figure.note
    {
        context.warnings(&[format!("{}: {note}", path.display())]);
    }
    if path == Path::new("-") || !context.global.json {
        return Ok(());
    }
    crate::output::json(object! {
        "path": source.array.path().to_string(),
        "output": path.display().to_string(),
        "frames": frames.count,
        "of": all.count,
        "picture_size": vec![size.0, size.1],
    })
}

/// Writes the frames one after another, so that only one picture is in memory.
fn write(
    file: &mut File,
    figures: &[Figure],
    size: (usize, usize),
    picture: impl Fn(&Figure) -> Result<Picture>,
    per_second: u16,
) -> Result<()> {
    let mut animation = Animation::new(file, size, figures.len(), per_second)?;
    for figure in figures {
        animation.write(&picture(figure)?)?;
    }
    Ok(animation.finish()?)
}

/// Output with the failure of the last write, since the error of the encoder lacks the name of the file.
struct File {
    out: Output,
    failure: Option<Failure>,
}

impl Write for File {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.out.write(bytes) {
            Ok(()) => Ok(bytes.len()),
            Err(failure) => {
                let error = io::Error::other(failure.line.clone());
                self.failure = Some(failure);
                Err(error)
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns the indices of the axis that become frames, and the figure of each.
fn figures(
    source: &PictureSource,
    context: &Context,
    args: &View,
    room: Room,
    axis: usize,
) -> Result<(Samples, Vec<Figure>)> {
    let budget = if args.full { Budget::UNLIMITED } else { BUDGET };
    let selected: Vec<u64> = source.cut.samples().iter().map(|samples| samples.of).collect();
    let all = source.cut.along(axis).map_or(0, |all| all.count);
    // If the channels are the frames, they are not drawn together.
    let channels = source.channels.as_ref().filter(|channels| channels.axis != Some(axis));
    let of_channels = channels.and_then(|channels| channels.axis);
    let layers = channels.map_or(1, |channels| channels.drawn.len());
    let most = fewer(room.most(&selected), MOST_FRAMES.min(all).saturating_mul(layers as u64));
    let read = |cut: &Cut, budget: &Budget| Slice::frames(&source.array, cut, axis, MOST_FRAMES, &most, budget);
    let title = |around: &PictureLabels, label: &str| around.title.at(axis, label, of_channels);
    let Some(channels) = channels else {
        let (frames, slices) = read(&source.cut, &budget)?;
        let (around, labels) = surroundings(source, context, axis, &frames, slices.first())?;
        // One range for all frames.
        let values: Vec<f64> = slices.iter().flat_map(|slice| slice.values.iter().copied()).collect();
        let numbers = slices.first().map_or(Numbers::Floats, |slice| slice.numbers);
        let shading = Shading::new(&values, numbers, &source.shading(args))?;
        drop(values);
        let figure =
            |(slice, label): (Slice, &String)| source.figure_of(&around, title(&around, label), slice, shading.clone());
        let mut figures: Vec<Figure> = slices.into_iter().zip(&labels).map(figure).collect();
        draw_labels(source, &mut figures, (axis, &frames), &budget)?;
        return Ok((frames, figures));
    };
    let budget = budget.shared(channels.drawn.len());
    let (mut by_channel, mut windows) = (Vec::new(), Vec::new());
    let mut of_frames = None;
    for channel in &channels.drawn {
        let (frames, slices) = read(&channels.cut(&source.cut, channel), &budget)?;
        of_frames = Some(frames);
        // One window for all frames.
        windows.push(channel.window_of(&slices));
        by_channel.push(slices.into_iter());
    }
    let frames = of_frames.unwrap_or_else(|| Samples::all(0, 1, 0));
    let first = by_channel.first().and_then(|slices| slices.as_slice().first());
    let (around, labels) = surroundings(source, context, axis, &frames, first)?;
    let mut figures = Vec::new();
    for label in &labels {
        let layer = |((slices, channel), window): ((&mut IntoIter<Slice>, &DrawnChannel), &(f64, f64))| {
            Some(channel.layer(slices.next()?, *window))
        };
        let layers: Vec<Layer> = by_channel.iter_mut().zip(&channels.drawn).zip(&windows).filter_map(layer).collect();
        figures.push(source.composite(&around, title(&around, label), layers)?);
    }
    draw_labels(source, &mut figures, (axis, &frames), &budget)?;
    Ok((frames, figures))
}

/// Draws labels over frames along an axis.
fn draw_labels(
    source: &PictureSource,
    figures: &mut [Figure],
    (axis, frames): (usize, &Samples),
    budget: &Budget,
) -> Result<()> {
    let budget = budget.shared(figures.len());
    for (number, figure) in (0..frames.count).zip(figures) {
        source.draw_labels(figure, Some((axis, frames.index(number))), &budget)?;
    }
    Ok(())
}

/// Returns the labels that all frames share, and the label of each frame.
fn surroundings(
    source: &PictureSource,
    context: &Context,
    axis: usize,
    frames: &Samples,
    first: Option<&Slice>,
) -> Result<(PictureLabels, Vec<String>)> {
    let samples = first.map(|slice| slice.samples.clone()).unwrap_or_default();
    Ok((source.around(context, &samples)?, source.labels_at(context, axis, frames)))
}

/// Lowers the number of samples along each axis until the values of all frames are at most `MOST_VALUES`.
fn fewer(mut most: Vec<u64>, frames: u64) -> Vec<u64> {
    let total = |most: &[u64]| most.iter().fold(frames, |total, &count| total.saturating_mul(count));
    while total(&most) > MOST_VALUES && most.iter().any(|&count| count > 1) {
        most.iter_mut().for_each(|count| *count = (*count * 7 / 8).max(1));
    }
    most
}
