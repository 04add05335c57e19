//! JSON objects that are printed.

use zarr::meta::json::Value;

/// A JSON object of members in their order, behind the members of another object if it begins with `..other,`.
macro_rules! object {
    (..$other:expr, $($name:literal: $value:expr),* $(,)?) => {{
        let mut members: zarr::meta::json::Map = $other;
        $(members.insert($name, $value);)*
        members
    }};
    ($($members:tt)*) => { $crate::object::object!(..zarr::meta::json::Map::new(), $($members)*) };
}
pub(crate) use object;

/// The value, or `null`.
pub(crate) fn or_null(value: Option<impl Into<Value>>) -> Value {
    value.map_or(Value::Null, Into::into)
}
