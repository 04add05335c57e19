//! Contract for implementers of blocking stores.

use std::fmt;
use std::sync::Arc;

use crate::{AccessProfile, Answer, AsyncStore, Call, Capabilities, CopySource, Key, Location, Result};

/// Key-value store of bytes: the contract for implementers, who test their stores with [`crate::testing::contract`].
///
/// Three methods are required: [`call`](Store::call), which answers all operations, and two that describe the store. The others have
/// defaults that are right for every store; a store overrides those that it can do better.
///
/// `Display` gives the address that error messages show. All methods may be called from many threads at once. Callers use the methods of
/// [`StoreExt`](crate::StoreExt), one for each operation.
///
/// # Example
/// ```
/// use std::fmt;
/// use zarr_store::{
///     AccessProfile, Answer, Call, Capabilities, Fetched, Key, Result, Store, StoreExt, fallback_blocking, testing,
/// };
///
/// /// Store of one value.
/// #[derive(Debug)]
/// struct One(Key, &'static str);
///
/// impl fmt::Display for One {
///     fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
///         f.write_str("one:")
///     }
/// }
///
/// impl Store for One {
///     fn call(&self, call: Call<'_>) -> Result<Answer> {
///         Ok(match call {
///             Call::Get { key, ranges, options } if *key == self.0 => {
///                 Answer::Got(Some(Fetched::of_value(self, &key, self.1.as_bytes().to_vec(), None, &ranges, &options)?))
///             }
///             Call::Get { .. } => Answer::Got(None),
///             call => return fallback_blocking(self, call),
///         })
///     }
///
///     fn capabilities(&self) -> Capabilities {
///         Capabilities::none().suffix_ranges(true)
///     }
///
///     fn access_profile(&self) -> AccessProfile {
///         AccessProfile::MEMORY
///     }
/// }
///
/// let store = One(Key::new("a")?, "value");
/// assert_eq!(store.get_all(&Key::new("a")?)?.as_deref(), Some(&b"value"[..]));
/// assert!(!store.exists(&Key::new("b")?)?);
/// assert!(store.set_all(&Key::new("a")?, b"other").is_err());
/// # Ok::<(), zarr_store::Error>(())
/// ```
pub trait Store: Send + Sync + fmt::Debug + fmt::Display {
    /// Answers a call: every operation on keys and values is one, with the arguments that the method of [`StoreExt`](crate::StoreExt) of the
    /// same name documents, and with the promises made there.
    ///
    /// Calls that the store has no better way for are passed to [`fallback_blocking`](crate::fallback_blocking), which answers them by
    /// others. Only gets must be answered. A store that takes writes also answers [`Call::Set`] and [`Call::Erase`], and a store that can
    /// list [`Call::ListDir`]; its [`Capabilities`] must say so. The compiler does not see an arm that is missing:
    /// [`crate::testing::contract`] does. An arm must not use the method of [`StoreExt`](crate::StoreExt) for its own call, which calls the
    /// arm again, without end.
    ///
    /// # Errors
    /// The errors that the method of the same name documents.
    fn call(&self, call: Call<'_>) -> Result<Answer>;

    /// Where the value at `key` lies in a file, if the store knows that without a request. `None` for a value that has a file of its own,
    /// and in stores that [cannot tell](Capabilities::locates), which is the default.
    fn location(&self, key: &Key) -> Option<Location> {
        let _ = key;
        None
    }

    /// The capabilities of the store.
    fn capabilities(&self) -> Capabilities;

    /// Returns the access profile of the store: how its values are best read and written.
    fn access_profile(&self) -> AccessProfile;

    /// Returns the location of the value at `key` in a storage service, for [`copy`](crate::StoreExt::copy); `None` (the default) for stores without
    /// copies.
    fn copy_source(&self, key: &Key) -> Option<CopySource> {
        let _ = key;
        None
    }

    /// Returns an async form of the store if many of its requests should be in flight at the same time, since each takes long: drivers of
    /// jobs then use the async form. Its futures need no particular runtime. `None` (the default) for stores whose threads best make one
    /// request after another.
    fn as_async(&self) -> Option<Arc<dyn AsyncStore>> {
        None
    }

    /// Returns the store of the parent directory, and the name of this store in it. `None` (the default) for stores that are no
    /// directories.
    fn parent(&self) -> Option<(Arc<dyn Store>, String)> {
        None
    }

    /// Returns warnings about the store for the user that no error carries, such as that it has no locks. Each warning is returned once.
    fn take_warnings(&self) -> Vec<String> {
        Vec::new()
    }
}

/// Outcome of [`get_into`](crate::StoreExt::get_into).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GetInto {
    /// The value exists and has this size in bytes. Its bytes are in `into` if that has the same length; otherwise the content of `into` is
    /// unspecified.
    Found(u64),
    /// The key does not exist.
    Missing,
    /// Nothing was read: the caller uses [`get`](crate::StoreExt::get).
    Declined,
}
