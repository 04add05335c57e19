//! Answer with the elements along one axis.

use super::answer::ApiAnswer;
use super::float_elements::{FloatElements, array_of};
use super::region::RequestedRegion;
use crate::address::Query;
use crate::nodes::Nodes;
use crate::request_error::RequestError;
use zarr_json::{Value, json};

/// Greatest number of elements of a profile.
const MOST: u64 = 2048;

/// Returns the elements along `axis` through the element at the indices `at`. NaN and infinities are strings.
pub(super) fn profile(nodes: &Nodes, query: &Query) -> Result<ApiAnswer, RequestError> {
    let opened = nodes.open(query.path())?;
    let (array, is_decoded) = array_of(nodes, &opened, !query.flag("stored"))?;
    let asked = RequestedRegion::line(query, array.shape(), query.number("axis", 0)?, MOST)?;
    let taken = asked.take(array, asked.cut(array.shape())?, &nodes.budget(query.flag("full")))?;
    let values = FloatElements::read(array, &taken)?.to_f64();
    let [_, along] = taken.described(array);
    Ok(ApiAnswer::Json(json!({
        "along": along,
        "is_decoded": is_decoded,
        "is_reduced": (taken.is_reduced()),
        "values": (Value::Array(values.into_iter().map(Value::from).collect())),
    })))
}
