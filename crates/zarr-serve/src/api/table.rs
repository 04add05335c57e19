//! Answer with a few elements as text.

use super::answer::ApiAnswer;
use super::region::RequestedRegion;
use crate::address::Query;
use crate::nodes::Nodes;
use crate::request_error::RequestError;
use zarr_array::ArrayData;
use zarr_dataset::Values;
use zarr_json::{Value, json};

/// Greatest number of rows and columns.
const MOST: u64 = 64;
/// Greatest number of characters of an element.
const LONGEST: usize = 200;

/// Returns the elements of a plane as text, decoded if the array is a variable of a data set: at most 64 rows and columns, beginning at the
/// start of the requested ranges.
pub(super) fn table(nodes: &Nodes, query: &Query) -> Result<ApiAnswer, RequestError> {
    let opened = nodes.open(query.path())?;
    let array = nodes.array(&opened)?;
    let asked = RequestedRegion::parse(query, array.shape(), MOST)?.few(MOST);
    let taken = asked.take_all(array, &nodes.budget(query.flag("full")))?;
    let variable = nodes.variable(&opened).as_ref().ok().filter(|_| !query.flag("stored"));
    let elements = match variable {
        Some(found) if found.has_axes_of(array) => TableElements::Decoded(found.read(&taken.selection())?),
        _ => TableElements::Stored(array.read_data(taken.selection())?),
    };
    let (rows, columns) = taken.size();
    let numbers = (0..elements.len()).collect();
    let order = taken.cut.transposed(numbers, taken.samples());
    let mut cells = order.into_iter().map(|index| Value::from(shortened(elements.text(index))));
    let mut row = |_| Value::Array(cells.by_ref().take(usize::try_from(columns).unwrap_or(usize::MAX)).collect());
    let [y, x] = taken.described(array);
    Ok(ApiAnswer::Json(json!({
        "y": y,
        "x": x,
        "is_decoded": (matches!(elements, TableElements::Decoded(_))),
        "rows": (Value::Array((0..rows).map(&mut row).collect())),
    })))
}

enum TableElements {
    Stored(ArrayData),
    Decoded(Values),
}

impl TableElements {
    fn len(&self) -> usize {
        match self {
            Self::Stored(data) => data.len(),
            Self::Decoded(values) => values.len(),
        }
    }

    fn text(&self, index: usize) -> String {
        match self {
            Self::Stored(data) => data.text(index),
            Self::Decoded(values) => values.text(index),
        }
    }
}

/// Cuts a text to [`LONGEST`] characters.
fn shortened(text: String) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or_default()),
        None => text,
    }
}
