//! Codec `sharding_indexed` as programs and documents define it.

use crate::index::{Index, Location};
use crate::shards::Shards;
use std::sync::Arc;
use zarr_codec::{
    BuildContext, CodecEntry, CodecValue, ElementSpec, Error, InnerCodecs, IntoTypedCodecs, Pipeline, Size,
};
use zarr_dtype::{DataType, FillValue};
use zarr_grid::Shape;
use zarr_json::{Map, NamedConfig};

/// Entry of the codec `sharding_indexed` for the table of codecs.
pub const SHARDING_INDEXED: CodecEntry = CodecEntry::array_to_bytes("sharding_indexed", |context| {
    Ok(Arc::new(Sharding::from_config(context)?.bind(context)?))
})
.example(
    r#"{"chunk_shape": [2, 1], "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
            "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}]}"#,
);

/// Entry of the codec of this crate for the table of codecs.
pub const CODECS: &[CodecEntry] = &[SHARDING_INDEXED];

/// Codec `sharding_indexed`: inner chunks that can be read one by one.
#[derive(Clone, Debug, PartialEq)]
pub struct Sharding {
    /// Shape of inner chunks, in elements.
    chunk_shape: Vec<u64>,
    codecs: InnerCodecs,
    index_codecs: InnerCodecs,
    location: Location,
    /// Whether indexes may lack their checksum. Set by zarr-meta for documents of early 2023, which do not state whether their indexes have
    /// a checksum.
    index_checksum_optional: bool,
}

impl Sharding {
    /// Creates the codec with inner chunks of `shape`, which must divide the shape of the shard, encoded by `codecs`.
    ///
    /// The index is at the end of the shard, encoded by `bytes` (little-endian) and `crc32c`, two codecs that an array finds in its
    /// registry. A [`Chain`](zarr_codec::Chain) finds only codecs that are passed to it, for example by
    /// [`index_codecs`](Self::index_codecs).
    ///
    /// # Errors
    /// [`Error::Argument`] for a shape with a length of 0.
    pub fn of(shape: impl IntoIterator<Item = u64>, codecs: impl IntoTypedCodecs) -> Result<Self, Error> {
        let chunk_shape: Vec<u64> = shape.into_iter().collect();
        if chunk_shape.contains(&0) {
            return Err(SHARDING_INDEXED.argument("chunk_shape", &empty(&chunk_shape)));
        }
        Ok(Self {
            chunk_shape,
            codecs: InnerCodecs::new(codecs),
            index_codecs: InnerCodecs::named(vec![little_endian(), NamedConfig::new("crc32c")]),
            location: Location::End,
            index_checksum_optional: false,
        })
    }

    /// Sets the codecs that encode the index. Their output must have a fixed size.
    #[must_use]
    pub fn index_codecs(self, codecs: impl IntoTypedCodecs) -> Self {
        Self { index_codecs: InnerCodecs::new(codecs), ..self }
    }

    /// Places the index before the inner chunks.
    #[must_use]
    pub fn index_at_start(self) -> Self {
        Self { location: Location::Start, ..self }
    }

    /// Returns the codec for the elements of an array.
    fn bind(&self, context: &BuildContext<'_>) -> Result<Shards, Error> {
        let codecs = Arc::new(context.chain("codecs", context.element)?);
        let entries = ElementSpec::new(DataType::UInt64, FillValue::zero(&DataType::UInt64));
        let index_codecs = Arc::new(context.chain("index_codecs", &entries)?);
        // The shape of an index must determine its size, or it could not be found.
        if !matches!(index_codecs.encoded_size(&[1, 2]), Size::Exact(_)) {
            let what = "expected codecs whose output has a fixed size, found a compressor".to_owned();
            return Err(context.config.error("index_codecs", what));
        }
        let without_checksum = match self.index_checksum_optional {
            true => Some(bytes_only(context, &entries)?),
            false => None,
        };
        let (location, max_size) = (self.location, context.limits.max_index);
        let index = Index { codecs: index_codecs, without_checksum, location, max_size };
        Ok(Shards { chunk_shape: Shape::from_slice(&self.chunk_shape), codecs, index })
    }
}

impl CodecValue for Sharding {
    const ENTRY: CodecEntry = SHARDING_INDEXED;

    fn from_config(context: &BuildContext<'_>) -> Result<Self, Error> {
        let config = context.config;
        let shape = config.integers("chunk_shape")?.ok_or_else(|| config.error("chunk_shape", "missing".to_owned()))?;
        if shape.contains(&0) {
            return Err(config.error("chunk_shape", empty(&shape)));
        }
        Ok(Self {
            chunk_shape: shape,
            codecs: InnerCodecs::from_config(context, "codecs")?,
            index_codecs: InnerCodecs::from_config(context, "index_codecs")?,
            location: match config.text("index_location")? {
                None | Some("end") => Location::End,
                Some("start") => Location::Start,
                Some(other) => {
                    let what = format!("expected \"start\" or \"end\", found {other:?}");
                    return Err(config.error("index_location", what));
                }
            },
            index_checksum_optional: config.bool("index_checksum_optional")?.unwrap_or(false),
        })
    }

    fn to_config(&self) -> Map {
        let location = match self.location {
            Location::Start => "start",
            Location::End => "end",
        };
        let mut members = Map::from([
            ("chunk_shape", self.chunk_shape.clone().into()),
            ("codecs", self.codecs.to_value()),
            ("index_codecs", self.index_codecs.to_value()),
            ("index_location", location.into()),
        ]);
        if self.index_checksum_optional {
            members.insert("index_checksum_optional", true);
        }
        members
    }

    fn inner_entries(&self) -> Vec<CodecEntry> {
        [self.codecs.entries(), self.index_codecs.entries()].concat()
    }
}

fn empty(shape: &[u64]) -> String {
    format!("expected lengths > 0, found {shape:?}")
}

fn little_endian() -> NamedConfig {
    NamedConfig::with("bytes", Map::from([("endian", "little".into())]))
}

fn bytes_only(context: &BuildContext<'_>, entries: &ElementSpec) -> Result<Arc<Pipeline>, Error> {
    Pipeline::build(&[little_endian()], entries, context.codecs, context.limits, context.nesting + 1, context.warnings)
        .map(Arc::new)
        .map_err(|error| error.under("/configuration/index_codecs"))
}
