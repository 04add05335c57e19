//! Codecs of bytes on slices, without an array.

use crate::{BytesToBytes, Error, Sink, Size};

/// Encodes bytes.
///
/// # Errors
/// [`Error::Encode`] for bytes that cannot be encoded.
pub fn encode_slice(codec: &dyn BytesToBytes, bytes: &[u8]) -> Result<Vec<u8>, Error> {
    let mut encoded = Vec::new();
    codec.encode(bytes, &mut encoded)?;
    Ok(encoded)
}

/// Decodes to `max_size` bytes at most. No memory is taken for more.
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

/// Decodes to the start of `buffer`, and says to how many bytes.
///
/// # Errors
/// [`Error::TooLong`] beyond the length of `buffer`, and as [`decode_slice`].
pub fn decode_slice_into(codec: &dyn BytesToBytes, encoded: &[u8], buffer: &mut [u8]) -> Result<usize, Error> {
    let mut sink = Sink::within(buffer).of(codec.name());
    codec.decode(encoded, &mut sink)?;
    sink.finish()
}

/// Gives a codec of bytes methods that encode and decode slices, so that a program needs no trait for that.
#[macro_export]
macro_rules! slice_methods {
    ($codec:ident) => {
        impl $codec {
            /// Encodes bytes.
            ///
            /// # Errors
            /// [`Error::Encode`](zarr_codec::Error::Encode) for bytes that cannot be encoded.
            pub fn encode(&self, bytes: &[u8]) -> Result<Vec<u8>, $crate::Error> {
                $crate::encode_slice(self, bytes)
            }

            /// Decodes to `max_size` bytes at most. No memory is taken for more.
            ///
            /// # Errors
            /// [`Error::TooLong`](zarr_codec::Error::TooLong) beyond `max_size`; other errors if `encoded` is no output
            /// of this codec.
            pub fn decode(&self, encoded: &[u8], max_size: usize) -> Result<Vec<u8>, $crate::Error> {
                $crate::decode_slice(self, encoded, max_size)
            }

            /// Decodes to the start of `buffer`, and says to how many bytes.
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
