//! Keys, stores in memory and around others, locks.

mod fetched;
mod interface;
mod key;
mod lock;
mod memory;
mod prefix;
mod prefixed;
mod read_only;
