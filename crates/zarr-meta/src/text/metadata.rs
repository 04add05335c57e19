//! Short descriptions of chunks, codecs and data types, from metadata alone, also for unknown codecs and data types.

use crate::ArrayMetadata;
use crate::codec_facts::NUMCODECS;
use zarr_json::{NamedConfig, Value};

/// Shapes of chunks and shards, as in the metadata: arrays of lengths; for rectilinear grids arrays of arrays.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ChunkShapes {
    /// Shape of the smallest part that is stored on its own: the innermost inner chunk of a shard, else the chunk.
    pub chunk: Value,
    /// Shape of the shard; `None` if there are no shards.
    pub shard: Option<Value>,
}

impl ChunkShapes {
    /// Returns the chunk shapes of an array.
    #[must_use]
    pub fn new(array: &ArrayMetadata) -> Self {
        let grid = &array.chunk_grid.configuration;
        let outer = grid.get("chunk_shape").or_else(|| grid.get("chunk_shapes")).cloned().unwrap_or_default();
        match inner_shape(&array.codecs) {
            Some(inner) => Self { chunk: inner, shard: Some(outer) },
            None => Self { chunk: outer, shard: None },
        }
    }
}

/// Returns the shape of the innermost inner chunks, in the order of the array's dimensions; `None` if there are no shards.
fn inner_shape(codecs: &[NamedConfig]) -> Option<Value> {
    let at = codecs.iter().position(|codec| codec.name == "sharding_indexed")?;
    let (before, shard) = (codecs.get(..at)?, codecs.get(at)?);
    let inner: Vec<NamedConfig> = inner_codecs(shard);
    let mut shape = match inner_shape(&inner) {
        Some(shape) => shape.as_array()?.to_vec(),
        None => shard.configuration.get("chunk_shape")?.as_array()?.to_vec(),
    };
    // Dimension i of the output of a transpose is dimension order[i] of its input.
    for transpose in before.iter().filter(|codec| codec.name == "transpose").rev() {
        let mut turned = shape.clone();
        for (from, to) in transpose.configuration.get("order")?.as_array()?.iter().enumerate() {
            *turned.get_mut(usize::try_from(to.as_u64()?).ok()?)? = shape.get(from)?.clone();
        }
        shape = turned;
    }
    Some(Value::Array(shape))
}

fn inner_codecs(shard: &NamedConfig) -> Vec<NamedConfig> {
    let list = shard.configuration.get("codecs").and_then(Value::as_array).unwrap_or_default();
    list.iter().filter_map(NamedConfig::from_value).collect()
}

/// Returns the codecs in short, such as `transpose(2,1,0)+zstd(3)`. For shards these are the codecs of inner chunks. The codec `bytes` is
/// omitted if little-endian.
#[must_use]
pub fn codecs_in_short(codecs: &[NamedConfig]) -> String {
    let mut names = Vec::new();
    for codec in codecs {
        match codec.name.as_str() {
            "sharding_indexed" => names.push(codecs_in_short(&inner_codecs(codec))),
            "bytes" if word(codec, "endian").as_deref() != Some("big") => {}
            _ => names.push(codec_text(codec)),
        }
    }
    names.retain(|name| !name.is_empty());
    names.join("+")
}

/// Returns the codecs in full, such as `bytes(little) > zstd(0)`.
#[must_use]
pub fn codecs_in_full(codecs: &[NamedConfig]) -> String {
    let text = |codec: &NamedConfig| match codec.name.as_str() {
        "sharding_indexed" => {
            let index = codec.configuration.get("index_codecs").and_then(Value::as_array).unwrap_or_default();
            let index: Vec<NamedConfig> = index.iter().filter_map(NamedConfig::from_value).collect();
            let location = word(codec, "index_location").unwrap_or_else(|| "end".to_owned());
            let inner = codecs_in_full(&inner_codecs(codec));
            format!("sharding_indexed[{inner}], index: {} at {location}", codecs_in_full(&index))
        }
        _ => codec_text(codec),
    };
    codecs.iter().map(text).collect::<Vec<_>>().join(" > ")
}

/// Returns a codec with the main values of its configuration.
fn codec_text(codec: &NamedConfig) -> String {
    const SHOWN: [&str; 10] =
        ["endian", "order", "cname", "level", "clevel", "shuffle", "keepbits", "elementsize", "astype", "acceleration"];
    let values: Vec<String> = SHOWN.iter().filter_map(|member| word(codec, member)).collect();
    let name = codec.name.strip_prefix(NUMCODECS).unwrap_or(&codec.name);
    if values.is_empty() { name.to_owned() } else { format!("{name}({})", values.join(",")) }
}

fn word(codec: &NamedConfig, member: &str) -> Option<String> {
    match codec.configuration.get(member)? {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Array(items) => Some(items.iter().map(Value::to_string).collect::<Vec<_>>().join(",")),
        _ => None,
    }
}

/// Returns a data type in short: its name, and its unit, length or inner type if it has one.
#[must_use]
pub fn type_in_short(data_type: &NamedConfig) -> String {
    let member = |name: &str| data_type.configuration.get(name);
    let detail = match (member("unit").and_then(Value::as_str), member("scale_factor").and_then(Value::as_u64)) {
        (Some(unit), None | Some(1)) => Some(unit.to_owned()),
        (Some(unit), Some(scale)) => Some(format!("{scale}{unit}")),
        _ => match member("data_type").and_then(NamedConfig::from_value) {
            Some(item) => Some(type_in_short(&item)),
            None => member("length_bytes").map(|size| format!("{size} bytes")),
        },
    };
    detail.map_or_else(|| data_type.name.clone(), |detail| format!("{}[{detail}]", data_type.name))
}

/// Returns one line for each field of a struct: name, type, and the shape if the field has one. Empty for other types.
#[must_use]
pub fn fields(data_type: &NamedConfig) -> Vec<String> {
    let list = match data_type.name.as_str() {
        "struct" | "structured" => data_type.configuration.get("fields").and_then(Value::as_array),
        _ => None,
    };
    let field = |field: &Value| {
        // The older form is an array of name and type.
        let (name, data_type) = match field.as_array() {
            Some([name, data_type]) => (name, data_type),
            _ => (field.get("name")?, field.get("data_type")?),
        };
        let data_type = NamedConfig::from_value(data_type)?;
        let shape = data_type.configuration.get("shape").map(|shape| format!(" {shape}")).unwrap_or_default();
        let line = match data_type.name.as_str() {
            "subarray" => type_in_short(&NamedConfig::from_value(data_type.configuration.get("data_type")?)?),
            _ => type_in_short(&data_type),
        };
        Some(format!("{}: {line}{shape}", name.as_str()?))
    };
    list.unwrap_or_default().iter().filter_map(field).collect()
}

/// Returns a shape as `24x721x1440`; for rectilinear grids some lengths are arrays.
#[must_use]
pub fn extents(shape: &Value) -> String {
    let lengths = shape.as_array().unwrap_or_default();
    if lengths.is_empty() {
        return "()".to_owned();
    }
    let length = |length: &Value| match length.as_array() {
        Some(_) => length.excerpt(),
        None => length.to_string(),
    };
    lengths.iter().map(length).collect::<Vec<_>>().join("x")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codecs(text: &str) -> Vec<NamedConfig> {
        let list = Value::from_json(text).unwrap();
        list.as_array().unwrap().iter().filter_map(NamedConfig::from_value).collect()
    }

    #[test]
    fn codecs_in_short_and_in_full() {
        let chain = codecs(
            r#"[{"name":"transpose","configuration":{"order":[1,2,0]}},
                {"name":"sharding_indexed","configuration":{"chunk_shape":[4,5,6],"index_location":"start",
                 "codecs":[{"name":"bytes","configuration":{"endian":"little"}},{"name":"zstd","configuration":{"level":3}}],
                 "index_codecs":["bytes","crc32c"]}}]"#,
        );
        assert_eq!(codecs_in_short(&chain), "transpose(1,2,0)+zstd(3)");
        assert_eq!(
            codecs_in_full(&chain),
            "transpose(1,2,0) > sharding_indexed[bytes(little) > zstd(3)], index: bytes > crc32c at start"
        );
        // Encoded dimension 0 is dimension 1 of the array.
        assert_eq!(inner_shape(&chain), Some(Value::from(vec![6_u64, 4, 5])));
        assert_eq!(codecs_in_short(&codecs(r#"["bytes"]"#)), "");
        assert_eq!(codecs_in_short(&codecs(r#"[{"name":"bytes","configuration":{"endian":"big"}}]"#)), "bytes(big)");
    }

    #[test]
    fn types_in_short() {
        let parsed = |text: &str| NamedConfig::from_value(&Value::from_json(text).unwrap()).unwrap();
        let date = r#"{"name":"numpy.datetime64","configuration":{"unit":"s","scale_factor":25}}"#;
        assert_eq!(type_in_short(&parsed(date)), "numpy.datetime64[25s]");
        assert_eq!(type_in_short(&parsed("\"int8\"")), "int8");
    }
}
