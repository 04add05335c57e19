//! Zarr codec `blosc`: the blosc 1 container in Rust.
//!
//! A bytes-to-bytes codec that cuts a chunk into blocks, reorders the bytes or bits of its elements and compresses the
//! blocks with one of six compressors. Its name is `blosc` in Zarr v3 and v2, and `numcodecs.blosc` in arrays that
//! zarr-python 3 writes with numcodecs' codec. Decoding needs nothing of the configuration, since the frames tell all.
//!
//! ```
//! use zarr_codec_blosc::Blosc;
//!
//! let numbers: Vec<u8> = (0..5000_u32).flat_map(u32::to_le_bytes).collect();
//! let codec = Blosc::lz4().level(5)?.shuffle().type_size(4)?;
//! let encoded = codec.encode(&numbers)?;
//! assert!(encoded.len() < 2000);
//! assert_eq!(codec.decode(&encoded, 20_000)?, numbers);
//! # Ok::<(), zarr_codec::Error>(())
//! ```
//!
//! * `cname`: `blosclz`, `lz4`, `lz4hc`, `snappy`, `zlib` or `zstd`.
//! * `clevel`: 0 (no compression) to 9. For `snappy` the level determines only the size of blocks.
//! * `shuffle`: `noshuffle`, `shuffle` or `bitshuffle`; or the numbers of numcodecs: 0, 1, 2, or -1, which means bit shuffle for elements
//!   of one byte and byte shuffle for larger elements.
//! * `typesize`: number of bytes of an element, by default that of the elements of the array.
//! * `blocksize`: number of bytes of a block; 0 means that the heuristics of c-blosc 1.21 choose the size.
//!
//! The codec's specification is <https://zarr-specs.readthedocs.io/en/latest/v3/codecs/blosc/index.html>, that of the
//! container `README_CHUNK_FORMAT.rst` of c-blosc 1.21. The functions of this crate that read and write frames can be used
//! without arrays.
//!
//! Frames of `blosclz`, `lz4` and `zstd` equal frames of c-blosc 1.21 to the byte, if it writes them with one thread
//! and the same version of zstd.
//!
//! Bytes and bits are shuffled by the best instruction set of the processor; the environment variable `ZARR_ISA` (see `zarr-kernels`)
//! restricts it.
//!
//! The crate uses no C code of blosc, starts no thread and does no I/O.

mod blosclz;
mod codec;
mod decode;
mod encode;
mod error;
mod frame;
mod inner;
mod shuffle;

pub use codec::{BLOSC, Blosc, CODECS};
pub use decode::{Frame, decode, decode_range};
pub use encode::{Options, compress};
pub use error::Error;
pub use frame::{HEADER_SIZE, Header, MAX_DECODED, Shuffle};
pub use inner::{Compressor, Format};
