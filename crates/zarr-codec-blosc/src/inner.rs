//! Compressors of streams.

mod read;
mod write;

pub(crate) use read::decompress;
pub(crate) use write::Writer;

use std::fmt;

/// Format of the streams of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// BloscLZ, the native format of blosc, derived from FastLZ.
    Blosclz,
    /// Stream that is an LZ4 block.
    Lz4,
    /// Raw Snappy stream, without framing.
    Snappy,
    /// Stream in the zlib format.
    Zlib,
    /// Stream of Zstandard frames.
    Zstd,
}

impl Format {
    /// Returns the format for its number in the flags of a frame; `None` for an unknown number.
    pub(crate) fn from_code(code: u8) -> Option<Self> {
        [Self::Blosclz, Self::Lz4, Self::Snappy, Self::Zlib, Self::Zstd].get(usize::from(code)).copied()
    }

    pub(crate) fn code(self) -> u8 {
        self as u8
    }

    /// Returns an upper limit of the decoded bytes per byte of a stream. With it a frame cannot claim memory for more data than it can
    /// contain.
    pub(crate) fn max_ratio(self) -> usize {
        match self {
            // A byte of a match's length adds 255 bytes at most.
            Self::Blosclz | Self::Lz4 => 256,
            // Three bytes copy 64 at most.
            Self::Snappy => 64,
            // Deflate reaches 1032 (zlib.net, "zlib technical details").
            Self::Zlib => 1040,
            // A block of four bytes repeats a byte 128 Ki times (RFC 8878, section 3.1.1.2).
            Self::Zstd => 32 << 10,
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Blosclz => "blosclz",
            Self::Lz4 => "lz4",
            Self::Snappy => "snappy",
            Self::Zlib => "zlib",
            Self::Zstd => "zstd",
        })
    }
}

/// Compressor of the streams of a frame: `cname` in metadata.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compressor {
    /// BloscLZ, the native compressor of blosc.
    Blosclz,
    /// LZ4 compressor: `lz4`.
    #[default]
    Lz4,
    /// LZ4 HC: LZ4 with larger blocks and a longer search for matches at higher levels.
    Lz4hc,
    /// Snappy compressor: `snappy`.
    Snappy,
    /// zlib compressor: `zlib`.
    Zlib,
    /// Zstandard compressor: `zstd`.
    Zstd,
}

impl Compressor {
    /// All compressors.
    pub const ALL: [Self; 6] = [Self::Blosclz, Self::Lz4, Self::Lz4hc, Self::Snappy, Self::Zlib, Self::Zstd];

    /// Returns the compressor with this name; `None` for an unknown name.
    ///
    /// ```
    /// use zarr_codec_blosc::Compressor;
    /// assert_eq!(Compressor::from_name("zstd"), Some(Compressor::Zstd));
    /// ```
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|compressor| compressor.name() == name)
    }

    /// Returns the name of the compressor in metadata.
    pub fn name(self) -> &'static str {
        match self {
            Self::Blosclz => "blosclz",
            Self::Lz4 => "lz4",
            Self::Lz4hc => "lz4hc",
            Self::Snappy => "snappy",
            Self::Zlib => "zlib",
            Self::Zstd => "zstd",
        }
    }

    /// Returns the format that the compressor writes.
    pub fn format(self) -> Format {
        match self {
            Self::Blosclz => Format::Blosclz,
            Self::Lz4 | Self::Lz4hc => Format::Lz4,
            Self::Snappy => Format::Snappy,
            Self::Zlib => Format::Zlib,
            Self::Zstd => Format::Zstd,
        }
    }

    /// Returns whether the compressor is meant for high compression and gets larger blocks (`HCR` of c-blosc 1.21).
    pub(crate) fn is_slow(self) -> bool {
        matches!(self, Self::Lz4hc | Self::Zlib | Self::Zstd)
    }
}
