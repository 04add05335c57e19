//! The codecs: data with a checksum in front or behind.

use crate::config::{JenkinsConfig, Location};
use crate::{crc, fletcher, jenkins};
use std::sync::Arc;
use zarr_codec::{BuildContext, BytesToBytes, CodecEntry, Error, Protection, Sink, Size};

/// Codec `crc32c`, for the table of codecs.
pub const CRC32C: CodecEntry =
    CodecEntry::bytes_to_bytes("crc32c", |context| located(context, Algorithm::Crc32c, Location::End))
        .id("crc32c")
        .aliases(&["numcodecs.crc32c"]);

/// Codec `crc32`, for the table of codecs.
pub const CRC32: CodecEntry =
    CodecEntry::bytes_to_bytes("numcodecs.crc32", |context| located(context, Algorithm::Crc32, Location::Start))
        .id("crc32")
        .only_read(&["crc32"])
        .arguments(&[("location", None)]);

/// Codec `adler32`, for the table of codecs.
pub const ADLER32: CodecEntry =
    CodecEntry::bytes_to_bytes("numcodecs.adler32", |context| located(context, Algorithm::Adler32, Location::Start))
        .id("adler32")
        .only_read(&["adler32"])
        .arguments(&[("location", None)]);

/// Codec `fletcher32`, for the table of codecs.
pub const FLETCHER32: CodecEntry =
    CodecEntry::bytes_to_bytes("numcodecs.fletcher32", |_| Ok(codec(Algorithm::Fletcher32, Location::End)))
        .id("fletcher32")
        .only_read(&["fletcher32", "https://codec.zarrs.dev/bytes_to_bytes/fletcher32"]);

/// Codec `jenkins_lookup3`, for the table of codecs.
pub const JENKINS_LOOKUP3: CodecEntry = CodecEntry::bytes_to_bytes("numcodecs.jenkins_lookup3", |context| {
    let config = JenkinsConfig::from_context(context)?;
    Ok(codec(Algorithm::JenkinsLookup3(config), Location::End))
})
.id("jenkins_lookup3")
.only_read(&["jenkins_lookup3"])
.arguments(&[("initval", None)]);

/// The codecs of this crate, for the table of codecs.
pub const CODECS: &[CodecEntry] = &[CRC32C, CRC32, ADLER32, FLETCHER32, JENKINS_LOOKUP3];

fn located(
    context: &BuildContext<'_>,
    algorithm: Algorithm,
    default: Location,
) -> Result<Arc<dyn BytesToBytes>, Error> {
    Ok(codec(algorithm, Location::from_context(context, default)?))
}

fn codec(algorithm: Algorithm, location: Location) -> Arc<dyn BytesToBytes> {
    Arc::new(Checksum { algorithm, location })
}

/// Bytes of a checksum.
const SIZE: usize = 4;

#[derive(Debug)]
enum Algorithm {
    Crc32c,
    Crc32,
    Adler32,
    Fletcher32,
    JenkinsLookup3(JenkinsConfig),
}

impl Algorithm {
    /// The name in errors.
    fn name(&self) -> &'static str {
        match self {
            Self::Crc32c => "crc32c",
            Self::Crc32 => "crc32",
            Self::Adler32 => "adler32",
            Self::Fletcher32 => "fletcher32",
            Self::JenkinsLookup3(_) => "jenkins_lookup3",
        }
    }

    fn sum(&self, bytes: &[u8]) -> Result<u32, Error> {
        match self {
            Self::Crc32c => Ok(crc::crc32c(bytes)),
            Self::Crc32 => Ok(crc::crc32(bytes)),
            Self::Adler32 => Ok(fletcher::adler32(bytes)),
            Self::Fletcher32 => Ok(fletcher::fletcher32(bytes)),
            Self::JenkinsLookup3(config) => jenkins::lookup3(&config.prefix, bytes, config.initval),
        }
    }
}

/// A checksum codec: built from metadata, used for every chunk.
#[derive(Debug)]
struct Checksum {
    algorithm: Algorithm,
    location: Location,
}

impl Checksum {
    /// The data, if its checksum is right.
    fn cut<'b>(&self, bytes: &'b [u8]) -> Result<&'b [u8], Error> {
        let codec = self.algorithm.name();
        let parts = match self.location {
            Location::Start => bytes.split_first_chunk::<SIZE>().map(|(sum, data)| (data, sum)),
            Location::End => bytes.split_last_chunk::<SIZE>(),
        };
        let found = bytes.len() as u64;
        let (data, sum) = parts.ok_or(Error::Truncated { codec, found, expected: SIZE as u64 })?;
        let (found, stored) = (self.algorithm.sum(data)?, u32::from_le_bytes(*sum));
        if found != stored {
            return Err(Error::Checksum { codec, found: found.into(), stored: stored.into() });
        }
        Ok(data)
    }
}

impl BytesToBytes for Checksum {
    fn name(&self) -> &'static str {
        self.algorithm.name()
    }

    fn protection(&self, _: Option<&[u8]>) -> Protection {
        Protection::Checksum
    }

    fn encoded_size(&self, decoded: Size) -> Size {
        decoded.map(|size| size.checked_add(SIZE as u64))
    }

    fn encode(&self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        let sum = self.algorithm.sum(bytes)?.to_le_bytes();
        let size = bytes.len().saturating_add(SIZE);
        out.try_reserve(size).map_err(|_| Error::Allocation { size: size as u64 })?;
        let (first, second) = match self.location {
            Location::Start => (&sum[..], bytes),
            Location::End => (bytes, &sum[..]),
        };
        out.extend_from_slice(first);
        out.extend_from_slice(second);
        Ok(())
    }

    fn decode(&self, bytes: &[u8], out: &mut Sink<'_>) -> Result<(), Error> {
        out.extend(self.cut(bytes)?)
    }

    fn decode_in_place<'b>(&self, bytes: &'b [u8]) -> Option<Result<&'b [u8], Error>> {
        Some(self.cut(bytes))
    }
}
