//! Data types in the words of zarr-python 2.
//!
//! Numbers are type strings (`<i4`, `u1`, `bool`); all others are extension objects:
//!
//! ```json
//! {"extension": "TODO: unicode array protocol URL", "fallback": null, "type": "<U5"}
//! ```

use crate::dialect::draft::data_type::{self, Accept, Elements};
use crate::dialect::typestr::{Class, Dtype, Endian};
use crate::error::{Error, ErrorKind, Result};
use crate::json;
use crate::json::{Map, Value};
use crate::pointer::At;

const COMPLEX: &str =
    "https://zarr-specs.readthedocs.io/en/core-protocol-v3.0-dev/protocol/extensions/complex-dtypes/v1.0.html";
const TIME: &str = "https://zarr-specs.readthedocs.io/en/latest/extensions/data-types/datetime/v1.0.html";

pub(super) fn parse(at: &At<'_>) -> Result<Elements> {
    let mut elements = data_type::parse(at, Accept::TypeStrings)?;
    // Plain bytes are written as a struct of one field without a name.
    let list = at.value().get("type").and_then(Value::as_array);
    if let (Some([field]), Dtype::Struct(fields)) = (list, &elements.dtype)
        && let ([field_type], Some([Value::String(name), _])) = (fields.as_slice(), field.as_array())
        && let (Dtype::Raw(size), true) = (&field_type.dtype, name.is_empty())
    {
        elements.endian = Endian::None;
        elements.dtype = Dtype::Raw(*size);
    }
    Ok(elements)
}

pub(super) fn write(dtype: &Dtype, endian: &Endian) -> Result<Value> {
    let typestr = data_type::to_typestr(dtype, endian);
    let extension = match dtype {
        Dtype::Number(number) if number.letter == '\0' => {
            let found = format!("data type {:?}", number.name);
            return Err(Error::new(ErrorKind::NotExpressible, "/data_type", found, "a type of numpy"));
        }
        Dtype::Number(number) if number.class == Class::Complex => COMPLEX,
        Dtype::Number(_) => return Ok(typestr),
        Dtype::Time { .. } => TIME,
        Dtype::Bytes(_) => "TODO: bytestring array protocol URL",
        Dtype::Text(_) => "TODO: unicode array protocol URL",
        Dtype::Raw(_) | Dtype::Struct(_) => "TODO: structured array protocol URL",
        Dtype::Object => "TODO: object array protocol URL",
    };
    let typestr = if matches!(dtype, Dtype::Raw(_)) { json!([["", typestr]]) } else { typestr };
    let mut map = Map::new();
    map.insert("extension", extension);
    map.insert("fallback", Value::Null);
    map.insert("type", typestr);
    Ok(Value::Object(map))
}
