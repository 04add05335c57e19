//! Copies of values that a storage service makes itself.

use std::sync::Arc;

/// Location of a value in a storage service, for a copy that the service makes itself, so that the bytes do not pass through this machine.
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
    /// Returns the location of the value called `name` in `service`. Two stores must use equal strings for a service if, and only if, a
    /// name means the same value in both.
    #[must_use]
    pub fn new(service: &Arc<str>, name: impl Into<String>) -> Self {
        Self { service: Arc::clone(service), name: name.into() }
    }

    /// Returns the name of the value in the service.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether both values are in the same service.
    #[must_use]
    pub fn is_beside(&self, other: &Self) -> bool {
        self.service == other.service
    }
}

/// Outcome of [`copy`](crate::StoreExt::copy).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Copied {
    /// The value is set.
    Done,
    /// Nothing was copied, possibly because the source does not exist: the caller reads the value and sets it.
    Declined,
}
