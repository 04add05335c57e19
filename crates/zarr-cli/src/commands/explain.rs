//! Advice on layouts, as `zarr info --explain` prints it.

use crate::context::{Context, NodeLocation};
use crate::object::object;
use zarr::Array;
use zarr::check::{Finding, consolidation_advice, layout_advice};
use zarr::hierarchy::Walk;
use zarr::meta::json::{Map, Value};

/// Returns advice on a group and the arrays below it. Warns of arrays that cannot be looked at.
pub(super) fn of_walk(context: &Context, location: &NodeLocation, walk: &Walk) -> Vec<Finding> {
    let consolidated = consolidation_advice(&walk.nodes).filter(|_| walk.consolidated.is_none());
    let mut found: Vec<Finding> = consolidated.into_iter().collect();
    for node in walk.nodes.iter().filter(|node| node.node.as_group().is_none()) {
        let array = Array::from_found(&location.store, node.clone(), &context.registry, context.options());
        match array.and_then(|array| Ok((array.sizes()?, array))) {
            Ok((sizes, array)) => found.extend(layout_advice(&array, &sizes)),
            Err(error) => context.warnings(&[format!("{}: {error}", node.path)]),
        }
    }
    found
}

/// Returns advice as lines of the text of a node. `with_paths` says whether each begins with the path of its node.
pub(super) fn lines(advice: Option<&[Finding]>, with_paths: bool) -> Vec<(String, String)> {
    let Some(advice) = advice else { return Vec::new() };
    if advice.is_empty() {
        return vec![("Advice".to_owned(), "nothing unusual or costly about the layout".to_owned())];
    }
    let of_finding = |finding: &Finding| {
        let path = finding.path.as_ref().filter(|_| with_paths).map_or_else(String::new, |path| format!("{path}: "));
        [("Advice".to_owned(), format!("{path}{}", finding.message)), (String::new(), finding.advice.clone())]
    };
    advice.iter().flat_map(of_finding).collect()
}

/// Adds advice to the JSON of a node.
pub(super) fn facts(facts: Map, advice: Option<&[Finding]>) -> Map {
    let Some(advice) = advice else { return facts };
    let of_finding = |finding: &Finding| {
        Value::from(object! {
            "path": finding.path.clone().unwrap_or_default(),
            "message": finding.message.as_str(),
            "advice": finding.advice.as_str(),
        })
    };
    object! { ..facts, "advice": advice.iter().map(of_finding).collect::<Vec<_>>() }
}
