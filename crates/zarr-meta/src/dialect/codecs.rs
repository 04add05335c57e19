//! Names of codecs and their kinds.

use crate::codec_facts::{codec_named, codec_of_id};
use crate::error::Result;
use crate::{Error, ErrorKind};
use zarr_dtype::DataType;
use zarr_json::pointer::At;
use zarr_json::{Map, NamedConfig, Value};

pub(crate) use crate::codec_facts::Kind;

/// Name of the model's codec that takes bytes for an array of another type, as filters of numcodecs do.
pub(crate) const VIEW: &str = "array_view";

/// Returns the kind of the codec `name`, by its input and output; `None` for an unknown codec.
pub(crate) fn kind(name: &str) -> Option<Kind> {
    match name {
        VIEW => Some(Kind::BytesToBytes),
        name => codec_named(name).map(|codec| codec.kind),
    }
}

/// Returns the kind of the codec with the numcodecs `id`; `None` for an unknown codec.
pub(crate) fn numcodecs_kind(id: &str) -> Option<Kind> {
    codec_of_id(id).map(|codec| codec.kind)
}

/// Checks that array-to-array codecs come first, then one array-to-bytes codec, then bytes-to-bytes codecs. Unknown codecs are skipped.
pub(crate) fn check_order(at: &At<'_>, chain: &[NamedConfig]) -> Result<()> {
    let mut last = Kind::ArrayToArray;
    for (item, codec) in at.items()?.iter().zip(chain) {
        let Some(kind) = kind(&codec.name) else { continue };
        if kind < last {
            return Err(misplaced(item, &codec.name, "an order of codecs in which each output suits the next codec"));
        }
        if kind == Kind::ArrayToBytes && last == Kind::ArrayToBytes {
            return Err(misplaced(item, &codec.name, "one codec only that turns the array into bytes"));
        }
        last = kind;
    }
    Ok(())
}

fn misplaced(at: &At<'_>, name: &str, expected: &str) -> Error {
    Error::new(ErrorKind::InvalidMetadata, at.pointer(), format!("codec {name:?} out of order"), expected)
}

/// Returns the index at which an array-to-bytes codec has to be inserted; `None` if the chain has one, or has unknown codecs.
pub(crate) fn missing_array_to_bytes(chain: &[NamedConfig]) -> Option<usize> {
    let kinds: Vec<_> = chain.iter().map(|codec| kind(&codec.name)).collect();
    if kinds.iter().any(|kind| matches!(kind, None | Some(Kind::ArrayToBytes))) {
        return None;
    }
    Some(kinds.iter().take_while(|kind| **kind == Some(Kind::ArrayToArray)).count())
}

/// Returns the index of the array-to-bytes codec of the chain; `None` if it has none.
pub(crate) fn array_to_bytes(chain: &[NamedConfig]) -> Option<usize> {
    chain.iter().position(|codec| kind(&codec.name) == Some(Kind::ArrayToBytes))
}

/// Returns the codec `bytes` with the byte order `endian`; `None` for elements of single bytes.
pub(crate) fn bytes(endian: Option<&str>) -> NamedConfig {
    let mut configuration = Map::new();
    if let Some(endian) = endian {
        configuration.insert("endian", endian);
    }
    NamedConfig::with("bytes", configuration)
}

/// Names of the shuffles of blosc, indexed by their numbers.
pub(crate) const SHUFFLES: [&str; 3] = ["noshuffle", "shuffle", "bitshuffle"];

/// Returns the name of a shuffle of blosc given as a number; `None` for an unknown number. -1 (`AUTOSHUFFLE` of numcodecs) is `bitshuffle`
/// for elements of one byte, else `shuffle`.
pub(crate) fn shuffle_word(number: i64, typesize: u64) -> Option<&'static str> {
    let index = match number {
        -1 if typesize == 1 => Some(2),
        -1 => Some(1),
        number => usize::try_from(number).ok(),
    };
    index.and_then(|index| SHUFFLES.get(index)).copied()
}

/// Returns whether the data type is known to have no `null` among its values.
pub(crate) fn is_without_null(data_type: &NamedConfig) -> bool {
    // These have none either if their inner elements are of a type that is defined elsewhere.
    ["struct", "structured", "vlen-array"].contains(&data_type.name.as_str())
        || DataType::from_config(data_type).is_ok_and(|known| known != DataType::Object)
}

/// Returns the size in bytes of an element of the data type; `None` for types of variable length, and for types that this library does not
/// know.
pub(crate) fn item_size(data_type: &NamedConfig) -> Option<u64> {
    let known = DataType::from_config(data_type).ok().filter(|known| !known.is_variable())?;
    u64::try_from(known.item_size()).ok()
}

/// Members of configurations that are chains of codecs, for shards, `optional`, `zarrs.vlen`, `conditional`, `n5_default` and `array_view`.
pub(crate) const CHAINS: [&str; 5] = ["codecs", "index_codecs", "data_codecs", "mask_codecs", "bytes_codecs"];

/// Returns the chains of codecs in the configuration of a codec, each with the name of its member.
pub(crate) fn chains(codec: &NamedConfig) -> impl Iterator<Item = (&'static str, Vec<NamedConfig>)> {
    CHAINS.into_iter().filter_map(|member| {
        let list = codec.configuration.get(member)?.as_array()?;
        Some((member, list.iter().map(NamedConfig::from_value).collect::<Option<_>>()?))
    })
}

/// Replaces bare names of codecs inside of configurations by objects: zarr-python 3 does not read bare names inside of shards.
///
/// # Example
/// ```
/// use zarr_json::{NamedConfig, json};
/// use zarr_meta::spell_out;
///
/// let shard = json!({"name": "sharding_indexed", "configuration": {"index_codecs": ["crc32c"]}});
/// let mut codecs = [NamedConfig::from_value(&shard).unwrap()];
/// spell_out(&mut codecs);
/// assert_eq!(codecs[0].configuration.to_string(), r#"{"index_codecs":[{"name":"crc32c"}]}"#);
/// ```
pub fn spell_out(chain: &mut [NamedConfig]) {
    for codec in chain {
        for (member, mut inner) in chains(codec).collect::<Vec<_>>() {
            spell_out(&mut inner);
            codec.configuration.insert(member, Value::Array(inner.iter().map(NamedConfig::to_value).collect()));
        }
    }
}

/// Applies `change` to each chain of codecs in the configuration of a codec. Codecs that do not change keep their spelling.
pub(crate) fn change_chains(codec: &mut NamedConfig, change: &mut dyn FnMut(&mut [NamedConfig])) {
    let chains: Vec<_> = chains(codec).collect();
    for (member, mut chain) in chains {
        change(&mut chain);
        let Some(Value::Array(list)) = codec.configuration.get_mut(member) else { continue };
        for (value, codec) in list.iter_mut().zip(chain) {
            if NamedConfig::from_value(value).as_ref() != Some(&codec) {
                *value = codec.to_value();
            }
        }
    }
}
