//! Keys, byte ranges, stores and the jobs that run on them.
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
//! # Features
//! `tracing`: requests and steps of jobs as spans of the crate `tracing`, for programs that subscribe to them. `request` (debug; `store`,
//! `operation`, `key`, `ranges`, `bytes`) is a request to a store, `wait` (trace) its wait for the [bound](Limits::requests), `step` (debug;
//! `job`) is work between requests: decoding, encoding. Their target is `zarr`. They show no value and no secret.

#![forbid(unsafe_code)]

mod access_profile;
mod answer;
mod async_as_sync;
mod async_store;
mod bounded;
mod capabilities;
mod coalesce;
mod conflicts;
mod copy;
mod counted;
mod delegate;
mod delegate_async;
mod drive;
mod durability;
mod error;
mod ext;
mod fetched;
mod forward;
mod get_plan;
mod job;
mod key;
mod limits;
mod listing;
mod lock;
mod memory;
mod pieces;
mod prefix;
mod prefixed;
mod range;
mod read_only;
mod run;
mod script;
mod set_stream;
mod snapshot;
mod spawn;
mod splice;
mod store;
mod sync_as_async;
pub mod testing;
mod trace;
mod unblock;
mod version;
mod wait;
mod work;

pub use access_profile::{AccessProfile, StoreKind};
pub use answer::{answer, answers};
pub use async_as_sync::AsyncAsSync;
pub use async_store::{AsyncStore, BoxFuture};
pub use bounded::{Bounded, CacheCounts, Evict, Ring, Slot};
pub use bytes::Bytes;
pub use capabilities::Capabilities;
pub use conflicts::Conflicts;
pub use copy::{Copied, CopySource};
pub use counted::{Counted, Counts};
pub use drive::{for_each, run_async, run_async_with};
pub use durability::{Durability, SetOptions};
pub use error::{Error, ErrorKind, KeyFault, Operation, Result};
pub use ext::{AsyncStoreExt, StoreExt};
pub use fetched::Fetched;
pub use get_plan::DriverGet;
pub use job::{Job, Next, Reply, Request};
pub use key::Key;
pub use limits::Limits;
pub use listing::{Leftover, Listing, SizeVisitor};
pub use lock::{Lock, backoff};
pub use memory::MemoryStore;
pub use prefix::Prefix;
pub use prefixed::Prefixed;
pub use range::ByteRangeExt;
pub use read_only::ReadOnly;
pub use run::{Sequential, run, run_on};
pub use script::{Io, Script};
pub use set_stream::SetStream;
pub use snapshot::{GetOptions, Snapshot};
pub use spawn::{Spawn, Workers};
pub use store::{GetInto, Store};
pub use sync_as_async::SyncAsAsync;
pub use unblock::{Unblocker, unblock};
pub use version::{Precondition, Version};
pub use wait::block_on;
pub use zarr_bytes::{BufferUse, ByteRange, keep_buffer, take_buffer};
