//! Codec `base64`.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::sync::Arc;
use zarr_codec::{BuildContext, BytesToBytes, CodecEntry, CodecValue, Error, Protection, Sink, Size, slice_methods};

/// Entry of the codec `base64` for the table of codecs.
pub const BASE64: CodecEntry =
    CodecEntry::bytes_to_bytes("numcodecs.base64", |_| Ok(Arc::new(Base64))).id("base64").only_read(&["base64"]);

/// Entry of the codec of this crate for the table of codecs.
pub const CODECS: &[CodecEntry] = &[BASE64];

const NAME: &str = "base64";
/// Numbers of bytes decoded and of characters encoded in one group.
const GROUP: (usize, usize) = (3, 4);

/// Codec `base64`, which has no configuration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Base64;

impl CodecValue for Base64 {
    const ENTRY: CodecEntry = BASE64;

    fn from_config(_: &BuildContext<'_>) -> Result<Self, Error> {
        Ok(Self)
    }
}

slice_methods!(Base64);

impl BytesToBytes for Base64 {
    fn name(&self) -> &'static str {
        NAME
    }

    fn protection(&self, _: Option<&[u8]>) -> Protection {
        Protection::Form
    }

    fn encoded_size(&self, decoded: Size) -> Size {
        decoded.map(|size| size.div_ceil(GROUP.0 as u64).checked_mul(GROUP.1 as u64))
    }

    fn encode(&self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        let size = bytes.len().div_ceil(GROUP.0).saturating_mul(GROUP.1);
        out.try_reserve(size).map_err(|_| Error::Allocation { size: size as u64 })?;
        let start = out.len();
        out.resize(start + size, 0);
        let target = out.get_mut(start..).unwrap_or_default();
        STANDARD.encode_slice(bytes, target).map_err(|error| Error::Encode { codec: NAME, what: error.to_string() })?;
        Ok(())
    }

    fn decode(&self, bytes: &[u8], out: &mut Sink<'_>) -> Result<(), Error> {
        let corrupt = |what: String| Error::Corrupt { codec: NAME, what };
        if !bytes.len().is_multiple_of(GROUP.1) {
            let expected = bytes.len().next_multiple_of(GROUP.1) as u64;
            return Err(Error::Truncated { codec: NAME, found: bytes.len() as u64, expected });
        }
        let padding = bytes.iter().rev().take(2).take_while(|&&byte| byte == b'=').count();
        let size = (bytes.len() / GROUP.1 * GROUP.0).saturating_sub(padding);
        let target = out.buffer(size)?;
        match STANDARD.decode_slice(bytes, target) {
            Ok(came) if came == size => Ok(()),
            Ok(came) => Err(corrupt(format!("{came} bytes, expected {size}"))),
            Err(error) => Err(corrupt(error.to_string().to_lowercase())),
        }
    }
}
