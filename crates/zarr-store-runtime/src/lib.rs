//! Parts that Zarr stores behind a network share.
//!
//! - [`IoRuntime`]: threads for I/O. The futures of a store need no particular runtime: a program may await them in an executor of
//!   its own, or block on them in a thread without one, and dropping one ends its request.
//! - [`get`]: gets of several ranges, all of one state of the value, over requests for one range each ([`Source`]).
//! - [`http`]: a client, and the checks of an answer.
//! - [`Retry`] and [`Attempts`]: attempts at a request within a deadline. [`Throttle`]: as many requests as a server can bear.
//!   [`Hedge`]: second requests in the place of slow ones.
//! - [`StoreOptions`]: options as strings. [`is_document`]: which keys are those of documents.
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
