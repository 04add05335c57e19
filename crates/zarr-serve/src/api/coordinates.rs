//! Answer with the labels of an axis.

use super::answer::ApiAnswer;
use super::region::RequestedRegion;
use crate::address::Query;
use crate::nodes::{InDataset, Nodes};
use crate::request_error::RequestError;
use zarr_grid::AxisSelection;
use zarr_json::{Value, json};
use zarr_meta::text::rounded;
use zarr_view::{AxisLabels, Positions, Samples};

/// Greatest number of labels.
const MOST: u64 = 4096;

/// Returns the labels of `count` indices along an axis, beginning at `start`, at distance `step`: values of the coordinate of its
/// dimension, or `null` if there is none.
pub(super) fn coordinates(nodes: &Nodes, query: &Query) -> Result<ApiAnswer, RequestError> {
    let opened = nodes.open(query.path())?;
    let array = nodes.array(&opened)?;
    let axis: usize = query.number("axis", 0)?;
    let Some(&size) = array.shape().get(axis) else {
        return Err(RequestError::argument(format!("found axis {axis}, expected one below {}", array.shape().len())));
    };
    let (start, step): (u64, u64) = (query.number("start", 0)?, query.number("step", 1)?.max(1));
    let most = size.saturating_sub(start).div_ceil(step).min(MOST);
    let count = query.number("count", most)?.min(most);
    let name = array.dimension_names().and_then(|names| names.get(axis)?.as_deref());
    let found = nodes.variable(&opened).as_ref().ok();
    let labels = match (found, name) {
        (Some(found), Some(name)) => labels(nodes, found, name, (start, step, count))?,
        _ => None,
    };
    let by_place = match (&labels, name) {
        (None, Some(name)) => nodes.place(&opened).ok().flatten().and_then(|place| {
            let samples = Samples::all(start, i64::try_from(step).ok()?, count);
            AxisLabels::of_place(place, name, &samples)
        }),
        _ => None,
    };
    let units = name.zip(found).and_then(|(name, found)| found.coordinate(name)).and_then(|coordinate| {
        let units = coordinate.attributes().get("units").and_then(Value::as_str);
        units.map(str::to_owned)
    });
    let units = units.or_else(|| by_place.as_ref().and_then(|labels| labels.units.clone()));
    let labels = labels.or_else(|| match by_place?.positions {
        Positions::Numbers(numbers) => Some(numbers.into_iter().map(|number| rounded(number, 12)).collect()),
        _ => None,
    });
    Ok(ApiAnswer::Json(json!({
        "name": (name.map_or(Value::Null, Value::from)),
        "units": (units.map_or(Value::Null, Value::from)),
        "size": size,
        "start": start,
        "step": step,
        "count": count,
        "labels": (labels.map_or(Value::Null, |labels| Value::Array(labels.into_iter().map(Value::from).collect()))),
    })))
}

fn labels(
    nodes: &Nodes,
    found: &InDataset,
    name: &str,
    (start, step, count): (u64, u64, u64),
) -> Result<Option<Vec<String>>, RequestError> {
    let Some(coordinate) = found.coordinate(name) else { return Ok(None) };
    let len = coordinate.shape().first().copied().unwrap_or(0);
    let stop = start.saturating_add(step.saturating_mul(count)).min(len);
    if count == 0 || start >= stop {
        return Ok(Some(Vec::new()));
    }
    // Of strings made of characters there are more axes, and no more chunks.
    let asked = RequestedRegion::of_coordinate(coordinate.stored().shape(), (start, step, count))?;
    asked.take_all(coordinate.stored(), &nodes.budget(false))?;
    let number = |number: u64| i64::try_from(number).ok();
    let indices =
        AxisSelection::Range { start: number(start), stop: number(stop), step: number(step).unwrap_or(i64::MAX) };
    let values = found.labels(name, indices)?;
    Ok(Some((0..values.len()).map(|index| values.text(index)).collect()))
}
