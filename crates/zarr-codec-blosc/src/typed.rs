//! The codec by its type.

use crate::{BLOSC, Compressor};
use zarr_codec::{TypedCodec, bytes_codec};

/// Codec `blosc`: a compressor, its level, and the order of the bytes that it gets.
///
/// ```
/// use zarr_codec_blosc::Blosc;
///
/// let numbers: Vec<u8> = (0..5000_u32).flat_map(u32::to_le_bytes).collect();
/// let codec = Blosc::zstd().level(5).bitshuffle().type_size(4);
/// let encoded = codec.encode(&numbers)?;
/// assert_eq!(codec.decode(&encoded, 20_000)?, numbers);
/// # Ok::<(), zarr_codec::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Blosc(TypedCodec);

impl Blosc {
    /// By `compressor`, at level 5, the bytes of elements shuffled.
    pub fn new(compressor: Compressor) -> Self {
        Self(TypedCodec::new(BLOSC).with("cname", compressor.name()))
    }

    /// By LZ4.
    pub fn lz4() -> Self {
        Self::new(Compressor::Lz4)
    }

    /// By LZ4, more slowly to smaller chunks.
    pub fn lz4hc() -> Self {
        Self::new(Compressor::Lz4hc)
    }

    /// By BloscLZ.
    pub fn blosclz() -> Self {
        Self::new(Compressor::Blosclz)
    }

    /// By Snappy.
    pub fn snappy() -> Self {
        Self::new(Compressor::Snappy)
    }

    /// By zlib.
    pub fn zlib() -> Self {
        Self::new(Compressor::Zlib)
    }

    /// By Zstandard.
    pub fn zstd() -> Self {
        Self::new(Compressor::Zstd)
    }

    /// At this level, 0 (none) to 9.
    #[must_use]
    pub fn level(self, level: u8) -> Self {
        Self(self.0.with("clevel", level))
    }

    /// With the bytes of elements regrouped by their position in the element, as is the default.
    #[must_use]
    pub fn shuffle(self) -> Self {
        Self(self.0.with("shuffle", "shuffle"))
    }

    /// With the bits of elements regrouped by their position in the element.
    #[must_use]
    pub fn bitshuffle(self) -> Self {
        Self(self.0.with("shuffle", "bitshuffle"))
    }

    /// With bytes as they come.
    #[must_use]
    pub fn no_shuffle(self) -> Self {
        Self(self.0.with("shuffle", "noshuffle"))
    }

    /// For elements of so many bytes. By default the elements of the array, and bytes where there is none.
    #[must_use]
    pub fn type_size(self, size: usize) -> Self {
        Self(self.0.with("typesize", size))
    }

    /// In blocks of so many bytes; 0, the default, leaves it to the heuristics of c-blosc.
    #[must_use]
    pub fn block_size(self, size: usize) -> Self {
        Self(self.0.with("blocksize", size))
    }
}

bytes_codec!(Blosc);
