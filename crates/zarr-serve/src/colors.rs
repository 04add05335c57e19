//! Colour maps for the page, the same as for other pictures.

use std::fmt::Write;
use zarr_json::{Map, Value, json};
use zarr_view::ColorMap;

/// Returns the colours of each map as hexadecimal digits (red, green, blue): from the least value to the greatest, or one category after
/// the other.
pub(crate) fn all() -> Value {
    let maps = ColorMap::ALL.into_iter().map(|map| {
        let digits = map.bytes().iter().fold(String::new(), |mut digits, byte| {
            // Writing to a string does not fail.
            let _ = write!(digits, "{byte:02x}");
            digits
        });
        (map.name().to_owned(), json!({"colors": digits, "is_categorical": (map.is_categorical())}))
    });
    Value::from(maps.collect::<Map>())
}
