//! Data types in the spelling of zarr-python 2.
//!
//! Numbers are type strings (`<i4`, `u1`, `bool`); all others are extension objects:
//!
//! ```json
//! {"extension": "TODO: unicode array protocol URL", "fallback": null, "type": "<U5"}
//! ```

use crate::drafts::v3::data_type::{self, Accept, Elements};
use crate::error::{Error, ErrorKind, Result};
use zarr_dtype::{ByteOrder, Class, NumpyType};
use zarr_json::pointer::At;
use zarr_json::{Map, Value, json};

const COMPLEX: &str =
    "https://zarr-specs.readthedocs.io/en/core-protocol-v3.0-dev/protocol/extensions/complex-dtypes/v1.0.html";
const TIME: &str = "https://zarr-specs.readthedocs.io/en/latest/extensions/data-types/datetime/v1.0.html";

pub(super) fn parse(at: &At<'_>) -> Result<Elements> {
    let mut elements = data_type::parse(at, Accept::TypeStrings)?;
    // Plain bytes are written as a struct of one field without a name.
    let list = at.value().get("type").and_then(Value::as_array);
    if let (Some([field]), NumpyType::Struct(fields)) = (list, &elements.dtype)
        && let ([field_type], Some([Value::String(name), _])) = (fields.as_slice(), field.as_array())
        && let (NumpyType::Raw(size), true) = (&field_type.numpy, name.is_empty())
    {
        elements.endian = ByteOrder::Irrelevant;
        elements.dtype = NumpyType::Raw(*size);
    }
    Ok(elements)
}

pub(super) fn write(dtype: &NumpyType, endian: &ByteOrder) -> Result<Value> {
    let typestr = data_type::to_typestr(dtype, endian);
    let extension = match dtype {
        NumpyType::Number(number) if !dtype.is_of_numpy() => {
            let found = format!("data type \"{number}\"");
            return Err(Error::new(ErrorKind::NotExpressible, "/data_type", found, "a type of numpy"));
        }
        NumpyType::Number(number) if number.class() == Some(Class::Complex) => COMPLEX,
        NumpyType::Number(_) => return Ok(typestr),
        NumpyType::Time { .. } => TIME,
        NumpyType::Bytes(_) => "TODO: bytestring array protocol URL",
        NumpyType::Text(_) => "TODO: unicode array protocol URL",
        NumpyType::Raw(_) | NumpyType::Struct(_) => "TODO: structured array protocol URL",
        NumpyType::Object => "TODO: object array protocol URL",
    };
    let typestr = if matches!(dtype, NumpyType::Raw(_)) { json!([["", typestr]]) } else { typestr };
    let mut map = Map::new();
    map.insert("extension", extension);
    map.insert("fallback", Value::Null);
    map.insert("type", typestr);
    Ok(Value::Object(map))
}
