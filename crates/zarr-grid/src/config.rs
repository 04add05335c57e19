//! Access to the members of a `configuration` object, with errors that have a JSON pointer.

use zarr_json::{Map, Value};

use crate::error::{Error, Result};

/// Returns the error for the value `found` at `pointer`; `found` is `None` if there is no value.
pub(crate) fn unexpected(pointer: String, found: Option<&Value>, expected: &'static str) -> Error {
    let found = found.map_or_else(|| "nothing".to_owned(), Value::excerpt);
    Error::Config { pointer, found, expected }
}

/// Returns an error for members other than `known`: a member that determines the place of data cannot be ignored.
pub(crate) fn only(configuration: &Map, known: &[&str], expected: &'static str) -> Result<()> {
    match configuration.keys().find(|name| !known.contains(name)) {
        None => Ok(()),
        Some(name) => {
            let pointer = format!("/{}", name.replace('~', "~0").replace('/', "~1"));
            Err(Error::Config { pointer, found: "an unknown member".to_owned(), expected })
        }
    }
}

/// Returns the list in the member `name`; fails if the member is missing or no list.
pub(crate) fn list<'a>(configuration: &'a Map, name: &str, expected: &'static str) -> Result<&'a [Value]> {
    let value = configuration.get(name);
    value.and_then(Value::as_array).ok_or_else(|| unexpected(format!("/{name}"), value, expected))
}

/// Returns a number of elements or chunks: an integer below 2^63, as everywhere in Zarr documents.
pub(crate) fn count(value: &Value) -> Option<u64> {
    value.as_u64().filter(|&n| i64::try_from(n).is_ok())
}
