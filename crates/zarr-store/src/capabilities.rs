//! Capabilities of a store.

use std::fmt;

use crate::{Error, Operation, Result};

/// Refuses an operation that writes if the store is read-only.
pub(crate) fn check_writable(store: &dyn fmt::Display, capabilities: Capabilities, operation: Operation) -> Result<()> {
    if capabilities.write { Ok(()) } else { refuse(store, operation) }
}

/// Returns the error of a read-only store.
pub(crate) fn refuse<T>(store: &dyn fmt::Display, operation: Operation) -> Result<T> {
    Err(Error::ReadOnly { store: store.to_string(), operation })
}

/// Capabilities of a store; by default a store supports only gets.
///
/// ```
/// use zarr_store::Capabilities;
/// const MINE: Capabilities = Capabilities::none().write(true).list(true);
/// assert!(MINE.write && !MINE.conditional);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Capabilities {
    /// Whether values can be set and erased.
    pub write: bool,
    /// Whether keys can be listed.
    pub list: bool,
    /// Whether [`ByteRange::Suffix`](crate::ByteRange::Suffix) and [`ByteRange::From`](crate::ByteRange::From) cost one request.
    pub suffix_ranges: bool,
    /// Whether sets are conditional: checking a [`Precondition`](crate::Precondition) and setting the value are one atomic step.
    pub conditional: bool,
    /// Whether all earlier writes survive a loss of power after [`flush`](crate::StoreExt::flush).
    pub durable: bool,
    /// Whether [`erase_prefix`](crate::StoreExt::erase_prefix) erases all keys at once, except under the root, a mount point or a
    /// prefix that may not be renamed: there keys are erased before the keys below them, hidden ones first.
    pub erases_at_once: bool,
    /// Whether [`exchange_prefixes`](crate::StoreExt::exchange_prefixes) exchanges the keys under two prefixes: in one step, except on
    /// file systems without a call for an exchange.
    pub exchanges: bool,
    /// Whether values that are set become visible to others, and survive the process, only at [`flush`](crate::StoreExt::flush).
    pub appears_at_flush: bool,
    /// Whether a value that is set piece by piece ([`begin_set`](crate::StoreExt::begin_set)) is never in memory as a whole.
    pub streams: bool,
    /// [`Store::location`](crate::Store::location) says where values lie, and [`get_many`](crate::StoreExt::get_many) gets those that lie
    /// beside each other by one request.
    pub locates: bool,
}

impl Capabilities {
    /// Returns the capabilities of a store that supports only gets.
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

    /// Sets [`write`](Self::write).
    #[must_use]
    pub const fn write(self, write: bool) -> Self {
        Self { write, ..self }
    }

    /// Sets [`list`](Self::list).
    #[must_use]
    pub const fn list(self, list: bool) -> Self {
        Self { list, ..self }
    }

    /// Sets [`suffix_ranges`](Self::suffix_ranges).
    #[must_use]
    pub const fn suffix_ranges(self, suffix_ranges: bool) -> Self {
        Self { suffix_ranges, ..self }
    }

    /// Sets [`conditional`](Self::conditional).
    #[must_use]
    pub const fn conditional(self, conditional: bool) -> Self {
        Self { conditional, ..self }
    }

    /// Sets [`durable`](Self::durable).
    #[must_use]
    pub const fn durable(self, durable: bool) -> Self {
        Self { durable, ..self }
    }

    /// Sets [`erases_at_once`](Self::erases_at_once).
    #[must_use]
    pub const fn erases_at_once(self, erases_at_once: bool) -> Self {
        Self { erases_at_once, ..self }
    }

    /// Sets [`exchanges`](Self::exchanges).
    #[must_use]
    pub const fn exchanges(self, exchanges: bool) -> Self {
        Self { exchanges, ..self }
    }

    /// Sets [`appears_at_flush`](Self::appears_at_flush).
    #[must_use]
    pub const fn appears_at_flush(self, appears_at_flush: bool) -> Self {
        Self { appears_at_flush, ..self }
    }

    /// Sets [`streams`](Self::streams).
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
