//! Keys, stores in memory and around others, locks, and jobs on both drivers.

mod async_as_sync;
mod drive;
mod fetched;
mod interface;
mod key;
mod lock;
mod memory;
mod prefix;
mod prefixed;
mod read_only;
mod run;
mod sync_as_async;
