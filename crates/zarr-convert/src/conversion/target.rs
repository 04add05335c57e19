//! The node that a source node is converted to.

use super::{ConvertOptions, Shards};
use zarr_array::{NewArray, Registry, element_spec, instead_of_fallback};
use zarr_codec::ElementSpec;
use zarr_hierarchy::Result;
use zarr_json::{Map, NamedConfig, ParseOptions, Value};
use zarr_meta::conventions::{self, Convention, FILL_VALUE};
use zarr_meta::{ArrayMetadata, Dialect, Node, Note, StoredNode};

/// The node to be written, notes of the differences that the dialect causes, and a warning of values to which other
/// software gives another meaning. `named`: there are arrays with dimension names in the hierarchy.
pub(super) fn target(
    found: &StoredNode,
    dialect: Dialect,
    named: bool,
    options: &ConvertOptions,
    registry: &Registry,
) -> Result<(Node, Vec<Note>, Option<String>)> {
    let mut node = found.node.clone();
    let (mut warning, mut missing) = (None, None);
    // Where the document stays, the data type that it names stays.
    let is_overridden = found.fallback.is_some() && found.dialect != dialect;
    let instead = options.options.fallback_type.clone().filter(|_| is_overridden);
    match &mut node {
        // It is rebuilt at the end.
        Node::Group(group) => group.consolidated = None,
        Node::Array(array) => {
            if let Some(data_type) = instead.clone() {
                take_instead(array, found.dialect, &data_type, registry)?;
            }
            count_date(array, found.dialect, registry)?;
            rechunk(array, dialect, options, registry)?;
            if !dialect.is_v2() && found.dialect.precedes_v3() {
                let mut separator = Map::new();
                separator.insert("separator", "/");
                array.chunk_key_encoding = NamedConfig::with("default", separator);
            }
            if options.fill_value_attribute {
                missing = keep_missing(found, array, dialect);
            }
            warning = missing_data(found, array, dialect);
            // xarray demands the attribute of every array in version 2, and in version 3 no names of no dimensions.
            if dialect.is_v2() && !found.dialect.precedes_v3() && named && array.shape.is_empty() {
                array.dimension_names.get_or_insert_default();
            }
        }
    }
    let fallback = fallback_of(found, dialect);
    if let (Some(original), Node::Array(array), true) = (&fallback, &mut node, options.carry) {
        array.extra.insert("data_type", original.clone());
    }
    let is_sharded = node.as_array().is_some_and(|array| unshard(&array.codecs).is_some());
    let fitted = match options.carry {
        true => zarr_meta::for_dialect_carrying(&node, found.dialect, dialect),
        false => zarr_meta::for_dialect_from(&node, found.dialect, dialect),
    };
    let (node, notes) = match fitted {
        // The drafts have shards, but not of every kind: then inner chunks become chunks, as where there are none.
        Err(error) if is_sharded && options.shards.is_none() && error.pointer().starts_with("/codecs") => {
            let options = ConvertOptions { shards: Some(Shards::None), ..options.clone() };
            return target(found, dialect, named, &options, registry);
        }
        fitted => fitted?,
    };
    let warning = [nan_literals(found, &node), warning].into_iter().flatten().reduce(|a, b| format!("{a}; {b}"));
    let taken = fallback.filter(|_| !options.carry).map(|original| {
        let stays = match &instead {
            Some(data_type) => format!("{} replaces it", data_type.short_value().excerpt()),
            None => "its fallback stays".to_owned(),
        };
        Note::loss("/data_type", &format!("{} is not known, and {stays}", original.excerpt()))
    });
    Ok((node, notes.into_iter().chain(missing).chain(taken).collect(), warning))
}

/// Makes the count of it of a fill value that is a date. Only in version 2 may it be a text.
fn count_date(array: &mut ArrayMetadata, dialect: Dialect, registry: &Registry) -> Result<()> {
    let is_text = array.fill_value.as_ref().is_some_and(|value| value.as_str().is_some());
    if is_text && array.data_type.name == "numpy.datetime64" {
        let ElementSpec { data_type, fill, .. } = element_spec(array, dialect, &registry.data_types)?;
        array.fill_value = Some(fill.to_json(&data_type));
    }
    Ok(())
}

/// Gives an array whose data type is a fallback another one of that size.
fn take_instead(array: &mut ArrayMetadata, from: Dialect, data_type: &NamedConfig, registry: &Registry) -> Result<()> {
    let fallback = element_spec(array, from, &registry.data_types)?;
    let (element, codecs) = instead_of_fallback(array, &fallback, data_type, &registry.data_types)?;
    array.fill_value = array.fill_value.as_ref().map(|_| element.fill.to_json(&element.data_type));
    array.data_type = element.data_type.to_config();
    array.codecs = codecs;
    Ok(())
}

/// The data type as it stands in the document of an array which is read as the fallback that it names; `None` if it stays there.
fn fallback_of(found: &StoredNode, dialect: Dialect) -> Option<Value> {
    found.fallback.as_ref().filter(|_| found.dialect != dialect)?;
    let document = found.documents.get(found.document_key()?)?;
    let parsed = zarr_json::parse(document, ParseOptions::ALL).ok()?;
    parsed.value.get("data_type").cloned()
}

/// Numbers in attributes that JSON does not have become texts where the dialect is JSON, which other software reads as texts.
fn nan_literals(found: &StoredNode, node: &Node) -> Option<String> {
    let [before, after] = [&found.node, node].map(|node| node.attributes().count_nan_literals());
    (before > after).then(|| format!("/attributes: NaN or infinities, {} in all, become strings", before - after))
}

/// Lets the fill value mark missing data to xarray where it did: adds the attribute for version 3, and drops it where
/// the fill value says the same. Returns a note of the change.
fn keep_missing(found: &StoredNode, array: &mut ArrayMetadata, dialect: Dialect) -> Option<Note> {
    let (was_v2, is_v2) = (found.dialect.precedes_v3(), dialect.precedes_v3());
    let value = conventions::missing_data(array)?;
    let attribute = array.attributes.get(FILL_VALUE);
    if was_v2 && !is_v2 && attribute.is_none() && found.dimension_names_from == Some(Convention::Xarray) {
        let what = format!("{} is written, to mark missing data", value.excerpt());
        array.attributes.insert(FILL_VALUE, value);
        return Some(Note::change(format!("/attributes/{FILL_VALUE}"), what));
    }
    if !was_v2
        && is_v2
        && attribute.is_some_and(|attribute| attribute.clone().without_nan_literals().semantically_eq(&value))
    {
        array.attributes.remove(FILL_VALUE);
        return Some(Note::change(
            format!("/attributes/{FILL_VALUE}"),
            "removed, since the fill value has the same meaning",
        ));
    }
    None
}

/// To xarray the fill value of version 2 marks missing data. In version 3 the attribute `_FillValue` does, and nothing if
/// there is none. A value kept as it is means something else there.
fn missing_data(found: &StoredNode, array: &ArrayMetadata, dialect: Dialect) -> Option<String> {
    let fill = array.fill_value.as_ref()?;
    let attribute = array.attributes.get(FILL_VALUE);
    let (was_v2, is_v2) = (found.dialect.precedes_v3(), dialect.precedes_v3());
    if !was_v2 && is_v2 {
        let named = array.dimension_names.as_ref().is_some_and(|names| names.iter().all(Option::is_some));
        let marks =
            |attribute: &Value| conventions::missing_data(array).is_some_and(|value| value.semantically_eq(attribute));
        // Without an attribute in version 3 nothing was missing, but elements that are the fill value of version 2 now
        // are.
        let kept = found.node.attributes().get(FILL_VALUE);
        let same = kept.is_some_and(marks) || fill.as_str() == Some("NaN");
        return (named && !same)
            .then(|| format!("/fill_value: {} now marks missing data to xarray; before it did not", fill.excerpt()));
    }
    let is_xarray = found.dimension_names_from == Some(Convention::Xarray);
    // NaN is missing to it in any case.
    (was_v2 && !is_v2 && is_xarray && attribute.is_none() && fill.as_str() != Some("NaN")).then(|| {
        let fill = fill.excerpt();
        format!("/fill_value: {fill} no longer marks missing data to xarray, which looks for the attribute _FillValue")
    })
}

/// Whether chunks that are missing in `from` may be missing in `to`: they read alike to everybody, or were undefined before.
/// `same_fill`: the fill values are the same.
pub(super) fn missing_stay(from: &StoredNode, to: &StoredNode, same_fill: bool) -> bool {
    let undefined = from.node.as_array().is_some_and(|array| array.fill_value.is_none());
    // Other software reads the missing chunks of both in the same way.
    let alike = to.may_omit_empty_chunks || (!from.may_omit_empty_chunks && from.dialect == to.dialect);
    undefined || (same_fill && alike)
}

/// Whether the chunks of `from` and `to` are encoded alike, and so are missing ones.
pub(super) fn encodes_alike(from: &ArrayMetadata, to: &ArrayMetadata) -> bool {
    let fill = match (&from.fill_value, &to.fill_value) {
        (Some(from), Some(to)) => from.semantically_eq(to),
        // An undefined value may become any value.
        (None, _) => true,
        (Some(_), None) => false,
    };
    fill && same_form(from, to)
}

/// The same without regard to the fill value.
pub(super) fn same_form(from: &ArrayMetadata, to: &ArrayMetadata) -> bool {
    let list = |codecs: &[NamedConfig]| Value::Array(codecs.iter().map(explicit).collect());
    from.shape == to.shape
        && from.data_type.to_value().semantically_eq(&to.data_type.to_value())
        && from.chunk_grid.to_value().semantically_eq(&to.chunk_grid.to_value())
        && list(&from.codecs).semantically_eq(&list(&to.codecs))
}

/// A codec with the byte order that it has if it does not say: dialects differ in whether it stands there, and in the orders of
/// types that filters name.
fn explicit(codec: &NamedConfig) -> Value {
    let mut codec = zarr_meta::without_filter_orders(codec);
    if codec.name == "bytes" && !codec.configuration.contains_key("endian") {
        codec.configuration.insert("endian", "little");
    }
    codec.to_value()
}

/// Changes chunks, shards and codecs as the options say.
fn rechunk(array: &mut ArrayMetadata, dialect: Dialect, options: &ConvertOptions, registry: &Registry) -> Result<()> {
    let rank = array.shape.len();
    let fits = |shape: &&Vec<u64>| shape.len() == rank;
    let chunks = options.chunks.as_ref().filter(fits);
    let shards = match &options.shards {
        Some(Shards::None) => Some(None),
        Some(Shards::Of(shape)) => Some(shape).filter(fits).map(Some),
        None => None,
    };
    let flat = Flat::of(array);
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
    let chunk = chunks.cloned().or(flat.chunk);
    let shard = match shards {
        Some(shape) => shape.cloned(),
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

/// The chunks of an array without regard to shards.
#[derive(Debug)]
struct Flat {
    /// The shape of (innermost inner) chunks; `None` if they have various shapes.
    chunk: Option<Vec<u64>>,
    /// The shape of shards, if there are any.
    shard: Option<Vec<u64>>,
    /// The codecs of a chunk.
    codecs: Vec<NamedConfig>,
}

impl Flat {
    fn of(array: &ArrayMetadata) -> Self {
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

/// The shape of inner chunks in the order of the array's dimensions, and the codecs that an inner chunk goes through from
/// there; `None` if there are no shards.
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
