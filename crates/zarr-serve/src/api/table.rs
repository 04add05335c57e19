//! A few elements as text.

use super::answer::Answer;
use super::describe::path;
use super::sample::{Plane, Sample, described};
use crate::address::Query;
use crate::fault::Fault;
use crate::nodes::Nodes;
use zarr_array::ArrayData;
use zarr_dataset::Values;
use zarr_json::{Value, json};

/// Rows and columns at most.
const MOST: u64 = 64;
/// Characters of an element at most.
const LONGEST: usize = 200;

/// The elements of a plane as text, decoded if the array is a variable of a data set: no more than 64 rows and columns, from the start of its ranges on.
pub(super) fn table(nodes: &Nodes, query: &Query) -> Result<Answer, Fault> {
    let opened = nodes.open(path(query))?;
    let array = nodes.array(&opened)?;
    let mut plane = Plane::parse(query, array.shape(), MOST)?;
    plane.all_of_few(MOST);
    let sample = Sample::new(array, &plane.wanted, nodes.budget(query.flag("full")))?;
    if sample.is_reduced {
        return Err(Fault::too_much(format!("{}: the elements lie in too many chunks", array.path())));
    }
    let variable = nodes.variable(&opened).as_ref().ok().filter(|_| !query.flag("stored"));
    let elements = match variable {
        Some(found) if found.has_axes_of(array) => Elements::Decoded(found.read(&sample.selection())?),
        _ => Elements::Stored(array.read_data(sample.selection())?),
    };
    let len = |axis: Option<usize>| axis.and_then(|axis| sample.axes.get(axis)).map_or(1, |axis| axis.len);
    let (rows, columns) = (len(plane.y), len(plane.x));
    let is_turned = matches!((plane.y, plane.x), (Some(y), Some(x)) if y > x);
    let cell = |row: u64, column: u64| {
        let index = if is_turned { column * rows + row } else { row * columns + column };
        Value::from(shortened(elements.text(usize::try_from(index).unwrap_or(usize::MAX))))
    };
    let row = |row: u64| Value::Array((0..columns).map(|column| cell(row, column)).collect());
    Ok(Answer::Json(json!({
        "y": (described(plane.y, &sample, array)),
        "x": (described(plane.x, &sample, array)),
        "is_decoded": (matches!(elements, Elements::Decoded(_))),
        "rows": (Value::Array((0..rows).map(row).collect())),
    })))
}

enum Elements {
    Stored(ArrayData),
    Decoded(Values),
}

impl Elements {
    fn text(&self, index: usize) -> String {
        match self {
            Self::Stored(data) => data.text(index),
            Self::Decoded(values) => values.text(index),
        }
    }
}

/// The beginning of a long text.
fn shortened(text: String) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or_default()),
        None => text,
    }
}
