//! Copies that a service makes itself.

use std::sync::Arc;

/// Where a value lies, for a copy that the service makes itself: its bytes do not pass through this machine.
///
/// ```
/// use zarr_store::CopySource;
/// let service = std::sync::Arc::from("a service");
/// let source = CopySource::new(&service, "prefix/a/c/0");
/// assert!(source.is_beside(&CopySource::new(&service, "b")));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CopySource {
    service: Arc<str>,
    name: String,
}

impl CopySource {
    /// The value with this name in a service. Stores give the same text for a service if, and only if, a name is that of one value for
    /// both.
    #[must_use]
    pub fn new(service: &Arc<str>, name: impl Into<String>) -> Self {
        Self { service: Arc::clone(service), name: name.into() }
    }

    /// Its name in the service.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether both lie in one service.
    #[must_use]
    pub fn is_beside(&self, other: &Self) -> bool {
        self.service == other.service
    }
}

/// The outcome of [`Store::copy`](crate::Store::copy).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Copied {
    /// The value is set.
    Done,
    /// Nothing was copied, maybe since there is no such value: the caller gets the value and sets it.
    Declined,
}
