//! State that the tasks of a bucket store share.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use object_store::ObjectStore;
use object_store::multipart::MultipartStore;
use object_store::path::Path;
use zarr_store::{Error, ErrorKind, Key, Operation, Result, Version};
use zarr_store_runtime::{Attempts, Remembered, Sizes};

use crate::address::Protocol;
use crate::conditions::Conditions;
use crate::erasures::Erasures;
use crate::exchange::Exchange;
use crate::fault::Subject;
use crate::names::path;
use crate::service::Common;

/// State that the tasks of a bucket store share.
pub(crate) struct Bucket {
    pub(crate) subject: Subject,
    pub(crate) store: Arc<dyn ObjectStore>,
    /// Store that erases each object with its own request; `None` if `store` does so, or never needs to.
    pub(crate) singly: Option<Arc<dyn ObjectStore>>,
    pub(crate) erasures: Erasures,
    /// Store that uploads values in parts; `None` if that is not supported. It is not for Azure, whose blocks belong to the value and not
    /// to an upload, so that two writers of one value would lose each other's blocks.
    pub(crate) multipart: Option<Arc<dyn MultipartStore>>,
    pub(crate) common: Common,
    /// Whether puts may have conditions.
    pub(crate) conditional: bool,
    pub(crate) conditions: Conditions,
    /// Identity of service and bucket, for copies; `None` if it is not known.
    pub(crate) service: Option<Arc<str>>,
    /// Whether the service has refused to copy.
    pub(crate) no_copies: AtomicBool,
    /// Sizes of values for reads of their ends, which Azure does not support directly; `None` for other services.
    pub(crate) sizes: Option<Sizes>,
    /// Identifiers of the puts that led to recently read or written values.
    pub(crate) writes: Remembered<String>,
}

impl Bucket {
    /// Creates the record of an operation whose requests send `sent` bytes. The time of the operation begins.
    pub(crate) fn exchange(&self, sent: u64) -> Exchange {
        Exchange::new(Attempts::new(self.common.retry, sent))
    }

    /// Returns the path of the object of a key.
    pub(crate) fn path(&self, operation: Operation, key: &Key) -> Result<Path> {
        self.object(operation, key.as_str(), &self.subject.address.names.object(key.as_str()))
    }

    /// Returns the path of the object `name`. Fails if the service would change the name. `shown` is the key or prefix for messages.
    pub(crate) fn object(&self, operation: Operation, shown: &str, name: &str) -> Result<Path> {
        let refuse = |text: &str| Err(self.subject.failed(operation, shown, ErrorKind::Argument, text.to_owned()));
        if self.subject.address.protocol == Protocol::Azure && name.contains('\\') {
            return refuse("the key has a backslash, which Azure takes for a slash");
        }
        path(name).map_or_else(|| refuse("the key has a control character, which services do not keep"), Ok)
    }

    pub(crate) fn error(
        &self,
        exchange: &Exchange,
        operation: Operation,
        key: &str,
        error: &object_store::Error,
    ) -> Error {
        self.subject.error(exchange, operation, key, error)
    }

    /// Returns the version of a value with this ETag and, in Google Cloud Storage, generation; `None` if it has none. A weak ETag is no
    /// version.
    pub(crate) fn version(&self, tag: Option<&str>, generation: Option<&str>) -> Option<Version> {
        match self.subject.address.protocol {
            Protocol::Gcs => generation.map(Version::new),
            _ => tag.filter(|tag| is_tag(tag)).map(Version::new),
        }
    }
}

/// Returns whether a string can be a strong ETag. A version of another store may not be one.
pub(crate) fn is_tag(tag: &str) -> bool {
    !tag.is_empty() && !tag.starts_with("W/") && tag.bytes().all(|byte| byte.is_ascii_graphic())
}
