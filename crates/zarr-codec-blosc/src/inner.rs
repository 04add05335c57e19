//! The compressors of streams.

mod read;
mod write;

pub(crate) use read::decompress;
pub(crate) use write::Writer;

use std::fmt;

/// The format of the streams of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// blosc's own, after FastLZ.
    Blosclz,
    /// An LZ4 block.
    Lz4,
    /// A raw Snappy stream.
    Snappy,
    /// A zlib stream.
    Zlib,
    /// Zstandard frames.
    Zstd,
}

impl Format {
    /// The format of this number in the flags of a frame.
    pub(crate) fn from_code(code: u8) -> Option<Self> {
        [Self::Blosclz, Self::Lz4, Self::Snappy, Self::Zlib, Self::Zstd].get(usize::from(code)).copied()
    }

    pub(crate) fn code(self) -> u8 {
        self as u8
    }

    /// No byte of a stream stands for more bytes than this. By it a frame can claim memory only for data that it can
    /// hold.
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

/// The compressor of the streams of a frame: `cname` in metadata.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compressor {
    /// blosc's own.
    Blosclz,
    /// LZ4.
    #[default]
    Lz4,
    /// LZ4 in larger blocks, searched for longer matches, and the more so the higher the level.
    Lz4hc,
    /// Snappy.
    Snappy,
    /// zlib.
    Zlib,
    /// Zstandard.
    Zstd,
}

impl Compressor {
    /// All compressors.
    pub const ALL: [Self; 6] = [Self::Blosclz, Self::Lz4, Self::Lz4hc, Self::Snappy, Self::Zlib, Self::Zstd];

    /// The compressor of this name.
    ///
    /// ```
    /// use zarr_codec_blosc::Compressor;
    /// assert_eq!(Compressor::from_name("zstd"), Some(Compressor::Zstd));
    /// ```
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|compressor| compressor.name() == name)
    }

    /// Its name in metadata.
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

    /// The format that it writes.
    pub fn format(self) -> Format {
        match self {
            Self::Blosclz => Format::Blosclz,
            Self::Lz4 | Self::Lz4hc => Format::Lz4,
            Self::Snappy => Format::Snappy,
            Self::Zlib => Format::Zlib,
            Self::Zstd => Format::Zstd,
        }
    }

    /// Whether it is meant for high compression, and gets larger blocks (`HCR` of c-blosc 1.21).
    pub(crate) fn is_slow(self) -> bool {
        matches!(self, Self::Lz4hc | Self::Zlib | Self::Zstd)
    }
}
