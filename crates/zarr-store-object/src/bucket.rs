//! State that the tasks of a store share.

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

/// State that the tasks of a store share.
pub(crate) struct Bucket {
    pub(crate) subject: Subject,
    pub(crate) store: Arc<dyn ObjectStore>,
    /// The same, with a request for each object that is erased; `None` where `store` does so, or never needs to.
    pub(crate) singly: Option<Arc<dyn ObjectStore>>,
    pub(crate) erasures: Erasures,
    /// The same, where values can be uploaded in parts. The blocks of Azure are of the value and not of an upload, so that two writers
    /// of one value would lose each other's.
    pub(crate) multipart: Option<Arc<dyn MultipartStore>>,
    pub(crate) common: Common,
    /// Puts may have conditions.
    pub(crate) conditional: bool,
    pub(crate) conditions: Conditions,
    /// The service and the bucket, for copies; `None` where nothing tells one from another.
    pub(crate) service: Option<Arc<str>>,
    /// The service has no copies.
    pub(crate) no_copies: AtomicBool,
    /// Azure has no requests for the end of a value.
    pub(crate) sizes: Option<Sizes>,
    /// The ids of the puts that led to values.
    pub(crate) writes: Remembered<String>,
}

impl Bucket {
    /// Makes the record of an operation, of which a request sends `sent` bytes. The time of the operation begins.
    pub(crate) fn exchange(&self, sent: u64) -> Exchange {
        Exchange::new(Attempts::new(self.common.retry, sent))
    }

    /// The object of a key.
    pub(crate) fn path(&self, operation: Operation, key: &Key) -> Result<Path> {
        self.object(operation, key.as_str(), &self.subject.address.names.object(key.as_str()))
    }

    /// The object of this name, which is that of the key or prefix `shown`: only one that the service keeps as it is.
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

    /// The version of a value with this ETag and, in Google Cloud Storage, generation. A weak ETag names no state.
    pub(crate) fn version(&self, tag: Option<&str>, generation: Option<&str>) -> Option<Version> {
        match self.subject.address.protocol {
            Protocol::Gcs => generation.map(Version::new),
            _ => tag.filter(|tag| is_tag(tag)).map(Version::new),
        }
    }
}

/// Whether a text can be a strong ETag: one that comes from another store can not be.
pub(crate) fn is_tag(tag: &str) -> bool {
    !tag.is_empty() && !tag.starts_with("W/") && tag.bytes().all(|byte| byte.is_ascii_graphic())
}
