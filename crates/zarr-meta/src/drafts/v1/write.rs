//! Writing documents of version 1.

use super::fill;
use crate::ArrayMetadata;
use crate::dialect::{layout, numcodecs, typestr};
use crate::error::{Error, ErrorKind, Result};
use zarr_dtype::NumpyType;
use zarr_json::{Map, Value};

/// Returns the document of an array, with the members sorted as by zarr-python 1.
pub(super) fn array(array: &ArrayMetadata) -> Result<Map> {
    let dtype = typestr::from_model_of_numpy(&array.data_type).map_err(|error| error.below("/data_type"))?;
    if dtype == NumpyType::Object {
        let found = format!("data type {}", array.data_type.short_value().excerpt());
        return Err(Error::new(ErrorKind::NotExpressible, "/data_type", found, "a type of a fixed size"));
    }
    if array.chunk_key_encoding != layout::keys("v2", ".") {
        let found = array.chunk_key_encoding.to_value().excerpt();
        let expected = "the encoding v2 with the separator .";
        return Err(Error::new(ErrorKind::NotExpressible, "/chunk_key_encoding", found, expected));
    }
    let (order, transposes) = layout::from_model(&array.codecs, array.shape.len())?;
    let behind = array.codecs.get(transposes..).unwrap_or_default();
    let stored = numcodecs::from_model(behind, transposes, &dtype)
        .and_then(numcodecs::Stored::of_numcodecs)
        .map_err(|error| error.below("/codecs"))?;
    if let Some(filter) = stored.filters.first() {
        let found = filter.get("id").map_or_else(String::new, Value::excerpt);
        let found = format!("filter {found}");
        return Err(Error::new(ErrorKind::NotExpressible, "/codecs", found, "a compressor alone"));
    }
    let (compression, options) = compression(stored.compressor.as_ref())?;
    let mut map = Map::new();
    map.insert("chunks", layout::chunk_shape(&array.chunk_grid)?);
    map.insert("compression", compression);
    map.insert("compression_opts", options);
    map.insert("dtype", dtype.to_value(&stored.endian));
    map.insert("fill_value", fill::from_model(array.fill_value.as_ref(), &dtype, &stored.endian)?);
    map.insert("order", order);
    map.insert("shape", array.shape.clone());
    map.insert("zarr_format", 1);
    array.extra.iter().for_each(|(name, value)| drop(map.insert(name, value.clone())));
    Ok(map)
}

/// Returns the name and the complete options of a compressor, since zarr-python 1 requires all options.
fn compression(compressor: Option<&Value>) -> Result<(&str, Value)> {
    let Some(compressor) = compressor else { return Ok(("none", Value::Null)) };
    let id = compressor.get("id").and_then(Value::as_str).unwrap_or_default();
    let defaults = |defaults: &[(&str, Value)]| {
        let member =
            |(name, default): &(&str, Value)| ((*name).to_owned(), compressor.get(name).unwrap_or(default).clone());
        Value::Object(defaults.iter().map(member).collect())
    };
    Ok(match id {
        "blosc" => {
            (id, defaults(&[("clevel", Value::from(5)), ("cname", Value::from("lz4")), ("shuffle", Value::from(1))]))
        }
        "zlib" | "bz2" => (id, compressor.get("level").cloned().unwrap_or(Value::from(1))),
        "lzma" => {
            let format = ("format", Value::from(1));
            (id, defaults(&[("check", Value::from(-1)), ("filters", Value::Null), format, ("preset", Value::Null)]))
        }
        _ => {
            let found = format!("compressor {id:?}");
            return Err(Error::new(ErrorKind::NotExpressible, "/codecs", found, "blosc, zlib, bz2, lzma or none"));
        }
    })
}
