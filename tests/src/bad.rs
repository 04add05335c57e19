//! Stores that must be refused.

use crate::Fault;
use crate::expected::{Refusal, Step};
use crate::fixtures::Case;
use std::ops::Range;
use std::sync::Arc;
use zarr_array::{Array, Error, Options, Result};
use zarr_grid::{Region, Selection};
use zarr_store::Store;

/// Checks that the store of the case is refused as expected.
///
/// # Errors
/// A description of the actual result.
pub(crate) fn check(case: &Case, refusal: &Refusal) -> Result<(), Fault> {
    let error = match steps(case, refusal) {
        Ok(what) => return Err(format!("{what} where {} was due", refusal.kinds.join(" or "))),
        Err(error) => error,
    };
    let kind = error.kind().name();
    if !refusal.kinds.iter().any(|expected| expected == kind) {
        return Err(format!("{kind} where {} was due: {error}", refusal.kinds.join(" or ")));
    }
    if let Some(path) = error.location().path.as_ref().filter(|path| **path != refusal.path) {
        return Err(format!("an error at {path}, expected at {}: {error}", refusal.path));
    }
    match &refusal.region_ok {
        None => Ok(()),
        Some(region) => good_region(case, refusal, region).map_err(|error| format!("region {region:?}: {error}")),
    }
}

/// Runs the steps of a reader up to the last step at which the error may come. Returns the name of the last step, if none fails.
fn steps(case: &Case, refusal: &Refusal) -> Result<&'static str> {
    let store = zarr::store::open(&case.url())?;
    match refusal.when {
        Step::List | Step::OpenStore => {
            crate::check::walk(&store)?;
            Ok("a listing")
        }
        Step::OpenNode | Step::Attributes | Step::Read => {
            let node = crate::check::find(&store, &refusal.path)?;
            if refusal.when == Step::Attributes {
                node.attributes().map_err(|error| Error::from(error.clone()))?;
                return Ok("attributes");
            }
            if node.node.as_array().is_none() {
                return Ok("a group");
            }
            let array = Array::from_found(&store, node, &zarr::registry::default(), Options::default())?;
            if refusal.when == Step::OpenNode {
                return Ok("an array");
            }
            let region = match &refusal.region_to_read {
                Some(region) => Selection::Region(Region::from_ranges(region)),
                None => Selection::all(),
            };
            array.read_data(region)?;
            Ok("elements")
        }
    }
}

fn good_region(case: &Case, refusal: &Refusal, region: &[Range<u64>]) -> Result<()> {
    let store: Arc<dyn Store> = zarr::store::open(&case.url())?;
    let array = zarr::open((&store, &refusal.path)).array()?;
    array.read_data(Selection::Region(Region::from_ranges(region))).map(drop)
}
