//! Separate documents of attributes, which versions 0 to 2 have.

use crate::error::{Error, Result};
use crate::{Documents, Warning};
use zarr_json::pointer::At;
use zarr_json::{Map, ParseOptions, Value};

/// Returns the attributes in the document at `key`; empty if there is no such document.
pub(crate) fn read(key: &str, documents: &Documents, warnings: &mut Vec<Warning>) -> Result<Map> {
    let options = ParseOptions::ALL.trailing_comma(false);
    let Some((value, deviations)) = documents.json(key, options, |_| true)? else { return Ok(Map::new()) };
    warnings.extend(deviations.into_iter().map(|deviation| Warning::of(key, deviation)));
    match value {
        Value::Object(attributes) => Ok(attributes),
        other => Err(Error::from(At::root(&other).invalid("an object")).in_document(key)),
    }
}
