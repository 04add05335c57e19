//! The elements along an axis, through one element.

use super::answer::Answer;
use super::describe::path;
use super::numbers::{Numbers, array_of};
use super::sample::{Sample, Wanted, described};
use crate::address::Query;
use crate::fault::Fault;
use crate::nodes::Nodes;
use zarr_json::{Value, json};

/// Elements of a profile at most.
const MOST: u64 = 2048;

/// The elements along `axis`, through the one at the indices `at`; NaN and infinite ones are texts.
pub(super) fn profile(nodes: &Nodes, query: &Query) -> Result<Answer, Fault> {
    let opened = nodes.open(path(query))?;
    let (array, is_decoded) = array_of(nodes, &opened, !query.flag("stored"))?;
    let (at, axis): (Vec<u64>, usize) = (query.list("at")?, query.number("axis", 0)?);
    let Some(&len) = array.shape().get(axis).filter(|_| at.len() == array.shape().len()) else {
        let message =
            format!("found axis {axis} and {} indices, expected those of {} axes", at.len(), array.shape().len());
        return Err(Fault::argument(message));
    };
    let most = query.number("most", MOST)?.min(MOST);
    let wanted: Vec<Wanted> = at
        .iter()
        .enumerate()
        .map(|(number, &index)| if number == axis { Wanted::Range(0, len, most) } else { Wanted::Index(index) })
        .collect();
    let sample = Sample::new(array, &wanted, nodes.budget(query.flag("full")))?;
    let values = Numbers::read(array, &sample, None, Some(axis))?.to_f64();
    Ok(Answer::Json(json!({
        "along": (described(Some(axis), &sample, array)),
        "is_decoded": is_decoded,
        "is_reduced": (sample.is_reduced),
        "values": (Value::Array(values.into_iter().map(Value::from).collect())),
    })))
}
