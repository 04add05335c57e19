//! JSON objects that are printed.

use zarr::meta::json::Value;

/// Builds a JSON object with members in the given order. With `..other,` first, the members follow those of the object `other`.
macro_rules! object {
    (..$other:expr, $($name:literal: $value:expr),* $(,)?) => {{
        let mut members: zarr::meta::json::Map = $other;
        $(members.insert($name, $value);)*
        members
    }};
    ($($members:tt)*) => { $crate::object::object!(..zarr::meta::json::Map::new(), $($members)*) };
}
pub(crate) use object;

/// Returns the value as JSON, or `null` for `None`.
pub(crate) fn or_null(value: Option<impl Into<Value>>) -> Value {
    value.map_or(Value::Null, Into::into)
}
