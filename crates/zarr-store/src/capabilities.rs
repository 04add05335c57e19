//! The capabilities of a store.

use std::fmt;

use crate::{Error, Operation, Result};

/// Refuses an operation that writes if a store takes no writes.
pub(crate) fn check_writable(store: &dyn fmt::Display, capabilities: Capabilities, operation: Operation) -> Result<()> {
    if capabilities.write { Ok(()) } else { refuse(store, operation) }
}

/// The error of a store that takes no writes.
pub(crate) fn refuse<T>(store: &dyn fmt::Display, operation: Operation) -> Result<T> {
    Err(Error::ReadOnly { store: store.to_string(), operation })
}

/// The capabilities of a store; by default nothing but gets.
///
/// ```
/// use zarr_store::Capabilities;
/// const MINE: Capabilities = Capabilities::none().write(true).list(true);
/// assert!(MINE.write && !MINE.conditional);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Capabilities {
    /// Values can be set and erased.
    pub write: bool,
    /// Keys can be listed.
    pub list: bool,
    /// [`ByteRange::Suffix`](crate::ByteRange::Suffix) and [`ByteRange::From`](crate::ByteRange::From) cost one request.
    pub suffix_ranges: bool,
    /// A [`Precondition`](crate::Precondition) is checked and the value set as one step.
    pub conditional: bool,
    /// After [`Store::flush`](crate::Store::flush) all earlier writes survive a loss of power.
    pub durable: bool,
    /// [`Store::erase_prefix`](crate::Store::erase_prefix) makes all keys vanish at once, except under the root, a mount point or a prefix
    /// that may not be renamed: there keys go before the keys below them, hidden ones first.
    pub erases_at_once: bool,
    /// [`Store::exchange_prefixes`](crate::Store::exchange_prefixes) exchanges the keys under two prefixes: in one step, but for
    /// file systems that have no call for that.
    pub exchanges: bool,
    /// Values that are set appear to others, and survive the process, with [`Store::flush`](crate::Store::flush) and not before.
    pub appears_at_flush: bool,
    /// A value that is set piece by piece ([`Store::begin_set`](crate::Store::begin_set)) is not in memory as a whole.
    pub streams: bool,
    /// [`Store::location`](crate::Store::location) says where values lie, and [`Store::get_many`](crate::Store::get_many) gets those that lie
    /// beside each other by one request.
    pub locates: bool,
}

impl Capabilities {
    /// Nothing but gets.
    #[must_use]
    pub const fn none() -> Self {
        Self {
            write: false,
            list: false,
            suffix_ranges: false,
            conditional: false,
            durable: false,
            erases_at_once: false,
            exchanges: false,
            appears_at_flush: false,
            streams: false,
            locates: false,
        }
    }

    /// With this [`write`](Self::write).
    #[must_use]
    pub const fn write(self, write: bool) -> Self {
        Self { write, ..self }
    }

    /// With this [`list`](Self::list).
    #[must_use]
    pub const fn list(self, list: bool) -> Self {
        Self { list, ..self }
    }

    /// With these [`suffix_ranges`](Self::suffix_ranges).
    #[must_use]
    pub const fn suffix_ranges(self, suffix_ranges: bool) -> Self {
        Self { suffix_ranges, ..self }
    }

    /// With this [`conditional`](Self::conditional).
    #[must_use]
    pub const fn conditional(self, conditional: bool) -> Self {
        Self { conditional, ..self }
    }

    /// With this [`durable`](Self::durable).
    #[must_use]
    pub const fn durable(self, durable: bool) -> Self {
        Self { durable, ..self }
    }

    /// With this [`erases_at_once`](Self::erases_at_once).
    #[must_use]
    pub const fn erases_at_once(self, erases_at_once: bool) -> Self {
        Self { erases_at_once, ..self }
    }

    /// With these [`exchanges`](Self::exchanges).
    #[must_use]
    pub const fn exchanges(self, exchanges: bool) -> Self {
        Self { exchanges, ..self }
    }

    /// With this [`appears_at_flush`](Self::appears_at_flush).
    #[must_use]
    pub const fn appears_at_flush(self, appears_at_flush: bool) -> Self {
        Self { appears_at_flush, ..self }
    }

    /// With these [`streams`](Self::streams).
    #[must_use]
    pub const fn streams(self, streams: bool) -> Self {
        Self { streams, ..self }
    }

    /// With this [`locates`](Self::locates).
    #[must_use]
    pub const fn locates(self, locates: bool) -> Self {
        Self { locates, ..self }
    }
}
