//! The codecs by their types.

use crate::{ADLER32, CRC32, CRC32C, FLETCHER32, JENKINS_LOOKUP3, Location};
use zarr_codec::{TypedCodec, bytes_codec};

/// Codec `crc32c`: a checksum behind the data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Crc32c;

bytes_codec!(Crc32c = CRC32C);

/// Codec `fletcher32`: a checksum behind the data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fletcher32;

bytes_codec!(Fletcher32 = FLETCHER32);

macro_rules! located {
    ($codec:ident, $entry:expr, $name:literal) => {
        #[doc = concat!("Codec `", $name, "`: a checksum in front of the data, or behind.")]
        #[derive(Clone, Debug, PartialEq)]
        pub struct $codec(TypedCodec);

        impl $codec {
            /// A checksum in front of the data.
            pub fn new() -> Self {
                Self(TypedCodec::new($entry))
            }

            /// With the checksum at this location.
            #[must_use]
            pub fn location(self, location: Location) -> Self {
                let word = match location {
                    Location::Start => "start",
                    Location::End => "end",
                };
                Self(self.0.with("location", word))
            }
        }

        impl Default for $codec {
            fn default() -> Self {
                Self::new()
            }
        }

        bytes_codec!($codec);
    };
}

located!(Crc32, CRC32, "crc32");
located!(Adler32, ADLER32, "adler32");

/// Codec `jenkins_lookup3`: a checksum behind the data.
#[derive(Clone, Debug, PartialEq)]
pub struct JenkinsLookup3(TypedCodec);

impl JenkinsLookup3 {
    /// The hash of the data, which begins with 0.
    pub fn new() -> Self {
        Self(TypedCodec::new(JENKINS_LOOKUP3))
    }

    /// With another seed of the hash.
    #[must_use]
    pub fn initval(self, initval: u32) -> Self {
        Self(self.0.with("initval", initval))
    }

    /// With bytes that are hashed in front of the data, and not stored.
    #[must_use]
    pub fn prefix(self, prefix: &[u8]) -> Self {
        Self(self.0.with("prefix", prefix.to_vec()))
    }
}

impl Default for JenkinsLookup3 {
    fn default() -> Self {
        Self::new()
    }
}

bytes_codec!(JenkinsLookup3);
