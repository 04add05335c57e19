//! Keys, byte ranges, and stores: their contract, requests to stores, and stores that wrap other stores.
//!
//! This crate knows no Zarr document, no codec and no array: values are bytes.
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
//! Each operation on a store is a value, a [`Call`], with an [`Answer`]; the methods of [`StoreExt`] and [`AsyncStoreExt`] make them. A store
//! that wraps another changes calls and answers ([`Wrapper`]), with one implementation for blocking and async stores.
//!
//! Jobs make a [`Request`] to a store, and receive a [`Reply`]. The drivers that run jobs, and wait for the replies, are in the crate
//! `zarr-drive`.
//!
//! # Promises
//! - A value is replaced as a whole or not at all, even if it is set piece by piece: no part is visible before the set is
//!   finished. So readers take no lock.
//! - A set may have a condition: that the key does not exist, or that the value still has the version that was read. Without a lock, one
//!   of several writers succeeds, and the others start again.
//! - Several gets read one state of a value by a snapshot, which the first get returns and the others require. The snapshot of a directory
//!   holds the file open; other stores compare versions, and fail for another state.
//! - A set that is streamed is a handle with a state of the store's own type. So a store that wraps another passes the handle on without a
//!   type of its own. The bytes in front of a value, whose number is known at the beginning, are passed at the end: a shard may have its
//!   index there. A store without streams collects the pieces and sets them at once.
//! - A set requests the durability that it needs, and a barrier keeps the order of the changes before and after it through a loss of
//!   power. `docs/consistency.md` documents this for each store. A store that wraps another must pass both on.
//! - Other abilities of a store are in its `Capabilities`: listing, exchanging two prefixes, erasing all keys under a prefix at once.
//!   Operations check them, and take a longer way if they are missing.
//!
//! # A new store
//! A store of a program needs no more than a type: `docs/guide/own-store.md`. A store of this workspace consists of:
//!
//! 1. A crate with a type that implements `Store` or `AsyncStore`. `MemoryStore` is a model of a store that takes writes. Its
//!    `AccessProfile` says where its values are and how they are best read.
//! 2. Its test: `contract` of the module `testing`, or `contract_read` and `contract_read_only`, or `contract_async`.
//! 3. Lines in the manifest of the workspace, in `crates/zarr/Cargo.toml` (the dependency, the feature and its name in `tools`), and in
//!    `crates/zarr/src/store.rs`.
//! 4. Its scheme in `crates/zarr/src/store/known.rs`, with a hint for builds without it, and its row in the documentation of
//!    `zarr::store::open`. The grammar of addresses, options, errors and the command take it from there.
//! 5. Rows in the pages `formats.md`, `consistency.md`, `dependencies.md` and `publishing.md` of `docs`; `cargo xtask api --bless`.

#![forbid(unsafe_code)]

mod access_profile;
mod async_ext;
mod async_store;
mod below;
mod bounded;
mod call;
mod capabilities;
mod conflicts;
mod copy;
mod counted;
mod durability;
mod error;
mod ext;
mod fetched;
mod forward;
mod key;
mod listing;
mod location;
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
mod wrapper;

pub use access_profile::{AccessProfile, StoreKind};
pub use async_ext::AsyncStoreExt;
pub use async_store::{AsyncStore, BoxFuture};
pub use below::{Answering, Asynchronous, Below, Blocking};
pub use bounded::{Bounded, CacheCounts, Evict, Ring, Slot};
pub use bytes::Bytes;
pub use call::{Answer, Call, CallBytes, CallPieces, Pinned, fallback, fallback_blocking, lend_values};
pub use capabilities::Capabilities;
pub use conflicts::Conflicts;
pub use copy::{Copied, CopySource};
pub use counted::{Counted, Counts};
pub use durability::{Durability, SetOptions};
pub use error::{Error, ErrorKind, KeyFault, Operation, Result};
pub use ext::StoreExt;
pub use fetched::Fetched;
pub use key::Key;
pub use listing::{Leftover, Listed, Listing, SizeVisitor};
pub use location::{GotMany, Location, ValueGet};
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
pub use wrapper::{StoreBase, Wrapper};
pub use zarr_bytes::{BufferUse, ByteRange, keep_buffer, take_buffer};
