//! Jobs on both drivers, and stores of one kind as the other.

mod async_as_sync;
mod blocking;
mod sync_as_async;
mod waiting;
