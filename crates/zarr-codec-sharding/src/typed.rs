//! The codec by its type.

use crate::SHARDING_INDEXED;
use zarr_codec::{IntoTypedCodecs, TypedCodec, array_codec};
use zarr_json::{NamedConfig, Value};

/// Codec `sharding_indexed`: inner chunks that can be read one by one.
#[derive(Clone, Debug, PartialEq)]
pub struct Sharding(TypedCodec);

impl Sharding {
    /// Inner chunks of `shape`, which divides that of the shard, encoded by `codecs`.
    ///
    /// The index lies at the end, encoded by `bytes` (little-endian) and `crc32c`: codecs that an array finds in its registry. A
    /// [`Chain`](zarr_codec::Chain) knows only the codecs that are named to it, as
    /// [`index_codecs`](Self::index_codecs) does.
    pub fn of(shape: impl IntoIterator<Item = u64>, codecs: impl IntoTypedCodecs) -> Self {
        let bytes = NamedConfig::with("bytes", [("endian".to_owned(), Value::from("little"))].into_iter().collect());
        let index = vec![bytes.to_value(), NamedConfig::new("crc32c").to_value()];
        let codec = TypedCodec::new(SHARDING_INDEXED).with("chunk_shape", shape.into_iter().collect::<Vec<_>>());
        Self(codec.with_codecs("codecs", codecs).with("index_codecs", index).with("index_location", "end"))
    }

    /// With an index that these codecs encode, whose output has a fixed size.
    #[must_use]
    pub fn index_codecs(self, codecs: impl IntoTypedCodecs) -> Self {
        Self(self.0.with_codecs("index_codecs", codecs))
    }

    /// With the index in front of the inner chunks.
    #[must_use]
    pub fn index_at_start(self) -> Self {
        Self(self.0.with("index_location", "start"))
    }
}

array_codec!(Sharding);
