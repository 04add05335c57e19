//! Byte ranges of values, and reusable buffers of each thread: for stores, and for codecs, which do not depend on stores.
//!
//! This crate knows no key, no store and no codec, and depends on no other crate.
//!
//! ```
//! use zarr_bytes::{BufferUse, ByteRange, keep_buffer, take_buffer};
//!
//! let value = b"0123456789";
//! let last = ByteRange::Suffix(3).resolve(value.len() as u64);
//! assert_eq!(last, Some(7..10));
//!
//! let mut buffer = take_buffer(BufferUse::Append);
//! buffer.extend_from_slice(value);
//! keep_buffer(BufferUse::Append, buffer);
//! ```

#![forbid(unsafe_code)]

mod buffers;
mod range;

pub use buffers::{BufferUse, keep_buffer, take_buffer};
pub use range::ByteRange;
