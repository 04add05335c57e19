//! Keys, byte ranges, stores and the jobs that run on them.
//!
//! Knows no Zarr document, no codec and no array: values are bytes.

#![forbid(unsafe_code)]

mod async_store;
mod bounded;
mod bridge;
mod cached;
mod coalesce;
mod counted;
mod durability;
mod error;
mod ext;
mod fetched;
mod filesystem;
mod forward;
mod job;
mod key;
mod lock;
mod memory;
mod prefix;
mod prefixed;
mod range;
mod read_only;
mod run;
mod run_async;
mod snapshot;
mod spare;
mod splice;
mod store;
pub mod testing;
mod url;
mod version;
#[cfg(feature = "zip")]
mod zip;

pub use async_store::{AsyncStore, BoxFuture};
pub use bounded::{Bounded, Evict, Ring, Slot};
pub use bridge::{SyncAsAsync, block_on};
pub use bytes::Bytes;
pub use cached::Cached;
pub use coalesce::{Coalesce, Merged, Place, coalesce};
pub use counted::{Counted, Counts};
pub use durability::{Durability, SetOptions};
pub use error::{Error, ErrorKind, KeyFault, Operation, Result, ZipFault};
pub use ext::StoreExt;
pub use fetched::Fetched;
pub use filesystem::{FilesystemStore, Options};
pub use job::{Job, Next, Reply, Request};
pub use key::Key;
pub use lock::{Lock, backoff};
pub use memory::MemoryStore;
pub use prefix::Prefix;
pub use prefixed::Prefixed;
pub use range::ByteRange;
pub use read_only::ReadOnly;
pub use run::{Scratch, Sequential, Spawn, run, run_in, run_on};
pub use run_async::{run_async, run_async_with};
pub use snapshot::{GetOptions, Snapshot};
pub use spare::spare_buffer;
pub use store::{Capabilities, Listing, Placed, Store};
pub use url::{Opened, create, open};
pub use version::{Precondition, Version};
#[cfg(feature = "zip")]
pub use zip::ZipStore;
