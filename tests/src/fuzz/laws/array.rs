//! Laws of the metadata of opened arrays.

use super::super::chunks::registry;
use super::codecs;
use zarr_array::{Array, element_spec};
use zarr_dtype::{DataType, FillValue};
use zarr_grid::{ChunkGrid, ChunkKeyEncoding};
use zarr_json::{NamedConfig, Value};

/// Greatest size of an element in bytes.
const MAX_ITEM_SIZE: usize = 1 << 26;
/// Greatest depth of nested structs.
const MAX_DEPTH: usize = 32;

/// Checks the metadata of an array.
pub(in crate::fuzz) fn check(array: &Array) {
    let metadata = array.metadata();
    let shape = &metadata.shape;
    assert_eq!(array.shape(), &shape[..]);
    // An array may have any size, a chunk is held in memory.
    let (chunk, item) = (array.chunk_grid().largest_chunk_shape(), array.data_type().item_size() as u64);
    let size = chunk.iter().try_fold(item, |size, &len| size.checked_mul(len));
    assert!(size.is_some() || chunk.contains(&0), "chunks {chunk:?} of more bytes than 64 bits can count");
    let names = metadata.dimension_names.as_ref().map(Vec::len);
    assert!(names.is_none_or(|names| names == shape.len()), "{names:?} names for {} dimensions", shape.len());
    assert!(metadata.storage_transformers.iter().all(|transformer| !transformer.must_understand));
    data_type(array.data_type());
    let fill = array.fill_value();
    let printed = fill.to_json(array.data_type());
    let again = FillValue::parse(array.data_type(), &printed);
    assert_eq!(again.as_ref(), Ok(fill), "fill value {printed} of {}", array.data_type());
    grid(&metadata.chunk_grid, array.chunk_grid());
    chunk_keys(&metadata.chunk_key_encoding);
    codecs::packed_bits(&metadata.codecs, array.data_type());
    // Members that only encoding needs may be wrong in a document that is read, but not in one that is written.
    let registry = registry();
    let element = element_spec(metadata, array.dialect(), &registry.data_types).expect("it was read before");
    let corrected = registry.codecs.corrected(&metadata.codecs, &element, &array.options().limits);
    let (chain, different) = corrected.expect("codecs that were built before");
    assert!(different.len() <= array.warnings().len(), "{different:?} without warnings");
    codecs::chain(&chain, array.chunk_grid().regular_chunk_shape(), 0);
}

/// Checks a data type.
pub(in crate::fuzz) fn data_type(data_type: &DataType) {
    assert!((1..=MAX_ITEM_SIZE).contains(&data_type.item_size()), "{data_type} of {} bytes", data_type.item_size());
    match data_type {
        DataType::VlenArray(item) => {
            assert!(!item.is_variable(), "lists of elements of variable length");
            self::data_type(item);
        }
        DataType::Struct(fields) => {
            let mut names: Vec<_> = fields.fields().iter().map(|field| field.name.as_str()).collect();
            names.sort_unstable();
            assert!(!names.is_empty() && names.windows(2).all(|pair| pair[0] != pair[1]), "fields {names:?}");
            assert!(depth(data_type) <= MAX_DEPTH, "structs that lie {} deep in each other", depth(data_type));
            for field in fields.fields() {
                assert!(!field.shape.contains(&0), "field {:?} of shape {:?}", field.name, field.shape);
                assert!(!field.data_type.is_variable(), "field {:?} of any length", field.name);
            }
        }
        DataType::DateTime64(time) | DataType::TimeDelta64(time) => {
            assert!(i32::try_from(time.scale).is_ok_and(|scale| scale > 0), "{} units", time.scale);
        }
        _ => {}
    }
}

/// Returns the depth of nested structs.
fn depth(data_type: &DataType) -> usize {
    let DataType::Struct(fields) = data_type else { return 0 };
    1 + fields.fields().iter().map(|field| depth(&field.data_type)).max().unwrap_or(0)
}

/// Checks that a data type is printed as it was given, except types that have two names.
pub(in crate::fuzz) fn same_type(config: &NamedConfig, data_type: &DataType) {
    let printed = data_type.to_config();
    let twice = matches!(config.name.as_str(), "complex_float32" | "complex_float64" | "structured");
    if twice || matches!(data_type, DataType::Struct(_) | DataType::VlenArray(_) | DataType::Extension(_)) {
        return;
    }
    assert_eq!(config.name, printed.name, "{config:?}");
    let same =
        |(name, value): (&str, &Value)| printed.configuration.get(name).is_some_and(|it| it.semantically_eq(value));
    assert!(config.configuration.iter().all(same), "{config:?} is printed as {printed:?}");
}

/// Checks that all members of a configuration are known, since the printed configuration has them.
fn all_known(config: &NamedConfig, printed: &NamedConfig) {
    for (name, _) in config.configuration.iter() {
        let name = name.replace("base-encoding", "base_encoding");
        assert!(printed.configuration.contains_key(&name), "member {name} of {config:?} is not known");
    }
}

/// Checks a chunk grid against its configuration.
pub(in crate::fuzz) fn grid(config: &NamedConfig, grid: &ChunkGrid) {
    let printed = grid.to_config();
    all_known(config, &printed);
    assert_eq!(ChunkGrid::from_config(&printed, grid.shape()).as_ref(), Ok(grid));
    let axes = grid.shape().iter().enumerate();
    for (axis, &len) in axes {
        let chunk = grid.largest_chunk_shape().get(axis).copied().unwrap_or(0);
        assert!(chunk > 0 || len == 0, "chunks of length 0 along axis {axis} of length {len}");
        assert!(i64::try_from(chunk).is_ok(), "chunks of length {chunk}");
        let count = grid.chunk_count(axis);
        assert_eq!(count == 0, len == 0, "{count} chunks along axis {axis} of length {len}");
        let index: Vec<u64> = (0..grid.rank()).map(|at| if at == axis { count.saturating_sub(1) } else { 0 }).collect();
        if let Some(range) =
            grid.chunk_region(&index).axes().get(axis).filter(|_| len > 0 && !grid.shape().contains(&0))
        {
            assert_eq!(range.start + range.len, len, "where the chunks end along axis {axis}");
        }
    }
    if let ChunkGrid::Rectilinear(grid) = grid {
        let runs = grid.axes().iter().flat_map(zarr_grid::AxisChunks::runs);
        assert!(runs.into_iter().all(|run| run.len > 0 && run.count > 0), "a run without elements");
        let listed = |axis: &zarr_grid::AxisChunks| axis.runs().map(|run| run.count).sum::<u64>();
        assert!(grid.axes().iter().all(|axis| listed(axis) <= 1 << 40), "more chunks than may be listed");
    }
}

/// Checks a chunk key encoding: its printed form must be read to the same encoding, and have all members of the given one. Returns the
/// encoding; `None` if it was refused.
pub(in crate::fuzz) fn chunk_keys(config: &NamedConfig) -> Option<ChunkKeyEncoding> {
    let encoding = ChunkKeyEncoding::from_config(config).ok()?;
    let printed = encoding.to_config();
    assert_eq!(ChunkKeyEncoding::from_config(&printed).as_ref(), Ok(&encoding));
    all_known(config, &printed);
    if let ChunkKeyEncoding::Fanout { max_children } = encoding {
        assert!((4..=i64::MAX as u64).contains(&max_children), "{max_children} children");
    }
    let base = config.configuration.get("base_encoding").or_else(|| config.configuration.get("base-encoding"));
    if let Some(base) = base.and_then(NamedConfig::from_value) {
        assert!(chunk_keys(&base).is_some(), "a suffix behind keys that are none");
    }
    Some(encoding)
}

/// Checks a document of version 3 from which a node was read.
pub(in crate::fuzz) fn document_v3(document: &Value) {
    let member = |name: &str| document.get(name);
    let old = member("zarr_format").and_then(Value::as_str).is_some_and(|uri| uri.contains("/v3"));
    assert!(old || member("zarr_format").and_then(Value::as_u64) == Some(3), "a document of another format");
    if member("shape").is_none() {
        return;
    }
    let shape = member("shape").and_then(Value::as_array).expect("a shape is an array");
    assert!(shape.iter().all(|len| len.as_u64().is_some_and(|len| i64::try_from(len).is_ok())), "shape {shape:?}");
    for name in ["data_type", "chunk_grid", "fill_value"] {
        assert!(member(name).is_some(), "an array without {name}");
    }
    // GDAL left them out for arrays without compression.
    let may_lack_codecs = member("dimension_names").is_some_and(|names| *names != Value::Null);
    assert!(member("codecs").is_some() || may_lack_codecs, "an array without codecs");
}
