//! Writing of documents of the core draft of 2022: with the names that it introduced, and with every mandatory member.

use crate::dialect::typestr;
use crate::dialect::{layout, numcodecs};
use crate::drafts::v3::{codec, data_type, fill, members, sharding, unknown};
use crate::error::{Error, ErrorKind, Result};
use crate::{ArrayMetadata, GroupMetadata};
use zarr_dtype::NumpyType;
use zarr_json::{Map, NamedConfig, ParseOptions, Value, json, parse};

pub(super) fn group(group: &GroupMetadata) -> Map {
    let mut map = Map::new();
    map.insert("attributes", group.attributes.clone());
    group.extra.iter().for_each(|(name, value)| drop(map.insert(name, value.clone())));
    map
}

/// Returns the document of an array; `stored` is the present document.
pub(super) fn array(array: &ArrayMetadata, stored: Option<&[u8]>) -> Result<Map> {
    let stored = stored.and_then(|bytes| parse(bytes, ParseOptions::ALL).ok()).map(|stored| stored.value);
    let unknown_type = unknown::data_type(&array.data_type);
    let dtype = match &unknown_type {
        Some(_) => NumpyType::Raw(1),
        None => typestr::from_model(&array.data_type).map_err(|error| error.below("/data_type"))?,
    };
    let unknown_grid = unknown::grid(&array.chunk_grid);
    let shards = match &unknown_grid {
        Some(_) => sharding::none(&array.codecs),
        None => sharding::from_model(layout::chunk_shape(&array.chunk_grid)?, &array.codecs),
    };
    let (order, transposes) = unknown::layout(&shards.codecs, array.shape.len())?;
    let behind = codec::name_by_id(shards.codecs.get(transposes..).unwrap_or_default());
    let chain = numcodecs::from_model(&behind, transposes, &dtype).map_err(|error| error.below("/codecs"))?;
    let mut map = Map::new();
    map.insert("shape", array.shape.clone());
    map.insert("data_type", unknown_type.clone().map_or_else(|| data_type::to_name(&dtype, &chain.endian), Ok)?);
    let grid = || {
        Ok::<_, Error>(json!({
            "type": "regular",
            "chunk_shape": (shards.chunk_shape),
            "separator": (layout::separator(&array.chunk_key_encoding, "joined")?)
        }))
    };
    map.insert("chunk_grid", unknown_grid.map_or_else(grid, Ok)?);
    map.insert("chunk_memory_layout", order);
    let all: Vec<Value> = chain.filters.into_iter().chain(chain.compressor).collect();
    map.insert("codecs", codecs(&all, &behind)?);
    map.insert("fill_value", fill_value(array, &dtype, unknown_type.is_some(), stored.as_ref())?);
    map.insert("extensions", members::extensions_of(&array.extra));
    map.insert("attributes", array.attributes.clone());
    if !shards.chunks_per_shard.is_empty() {
        let stack = shards.chunks_per_shard.iter();
        let stack = stack.map(|counts| sharding::transformer(sharding::D2022_URI, counts)).collect();
        map.insert("storage_transformers", Value::Array(stack));
    } else if let Some(list) = unknown::transformers(&array.storage_transformers)? {
        map.insert("storage_transformers", list);
    }
    let others = array.extra.iter().filter(|(name, _)| *name != "extensions");
    others.for_each(|(name, value)| drop(map.insert(name, value.clone())));
    Ok(map)
}

/// Returns the codecs by URI. The codec for little-endian bytes is omitted.
fn codecs(stored: &[Value], chain: &[NamedConfig]) -> Result<Vec<Value>> {
    let mut list = Vec::new();
    for codec in stored {
        let (id, configuration) = codec::id_and_configuration(codec)?;
        list.push(by_uri(id, configuration));
    }
    let bytes = chain.iter().enumerate().find(|(_, codec)| codec.name == "bytes");
    if let Some((index, bytes)) = bytes
        && let Some(endian) = bytes.configuration.get("endian")
        // Behind codecs of arrays these would say the byte order.
        && (index > 0 || endian.as_str() == Some("big"))
    {
        list.insert(index.min(list.len()), by_uri("endian", bytes.configuration.clone()));
    }
    Ok(list)
}

fn by_uri(id: &str, configuration: Map) -> Value {
    let mut map = Map::new();
    map.insert("type", codec::uri("https://purl.org/zarr/spec/codecs/", id, "/1.0"));
    if !configuration.is_empty() {
        map.insert("configuration", configuration);
    }
    Value::Object(map)
}

fn fill_value(array: &ArrayMetadata, dtype: &NumpyType, is_unknown: bool, stored: Option<&Value>) -> Result<Value> {
    if let Some(value) = &array.fill_value {
        return if is_unknown { Ok(value.clone()) } else { fill::from_model(value, dtype) };
    }
    // The text forbids null. Where it stands already it stays, since no value would mean the same.
    if stored.is_some_and(|stored| stored.get("fill_value") == Some(&Value::Null)) {
        return Ok(Value::Null);
    }
    Err(Error::new(ErrorKind::NotExpressible, "/fill_value", "no fill value", "a value of the data type"))
}
