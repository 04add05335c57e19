//! Answers with pictures as pixels: channels of an image together, labels over it, and thumbnails.

use super::answer::ApiAnswer;
use super::plane::{PlaneSource, framed, scale_bar};
use crate::address::Query;
use crate::nodes::Nodes;
use crate::request_error::RequestError;
use zarr_json::{Map, Value, json};
use zarr_ome::{AxisKind, Image};
use zarr_view::{
    Channels, ColorMap, Coloring, ImageCut, ImageGrid, LabelLayer, Layer, Range, Rgb, Room, Samples, ShadingOptions,
    Slice, Thumbnail, ThumbnailOptions, composite,
};

/// Greatest width and height of a thumbnail.
const MOST_OF_THUMBNAIL: usize = 256;

/// Returns the pixels of a plane of an image: a head as that of a plane, with the channels and the labels that are drawn, and three bytes
/// for each element. `channels` are their names or numbers, each `labels` is the name of a label image, and `opacity` is that of the labels.
pub(super) fn picture(nodes: &Nodes, query: &Query) -> Result<ApiAnswer, RequestError> {
    let opened = nodes.open(query.path())?;
    let Some(image) = nodes.image(&opened)? else {
        return Err(RequestError::argument(format!("{}: found no image, expected one of OME-Zarr", query.path())));
    };
    let of_channels = image.multiscale().axes.iter().position(|axis| axis.kind == AxisKind::Channel);
    let (source, asked) = PlaneSource::of_image(image, query, of_channels)?;
    let level = source.level.unwrap_or(0);
    let (array, cut) = (&source.array, &source.cut);
    if cut.shown().len() != 2 {
        return Err(RequestError::argument("found one axis, expected the axes y and x of a plane"));
    }
    let picks = names(query, "channels");
    let channels = Channels::new(image, array, cut, picks.as_deref())?;
    let labels = labels(image, query)?;
    let count = channels.as_ref().map_or(1, |channels| channels.drawn.len()) + labels.len();
    let budget = nodes.budget(query.flag("full")).shared(count);
    // Refuses what exceeds the budget.
    let taken = asked.take(array, cut.clone(), &budget)?;
    let most = [asked.height, asked.width];
    let mut warnings = Vec::new();
    let (mut pixels, slice, layers) = match &channels {
        Some(channels) => {
            warnings.extend(channels.warnings.iter().cloned());
            let layers = channels.read_each(array, cut, &most, &budget)?;
            let slice = layers.first().map(|layer| layer.slice.clone());
            (composite(&layers).0, slice, layers)
        }
        None => {
            let slice = Slice::read(array, cut, &most, &budget)?;
            (grey(image, &slice)?, Some(slice), Vec::new())
        }
    };
    let Some(slice) = slice else { return Err(RequestError::internal("a picture without channels")) };
    let mut is_reduced = slice.is_cut || taken.is_reduced();
    let whole = ImageCut { level, array: array.clone(), cut: cut.clone() };
    for layer in &labels {
        warnings.extend(layer.warnings.iter().cloned());
        is_reduced |= layer.draw(&mut pixels, image, &whole, &slice.samples, &budget)?.is_cut;
    }
    let mut head = Map::new();
    for (name, (axis, samples)) in ["y", "x"].into_iter().zip(cut.shown().iter().zip(&slice.samples)) {
        head.insert(name, side(*axis, samples, array.shape()));
    }
    head.insert("level", level);
    head.insert("is_reduced", is_reduced);
    head.insert("chunks", taken.chunks().saturating_mul(count as u64));
    head.insert("channels", Value::Array(layers.iter().map(described).collect()));
    head.insert("labels", labels.iter().map(|layer| layer.name.clone()).collect::<Vec<_>>());
    head.insert("scale_bar", scale_bar(image, &whole, &slice.samples));
    head.insert("warnings", warnings);
    framed(head, |bytes| bytes.extend_from_slice(pixels.as_flattened()))
}

/// Returns a thumbnail of an image, or of the first field of a well, in at most `width` x `height` pixels.
pub(super) fn thumbnail(nodes: &Nodes, query: &Query) -> Result<ApiAnswer, RequestError> {
    let opened = nodes.open(query.path())?;
    let side = |name: &str| -> Result<usize, RequestError> {
        Ok(query.number(name, MOST_OF_THUMBNAIL)?.clamp(1, MOST_OF_THUMBNAIL))
    };
    let room = Room::pixels(side("width")?, side("height")?);
    let options = ThumbnailOptions { channels: names(query, "channels"), ..ThumbnailOptions::default() };
    let budget = nodes.budget(false);
    let thumbnail = match nodes.image(&opened)? {
        Some(image) => Thumbnail::read(image, room, &options, &budget)?,
        None => {
            let image = nodes.grid(&opened)?.map(|grid| grid.first_image()).transpose()?;
            let Some(image) = image else {
                return Err(RequestError::argument(format!("{}: found no image and no well", query.path())));
            };
            Thumbnail::read(&image, room, &options, &budget)?
        }
    };
    let windows = windows(query)?;
    let layers = thumbnail.layers(&windows);
    let (pixels, _) = composite(&layers);
    let (rows, columns) = layers.first().map_or((0, 0), |layer| (layer.slice.rows(), layer.slice.columns()));
    let mut head = Map::new();
    head.insert("rows", rows as u64);
    head.insert("columns", columns as u64);
    head.insert("channels", Value::Array(layers.iter().map(described).collect()));
    framed(head, |bytes| bytes.extend_from_slice(pixels.as_flattened()))
}

/// Describes the grid that a group is; `None` if it is neither a plate nor a well.
pub(super) fn grid_facts(grid: &ImageGrid) -> Value {
    let image = |image: &zarr_view::GridImage| json!({"path": (image.path.as_str()), "row": (image.row as u64), "column": (image.column as u64)});
    let most = ThumbnailOptions::default().most;
    let images: Vec<Value> = grid.images.iter().take(most).map(image).collect();
    json!({
        "is_plate": (grid.is_plate), "rows": (grid.rows.clone()), "columns": (grid.columns.clone()),
        "count": (grid.images.len() as u64), "images": (Value::Array(images)),
    })
}

/// Describes the channels and the labels of an image, for the page.
pub(super) fn add_layers(image: &Image, shown: &mut Map) {
    let channels = image.metadata().channels.iter().map(|channel| {
        json!({
            "name": (channel.label.as_deref().map_or(Value::Null, Value::from)),
            "color": (channel.color.map_or(Value::Null, |color| Value::from(hex(color)))),
            "is_active": (channel.is_active),
        })
    });
    shown.insert("channels", Value::Array(channels.collect()));
    match LabelLayer::names(image) {
        Ok(names) => shown.insert("labels", names),
        // The image can be looked at all the same.
        Err(error) => shown.insert("labels_error", error.with_causes()),
    };
}

/// Returns a parameter as names that are separated by commas; `None` if it is missing.
fn names(query: &Query, name: &str) -> Option<Vec<String>> {
    let text = query.text(name).filter(|text| !text.is_empty())?;
    Some(text.split(',').map(str::to_owned).collect())
}

fn labels(image: &Image, query: &Query) -> Result<Vec<LabelLayer>, RequestError> {
    let opacity: f64 = query.number("opacity", LabelLayer::OPACITY)?;
    if !(0.0..=1.0).contains(&opacity) {
        return Err(RequestError::argument(format!("opacity: found {opacity}, expected a number from 0 to 1")));
    }
    let mut layers = LabelLayer::open_all(image, &query.texts("labels"))?;
    layers.iter_mut().for_each(|layer| layer.opacity = opacity);
    Ok(layers)
}

/// Parses the parameter `windows`, the ranges of values of channels that have none: `0:0:255,1:10:90`.
fn windows(query: &Query) -> Result<std::collections::BTreeMap<u64, (f64, f64)>, RequestError> {
    let parse = |text: &str| {
        let mut parts = text.split(':');
        let number = parts.next()?.parse().ok()?;
        let mut bound = || parts.next()?.parse::<f64>().ok().filter(|bound| bound.is_finite());
        Some((number, (bound()?, bound()?)))
    };
    let texts = query.text("windows").into_iter().filter(|text| !text.is_empty()).flat_map(|text| text.split(','));
    let parsed = texts.map(|text| {
        parse(text).ok_or_else(|| RequestError::argument(format!("windows: found {text:?}, expected 0:10:250")))
    });
    parsed.collect()
}

/// Returns the pixels of a single channel in grey.
fn grey(image: &Image, slice: &Slice) -> Result<Vec<Rgb>, RequestError> {
    let window = image.metadata().channels.first().and_then(|channel| channel.window);
    let range = window.filter(|(first, last)| first != last).map(|(first, last)| Range::Bounds(first, last));
    let options = ShadingOptions { map: Some(ColorMap::GRAY), range, ..ShadingOptions::default() };
    let shading = zarr_view::Shading::new(&slice.values, slice.numbers, &options)?;
    Ok(slice
        .values
        .iter()
        .map(|&value| if value.is_nan() { Coloring::MISSING } else { shading.pixel(value) })
        .collect())
}

fn side(axis: usize, samples: &Samples, shape: &[u64]) -> Value {
    json!({
        "axis": (axis as u64), "size": (shape.get(axis).copied().unwrap_or(0)), "start": (samples.start),
        "step": (samples.step), "count": (samples.count),
    })
}

fn described(layer: &Layer) -> Value {
    json!({
        "name": (layer.name.as_str()), "number": (layer.number), "color": (hex(layer.color)),
        "window": (vec![layer.window.0, layer.window.1]), "is_inverted": (layer.is_inverted),
    })
}

fn hex([r, g, b]: Rgb) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}
