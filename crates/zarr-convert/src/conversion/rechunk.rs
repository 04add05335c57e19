//! Change of the chunks, shards and codecs of an array.

use super::{ConvertOptions, Shards, lengths};
use zarr_array::{NewArray, Registry, element_spec};
use zarr_hierarchy::Result;
use zarr_json::{NamedConfig, Value};
use zarr_meta::{ArrayMetadata, Dialect};

/// Changes chunks, shards and codecs of `array` as the options say.
pub(super) fn rechunk(
    array: &mut ArrayMetadata,
    dialect: Dialect,
    options: &ConvertOptions,
    registry: &Registry,
) -> Result<()> {
    let rank = array.shape.len();
    let fits = |shape: &&Vec<u64>| shape.len() == rank;
    let flat = Flat::of(array);
    let by_name = || lengths::by_name(&options.chunk_lengths, array, flat.chunk.as_deref()?);
    let chunks = options.chunks.as_ref().filter(fits).cloned().or_else(by_name);
    let chunk = chunks.clone().or_else(|| flat.chunk.clone());
    let shards: Option<Option<Vec<u64>>> = match &options.shards {
        Some(Shards::None) => Some(None),
        Some(Shards::Of(shape)) => Some(shape).filter(fits).map(|shape| Some(shape.clone())),
        Some(Shards::ByName(lengths)) => {
            let shard = chunk.as_deref().and_then(|chunk| lengths::shards_by_name(lengths, array, chunk));
            shard.map(Some)
        }
        Some(Shards::Auto) => {
            let item = element_spec(array, dialect, &registry.data_types);
            let item = item.map_or(1, |element| element.item_size() as u64);
            let shard = chunk.as_deref().and_then(|chunk| lengths::chosen(&array.shape, chunk, item));
            shard.map(Some)
        }
        None => None,
    };
    // Where the dialect has no shards, inner chunks become chunks.
    let unsharded = flat.shard.is_some() && (!dialect.has_shards() || shards == Some(None));
    let sharded = matches!(shards, Some(Some(_)));
    if chunks.is_none() && options.codecs.is_none() && !unsharded && !sharded {
        return Ok(());
    }
    let mut new = NewArray::new(&array.shape, array.data_type.to_value().to_string());
    new = match &options.codecs {
        Some(codecs) => new.codecs(codecs.clone())?,
        None => new.codecs(flat.codecs)?,
    };
    let shard = match shards {
        Some(shape) => shape,
        None if chunks.is_some() || !dialect.has_shards() => None,
        None => flat.shard,
    };
    new = match (chunk, shard) {
        (Some(chunk), Some(shard)) => new.chunks(&chunk).shards(&shard),
        (Some(chunk), None) => new.chunks(&chunk),
        // A grid of chunks of various shapes stays.
        (None, _) => new.chunk_grid(array.chunk_grid.clone()),
    };
    let new = new.metadata(dialect, registry)?;
    array.chunk_grid = new.chunk_grid;
    array.codecs = new.codecs;
    Ok(())
}

/// Chunks of an array with any shards resolved.
#[derive(Debug)]
pub(super) struct Flat {
    /// Shape of the (innermost) chunks; `None` if chunks have various shapes.
    pub(super) chunk: Option<Vec<u64>>,
    /// Shape of the outermost shards; `None` if there are none.
    pub(super) shard: Option<Vec<u64>>,
    /// Codecs of an (innermost) chunk.
    codecs: Vec<NamedConfig>,
}

impl Flat {
    pub(super) fn of(array: &ArrayMetadata) -> Self {
        let outer = array.chunk_grid.configuration.get("chunk_shape").and_then(lengths);
        match unshard(&array.codecs) {
            Some((inner, codecs)) => Self { chunk: Some(inner), shard: outer, codecs },
            None => Self { chunk: outer, shard: None, codecs: array.codecs.clone() },
        }
    }
}

fn lengths(list: &Value) -> Option<Vec<u64>> {
    list.as_array()?.iter().map(Value::as_u64).collect()
}

/// Returns the shape of inner chunks in the order of the array's dimensions, and the codecs of an inner chunk in that order; `None` if
/// there are no shards.
fn unshard(codecs: &[NamedConfig]) -> Option<(Vec<u64>, Vec<NamedConfig>)> {
    let at = codecs.iter().position(|codec| codec.name == "sharding_indexed")?;
    let (before, shard) = (codecs.get(..at)?, codecs.get(at)?);
    let list = shard.configuration.get("codecs")?.as_array()?;
    let inner: Vec<NamedConfig> = list.iter().map(NamedConfig::from_value).collect::<Option<_>>()?;
    let (mut shape, inner) = match unshard(&inner) {
        Some(nested) => nested,
        None => (shard.configuration.get("chunk_shape").and_then(lengths)?, inner),
    };
    // Dimension i of the output of a transpose is dimension order[i] of its input.
    for transpose in before.iter().filter(|codec| codec.name == "transpose").rev() {
        let order = transpose.configuration.get("order").and_then(lengths)?;
        let mut turned = shape.clone();
        for (len, axis) in shape.iter().zip(order) {
            *turned.get_mut(usize::try_from(axis).ok()?)? = *len;
        }
        shape = turned;
    }
    Some((shape, before.iter().cloned().chain(inner).collect()))
}

/// Returns whether chunks have inner chunks, which may be missing in a stored chunk.
pub(super) fn is_sharded(array: &ArrayMetadata) -> bool {
    unshard(&array.codecs).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_are_taken_apart() {
        let json = r#"[{"name":"transpose","configuration":{"order":[1,2,0]}},
            {"name":"sharding_indexed","configuration":{"chunk_shape":[8,10,12],"codecs":[
                {"name":"sharding_indexed","configuration":{"chunk_shape":[4,5,6],"codecs":["bytes","gzip"]}}]}},
            "crc32c"]"#;
        let list = Value::from_json(json).unwrap();
        let codecs: Vec<NamedConfig> = list.as_array().unwrap().iter().filter_map(NamedConfig::from_value).collect();
        let (shape, flat) = unshard(&codecs).unwrap();
        assert_eq!(shape, [6, 4, 5]);
        assert_eq!(flat.iter().map(|codec| codec.name.as_str()).collect::<Vec<_>>(), ["transpose", "bytes", "gzip"]);
        assert!(unshard(&flat).is_none());
    }
}
