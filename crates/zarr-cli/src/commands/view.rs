//! `zarr view`: draws an array as a picture.

mod animate;
mod grid;
mod labels;
mod map_level;
mod picture_source;
mod picture_target;
mod title;

use super::read::select::SelectionArgs;
use crate::args::NodeArgs;
use crate::context::{Context, NodeLocation};
use crate::failure::{Failure, Result};
use crate::interrupted;
use crate::number::grouped;
use crate::object::{object, or_null};
use clap::Args;
use picture_source::PictureSource;
use picture_target::PictureTarget;
use std::path::{Path, PathBuf};
use title::Title;
use zarr::Group;
use zarr::hierarchy::StoredNode;
use zarr::meta::json::{Map, Value};
use zarr::ome::Image;
use zarr::view::{
    AxisLabels, Budget, ColorMap, Figure, HiddenAxis, ImageGrid, Layer, Picture, Protocol, Range, Room, Samples,
    Shading, ShadingOptions, Slice,
};

const COLOUR_MAPS: &str = "\
Colour maps: viridis, cividis, magma, inferno, plasma, gray; diverging ones, with 0 in the middle, rdbu and coolwarm; of
categories tab20. Where standard output is no terminal, letters from . to @ stand for values, unless --protocol or
--color=always asks for colours.";

/// Show a plane, a line or a single element as a picture: in the terminal, or as PNG.
///
/// The last two dimensions of an array are shown, at the first index of the others; of a group that is an OME-Zarr image or a pyramid of
/// maps (GeoZarr) the coarsest level that fills the picture; of an image its active channels together, of a plate its wells, and of a well
/// its fields. The array's group is the data set that it is a variable of, if dimensions have names: values are decoded by the CF
/// conventions, and coordinates stand along the axes. Missing values are grey. No more elements are read than the picture has pixels, every
/// k-th of each dimension (indices of images and maps are those of the finest level), and of no more than 4,096 chunks and 64 MiB of decoded elements.
#[derive(Debug, Args)]
#[command(after_help = COLOUR_MAPS)]
pub(crate) struct View {
    #[command(flatten)]
    node: NodeArgs,
    #[command(flatten)]
    chosen: SelectionArgs,
    /// The dimensions that are shown, rows and columns, or one: names or numbers, "lat,lon", "0,2".
    #[arg(long, value_name = "DIMS")]
    plane: Option<String>,
    /// Which level of an image or of a map, from 0, the finest.
    #[arg(long, value_name = "N")]
    level: Option<usize>,
    /// Channels of an image that are drawn together: names or numbers; by default those that are active.
    #[arg(long, value_name = "NAMES", value_delimiter = ',', conflicts_with_all = ["no_composite"])]
    channel: Option<Vec<String>>,
    /// The first channel of an image alone, as an array is drawn; so do --cmap, --range and --log.
    #[arg(long)]
    no_composite: bool,
    /// Labels to draw over an image: names of groups in its group `labels`. The label 0 is transparent.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    labels: Vec<String>,
    /// How opaque labels are, from 0 to 1.
    #[arg(long, value_name = "N", default_value = "0.5", value_parser = labels::opacity)]
    label_opacity: f64,
    /// The values of the first and the last colour: two numbers, 250:310, percentiles, p2:p98, or full. By default p2:p98; of lines full.
    #[arg(long, value_name = "RANGE", allow_hyphen_values = true)]
    range: Option<Range>,
    /// Show logarithms; zero and negative values are missing then, and bounds of --range are positive.
    #[arg(long)]
    log: bool,
    /// The colour map; by default viridis, and tab20 for integers of few values.
    #[arg(long, value_name = "NAME", value_parser = color_map)]
    cmap: Option<ColorMap>,
    /// Show elements as they are stored, without decoding.
    #[arg(long)]
    raw: bool,
    /// Pixels of a picture, without its axes, or columns of text, at most.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=16384))]
    width: Option<u16>,
    /// Pixels of a picture, without its axes, or lines of text, at most.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=16384))]
    height: Option<u16>,
    /// How a terminal shows pictures: auto, half (blocks), kitty, iterm, sixel, or none, by letters.
    #[arg(long, value_name = "NAME", value_parser = protocol, conflicts_with = "output")]
    protocol: Option<picture_target::Choice>,
    /// Write a PNG file; `-` is standard output.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The plane alone: no axes, colour bar and title.
    #[arg(long)]
    bare: bool,
    /// No scale bar in a PNG file. A picture has one if its columns have a unit of length, but for Mercator maps.
    #[arg(long)]
    no_scale_bar: bool,
    /// Read as many chunks as the picture needs, however many and large they are.
    #[arg(long)]
    full: bool,
    /// An animated PNG with a frame for each index of this dimension, 240 at most.
    #[arg(long, value_name = "DIM", requires = "output")]
    animate: Option<String>,
    /// Frames of an animation in a second.
    #[arg(long, value_name = "N", default_value = "8", value_parser = clap::value_parser!(u16).range(1..=60))]
    fps: u16,
}

fn color_map(text: &str) -> Result<ColorMap, String> {
    let names = || ColorMap::ALL.map(ColorMap::name).join(", ");
    ColorMap::by_name(text).ok_or_else(|| format!("expected one of {}", names()))
}

fn protocol(text: &str) -> Result<picture_target::Choice, String> {
    match text {
        "auto" => Ok(picture_target::Choice::Auto),
        "none" => Ok(picture_target::Choice::Plain),
        name => name
            .parse::<Protocol>()
            .map(picture_target::Choice::Protocol)
            .map_err(|_| "expected auto, half, kitty, iterm, sixel or none".to_owned()),
    }
}

/// Returns an error if the suffix of the file name is not that of a PNG file.
fn check_suffix(path: &Path) -> Result<()> {
    match path.extension() {
        Some(suffix) if !suffix.eq_ignore_ascii_case("png") && !suffix.eq_ignore_ascii_case("apng") => {
            let message = format!("{}: pictures are PNG files", path.display());
            Err(Failure::usage(message).with_hint("name the file .png"))
        }
        _ => Ok(()),
    }
}

pub(crate) fn run(context: &Context, args: &View) -> Result<()> {
    if let Some(path) = &args.output {
        check_suffix(path)?;
        if path != Path::new("-") {
            interrupted::watch(&format!("{} is not written", path.display()), context.global.json);
        }
    }
    let target = PictureTarget::new(context, args)?;
    let location = context.locate(&args.node)?;
    let found = context.node(&location)?;
    let (figure, facts) = match grid_of(context, &location, &found)? {
        Some(grid) => grid::figure(context, args, target.room, &grid, &found.path.to_string())?,
        None if args.animate.is_some() => return animate::run(context, args, target.room, location, found),
        None => {
            let budget = if args.full { Budget::UNLIMITED } else { Budget::default() };
            let source = PictureSource::open(context, args, target.room, location, found)?;
            let figure = source.figure(context, args, target.room, &budget)?;
            let facts = source.facts(&figure);
            (figure, facts)
        }
    };
    let picture = match (&args.output, figure.slice.samples.len()) {
        (Some(_), 0) => {
            let failure = Failure::usage("a single element is no picture");
            return Err(failure.with_hint("without -o its value is printed"));
        }
        (Some(path), _) => {
            let picture = picture(&figure, args, target.room)?;
            picture_target::write(path, &zarr::view::png(&picture)?)?;
            if let Some(note) = figure.note.as_ref().filter(|_| figure.slice.is_cut) {
                context.warnings(&[format!("{}: {note}", path.display())]);
            }
            Some(picture)
        }
        (None, _) => None,
    };
    if context.global.json {
        let size = picture.as_ref().map(|picture| vec![picture.width(), picture.height()]);
        let output = args.output.as_ref().map(|path| path.display().to_string());
        let facts = object! { ..facts, "output": or_null(output), "picture_size": or_null(size) };
        // Print the facts, unless the picture itself is on standard output.
        return if target.is_stdout() { Ok(()) } else { crate::output::json(facts) };
    }
    match args.output {
        Some(_) => Ok(()),
        None => target.show(&figure, args),
    }
}

/// Returns the plate or the well that a group is; `None` if it is neither, or if it is an image as well.
fn grid_of(context: &Context, location: &NodeLocation, found: &StoredNode) -> Result<Option<ImageGrid>> {
    if found.node.as_array().is_some() {
        return Ok(None);
    }
    let group = Group::from_found(&location.store, found.clone(), &context.registry)?;
    // A group with a faulty image is no grid.
    match Image::open(&group) {
        Ok(None) => Ok(ImageGrid::open(&group)?),
        Ok(Some(_)) | Err(_) => Ok(None),
    }
}

/// Returns the picture of a figure; only its plane, if `--bare` is given and the figure is a plane.
fn picture(figure: &Figure, args: &View, room: Room) -> Result<Picture> {
    Ok(if args.bare && figure.is_plane() { figure.plane(room)? } else { figure.picture(room)? })
}

/// Labels of the axes and title of a picture.
struct PictureLabels {
    axes: Vec<AxisLabels>,
    title: Title,
    /// Whether rows are drawn from the last to the first.
    is_upwards: bool,
}

impl PictureSource {
    /// Reads the elements of the picture, and returns its figure.
    fn figure(&self, context: &Context, args: &View, room: Room, budget: &Budget) -> Result<Figure> {
        let selected: Vec<u64> = self.cut.samples().iter().map(|samples| samples.of).collect();
        let most = room.most(&selected);
        let Some(channels) = &self.channels else {
            let slice = Slice::read(&self.array, &self.cut, &most, budget)?;
            let shading = Shading::new(&slice.values, slice.numbers, &self.shading(args))?;
            let around = self.around(context, &slice.samples)?;
            let mut figure = self.figure_of(&around, around.title.text(), slice, shading);
            self.draw_labels(&mut figure, None, budget)?;
            return Ok(figure);
        };
        let layers = channels.read(&self.array, &self.cut, &most, budget)?;
        let samples = layers.first().map(|layer| layer.slice.samples.clone()).unwrap_or_default();
        let around = self.around(context, &samples)?;
        let mut figure = self.composite(&around, around.title.without(channels.axis), layers)?;
        self.draw_labels(&mut figure, None, budget)?;
        Ok(figure)
    }

    /// Returns the labels and the title for the samples of the drawn axes.
    fn around(&self, context: &Context, samples: &[Samples]) -> Result<PictureLabels> {
        let mut axes = Vec::new();
        for (&axis, samples) in self.cut.shown().iter().zip(samples) {
            axes.push(self.labels(context, axis, samples)?);
        }
        let is_upwards = samples.len() == 2 && self.is_upwards(&axes);
        if is_upwards && let Some(rows) = axes.first_mut() {
            *rows = rows.reversed();
        }
        Ok(PictureLabels { axes, title: self.title(context), is_upwards })
    }

    /// Returns the figure of a slice.
    fn figure_of(&self, around: &PictureLabels, title: String, slice: Slice, shading: Shading) -> Figure {
        let note = self.note(&slice);
        let slice = if around.is_upwards { slice.upside_down() } else { slice };
        let (axes, units, has_scale_bar) = (around.axes.clone(), self.units(), self.has_scale_bar);
        Figure { title, slice, axes, shading, colors: None, units, note, has_scale_bar, is_in_pixels: false }
    }

    /// Returns the figure of channels that are drawn together.
    fn composite(&self, around: &PictureLabels, title: String, mut layers: Vec<Layer>) -> Result<Figure> {
        let note = layers.first().and_then(|layer| self.note(&layer.slice));
        if around.is_upwards {
            layers.iter_mut().for_each(|layer| layer.slice = layer.slice.upside_down());
        }
        let (colors, shading) = zarr::view::composite(&layers);
        let Some(Layer { slice, .. }) = layers.into_iter().next() else {
            return Err(Failure::usage("the image has no channels to show"));
        };
        let (axes, units) = (around.axes.clone(), self.units());
        let has_scale_bar = self.has_scale_bar;
        let colors = Some(colors);
        Ok(Figure { title, slice, axes, shading, colors, units, note, has_scale_bar, is_in_pixels: false })
    }

    fn shading(&self, args: &View) -> ShadingOptions {
        let is_line = self.cut.shown().len() < 2;
        let range = args.range.or_else(|| self.window().filter(|_| !args.log));
        let range = if is_line { Some(range.unwrap_or(Range::Full)) } else { range };
        // Colours are those of labels.
        let map = args.cmap.or_else(|| (!self.labels.is_empty()).then_some(ColorMap::GRAY));
        ShadingOptions {
            map,
            range,
            is_log: args.log,
            names: self.names(),
            is_categorical: self.is_labels() && args.cmap.is_none() && args.range.is_none(),
        }
    }

    /// Returns the note about elements that were left out, and about missing values.
    fn note(&self, slice: &Slice) -> Option<String> {
        let mut parts: Vec<String> = self.level_note().into_iter().collect();
        parts.extend(self.crs());
        let selected = self.cut.samples();
        let every =
            |(samples, all): (&Samples, &Samples)| match samples.step.unsigned_abs() / all.step.unsigned_abs().max(1) {
                0 | 1 => "every".to_owned(),
                step => format!("every {}", nth(step)),
            };
        if slice.samples.iter().any(|samples| samples.count < samples.of) {
            let all: Vec<String> = slice.samples.iter().map(|samples| grouped(samples.of)).collect();
            let shown: Vec<String> = slice.samples.iter().zip(&selected).map(every).collect();
            let more = if slice.is_cut { "; --full reads more" } else { "" };
            parts.push(match shown.as_slice() {
                [rows, columns] if rows == columns => format!("{rows} row and column of {}{more}", all.join(" x ")),
                [rows, columns] => format!("{rows} row and {columns} column of {}{more}", all.join(" x ")),
                _ => format!("{} element of {}{more}", shown.join(""), all.join(" x ")),
            });
        }
        if slice.values.iter().all(|value| value.is_nan()) {
            parts.push("all values are missing".to_owned());
        }
        (!parts.is_empty()).then(|| parts.join(", "))
    }

    /// Returns the facts about the picture as JSON.
    fn facts(&self, figure: &Figure) -> Map {
        let slice = &figure.slice;
        let known = || slice.values.iter().copied().filter(|value| !value.is_nan());
        // A single element has all its digits.
        let single = slice.text.as_deref().and_then(|text| Value::from_json(text).ok());
        let single = single.filter(|value| matches!(value, Value::Number(_)));
        let extreme = |of: fn(f64, f64) -> f64| single.clone().unwrap_or_else(|| or_null(known().reduce(of)));
        let axis = |(&axis, samples): (&usize, &Samples)| -> Value {
            let members = object! {
                "dimension": or_null(self.name_of(axis)),
                "axis": axis,
                "start": samples.start,
                "step": samples.step,
                "count": samples.count,
                "of": samples.of,
            };
            members.into()
        };
        let at = |HiddenAxis { axis, index, of }: HiddenAxis| -> Value {
            let members = object! {
                "dimension": or_null(self.name_of(axis)), "axis": axis, "index": index, "by_default": of > 1,
            };
            members.into()
        };
        let colors = match &figure.shading {
            Shading::Even(coloring) => object! {
                "map": coloring.map().name(),
                "range": vec![coloring.bounds().0, coloring.bounds().1],
                "log": coloring.is_logarithmic(),
            },
            Shading::Categories(_) => object! { "categories": categories(&figure.shading) },
        };
        object! {
            "path": self.array.path().to_string(),
            "level": or_null(self.level()),
            "title": figure.title.as_str(),
            "data_type": self.array.data_type().to_config().short_value(),
            "decoded": self.is_decoded,
            "axes": self.cut.shown().iter().zip(&slice.samples).map(axis).collect::<Vec<_>>(),
            "at": self.cut.others().map(at).collect::<Vec<_>>(),
            "units": or_null(figure.units.as_deref()),
            "least": extreme(f64::min),
            "greatest": extreme(f64::max),
            "missing": slice.values.len() - known().count(),
            "colors": colors,
            "limited": slice.is_cut,
        }
    }
}

/// Returns the categories of a shading as JSON; none if colours stand for a range.
fn categories(shading: &Shading) -> Vec<Value> {
    match shading {
        Shading::Categories(categories) => categories.entries().iter().map(category).collect(),
        Shading::Even(_) => Vec::new(),
    }
}

fn category(category: &zarr::view::Category) -> Value {
    let [r, g, b] = category.color;
    let members = object! {
        "value": category.value, "name": category.name.as_str(), "color": format!("#{r:02x}{g:02x}{b:02x}"),
    };
    members.into()
}

/// Returns an ordinal number: `2nd`, `13th`.
fn nth(number: u64) -> String {
    let end = match (number % 10, number % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{}{end}", grouped(number))
}
