//! Codecs that store a checksum before or after the data.

use crate::sum::{Location, SIZE, Sum};
use crate::{crc, fletcher, jenkins};
use std::sync::Arc;
use zarr_codec::{BuildContext, BytesToBytes, CodecEntry, CodecValue, Error, Protection, Sink, Size, slice_methods};
use zarr_json::{Map, Value};

/// Entries of the codecs of this crate for the table of codecs.
pub const CODECS: &[CodecEntry] = &[CRC32C, CRC32, ADLER32, FLETCHER32, JENKINS_LOOKUP3];

/// Implements a codec for a checksum.
macro_rules! checksum {
    ($codec:ident) => {
        impl BytesToBytes for $codec {
            fn name(&self) -> &'static str {
                Self::NAME
            }

            fn protection(&self, _: Option<&[u8]>) -> Protection {
                Protection::Checksum
            }

            fn encoded_size(&self, decoded: Size) -> Size {
                decoded.map(|size| size.checked_add(SIZE as u64))
            }

            fn encode(&self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
                self.append(bytes, out)
            }

            fn decode(&self, bytes: &[u8], out: &mut Sink<'_>) -> Result<(), Error> {
                out.extend(self.cut(bytes)?)
            }

            fn decode_in_place<'b>(&self, bytes: &'b [u8]) -> Option<Result<&'b [u8], Error>> {
                Some(self.cut(bytes))
            }
        }

        slice_methods!($codec);
    };
}

/// Defines a codec whose configuration determines the location of the checksum.
macro_rules! located {
    ($codec:ident, $entry:ident, $name:literal, $default:ident, $where:literal, $sum:path) => {
        #[doc = concat!("Codec `", $name, "`: a checksum ", $where, " the data, or where [`location`](Self::location) says.")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $codec {
            location: Location,
        }

        impl $codec {
            #[doc = concat!("A checksum ", $where, " the data.")]
            pub fn new() -> Self {
                Self { location: Location::$default }
            }

            /// Sets the location of the checksum.
            #[must_use]
            pub fn location(self, location: Location) -> Self {
                Self { location }
            }
        }

        impl Default for $codec {
            fn default() -> Self {
                Self::new()
            }
        }

        impl CodecValue for $codec {
            const ENTRY: CodecEntry = $entry;

            fn from_config(context: &BuildContext<'_>) -> Result<Self, Error> {
                let location = context.config.one_of("location", &Location::WORDS)?;
                Ok(Self { location: location.unwrap_or(Location::$default) })
            }

            fn to_config(&self) -> Map {
                match self.location {
                    Location::$default => Map::new(),
                    location => Map::from([("location", location.word().into())]),
                }
            }
        }

        impl Sum for $codec {
            const NAME: &'static str = $name;

            fn location(&self) -> Location {
                self.location
            }

            fn sum(&self, bytes: &[u8]) -> Result<u32, Error> {
                Ok($sum(bytes))
            }
        }

        checksum!($codec);
    };
}

/// Entry of the codec `crc32c` for the table of codecs.
pub const CRC32C: CodecEntry =
    CodecEntry::bytes_to_bytes("crc32c", |context| Ok(Arc::new(Crc32c::from_config(context)?)))
        .id("crc32c")
        .aliases(&["numcodecs.crc32c"]);

located!(Crc32c, CRC32C, "crc32c", End, "behind", crc::crc32c);

/// Entry of the codec `crc32` for the table of codecs.
pub const CRC32: CodecEntry =
    CodecEntry::bytes_to_bytes("numcodecs.crc32", |context| Ok(Arc::new(Crc32::from_config(context)?)))
        .id("crc32")
        .only_read(&["crc32"])
        .arguments(&[("location", None)]);

located!(Crc32, CRC32, "crc32", Start, "in front of", crc::crc32);

/// Entry of the codec `adler32` for the table of codecs.
pub const ADLER32: CodecEntry =
    CodecEntry::bytes_to_bytes("numcodecs.adler32", |context| Ok(Arc::new(Adler32::from_config(context)?)))
        .id("adler32")
        .only_read(&["adler32"])
        .arguments(&[("location", None)]);

located!(Adler32, ADLER32, "adler32", Start, "in front of", fletcher::adler32);

/// Entry of the codec `fletcher32` for the table of codecs.
pub const FLETCHER32: CodecEntry = CodecEntry::bytes_to_bytes("numcodecs.fletcher32", |_| Ok(Arc::new(Fletcher32)))
    .id("fletcher32")
    .only_read(&["fletcher32", "https://codec.zarrs.dev/bytes_to_bytes/fletcher32"]);

/// Codec `fletcher32`: a checksum after the data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fletcher32;

impl CodecValue for Fletcher32 {
    const ENTRY: CodecEntry = FLETCHER32;

    fn from_config(_: &BuildContext<'_>) -> Result<Self, Error> {
        Ok(Self)
    }
}

impl Sum for Fletcher32 {
    const NAME: &'static str = "fletcher32";

    fn location(&self) -> Location {
        Location::End
    }

    fn sum(&self, bytes: &[u8]) -> Result<u32, Error> {
        Ok(fletcher::fletcher32(bytes))
    }
}

checksum!(Fletcher32);

/// Entry of the codec `jenkins_lookup3` for the table of codecs.
pub const JENKINS_LOOKUP3: CodecEntry = CodecEntry::bytes_to_bytes("numcodecs.jenkins_lookup3", |context| {
    Ok(Arc::new(JenkinsLookup3::from_config(context)?))
})
.id("jenkins_lookup3")
.only_read(&["jenkins_lookup3"])
.arguments(&[("initval", None)]);

/// Codec `jenkins_lookup3`: a checksum after the data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JenkinsLookup3 {
    /// Seed with which the hash starts.
    initval: u32,
    /// Bytes that are hashed before the data, and not stored.
    prefix: Vec<u8>,
}

impl JenkinsLookup3 {
    /// Creates the codec with seed 0 and without a prefix.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the seed of the hash.
    #[must_use]
    pub fn initval(self, initval: u32) -> Self {
        Self { initval, ..self }
    }

    /// Sets bytes that are hashed before the data, and not stored.
    #[must_use]
    pub fn prefix(self, prefix: &[u8]) -> Self {
        Self { prefix: prefix.to_vec(), ..self }
    }
}

impl CodecValue for JenkinsLookup3 {
    const ENTRY: CodecEntry = JENKINS_LOOKUP3;

    /// Reads the configuration. In numcodecs `prefix` is a Python bytes object, for which JSON has no form; here a string stands for its
    /// UTF-8 bytes, and an array of integers for bytes.
    fn from_config(context: &BuildContext<'_>) -> Result<Self, Error> {
        let config = context.config;
        let initval = config.integer("initval", 0..=u32::MAX)?.unwrap_or(0);
        let prefix = match config.value("prefix") {
            None => Vec::new(),
            Some(value) => {
                prefix(value).ok_or_else(|| config.unexpected("prefix", "a string or an array of bytes", value))?
            }
        };
        Ok(Self { initval, prefix })
    }

    fn to_config(&self) -> Map {
        let initval = (self.initval != 0).then(|| self.initval.into());
        let prefix = (!self.prefix.is_empty()).then(|| self.prefix.clone().into());
        Map::from_some([("initval", initval), ("prefix", prefix)])
    }
}

fn prefix(value: &Value) -> Option<Vec<u8>> {
    if let Some(text) = value.as_str() {
        return Some(text.as_bytes().to_vec());
    }
    value.as_array()?.iter().map(|byte| u8::try_from(byte.as_u64()?).ok()).collect()
}

impl Sum for JenkinsLookup3 {
    const NAME: &'static str = "jenkins_lookup3";

    fn location(&self) -> Location {
        Location::End
    }

    fn sum(&self, bytes: &[u8]) -> Result<u32, Error> {
        jenkins::lookup3(&self.prefix, bytes, self.initval)
    }
}

checksum!(JenkinsLookup3);
