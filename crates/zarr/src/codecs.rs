//! Codecs by their types, from the crates that the features of this build include.
//!
//! Codecs are passed to new arrays, or used alone: bytes-to-bytes codecs directly, other codecs in a [`Chain`].
//!
//! ```
//! # #[cfg(all(feature = "numeric", feature = "zstd"))]
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use zarr::codecs::{Bytes, Chain, Delta, Zstd};
//! use zarr::dtype::DataType;
//! use zarr::prelude::*;
//!
//! let store = zarr::store::create("memory:")?;
//! let new = NewArray::new(&[1000], "int32").codecs((Delta::new(), Zstd::level(3)?))?;
//! zarr::create((&store, "/sorted")).array(new)?;
//!
//! let encoded = Zstd::level(3)?.encode(b"zarr")?;
//! assert_eq!(Zstd::level(3)?.decode(&encoded, 100)?, b"zarr");
//!
//! let chain = Chain::new(&DataType::Int32, &[3]).then((Delta::new(), Bytes::little_endian(), Zstd::level(3)?));
//! let codec = chain.build()?;
//! assert_eq!(codec.decode_elements::<i32>(&codec.encode_elements(&[1, 2, 4])?)?, [1, 2, 4]);
//! # Ok(())
//! # }
//! # #[cfg(not(all(feature = "numeric", feature = "zstd")))]
//! # fn main() {}
//! ```

pub use zarr_codec::{Chain, ChunkCodec, CodecList, IntoCodecs, IntoTypedCodecs, TypedCodec};
#[cfg(feature = "base64")]
pub use zarr_codec_base64::Base64;
#[cfg(feature = "blosc")]
pub use zarr_codec_blosc::{Blosc, Compressor as BloscCompressor};
pub use zarr_codec_bytes::Bytes;
#[cfg(feature = "bz2")]
pub use zarr_codec_bz2::Bz2;
#[cfg(feature = "categorize")]
pub use zarr_codec_categorize::Categorize;
#[cfg(feature = "checksum")]
pub use zarr_codec_checksum::{Adler32, Crc32, Crc32c, Fletcher32, JenkinsLookup3, Location as ChecksumLocation};
#[cfg(feature = "conditional")]
pub use zarr_codec_conditional::Conditional;
#[cfg(feature = "gzip")]
pub use zarr_codec_gzip::{Gzip, Zlib};
#[cfg(feature = "lz4")]
pub use zarr_codec_lz4::Lz4;
#[cfg(feature = "lzma")]
pub use zarr_codec_lzma::{Check as LzmaCheck, Format as LzmaFormat, Lzma};
#[cfg(feature = "n5")]
pub use zarr_codec_n5::N5Default;
#[cfg(feature = "numeric")]
pub use zarr_codec_numeric::{AsType, Bitround, CastValue, Delta, FixedScaleOffset, Quantize, ScaleOffset};
#[cfg(feature = "object")]
pub use zarr_codec_object::{Json, Json2, MsgPack, MsgPack2};
#[cfg(feature = "optional")]
pub use zarr_codec_optional::Optional;
#[cfg(feature = "packbits")]
pub use zarr_codec_packbits::{NumcodecsPackbits, Packbits, Padding as PackbitsPadding};
#[cfg(feature = "pcodec")]
pub use zarr_codec_pcodec::{Delta as PcodecDelta, Pcodec};
#[cfg(feature = "reshape")]
pub use zarr_codec_reshape::{Reshape, ReshapeAxis, ZarrsSqueeze};
#[cfg(feature = "sharding")]
pub use zarr_codec_sharding::Sharding;
#[cfg(feature = "shuffle")]
pub use zarr_codec_shuffle::Shuffle;
pub use zarr_codec_transpose::Transpose;
#[cfg(feature = "array-view")]
pub use zarr_codec_view::ArrayView;
#[cfg(feature = "vlen")]
pub use zarr_codec_vlen::{VlenArray, VlenBytes, VlenUtf8, ZarrsVlen, ZarrsVlenV2};
#[cfg(feature = "zfp")]
pub use zarr_codec_zfp::{Mode as ZfpMode, Zfp, Zfpy};
#[cfg(feature = "zstd")]
pub use zarr_codec_zstd::Zstd;
