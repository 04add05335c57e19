//! Writing of documents of version 3, in the spelling that readers of 3.0 understand.

use crate::Node;
use crate::codec_facts::NUMCODECS;
use crate::dialect::{Dialect, codecs};
use crate::error::{Error, ErrorKind, Result};
use zarr_json::{Map, NamedConfig, ParseOptions, Value, parse};

/// Returns the document of a node; `stored` is the present document.
pub(super) fn document(dialect: Dialect, node: &Node, stored: Option<&[u8]>) -> Result<Map> {
    let array = match node {
        Node::Array(array) => array,
        Node::Group(group) => return Ok(members(group.to_value())),
    };
    check_data_type(&array.data_type, "/data_type")?;
    let mut document = members(array.to_value());
    let mut codecs = Vec::new();
    for (index, codec) in array.codecs.iter().enumerate() {
        let codec = codec_value(dialect, codec).map_err(|error| error.below(&format!("/codecs/{index}")))?;
        codecs.push(codec);
    }
    document.insert("codecs", codecs);
    // Where null stands already it stays, since no value would mean the same. New documents do not have it.
    if array.fill_value.is_none() && !has_null(stored) {
        let expected = "a value of the data type";
        return Err(Error::new(ErrorKind::NotExpressible, "/fill_value", "no fill value", expected));
    }
    Ok(document)
}

/// Returns whether the fill value of a document is null.
fn has_null(document: Option<&[u8]>) -> bool {
    let parsed = document.and_then(|bytes| parse(bytes, ParseOptions::ALL).ok());
    parsed.is_some_and(|document| document.value.get("fill_value") == Some(&Value::Null))
}

fn members(value: Value) -> Map {
    if let Value::Object(members) = value { members } else { Map::new() }
}

/// Returns an error for private names of the model, for data types that only older dialects can express.
fn check_data_type(data_type: &NamedConfig, pointer: &str) -> Result<()> {
    let no = |what: &str| Err(Error::new(ErrorKind::NotExpressible, pointer, what, "a data type that version 3 has"));
    if data_type.name == "subarray" {
        return no("struct fields that are arrays");
    }
    // A type of version 2 that is not known.
    if data_type.name.starts_with(['"', '[']) {
        return no(&data_type.name);
    }
    let fields = data_type.configuration.get("fields").and_then(Value::as_array).unwrap_or_default();
    for (index, field) in fields.iter().enumerate() {
        let Some(named) = field.get("data_type").and_then(NamedConfig::from_value) else { continue };
        check_data_type(&named, &format!("{pointer}/configuration/fields/{index}/data_type"))?;
    }
    Ok(())
}

fn codec_value(dialect: Dialect, codec: &NamedConfig) -> Result<Value> {
    let mut codec = codec.clone();
    if codec.name == codecs::VIEW {
        let found = "codecs of arrays behind codecs of bytes";
        return Err(Error::new(ErrorKind::NotExpressible, "", found, "codecs of arrays before codecs of bytes"));
    }
    if codec.configuration.contains_key("field_endian") {
        let found = "struct fields of mixed byte orders";
        return Err(Error::new(ErrorKind::NotExpressible, "/configuration/endian", found, "one byte order for all"));
    }
    if codec.configuration.remove("index_checksum_optional") == Some(Value::Bool(true)) {
        if dialect == Dialect::V3 {
            let found = "shard indexes that may or may not have a checksum";
            return Err(Error::new(ErrorKind::NotExpressible, "/configuration/index_codecs", found, "known codecs"));
        }
        codec.configuration.remove("index_codecs");
    }
    for member in codecs::CHAINS {
        let Some(Value::Array(inner)) = codec.configuration.get_mut(member) else { continue };
        for (index, value) in inner.iter_mut().enumerate() {
            let below = |error: Error| error.below(&format!("/configuration/{member}/{index}"));
            // A value that stays the same keeps its spelling.
            if let Some(named) = NamedConfig::from_value(value)
                && let written = codec_value(dialect, &named).map_err(below)?
                && written != named.to_value()
                && written != *value
            {
                *value = written;
            }
        }
    }
    let mut value = codec.to_value();
    if let Value::Object(members) = &mut value
        && codec.name.starts_with(NUMCODECS)
        && codec.configuration.is_empty()
    {
        // zarr-python refuses its codecs of numcodecs without a configuration, be it an empty one.
        members.insert("configuration", Map::new());
    }
    Ok(value)
}
