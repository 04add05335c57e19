//! One state of a value, of which several gets read parts.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use crate::{Fetched, Key, Precondition, Result, Version};

/// Names one state of a value, so that several gets read parts of that state only.
///
/// The first get returns it ([`GetOptions::snapshot`]), and the others require it ([`GetOptions::if_match`]). It may hold an open file
/// or other memory of the store, so it should be dropped as soon as all parts are read.
#[derive(Clone)]
pub struct Snapshot {
    version: Option<Version>,
    handle: Option<Arc<dyn Any + Send + Sync>>,
}

impl Snapshot {
    /// The state of this version.
    #[must_use]
    pub fn of_version(version: Version) -> Self {
        Self { version: Some(version), handle: None }
    }

    /// The state that `handle` reads, which is of a type of the store.
    #[must_use]
    pub fn of_handle(version: Option<Version>, handle: Arc<dyn Any + Send + Sync>) -> Self {
        Self { version, handle: Some(handle) }
    }

    /// Its version, if the store has versions.
    #[must_use]
    pub fn version(&self) -> Option<&Version> {
        self.version.as_ref()
    }

    /// The handle of the store, if it is a `T`.
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

/// Which state of a value a get reads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct GetOptions {
    /// [`Fetched::snapshot`] names the state that was read, since further gets will require it.
    pub snapshot: bool,
    /// The state to read. If the value has another one by now, the get fails with [`crate::Error::Precondition`].
    pub if_match: Option<Snapshot>,
    /// The version of the value that the caller has already. A store may then answer that the value still has it
    /// ([`Fetched::is_unchanged`]), without its bytes; one that cannot returns the bytes.
    pub if_none_match: Option<Version>,
    /// About how many bytes the whole value has at most, if the caller knows: by it a driver bounds the memory of gets that are under
    /// way, and decides whether to get a value in parts. It is no condition.
    pub expected_size: Option<u64>,
}

/// The newest state.
pub(crate) static NEWEST: GetOptions =
    GetOptions { snapshot: false, if_match: None, if_none_match: None, expected_size: None };

impl GetOptions {
    /// The newest state, which further gets will require.
    #[must_use]
    pub fn snapshot() -> Self {
        Self { snapshot: true, ..Self::default() }
    }

    /// This state; the newest if `snapshot` is `None`.
    #[must_use]
    pub fn if_match(snapshot: Option<Snapshot>) -> Self {
        Self { if_match: snapshot, ..Self::default() }
    }

    /// The newest state, unless it is of this version, which the caller has.
    #[must_use]
    pub fn if_none_match(version: Version) -> Self {
        Self { if_none_match: Some(version), ..Self::default() }
    }

    /// Whether a value of this version need not be returned, since the caller has it.
    #[must_use]
    pub fn has(&self, version: Option<&Version>) -> bool {
        self.if_none_match.is_some() && self.if_none_match.as_ref() == version
    }

    /// With this [`expected_size`](Self::expected_size) in bytes.
    #[must_use]
    pub fn expecting(self, size: impl Into<Option<u64>>) -> Self {
        Self { expected_size: size.into(), ..self }
    }

    /// Whether neither a state nor a snapshot is required, and the caller has no version.
    #[must_use]
    pub fn is_default(&self) -> bool {
        !self.snapshot && self.if_match.is_none() && self.if_none_match.is_none()
    }

    /// Compares the version of a reply with the required one, if both are known, and sets the snapshot of the reply.
    ///
    /// # Errors
    /// [`crate::Error::Precondition`] if they differ.
    pub fn check(&self, store: &dyn fmt::Display, key: &Key, fetched: &mut Fetched) -> Result<()> {
        self.check_version(store, key, fetched.version.as_ref())?;
        if self.snapshot && fetched.snapshot.is_none() {
            fetched.snapshot = fetched.version.clone().map(Snapshot::of_version);
        }
        Ok(())
    }

    /// Compares the version that is there with the required one, if both are known: before its ranges, which may lie outside of
    /// another state.
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
