//! A plane of an array as numbers, and its histogram.

use super::answer::Answer;
use super::describe::path;
use super::numbers::{Numbers, array_of};
use super::sample::{Plane, Sample, described};
use super::statistics::{Statistics, histogram as count};
use crate::address::Query;
use crate::fault::Fault;
use crate::nodes::Nodes;
use zarr_json::{Map, Value, json};

/// Elements along each axis of a plane at most.
const MOST: u64 = 1024;

/// A plane that was read.
struct Read {
    numbers: Numbers,
    statistics: Statistics,
    /// What it is.
    head: Map,
}

fn read(nodes: &Nodes, query: &Query) -> Result<Read, Fault> {
    let opened = nodes.open(path(query))?;
    let (array, is_decoded) = array_of(nodes, &opened, !query.flag("stored"))?;
    let plane = Plane::parse(query, array.shape(), MOST)?;
    let sample = Sample::new(array, &plane.wanted, nodes.budget(query.flag("full")))?;
    let numbers = Numbers::read(array, &sample, plane.y, plane.x)?;
    let values = numbers.to_f64();
    let statistics = Statistics::new(&values);
    let range = query.pair("range")?.or(statistics.range());
    let units = opened.found.node.attributes().get("units").and_then(Value::as_str);
    let head = [
        ("data_type", Value::from(numbers.name())),
        ("y", described(plane.y, &sample, array)),
        ("x", described(plane.x, &sample, array)),
        ("is_decoded", Value::from(is_decoded)),
        ("is_reduced", Value::from(sample.is_reduced)),
        ("chunks", Value::from(sample.chunks)),
        ("units", units.map_or(Value::Null, Value::from)),
        ("statistics", statistics.to_json()),
        ("histogram", count(&values, range)),
    ];
    Ok(Read { numbers, statistics, head: head.into_iter().map(|(name, value)| (name.to_owned(), value)).collect() })
}

/// A plane as bytes: the length of a head as `u32`, the head in JSON (with spaces at its end, so that numbers begin at a multiple of 8),
/// the numbers row by row. All numbers are little-endian.
pub(super) fn plane(nodes: &Nodes, query: &Query) -> Result<Answer, Fault> {
    let Read { numbers, head, .. } = read(nodes, query)?;
    let mut head = Value::from(head).without_nan_literals().to_string().into_bytes();
    while !(head.len() + 4).is_multiple_of(8) {
        head.push(b' ');
    }
    let len = u32::try_from(head.len()).map_err(|_| Fault::internal("a head of 4 GiB"))?;
    let mut bytes = len.to_le_bytes().to_vec();
    bytes.append(&mut head);
    numbers.append_to(&mut bytes);
    Ok(Answer::Bytes(bytes))
}

/// How many elements of a plane lie in each of 64 intervals of its range, or of `range`.
pub(super) fn histogram(nodes: &Nodes, query: &Query) -> Result<Answer, Fault> {
    let Read { numbers, statistics, head } = read(nodes, query)?;
    let range = query.pair("range")?.or(statistics.range());
    let is_reduced = head.get("is_reduced").cloned().unwrap_or_default();
    Ok(Answer::Json(json!({
        "statistics": (statistics.to_json()),
        "histogram": (count(&numbers.to_f64(), range)),
        "is_reduced": is_reduced,
    })))
}
