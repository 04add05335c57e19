//! Keys, byte ranges, and stores: their contract, what is asked of them, and stores that wrap another.
//!
//! Knows no Zarr document, no codec and no array: values are bytes.
//!
//! ```
//! use zarr_store::{ByteRange, Key, MemoryStore, StoreExt};
//!
//! let store = MemoryStore::new();
//! let key = Key::new("a/c/0")?;
//! store.set_all(&key, b"0123456789")?;
//! let fetched = store.get_ranges(&key, &[ByteRange::Range(2..4), ByteRange::Suffix(1)])?.expect("just set");
//! assert_eq!((fetched.part(0), fetched.part(1)), (&b"23"[..], &b"9"[..]));
//! # Ok::<(), zarr_store::Error>(())
//! ```
//!
//! Operations ask a store by a [`Request`], and get a [`Reply`]. Who makes requests, and what a thread does while it waits
//! for the replies, is the crate `zarr-drive`.

#![forbid(unsafe_code)]

mod access_profile;
mod async_store;
mod bounded;
mod capabilities;
mod conflicts;
mod copy;
mod counted;
mod delegate;
mod delegate_async;
mod durability;
mod error;
mod ext;
mod fetched;
mod forward;
mod key;
mod listing;
mod lock;
mod memory;
mod message;
mod pieces;
mod prefix;
mod prefixed;
mod range;
mod read_only;
mod set_stream;
mod sleep;
mod snapshot;
mod splice;
mod store;
pub mod testing;
mod version;

pub use access_profile::{AccessProfile, StoreKind};
pub use async_store::{AsyncStore, BoxFuture};
pub use bounded::{Bounded, CacheCounts, Evict, Ring, Slot};
pub use bytes::Bytes;
pub use capabilities::Capabilities;
pub use conflicts::Conflicts;
pub use copy::{Copied, CopySource};
pub use counted::{Counted, Counts};
pub use durability::{Durability, SetOptions};
pub use error::{Error, ErrorKind, KeyFault, Operation, Result};
pub use ext::{AsyncStoreExt, StoreExt};
pub use fetched::Fetched;
pub use key::Key;
pub use listing::{Leftover, Listed, Listing, SizeVisitor};
pub use lock::{Lock, backoff};
pub use memory::MemoryStore;
pub use message::{Reply, Request};
pub use prefix::Prefix;
pub use prefixed::Prefixed;
pub use range::ByteRangeExt;
pub use read_only::ReadOnly;
pub use set_stream::SetStream;
pub use sleep::sleep;
pub use snapshot::{GetOptions, Snapshot};
pub use store::{GetInto, Store};
pub use version::{Precondition, Version};
pub use zarr_bytes::{BufferUse, ByteRange, keep_buffer, take_buffer};
