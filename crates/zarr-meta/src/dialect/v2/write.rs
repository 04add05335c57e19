//! Writing documents of version 2.

use crate::dialect::{fill, layout, numcodecs, typestr};
use crate::error::{Error, ErrorKind, Result};
use crate::{ArrayMetadata, GroupMetadata};
use zarr_json::{Map, NamedConfig, Value};

pub(super) fn group(group: &GroupMetadata) -> Map {
    let mut map = Map::new();
    map.insert("zarr_format", 2);
    group.extra.iter().for_each(|(name, value)| drop(map.insert(name, value.clone())));
    map
}

pub(super) fn array(array: &ArrayMetadata) -> Result<Map> {
    let dtype = typestr::from_model(&array.data_type).map_err(|error| error.below("/data_type"))?;
    let (order, transposes) = layout::from_model(&array.codecs, array.shape.len())?;
    let behind = array.codecs.get(transposes..).unwrap_or_default();
    let stored = numcodecs::from_model(behind, transposes, &dtype)
        .and_then(numcodecs::Stored::of_numcodecs)
        .map_err(|error| error.below("/codecs"))?;
    let mut map = Map::new();
    map.insert("zarr_format", 2);
    map.insert("shape", array.shape.clone());
    map.insert("chunks", layout::chunk_shape(&array.chunk_grid)?);
    map.insert("dtype", dtype.to_value(&stored.endian));
    map.insert("compressor", stored.compressor.unwrap_or_default());
    map.insert(
        "fill_value",
        fill::from_model(array.fill_value.as_ref(), &dtype, &stored.endian, &array.data_type.name)?,
    );
    map.insert("order", order);
    map.insert("filters", if stored.filters.is_empty() { Value::Null } else { Value::Array(stored.filters) });
    map.insert("dimension_separator", separator(&array.chunk_key_encoding)?);
    array.extra.iter().for_each(|(name, value)| drop(map.insert(name, value.clone())));
    Ok(map)
}

fn separator(encoding: &NamedConfig) -> Result<&str> {
    let separator = encoding.configuration.get("separator").map_or(Some("."), Value::as_str);
    match separator {
        Some(separator @ ("." | "/")) if encoding.name == "v2" => Ok(separator),
        _ => {
            let found = encoding.to_value().excerpt();
            let expected = "the encoding v2 with the separator . or /";
            Err(Error::new(ErrorKind::NotExpressible, "/chunk_key_encoding", found, expected))
        }
    }
}
