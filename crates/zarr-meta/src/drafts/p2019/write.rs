//! Writing documents of the first protocol draft.

use super::URI;
use crate::dialect::typestr;
use crate::dialect::{fill as numpy_fill, layout, numcodecs};
use crate::drafts::v3::{codec, data_type, fill, members, unknown};
use crate::error::{Error, ErrorKind, Result};
use crate::{ArrayMetadata, GroupMetadata};
use zarr_dtype::NumpyType;
use zarr_json::{Map, Value, json};

pub(super) fn group(group: &GroupMetadata) -> Map {
    let mut map = Map::new();
    map.insert("zarr_format", URI);
    finish(&mut map, &group.attributes, &group.extra);
    map
}

pub(super) fn array(array: &ArrayMetadata) -> Result<Map> {
    let unknown_type = unknown::data_type(&array.data_type);
    let dtype = match &unknown_type {
        Some(_) => NumpyType::Raw(1),
        None => typestr::from_model_of_numpy(&array.data_type).map_err(|error| error.below("/data_type"))?,
    };
    let (order, transposes) = unknown::layout(&array.codecs, array.shape.len())?;
    let behind = codec::name_by_id(array.codecs.get(transposes..).unwrap_or_default());
    let stored = numcodecs::from_model(&behind, transposes, &dtype).map_err(|error| error.below("/codecs"))?;
    if layout::separator(&array.chunk_key_encoding, "v2")? != "." {
        let found = "the separator /";
        return Err(Error::new(ErrorKind::NotExpressible, "/chunk_key_encoding", found, "the separator ."));
    }
    let mut map = Map::new();
    map.insert("zarr_format", URI);
    map.insert("shape", array.shape.clone());
    map.insert("data_type", unknown_type.clone().unwrap_or_else(|| data_type::to_typestr(&dtype, &stored.endian)));
    let regular =
        || Ok::<_, Error>(json!({"type": "regular", "chunk_shape": (layout::chunk_shape(&array.chunk_grid)?)}));
    map.insert("chunk_grid", unknown::grid(&array.chunk_grid).map_or_else(regular, Ok)?);
    map.insert("chunk_memory_layout", order);
    let codecs = stored.filters.iter().chain(&stored.compressor).map(inline);
    map.insert("chunk_codecs", codecs.collect::<Result<Vec<Value>>>()?);
    let fill_value = match &array.fill_value {
        // Bit patterns among them, which version 2 lacks.
        Some(value) if matches!(dtype, NumpyType::Number(_)) || unknown_type.is_some() => value.clone(),
        None if unknown_type.is_some() => Value::Null,
        value => numpy_fill::from_model(value.as_ref(), &dtype, &stored.endian, &array.data_type.name)?,
    };
    map.insert("fill_value", fill::with_sign(&fill_value, &dtype));
    finish(&mut map, &array.attributes, &array.extra);
    Ok(map)
}

/// Returns a codec with its parameters beside its URI.
fn inline(codec: &Value) -> Result<Value> {
    let (id, parameters) = codec::id_and_configuration(codec)?;
    if parameters.contains_key("codec") {
        let found = "a parameter named codec";
        return Err(Error::new(ErrorKind::NotExpressible, "/codecs", found, "parameters of other names"));
    }
    let mut map = Map::new();
    map.insert("codec", codec::uri("http://purl.org/zarr/spec/codec/", id, ""));
    parameters.iter().for_each(|(name, value)| drop(map.insert(name, value.clone())));
    Ok(Value::Object(map))
}

fn finish(map: &mut Map, attributes: &Map, extra: &Map) {
    map.insert("extensions", members::extensions_of(extra));
    map.insert("attributes", attributes.clone());
    let others = extra.iter().filter(|(name, _)| *name != "extensions");
    others.for_each(|(name, value)| drop(map.insert(name, value.clone())));
}
