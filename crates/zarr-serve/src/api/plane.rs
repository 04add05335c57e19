//! Answer with a plane of an array or image as numbers.

use super::answer::ApiAnswer;
use super::float_elements::{FloatElements, array_of, check_numbers};
use super::region::{RequestedRegion, SampledRegion};
use super::statistics::{Statistics, histogram};
use crate::address::Query;
use crate::nodes::{Nodes, OpenedNode};
use crate::request_error::RequestError;
use zarr_array::Array;
use zarr_json::{Map, Value, json};
use zarr_ome::{AxisKind, Image};
use zarr_view::{AxisLabels, Cut, ImageCut, Room, Samples, ScaleBar};

/// Greatest number of elements along each axis of a plane.
const MOST: u64 = 1024;

/// Array that a plane is read from, and its cut.
pub(super) struct PlaneSource {
    pub(super) array: Array,
    is_decoded: bool,
    pub(super) cut: Cut,
    /// Index of the level of an image; `None` if the source is an array.
    pub(super) level: Option<usize>,
}

impl PlaneSource {
    /// Returns the array of a node as source, with the region that the query requests.
    fn of_array(nodes: &Nodes, opened: &OpenedNode, query: &Query) -> Result<(Self, RequestedRegion), RequestError> {
        let (array, is_decoded) = array_of(nodes, opened, !query.flag("stored"))?;
        let asked = RequestedRegion::parse(query, array.shape(), MOST)?.sized(query)?;
        let cut = asked.cut(array.shape())?;
        Ok((Self { array: array.clone(), is_decoded, cut, level: None }, asked))
    }

    /// Returns a level of an image as source, with the region that the query requests: the level that fits, or the one that the parameter
    /// `level` names. Indices in the query are those of the finest level. Along the axis `whole` all elements are selected.
    pub(super) fn of_image(
        image: &Image,
        query: &Query,
        whole: Option<usize>,
    ) -> Result<(Self, RequestedRegion), RequestError> {
        let asked = RequestedRegion::parse(query, image.level(0)?.shape(), MOST)?.sized(query)?.whole_along(whole);
        let pixels = |most: u64| usize::try_from(most).unwrap_or(usize::MAX);
        let room = Room::pixels(pixels(asked.width), pixels(asked.height));
        let ImageCut { level, array, cut, .. } =
            ImageCut::new(image, |shape| asked.cut(shape), room, query.optional("level")?)?;
        check_numbers(&array)?;
        Ok((Self { array, is_decoded: false, cut, level: Some(level) }, asked))
    }
}

/// Returns a plane as bytes: the length of the head as `u32`, the head as JSON (padded with spaces so that the numbers begin at a multiple
/// of 8), and the numbers row by row. All numbers are little-endian.
pub(super) fn plane(nodes: &Nodes, query: &Query) -> Result<ApiAnswer, RequestError> {
    let opened = nodes.open(query.path())?;
    let (source, asked) = match nodes.image(&opened)? {
        Some(image) => PlaneSource::of_image(image, query, None)?,
        None => PlaneSource::of_array(nodes, &opened, query)?,
    };
    let budget = nodes.budget(query.flag("full"));
    let taken = asked.take(&source.array, source.cut.clone(), &budget)?;
    let numbers = FloatElements::read(&source.array, &taken)?;
    let values = numbers.to_f64();
    let statistics = Statistics::new(&values);
    let mut head = head(nodes, &source, &taken, &opened);
    head.insert("data_type", numbers.name());
    head.insert("statistics", statistics.to_json());
    head.insert("histogram", histogram(&values, statistics.range()));
    framed(head, |bytes| numbers.append_to(bytes))
}

/// Returns an answer of bytes with a head: see [`plane`].
pub(super) fn framed(head: Map, append: impl FnOnce(&mut Vec<u8>)) -> Result<ApiAnswer, RequestError> {
    let mut head = Value::from(head).without_nan_literals().to_string().into_bytes();
    while !(head.len() + 4).is_multiple_of(8) {
        head.push(b' ');
    }
    let len = u32::try_from(head.len()).map_err(|_| RequestError::internal("a head of 4 GiB"))?;
    let mut bytes = len.to_le_bytes().to_vec();
    bytes.append(&mut head);
    append(&mut bytes);
    Ok(ApiAnswer::Bytes(bytes))
}

/// Describes a plane, as the head of the answer.
fn head(nodes: &Nodes, source: &PlaneSource, taken: &SampledRegion, opened: &OpenedNode) -> Map {
    let [y, x] = taken.described(&source.array);
    let units = opened.found.node.attributes().get("units").and_then(Value::as_str);
    let mut head = Map::new();
    head.insert("y", y);
    head.insert("x", x);
    head.insert("is_decoded", source.is_decoded);
    head.insert("is_reduced", taken.is_reduced());
    head.insert("chunks", taken.chunks());
    head.insert("units", units.map_or(Value::Null, Value::from));
    if let Some(level) = source.level {
        if let Ok(Some(image)) = nodes.image(opened) {
            let cut = ImageCut { level, array: source.array.clone(), cut: source.cut.clone() };
            head.insert("scale_bar", scale_bar(image, &cut, taken.samples()));
        }
        let mut at = vec![0; source.array.shape().len()];
        for hidden in taken.cut.others() {
            if let Some(index) = at.get_mut(hidden.axis) {
                *index = hidden.index;
            }
        }
        head.insert("level", level);
        head.insert("path", source.array.path().to_string());
        head.insert("shape", source.array.shape().to_vec());
        head.insert("at", at);
    }
    head
}

/// Describes the scale bar of a plane; `null` if there is none.
pub(super) fn scale_bar(image: &Image, cut: &ImageCut, samples: &[Samples]) -> Value {
    let (Some(&axis), Some(samples)) = (cut.cut.shown().last(), samples.last()) else { return Value::Null };
    if image.multiscale().axes.get(axis).is_none_or(|axis| axis.kind != AxisKind::Space) {
        return Value::Null;
    }
    let bar = cut.labels(image, axis, samples).ok().and_then(|labels: AxisLabels| ScaleBar::new(&labels, samples));
    bar.map_or(Value::Null, |bar| json!({"text": (bar.text()), "fraction": (bar.fraction)}))
}
