//! Zarr codecs that store a checksum of 32 bits with the data.
//!
//! | codec | Zarr v3 | numcodecs in Zarr v3 | Zarr v2 | location |
//! |---|---|---|---|---|
//! | [`CRC32C`] | `crc32c` | `numcodecs.crc32c` | `crc32c` | end, or the end that `location` names |
//! | [`CRC32`] | | `numcodecs.crc32` | `crc32` | start, or the end that `location` names |
//! | [`ADLER32`] | | `numcodecs.adler32` | `adler32` | start, or the end that `location` names |
//! | [`FLETCHER32`] | | `numcodecs.fletcher32` | `fletcher32` | end |
//! | [`JENKINS_LOOKUP3`] | | `numcodecs.jenkins_lookup3` | `jenkins_lookup3` | end |
//!
//! The checksum is always little-endian. `location` is `"start"` or `"end"`. `jenkins_lookup3` has the seed `initval` (default 0), and
//! hashes `prefix` (default empty) before the data.
//!
//! Verification copies no data: decoding returns the part of the input without the checksum.
//!
//! ```
//! use zarr_codec_checksum::{Adler32, Crc32c, Location};
//!
//! let encoded = Crc32c::new().encode(b"123456789")?;
//! assert_eq!(encoded, b"123456789\x83\x92\x06\xe3");
//! assert_eq!(Crc32c::new().decode(&encoded, 9)?, b"123456789");
//! assert!(Crc32c::new().decode(b"123456788\x83\x92\x06\xe3", 9).is_err());
//!
//! assert!(Adler32::new().location(Location::End).encode(b"zarr")?.starts_with(b"zarr"));
//! # Ok::<(), zarr_codec::Error>(())
//! ```
//!
//! <https://zarr-specs.readthedocs.io/en/latest/v3/codecs/crc32c/index.html>,
//! <https://numcodecs.readthedocs.io/en/stable/checksum32.html>
#![warn(clippy::indexing_slicing)]

mod codec;
mod crc;
mod fletcher;
mod jenkins;
mod sum;

pub use codec::{
    ADLER32, Adler32, CODECS, CRC32, CRC32C, Crc32, Crc32c, FLETCHER32, Fletcher32, JENKINS_LOOKUP3, JenkinsLookup3,
};
pub use sum::Location;

#[cfg(test)]
mod tests;
