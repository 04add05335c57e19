//! Functions that encode and decode slices by bytes-to-bytes codecs, without an array.

use crate::{BytesToBytes, Error, Sink, Size};

/// Encodes `bytes` by `codec`, and returns the encoded bytes.
///
/// # Errors
/// [`Error::Encode`] for bytes that cannot be encoded.
pub fn encode_slice(codec: &dyn BytesToBytes, bytes: &[u8]) -> Result<Vec<u8>, Error> {
    let mut encoded = Vec::new();
    codec.encode(bytes, &mut encoded)?;
    Ok(encoded)
}

/// Decodes `encoded` by `codec`, and returns the decoded bytes, at most `max_size`. No more memory is allocated.
///
/// # Errors
/// [`Error::TooLong`] beyond `max_size`; [`Error::Truncated`], [`Error::Checksum`] or [`Error::Corrupt`] if `encoded` is no output of
/// the codec.
pub fn decode_slice(codec: &dyn BytesToBytes, encoded: &[u8], max_size: usize) -> Result<Vec<u8>, Error> {
    let limit = max_size as u64;
    let mut out = Vec::new();
    let mut sink = Sink::growing(&mut out, Size::AtMost(limit), limit)?.of(codec.name());
    codec.decode(encoded, &mut sink)?;
    let len = sink.finish()?;
    out.truncate(len);
    Ok(out)
}

/// Decodes `encoded` by `codec` to the start of `buffer`, and returns the number of decoded bytes.
///
/// # Errors
/// [`Error::TooLong`] beyond the length of `buffer`, and as [`decode_slice`].
pub fn decode_slice_into(codec: &dyn BytesToBytes, encoded: &[u8], buffer: &mut [u8]) -> Result<usize, Error> {
    let mut sink = Sink::within(buffer).of(codec.name());
    codec.decode(encoded, &mut sink)?;
    sink.finish()
}

/// Implements methods on a bytes-to-bytes codec that encode and decode slices, so that programs need not import a trait.
#[macro_export]
macro_rules! slice_methods {
    ($codec:ident) => {
        impl $codec {
            /// Encodes `bytes`, and returns the encoded bytes.
            ///
            /// # Errors
            /// [`Error::Encode`](zarr_codec::Error::Encode) for bytes that cannot be encoded.
            pub fn encode(&self, bytes: &[u8]) -> Result<Vec<u8>, $crate::Error> {
                $crate::encode_slice(self, bytes)
            }

            /// Decodes `encoded`, and returns the decoded bytes, at most `max_size`. No more memory is allocated.
            ///
            /// # Errors
            /// [`Error::TooLong`](zarr_codec::Error::TooLong) beyond `max_size`; other errors if `encoded` is no output
            /// of this codec.
            pub fn decode(&self, encoded: &[u8], max_size: usize) -> Result<Vec<u8>, $crate::Error> {
                $crate::decode_slice(self, encoded, max_size)
            }

            /// Decodes `encoded` to the start of `buffer`, and returns the number of decoded bytes.
            ///
            /// # Errors
            /// [`Error::TooLong`](zarr_codec::Error::TooLong) beyond the length of `buffer`, and as
            /// [`decode`](Self::decode).
            pub fn decode_into(&self, encoded: &[u8], buffer: &mut [u8]) -> Result<usize, $crate::Error> {
                $crate::decode_slice_into(self, encoded, buffer)
            }
        }
    };
}
