//! The configuration.

use crate::index::{Index, Location};
use crate::sharding::Sharding;
use std::sync::Arc;
use zarr_codec::{ArrayToBytes, BuildContext, CodecEntry, ElementSpec, Error, Pipeline, Size};
use zarr_dtype::{DataType, FillValue};
use zarr_grid::Shape;
use zarr_json::{Map, NamedConfig};

/// The codec `sharding_indexed`.
pub const SHARDING_INDEXED: CodecEntry = CodecEntry::array_to_bytes("sharding_indexed", build).example(
    r#"{"chunk_shape": [2, 1], "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
            "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}]}"#,
);

/// The codec of this crate, for the table of codecs.
pub const CODECS: &[CodecEntry] = &[SHARDING_INDEXED];

fn build(context: &BuildContext<'_>) -> Result<Arc<dyn ArrayToBytes>, Error> {
    let config = context.config;
    let shape = config.integers("chunk_shape")?.ok_or_else(|| config.error("chunk_shape", "missing".to_owned()))?;
    if shape.contains(&0) {
        return Err(config.error("chunk_shape", format!("expected lengths > 0, found {shape:?}")));
    }
    let codecs = Arc::new(context.chain("codecs", context.element)?);
    let entries = ElementSpec::new(DataType::UInt64, FillValue::zero(&DataType::UInt64));
    let index_codecs = Arc::new(context.chain("index_codecs", &entries)?);
    // The shape of an index must determine its size, or it could not be found.
    if !matches!(index_codecs.encoded_size(&[1, 2]), Size::Exact(_)) {
        let what = "expected codecs whose output has a fixed size, found a compressor".to_owned();
        return Err(config.error("index_codecs", what));
    }
    let location = match config.text("index_location")? {
        None | Some("end") => Location::End,
        Some("start") => Location::Start,
        Some(other) => {
            return Err(config.error("index_location", format!("expected \"start\" or \"end\", found {other:?}")));
        }
    };
    // Written by zarr-meta for documents of early 2023, which do not say whether their indexes have a checksum.
    let without_checksum = match config.bool("index_checksum_optional")? {
        Some(true) => Some(bytes_only(context, &entries)?),
        _ => None,
    };
    let index = Index { codecs: index_codecs, without_checksum, location, max_size: context.limits.max_index };
    Ok(Arc::new(Sharding { chunk_shape: Shape::from_slice(&shape), codecs, index }))
}

fn bytes_only(context: &BuildContext<'_>, entries: &ElementSpec) -> Result<Arc<Pipeline>, Error> {
    let mut configuration = Map::new();
    configuration.insert("endian", "little");
    let codecs = [NamedConfig::with("bytes", configuration)];
    Pipeline::build(&codecs, entries, context.codecs, context.limits, context.nesting + 1, context.warnings)
        .map(Arc::new)
        .map_err(|error| error.under("/configuration/index_codecs"))
}
