//! Access to the members of a `configuration` object, with errors that say where.

use zarr_json::{Map, Value};

use crate::error::{Error, Result};

/// An error about the value at `pointer`; `None` if there is none.
pub(crate) fn unexpected(pointer: String, found: Option<&Value>, expected: &'static str) -> Error {
    let found = found.map_or_else(|| "nothing".to_owned(), Value::excerpt);
    Error::Config { pointer, found, expected }
}

/// Refuses members other than `known`: a member that decides where data lies cannot be ignored.
pub(crate) fn only(configuration: &Map, known: &[&str], expected: &'static str) -> Result<()> {
    match configuration.keys().find(|name| !known.contains(name)) {
        None => Ok(()),
        Some(name) => {
            let pointer = format!("/{}", name.replace('~', "~0").replace('/', "~1"));
            Err(Error::Config { pointer, found: "an unknown member".to_owned(), expected })
        }
    }
}

/// The list that is member `name`.
pub(crate) fn list<'a>(configuration: &'a Map, name: &str, expected: &'static str) -> Result<&'a [Value]> {
    let value = configuration.get(name);
    value.and_then(Value::as_array).ok_or_else(|| unexpected(format!("/{name}"), value, expected))
}

/// A number of elements or chunks: an integer that fits 63 bits, as everywhere in Zarr documents.
pub(crate) fn count(value: &Value) -> Option<u64> {
    value.as_u64().filter(|&n| i64::try_from(n).is_ok())
}
