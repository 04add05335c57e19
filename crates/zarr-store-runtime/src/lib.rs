//! Building blocks for Zarr stores behind a network.
//!
//! - [`IoRuntime`]: threads for I/O. The futures of a store need no particular runtime: a program may await them in any executor, or block
//!   on them in a thread without one. Dropping a future ends its request.
//! - [`get`]: gets of several ranges of one state of a value, by requests for one range each ([`Source`]).
//! - [`http`]: an HTTP client, and checks of responses.
//! - [`Retry`] and [`Attempts`]: attempts at a request within a deadline. [`Throttle`]: a limit for concurrent requests. [`Hedge`]: second
//!   requests for slow ones.
//! - [`StoreOptions`]: options as strings. [`is_document`]: recognition of the keys of documents.
//!
//! ```
//! use zarr_store_runtime::IoRuntime;
//!
//! let runtime = IoRuntime::new();
//! let sum = zarr_drive::block_on(runtime.spawn(async { 1 + 1 }))?;
//! assert_eq!(sum, 2);
//! # Ok::<(), zarr_store_runtime::TaskError>(())
//! ```

#![forbid(unsafe_code)]

mod document;
mod get;
mod hedge;
pub mod http;
mod options;
mod remembered;
mod retry;
mod runtime;
mod throttle;

pub use document::is_document;
pub use get::{Answer, Condition, Opened, RangeRequest, Source, get};
pub use hedge::Hedge;
pub use options::StoreOptions;
pub use remembered::{Remembered, Sizes};
pub use retry::{Again, Attempts, Retry};
pub use runtime::{IoRuntime, Task, TaskError};
pub use throttle::{Permit, Throttle};
