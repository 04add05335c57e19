//! The codecs by their types.

use crate::{JSON, JSON2, MSGPACK, MSGPACK2};
use zarr_codec::{TypedCodec, array_codec};

macro_rules! json {
    ($codec:ident, $entry:expr, $name:literal) => {
        #[doc = concat!("Codec `", $name, "`: objects as JSON.")]
        #[derive(Clone, Debug, PartialEq)]
        pub struct $codec(TypedCodec);

        impl $codec {
            /// JSON as Python writes it by default, but without spaces and with sorted names.
            pub fn new() -> Self {
                Self(TypedCodec::new($entry))
            }

            /// Whether all characters beyond ASCII are escaped, as is the default.
            #[must_use]
            pub fn ensure_ascii(self, ensure_ascii: bool) -> Self {
                Self(self.0.with("ensure_ascii", ensure_ascii))
            }

            /// Whether the members of objects are sorted by name, as is the default.
            #[must_use]
            pub fn sort_keys(self, sort_keys: bool) -> Self {
                Self(self.0.with("sort_keys", sort_keys))
            }

            /// Whether numbers may be infinite or NaN, as is the default.
            #[must_use]
            pub fn allow_nan(self, allow_nan: bool) -> Self {
                Self(self.0.with("allow_nan", allow_nan))
            }

            /// With lines, indented by so many spaces for each level, 64 at most.
            #[must_use]
            pub fn indent(self, spaces: u32) -> Self {
                Self(self.0.with("indent", spaces))
            }
        }

        impl Default for $codec {
            fn default() -> Self {
                Self::new()
            }
        }

        array_codec!($codec);
    };
}

json!(Json2, JSON2, "json2");
json!(Json, JSON, "json");

macro_rules! msgpack {
    ($codec:ident, $entry:expr, $name:literal) => {
        #[doc = concat!("Codec `", $name, "`: objects as MessagePack.")]
        #[derive(Clone, Debug, PartialEq)]
        pub struct $codec(TypedCodec);

        impl $codec {
            /// MessagePack with floats of 64 bits.
            pub fn new() -> Self {
                Self(TypedCodec::new($entry))
            }

            /// Whether floats are stored in 32 bits.
            #[must_use]
            pub fn use_single_float(self, use_single_float: bool) -> Self {
                Self(self.0.with("use_single_float", use_single_float))
            }

            /// Whether texts are read as bytes.
            #[must_use]
            pub fn raw(self, raw: bool) -> Self {
                Self(self.0.with("raw", raw))
            }
        }

        impl Default for $codec {
            fn default() -> Self {
                Self::new()
            }
        }

        array_codec!($codec);
    };
}

msgpack!(MsgPack2, MSGPACK2, "msgpack2");
msgpack!(MsgPack, MSGPACK, "msgpack");
