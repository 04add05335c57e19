//! Snapshots: one state of a value, of which several gets read parts.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use crate::{Fetched, Key, Precondition, Result, Version};

/// Identifier of one state of a value, with which several gets read parts of that state only.
///
/// The first get returns the snapshot ([`GetOptions::snapshot`]), and the other gets require it ([`GetOptions::if_match`]). A snapshot may
/// hold an open file or memory of the store, so it should be dropped as soon as all parts are read.
#[derive(Clone)]
pub struct Snapshot {
    version: Option<Version>,
    handle: Option<Arc<dyn Any + Send + Sync>>,
}

impl Snapshot {
    /// Returns the state with a version.
    #[must_use]
    pub fn of_version(version: Version) -> Self {
        Self { version: Some(version), handle: None }
    }

    /// Returns the state that `handle`, of a type of the store, can read.
    #[must_use]
    pub fn of_handle(version: Option<Version>, handle: Arc<dyn Any + Send + Sync>) -> Self {
        Self { version, handle: Some(handle) }
    }

    /// Returns the version of the state; `None` if the store has no versions.
    #[must_use]
    pub fn version(&self) -> Option<&Version> {
        self.version.as_ref()
    }

    /// Returns the handle of the store if it is a `T`.
    #[must_use]
    pub fn handle<T: Any + Send + Sync>(&self) -> Option<&T> {
        self.handle.as_ref()?.downcast_ref()
    }
}

impl PartialEq for Snapshot {
    fn eq(&self, other: &Self) -> bool {
        let same_handle = match (&self.handle, &other.handle) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            (None, None) => true,
            _ => false,
        };
        same_handle && self.version == other.version
    }
}

impl Eq for Snapshot {}

impl fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Snapshot").field("version", &self.version).field("handle", &self.handle.is_some()).finish()
    }
}

/// Options of a get: the state of the value to read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct GetOptions {
    /// Whether the reply names the state that was read, in [`Fetched::snapshot`], for further gets.
    pub snapshot: bool,
    /// State to read; `None` for the newest. If the value has another state by now, the get fails with [`crate::Error::Precondition`].
    pub if_match: Option<Snapshot>,
    /// Version of the value that the caller has already. A store may then reply that the value still has this version
    /// ([`Fetched::is_unchanged`]), without bytes; a store that cannot do so returns the bytes.
    pub if_none_match: Option<Version>,
    /// Approximate upper bound on the size of the whole value in bytes; `None` if unknown. Drivers use it to bound the memory of concurrent
    /// gets, and to decide whether to get a value in parts. It is no condition.
    pub expected_size: Option<u64>,
}

/// Options that read the newest state.
pub(crate) static NEWEST: GetOptions =
    GetOptions { snapshot: false, if_match: None, if_none_match: None, expected_size: None };

impl GetOptions {
    /// Returns options that read the newest state and name it in the reply, for further gets.
    #[must_use]
    pub fn snapshot() -> Self {
        Self { snapshot: true, ..Self::default() }
    }

    /// Returns options that read the state `snapshot`; the newest if it is `None`.
    #[must_use]
    pub fn if_match(snapshot: Option<Snapshot>) -> Self {
        Self { if_match: snapshot, ..Self::default() }
    }

    /// Returns options that read the newest state, unless it has the version that the caller has already.
    #[must_use]
    pub fn if_none_match(version: Version) -> Self {
        Self { if_none_match: Some(version), ..Self::default() }
    }

    /// Whether a value of this version need not be returned, since the caller has it.
    #[must_use]
    pub fn has(&self, version: Option<&Version>) -> bool {
        self.if_none_match.is_some() && self.if_none_match.as_ref() == version
    }

    /// Sets [`expected_size`](Self::expected_size), in bytes.
    #[must_use]
    pub fn expecting(self, size: impl Into<Option<u64>>) -> Self {
        Self { expected_size: size.into(), ..self }
    }

    /// Whether the options require no state, request no snapshot and name no version.
    #[must_use]
    pub fn is_default(&self) -> bool {
        !self.snapshot && self.if_match.is_none() && self.if_none_match.is_none()
    }

    /// Compares the version of a reply with the required version, if both are known, and sets the snapshot of the reply if it is requested.
    ///
    /// # Errors
    /// [`crate::Error::Precondition`] if the versions differ.
    pub fn check(&self, store: &dyn fmt::Display, key: &Key, fetched: &mut Fetched) -> Result<()> {
        self.check_version(store, key, fetched.version.as_ref())?;
        if self.snapshot && fetched.snapshot.is_none() {
            fetched.snapshot = fetched.version.clone().map(Snapshot::of_version);
        }
        Ok(())
    }

    /// Compares the version of the stored value with the required version, if both are known. To be called before ranges are checked, which
    /// may lie outside of another state.
    ///
    /// # Errors
    /// [`crate::Error::Precondition`] if they differ.
    pub fn check_version(&self, store: &dyn fmt::Display, key: &Key, found: Option<&Version>) -> Result<()> {
        match self.if_match.as_ref().and_then(Snapshot::version) {
            Some(due) if found.is_some() => Precondition::Version(due.clone()).check(store, key, found),
            _ => Ok(()),
        }
    }
}
