//! Writing documents of version 2.

use crate::dialect::{fill, numcodecs, typestr};
use crate::error::{Error, ErrorKind, Result};
use crate::json::{Map, Value};
use crate::{ArrayMetadata, GroupMetadata, NamedConfig};

pub(super) fn group(group: &GroupMetadata) -> Map {
    let mut map = Map::new();
    map.insert("zarr_format", 2);
    group.extra.iter().for_each(|(name, value)| drop(map.insert(name, value.clone())));
    map
}

pub(super) fn array(array: &ArrayMetadata) -> Result<Map> {
    let dtype = typestr::from_model(&array.data_type).map_err(|error| error.below("/data_type"))?;
    let transposes = array.codecs.iter().take_while(|codec| codec.name == "transpose").count();
    let mut order = "C";
    for (place, codec) in array.codecs.iter().take(transposes).enumerate() {
        if is_order(codec, 0..array.shape.len()) {
            continue;
        }
        if place > 0 || !is_order(codec, (0..array.shape.len()).rev()) {
            let found = codec.configuration.get("order").map_or_else(|| "no order".to_owned(), Value::excerpt);
            let pointer = format!("/codecs/{place}/configuration/order");
            return Err(Error::new(ErrorKind::NotExpressible, pointer, found, "the order of C or F"));
        }
        order = "F";
    }
    let behind = array.codecs.get(transposes..).unwrap_or_default();
    let stored = numcodecs::from_model(behind, transposes, &dtype).map_err(|error| error.below("/codecs"))?;
    let mut map = Map::new();
    map.insert("zarr_format", 2);
    map.insert("shape", array.shape.clone());
    map.insert("chunks", chunks(&array.chunk_grid)?);
    map.insert("dtype", dtype.to_value(&stored.endian));
    map.insert("compressor", stored.compressor.unwrap_or_default());
    map.insert("fill_value", fill::from_model(array.fill_value.as_ref(), &dtype, &stored.endian)?);
    map.insert("order", order);
    map.insert("filters", if stored.filters.is_empty() { Value::Null } else { Value::Array(stored.filters) });
    map.insert("dimension_separator", separator(&array.chunk_key_encoding)?);
    array.extra.iter().for_each(|(name, value)| drop(map.insert(name, value.clone())));
    Ok(map)
}

fn is_order(codec: &NamedConfig, axes: impl Iterator<Item = usize>) -> bool {
    let order = codec.configuration.get("order").and_then(Value::as_array).unwrap_or_default();
    order.iter().map(Value::as_u64).eq(axes.map(|axis| u64::try_from(axis).ok()))
}

fn chunks(grid: &NamedConfig) -> Result<Value> {
    match grid.configuration.get("chunk_shape") {
        Some(shape) if grid.name == "regular" => Ok(shape.clone()),
        _ => {
            let found = grid.to_value().excerpt();
            Err(Error::new(ErrorKind::NotExpressible, "/chunk_grid", found, "a regular grid"))
        }
    }
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
