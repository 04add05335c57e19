//! Writing of documents of the protocol drafts, as zarr-python 2 does.

use super::entry::Form;
use super::{data_type, parse};
use crate::dialect::typestr;
use crate::dialect::{fill, layout, numcodecs, uri};
use crate::drafts::v3::{self, codec, members, unknown};
use crate::error::{Error, ErrorKind, Result};
use crate::{ArrayMetadata, GroupMetadata};
use zarr_dtype::NumpyType;
use zarr_json::{Map, Value, json};

/// URI of the sharding transformer in zarr-python 2.
const SHARDING: &str = "https://purl.org/zarr/spec/storage_transformers/sharding/1.0";

/// Codecs that zarr-python 2 accepts as a compressor. Other codecs become filters.
const COMPRESSORS: [&str; 7] = ["gzip", "zlib", "blosc", "bz2", "lz4", "lzma", "zstd"];

pub(super) fn group(group: &GroupMetadata, form: &Form) -> Result<Map> {
    if group.consolidated.is_some() {
        let found = "consolidated metadata inside of a group";
        return Err(Error::new(ErrorKind::NotExpressible, "/consolidated_metadata", found, "none"));
    }
    let mut map = Map::new();
    map.insert("attributes", group.attributes.clone());
    // zarr-python 2 has none here.
    if !form.is_settled() {
        map.insert("extensions", json!([]));
    }
    group.extra.iter().for_each(|(name, value)| drop(map.insert(name, value.clone())));
    Ok(map)
}

/// Returns the document of an array, with the members sorted as by zarr-python 2.
pub(super) fn array(array: &ArrayMetadata, form: &Form) -> Result<Map> {
    let unknown_type = unknown::data_type(&array.data_type);
    let dtype = match &unknown_type {
        Some(_) => NumpyType::Raw(1),
        None => typestr::from_model(&array.data_type).map_err(|error| error.below("/data_type"))?,
    };
    let unknown_grid = unknown::grid(&array.chunk_grid);
    let shards = match &unknown_grid {
        Some(_) => v3::sharding::none(&array.codecs),
        None => v3::sharding::from_model(layout::chunk_shape(&array.chunk_grid)?, &array.codecs),
    };
    let rank = array.shape.len();
    let (order, transposes) = unknown::layout(&shards.codecs, rank)?;
    let behind = codec::name_by_id(shards.codecs.get(transposes..).unwrap_or_default());
    let stored = numcodecs::from_model(&behind, transposes, &dtype).map_err(|error| error.below("/codecs"))?;
    let mut filters = stored.filters;
    let is_compressor = |codec: &Value| {
        codec.get("id").and_then(Value::as_str).is_some_and(|id| COMPRESSORS.contains(&id) || uri::is_uri(id))
    };
    let (compressor, other): (Option<Value>, Option<Value>) = if stored.compressor.as_ref().is_some_and(is_compressor) {
        (stored.compressor, None)
    } else {
        (None, stored.compressor)
    };
    filters.extend(other);
    let mut attributes = array.attributes.clone();
    if parse::filters(attributes.get("filters")) || (attributes.contains_key("filters") && !filters.is_empty()) {
        let found = "an attribute of the user, where the draft has filters";
        return Err(Error::new(ErrorKind::NotExpressible, "/attributes/filters", found, "another name"));
    }
    if !filters.is_empty() {
        attributes.insert("filters", Value::Array(filters));
    }
    let mut map = Map::new();
    map.insert("attributes", attributes);
    let grid = || grid(array, shards.chunk_shape, form).map(Value::Object);
    map.insert("chunk_grid", unknown_grid.map_or_else(grid, Ok)?);
    map.insert("chunk_memory_layout", order);
    if let Some(compressor) = &compressor {
        let (id, configuration) = codec::id_and_configuration(compressor)?;
        let codec = codec::uri("https://purl.org/zarr/spec/codec/", id, "/1.0");
        map.insert("compressor", json!({"codec": codec, "configuration": configuration}));
    }
    map.insert("data_type", unknown_type.clone().map_or_else(|| data_type::write(&dtype, &stored.endian), Ok)?);
    map.insert("extensions", members::extensions_of(&array.extra));
    map.insert(
        "fill_value",
        match &array.fill_value {
            // Bit patterns among them, which version 2 lacks.
            Some(value) if matches!(dtype, NumpyType::Number(_)) || unknown_type.is_some() => value.clone(),
            None if unknown_type.is_some() => Value::Null,
            value => fill::from_model(value.as_ref(), &dtype, &stored.endian, &array.data_type.name)?,
        },
    );
    map.insert("shape", array.shape.clone());
    if !shards.chunks_per_shard.is_empty() {
        // zarr-python 2 has one number for arrays without dimensions.
        let transformer =
            |counts: &Vec<u64>| v3::sharding::transformer(SHARDING, if rank == 0 { &[1] } else { counts });
        map.insert("storage_transformers", Value::Array(shards.chunks_per_shard.iter().map(transformer).collect()));
    } else if let Some(list) = unknown::transformers(&array.storage_transformers)? {
        map.insert("storage_transformers", list);
    }
    array.extra.iter().for_each(|(name, value)| drop(map.insert(name, value.clone())));
    Ok(map)
}

fn grid(array: &ArrayMetadata, chunk_shape: Value, form: &Form) -> Result<Map> {
    let fits = |separator: &&str| array.chunk_key_encoding == parse::key_encoding(form, array.shape.len(), separator);
    let Some(separator) = ["/", "."].into_iter().find(fits) else {
        let found = array.chunk_key_encoding.to_value().excerpt();
        let expected = if form.is_first { "keys such as 0.1" } else { "keys such as c0/1 or c0.1" };
        return Err(Error::new(ErrorKind::NotExpressible, "/chunk_key_encoding", found, expected));
    };
    let mut grid = Map::new();
    grid.insert("chunk_shape", chunk_shape);
    // In July 2020 there was no such member, and `.` always.
    if !(form.is_first && separator == ".") {
        grid.insert("separator", separator);
    }
    grid.insert("type", "regular");
    Ok(grid)
}
