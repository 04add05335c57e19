//! Translation of shards between the storage transformer of the drafts and the codec of the model.
//!
//! ```json
//! {"extension": "https://purl.org/zarr/spec/extensions/storage_transformers/sharding/1.0", "type": "indexed",
//!  "configuration": {"chunks_per_shard": [2, 3]}}
//! ```
//!
//! The chunks of the grid are the inner chunks. The bytes equal those of the codec with an index at the end and without a checksum.
//! Transformers form a stack: the first one is next to the array, so the second puts the shards of the first into larger shards.

use crate::dialect::codecs;
use crate::dialect::uri::spec_uri;
use crate::error::{Error, ErrorKind, Result};
use zarr_json::pointer::At;
use zarr_json::{Map, NamedConfig, Value, json};

/// Usual URI of sharding in the core draft.
pub(crate) const D2022_URI: &str = "https://purl.org/zarr/spec/extensions/storage_transformers/sharding/1.0";

/// Maximum depth of nested shards.
const MAX_DEPTH: usize = 8;

/// Converts the storage transformers at `at`, which make shards, to codecs, and changes the grid to that of the shards.
///
/// # Errors
/// Fails with [`ErrorKind::UnknownExtension`] for a storage transformer other than sharding.
pub(crate) fn to_model(at: &At<'_>, grid: &mut NamedConfig, codecs: &mut Vec<NamedConfig>) -> Result<()> {
    let items = at.items()?;
    if items.len() > MAX_DEPTH {
        let found = format!("{} storage transformers", items.len());
        return Err(Error::new(ErrorKind::Limit, at.pointer(), found, format!("at most {MAX_DEPTH}")));
    }
    for item in items {
        let chunk_shape = grid.configuration.get("chunk_shape").cloned().unwrap_or_default();
        let per_shard = chunks_per_shard(&item, chunk_shape.as_array().map_or(0, <[Value]>::len))?;
        let too_large = || item.invalid("shards of at most 2^63-1 elements along each dimension");
        let shard = |(chunk, count): (&Value, &u64)| {
            chunk.as_u64()?.checked_mul(*count).filter(|&length| i64::try_from(length).is_ok())
        };
        let lengths = chunk_shape.as_array().unwrap_or_default();
        let shape: Option<Vec<u64>> = lengths.iter().zip(&per_shard).map(shard).collect();
        grid.configuration.insert("chunk_shape", shape.ok_or_else(too_large)?);
        let inner = Value::Array(codecs.iter().map(NamedConfig::to_value).collect());
        let configuration = [
            ("chunk_shape".to_owned(), chunk_shape),
            ("codecs".to_owned(), inner),
            ("index_codecs".to_owned(), index_codecs()),
            ("index_location".to_owned(), json!("end")),
        ];
        *codecs = vec![NamedConfig::with("sharding_indexed", configuration.into_iter().collect())];
    }
    Ok(())
}

fn index_codecs() -> Value {
    Value::Array(vec![codecs::bytes(Some("little")).to_value()])
}

fn chunks_per_shard(at: &At<'_>, rank: usize) -> Result<Vec<u64>> {
    // The first text had other names for two members.
    let uri = at.get("extension").or_else(|| at.get("storage_transformer"));
    let uri = uri.map_or_else(|| at.member("extension"), Ok)?;
    let known = match spec_uri(uri.text()?).as_deref() {
        Some(["extensions", group, "sharding"] | [group, "sharding"]) => {
            matches!(*group, "storage_transformers" | "storage-transformers")
        }
        _ => false,
    };
    if !known {
        return Err(Error::about(
            &uri,
            ErrorKind::UnknownExtension,
            "a storage transformer that is known, such as sharding",
        ));
    }
    let kind = at.get("type").or_else(|| at.get("format")).map_or_else(|| at.member("type"), Ok)?;
    if kind.text()? != "indexed" {
        return Err(Error::about(&kind, ErrorKind::UnknownExtension, "\"indexed\""));
    }
    let list = at.member("configuration")?.member("chunks_per_shard")?;
    let mut counts = list.sizes()?;
    // zarr-python 2 has one number for arrays without dimensions.
    if rank == 0 && counts == [1] {
        counts.clear();
    }
    if counts.len() != rank || counts.contains(&0) {
        return Err(list.invalid(format!("{rank} numbers above 0, one for each dimension")).into());
    }
    Ok(counts)
}

/// Members in which the drafts store sharded chunks.
#[derive(Debug)]
pub(crate) struct Stored {
    /// Shape of the innermost chunks.
    pub(crate) chunk_shape: Value,
    /// Codecs of the innermost chunks.
    pub(crate) codecs: Vec<NamedConfig>,
    /// Numbers of chunks per shard along each dimension, for each storage transformer in order.
    pub(crate) chunks_per_shard: Vec<Vec<u64>>,
}

/// Returns the members for an unknown grid, which has no shards to convert.
pub(crate) fn none(codecs: &[NamedConfig]) -> Stored {
    Stored { chunk_shape: Value::Null, codecs: codecs.to_vec(), chunks_per_shard: Vec::new() }
}

/// Converts shards of the model to storage transformers: the inverse of [`to_model`]. Shards that no storage transformer can make stay
/// codecs.
pub(crate) fn from_model(chunk_shape: Value, codecs: &[NamedConfig]) -> Stored {
    let mut stored = Stored { chunk_shape, codecs: codecs.to_vec(), chunks_per_shard: Vec::new() };
    while stored.chunks_per_shard.len() < MAX_DEPTH {
        let Some((chunk_shape, codecs, counts)) = take_apart(&stored.chunk_shape, &stored.codecs) else { break };
        stored.chunks_per_shard.insert(0, counts);
        stored.chunk_shape = chunk_shape;
        stored.codecs = codecs;
    }
    stored
}

fn take_apart(shard_shape: &Value, codecs: &[NamedConfig]) -> Option<(Value, Vec<NamedConfig>, Vec<u64>)> {
    let [shard] = codecs else { return None };
    let configuration = &shard.configuration;
    let at_end = configuration.get("index_location").is_none_or(|location| location.as_str() == Some("end"));
    let index = configuration.get("index_codecs")?.as_array()?;
    let [index] = index else { return None };
    let plain = NamedConfig::from_value(index).is_some_and(|codec| codec == codecs::bytes(Some("little")));
    if shard.name != "sharding_indexed" || !at_end || !plain || configuration.contains_key("index_checksum_optional") {
        return None;
    }
    let chunk_shape = configuration.get("chunk_shape")?;
    let (shard_lengths, lengths) = (shard_shape.as_array()?, chunk_shape.as_array()?);
    if shard_lengths.len() != lengths.len() {
        return None;
    }
    let count = |(shard, chunk): (&Value, &Value)| {
        let (shard, chunk) = (shard.as_u64()?, chunk.as_u64().filter(|&chunk| chunk > 0)?);
        (shard > 0 && shard.is_multiple_of(chunk)).then_some(shard / chunk)
    };
    let counts = shard_lengths.iter().zip(lengths).map(count).collect::<Option<_>>()?;
    let inner = configuration.get("codecs")?.as_array()?.iter().map(NamedConfig::from_value).collect::<Option<_>>()?;
    Some((chunk_shape.clone(), inner, counts))
}

/// Returns a storage transformer that makes shards.
pub(crate) fn transformer(uri: &str, chunks_per_shard: &[u64]) -> Value {
    let mut map = Map::new();
    map.insert("extension", uri);
    map.insert("type", "indexed");
    map.insert("configuration", json!({"chunks_per_shard": (chunks_per_shard.to_vec())}));
    Value::Object(map)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(shape: &[u64]) -> NamedConfig {
        let configuration = [("chunk_shape".to_owned(), Value::from(shape.to_vec()))].into_iter().collect();
        NamedConfig::with("regular", configuration)
    }

    // clause: d2022-38, d2022-140, d2022-205
    #[test]
    fn there_and_back() {
        for (chunk, stack) in [
            (vec![2, 2], vec![vec![2, 3]]),
            (vec![2, 2], vec![vec![2, 3], vec![1, 5]]),
            (vec![], vec![vec![]]),
            (vec![4], vec![]),
        ] {
            let transformers: Vec<_> = stack.iter().map(|counts| transformer(D2022_URI, counts)).collect();
            let list = Value::Array(transformers);
            let mut sharded = grid(&chunk);
            let inner = vec![codecs::bytes(Some("big")), NamedConfig::new("crc32c")];
            let mut chain = inner.clone();
            to_model(&At::root(&list), &mut sharded, &mut chain).unwrap();
            let stored = from_model(sharded.configuration.get("chunk_shape").unwrap().clone(), &chain);
            assert_eq!(stored.chunk_shape, Value::from(chunk));
            assert_eq!(stored.codecs, inner);
            assert_eq!(stored.chunks_per_shard, stack);
        }
    }

    // clause: d2022-139
    #[test]
    fn every_spelling_is_read() {
        for (uri, kind) in [("extension", "type"), ("storage_transformer", "format")] {
            for address in [
                D2022_URI,
                "https://purl.org/zarr/spec/storage_transformers/sharding/1.0",
                "http://purl.org/zarr/spec/storage-transformers/sharding/1.0",
            ] {
                let mut item = Map::new();
                item.insert(uri, address);
                item.insert(kind, "indexed");
                item.insert("configuration", json!({"chunks_per_shard": [1]}));
                let list = Value::Array(vec![Value::Object(item)]);
                let (mut grid, mut chain) = (grid(&[]), vec![codecs::bytes(None)]);
                to_model(&At::root(&list), &mut grid, &mut chain).unwrap();
                assert_eq!(chain[0].name, "sharding_indexed");
            }
        }
    }

    // clause: d2022-139, d2022-140
    #[test]
    fn others_are_refused() {
        for (item, kind) in [
            (json!({"extension": "http://example.org/mirror", "type": "x"}), ErrorKind::UnknownExtension),
            (json!({"extension": D2022_URI, "type": "x"}), ErrorKind::UnknownExtension),
            (json!({"extension": D2022_URI, "type": "indexed"}), ErrorKind::InvalidMetadata),
            (transformer(D2022_URI, &[2]), ErrorKind::InvalidMetadata),
            (transformer(D2022_URI, &[0, 1]), ErrorKind::InvalidMetadata),
            (transformer(D2022_URI, &[i64::MAX as u64, 1]), ErrorKind::InvalidMetadata),
            (json!({"type": "indexed"}), ErrorKind::InvalidMetadata),
            (json!("x"), ErrorKind::InvalidMetadata),
        ] {
            let list = Value::Array(vec![item]);
            let error = to_model(&At::root(&list), &mut grid(&[2, 2]), &mut vec![]).unwrap_err();
            assert_eq!(error.kind(), kind, "{list}");
        }
        let many = Value::Array(vec![transformer(D2022_URI, &[1, 1]); MAX_DEPTH + 1]);
        let error = to_model(&At::root(&many), &mut grid(&[2, 2]), &mut vec![]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Limit);
        // Only the codec makes shards with a checksum, or with an index in front; no transformer does.
        let checked = json!({"name": "sharding_indexed", "configuration": {
            "chunk_shape": [1], "codecs": ["bytes"], "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, "crc32c"]
        }});
        let checked = NamedConfig::from_value(&checked).unwrap();
        assert!(from_model(json!([2]), &[checked]).chunks_per_shard.is_empty());
    }
}
