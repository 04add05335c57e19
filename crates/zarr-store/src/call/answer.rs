//! Answers to calls.

use std::fmt;
use std::sync::Arc;

use crate::{
    AsyncStore, Copied, Error, Fetched, GetInto, GotMany, Key, Leftover, Listing, Lock, Result, SetStream, Store,
    Version,
};

/// The answer to a [`Call`](crate::Call): the output of the method of [`Store`] of the same name.
#[derive(Debug)]
#[non_exhaustive]
pub enum Answer {
    /// The pieces, one for each range; `None` if there is no such key.
    Got(Option<Fetched>),
    /// The outcomes of gets that were made together.
    GotMany(GotMany),
    /// The outcome of a get into memory of the caller.
    GotInto(GetInto),
    /// The value is set, and has this version.
    Set(Option<Version>),
    /// The set is begun.
    Begun(SetStream),
    /// It is done.
    Done,
    /// The outcome of a copy.
    Copied(Copied),
    /// Whether keys are renamed or exchanged, or are in their place.
    Is(bool),
    /// The keys and prefixes directly under the prefix.
    Listing(Listing),
    /// All keys under the prefix, sorted.
    Keys(Vec<Key>),
    /// The path of a link, if there is one.
    Link(Option<String>),
    /// Temporary files and directories that writers left.
    Leftovers(Vec<Leftover>),
    /// The pinned store, if the prefix can be pinned.
    Pinned(Option<Pinned>),
    /// The lock; `None` if another holds it.
    Locked(Option<Lock>),
}

/// A store that was pinned, in the form in which it was asked.
#[derive(Clone)]
pub enum Pinned {
    /// The form that blocks.
    Blocking(Arc<dyn Store>),
    /// The form without blocking.
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

/// Methods that take the answer of a kind, or are an error.
macro_rules! into {
    ($($(#[$doc:meta])* $method:ident: $variant:ident -> $output:ty;)*) => {$(
        $(#[$doc])*
        ///
        /// # Errors
        /// [`Error::Job`] if this is the answer to another call.
        pub fn $method(self) -> Result<$output> {
            if let Self::$variant(output) = self { Ok(output) } else { Err(Error::OTHER_REPLY) }
        }
    )*};
}

impl Answer {
    into! {
        /// The value that was got, or the parts of it.
        into_got: Got -> Option<Fetched>;
        /// The outcomes of gets that were made together.
        into_got_many: GotMany -> GotMany;
        /// The outcome of a get into memory of the caller.
        into_got_into: GotInto -> GetInto;
        /// The version of a value that was set.
        into_version: Set -> Option<Version>;
        /// The set that was begun.
        into_begun: Begun -> SetStream;
        /// The outcome of a copy.
        into_copied: Copied -> Copied;
        /// Whether keys are renamed or exchanged, or are in their place.
        into_bool: Is -> bool;
        /// The keys and prefixes directly under a prefix.
        into_listing: Listing -> Listing;
        /// All keys under a prefix.
        into_keys: Keys -> Vec<Key>;
        /// The path of a link.
        into_link: Link -> Option<String>;
        /// Temporary files and directories that writers left.
        into_leftovers: Leftovers -> Vec<Leftover>;
        /// The lock of a prefix.
        into_lock: Locked -> Option<Lock>;
    }

    /// Checks that the call is done.
    ///
    /// # Errors
    /// [`Error::Job`] if this is the answer to another call.
    pub fn into_done(self) -> Result<()> {
        if let Self::Done = self { Ok(()) } else { Err(Error::OTHER_REPLY) }
    }

    /// The pinned store, of a call that blocked.
    ///
    /// # Errors
    /// [`Error::Job`] if this is the answer to another call.
    pub fn into_pinned(self) -> Result<Option<Arc<dyn Store>>> {
        match self {
            Self::Pinned(None) => Ok(None),
            Self::Pinned(Some(Pinned::Blocking(store))) => Ok(Some(store)),
            _ => Err(Error::OTHER_REPLY),
        }
    }

    /// The pinned store, of a call that did not block.
    ///
    /// # Errors
    /// [`Error::Job`] if this is the answer to another call.
    pub fn into_pinned_async(self) -> Result<Option<Arc<dyn AsyncStore>>> {
        match self {
            Self::Pinned(None) => Ok(None),
            Self::Pinned(Some(Pinned::Async(store))) => Ok(Some(store)),
            _ => Err(Error::OTHER_REPLY),
        }
    }

    /// The same answer; a pinned store is replaced by one that wraps it.
    #[must_use]
    pub fn map_pinned(self, wrap: impl FnOnce(Pinned) -> Pinned) -> Self {
        match self {
            Self::Pinned(Some(store)) => Self::Pinned(Some(wrap(store))),
            answer => answer,
        }
    }
}
