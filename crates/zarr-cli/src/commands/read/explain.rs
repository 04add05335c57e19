//! `zarr read --explain`: prints the requests of a read, without reading.

use super::selected_variable::SelectedVariable;
use crate::columns::{padded, widest};
use crate::context::Context;
use crate::escape;
use crate::failure::Result;
use crate::number::{counted, grouped, size, tuple};
use crate::object::{object, or_null};
use zarr::meta::json::{Map, Value};
use zarr::store::ByteRange;
use zarr::{Array, Selection};
use zarr::{Plan, PlannedRequest};

/// Greatest number of requests that are printed as text.
const SHOWN: usize = 20;

/// Plan of the requests of a selection, over all pieces in which it is read.
#[derive(Default)]
struct SelectionPlan {
    pieces: u64,
    plan: Plan,
    /// Whether a read might get the document of the array again at the end.
    may_look: bool,
}

/// Prints the plan of reading a selection, or a variable of a data set, in the same pieces as the read.
pub(super) fn run(
    context: &Context,
    array: &Array,
    selection: &Selection,
    variable: Option<(SelectedVariable<'_>, bool)>,
    has_labels: bool,
) -> Result<()> {
    let mut explained = SelectionPlan::default();
    let none = (!array.data_type().is_variable()).then_some(0);
    (explained.plan.selected_bytes, explained.plan.decoded_bytes) = (none, none);
    let whole = match variable {
        Some((variable, is_decoded)) => {
            let mut pieces = variable.pieces(is_decoded, is_decoded && has_labels)?;
            while let Some(piece) = pieces.next()? {
                explained.add(array.plan(variable.stored_selection(Some(&piece))?)?);
            }
            variable.stored_selection(None)?
        }
        None => {
            let mut pieces = super::pieces(array, selection)?;
            while let Some(piece) = pieces.next()? {
                explained.add(array.plan(piece.selection)?);
            }
            selection.clone()
        }
    };
    let shape = whole.resolve_on(array.chunk_grid())?.result_shape();
    context.print(|| explained.json(), || explained.text(&shape, array))
}

impl SelectionPlan {
    /// Adds the plan of the next piece, which is read after the pieces before it.
    fn add(&mut self, plan: Plan) {
        let all = &mut self.plan;
        let round = all.rounds;
        self.pieces += 1;
        self.may_look |= plan.if_missing.is_some();
        all.request_count += plan.request_count;
        all.rounds += plan.rounds;
        all.range_bytes += plan.range_bytes;
        all.unsized_requests += plan.unsized_requests;
        all.chunks += plan.chunks;
        let sum = |all: Option<u64>, plan: Option<u64>| Some(all? + plan?);
        all.selected_bytes = sum(all.selected_bytes, plan.selected_bytes);
        all.decoded_bytes = sum(all.decoded_bytes, plan.decoded_bytes);
        let left = MOST.saturating_sub(all.requests.len());
        all.requests.extend(plan.requests.into_iter().take(left).map(|mut request| {
            request.round += round;
            request
        }));
    }

    fn json(&self) -> Map {
        let plan = &self.plan;
        object! {
            "pieces": self.pieces,
            "chunks": plan.chunks,
            "selected_bytes": or_null(plan.selected_bytes),
            "decoded_bytes": or_null(plan.decoded_bytes),
            "rounds": plan.rounds,
            "request_count": plan.request_count,
            "range_bytes": plan.range_bytes,
            "unsized_requests": plan.unsized_requests,
            "may_look_at_document": self.may_look,
            "requests": plan.requests.iter().map(request).collect::<Vec<Value>>(),
        }
    }

    fn text(&self, shape: &[u64], array: &Array) -> String {
        let plan = &self.plan;
        let bytes = |bytes: Option<u64>| bytes.map_or_else(|| "of variable length".to_owned(), size);
        let shape = format!("{} of {}", tuple(shape), escape::line(&array.data_type().to_string()));
        let mut encoded = format!("{} in ranges", size(plan.range_bytes));
        if plan.unsized_requests > 0 {
            let values = counted(plan.unsized_requests, "value");
            encoded.push_str(&format!(", and {values} of unknown size"));
        }
        let rounds = counted(u64::from(plan.rounds), "round");
        let mut facts = vec![
            ("elements", format!("{shape}, {}", bytes(plan.selected_bytes))),
            ("chunks", format!("{}, decoded {}", grouped(plan.chunks), bytes(plan.decoded_bytes))),
            ("requests", format!("{} in {rounds}", grouped(plan.request_count))),
            ("bytes", encoded),
        ];
        if self.pieces > 1 {
            facts.push(("pieces", format!("{}, one after another", grouped(self.pieces))));
        }
        if self.may_look {
            let end = if self.pieces > 1 { "at the end of each piece" } else { "at the end" };
            facts.push(("besides", format!("the array's document, {end}")));
        }
        let mut text: String = facts.iter().map(|(name, fact)| format!("{name:<9} {fact}\n")).collect();
        let keys: Vec<String> =
            plan.requests.iter().take(SHOWN).map(|request| escape::line(request.key.as_str()).into_owned()).collect();
        let width = widest(&keys);
        if !keys.is_empty() {
            text.push('\n');
        }
        for (request, key) in plan.requests.iter().zip(&keys) {
            let perhaps = if request.is_certain { "" } else { "  in parts, if the value is so large" };
            text.push_str(&format!("{:>3}  {}  {}{perhaps}\n", request.round + 1, padded(key, width), ranges(request)));
        }
        let others = plan.request_count.saturating_sub(keys.len() as u64);
        if others > 0 {
            text.push_str(&format!("     and {} others; --json lists them\n", grouped(others)));
        }
        text
    }
}

/// Greatest number of requests in the JSON output, over all pieces together.
const MOST: usize = 1 << 17;

fn request(request: &PlannedRequest) -> Value {
    let ranges = request.ranges.iter().map(|range| Value::from(bounds(range)));
    let members = object! {
        "round": request.round + 1,
        "key": request.key.as_str(),
        "ranges": ranges.collect::<Vec<_>>(),
        "certain": request.is_certain,
    };
    members.into()
}

/// Returns the known bounds of a range as JSON; empty for a whole value.
fn bounds(range: &ByteRange) -> Map {
    match range {
        ByteRange::Full => Map::new(),
        ByteRange::Range(range) => object! { "start": range.start, "end": range.end },
        ByteRange::From(start) => object! { "start": *start },
        ByteRange::Suffix(len) => object! { "last": *len },
        ByteRange::First(len) => object! { "start": 0, "end": *len },
    }
}

fn ranges(request: &PlannedRequest) -> String {
    const MOST: usize = 4;
    let shown: Vec<String> = request.ranges.iter().take(MOST).map(ByteRange::to_string).collect();
    let more = request.ranges.len().saturating_sub(MOST);
    if more > 0 { format!("{}, and {more} others", shown.join(", ")) } else { shown.join(", ") }
}
