//! Answers to calls.

use std::fmt;
use std::sync::Arc;

use crate::{
    AsyncStore, Copied, Error, Fetched, GetInto, GotMany, Key, Leftover, Listing, Lock, Result, SetStream, Store,
    Version,
};

/// Answer to a [`Call`](crate::Call): the output of the method of [`StoreExt`](crate::StoreExt) with the same name.
#[derive(Debug)]
#[non_exhaustive]
pub enum Answer {
    /// Pieces of the value, one per range; `None` if the key does not exist.
    Got(Option<Fetched>),
    /// The outcomes of gets that were made together.
    GotMany(GotMany),
    /// The outcome of a get into memory of the caller.
    GotInto(GetInto),
    /// New version of the value that was set; `None` if the store has no versions.
    Set(Option<Version>),
    /// Stream of a set that was begun.
    Begun(SetStream),
    /// Success of a call without an output.
    Done,
    /// Outcome of a copy.
    Copied(Copied),
    /// Whether keys were renamed or exchanged, or whether a pinned prefix is in its place.
    Is(bool),
    /// Keys and prefixes directly under the prefix.
    Listing(Listing),
    /// All keys under the prefix, sorted.
    Keys(Vec<Key>),
    /// Path of the first symbolic link; `None` if there is none.
    Link(Option<String>),
    /// Temporary files and directories that killed writers left behind.
    Leftovers(Vec<Leftover>),
    /// Pinned store; `None` if the prefix cannot be pinned.
    Pinned(Option<Pinned>),
    /// Lock of the prefix; `None` if another writer holds it.
    Locked(Option<Lock>),
}

/// Answer of a call without an output.
impl From<()> for Answer {
    fn from((): ()) -> Self {
        Self::Done
    }
}

/// Pinned store, blocking or async like the store that was called.
#[derive(Clone)]
pub enum Pinned {
    /// Blocking store.
    Blocking(Arc<dyn Store>),
    /// Async store.
    Async(Arc<dyn AsyncStore>),
}

impl fmt::Debug for Pinned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Blocking(store) => fmt::Debug::fmt(store, f),
            Self::Async(store) => fmt::Debug::fmt(store, f),
        }
    }
}

/// Defines methods that return the output of one kind of answer, and an error for other kinds.
macro_rules! into {
    ($($(#[$doc:meta])* $method:ident: $variant:ident -> $output:ty;)*) => {$(
        $(#[$doc])*
        ///
        /// # Errors
        /// [`Error::Job`] if this is the answer to another call.
        pub fn $method(self) -> Result<$output> {
            if let Self::$variant(output) = self {
                Ok(output)
            } else {
                Err(Error::Job(concat!("a store answered a call otherwise than by `Answer::", stringify!($variant), "`")))
            }
        }
    )*};
}

impl Answer {
    into! {
        /// Returns the value that was read, or parts of it; `None` if the key does not exist.
        into_got: Got -> Option<Fetched>;
        /// Returns the outcomes of gets that were made together.
        into_got_many: GotMany -> GotMany;
        /// Returns the outcome of a get into memory of the caller.
        into_got_into: GotInto -> GetInto;
        /// Returns the new version of the value that was set; `None` if the store has no versions.
        into_version: Set -> Option<Version>;
        /// Returns the stream of a set that was begun.
        into_begun: Begun -> SetStream;
        /// Returns the outcome of a copy.
        into_copied: Copied -> Copied;
        /// Returns whether keys were renamed or exchanged, or whether a pinned prefix is in its place.
        into_bool: Is -> bool;
        /// Returns the keys and prefixes directly under a prefix.
        into_listing: Listing -> Listing;
        /// Returns all keys under a prefix.
        into_keys: Keys -> Vec<Key>;
        /// Returns the path of the first symbolic link; `None` if there is none.
        into_link: Link -> Option<String>;
        /// Returns the temporary files and directories that killed writers left behind.
        into_leftovers: Leftovers -> Vec<Leftover>;
        /// Returns the lock of a prefix; `None` if another writer holds it.
        into_lock: Locked -> Option<Lock>;
    }

    /// Checks that this is the answer of a call without an output.
    ///
    /// # Errors
    /// [`Error::Job`] if this is the answer to another call.
    pub fn into_done(self) -> Result<()> {
        if let Self::Done = self {
            Ok(())
        } else {
            Err(Error::Job("a store answered a call otherwise than by `Answer::Done`"))
        }
    }

    /// Returns the pinned store of a blocking call; `None` if the prefix cannot be pinned.
    ///
    /// # Errors
    /// [`Error::Job`] if this is the answer to another call.
    pub fn into_pinned(self) -> Result<Option<Arc<dyn Store>>> {
        match self {
            Self::Pinned(None) => Ok(None),
            Self::Pinned(Some(Pinned::Blocking(store))) => Ok(Some(store)),
            _ => Err(Error::Job("a store answered a call otherwise than by `Answer::Pinned`")),
        }
    }

    /// Returns the pinned store of an async call; `None` if the prefix cannot be pinned.
    ///
    /// # Errors
    /// [`Error::Job`] if this is the answer to another call.
    pub fn into_pinned_async(self) -> Result<Option<Arc<dyn AsyncStore>>> {
        match self {
            Self::Pinned(None) => Ok(None),
            Self::Pinned(Some(Pinned::Async(store))) => Ok(Some(store)),
            _ => Err(Error::Job("a store answered a call otherwise than by `Answer::Pinned`")),
        }
    }

    /// Replaces a pinned store by the result of `wrap`, a store that wraps it. Other answers are returned unchanged.
    #[must_use]
    pub fn map_pinned(self, wrap: impl FnOnce(Pinned) -> Pinned) -> Self {
        match self {
            Self::Pinned(Some(store)) => Self::Pinned(Some(wrap(store))),
            answer => answer,
        }
    }
}
